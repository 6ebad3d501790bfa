"""Reading text so that nothing is lost: lines end at \\n alone, and damage is told with its line."""

import gzip
from collections.abc import Iterator
from typing import IO

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import DAMAGE, PathLike, check_input, reading, unreadable

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def open_bytes(path: PathLike) -> IO[bytes]:
    """Open a regular file, ``.gz`` or plain, for reading.

    Raises:
        UserError: it is missing, or cannot be read.
    """
    check_input(path)
    with reading(path):
        return gzip.open(path) if str(path).endswith(".gz") else open(path, "rb")  # type: ignore[return-value]


def iter_lines(path: PathLike) -> Iterator[str]:
    """Yield the lines of a UTF-8 file (plain or ``.gz``) without their ``\\n`` and without a byte order mark.

    Only ``\\n`` ends a line: ``\\r`` and U+2028 stay inside it. UTF-16 without a mark, whose ASCII would pass for UTF-8
    with a zero beside each letter, is known by the zero beside the first.

    Raises:
        UserError: the file is missing, cannot be read or is damaged, or a line is not UTF-8.
    """
    number = 0
    with open_bytes(path) as file:
        while True:
            try:  # not around the yield: what others do with a line is nothing to say about this file
                line = file.readline()
            except DAMAGE as error:
                raise unreadable(f"{path}, after line {number},", error) from error
            if not line:
                return
            number += 1
            if number == 1 and _is_utf16(line[:8]):
                raise UserError(f"{path} is not UTF-8 but UTF-16, or no text: convert the file with iconv")
            try:
                yield (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).removesuffix(b"\n").decode("utf-8")
            except UnicodeDecodeError as error:
                raise UserError(
                    f"{path}, line {number}, is not UTF-8 (byte {error.start + 1}: {error.reason}): convert the file "
                    "with iconv, or drop such lines"
                ) from error


def _is_utf16(beginning: bytes) -> bool:
    """Whether every other byte is zero."""
    return len(beginning) >= 4 and any(beginning) and not (any(beginning[::2]) and any(beginning[1::2]))


def read_lines(path: PathLike) -> list[str]:
    """The lines of a file as a list; see :func:`iter_lines`."""
    return list(iter_lines(path))
