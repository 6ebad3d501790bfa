"""The one exception a user may see: a sentence that names the flag, the value and the remedy."""

import sys
from types import TracebackType


class UserError(ValueError):
    """Bad input. The message is one clear sentence naming flag, value and remedy; it is all that the user is shown."""


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
