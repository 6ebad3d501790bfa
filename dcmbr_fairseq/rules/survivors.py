"""What the rules share that drop hypotheses before all of them are compared. Pure arrays; fairseq is unknown here."""

import numpy as np

from dcmbr_fairseq.rules.decision import Candidates
from dcmbr_fairseq.rules.expected_utility import rank
from dcmbr_fairseq.utilities.base import Comparison


def survivors_first(expected: np.ndarray, log_prob: np.ndarray, rounds: np.ndarray) -> np.ndarray:
    """Indices ``(H,)``, best first: who survived longer, then as :func:`~dcmbr_fairseq.rules.expected_utility.rank`.

    Args:
        expected: ``(H,)`` expected utilities, of those that were dropped the last estimates.
        log_prob: ``(H,)`` model log-probabilities.
        rounds: ``(H,)`` how many rounds each hypothesis survived. Estimates of different rounds do not compare.
    """
    order = rank(expected, log_prob)
    return order[np.argsort(-rounds[order], kind="stable")]


def comparison_of(candidates: Candidates, hypotheses: np.ndarray, references: np.ndarray) -> Comparison:
    """The comparison of some of a sentence's hypotheses with some of its references, given by their indices."""
    return Comparison(
        [candidates.hypotheses[i] for i in hypotheses.tolist()],
        [candidates.references[i] for i in references.tolist()],
        candidates.source,
    )
