"""Pieces of text packed one after the other, each whole by itself: a file of gzip that may be cut off and gone on with.

gzip files may be joined: what a run that was killed has left whole stays readable, and the next run appends to it.
"""

import gzip
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from dcmbr_fairseq.errors import UserError

_READ_AT_ONCE = 2**18
_GZIP = 16 + zlib.MAX_WBITS


class Member(NamedTuple):
    """One piece: where it stands in the file, and what it holds."""

    first: int
    length: int
    content: bytes


def pack(content: bytes) -> bytes:
    """A piece as it stands in the file; the same content gives the same bytes."""
    return gzip.compress(content, compresslevel=6, mtime=0)


def unpack(packed: bytes) -> bytes:
    """What a piece holds."""
    return gzip.decompress(packed)


def members(file: BinaryIO, name: object) -> Iterator[Member]:
    """The whole pieces of a file from its beginning; one that was cut off ends them.

    Raises:
        UserError: what stands there is no gzip, or its sums do not agree.
    """
    first = 0
    while True:
        file.seek(first)
        engine, length, parts = zlib.decompressobj(_GZIP), 0, []
        while not engine.eof:
            chunk = file.read(_READ_AT_ONCE)
            if not chunk:
                return
            try:
                parts.append(engine.decompress(chunk))
            except zlib.error as error:
                raise UserError(
                    f"{name} is damaged after byte {first} ({error}): delete it, and its sentences are decoded again"
                ) from error
            length += len(chunk)
        length -= len(engine.unused_data)
        yield Member(first, length, b"".join(parts))
        first += length
