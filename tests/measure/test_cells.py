"""Cells of a sweep against a baseline: which is compared with which, and what is said of the difference."""

from typing import Any

import numpy as np
import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.uncertainty import compare, holm
from dcmbr_fairseq.measure.cells import CONTRIBUTIONS, against_baseline, parse_baseline


def row(**columns: Any) -> dict[str, Any]:
    parts = columns.pop("parts")
    known = {"model": "m", "decoding": "dcmbr", "utility": "chrf", "num_hyp": 5, "num_ref": 5, "metric": "chrF"}
    return {**known, **columns, "score": float(np.mean(parts)), CONTRIBUTIONS: parts}


DICE = np.random.default_rng(1)
PARTS = {(t, seed): DICE.normal(50 + t, 3, 25) for t in (0.5, 0.7, 1.0) for seed in (1, 2)}
BEAM = DICE.normal(50, 3, 25)
ROWS = [
    row(model="m", decoding="beam", utility=None, num_hyp=None, num_ref=None, temp_hyp=None, temp_ref=None, seed=None,
        parts=BEAM),
    *(row(temp_hyp=t, temp_ref=t, seed=seed, parts=parts) for (t, seed), parts in PARTS.items()),
]  # fmt: skip


def test_each_cell_is_compared_with_the_cell_of_the_baseline() -> None:
    found = against_baseline(ROWS, parse_baseline("temp_hyp=1,temp_ref=1"))
    beam, cool, warm, base = found
    assert (base["difference"], base["p"], base["seeds"]) == (None, None, 2)
    means = {t: (PARTS[t, 1] + PARTS[t, 2]) / 2 for t in (0.5, 0.7, 1.0)}
    tests = [compare(means[t], means[1.0]) for t in (0.5, 0.7)]
    for shown, paired, t in zip((cool, warm), tests, (0.5, 0.7), strict=True):
        assert shown["difference"] == pytest.approx(means[t].mean() - means[1.0].mean())
        assert shown["error"] == pytest.approx(np.std(means[t] - means[1.0], ddof=1) / 5) == paired.error
        assert shown["standard_error"] == pytest.approx(np.std(means[t], ddof=1) / 5)
        by_seed = [PARTS[t, seed].mean() for seed in (1, 2)]
        assert shown["seed_error"] == pytest.approx(abs(by_seed[0] - by_seed[1]) / 2)
    assert [cool["p"], warm["p"]] == holm([paired.p_value for paired in tests])
    assert beam["difference"] is None  # it has no pools: no cell at these temperatures is its like


def test_beam_search_is_the_baseline_of_all() -> None:
    beam, *others = against_baseline(ROWS, parse_baseline("decoding=beam"))
    assert beam["difference"] is None
    assert [o["difference"] for o in others] == pytest.approx(
        [np.mean([PARTS[t, s].mean() for s in (1, 2)]) - BEAM.mean() for t in (0.5, 0.7, 1.0)]
    )


def test_a_model_can_be_the_baseline() -> None:
    both = [
        *ROWS,
        *({**r, "model": "other", "score": r["score"] + 1, CONTRIBUTIONS: r[CONTRIBUTIONS] + 1} for r in ROWS),
    ]
    found = against_baseline(both, parse_baseline("model=m"))
    assert [r["difference"] for r in found if r["model"] == "other"] == pytest.approx([1, 1, 1, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("temp_hyp", "must be COLUMN=VALUE"),
        ("seed=1", "with columns of model, utility"),
        ("temp_hyp=0.6", "fits no cell of the grid"),
        ("temp_hyp=1", "fits several cells, which differ in ref_pool: name these too"),
    ],
)
def test_bad_baselines(text: str, message: str) -> None:
    rows = [*ROWS, *(row(temp_hyp=1.0, temp_ref=1.0, ref_pool=kind, parts=BEAM) for kind in ("shared", "separate"))]
    with pytest.raises(UserError, match=message):
        against_baseline(rows, parse_baseline(text))
