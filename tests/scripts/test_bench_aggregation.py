"""The benchmark of reference aggregation: its chrF against counting n-grams one by one, and what it reports."""

import sys
from collections import Counter

import numpy as np
import pytest
from fairseq_commands import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import aggregation

from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.utilities.chrf import ChrfUtility

TEXTS = ["ein Mann lacht laut", "der Mann lachte", "lachen lachen lachen", "Mann", "", "zwei"]


def ngrams(text: str, n: int) -> Counter:
    characters = "".join(text.split())
    return Counter(characters[i : i + n] for i in range(len(characters) - n + 1))


def by_counting(texts: list[str], weights: np.ndarray, text: str) -> float:
    precision, recall, orders = 0.0, 0.0, 0
    for n in range(1, 7):
        mean: Counter = Counter()
        for reference, weight in zip(texts, weights, strict=True):
            for gram, count in ngrams(reference, n).items():
                mean[gram] += weight * count
        own = ngrams(text, n)
        matches = sum(min(count, mean[gram]) for gram, count in own.items())
        if own and mean:
            precision += matches / sum(own.values())
            recall += matches / sum(mean.values())
            orders += 1
    return 100 * 5 * precision * recall / (4 * precision + recall) / orders if precision else 0.0


def test_aggregated_chrf_equals_counting() -> None:
    weights = np.array([0.3, 0.2, 0.1, 0.2, 0.1, 0.1])
    expected = [by_counting(TEXTS, weights, text) for text in TEXTS]
    assert aggregation.aggregated_chrf(TEXTS, weights).tolist() == pytest.approx(expected, abs=1e-9)


def test_against_one_reference_it_is_chrf() -> None:
    alone = np.eye(len(TEXTS))[0]
    expected = ChrfUtility().pairwise(TEXTS, TEXTS[:1])[:, 0]
    assert aggregation.aggregated_chrf(TEXTS, alone) == pytest.approx(expected, abs=1e-9)


def test_report() -> None:
    pools = [TextPool.from_draws(draws, [-1.0] * 4, [-1.0] * 4) for draws in (["a b", "a b", "a c", "d"], ["x"] * 4)]
    report = aggregation.benchmark(pools, runs=1)
    assert report["sentences"] == 2 and report["distinct_texts"] == 2
    assert report["same_choice"] == 1 and report["mean_loss"] == 0
    assert set(report["cpu_ms_a_sentence"]) == {"exact", "aggregated"}
