"""The exact rule: expected utility under the reference pool (Eq. 13-14). Pure arrays; fairseq is unknown here."""

from collections.abc import Sequence

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.rules.decision import Candidates, Decision
from dcmbr_fairseq.utilities.base import Comparison, Utility


def expected_utilities(utilities: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Expected utility of each hypothesis: ``(H, R) @ (R,) -> (H,)`` (Eq. 13, repeated references as weights)."""
    # mu_hat(h) = 1/N sum_r u(h, r). Not `@`: BLAS may add up equal rows in different orders, and break their tie.
    return (utilities * weights).sum(axis=1)


def rank(expected: np.ndarray, log_prob: np.ndarray) -> np.ndarray:
    """Indices ``(H,)``, best first: higher expected utility, then higher model log-prob, then the earlier draw.

    Hypotheses come in the order of their first draw, so a stable sort keeps the earlier one first. Expected utilities
    that agree in twelve digits are tied: what follows is rounding, which must not decide.
    """
    size = np.abs(expected).max(initial=0)
    digits = np.round(expected / size * 1e12) if 0 < size < np.inf else expected
    return np.lexsort((-log_prob, -digits))


class ExactRule:
    """Scores every hypothesis against every reference (``--selection exact``)."""

    def decide(self, batch: Sequence[Candidates], utility: Utility, nbest: int = 1) -> list[Decision]:
        """See :class:`~dcmbr_fairseq.rules.decision.DecisionRule`."""
        matrices = utility_matrices(utility, [Comparison(c.hypotheses, c.references, c.source) for c in batch])
        return [decide_exactly(candidates, matrix) for candidates, matrix in zip(batch, matrices, strict=True)]


def utility_matrices(utility: Utility, batch: Sequence[Comparison], flag: str = "--utility") -> list[np.ndarray]:
    """The matrices ``(H, R)`` of the utility that ``flag`` chose, one for each comparison.

    Raises:
        UserError: one has another shape.
    """
    matrices = utility.pairwise_batch(batch)
    for comparison, matrix in zip(batch, matrices, strict=True):
        shape = (len(comparison.hypotheses), len(comparison.references))
        if matrix.shape != shape:
            raise UserError(
                f"{flag} gave a matrix of shape {matrix.shape} for {shape[0]} hypotheses and {shape[1]} references: "
                f"its pairwise method must give {shape}"
            )
    return matrices


def decide_exactly(candidates: Candidates, utilities: np.ndarray) -> Decision:
    """The decision that follows from a full utility matrix ``(H, R)``."""
    expected = expected_utilities(utilities, candidates.weights)
    return Decision(expected, rank(expected, candidates.log_prob), utilities.size)
