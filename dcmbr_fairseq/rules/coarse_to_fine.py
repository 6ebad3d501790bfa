"""Coarse to fine (Eikema & Aziz, 2022): a cheap utility chooses whom the costly one compares."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError, shown
from dcmbr_fairseq.rules.arguments import check_whole
from dcmbr_fairseq.rules.calls import CallCount
from dcmbr_fairseq.rules.decision import Candidates, Decision
from dcmbr_fairseq.rules.expected_utility import expected_utilities, rank, utility_matrices
from dcmbr_fairseq.rules.survivors import comparison_of, survivors_first
from dcmbr_fairseq.utilities import build_utility
from dcmbr_fairseq.utilities.base import Comparison, Utility

CHEAP = "--selection-args: the cheap utility of coarse"


class CoarseToFineRule:
    """Keeps the best hypotheses, and if asked the best references, of a cheap utility (``--selection coarse``).

    Args:
        utility: name of the cheap utility.
        utility_args: its arguments.
        hypotheses: how many hypotheses the costly utility compares; at least ``nbest``.
        references: with how many references; all by default. The best are those of the highest expected cheap utility,
            as if they were hypotheses; their weights are renormalised.

    Raises:
        UserError: an argument is out of range, or the cheap utility is not ready.
    """

    def __init__(
        self,
        *,
        utility: str = "chrf",
        utility_args: Mapping[str, Any] | None = None,
        hypotheses: int = 10,
        references: int | None = None,
    ) -> None:
        self.hypotheses = check_whole("hypotheses", hypotheses, 1)
        self.references = None if references is None else check_whole("references", references, 1)
        if not isinstance(utility, str) or not isinstance(utility_args, dict | None):
            given = f"got {shown(utility)} and {shown(utility_args)}"
            raise UserError(f"{CHEAP}: utility must be a name and utility_args an object, {given}")
        try:
            self.coarse = build_utility(utility, utility_args or {})
        except UserError as error:
            raise UserError(f"{CHEAP}: {error}") from error
        self._calls = CallCount(self, "coarse")

    def decide(self, batch: Sequence[Candidates], utility: Utility, nbest: int = 1) -> list[Decision]:
        """See :class:`~dcmbr_fairseq.rules.decision.DecisionRule`; the calls are those of the costly utility."""
        coarse = [Comparison(c.hypotheses, c.references, c.source) for c in batch]
        cheap = [
            expected_utilities(matrix, candidates.weights)
            for candidates, matrix in zip(batch, utility_matrices(self.coarse, coarse, CHEAP), strict=True)
        ]
        kept = [self._best_hypotheses(c, expected, nbest) for c, expected in zip(batch, cheap, strict=True)]
        references = self._best_references(batch)
        fine = [comparison_of(*parts) for parts in zip(batch, kept, references, strict=True)]
        matrices = utility_matrices(utility, fine)
        decisions = [_decision(*parts) for parts in zip(batch, cheap, kept, references, matrices, strict=True)]
        return self._calls.counted(batch, decisions)

    def _best_hypotheses(self, candidates: Candidates, cheap: np.ndarray, nbest: int) -> np.ndarray:
        return np.sort(rank(cheap, candidates.log_prob)[: max(self.hypotheses, nbest)])

    def _best_references(self, batch: Sequence[Candidates]) -> list[np.ndarray]:
        """Of each sentence the indices of the references to compare with; those without weight are left out."""
        weighty = [np.flatnonzero(candidates.weights > 0) for candidates in batch]
        size = self.references
        if size is None or all(len(indices) <= size for indices in weighty):
            return weighty
        texts = [[c.references[i] for i in indices.tolist()] for c, indices in zip(batch, weighty, strict=True)]
        pairs = [Comparison(t, t, c.source) for t, c in zip(texts, batch, strict=True)]
        matrices = utility_matrices(self.coarse, pairs, CHEAP)
        best = []
        for candidates, indices, matrix in zip(batch, weighty, matrices, strict=True):
            weights = candidates.weights[indices]
            best.append(np.sort(indices[rank(expected_utilities(matrix, weights), np.log(weights))[:size]]))
        return best


def _decision(
    candidates: Candidates, cheap: np.ndarray, kept: np.ndarray, references: np.ndarray, matrix: np.ndarray
) -> Decision:
    """The decision that follows from the costly utilities ``(kept, chosen references)``."""
    weights = candidates.weights[references]
    fine = expected_utilities(matrix, weights / weights.sum())
    expected = on_scale_of(cheap, kept, fine)
    rounds = np.zeros(len(cheap), dtype=np.intp)
    rounds[kept] = 1
    return Decision(expected, survivors_first(expected, candidates.log_prob, rounds), matrix.size)


def on_scale_of(cheap: np.ndarray, kept: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """Expected costly utilities ``(H,)``: ``fine`` for those that were kept, estimates for the others.

    Utilities live on different scales (chrF 0 to 100, BLEURT 0 to 1): the estimates are read off the line through the
    kept hypotheses' pairs of cheap and costly values, level where it would fall.
    """
    spread = cheap[kept] - cheap[kept].mean()
    variance = spread @ spread
    with np.errstate(invalid="ignore"):  # utilities that are not finite are refused by whoever asked for the decision
        slope = max(spread @ (fine - fine.mean()) / variance, 0.0) if variance > 0 else 0.0
    expected = fine.mean() + slope * (cheap - cheap[kept].mean())
    expected[kept] = fine
    return expected
