"""Records of pools that are kept while a long sampling run goes on, so that it can go on later where it was cut off."""

import fcntl
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import PathLike, atomic_writer
from dcmbr_fairseq.pools.records import format_row


class PartialRecords:
    """Rows written to ``PATH.partial`` as they come, and to ``PATH``, sorted by id, by :meth:`finish`.

    Rows of an earlier run are kept; a line that was cut off is dropped. Only ids and byte offsets stay in memory.

    Args:
        path: the file to be written in the end.
        check: is given each row of an earlier run, to refuse what was made with other settings.

    Raises:
        UserError: another program is writing the same file, or ``check`` does.
    """

    def __init__(self, path: PathLike, check: Callable[[Mapping[str, Any]], None]) -> None:
        self.path, self.partial = Path(path), Path(f"{path}.partial")
        self._spans: dict[int, tuple[int, int]] = {}  # id -> first byte, length
        self.partial.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = open(self.partial, "a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise UserError(f"{self.partial} is being written by another program: wait for its end") from error
        self._end = 0
        try:
            self._read_rows(check)
        except BaseException:
            self._file.close()
            raise
        self._file.truncate(self._end)

    def _read_rows(self, check: Callable[[Mapping[str, Any]], None]) -> None:
        """Find the rows of an earlier run."""
        self._file.seek(0)
        for line in self._file:
            if not line.endswith(b"\n"):
                break  # it was cut off
            row = json.loads(line)
            check(row)
            self._note(row["id"], line)

    def _note(self, row_id: int, line: bytes) -> None:
        self._spans[row_id] = (self._end, len(line))
        self._end += len(line)

    @property
    def ids(self) -> set[int]:
        """The sentences whose rows are here."""
        return set(self._spans)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append the rows of a batch, without those that are here; they survive the end of this program."""
        for row in rows:
            if row["id"] not in self._spans:
                line = format_row(row).encode("ascii") + b"\n"
                self._file.write(line)
                self._note(row["id"], line)
        self._file.flush()

    def finish(self) -> None:
        """Write the file itself, whole or not at all, and remove the partial one."""
        with atomic_writer(self.path) as out:
            for row_id in sorted(self._spans):
                first, length = self._spans[row_id]
                self._file.seek(first)
                out.write(self._file.read(length).decode("ascii"))
        self.partial.unlink()
        self._file.close()

    def close(self) -> None:
        """Leave what there is to a later run; nothing is left of nothing. Further calls do nothing."""
        if not self._file.closed:
            if not self._spans:
                self.partial.unlink()
            self._file.close()
