"""Records that are kept while a long sampling run goes on, so that it can go on later where it was cut off."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike, is_full, writing
from dcmbr_fairseq.files.journals import open_journal
from dcmbr_fairseq.files.json_lines import shown_json
from dcmbr_fairseq.files.places import check_output
from dcmbr_fairseq.pools.row_file import RowFile
from dcmbr_fairseq.pools.rows import parse_versioned


def remove_partial(path: PathLike) -> None:
    """Remove what a run that was killed in its last moment has left beside its finished file."""
    with writing(path):
        Path(f"{path}.partial").unlink(missing_ok=True)


class ResumableWriter:
    """Rows written to ``PATH.partial`` as they come, and to ``PATH``, sorted by id, by :meth:`finish`.

    Rows of an earlier run are kept; a line that was cut off is dropped. Where the name ends in ``.gz`` the partial file
    is packed too, batch by batch.

    Args:
        path: the file to be written in the end.
        check: is given each row of an earlier run, to refuse what was made with other settings.
        common: fields that every row gets.

    Raises:
        UserError: another program is writing the same file, what it holds are no rows, or ``check`` does.
    """

    def __init__(
        self,
        path: PathLike,
        check: Callable[[Mapping[str, Any]], None],
        common: Mapping[str, Any] | None = None,
    ) -> None:
        self.path, self.partial, self.common = Path(path), Path(f"{path}.partial"), common or {}
        check_output(self.partial)
        file = open_journal(self.partial)
        file.seek(0)
        packed = self.path.name.endswith(".gz") and file.read(1) in (b"", b"\x1f")  # before 0.2.0 it was plain
        self._rows = RowFile(file, packed)
        try:
            self._read_rows(check)
        except BaseException:
            self._rows.file.close()
            raise

    def _read_rows(self, check: Callable[[Mapping[str, Any]], None]) -> None:
        """Find the rows of an earlier run."""
        for number, line in enumerate(self._rows.whole_lines(self.partial), 1):
            try:
                row = parse_versioned(line.decode("ascii"))
                if type(row.get("id")) is not int or not -(2**63) <= row["id"] < 2**63:
                    raise UserError(f"field id must be a whole number of 64 bits, got {shown_json(row.get('id'))}")
            except (UserError, UnicodeDecodeError) as error:
                raise UserError(f"{self.partial}, line {number}: {error}; delete the file, or mend it") from error
            check(row)
            self._rows.note(row["id"], line)
        self._rows.forget_the_rest()

    @property
    def ids(self) -> set[int]:
        """The sentences whose rows are here."""
        return self._rows.ids

    def __contains__(self, sentence: int) -> bool:
        return sentence in self._rows

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append the rows of a batch, without those that are here; they survive the end of this program.

        Raises:
            UserError: they cannot be written; the rows before them stay for a later run.
        """
        with self._keeping_what_there_is():
            for row in rows:
                if row["id"] not in self._rows:
                    self._rows.append({**row, **self.common})
            self._rows.flush()

    def finish(self) -> None:
        """Write the file itself, whole or not at all, and remove the partial one.

        Raises:
            UserError: it cannot be written; the partial one stays for a later run.
        """
        self._rows.publish(self.path)
        self.partial.unlink()
        self._rows.file.close()

    def close(self) -> None:
        """Leave what there is to a later run; nothing is left of nothing. Further calls do nothing."""
        if not self._rows.file.closed:
            if not self._rows.ids:
                self.partial.unlink()
            with contextlib.suppress(OSError):  # a full disk refuses what is still in the buffer
                self._rows.file.close()

    @contextlib.contextmanager
    def _keeping_what_there_is(self) -> Iterator[None]:
        try:
            with writing(self.partial):
                yield
        except UserError as error:
            if not is_full(error.__cause__):
                raise
            raise UserError(
                f"the disk is full: {self.partial} keeps the sentences before; free some space, and run the same "
                "command again: it goes on from there"
            ) from error
