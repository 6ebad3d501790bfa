"""Choosing T_h and T_r on a validation set: the surface of a sweep, its best cell, and that cell as flags."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dcmbr_fairseq.evaluation.metrics import ERROR_RATES
from dcmbr_fairseq.evaluation.uncertainty import Score, holm
from dcmbr_fairseq.measure.cells import CellScore, cell_scores, paired_p
from dcmbr_fairseq.measure.grid import Plan
from dcmbr_fairseq.present.tables import Grid
from dcmbr_fairseq.present.tidy import Row

#: Cells whose corrected p-value is not below this cannot be told from the best.
LEVEL = 0.05


class Cell(NamedTuple):
    """A cell of the surface.

    Attributes:
        temp_hyp: T_h.
        temp_ref: T_r.
        score: mean over seeds.
        p_value: of no difference from the best cell: paired over sentences, Holm's over all cells; 1 for the best.
    """

    temp_hyp: float
    temp_ref: float
    score: float
    p_value: float = 1.0

    @property
    def is_close(self) -> bool:
        """Whether it cannot be told from the best."""
        return self.p_value >= LEVEL


@dataclass(frozen=True)
class Surface:
    """Scores over pairs of temperatures.

    Attributes:
        metric: its name.
        best: the best cell; of equal ones the earlier.
        error: the standard error of its score, over sentences and their draws; None for a single sentence.
        seed_error: the same over seeds alone; None for a single seed.
        cells: all, in the order of the grid.
    """

    metric: str
    best: Cell
    error: float | None
    seed_error: float | None
    cells: Sequence[Cell]

    @property
    def close(self) -> list[Cell]:
        """The other cells that cannot be told from the best."""
        return [cell for cell in self.cells if cell.is_close and cell[:2] != self.best[:2]]


def surface_of(rows: Sequence[Row], scores: Mapping[str, Score]) -> Surface:
    """The surface of the rows of a sweep, of one metric, utility and size; in error rates (TER) less is better.

    The best of many cells looks better than it is; the tests against it do not correct for that.
    """
    found = cell_scores(rows, scores)
    metric = found[0].columns["metric"]
    sign = -1 if metric in ERROR_RATES else 1
    best = max(found, key=lambda cell: sign * cell.score)
    others = [cell for cell in found if cell is not best]
    p_values = holm([paired_p(best, cell) for cell in others])
    known = {id(cell): p_value for cell, p_value in zip(others, p_values, strict=True)}

    def shown(cell: CellScore) -> Cell:
        return Cell(cell.columns["temp_hyp"], cell.columns["temp_ref"], cell.score, known.get(id(cell), 1.0))

    return Surface(metric, shown(best), best.error, best.seed_error, [shown(cell) for cell in found])


def surface_grid(surface: Surface) -> Grid:
    """The surface, a row for each T_h, a column for each T_r; ``*`` marks the best cell, ``~`` those close to it."""
    cells = {cell[:2]: cell for cell in surface.cells}
    hyps, refs = (list(dict.fromkeys(pair[axis] for pair in cells)) for axis in (0, 1))

    def text(hyp: float, ref: float) -> str | None:
        cell = cells.get((hyp, ref))
        if cell is None:
            return None
        return f"{cell.score:.2f}{'*' if (hyp, ref) == surface.best[:2] else '~' if cell.is_close else ' '}"

    rows = [[f"{hyp:g}", *(text(hyp, ref) for ref in refs)] for hyp in hyps]
    return Grid([f"{surface.metric}: T_h \\ T_r", *(f"{ref:g} " for ref in refs)], rows)


def verdict(surface: Surface) -> list[str]:
    """The winner and its uncertainty, in lines."""
    best = surface.best
    line = f"best: T_h = {best.temp_hyp:g}, T_r = {best.temp_ref:g}, {surface.metric} {best.score:.2f}"
    errors = [
        f"{error:.2f} over {what}"
        for error, what in ((surface.error, "sentences and their draws"), (surface.seed_error, "seeds"))
        if error is not None
    ]
    close = ", ".join(f"({cell.temp_hyp:g}, {cell.temp_ref:g})" for cell in surface.close)
    told = f"(T_h, T_r) that cannot be told from it: {close}" if close else "no other cell is as good but for chance"
    lines = [line]
    lines += [f"standard error: {', '.join(errors)}"] if errors else []
    test = f"paired over sentences, Holm's p {'>=' if close else '<'} {LEVEL}"
    return lines + ([f"{told} ({test})"] if len(surface.cells) > 1 else [])


def decoding_flags(best: Cell, plan: Plan) -> list[str]:
    """The flags of fairseq-generate that decode as the best cell did, one word each."""
    (sizes,), (utility,) = plan.sizes, plan.utilities
    arguments: Any = plan.utility_args.get(utility, {})
    flags = ["--task", "translation_dcmbr", "--decoding", "dcmbr"]
    flags += ["--temp-hyp", f"{best.temp_hyp:g}", "--temp-ref", f"{best.temp_ref:g}"]
    flags += ["--num-hyp", str(sizes.num_hyp), "--num-ref", str(sizes.num_ref), "--ref-pool", plan.ref_pool]
    flags += ["--draws", plan.draws, "--utility", utility]
    return flags + (["--utility-args", json.dumps(arguments, separators=(",", ":"))] if arguments else [])
