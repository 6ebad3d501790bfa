"""How closely MBR quality follows entropy over many models (Sec. 5.1, Figure 4): three coefficients by scipy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcmbr_fairseq.errors import UserError


@dataclass(frozen=True)
class Coefficient:
    """A coefficient between -1 and 1 and the two-sided p-value of no association."""

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
    kendall, spearman, pearson = (
        Coefficient(float(found.statistic), float(found.pvalue))
        for found in (test(first, second) for test in (stats.kendalltau, stats.spearmanr, stats.pearsonr))
    )
    return Correlation(kendall, spearman, pearson, len(first))
