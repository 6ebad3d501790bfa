"""The paper's tables made from tidy results: Tables 1 and 2 and those of the appendix, the paper's numbers beside.

Each layout turns rows of results (:mod:`dcmbr_fairseq.present.results`) into a :class:`~.tables.Grid`. Where the
paper's numbers are asked for, a cell reads ``ours (paper's)``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import ERROR_RATES
from dcmbr_fairseq.present import paper
from dcmbr_fairseq.present.results import (
    SETTINGS,
    Cells,
    Value,
    decoding_of,
    label,
    means,
    number,
    one_test_set,
    refuse_mixture,
    require,
)
from dcmbr_fairseq.present.tables import Cell, Grid

#: (decoding, N, the row's other keys) -> mean score; N is 0 for beam search, which has no pool.
Scores = dict[tuple[str, float, Value], float]


class Pair(NamedTuple):
    """A number of ours and the paper's, each None where there is none."""

    ours: float | None = None
    paper: float | None = None

    def show(self, with_paper: bool, signed: bool = False) -> Cell:
        """A cell: our number, and the paper's in parentheses where asked."""
        sign = "+" if signed else ""
        ours, theirs = (None if v is None else f"{round(v, 1) + 0.0:{sign}.1f}" for v in self)  # + 0.0: never "-0.0"
        return f"{ours or '-'} ({theirs or '-'})" if with_paper else ours


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

    def cells(self, with_paper: bool) -> list[Cell]:
        """BS, then MBR, Ours and their difference for each N."""
        cells: list[Cell] = [*self.labels, self.beam.show(with_paper)]
        for mbr, ours, printed in zip(self.mbr, self.dcmbr, self.printed, strict=True):
            delta = difference(ours, mbr, printed).show(with_paper, signed=True)
            cells += [mbr.show(with_paper), ours.show(with_paper), delta]
        return cells

    def bold(self) -> list[int]:
        """The columns of the better of MBR and DC-MBR."""
        first = len(self.labels) + 1
        columns = [best(pairs, first + 3 * i) for i, pairs in enumerate(zip(self.mbr, self.dcmbr, strict=True))]
        return [column for some in columns for column in some]


def difference(ours: Pair, mbr: Pair, printed: float | None) -> Pair:
    """Ours minus MBR; the paper's as it prints it, else from its rounded numbers."""
    if printed is None and ours.paper is not None and mbr.paper is not None:
        printed = ours.paper - mbr.paper
    return Pair(ours.ours - mbr.ours if ours.ours is not None and mbr.ours is not None else None, printed)


def best(pairs: Sequence[Pair], first: int, lowest: bool = False) -> list[int]:
    """Which columns, counted from ``first``, hold the best of our numbers as printed; none of fewer than two."""
    known = {first + i: round(pair.ours, 1) for i, pair in enumerate(pairs) if pair.ours is not None}
    wanted = (min if lowest else max)(known.values(), default=None)
    return [column for column, value in known.items() if value == wanted] if len(known) > 1 else []


def scores_by_decoding(rows: Sequence[Cells], key: str, temperature: float) -> Scores:
    """Mean scores of beam search, naive MBR, and DC-MBR at T_h = T_r = ``temperature``.

    Raises:
        UserError: columns are missing, or a mean would mix settings, or models where the key is no model's.
    """
    if not rows:
        return {}
    require(rows, (key, "decoding", "score"), "this table")
    refuse_mixture(rows, ("metric",))
    one_test_set(rows, by=[key] if key == "task" else [], models_by=[key])
    chosen = [{**row, "decoding": decoding_of(row, temperature)} for row in rows]
    sampled = [row for row in chosen if row["decoding"] in ("mbr", "dcmbr")]
    require(sampled or [{"num_hyp": ""}], ("num_hyp",), "a row of MBR")
    refuse_mixture(sampled, ("utility",))
    beam = [{**row, "num_hyp": "0"} for row in chosen if row["decoding"] == "beam"]
    same = [column for column in (*SETTINGS, "model", "label_smoothing") if column not in ("num_hyp", key)]
    found = means([*beam, *sampled], ("decoding", "num_hyp", key), same=same)
    return {(str(d), pool_size(size), name): mean.mean for (d, size, name), mean in found.items()}


def pool_size(value: Value) -> float:
    """N of a row of MBR.

    Raises:
        UserError: it is not a number.
    """
    if isinstance(value, str):
        raise UserError(f"column num_hyp must hold the pool size in every row of MBR, got {value!r}: repair the table")
    return value


def bilingual(rows: Sequence[Cells], paper_table: str | None, temperature: float) -> Grid:
    """Table 1: BS, MBR and DC-MBR for each N and label smoothing.

    Args:
        rows: columns label_smoothing, decoding, score; num_hyp and the temperatures of sampled decodings. Rows of
            models that were trained otherwise (GER) are left out.
        paper_table: whose numbers of the paper stand beside ours (a key of ``paper.BILINGUAL``), or None.
        temperature: T_h = T_r of DC-MBR.
    """
    rows = [row for row in rows if row.get("label_smoothing") != "-"]
    printed = paper.BILINGUAL[paper_table] if paper_table else {}
    scores = scores_by_decoding(rows, "label_smoothing", temperature)
    keys = sorted({(size, key) for _, size, key in scores if size} | {(float(n), s) for n, s in printed})
    lines = []
    for size, smoothing in keys:
        theirs = printed.get((int(size), float(smoothing)), paper.Bilingual(None, None, None))
        found = [scores.get((d, n, smoothing)) for d, n in (("beam", 0.0), ("mbr", size), ("dcmbr", size))]
        beam, mbr, ours = map(Pair, found, theirs)
        labels = (f"N={size:g}", "Transformer" if smoothing == 0 else f"+ LS {smoothing:g}")
        lines.append(Line(labels, beam, [mbr], [ours], [theirs.printed_difference]))
    rules = [i for i, line in enumerate(lines) if i == 0 or line.labels[0] != lines[i - 1].labels[0]]
    header = ["candidates", "model", "BS", "MBR", "Ours", "Δ"]
    theirs_in = paper_table and f"{paper.BILINGUAL_METRIC[paper_table]} in the paper, {paper_table}"
    return grid_of(lines, header, rules, caption(rows, theirs_in), theirs_in is not None)


def multilingual(rows: Sequence[Cells], paper_table: str | None, temperature: float) -> Grid:
    """Table 2: BS, and MBR and DC-MBR for each N, for each direction, and their average.

    Args:
        rows: columns task (ending in a direction such as en-de), decoding, score, num_hyp and temperatures.
        paper_table: not None for the paper's numbers beside ours.
        temperature: T_h = T_r of DC-MBR.
    """
    found = scores_by_decoding(rows, "task", temperature)
    refuse_same_direction(dict.fromkeys(str(key) for _, _, key in found))
    scores: Scores = {(d, n, direction(str(key))): s for (d, n, key), s in found.items()}
    sizes = sorted({n for _, n, _ in scores if n} | ({10.0, 50.0} if paper_table else set()))
    directions = list(dict.fromkeys([*(paper.WMT16 if paper_table else ()), *(str(key) for _, _, key in scores)]))
    lines = [multilingual_line(d, paper.WMT16.get(d) if paper_table else None, sizes, scores) for d in directions]
    if lines:
        lines.append(average_line(lines, paper.WMT16_AVERAGE if paper_table else None, sizes))
    header = ["direction", "BS", *(title for n in sizes for title in (f"MBR N={n:g}", f"Ours N={n:g}", "Δ"))]
    about = caption(rows, paper_table and "BLEURT in the paper, Table 2")
    return grid_of(lines, header, [0, len(lines) - 1], about, paper_table is not None)


def refuse_same_direction(test_sets: Iterable[str]) -> None:
    """Refuse two test sets of the same direction, which has one row.

    Raises:
        UserError: names them.
    """
    named: dict[str, str] = {}
    for test_set in test_sets:
        other = named.setdefault(direction(test_set), test_set)
        if other != test_set:
            raise UserError(f"{other} and {test_set} are of the same direction, which has one row: choose with --where")


def direction(test_set: str) -> str:
    """``en-de`` of ``wmt16-en-de``; other names stay as they are."""
    match = re.search(r"\b([a-z]{2}-[a-z]{2})$", test_set)
    return match[1] if match else test_set


def multilingual_line(name: str, theirs: paper.Multilingual | None, sizes: Sequence[float], scores: Scores) -> Line:
    """The row of one direction."""
    printed = theirs._asdict() if theirs else {}

    def pair(decoding: str, size: float) -> Pair:
        return Pair(scores.get((decoding, size, name)), printed.get(f"{decoding}{size:g}"))

    beam = Pair(scores.get(("beam", 0.0, name)), printed.get("beam"))
    mbr, ours = ([pair(decoding, size) for size in sizes] for decoding in ("mbr", "dcmbr"))
    return Line([name], beam, mbr, ours, [printed.get(f"difference{size:g}") for size in sizes])


def average_line(lines: Sequence[Line], theirs: paper.Multilingual | None, sizes: Sequence[float]) -> Line:
    """The last row: means over directions; ours only where no direction is missing."""
    printed = theirs._asdict() if theirs else {}

    def average(pairs: Sequence[Pair], name: str) -> Pair:
        ours = [pair.ours for pair in pairs if pair.ours is not None]
        return Pair(sum(ours) / len(ours) if len(ours) == len(lines) else None, printed.get(name))

    beam = average([line.beam for line in lines], "beam")
    mbr = [average([line.mbr[i] for line in lines], f"mbr{n:g}") for i, n in enumerate(sizes)]
    ours = [average([line.dcmbr[i] for line in lines], f"dcmbr{n:g}") for i, n in enumerate(sizes)]
    return Line(["average"], beam, mbr, ours, [printed.get(f"difference{n:g}") for n in sizes])


def grid_of(lines: Sequence[Line], header: Sequence[str], rules: Sequence[int], about: str, with_paper: bool) -> Grid:
    """The grid of Table 1 or 2."""
    labels = len(lines[0].labels) if lines else 1
    cells, bold = [line.cells(with_paper) for line in lines], [line.bold() for line in lines]
    return Grid(header, cells, labels=labels, bold=bold, rules=rules, caption=about)


def caption(rows: Sequence[Cells], theirs: str | None) -> str:
    """Our metric, and what stands in parentheses."""
    metric = rows[0].get("metric") if rows else None
    return " ".join([*([f"{metric}."] if metric else []), *([f"In parentheses: {theirs}."] if theirs else [])])


def utilities(rows: Sequence[Cells], paper_table: str | None, temperature: float) -> Grid:
    """The appendix' study of utilities: DC-MBR / naive MBR for each utility and metric, means over test sets.

    Args:
        rows: columns utility, metric, decoding, score and temperatures.
        paper_table: not None for the paper's numbers beside ours.
        temperature: T_h = T_r of DC-MBR.
    """
    scores: dict[tuple[Value, ...], float] = {}
    if rows:
        require(rows, ("utility", "metric", "decoding", "score"), "this table")
        refuse_mixture(rows, ("num_hyp",))
        chosen = [{**row, "decoding": decoding_of(row, temperature)} for row in rows]
        chosen = [row for row in chosen if row["decoding"]]
        scores = means_over_test_sets(chosen, ("utility", "metric", "decoding"))
    printed = paper.UTILITIES if paper_table else {}
    names = list(dict.fromkeys([*printed, *(str(key[0]) for key in scores)]))
    metrics = list(dict.fromkeys([*(m for row in printed.values() for m in row), *(str(key[1]) for key in scores)]))
    pairs = {
        (u, m, i): Pair(scores.get((u, m, d)), printed[u][m][i] if u in printed and m in printed[u] else None)
        for u in names for m in metrics for i, d in enumerate(("dcmbr", "mbr"))
    }  # fmt: skip
    header = ["utility", *(f"{metric} {side}" for metric in metrics for side in ("Ours", "MBR"))]
    table = [[u, *(pairs[u, m, i].show(bool(paper_table)) for m in metrics for i in (0, 1))] for u in names]
    bold: list[list[int]] = [[] for _ in names]
    for column, (metric, side) in enumerate([(m, i) for m in metrics for i in (0, 1)], 1):
        column_pairs = [pairs[u, metric, side] for u in names]
        for row in best(column_pairs, 0, metric in ERROR_RATES):  # the best utility of each metric
            bold[row].append(column)
    return Grid(header, table, bold=bold, caption=caption([], "the paper" if paper_table else None))


def means_over_test_sets(rows: Sequence[Cells], keys: Sequence[str]) -> dict[tuple[Value, ...], float]:
    """The mean over test sets of each cell: of the means over seeds of each.

    Raises:
        UserError: cells are not of the same test sets, or a mean over seeds would mix settings.
    """
    rows = [{"task": "", **row} for row in rows]
    one_test_set(rows, by=("task",), models_by=("task",))
    same = ("subset", "sentences", "model", "label_smoothing", "ref_pool", "num_ref")
    cells: dict[tuple[Value, ...], dict[Value, float]] = {}
    for key, mean in means(rows, (*keys, "task"), same=same).items():
        cells.setdefault(key[:-1], {})[key[-1]] = mean.mean
    first, *others = cells.items()
    for other in others:
        if other[1].keys() != first[1].keys():
            sets = (f"{' '.join(map(label, key))}: {', '.join(map(label, found))}" for key, found in (first, other))
            raise UserError(f"means over different test sets cannot be compared ({'; '.join(sets)}): add the missing")
    return {key: float(np.mean(list(found.values()))) for key, found in cells.items()}


def data(rows: Sequence[Cells], paper_table: str | None, temperature: float) -> Grid:
    """The appendix' data sets: segments of each split.

    Args:
        rows: columns task, split (train, valid or test) and segments.
        paper_table: not None for the paper's numbers beside ours.
        temperature: not used.
    """
    if rows:
        require(rows, ("task", "split", "segments"), "this table")
    counts = {(row["task"], row["split"]): f"{number(row, 'segments'):.0f}" for row in rows}
    printed: dict[str, tuple[str | int | None, ...]] = dict(paper.DATA) if paper_table else {}
    names = list(dict.fromkeys([*printed, *(name for name, _ in counts)]))
    table: list[list[Cell]] = []
    for name in names:
        theirs = printed.get(name, (None, None, None))
        ours = [counts.get((name, split)) for split in ("train", "valid", "test")]
        shown = [f"{o or '-'} ({t or '-'})" if paper_table else o for o, t in zip(ours, theirs, strict=True)]
        table.append([name, *shown])
    return Grid(["task", "train", "valid", "test"], table, caption=caption([], "the paper" if paper_table else None))


class Layout(NamedTuple):
    """A table that ``dcmbr table`` can make."""

    build: Callable[[Sequence[Cells], str | None, float], Grid]
    paper: str
    title: str


LAYOUTS: dict[str, Layout] = {
    "1": Layout(bilingual, "en-de", "Table 1, WMT20 En-De"),
    "2": Layout(multilingual, "wmt16", "Table 2, ten directions of WMT16"),
    "en-ro": Layout(bilingual, "en-ro", "appendix, WMT16 En-Ro"),
    "de-en": Layout(bilingual, "de-en", "appendix, WMT20 De-En"),
    "utilities": Layout(utilities, "utilities", "appendix, utilities against metrics"),
    "data": Layout(data, "data", "appendix, data sets"),
}
