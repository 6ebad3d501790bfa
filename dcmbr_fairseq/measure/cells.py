"""Cells of a grid against each other: means over seeds with standard errors, and paired tests over sentences.

Rows of a sweep carry the statistics of which their score is made (:data:`STATISTICS`), sentence by sentence, which
tables leave out. The draws of one seed at different sentences are independent, so that a seed moves no score as a
whole: all the randomness that there is stands in the sentences.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.significance import approximate_randomisation
from dcmbr_fairseq.evaluation.uncertainty import Score, contributions, holm, standard_error
from dcmbr_fairseq.present.tidy import DIGITS, Row

#: The column of a row that holds the sentences' statistics, ``(B, K)`` (:mod:`dcmbr_fairseq.evaluation.statistics`).
STATISTICS = "statistics"
#: What is the same in a cell and the one that it is compared with, unless a condition says otherwise.
AGREE = ("model", "utility", "draws", "num_hyp", "num_ref", "temp_hyp", "temp_ref")
#: What tells cells apart, but for the seed.
CELL = ("task", "subset", "sentences", *AGREE, "decoding", "ref_pool", "metric")
#: What else is known of a cell.
KNOWN = ("label_smoothing", "utility_signature", "signature")


def without_statistics(rows: Sequence[Row]) -> list[Row]:
    """Rows as tables show them."""
    return [{column: value for column, value in row.items() if column != STATISTICS} for row in rows]


def stored(statistics: np.ndarray) -> list[list[float]]:
    """Statistics as a journal holds them: counts as whole numbers, others with as many decimals as scores have."""
    whole = statistics.astype(np.int64)
    return (whole if (whole == statistics).all() else np.round(statistics, DIGITS)).tolist()


@dataclass(frozen=True)
class CellScore:
    """A cell, averaged over its seeds.

    Attributes:
        columns: what cell it is: the columns :data:`CELL`, and :data:`KNOWN`.
        statistics: ``(seeds, B, K)``.
        score_of: the metric, from sums of statistics to scores, ``(S, K) -> (S,)``.
        by_seed: the score of each seed.
        seeds: the seeds; of what has none, as beam search, None.
    """

    columns: Mapping[str, Any]
    statistics: np.ndarray
    score_of: Score
    by_seed: Sequence[float]
    seeds: Sequence[int | None]

    @property
    def score(self) -> float:
        """Mean over seeds."""
        return float(np.mean(self.by_seed))

    @functools.cached_property
    def contributions(self) -> np.ndarray:
        """``(B,)`` what each sentence contributes, the mean over seeds."""
        return np.mean([contributions(rows, self.score_of) for rows in self.statistics], axis=0)

    @property
    def error(self) -> float | None:
        """Standard error of the score over sentences and what was drawn for them."""
        return standard_error(self.contributions)

    @property
    def seed_error(self) -> float | None:
        """Standard error over seeds: of the draws alone, for these very sentences; None for a single seed."""
        return standard_error(np.array(self.by_seed))

    def side_by_side(self, seeds: int) -> np.ndarray:
        """``(B, seeds K)`` the statistics of all seeds in one row a sentence, repeated until they are so many."""
        repeated = np.tile(self.statistics, (seeds // len(self.statistics), 1, 1))
        return np.moveaxis(repeated, 0, 1).reshape(repeated.shape[1], -1)


def cell_scores(rows: Sequence[Row], scores: Mapping[str, Score]) -> list[CellScore]:
    """The cells of a sweep's rows, in the order of their first row; ``scores`` are the metrics by their labels."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(column) for column in CELL), []).append(row)
    return [
        CellScore(
            dict(zip(CELL, key, strict=True)) | {column: group[0].get(column) for column in KNOWN},
            np.array([row[STATISTICS] for row in group], dtype=np.float64),
            scores[group[0]["metric"]],
            [row["score"] for row in group],
            [row.get("seed") for row in group],
        )
        for key, group in groups.items()
    ]


def paired_p(one: CellScore, other: CellScore) -> float:
    """The p-value of no difference between two cells: approximate randomisation of the mean score over seeds.

    Sentence by sentence what the two cells have made of it, with all seeds, changes places. What has no seed, as beam
    search, stands for each of the other's.
    """
    seeds = math.lcm(len(one.statistics), len(other.statistics))

    def mean_score(sums: np.ndarray) -> np.ndarray:
        return one.score_of(sums.reshape(len(sums) * seeds, -1)).reshape(-1, seeds).mean(axis=1)

    found = approximate_randomisation(other.side_by_side(seeds), one.side_by_side(seeds), mean_score)
    return found.corrected_p_value


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


def refuse_absent_baseline(
    conditions: Mapping[str, float | str], cells: Sequence[Mapping[str, Any]], models: Sequence[str]
) -> None:
    """Refuse conditions that no cell of a grid will fulfil, before it is filled.

    Args:
        conditions: of :func:`parse_baseline`.
        cells: the columns of the grid's cells (:meth:`~dcmbr_fairseq.measure.grid.Plan.cells`).
        models: the models' names.

    Raises:
        UserError: names the conditions.
    """
    if not any(fulfils({"model": model, **cell}, conditions) for model in models for cell in cells):
        raise UserError(_no_such_cell(conditions))


def fulfils(columns: Mapping[str, Any], conditions: Mapping[str, float | str]) -> bool:
    """Whether a cell with these columns is one that the conditions mean."""
    return all(columns[name] == value for name, value in conditions.items())


def _no_such_cell(conditions: Mapping[str, float | str]) -> str:
    wanted = ",".join(f"{name}={value}" for name, value in conditions.items())
    beam = " (--with-beam)" if conditions.get("decoding") == "beam" else ""
    return f"--baseline {wanted} fits no cell of the grid: add it to the grid{beam}, or name another"


def against_baseline(cells: Sequence[CellScore], conditions: Mapping[str, float | str]) -> list[Row]:
    """A row for each cell: its mean score, errors, and the paired test against the cell that fulfils the conditions.

    A cell's baseline agrees with it in the metric and in all of :data:`AGREE` that the conditions do not speak of, or
    else as far as the baseline has them (beam search has no pools). p-values (:func:`paired_p`) are Holm's, over all
    rows of a metric.

    Args:
        cells: of a sweep (:func:`cell_scores`).
        conditions: of :func:`parse_baseline`.

    Raises:
        UserError: no cell fulfils the conditions, or several do where one is needed.
    """
    candidates = [cell for cell in cells if fulfils(cell.columns, conditions)]
    if not candidates:
        raise UserError(_no_such_cell(conditions))
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
    seeds = ", ".join(str(seed) for seed in cell.seeds if seed is not None)
    row = {**cell.columns, "seeds": seeds or None, "score": cell.score}
    row |= {"standard_error": cell.error, "seed_error": cell.seed_error, "difference": None, "error": None, "p": None}
    if base is not None and base is not cell:
        error = standard_error(cell.contributions - base.contributions)
        row |= {"difference": cell.score - base.score, "error": error, "p": paired_p(cell, base)}
    return row
