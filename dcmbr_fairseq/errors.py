"""The one exception a user may see: a sentence that names the flag, the value and the remedy."""

import difflib
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


def print_user_errors_plainly() -> None:
    """Let an uncaught :class:`UserError` end a fairseq command with its sentence alone, without a traceback.

    Other exceptions are shown as before. Calling this again changes nothing.
    """
    previous = sys.excepthook
    if getattr(previous, "_prints_user_errors", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, UserError):
            print(f"dcmbr_fairseq: error: {error}", file=sys.stderr)
        else:
            previous(kind, error, trace)

    hook._prints_user_errors = True  # type: ignore[attr-defined]
    sys.excepthook = hook
