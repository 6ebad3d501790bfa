"""Scores of many sums at once against sacreBLEU's own, sum by sum, for all smoothings and orders."""

import itertools
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from dcmbr_fairseq.evaluation.corpus_scores import corpus_bleu, corpus_chrf
from dcmbr_fairseq.evaluation.metrics import MetricOptions, build_metric
from dcmbr_fairseq.evaluation.significance import approximate_randomisation


def sacrebleus(metric: Any, sums: np.ndarray) -> list[float]:
    return [metric._compute_score_from_stats(row).score for row in sums.tolist()]


BLEUS = [
    BLEU(smooth_method=method, smooth_value=value, effective_order=effective, max_ngram_order=orders)
    for method, effective, orders in itertools.product(("none", "floor", "add-k", "exp"), (True, False), (1, 2, 4, 5))
    for value in ((None, 0.3, 0.0) if method in ("floor", "add-k") else (None,))
]


@pytest.mark.filterwarnings("error")
def test_bleu_is_sacrebleus() -> None:
    dice = np.random.default_rng(1)
    for metric in BLEUS:
        sizes = np.array([3, 8, 200])[dice.integers(0, 3, 200)]  # short ones lack n-grams, and matches
        lengths, ref_lengths = (dice.integers(0, sizes) for _ in range(2))
        totals = np.maximum(lengths[:, None] - np.arange(metric.max_ngram_order), 0)
        sums = np.column_stack([lengths, ref_lengths, dice.integers(0, totals + 1), totals]).astype(float)
        before = sums.copy()
        np.testing.assert_allclose(corpus_bleu(sums, metric), sacrebleus(metric, sums), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(sums, before)


@pytest.mark.filterwarnings("error")
def test_chrf_is_sacrebleus() -> None:
    dice = np.random.default_rng(2)
    for eps, word_order, beta in itertools.product((True, False), (0, 2), (0, 1, 2, 3.5)):
        metric = CHRF(eps_smoothing=eps, word_order=word_order, beta=beta)
        hyp, ref = (dice.integers(0, 6, (200, metric.order)) for _ in range(2))
        sums = np.stack([hyp, ref, dice.integers(0, np.minimum(hyp, ref) + 1)], axis=2).reshape(200, -1).astype(float)
        np.testing.assert_allclose(corpus_chrf(sums, metric), sacrebleus(metric, sums), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "arguments"), [("bleu", {"smooth_method": "add-k", "smooth_value": 5}), ("ter", {})])
def test_a_test_does_not_change_what_it_scores(name: str, arguments: dict[str, Any]) -> None:
    """sacreBLEU's add-k adds to the very sums that it is given."""
    metric = build_metric(name, MetricOptions(arguments={name: arguments}))
    first = metric.segments(["a b c d e", "f g h i"], ["a b c d x", "f g y i"], None)
    second = metric.segments(["a b c x e", "f g h i j"], ["a b c d x", "f g y i"], None)
    sums = np.stack([first.sum(axis=0), second.sum(axis=0)])
    before = sums.copy()
    metric.score(sums), metric.score(sums[:1])
    np.testing.assert_array_equal(sums, before)
    swapped = [first.sum(axis=0), first[0] + second[1], second[0] + first[1], second.sum(axis=0)]
    differences = np.abs([metric.score(s[None])[0] - metric.score((sums.sum(axis=0) - s)[None])[0] for s in swapped])
    expected = float(np.mean(differences >= differences[0] - 1e-9))
    found = approximate_randomisation(first, second, metric.score, samples=4000)
    assert found.p_value == pytest.approx(expected, abs=0.04)
