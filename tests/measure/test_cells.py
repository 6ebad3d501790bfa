"""Cells of a sweep against a baseline: which is compared with which, and what is said of the difference."""

import itertools
from typing import Any

import numpy as np
import pytest
import sacrebleu

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import MetricOptions, build_metric
from dcmbr_fairseq.evaluation.uncertainty import holm
from dcmbr_fairseq.measure.cells import STATISTICS, against_baseline, cell_scores, paired_p, parse_baseline, stored


def row(**columns: Any) -> dict[str, Any]:
    parts = columns.pop("parts")
    known = {"model": "m", "decoding": "dcmbr", "utility": "chrf", "num_hyp": 5, "num_ref": 5, "metric": "chrF"}
    return {**known, **columns, "score": float(np.mean(parts)), STATISTICS: rows_of(parts)}


def rows_of(parts: Any) -> list[list[float]]:
    """The statistics of a mean over sentences."""
    return [[float(part), 1.0] for part in parts]


def mean(sums: np.ndarray) -> np.ndarray:
    return sums[:, 0] / sums[:, 1]


SCORES = {"chrF": mean}


DICE = np.random.default_rng(1)
PARTS = {(t, seed): DICE.normal(50 + t, 3, 25) for t in (0.5, 0.7, 1.0) for seed in (1, 2)}
BEAM = DICE.normal(50, 3, 25)
ROWS = [
    row(model="m", decoding="beam", utility=None, num_hyp=None, num_ref=None, temp_hyp=None, temp_ref=None, seed=None,
        parts=BEAM),
    *(row(temp_hyp=t, temp_ref=t, seed=seed, parts=parts) for (t, seed), parts in PARTS.items()),
]  # fmt: skip


def test_each_cell_is_compared_with_the_cell_of_the_baseline() -> None:
    found = against_baseline(cell_scores(ROWS, SCORES), parse_baseline("temp_hyp=1,temp_ref=1"))
    beam, cool, warm, base = found
    assert (base["difference"], base["p"], base["seeds"]) == (None, None, "1, 2")
    means = {t: (PARTS[t, 1] + PARTS[t, 2]) / 2 for t in (0.5, 0.7, 1.0)}
    for shown, t in zip((cool, warm), (0.5, 0.7), strict=True):
        assert shown["difference"] == pytest.approx(means[t].mean() - means[1.0].mean())
        assert shown["error"] == pytest.approx(np.std(means[t] - means[1.0], ddof=1) / 5)
        assert shown["standard_error"] == pytest.approx(np.std(means[t], ddof=1) / 5)
        by_seed = [PARTS[t, seed].mean() for seed in (1, 2)]
        assert shown["seed_error"] == pytest.approx(abs(by_seed[0] - by_seed[1]) / 2)
    _, *cells, last = cell_scores(ROWS, SCORES)
    assert [cool["p"], warm["p"]] == holm([paired_p(cell, last) for cell in cells])
    assert beam["difference"] is None  # it has no pools: no cell at these temperatures is its like


def test_beam_search_is_the_baseline_of_all() -> None:
    beam, *others = against_baseline(cell_scores(ROWS, SCORES), parse_baseline("decoding=beam"))
    assert beam["difference"] is None and beam["seeds"] is None
    assert [o["difference"] for o in others] == pytest.approx(
        [np.mean([PARTS[t, s].mean() for s in (1, 2)]) - BEAM.mean() for t in (0.5, 0.7, 1.0)]
    )


def test_a_model_can_be_the_baseline() -> None:
    both = [
        *ROWS,
        *(
            {**r, "model": "other", "score": r["score"] + 1, STATISTICS: [[part + 1, 1.0] for part, _ in r[STATISTICS]]}
            for r in ROWS
        ),
    ]
    found = against_baseline(cell_scores(both, SCORES), parse_baseline("model=m"))
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
        against_baseline(cell_scores(rows, SCORES), parse_baseline(text))


def bleu_rows(texts: list[str], references: list[str], **columns: Any) -> dict[str, Any]:
    metric = build_metric("bleu", MetricOptions())
    score = sacrebleu.corpus_bleu(texts, [references]).score
    return {"metric": "BLEU", "score": score, STATISTICS: stored(metric.segments(texts, references, None)), **columns}


def noisy(references: list[str], dice: np.random.Generator, rate: float, length: float) -> list[str]:
    """Words are replaced by ``rate``, and dropped unless they are within ``length``."""
    return [
        " ".join("x" if dice.random() < rate else word for word in text.split() if dice.random() < length)
        for text in references
    ]


def test_p_is_the_fraction_of_all_exchanges_of_sentences() -> None:
    """Of BLEU's mean over seeds: all 2^7 exchanges, scored by sacreBLEU; one system has a single seed."""
    dice = np.random.default_rng(8)
    references = [" ".join(str(w) for w in dice.integers(0, 9, dice.integers(6, 14))) for _ in range(7)]
    one = [noisy(references, dice, 0.10, 1.0) for _ in range(3)]
    other = noisy(references, dice, 0.25, 0.9)

    def difference(kept: tuple[bool, ...]) -> float:
        scores = []
        for texts in one:
            sides = [(a, b) if keep else (b, a) for keep, a, b in zip(kept, texts, other, strict=True)]
            scores += [[sacrebleu.corpus_bleu(list(side), [references]).score for side in zip(*sides, strict=True)]]
        first, second = np.mean(scores, axis=0)
        return abs(first - second)

    observed = difference((True,) * 7)
    expected = np.mean([difference(kept) >= observed - 1e-9 for kept in itertools.product((True, False), repeat=7)])
    rows = [bleu_rows(texts, references, seed=seed, decoding="dcmbr") for seed, texts in enumerate(one)]
    rows.append(bleu_rows(other, references, decoding="beam"))
    bleu = build_metric("bleu", MetricOptions()).score
    sampled, beam = cell_scores(rows, {"BLEU": bleu})
    assert sampled.score == pytest.approx(np.mean([row["score"] for row in rows[:3]]))
    assert 0.01 < expected < 0.6 and paired_p(sampled, beam) == pytest.approx(expected, abs=0.015)
    assert paired_p(beam, sampled) == paired_p(sampled, beam)


def test_cells_that_do_not_differ_are_told_apart_as_often_as_said() -> None:
    """Twelve sentences: where BLEU is far from linear, p must still reject 5% at 0.05."""
    dice, bleu = np.random.default_rng(9), build_metric("bleu", MetricOptions()).score
    references = [" ".join(str(w) for w in dice.integers(0, 9, dice.integers(5, 10))) for _ in range(12)]
    found = []
    for _ in range(100):
        rows = [bleu_rows(noisy(references, dice, 0.3, 0.9), references, model=name) for name in "ab"]
        found.append(paired_p(*cell_scores(rows, {"BLEU": bleu})))
    assert np.mean(np.array(found) < 0.05) <= 0.12  # 0.05 +- 0.022


def test_the_same_translations_have_p_1() -> None:
    rows = [row(model=name, parts=BEAM) for name in "ab"]
    assert paired_p(*cell_scores(rows, SCORES)) == 1.0
