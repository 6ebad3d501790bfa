"""Tables as text, Markdown, LaTeX or TSV: one small grid type, and how each form writes it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.json_lines import parse_object
from dcmbr_fairseq.files.reading import read_lines
from dcmbr_fairseq.present.tsv import format_tsv, parse_tsv

Cell = str | float | int | None
#: What stands for a value that is missing.
MISSING = "-"

_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "Δ": r"$\Delta$",
}  # fmt: skip
#: What editors, terminals and renderers take for the end of a line.
_LINE_ENDS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")


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
        notes: what the table is, in lines below the caption; not in TSV, which is numbers alone.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    labels: int = 1
    digits: int = 1
    bold: Sequence[Sequence[int]] | None = None
    rules: Sequence[int] = ()
    caption: str = ""
    notes: Sequence[str] = ()

    def below(self) -> list[str]:
        """The lines below the table."""
        return [*([self.caption] if self.caption else []), *(_LINE_ENDS.sub(" ", note) for note in self.notes)]

    def texts(self) -> list[list[str]]:
        """The cells as strings."""
        return [[self._text(cell) for cell in row] for row in self.rows]

    def _text(self, cell: Cell) -> str:
        if cell is None:
            return MISSING
        text = f"{cell:.{self.digits}f}" if isinstance(cell, float) else str(cell)
        return _LINE_ENDS.sub(" ", text)  # a cell that ended the line would be a row of its own

    def is_bold(self, row: int, column: int) -> bool:
        """Whether a cell is to be printed bold."""
        return self.bold is not None and column in self.bold[row]


def p_text(p: float, least: float = 0.0) -> str:
    """A p-value to be printed: three decimals, or two significant digits; below ``least`` it is not told from 0."""
    if p < least:
        return f"< {least:.2g}"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.2g}"


def coefficient_text(value: float, digits: int) -> str:
    """A number between -1 and 1 with ``digits`` decimals, or as many more as it takes not to look like -1, 0 or 1."""
    while round(value, digits) in (-1, 0, 1) and value not in (-1, 0, 1) and digits < 15:
        digits += 1
    return f"{value:.{digits}f}"


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
    return "\n".join([*out, *grid.below()]) + "\n"


def as_markdown(grid: Grid) -> str:
    """A GitHub table."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"

    rows = [
        line([f"**{cell}**" if grid.is_bold(r, c) else cell for c, cell in enumerate(row)])
        for r, row in enumerate(grid.texts())
    ]
    rule = "|" + " --- |" * grid.labels + " ---: |" * (len(grid.header) - grid.labels)
    below = ["", "  \n".join(grid.below())] if grid.below() else []  # two spaces: a line of its own
    return "\n".join([line(grid.header), rule, *rows, *below]) + "\n"


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
    return "\n".join([*lines, *(f"% {text}" for text in grid.below())]) + "\n"


def escape_latex(text: str) -> str:
    """``text`` with what LaTeX would read as a command made literal."""
    return "".join(_LATEX_SPECIAL.get(character, character) for character in text)


def as_tsv(grid: Grid) -> str:
    """Tab-separated, numbers in full precision; a dash stands for what is missing."""
    return format_tsv([list(grid.header), *([as_cell(cell) for cell in row] for row in grid.rows)])


def as_cell(value: object) -> str:
    """A value as :func:`read_table` gives it."""
    return MISSING if value is None else str(value)


FORMS: dict[str, Callable[[Grid], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "tsv": as_tsv,
}


def read_table(path: PathLike) -> list[dict[str, str]]:
    """The rows of a tidy table: TSV with a header line, or JSON lines; values become strings, what is missing a dash.

    Raises:
        UserError: no rows, a row with too few or too many cells, two columns of one name, or a broken JSON line.
    """
    lines = read_lines(path)
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    rows = _json_rows(lines, path) if first.startswith(("{", "[")) else _tsv_rows("\n".join(lines), path)
    if not rows:
        raise UserError(f"{path} has no rows: give a table with a header line and at least one row")
    return rows


def _json_rows(lines: Sequence[str], path: PathLike) -> list[dict[str, str]]:
    rows = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                rows.append(parse_object(line))
            except UserError as error:
                raise UserError(f"{path}, line {number}: {error}") from error
    columns = dict.fromkeys(column for row in rows for column in row)
    return [{column: as_cell(row.get(column)) for column in columns} for row in rows]


def _tsv_rows(text: str, path: PathLike) -> list[dict[str, str]]:
    (_, header), *table = list(parse_tsv(text)) or [(1, [])]
    if len(set(header)) < len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise UserError(f"{path} has the column {twice!r} twice: name each column once")
    for number, row in table:
        if len(row) != len(header):
            raise UserError(f"{path}, line {number}, has {len(row)} cells but the header has {len(header)}: repair it")
    return [dict(zip(header, row, strict=True)) for _, row in table]
