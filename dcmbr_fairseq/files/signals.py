"""TERM and HUP end a command as Ctrl-C does: what it has begun is cleaned up, and then it dies of the signal."""

import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

#: A scheduler's or an administrator's wish that a program end, and the end of the terminal that it was started from.
ENDINGS = (signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """A signal asks this process to end.

    Attributes:
        signal: which.
    """

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)
        super().__init__(f"ended by {self.signal.name}")


class _Handlers:
    """The handlers of a main process: the first signal raises :class:`Ended`, and the next does what it did before."""

    def __init__(self) -> None:
        self.ended: Ended | None = None
        self._process = os.getpid()
        self._before: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return  # signals are the main thread's business
        for number in ENDINGS:
            before = signal.getsignal(number)
            if before not in (signal.SIG_IGN, None):  # nohup stays in force, and what is not Python's stays alone
                self._before[number] = before
                signal.signal(number, self._raise)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self.restore()
        if os.getpid() != self._process:  # a child that was forked has nothing to clean up
            signal.raise_signal(number)
            return
        self.ended = Ended(number)
        raise self.ended

    def restore(self) -> None:
        """Put the earlier handlers back."""
        for number, before in self._before.items():
            signal.signal(number, before)

    def die(self) -> None:
        """Hand the signal that came to the earlier handler, which by default ends the process."""
        if self.ended is not None and os.getpid() == self._process:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
            signal.raise_signal(self.ended.signal)


@contextlib.contextmanager
def ending_as_if_interrupted() -> Iterator[None]:
    """Within the block TERM and HUP raise :class:`Ended`, a KeyboardInterrupt; after it the process dies of them."""
    handlers = _Handlers()
    try:
        yield
    finally:
        handlers.restore()
        handlers.die()


@contextlib.contextmanager
def finishing_first() -> Iterator[list[signal.Signals]]:
    """Within the block the first TERM or HUP is only noted, so that what has been begun can come to its end.

    Gives the list of those that came; the caller looks at it. The next one does what it did before.
    """
    asked: list[signal.Signals] = []
    before: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(signal.Signals(number))
        restore()

    def restore() -> None:
        while before:
            signal.signal(*before.popitem())

    if threading.current_thread() is threading.main_thread():
        for number in ENDINGS:
            handler = signal.getsignal(number)
            if handler not in (signal.SIG_IGN, None):
                before[number] = handler
                signal.signal(number, note)
    try:
        yield asked
    finally:
        restore()


#: What fairseq's commands that decode are called, as programs and as modules.
_DECODING = ("fairseq-generate", "fairseq-interactive", "generate.py", "interactive.py")


def end_as_if_interrupted() -> None:
    """In fairseq's commands that decode: from now on TERM and HUP end them as Ctrl-C does; once is enough.

    Their main function is not ours. Call it before what is to be cleaned up at the exit; elsewhere, as in a program
    that uses the hub, it does nothing.
    """
    program = Path(getattr(sys.modules["__main__"], "__file__", None) or "").name
    if program not in _DECODING or getattr(sys.excepthook, "_tells_of_signals", False):
        return
    handlers, previous = _Handlers(), sys.excepthook
    atexit.register(handlers.die)

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, Ended):
            print(f"dcmbr_fairseq: {error}", file=sys.stderr)
        else:
            previous(kind, error, trace)

    hook._tells_of_signals = True  # type: ignore[attr-defined]
    sys.excepthook = hook
