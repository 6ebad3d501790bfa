"""A table of paired tests: DC-MBR against what ``dcmbr sweep --baseline`` compared it with, for each metric."""

from collections.abc import Sequence
from typing import NamedTuple

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


class _Test(NamedTuple):
    """The result of a paired test."""

    difference: float
    p: float

    def show(self) -> str:
        """As a cell."""
        return f"{self.difference:+.2f} (p = {p_text(self.p)})"


def paired_tests(rows: Sequence[Cells], temperature: float) -> Grid:
    """DC-MBR minus what it was compared with, for each model, N and metric, with the test's p-value.

    Args:
        rows: of ``dcmbr sweep --baseline ... --tests``; those of MBR and other temperatures are left out.
        temperature: T_h = T_r of DC-MBR.

    Raises:
        UserError: columns are missing, test sets or utilities mixed, or one test is there twice with other results.
    """
    require(rows, (*_KEYS, "decoding", "metric", "difference", "p"), "this table")
    rows = [row for row in rows if decoding_of(row, temperature) == "dcmbr" and row["difference"] != MISSING]
    one_test_set(rows)
    refuse_mixture(rows, UTILITY)
    metrics = list(map(str, distinct(rows, "metric")))
    found = _by_row_and_metric(rows)
    table = [
        [*map(label, key), *(tests[metric].show() if metric in tests else None for metric in metrics)]
        for key, tests in found.items()
    ]
    bold = [
        [column for column, metric in enumerate(metrics, len(_KEYS)) if metric in tests and tests[metric].p < _LEVEL]
        for tests in found.values()
    ]
    header = [*_KEYS.values(), *(f"{metric}{' (lower is better)' * (metric in ERROR_RATES)}" for metric in metrics)]
    caption = (
        f"DC-MBR's score minus the other's, with p by paired approximate randomisation (corrected by Holm's method for "
        f"the cells of each sweep and metric); bold: p < {_LEVEL}."
    )
    return Grid(header, table, labels=len(_KEYS), bold=bold, caption=caption)


def _by_row_and_metric(rows: Sequence[Cells]) -> dict[tuple[Value, ...], dict[str, _Test]]:
    """The tests of each row of the table, by metric.

    Raises:
        UserError: one is there twice with other results.
    """
    found: dict[tuple[Value, ...], dict[str, _Test]] = {}
    for row in rows:
        tests = found.setdefault(tuple(as_value(row[key]) for key in _KEYS), {})
        test = _Test(number(row, "difference"), number(row, "p"))
        if tests.setdefault(row["metric"], test) != test:
            raise UserError(
                f"the table has two tests of {row['model']}, N = {row['num_hyp']}, by {row['metric']}: choose with "
                "--where, or give the tables of one measurement"
            )
    return found
