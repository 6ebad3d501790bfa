"""Decision rules: from pools to a ranking of the hypotheses. `rules` and `utilities` never import fairseq."""

import importlib
import inspect
import json
from collections.abc import Mapping
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.rules.decision import Candidates, Decision, DecisionRule, refuse_not_finite

__all__ = ["RULES", "Candidates", "Decision", "DecisionRule", "build_rule", "check_rule", "refuse_not_finite"]

#: name (``--selection``) -> "module:Class"
RULES: dict[str, str] = {
    "exact": "dcmbr_fairseq.rules.expected_utility:ExactRule",
    "prune": "dcmbr_fairseq.rules.pruning:PruningRule",
    "coarse": "dcmbr_fairseq.rules.coarse_to_fine:CoarseToFineRule",
}


def check_rule(name: str, arguments: Mapping[str, Any]) -> type[DecisionRule]:
    """The class of the decision rule ``name``, which takes ``arguments``; nothing is constructed.

    Raises:
        UserError: unknown name or argument.
    """
    if name not in RULES:
        raise UserError(f"--selection {name} is unknown: choose one of {', '.join(RULES)}")
    module_name, _, class_name = RULES[name].partition(":")
    kind = getattr(importlib.import_module(module_name), class_name)
    try:
        inspect.signature(kind).bind(**arguments)
    except TypeError as error:
        shown = json.dumps(dict(arguments))
        raise UserError(f"--selection-args {shown} do not fit --selection {name}: {error}") from error
    return kind


def build_rule(name: str, arguments: Mapping[str, Any]) -> DecisionRule:
    """Construct the decision rule ``name`` with keyword ``arguments``.

    Raises:
        UserError: see :func:`check_rule`; or an argument is out of range.
    """
    return check_rule(name, arguments)(**arguments)
