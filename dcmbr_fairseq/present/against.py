"""A table of paired tests: DC-MBR against what ``dcmbr sweep --baseline`` compared it with, for each metric."""

from collections.abc import Sequence

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import ERROR_RATES
from dcmbr_fairseq.present.results import (
    UTILITY,
    Cells,
    Value,
    as_value,
    decoding_of,
    distinct,
    label,
    number,
    one_test_set,
    refuse_mixture,
    require,
)
from dcmbr_fairseq.present.tables import MISSING, Grid, p_text

#: What tells the table's rows apart: its first columns.
_KEYS = {"model": "model", "seeds": "seeds", "num_hyp": "N", "baseline": "against"}
#: The level of the tests.
_LEVEL = 0.05


def paired_tests(rows: Sequence[Cells], paper_table: str | None, temperature: float, spread: bool = False) -> Grid:
    """DC-MBR minus what it was compared with, for each model, N and metric, with the test's p-value.

    Args:
        rows: of ``dcmbr sweep --baseline ... --tests``; those of MBR and other temperatures are left out.
        paper_table: not used: the paper prints no differences from beam search with tests.
        temperature: T_h = T_r of DC-MBR.
        spread: not used: tests are over seeds together.

    Raises:
        UserError: columns are missing, test sets or utilities mixed, or one test is there twice with other results.
    """
    require(rows, (*_KEYS, "decoding", "metric", "difference", "p"), "this table")
    rows = [row for row in rows if decoding_of(row, temperature) == "dcmbr" and row["difference"] != MISSING]
    one_test_set(rows)
    refuse_mixture(rows, UTILITY)
    metrics = list(map(str, distinct(rows, "metric")))
    found: dict[tuple[Value, ...], dict[str, tuple[float, float]]] = {}
    for row in rows:
        cells = found.setdefault(tuple(as_value(row[key]) for key in _KEYS), {})
        result = number(row, "difference"), number(row, "p")
        if cells.setdefault(row["metric"], result) != result:
            raise UserError(
                f"the table has two tests of {row['model']}, N = {row['num_hyp']}, by {row['metric']}: choose with "
                "--where, or give the tables of one measurement"
            )
    shown = [[label(value) for value in key] for key in found]
    table = [
        [*labels, *(None if metric not in cells else f"{cells[metric][0]:+.2f} (p = {p_text(cells[metric][1])})"
                    for metric in metrics)]
        for labels, cells in zip(shown, found.values(), strict=True)
    ]  # fmt: skip
    bold = [
        [len(_KEYS) + i for i, metric in enumerate(metrics) if cells.get(metric, (0.0, 1.0))[1] < _LEVEL]
        for cells in found.values()
    ]
    header = [*_KEYS.values(), *(f"{metric}{' (lower is better)' * (metric in ERROR_RATES)}" for metric in metrics)]
    caption = (
        f"DC-MBR's score minus the other's, with p by paired approximate randomisation (corrected by Holm's method for "
        f"the cells of each sweep and metric); bold: p < {_LEVEL}."
    )
    return Grid(header, table, labels=len(_KEYS), bold=bold, caption=caption)
