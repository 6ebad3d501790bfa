"""The paper's tables made from tidy results: Tables 1 and 2 and those of the appendix, the paper's numbers beside.

Each layout turns rows of results (:mod:`dcmbr_fairseq.present.results`) into a :class:`~.tables.Grid`. Where the
paper's numbers are asked for, a cell reads ``ours (paper's)``.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present import against, appendix, paper
from dcmbr_fairseq.present.beside import Line, Pair, grid_of
from dcmbr_fairseq.present.provenance import CELLS, CELLS_WITH_SPREAD, describe
from dcmbr_fairseq.present.results import (
    METRIC,
    SETTINGS,
    UTILITY,
    Cells,
    Mean,
    Value,
    combined,
    decoding_of,
    distinct,
    mean_of,
    means,
    one_kind_of_draws,
    one_test_set,
    refuse_mixture,
    require,
)
from dcmbr_fairseq.present.tables import Grid

#: (decoding, N, the row's other keys) -> score; N is 0 for beam search, which has no pool.
Scores = dict[tuple[str, float, Value], Mean]


def scores_by_decoding(rows: Sequence[Cells], key: str, temperature: float) -> Scores:
    """Mean scores of beam search, naive MBR, and DC-MBR at T_h = T_r = ``temperature``.

    Raises:
        UserError: columns are missing, or a mean would mix settings, or models where the key is no model's.
    """
    if not rows:
        return {}
    require(rows, (key, "decoding", "score"), "this table")
    several = key == "task"  # a metric may have arguments for each language
    refuse_mixture(rows, METRIC[:1] if several else METRIC)
    one_test_set(rows, by=[key] if several else [], models_by=[key])
    chosen = [{**row, "decoding": decoding_of(row, temperature)} for row in rows]
    sampled = [row for row in chosen if row["decoding"] in ("mbr", "dcmbr")]
    require(sampled or [{"num_hyp": ""}], ("num_hyp",), "a row of MBR")
    refuse_mixture(sampled, UTILITY[:1] if several else UTILITY)
    beam = [{**row, "num_hyp": "0"} for row in chosen if row["decoding"] == "beam"]
    same = [column for column in (*SETTINGS, "model", "label_smoothing") if column not in ("num_hyp", key)]
    found = means([*beam, *sampled], ("decoding", "num_hyp", key), same=same)
    return {(str(d), pool_size(size), name): mean for (d, size, name), mean in found.items()}


def pool_size(value: Value) -> float:
    """N of a row of MBR.

    Raises:
        UserError: it is not a number.
    """
    if isinstance(value, str):
        raise UserError(f"column num_hyp must hold the pool size in every row of MBR, got {value!r}: repair the table")
    return value


def bilingual(rows: Sequence[Cells], paper_table: str | None, temperature: float, spread: bool = False) -> Grid:
    """Table 1: BS, MBR and DC-MBR for each N and label smoothing.

    Args:
        rows: columns label_smoothing, decoding, score; num_hyp and the temperatures of sampled decodings. Rows of
            models that were trained otherwise (GER) are left out.
        paper_table: whose numbers of the paper stand beside ours (a key of ``paper.BILINGUAL``), or None.
        temperature: T_h = T_r of DC-MBR.
        spread: with the least and the greatest seed of each cell.
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
    theirs_in = f"{paper.BILINGUAL_METRIC[paper_table]} in the paper, {paper_table}" if paper_table else None
    return grid_of(lines, header, rules, rows, theirs_in, spread)


def multilingual(rows: Sequence[Cells], paper_table: str | None, temperature: float, spread: bool = False) -> Grid:
    """Table 2: BS, and MBR and DC-MBR for each N, for each direction, and their average.

    Args:
        rows: columns task (ending in a direction such as en-de), decoding, score, num_hyp and temperatures.
        paper_table: not None for the paper's numbers beside ours.
        temperature: T_h = T_r of DC-MBR.
        spread: with the least and the greatest seed of each cell.
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
    theirs_in = "BLEURT in the paper, Table 2" if paper_table else None
    return grid_of(lines, header, [0, len(lines) - 1], rows, theirs_in, spread)


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
        return Pair(combined(mean_of, ours) if len(ours) == len(lines) else None, printed.get(name))

    beam = average([line.beam for line in lines], "beam")
    mbr = [average([line.mbr[i] for line in lines], f"mbr{n:g}") for i, n in enumerate(sizes)]
    ours = [average([line.dcmbr[i] for line in lines], f"dcmbr{n:g}") for i, n in enumerate(sizes)]
    return Line(["average"], beam, mbr, ours, [printed.get(f"difference{n:g}") for n in sizes])


class Layout(NamedTuple):
    """A table that ``dcmbr table`` can make.

    Attributes:
        build: makes it from rows, and what of ``options`` was asked for.
        paper: its key in the paper's numbers, None if the paper has it not.
        title: what it is.
        options: the parameters of ``build``, of those of :func:`build_table`; the others mean nothing to this table.
    """

    build: Callable[..., Grid]
    paper: str | None
    title: str
    options: Collection[str] = ("paper_table", "temperature", "spread")


LAYOUTS: dict[str, Layout] = {
    "1": Layout(bilingual, "en-de", "Table 1, WMT20 En-De"),
    "2": Layout(multilingual, "wmt16", "Table 2, ten directions of WMT16"),
    "en-ro": Layout(bilingual, "en-ro", "appendix, WMT16 En-Ro"),
    "de-en": Layout(bilingual, "de-en", "appendix, WMT20 De-En"),
    "utilities": Layout(appendix.utilities, "utilities", "appendix, utilities against metrics"),
    "data": Layout(appendix.data, "data", "appendix, data sets", ["paper_table"]),
    "tests": Layout(
        against.paired_tests, None, "DC-MBR against beam search or MBR, with p-values (not in the paper)",
        ["temperature"],
    ),  # fmt: skip
}


def build_table(name: str, rows: Sequence[Cells], with_paper: bool, temperature: float, spread: bool = False) -> Grid:
    """A table of :data:`LAYOUTS`; below it stands what its numbers are.

    Args:
        name: a key of :data:`LAYOUTS`.
        rows: tidy rows with the columns that docs/analysis.md lists for it.
        with_paper: put the paper's numbers beside ours.
        temperature: T_h = T_r of DC-MBR.
        spread: with the least and the greatest seed of each cell.

    Raises:
        UserError: columns are missing, or a mean would mix what must not be mixed.
    """
    layout = LAYOUTS[name]
    one_kind_of_draws(rows)
    asked = {"paper_table": layout.paper if with_paper else None, "temperature": temperature, "spread": spread}
    grid = layout.build(rows, **{option: asked[option] for option in layout.options})
    shown = [row for row in rows if "decoding" not in row or decoding_of(row, temperature)]
    seeds = distinct([row for row in shown if row.get("seed", "") not in ("", "-")], "seed")
    means_of_seeds = [CELLS_WITH_SPREAD if spread else CELLS] if len(seeds) > 1 else []
    return replace(grid, notes=[*describe(shown), *means_of_seeds])
