"""Standard output of `dcmbr`: UTF-8 whatever the locale, and a sentence where it cannot be written."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.writing import NamedBuffer

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
    buffer = _Closed() if original is None else NamedBuffer(original.fileno(), NAME, closefd=False)
    terminal = original is not None and original.isatty()
    sys.stdout = io.TextIOWrapper(
        buffer, encoding="utf-8", errors="surrogateescape", newline="\n", line_buffering=terminal
    )  # names that the locale cannot decode go out as the bytes that they came as
    try:
        yield
        sys.stdout.flush()
    except BaseException:  # argparse has printed its help, or the command some rows: they were printed
        if buffer.failure is None:
            sys.stdout.flush()
        raise
    finally:
        buffer.abandoned = True  # what could not be written is not tried again
        sys.stdout = original


class _Closed(io.BufferedIOBase):
    """What stands for a standard output that was closed before we began."""

    abandoned = False
    failure: UserError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self.abandoned:
            return len(memoryview(data))
        self.failure = UserError(f"{NAME} is closed: redirect it to a file, or give --output")
        raise self.failure
