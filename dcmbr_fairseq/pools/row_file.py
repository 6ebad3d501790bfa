"""Rows in a file as they come, and sorted by id in the end: what the writers of records share."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.writing import atomic_writer
from dcmbr_fairseq.pools.rows import format_row


class RowFile:
    """Rows in an open binary file, in the order in which they came; only ids and byte offsets stay in memory.

    Args:
        file: open for reading and for appending, and empty or not yet looked at.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self._spans: dict[int, tuple[int, int]] = {}  # id -> first byte, length
        self._end = 0

    @property
    def ids(self) -> set[int]:
        """The sentences whose rows are here."""
        return set(self._spans)

    def __contains__(self, row_id: int) -> bool:
        return row_id in self._spans

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row; it may stay in the file's buffer.

        Raises:
            UserError: a number in it is not finite.
        """
        line = format_row(row).encode("ascii") + b"\n"
        self.file.write(line)
        self.note(row["id"], line)

    def whole_lines(self) -> Iterator[bytes]:
        """The lines that an earlier run left, each to be :meth:`note`d; one that was cut off ends them."""
        self.file.seek(0)
        for line in self.file:
            if not line.endswith(b"\n"):
                return
            yield line

    def note(self, row_id: int, line: bytes) -> None:
        """Remember that the next line of the file is this row."""
        self._spans[row_id] = (self._end, len(line))
        self._end += len(line)

    def forget_the_rest(self) -> None:
        """Cut the file after the last row that is known."""
        self.file.truncate(self._end)

    def publish(self, path: PathLike) -> None:
        """Write the rows to ``path``, sorted by id; it appears whole or not at all."""
        self.file.flush()
        with atomic_writer(path) as out:
            for row_id in sorted(self._spans):
                first, length = self._spans[row_id]
                self.file.seek(first)
                out.write(self.file.read(length).decode("ascii"))
