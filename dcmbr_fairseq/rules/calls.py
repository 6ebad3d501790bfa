"""What a rule saves: its utility calls against those of the exact rule, counted over a run and logged when it ends."""

import logging
import weakref
from collections.abc import Sequence

from dcmbr_fairseq.rules.decision import Candidates, Decision

logger = logging.getLogger(__name__)


class CallCount:
    """Counts the utility calls of a rule, and logs them once: when the rule is done with, or the program ends.

    Args:
        owner: the rule.
        name: what ``--selection`` calls it.
    """

    def __init__(self, owner: object, name: str) -> None:
        self.name = name
        self.calls = 0
        self.distinct_pairs = 0
        weakref.finalize(owner, self.report)

    def counted(self, batch: Sequence[Candidates], decisions: list[Decision]) -> list[Decision]:
        """The ``decisions``, once they have been counted."""
        self.calls += sum(decision.utility_calls for decision in decisions)
        self.distinct_pairs += sum(len(candidates.hypotheses) * len(candidates.references) for candidates in batch)
        return decisions

    def report(self) -> None:
        """Log the totals, if there are any."""
        if self.distinct_pairs:
            logger.info(
                "--selection %s: %d utility calls; the exact rule compares all %d pairs of distinct texts",
                self.name,
                self.calls,
                self.distinct_pairs,
            )
