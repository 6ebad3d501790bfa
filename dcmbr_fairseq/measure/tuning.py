"""Choosing T_h and T_r on a validation set: the surface of a sweep, its best cell, and that cell as flags."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dcmbr_fairseq.evaluation.metrics import ERROR_RATES
from dcmbr_fairseq.measure.grid import Plan
from dcmbr_fairseq.present.tables import Cell, Grid
from dcmbr_fairseq.present.tidy import Row

#: (T_h, T_r) -> mean score over seeds
Surface = dict[tuple[float, float], float]


class Best(NamedTuple):
    """The best cell of a surface."""

    temp_hyp: float
    temp_ref: float
    score: float


def surface_of(rows: Sequence[Row]) -> Surface:
    """The mean score over seeds of each pair of temperatures; rows of one metric, utility and size."""
    scores: dict[tuple[float, float], list[float]] = {}
    for row in rows:
        scores.setdefault((row["temp_hyp"], row["temp_ref"]), []).append(row["score"])
    return {pair: float(np.mean(values)) for pair, values in scores.items()}


def best_of(surface: Surface, metric: str) -> Best:
    """The best pair of temperatures; of equal ones the earlier. In error rates (TER) less is better."""
    sign = -1 if metric in ERROR_RATES else 1
    pair = max(surface, key=lambda pair: sign * surface[pair])
    return Best(*pair, surface[pair])


def surface_grid(surface: Surface, best: Best, metric: str) -> Grid:
    """The surface as a table: a row for each T_h, a column for each T_r, the best cell marked by an asterisk."""
    hyps, refs = (list(dict.fromkeys(pair[axis] for pair in surface)) for axis in (0, 1))

    def cell(hyp: float, ref: float) -> Cell:
        score = surface.get((hyp, ref))
        if score is None:
            return None
        return f"{score:.2f}{'*' if (hyp, ref) == (best.temp_hyp, best.temp_ref) else ' '}"

    rows = [[f"{hyp:g}", *(cell(hyp, ref) for ref in refs)] for hyp in hyps]
    return Grid([f"{metric}: T_h \\ T_r", *(f"{ref:g} " for ref in refs)], rows)


def decoding_flags(best: Best, plan: Plan) -> list[str]:
    """The flags of fairseq-generate that decode as the best cell did, one word each."""
    (sizes,), (utility,) = plan.sizes, plan.utilities
    arguments: Any = plan.utility_args.get(utility, {})
    flags = ["--task", "translation_dcmbr", "--decoding", "dcmbr"]
    flags += ["--temp-hyp", f"{best.temp_hyp:g}", "--temp-ref", f"{best.temp_ref:g}"]
    flags += ["--num-hyp", str(sizes.num_hyp), "--num-ref", str(sizes.num_ref), "--ref-pool", plan.ref_pool]
    flags += ["--utility", utility]
    return flags + (["--utility-args", json.dumps(arguments, separators=(",", ":"))] if arguments else [])
