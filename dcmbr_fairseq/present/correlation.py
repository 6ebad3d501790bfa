"""How closely MBR quality follows entropy over many models (Sec. 5.1, Figure 4): three coefficients by scipy.

With few models, p-values are those of the permutation test: scipy's are asymptotic for Spearman's rho and where there
are ties, several times too small for five models, and 0 for a perfect order.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError

#: Below so many models all orders are gone through: 9! are 362,880.
PERMUTED_BELOW = 10
#: Coefficients this close to the observed one count as equal to it: sums in another order round otherwise.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Coefficient:
    """A coefficient between -1 and 1 and the two-sided p-value of no association, which is never 0."""

    value: float
    p_value: float


@dataclass(frozen=True)
class Correlation:
    """Association of two quantities over ``count`` models.

    Attributes:
        kendall: tau-b, from the order of pairs; the paper's tau.
        spearman: rho, from ranks.
        pearson: r, linear.
        count: number of models.
    """

    kendall: Coefficient
    spearman: Coefficient
    pearson: Coefficient
    count: int


def correlate(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Kendall's tau-b, Spearman's rho and Pearson's r of two lists of the same length.

    Raises:
        UserError: fewer than three pairs, a number that is not finite, or a quantity that does not vary.
    """
    try:
        from scipy import stats
    except ImportError as error:
        raise UserError('correlations need scipy: pip install "dcmbr_fairseq[analysis]"') from error
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(first) != len(second) or len(first) < 3:
        raise UserError(f"a correlation needs at least 3 pairs of numbers, got {len(first)} and {len(second)} numbers")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UserError("a correlation needs finite numbers: remove the rows of models that failed")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise UserError("a correlation needs both quantities to vary: one of them is the same for all models")
    ranks = stats.rankdata(first), stats.rankdata(second)
    return Correlation(
        kendall=_coefficient(stats.kendalltau(first, second), *map(_signs, (first, second))),
        spearman=_coefficient(stats.spearmanr(first, second), *ranks),
        pearson=_coefficient(stats.pearsonr(first, second), first, second),
        count=len(first),
    )


def _coefficient(found: Any, first: np.ndarray, second: np.ndarray) -> Coefficient:
    """scipy's coefficient, with the permutation test's p-value where there are few models.

    Each coefficient is, up to a constant factor, a sum of products of what stands for the models, ``(n,)``, or for
    their pairs, ``(n, n)``.
    """
    count = len(first)
    if count < PERMUTED_BELOW:
        return Coefficient(float(found.statistic), permutation_p(first, second))
    least = 1 / math.factorial(count)  # of any permutation test; scipy's underflows to 0 for a perfect line
    return Coefficient(float(found.statistic), max(float(found.pvalue), least))


def _signs(values: np.ndarray) -> np.ndarray:
    """``(n, n)`` which of two values is the larger: 1, 0 or -1."""
    return np.sign(values[:, None] - values)


def permutation_p(first: np.ndarray, second: np.ndarray) -> float:
    """Two-sided p: the share of all orders of ``first`` whose association with ``second`` is at least as strong.

    Args:
        first: ``(n,)`` or ``(n, n)``; its sum of products with ``second``, after centring, measures association.
        second: of the same shape.
    """
    orders = np.array(list(itertools.permutations(range(len(first)))))  # (n!, n)
    second = second - second.mean()
    if first.ndim == 1:
        sums = first[orders] @ second
    else:
        sums = sum(
            first[orders[:, i], orders[:, j]] * second[i, j] for i, j in itertools.combinations(range(len(first)), 2)
        )
    strength = np.abs(sums)
    observed = strength[0]  # itertools begins with the order as it is
    return float(np.mean(strength >= observed - TOLERANCE * max(observed, 1.0)))
