"""Deciding again from recorded pools, without a model: the first draws of each pool, another utility, another rule."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcmbr_fairseq.batches import in_batches
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.rows import Record, make_row
from dcmbr_fairseq.rules import Candidates, Decision, DecisionRule, check_decisions
from dcmbr_fairseq.utilities import Utility

#: The fields of a record that a new decision writes anew or drops.
POOL_FIELDS = {
    "hypotheses", "references", "weights",
    *(f"{singular}_{kind}" for singular in ("hypothesis", "reference")
      for kind in ("draws", "log_probs", "sampling_log_probs")),
}  # fmt: skip


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


def decided_row(record: Record, decision: Decision, signature: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a record with a new decision in place of its own.

    The pools are those in use, the first draws; log-probabilities that the record lacks stay out. What else it says
    (seed, where it comes from) stays, and its settings, but for those of the decision.

    Args:
        record: with the draws in use, as :meth:`Again.decide` yields it.
        decision: the new one.
        signature: of the utility.
        settings: what decided: the utility, the rule and their arguments, the weights of references.
    """
    pools, fields, own = record.pools, record.fields, record.fields.get("settings")
    sizes = {"num_hyp": len(pools.hypotheses.draws), "num_ref": len(pools.references.draws)}
    provenance = {"settings": {**(own if isinstance(own, dict) else {}), **settings, **sizes}, "signature": signature}
    row = make_row(record.id, pools, int(decision.order[0]), decision, **provenance)
    if pools.weights is not None:
        row["weights"] = pools.weights.tolist()
    for singular in ("hypothesis", "reference"):
        known = singular if "references" in fields else "hypothesis"  # a shared pool may be cut in two
        for kind in ("log_probs", "sampling_log_probs"):
            if fields.get(f"{known}_{kind}") is None:
                row.pop(f"{singular}_{kind}", None)
    return {**{name: value for name, value in fields.items() if name not in POOL_FIELDS}, **row}
