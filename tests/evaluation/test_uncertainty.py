"""Standard errors and corrected p-values: against plain formulas and the bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.evaluation.metrics import MetricOptions, build_metric
from dcmbr_fairseq.evaluation.uncertainty import contributions, holm, standard_error


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30))
def test_of_a_mean_the_contributions_are_the_values(values: list[float]) -> None:
    rows = np.stack([values, np.ones(len(values))], axis=1)
    found = contributions(rows, lambda sums: sums[..., 0] / sums[..., 1])
    np.testing.assert_allclose(found, values, atol=1e-8)
    assert standard_error(found) == pytest.approx(np.std(values, ddof=1) / np.sqrt(len(values)), abs=1e-8)


def test_one_segment_has_no_error() -> None:
    assert contributions(np.array([[3.0, 1.0]]), lambda sums: sums[..., 0] / sums[..., 1]).tolist() == [3.0]
    assert standard_error(np.array([3.0])) is None


def texts(seed: int, size: int) -> tuple[list[str], list[str]]:
    """References, and translations that keep about two thirds of their words."""
    dice = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(30)]
    references = [[str(word) for word in dice.choice(words, dice.integers(4, 12))] for _ in range(size)]
    kept = [[word if dice.random() < 0.67 else str(dice.choice(words)) for word in line] for line in references]
    return [" ".join(line) for line in kept], [" ".join(line) for line in references]


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_the_error_of_corpus_metrics_is_the_bootstraps(name: str) -> None:
    metric = build_metric(name, MetricOptions())
    hypotheses, references = texts(1, 120)
    rows = metric.segments(hypotheses, references, None)
    parts, score = contributions(rows, metric.score), metric.corpus_score(hypotheses, references, None)
    assert parts.mean() == pytest.approx(score, abs=1.0)  # the jackknife takes the bias of order 1 / B away
    dice = np.random.default_rng(2)
    resampled = metric.score(np.array([rows[dice.integers(0, len(rows), len(rows))].sum(axis=0) for _ in range(400)]))
    assert standard_error(parts) == pytest.approx(np.std(resampled), rel=0.15)  # 400 samples know it to 4%


def test_holm() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0] and holm([]) == []
