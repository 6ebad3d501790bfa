"""Utilities u(hypothesis, reference): one class a utility, with its facts; the overlap kernel, TER, child processes.

In: the detokenised texts of some sentences, all hypotheses to be compared with all references (``Comparison``).
Out: a float64 matrix (H, R) for each sentence, and a signature with all that the numbers depend on. Each utility is
imported when it is first asked for, and what it needs (torch, Java, a model) when it is constructed.
Nothing here may import another room: least of all fairseq, pools or rules.
"""

from collections.abc import Mapping
from typing import Any

from dcmbr_fairseq.errors import UserError, shown
from dcmbr_fairseq.files.json_lines import read_json
from dcmbr_fairseq.plugins import Registry
from dcmbr_fairseq.utilities.base import Comparison, Utility

__all__ = ["UTILITIES", "Comparison", "Utility", "build_utility", "parse_utility_args"]

_CLASSES = {
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
#: The utilities by name, and ``--utility module:Class``.
UTILITIES: Registry[Utility] = Registry(
    "--utility", Utility, "dcmbr_fairseq.utilities.Utility", _CLASSES  # type: ignore[type-abstract]
)


def parse_utility_args(text: str, flag: str = "--utility-args") -> dict[str, Any]:
    """Read ``--utility-args``, or another ``flag``, a JSON object of keyword arguments.

    Raises:
        UserError: the text is not a JSON object.
    """
    remedy = f"{flag} must be a JSON object such as '{{\"beta\": 2}}', got {shown(text)}"
    arguments = read_json(text or "{}", remedy)
    if not isinstance(arguments, dict):
        raise UserError(remedy)
    return arguments


def build_utility(name: str, arguments: Mapping[str, Any]) -> Utility:
    """Construct the utility ``name`` with the keyword ``arguments`` of ``--utility-args``.

    Raises:
        UserError: unknown name or argument, or something the utility needs is missing.
    """
    return UTILITIES.build(name, arguments)
