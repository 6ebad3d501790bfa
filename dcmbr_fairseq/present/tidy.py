"""Writing tidy tables: rows as TSV or JSON lines, and a journal that lets a long measurement go on where it stopped."""

import contextlib
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError, lone_surrogate
from dcmbr_fairseq.files.errors import PathLike, reading, writing
from dcmbr_fairseq.files.journals import open_journal
from dcmbr_fairseq.files.json_lines import format_object, shown_json
from dcmbr_fairseq.files.places import check_output, is_stream
from dcmbr_fairseq.files.writing import atomic_writer
from dcmbr_fairseq.present.results import TEST_SET, test_set_in_words
from dcmbr_fairseq.present.tables import FORMS, Grid, render

#: One measurement: column -> value; None is shown as a dash.
Row = dict[str, Any]
#: What a journal files rows under.
Key = Sequence[str | int | float | None]

DIGITS = 6
#: Fields of a journal's first line, and of the others.
_ENTRIES = ({"settings"}, {"key", "rows"})
#: What a message says of a setting that is not there.
ABSENT = "not given"
FORMATS = (*FORMS, "json")


def format_rows(rows: Sequence[Row], form: str) -> str:
    """Rows in one of :data:`FORMATS`; columns come in the order of their first row.

    Floats have six decimals in TSV and JSON, five digits in tables that are read by people; there signatures stand
    below the table, and what is the same of the test set in all rows.
    """
    if form == "json":
        return "".join(format_object(_rounded(row), readable=True) + "\n" for row in rows)
    if form == "tsv":
        rows = [_rounded(row) for row in rows]
        return render(_grid(rows, list(dict.fromkeys(column for row in rows for column in row))), form)
    columns = dict.fromkeys(column for row in rows for column in row)
    same = {column: rows[0].get(column) for column in TEST_SET if len({row.get(column) for row in rows}) == 1}
    below_it = same if same.get("task") else {}
    signatures = (str(row[column]) for column in columns if _is_signature(column) for row in rows)
    notes = dict.fromkeys([*([test_set_of(below_it)] if below_it else []), *signatures])
    shown = [column for column in columns if not _is_signature(column) and column not in below_it]
    comment = "% " if form == "latex" else ""
    below = "".join(f"{comment}{note}\n" for note in notes)
    return render(_grid([_readable(row) for row in rows], shown), form) + ("\n" + below if below else "")


def test_set_of(row: Row) -> str:
    """The test set of a row in words, as far as the row says it; else an empty string."""
    return test_set_in_words(*(row.get(column) for column in TEST_SET))


def _grid(rows: Sequence[Row], header: Sequence[str]) -> Grid:
    return Grid(header, [[row.get(column) for column in header] for row in rows])


def _is_signature(column: str) -> bool:
    return column.endswith("signature")


def _readable(row: Row) -> Row:
    return {column: f"{value:.5g}" if isinstance(value, float) else value for column, value in row.items()}


def _rounded(row: Row) -> Row:
    return {column: _number(value) if isinstance(value, float) else value for column, value in row.items()}


def _number(value: float) -> float | None:
    """A float as it is written: what is not finite is no measurement."""
    return round(float(value), DIGITS) if math.isfinite(value) else None


def format_of(path: PathLike | None, form: str | None = None) -> str:
    """The form asked for, or else what the file's ending says: JSON lines for ``.jsonl`` and ``.json``, else TSV."""
    if form is not None:
        return form
    if path is None:
        return "text"
    return "json" if str(path).removesuffix(".gz").endswith((".jsonl", ".json")) else "tsv"


def write_rows(rows: Sequence[Row], path: PathLike | None, form: str | None = None) -> None:
    """Write rows to a file, whole or not at all, or to standard output; see :func:`format_of`."""
    text = format_rows(rows, format_of(path, form))
    if path is None:
        sys.stdout.write(text)
        return
    _refuse_surrogates(text, path)
    with atomic_writer(path) as out:
        out.write(text)


def _refuse_surrogates(text: str, path: PathLike) -> None:
    """Refuse what UTF-8 cannot write.

    Raises:
        UserError: names the character.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError(
            f"a cell holds {lone_surrogate(error)} to {path}: give a name that ends in .jsonl"
        ) from error


def refuse_existing(path: PathLike | None, option: str = "--output") -> None:
    """Refuse to spend hours on an output that exists already, or cannot be written.

    Raises:
        UserError: it does, or cannot. A pipe or a device is there to be written to.
    """
    if path is None:
        return
    check_output(path)
    if Path(path).exists() and not is_stream(path):
        raise UserError(f"{option} {path} exists already: delete it, or give another name")


class Journal:
    """Rows of a long measurement, written down as they come, each group of rows under a key.

    They stand in ``OUTPUT.partial`` until :meth:`finish` writes the table itself. A measurement that was cut off finds
    its rows there and makes only those that are missing; a line that was cut off is dropped.

    Args:
        output: the file to be written in the end.
        settings: what the rows depend on beside their keys. A journal with other settings is refused.

    Raises:
        UserError: the output exists, or is no place for a file; the journal was begun with other settings, or another
            program is writing it.
    """

    def __init__(self, output: PathLike, settings: Mapping[str, Any]) -> None:
        refuse_existing(output)
        if is_stream(output):
            raise UserError(
                f"--output {output} is a pipe or a device, and the rows of a long measurement are kept beside the "
                "output until it is complete: give the name of a file"
            )
        self.output, self.path = Path(output), Path(f"{output}.partial")
        self._rows: dict[str, list[Row]] = {}
        head = json.dumps({"settings": settings}, sort_keys=True)
        check_output(self.path)
        self._file = open_journal(self.path)
        try:
            self._resume(head)
        except BaseException:
            with contextlib.suppress(OSError):  # a full disk, which has been told already
                self.close()
            raise

    def _resume(self, head: str) -> None:
        with reading(self.path):
            self._file.seek(0)
            data = self._file.read()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.decode(errors="replace").split("\n")[:-1]
        entries = [self._entry(number, line) for number, line in enumerate(lines, 1)]
        if lines and lines[0] != head:
            raise UserError(
                f"{self.path} was begun with other settings ({_difference(lines[0], head)}): "
                "delete it, or give another --output"
            )
        with writing(self.path):
            self._file.truncate(len(whole))
        if not lines:
            self._append(head)
        for entry in entries[1:]:
            self._rows[json.dumps(entry["key"])] = entry["rows"]

    def _entry(self, number: int, line: str) -> dict[str, Any]:
        """A line of an earlier run: the settings first, then rows under their keys."""
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or not _ENTRIES[number > 1] <= entry.keys():
            raise UserError(f"{self.path}, line {number}, is no line of a journal: delete the file, or move it away")
        return entry

    def __contains__(self, key: Key) -> bool:
        return json.dumps(list(key)) in self._rows

    def add(self, key: Key, rows: Sequence[Row]) -> None:
        """File a group of rows; they are on the disk when this returns."""
        self._append(json.dumps({"key": list(key), "rows": list(rows)}))
        self._rows[json.dumps(list(key))] = list(rows)

    def rows(self, keys: Sequence[Key]) -> list[Row]:
        """The rows under the given keys, in their order."""
        return [row for key in keys for row in self._rows[json.dumps(list(key))]]

    def finish(self, rows: Sequence[Row]) -> None:
        """Write the table, and remove the journal."""
        write_rows(rows, self.output)
        self.path.unlink()
        self.close()

    def close(self) -> None:
        """Leave what there is to a later run."""
        self._file.close()

    def _append(self, line: str) -> None:
        with writing(self.path):
            self._file.write(f"{line}\n".encode())
            self._file.flush()
            os.fsync(self._file.fileno())


def _difference(found: str, wanted: str) -> str:
    """The first setting of two heads of journals that is not the same, and what it is in both."""
    one, two = (json.loads(head).get("settings") for head in (found, wanted))
    names: list[str] = []
    while isinstance(one, dict) and isinstance(two, dict):
        name = next(name for name in (*two, *one) if one.get(name, ABSENT) != two.get(name, ABSENT))
        names.append(name)
        one, two = one.get(name, ABSENT), two.get(name, ABSENT)
    return f"{' '.join(names)}: {shown_json(one)}, now {shown_json(two)}"


def missing(journal: Journal, keys: Sequence[Key]) -> list[Key]:
    """The keys under which the journal has nothing yet."""
    return [key for key in keys if key not in journal]
