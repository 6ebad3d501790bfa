"""What a decision rule sees and what it answers. Pure arrays and texts; nothing here knows about fairseq."""

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.base import Utility


@dataclass(frozen=True)
class Candidates:
    """The pools of one source sentence: H distinct hypotheses against R distinct references.

    Attributes:
        hypotheses: distinct texts in the order of their first draw.
        references: distinct texts.
        weights: ``(R,)`` probability weights of the references (multiplicity / N_r), sum 1.
        log_prob: ``(H,)`` model log-probability of each hypothesis, which breaks ties.
        source: the source text, for utilities that need it.
    """

    hypotheses: Sequence[str]
    references: Sequence[str]
    weights: np.ndarray
    log_prob: np.ndarray
    source: str | None = None


@dataclass(frozen=True)
class Decision:
    """The ranking of one sentence's hypotheses.

    Attributes:
        expected: ``(H,)`` expected utility of each hypothesis, or the last estimate of those that were pruned.
        order: ``(H,)`` indices of the hypotheses, best first.
        utility_calls: how many (hypothesis, reference) pairs were scored.
    """

    expected: np.ndarray
    order: np.ndarray
    utility_calls: int


@runtime_checkable
class DecisionRule(Protocol):
    """Ranks the hypotheses of a batch of sentences; at least ``nbest`` of each survive to the final comparison."""

    @abc.abstractmethod
    def decide(self, batch: Sequence[Candidates], utility: Utility, nbest: int = 1) -> Sequence[Decision]:
        """One :class:`Decision` for each sentence of the batch, in order."""


def check_decisions(batch: Sequence[Candidates], decisions: Sequence[Decision], utility: Utility) -> None:
    """Refuse what no ranking can be printed from: a rule may be a user's own, and so may a utility.

    Raises:
        UserError: there is not one ranking of all hypotheses for each sentence; or expected utilities are nan or
            infinite, which names the utility and the first such hypothesis.
    """
    if len(decisions) != len(batch):
        raise UserError(f"--selection gave {len(decisions)} decisions for {len(batch)} sentences: it must give as many")
    for candidates, decision in zip(batch, decisions, strict=True):
        size = len(candidates.hypotheses)
        if np.shape(decision.expected) != (size,) or sorted(decision.order) != list(range(size)):
            raise UserError(
                f"--selection gave {len(decision.order)} places and {np.size(decision.expected)} expected utilities "
                f"for {size} distinct hypotheses: it must rank each of them once"
            )
        wrong = np.flatnonzero(~np.isfinite(decision.expected))
        if len(wrong):
            text, value = candidates.hypotheses[wrong[0]], decision.expected[wrong[0]]
            raise UserError(
                f"--utility gave {value} for the hypothesis {text!r} ({utility.signature()}): it must give finite "
                "numbers; mend it, or choose another"
            )
