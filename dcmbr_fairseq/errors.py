"""The one exception a user may see: a sentence that names the flag, the value and the remedy."""

import difflib
import os
import sys
from collections.abc import Callable, Iterable
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


def cut(text: str, most: int = 80) -> str:
    """A text in a message, cut to ``most`` characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def lone_surrogate(error: UnicodeEncodeError) -> str:
    """What UTF-8 cannot write, as part of a sentence."""
    return f"a lone surrogate (U+{ord(error.object[error.start]):04X}), which UTF-8 cannot write"


#: With this environment variable set, to anything but 0, the traceback of a mistake is shown too.
TRACEBACK = "DCMBR_TRACEBACK"
#: The module of fairseq-hydra-train.
HYDRA_TRAIN = "fairseq_cli.hydra_train"


def wants_traceback() -> bool:
    """Whether :data:`TRACEBACK` asks for the traceback of mistakes."""
    return os.environ.get(TRACEBACK, "0") not in ("", "0")


def own_sentence(error: BaseException) -> str | None:
    """The sentence of a :class:`UserError`; None for all other exceptions."""
    return str(error) if isinstance(error, UserError) else None


def print_user_errors_plainly(sentence_of: Callable[[BaseException], str | None] = own_sentence) -> None:
    """Let an uncaught mistake end a fairseq command with its sentence alone, without a traceback.

    Other exceptions are shown as before. Calling this again changes nothing.

    Args:
        sentence_of: gives the sentence of an exception that is a user's mistake, None for others.
    """
    previous = sys.excepthook
    if getattr(previous, "_prints_user_errors", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sentence = sentence_of(error)
        if sentence is None or wants_traceback():
            previous(kind, error, trace)
        if sentence is not None:
            print(f"dcmbr_fairseq: error: {in_one_line(sentence)}", file=sys.stderr)

    hook._prints_user_errors = True  # type: ignore[attr-defined]
    sys.excepthook = hook


def take_errors_from_hydra() -> None:
    """Let what fairseq-hydra-train ends with come to the hook, as in fairseq's other commands.

    Hydra prints a traceback of its own, shortened, and exits; where this variable is set it lets the exception pass.
    """
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    if HYDRA_TRAIN in sys.modules or getattr(main, "name", None) == HYDRA_TRAIN:
        os.environ.setdefault("HYDRA_FULL_ERROR", "1")


def in_one_line(sentence: str) -> str:
    """A sentence without line breaks, which names and values may bring into it."""
    return " ".join(sentence.split("\n"))
