"""Deciding again from recorded pools, without a model: the first draws of each pool, another utility, another rule."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dcmbr_fairseq.batches import in_batches
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.rows import Record
from dcmbr_fairseq.rules import Candidates, Decision, DecisionRule, check_decisions
from dcmbr_fairseq.utilities import Utility


@dataclass(frozen=True)
class Again:
    """How to decide.

    Attributes:
        rule: ranks the hypotheses.
        utility: u(h, r).
        num_hyp: size of the hypothesis pool, the first draws of the recorded one; None takes all.
        num_ref: the same of the reference pool.
        reference_weights: ``counts``, or ``model`` for the references' probabilities.
        nbest: how many of the best must be exact.
    """

    rule: DecisionRule
    utility: Utility
    num_hyp: int | None = None
    num_ref: int | None = None
    reference_weights: str = "counts"
    nbest: int = 1

    def decide(self, records: Iterable[Record]) -> Iterator[tuple[Record, Decision]]:
        """Yield each record, with the draws in use alone, and its decision; some sentences at a time.

        Raises:
            UserError: a pool is too small, or a record lacks what the utility or the weights need.
        """
        number = 0
        for batch in in_batches(self.first_draws(records)):
            candidates: list[Candidates] = []
            for record in batch:
                number += 1
                if self.utility.needs_source and record.pools.source is None:
                    raise UserError(
                        f"the utility needs the source, which sentence {number} lacks: give source or --source"
                    )
                candidates.append(record.pools.candidates(self.reference_weights))
            decisions = self.rule.decide(candidates, self.utility, self.nbest)
            check_decisions(candidates, decisions, self.utility)
            yield from zip(batch, decisions, strict=True)

    def first_draws(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records with the first ``num_hyp`` and ``num_ref`` draws.

        Raises:
            UserError: a pool is smaller, or a record lacks what the model's weights need.
        """
        for number, record in enumerate(records, 1):
            pools = record.pools
            for flag, size, pool in (
                ("--num-hyp", self.num_hyp, pools.hypotheses),
                ("--num-ref", self.num_ref, pools.references),
            ):
                if size is not None and size > len(pool.draws):
                    draws = len(pool.draws)
                    raise UserError(f"{flag} {size} is more than the {draws} draws of sentence {number}: lower it")
            if self.reference_weights == "model" and (pools.weights is not None or not record.has_reference_log_probs):
                lacks = "lacks the references' log-probabilities" if pools.weights is None else "has weights of its own"
                raise UserError(f"--reference-weights model: sentence {number} {lacks}: use counts")
            yield replace(record, pools=pools.first(self.num_hyp, self.num_ref))
