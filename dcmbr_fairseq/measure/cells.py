"""Cells of a grid against each other: means over seeds with standard errors, and paired tests over sentences.

Rows of a sweep carry what each sentence contributed to their score (:data:`CONTRIBUTIONS`), which tables leave out. The
draws of one seed at different sentences are independent, so that a seed moves no score as a whole: averaging
contributions over seeds, sentence by sentence, keeps all the randomness that there is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.uncertainty import compare, holm, standard_error
from dcmbr_fairseq.present.tidy import Row

#: The column of a row that holds the sentences' contributions to the score.
CONTRIBUTIONS = "contributions"
#: What is the same in a cell and the one that it is compared with, unless a condition says otherwise.
AGREE = ("model", "utility", "draws", "num_hyp", "num_ref", "temp_hyp", "temp_ref")
#: What tells cells apart, but for the seed.
CELL = ("task", "subset", "sentences", *AGREE, "decoding", "ref_pool", "metric")


def without_contributions(rows: Sequence[Row]) -> list[Row]:
    """Rows as tables show them."""
    return [{column: value for column, value in row.items() if column != CONTRIBUTIONS} for row in rows]


@dataclass(frozen=True)
class CellScore:
    """A cell, averaged over its seeds.

    Attributes:
        columns: what cell it is: the columns :data:`CELL`.
        score: mean over seeds.
        contributions: ``(B,)`` mean over seeds.
        by_seed: the score of each seed.
    """

    columns: Mapping[str, Any]
    score: float
    contributions: np.ndarray
    by_seed: Sequence[float]

    @property
    def error(self) -> float | None:
        """Standard error of the score over sentences and what was drawn for them."""
        return standard_error(self.contributions)

    @property
    def seed_error(self) -> float | None:
        """Standard error over seeds: of the draws alone, for these very sentences; None for a single seed."""
        return standard_error(np.array(self.by_seed))


def cell_scores(rows: Sequence[Row]) -> list[CellScore]:
    """The cells of a sweep's rows, in the order of their first row."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(column) for column in CELL), []).append(row)
    return [
        CellScore(
            dict(zip(CELL, key, strict=True)),
            float(np.mean([row["score"] for row in group])),
            np.mean([row[CONTRIBUTIONS] for row in group], axis=0),
            [row["score"] for row in group],
        )
        for key, group in groups.items()
    ]


def parse_baseline(text: str) -> dict[str, float | str]:
    """``temp_hyp=1,temp_ref=1`` as conditions.

    Raises:
        UserError: it is not of this form, or names no column that tells cells apart.
    """
    found: dict[str, float | str] = {}
    for part in text.split(","):
        column, equals, value = part.strip().partition("=")
        if not equals or column not in (*AGREE, "decoding", "ref_pool"):
            known = ", ".join((*AGREE, "decoding", "ref_pool"))
            raise UserError(f"--baseline {text} must be COLUMN=VALUE,... with columns of {known}")
        try:
            found[column] = float(value)
        except ValueError:
            found[column] = value
    return found


def against_baseline(rows: Sequence[Row], conditions: Mapping[str, float | str]) -> list[Row]:
    """A row for each cell: its mean score, errors, and the paired test against the cell that fulfils the conditions.

    A cell's baseline agrees with it in the metric and in all of :data:`AGREE` that the conditions do not speak of, or
    else as far as the baseline has them (beam search has no pools). p-values are Holm's, over all rows of a metric.

    Raises:
        UserError: no cell fulfils the conditions, or several do where one is needed.
    """
    cells = cell_scores(rows)
    candidates = [cell for cell in cells if all(cell.columns[name] == value for name, value in conditions.items())]
    if not candidates:
        wanted = ",".join(f"{name}={value}" for name, value in conditions.items())
        raise UserError(f"--baseline {wanted} fits no cell of the grid: add it to the grid, or name another")
    pairs = [(cell, _baseline(cell, candidates, conditions)) for cell in cells]
    found = [_compared(cell, base) for cell, base in pairs]
    for metric in dict.fromkeys(row["metric"] for row in found):
        mine = [row for row in found if row["metric"] == metric and row["p"] is not None]
        for row, p_value in zip(mine, holm([row["p"] for row in mine]), strict=True):
            row["p"] = p_value
    return found


def _baseline(cell: CellScore, candidates: Sequence[CellScore], conditions: Mapping[str, Any]) -> CellScore | None:
    free = [column for column in AGREE if column not in conditions]
    same = [other for other in candidates if other.columns["metric"] == cell.columns["metric"]]
    like = [other for other in same if all(other.columns[column] == cell.columns[column] for column in free)]
    without_pools = [
        other for other in same if all(other.columns[column] in (None, cell.columns[column]) for column in free)
    ]
    fitting = like or without_pools
    if len(fitting) > 1:
        differing = [column for column in CELL if len({other.columns[column] for other in fitting}) > 1]
        raise UserError(f"--baseline fits several cells, which differ in {', '.join(differing)}: name these too")
    return fitting[0] if fitting else None


def _compared(cell: CellScore, base: CellScore | None) -> Row:
    row = {**cell.columns, "seeds": len(cell.by_seed), "score": cell.score}
    row |= {"standard_error": cell.error, "seed_error": cell.seed_error, "difference": None, "error": None, "p": None}
    if base is not None and base is not cell:
        paired = compare(cell.contributions, base.contributions)
        row |= {"difference": cell.score - base.score, "error": paired.error, "p": paired.p_value}
    return row
