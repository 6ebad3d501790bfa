"""How sure scores are: standard errors over segments by the jackknife, and p-values of several tests.

Pure arrays. The contributions of B segments to a corpus score S are Tukey's pseudo-values, B S - (B - 1) S_without_i.
For a mean over segments they are the segments' scores; for BLEU, chrF and TER they linearise the score, so that their
variance over B is the score's. Segments are independent, also where the draws within a segment's pool are not; draws of
several seeds are averaged segment by segment first. Then the error covers both which segments were chosen and what was
drawn for them.
"""

from collections.abc import Callable, Sequence

import numpy as np

Score = Callable[[np.ndarray], np.ndarray]


def contributions(rows: np.ndarray, score: Score) -> np.ndarray:
    """``(B,)`` what each segment contributes to a corpus score.

    Args:
        rows: ``(B, K)`` sufficient statistics (:mod:`dcmbr_fairseq.evaluation.statistics`).
        score: from sums of rows to scores, ``(S, K) -> (S,)``.
    """
    count, total = len(rows), rows.sum(axis=0)
    whole = score(total[None])[0]
    if count == 1:
        return np.array([whole])
    return count * whole - (count - 1) * score(total - rows)


def standard_error(values: np.ndarray) -> float | None:
    """The standard error of the mean of independent values, ``(B,)``; None for fewer than two."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values of several tests such that one is below a level by chance that often at most."""
    adjusted, greatest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        greatest = max(greatest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = greatest
    return adjusted
