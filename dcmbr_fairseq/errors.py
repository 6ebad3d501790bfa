"""The one exception a user may see: a sentence that names the flag, the value and the remedy."""

import difflib
import re
import sys
from collections.abc import Iterable
from types import TracebackType


class UserError(ValueError):
    """Bad input. The message is one clear sentence naming flag, value and remedy; it is all that the user is shown."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The ``known`` name that looks most like ``name``, or an empty string where none is like it.

    Case does not count, nor does whether words are joined by ``-`` or ``_``; a part of a name is like it.
    """
    plain = {one.lower().replace("_", "-"): one for one in known}
    given = name.lower().replace("_", "-")
    found = difflib.get_close_matches(given, plain, n=1)
    found = found or [one for one in plain if len(given) >= 3 and given in one]
    return plain[found[0]] if found else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown ``name``: ``did you mean beta?``, or all ``known`` names where none is like it."""
    names = list(known)
    likely = nearest(name, names)
    return f"did you mean {likely}?" if likely else f"choose one of {', '.join(names)}" if names else "leave it out"


def shown(value: object) -> str:
    """``value`` as a refusal shows it, cut where it is long; Python does not print integers of thousands of digits."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 200 else f"{text[:200]}..."


#: What fairseq's commands raise for mistakes before any code of this package is asked: kind, message, our sentence.
_OF_FAIRSEQ: list[tuple[type[Exception], str, str]] = [
    (AssertionError, r"--path required for generation", "--path is missing: give the checkpoint that is to translate"),
    (AssertionError, r"[Ss]entences lengths should not exceed max_tokens=(\d+)",
     "--max-tokens {0} is less than the tokens of the longest sentence: raise it, or give --batch-size instead"),
    (AssertionError, r"--batch-size cannot be larger than --buffer-size",
     "--batch-size is larger than --buffer-size: raise --buffer-size, or lower --batch-size"),
    (AssertionError, r"--sampling requires --nbest to be equal to --beam",
     "--sampling needs --nbest and --beam to be equal: make them so, or use --decoding sample"),
    (ValueError, r"Seed must be between 0 and", "--seed must be a whole number from 0 to 4294967295: give another"),
    (Exception, r"tokenizer\.(?:source|target)_lang=null",
     "--tokenizer needs the languages of the text: give -s and -t"),
]  # fmt: skip


def in_words(error: BaseException) -> str | None:
    """The sentence for an error that ends a fairseq command: a user's mistake in words, None for anything else."""
    if isinstance(error, UserError):
        return str(error)
    for kind, message, sentence in _OF_FAIRSEQ:
        found = re.search(message, str(error)) if isinstance(error, kind) else None
        if found is not None:
            return sentence.format(*found.groups())
    return None


def print_user_errors_plainly() -> None:
    """Let a user's mistake end a fairseq command with its sentence alone, without a traceback.

    Other exceptions are shown as before. Calling this again changes nothing.
    """
    previous = sys.excepthook
    if getattr(previous, "_prints_user_errors", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sentence = in_words(error)
        if sentence is not None:
            print(f"dcmbr_fairseq: error: {sentence}", file=sys.stderr)
        else:
            previous(kind, error, trace)

    hook._prints_user_errors = True  # type: ignore[attr-defined]
    sys.excepthook = hook
