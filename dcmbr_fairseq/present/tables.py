"""Tables as text, Markdown, LaTeX or TSV: one small grid type, and how each form writes it."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import PathLike, read_lines

Cell = str | float | int | None

_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "Δ": r"$\Delta$",
}  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """A table to print.

    Attributes:
        header: the column titles.
        rows: cells; None is printed as a dash.
        labels: how many columns, from the left, hold labels and are aligned to the left.
        digits: decimals of floats.
        bold: for each row the indices of the columns to print bold (Markdown and LaTeX).
        rules: indices of rows above which a rule is drawn.
        caption: a sentence below the table.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    labels: int = 1
    digits: int = 1
    bold: Sequence[Sequence[int]] | None = None
    rules: Sequence[int] = ()
    caption: str = ""

    def texts(self) -> list[list[str]]:
        """The cells as strings."""
        return [[self._text(cell) for cell in row] for row in self.rows]

    def _text(self, cell: Cell) -> str:
        if cell is None:
            return "-"
        return f"{cell:.{self.digits}f}" if isinstance(cell, float) else str(cell)

    def is_bold(self, row: int, column: int) -> bool:
        """Whether a cell is to be printed bold."""
        return self.bold is not None and column in self.bold[row]


def render(grid: Grid, form: str) -> str:
    """The table in one of :data:`FORMS`, ending in a newline."""
    return FORMS[form](grid)


def as_text(grid: Grid) -> str:
    """Aligned columns for a terminal: labels to the left, the others to the right."""
    lines = [list(grid.header), *grid.texts()]
    widths = [max(len(line[i]) for line in lines) for i in range(len(grid.header))]
    out = []
    for number, line in enumerate(lines):
        if number - 1 in (0, *grid.rules):
            out.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
        cells = [cell.rjust(widths[i]) if i >= grid.labels else cell.ljust(widths[i]) for i, cell in enumerate(line)]
        out.append("  ".join(cells).rstrip())
    return "\n".join([*out, *([grid.caption] if grid.caption else [])]) + "\n"


def as_markdown(grid: Grid) -> str:
    """A GitHub table."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"

    rows = [
        line([f"**{cell}**" if grid.is_bold(r, c) else cell for c, cell in enumerate(row)])
        for r, row in enumerate(grid.texts())
    ]
    rule = "|" + " --- |" * grid.labels + " ---: |" * (len(grid.header) - grid.labels)
    return "\n".join([line(grid.header), rule, *rows, *(["", grid.caption] if grid.caption else [])]) + "\n"


def as_latex(grid: Grid) -> str:
    """A booktabs tabular; special characters are escaped."""
    columns = "l" * grid.labels + "r" * (len(grid.header) - grid.labels)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(map(escape_latex, grid.header)) + r" \\", r"\midrule"]
    for r, row in enumerate(grid.texts()):
        if r in grid.rules and r > 0:
            lines.append(r"\midrule")
        cells = [rf"\textbf{{{escape_latex(c)}}}" if grid.is_bold(r, i) else escape_latex(c) for i, c in enumerate(row)]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *([f"% {grid.caption}"] if grid.caption else [])]) + "\n"


def escape_latex(text: str) -> str:
    """``text`` with what LaTeX would read as a command made literal."""
    return "".join(_LATEX_SPECIAL.get(character, character) for character in text)


def as_tsv(grid: Grid) -> str:
    """Tab-separated, numbers in full precision; a dash stands for what is missing."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(grid.header)
    writer.writerows([["-" if cell is None else cell for cell in row] for row in grid.rows])
    return out.getvalue()


FORMS: dict[str, Callable[[Grid], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "tsv": as_tsv,
}


def read_table(path: PathLike) -> list[dict[str, str]]:
    """The rows of a tidy table: TSV with a header line, or JSON lines (values become strings as in TSV).

    Raises:
        UserError: no rows, a row with too few or too many cells, or a broken JSON line.
    """
    lines = [line.rstrip("\r") for line in read_lines(path)]
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    rows = _json_rows(lines, path) if lines and lines[0].startswith("{") else _tsv_rows(lines, path)
    if not rows:
        raise UserError(f"{path} has no rows: give a table with a header line and at least one row")
    return rows


def _json_rows(lines: Sequence[str], path: PathLike) -> list[dict[str, str]]:
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}, row {number}, is not JSON ({error}): give JSON lines or TSV") from error
        rows.append({key: "" if value is None else str(value) for key, value in row.items()})
    return rows


def _tsv_rows(lines: Sequence[str], path: PathLike) -> list[dict[str, str]]:
    table = list(csv.reader(lines, delimiter="\t"))
    for number, row in enumerate(table[1:], 1):
        if len(row) != len(table[0]):
            raise UserError(f"{path}, row {number}, has {len(row)} cells but the header has {len(table[0])}: repair it")
    return [dict(zip(table[0], row, strict=True)) for row in table[1:]]
