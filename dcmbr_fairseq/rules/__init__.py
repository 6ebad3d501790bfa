"""Decision rules: from pools to a ranking of the hypotheses. `rules` and `utilities` never import fairseq."""

import importlib
import json
from typing import Any, Dict, Mapping

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.rules.decision import Candidates, Decision, DecisionRule

__all__ = ["RULES", "Candidates", "Decision", "DecisionRule", "build_rule"]

#: name (``--selection``) -> "module:Class"
RULES: Dict[str, str] = {
    "exact": "dcmbr_fairseq.rules.expected_utility:ExactRule",
    "prune": "dcmbr_fairseq.rules.pruning:PruningRule",
    "coarse": "dcmbr_fairseq.rules.coarse_to_fine:CoarseToFineRule",
}


def build_rule(name: str, arguments: Mapping[str, Any]) -> DecisionRule:
    """Construct the decision rule ``name`` with keyword ``arguments``.

    Raises:
        UserError: unknown name or argument.
    """
    if name not in RULES:
        raise UserError(f"--selection {name} is unknown: choose one of {', '.join(RULES)}")
    module_name, _, class_name = RULES[name].partition(":")
    kind = getattr(importlib.import_module(module_name), class_name)
    try:
        return kind(**arguments)
    except TypeError as error:
        raise UserError(f"arguments {json.dumps(dict(arguments))} do not fit --selection {name}: {error}") from error
