"""The pools of one source sentence: who plays the hypotheses' part and who the references', and what a rule sees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.rules.decision import Candidates
from dcmbr_fairseq.rules.weights import reference_weights


@dataclass(frozen=True)
class Pools:
    """The pools of one source sentence, as texts.

    Attributes:
        hypotheses: the hypothesis pool.
        references: the reference pool; the hypothesis pool itself where it plays both parts.
        shared: whether it does.
        source: the source text, if known.
        weights: ``(D,)`` weight of each reference draw, sum 1; None where all count the same.
    """

    hypotheses: TextPool
    references: TextPool
    shared: bool = False
    source: str | None = None
    weights: np.ndarray | None = None

    @classmethod
    def of(cls, pools: Sequence[TextPool], source: str | None = None, weights: np.ndarray | None = None) -> "Pools":
        """One pool that plays both parts, or hypotheses and references."""
        return cls(pools[0], pools[-1], len(pools) == 1, source, weights)

    def distinct_pools(self) -> list[TextPool]:
        """What was sampled: one shared pool, or hypotheses and references."""
        return [self.hypotheses] if self.shared else [self.hypotheses, self.references]

    def first(self, num_hyp: int | None, num_ref: int | None) -> "Pools":
        """The first draws of both pools; None keeps all. The parts of a shared pool are cut each by itself."""
        hypotheses = self.hypotheses if num_hyp is None else self.hypotheses.first(num_hyp)
        references = self.references if num_ref is None else self.references.first(num_ref)
        weights = self.weights
        if weights is not None and num_ref is not None:
            weights = weights[:num_ref] / weights[:num_ref].sum()
        shared = self.shared and len(hypotheses.draws) == len(references.draws)
        return replace(self, hypotheses=hypotheses, references=references, shared=shared, weights=weights)

    def candidates(self, kind: str = "counts") -> Candidates:
        """What a decision rule sees of them; ``kind`` is ``--reference-weights``, own weights come first."""
        references = self.references
        weights = reference_weights(kind, references.counts(), references.text_log_prob())
        if self.weights is not None:
            weights = np.bincount(references.draws, weights=self.weights, minlength=len(references.texts))
        return Candidates(
            self.hypotheses.texts, references.texts, weights, self.hypotheses.text_log_prob(), self.source
        )
