"""The appendix' tables that are no comparison of decodings: utilities against metrics, and the data sets' sizes."""

from collections.abc import Sequence

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import ERROR_RATES
from dcmbr_fairseq.present import paper
from dcmbr_fairseq.present.beside import Pair, best, caption
from dcmbr_fairseq.present.results import (
    Cells,
    Mean,
    Value,
    combined,
    decoding_of,
    label,
    mean_of,
    means,
    number,
    one_test_set,
    refuse_mixture,
    require,
)
from dcmbr_fairseq.present.tables import Cell, Grid


def utilities(rows: Sequence[Cells], paper_table: str | None, temperature: float, spread: bool = False) -> Grid:
    """The appendix' study of utilities: DC-MBR / naive MBR for each utility and metric, means over test sets.

    Args:
        rows: columns utility, metric, decoding, score and temperatures.
        paper_table: not None for the paper's numbers beside ours.
        temperature: T_h = T_r of DC-MBR.
        spread: with the least and the greatest seed of each cell.
    """
    scores: dict[tuple[Value, ...], Mean] = {}
    if rows:
        require(rows, ("utility", "metric", "decoding", "score"), "this table")
        chosen = [{**row, "decoding": decoding_of(row, temperature)} for row in rows]
        chosen = [row for row in chosen if row["decoding"] in ("mbr", "dcmbr")]  # beam search has no utility
        refuse_mixture(chosen, ("num_hyp",))
        scores = means_over_test_sets(chosen, ("utility", "metric", "decoding")) if chosen else {}
    printed = paper.UTILITIES if paper_table else {}
    names = list(dict.fromkeys([*printed, *(str(key[0]) for key in scores)]))
    metrics = list(dict.fromkeys([*(m for row in printed.values() for m in row), *(str(key[1]) for key in scores)]))
    pairs = {
        (u, m, i): Pair(scores.get((u, m, d)), printed[u][m][i] if u in printed and m in printed[u] else None)
        for u in names for m in metrics for i, d in enumerate(("dcmbr", "mbr"))
    }  # fmt: skip
    header = ["utility", *(f"{metric} {side}" for metric in metrics for side in ("Ours", "MBR"))]
    table = [[u, *(pairs[u, m, i].show(bool(paper_table), spread) for m in metrics for i in (0, 1))] for u in names]
    bold: list[list[int]] = [[] for _ in names]
    for column, (metric, side) in enumerate([(m, i) for m in metrics for i in (0, 1)], 1):
        column_pairs = [pairs[u, metric, side] for u in names]
        for row in best(column_pairs, 0, metric in ERROR_RATES):  # the best utility of each metric
            bold[row].append(column)
    return Grid(header, table, bold=bold, caption=caption([], "the paper" if paper_table else None))


def means_over_test_sets(rows: Sequence[Cells], keys: Sequence[str]) -> dict[tuple[Value, ...], Mean]:
    """The mean over test sets of each cell: of the means over seeds of each.

    Raises:
        UserError: cells are not of the same test sets, or a mean over seeds would mix settings.
    """
    rows = [{"task": "", **row} for row in rows]
    one_test_set(rows, by=("task",), models_by=("task",))
    same = ("subset", "sentences", "model", "label_smoothing", "ref_pool", "num_ref", "signature", "utility_signature")
    cells: dict[tuple[Value, ...], dict[Value, Mean]] = {}
    for key, mean in means(rows, (*keys, "task"), same=same).items():
        cells.setdefault(key[:-1], {})[key[-1]] = mean
    first, *others = cells.items()
    for other in others:
        if other[1].keys() != first[1].keys():
            sets = (f"{' '.join(map(label, key))}: {', '.join(map(label, found))}" for key, found in (first, other))
            raise UserError(f"means over different test sets cannot be compared ({'; '.join(sets)}): add the missing")
    return {key: combined(mean_of, list(found.values())) for key, found in cells.items()}


def data(rows: Sequence[Cells], paper_table: str | None) -> Grid:
    """The appendix' data sets: segments of each split.

    Args:
        rows: columns task, split (train, valid or test) and segments.
        paper_table: not None for the paper's numbers beside ours.
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
