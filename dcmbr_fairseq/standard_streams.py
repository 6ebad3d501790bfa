"""Standard output of `dcmbr`: UTF-8 whatever the locale, and a sentence where it cannot be written."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import NamedRaw

NAME = "standard output"


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Around a command: its standard output is in UTF-8, and has been written when this ends.

    Raises:
        UserError: standard output is closed, or the disk that it goes to is full.
        BrokenPipeError: the reader of standard output has gone.
    """
    if sys.stderr is None:  # closed by the caller; print() would take standard output instead
        sys.stderr = open(os.devnull, "w")
    original = sys.stdout
    if original is not None and original is not sys.__stdout__:  # somebody in this process listens
        if isinstance(original, io.TextIOWrapper):
            original.reconfigure(encoding="utf-8", newline="\n")
        yield
        original.flush()
        return
    raw = _Closed() if original is None else NamedRaw(original.fileno(), NAME, closefd=False)
    terminal = original is not None and original.isatty()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="surrogateescape", newline="\n", line_buffering=terminal
    )  # names that the locale cannot decode go out as the bytes that they came as
    try:
        yield
        sys.stdout.flush()
    except SystemExit:  # argparse has printed its help
        sys.stdout.flush()
        raise
    finally:
        raw.abandoned = True  # what could not be written is not tried again
        sys.stdout = original


class _Closed(io.RawIOBase):
    """What stands for a standard output that was closed before we began."""

    abandoned = False

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        if self.abandoned:
            return len(memoryview(data))  # type: ignore[arg-type]
        raise UserError(f"{NAME} is closed: redirect it to a file, or give --output")
