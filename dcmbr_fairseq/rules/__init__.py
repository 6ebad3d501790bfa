"""Decision rules: from the pools of a sentence to a ranking of its hypotheses. One rule a file, pure arrays.

In: ``Candidates`` (distinct hypotheses and references, the references' weights, log-probabilities) and a utility.
Out: a ``Decision`` for each sentence: expected utilities, the order, and how many pairs were compared.
May import utilities and nothing else: fairseq, pools and the command line are unknown here.
"""

from collections.abc import Mapping
from typing import Any

from dcmbr_fairseq.plugins import Registry
from dcmbr_fairseq.rules.decision import Candidates, Decision, DecisionRule, check_decisions

__all__ = ["RULES", "Candidates", "Decision", "DecisionRule", "build_rule", "check_decisions"]

_CLASSES = {
    "exact": "dcmbr_fairseq.rules.expected_utility:ExactRule",
    "prune": "dcmbr_fairseq.rules.pruning:PruningRule",
    "coarse": "dcmbr_fairseq.rules.coarse_to_fine:CoarseToFineRule",
}
#: The decision rules by name, and ``--selection module:Class``.
RULES: Registry[DecisionRule] = Registry(
    "--selection", DecisionRule, "dcmbr_fairseq.rules.DecisionRule", _CLASSES  # type: ignore[type-abstract]
)


def build_rule(name: str, arguments: Mapping[str, Any]) -> DecisionRule:
    """Construct the decision rule ``name`` with the keyword ``arguments`` of ``--selection-args``.

    Raises:
        UserError: unknown name or argument, or an argument is out of range.
    """
    return RULES.build(name, arguments)
