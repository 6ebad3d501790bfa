"""Utilities by name. Each is imported when it is first asked for, so that none costs anything unless it is used."""

import importlib
import inspect
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.base import Comparison, Utility

__all__ = ["UTILITIES", "Comparison", "Utility", "build_utility", "check_utility", "parse_utility_args"]

#: name -> "module:Class"
UTILITIES: dict[str, str] = {
    "bleu": "dcmbr_fairseq.utilities.bleu:BleuUtility",
    "chrf": "dcmbr_fairseq.utilities.chrf:ChrfUtility",
    "chrf++": "dcmbr_fairseq.utilities.chrf:ChrfPlusPlusUtility",
    "ter": "dcmbr_fairseq.utilities.ter:TerUtility",
    "meteor": "dcmbr_fairseq.utilities.meteor:MeteorUtility",
    "beer": "dcmbr_fairseq.utilities.beer:BeerUtility",
    "bleurt": "dcmbr_fairseq.utilities.bleurt:BleurtUtility",
    "comet": "dcmbr_fairseq.utilities.neural:CometUtility",
    "xcomet": "dcmbr_fairseq.utilities.neural:XcometUtility",
    "metricx": "dcmbr_fairseq.utilities.neural:MetricXUtility",
    "bertscore": "dcmbr_fairseq.utilities.neural:BertScoreUtility",
    "mean": "dcmbr_fairseq.utilities.mean:MeanUtility",
}


def parse_utility_args(text: str, flag: str = "--utility-args") -> dict[str, Any]:
    """Read ``--utility-args``, or another ``flag``, a JSON object of keyword arguments.

    Raises:
        UserError: the text is not a JSON object.
    """
    remedy = f"{flag} must be a JSON object such as '{{\"beta\": 2}}', got {text!r}"
    try:
        arguments = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise UserError(f"{remedy} ({error})") from error
    if not isinstance(arguments, dict):
        raise UserError(remedy)
    return arguments


def utility_class(name: str) -> type[Utility]:
    """The class of a utility given by name, or as ``module:Class`` for a user's own.

    The module is looked for in the current folder too, after everything else that Python can import.

    Raises:
        UserError: there is no such utility.
    """
    known = UTILITIES.get(name)
    if known is None and not re.fullmatch(r"\w+(\.\w+)*:\w+", name):
        known_names = ", ".join(sorted(UTILITIES))
        raise UserError(f"--utility {name} is unknown: choose one of {known_names}, or give your own as module:Class")
    module_name, _, class_name = (known or name).partition(":")
    if known is None and not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())  # installed commands, unlike `python -m`, do not search the current folder
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise UserError(f"--utility {name} cannot be imported ({error}): check the module path and the name") from error
    if not (isinstance(found, type) and issubclass(found, Utility)):
        raise UserError(f"--utility {name} is not a subclass of dcmbr_fairseq.utilities.Utility: make it one")
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    if missing:
        raise UserError(f"--utility {name} lacks {' and '.join(missing)}: see dcmbr_fairseq.utilities.Utility")
    return found


def check_utility(name: str, arguments: Mapping[str, Any]) -> type[Utility]:
    """The class of the utility ``name``, which takes ``arguments``; nothing is constructed.

    Raises:
        UserError: unknown name or argument.
    """
    kind = utility_class(name)
    try:
        inspect.signature(kind).bind(**arguments)
    except TypeError as error:
        raise UserError(f"--utility-args {json.dumps(dict(arguments))} do not fit --utility {name}: {error}") from error
    return kind


def build_utility(name: str, arguments: Mapping[str, Any]) -> Utility:
    """Construct the utility ``name`` with the keyword ``arguments`` of ``--utility-args``.

    Raises:
        UserError: unknown name or argument, or something the utility needs is missing.
    """
    return check_utility(name, arguments)(**arguments)
