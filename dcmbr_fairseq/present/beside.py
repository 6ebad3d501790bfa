"""Numbers of ours and the paper's side by side: the cells, lines and captions of the paper's tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dcmbr_fairseq.evaluation.metrics import ERROR_RATES
from dcmbr_fairseq.present.results import Cells, Mean, combined
from dcmbr_fairseq.present.tables import Cell, Grid


class Pair(NamedTuple):
    """A number of ours and the paper's, each None where there is none."""

    ours: Mean | None = None
    paper: float | None = None

    def show(self, with_paper: bool, spread: bool, signed: bool = False) -> Cell:
        """A cell: our number, its least and greatest seed in brackets, and the paper's in parentheses, where asked."""
        sign = "+" if signed else ""
        ours = None if self.ours is None else rounded(self.ours.mean, sign)
        if spread and self.ours is not None and self.ours.count > 1:
            ours = f"{ours} [{rounded(self.ours.low, sign)}, {rounded(self.ours.high, sign)}]"
        if not with_paper:
            return ours
        return f"{ours or '-'} ({'-' if self.paper is None else rounded(self.paper, sign)})"


def rounded(value: float, sign: str = "") -> str:
    """With one decimal, as the paper prints its numbers; ``sign`` as in a format."""
    return f"{round(value, 1) + 0.0:{sign}.1f}"  # + 0.0: never "-0.0"


@dataclass(frozen=True)
class Line:
    """A row of Table 1 or 2: beam search, then naive MBR and DC-MBR for one N or several.

    Attributes:
        labels: the first cells.
        beam: beam search.
        mbr: naive MBR for each N.
        dcmbr: DC-MBR for each N.
        printed: the paper's differences, which it rounded by itself.
    """

    labels: Sequence[str]
    beam: Pair
    mbr: Sequence[Pair]
    dcmbr: Sequence[Pair]
    printed: Sequence[float | None]

    def cells(self, with_paper: bool, spread: bool) -> list[Cell]:
        """BS, then MBR, Ours and their difference for each N."""
        cells: list[Cell] = [*self.labels, self.beam.show(with_paper, spread)]
        for mbr, ours, printed in zip(self.mbr, self.dcmbr, self.printed, strict=True):
            delta = difference(ours, mbr, printed).show(with_paper, spread, signed=True)
            cells += [mbr.show(with_paper, spread), ours.show(with_paper, spread), delta]
        return cells

    def bold(self, lowest: bool) -> list[int]:
        """The columns of the better of MBR and DC-MBR: the lower, where the metric counts errors."""
        first = len(self.labels) + 1
        pairs = zip(self.mbr, self.dcmbr, strict=True)
        columns = [best(pair, first + 3 * i, lowest) for i, pair in enumerate(pairs)]
        return [column for some in columns for column in some]


def difference(ours: Pair, mbr: Pair, printed: float | None) -> Pair:
    """Ours minus MBR; the paper's as it prints it, else from its rounded numbers."""
    if printed is None and ours.paper is not None and mbr.paper is not None:
        printed = ours.paper - mbr.paper
    known = [pair.ours for pair in (ours, mbr) if pair.ours is not None]
    return Pair(combined(lambda pair: pair[0] - pair[1], known) if len(known) == 2 else None, printed)


def best(pairs: Sequence[Pair], first: int, lowest: bool = False) -> list[int]:
    """Which columns, counted from ``first``, hold the best of our numbers as printed; none of fewer than two."""
    known = {first + i: round(pair.ours.mean, 1) for i, pair in enumerate(pairs) if pair.ours is not None}
    wanted = (min if lowest else max)(known.values(), default=None)
    return [column for column, value in known.items() if value == wanted] if len(known) > 1 else []


def grid_of(
    lines: Sequence[Line],
    header: Sequence[str],
    rules: Sequence[int],
    rows: Sequence[Cells],
    theirs: str | None,
    spread: bool,
) -> Grid:
    """The grid of Table 1 or 2.

    Args:
        lines: its rows.
        header: its columns.
        rules: the rows above which a line is drawn.
        rows: what it was made from, of one metric.
        theirs: what the paper's numbers are, if they are to stand beside ours.
        spread: with the least and the greatest seed of each cell.
    """
    labels, lowest = len(lines[0].labels) if lines else 1, _metric(rows) in ERROR_RATES
    cells, bold = [line.cells(theirs is not None, spread) for line in lines], [line.bold(lowest) for line in lines]
    return Grid(header, cells, labels=labels, bold=bold, rules=rules, caption=caption(rows, theirs))


def caption(rows: Sequence[Cells], theirs: str | None) -> str:
    """Our metric, and what stands in parentheses."""
    metric = _metric(rows)
    said = [f"{metric}; lower is better." if metric in ERROR_RATES else f"{metric}."] if metric else []
    return " ".join([*said, *([f"In parentheses: {theirs}."] if theirs else [])])


def _metric(rows: Sequence[Cells]) -> str | None:
    return rows[0].get("metric") if rows else None
