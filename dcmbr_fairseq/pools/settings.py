"""The decoding options, each declared once: a flag of fairseq's commands, a field of the tasks, a part of the records.

`decoding/options.py` makes the tasks' fields of these declarations and validates values by them; `dcmbr select` takes
from here the options that decide again. Knows neither fairseq nor torch, so that commands start at once.
"""

import argparse
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.numeric import LARGEST_SEED, MOST, whole_number
from dcmbr_fairseq.utilities import parse_utility_args

AUTO = "auto"


@dataclass(frozen=True)
class Setting:
    """One option.

    Attributes:
        name: of the field; the flag has dashes.
        default: where it is not given; None where it follows from other options.
        help: symbol, unit and why this default.
        check: gives the value that a flag stands for, or raises a UserError; also for values that come as Python
            objects (hub, ``--eval-bleu-args``).
        kind: type of the value on the command line.
        choices: all values that there are; empty for any.
        recorded: whether records say it, since decisions depend on it.
        fairseqs: fairseq declares it itself: it is only checked and recorded here.
    """

    name: str
    default: Any
    help: str
    check: Callable[[str, Any], Any]
    kind: type = str
    choices: tuple[str, ...] = ()
    recorded: bool = True
    fairseqs: bool = False

    @property
    def flag(self) -> str:
        """As on the command line."""
        return flag(self.name)

    def value(self, given: Any) -> Any:
        """The checked value.

        Raises:
            UserError: names the flag, the value and the remedy.
        """
        return None if given is None and self.default is None else self.check(self.flag, given)

    def add_to(self, parser: argparse.ArgumentParser, **changes: Any) -> None:
        """Declare the flag; ``changes`` are keyword arguments of ``add_argument``."""
        options: dict[str, Any] = {"default": self.default, "help": self.help, "type": self.kind, **changes}
        if self.choices:
            options.setdefault("choices", self.choices)
        if options["default"] is not None:
            options["help"] += f" (default: {options['default']})"
        parser.add_argument(self.flag, **options)


def signature_of(utility: str, draws: str | None) -> str:
    """The signature of an expected utility: the utility's own, and the kind of draws, where it is not the paper's.

    Args:
        utility: the utility's signature.
        draws: as ``--draws``; None where it is not known.
    """
    return utility if draws in (None, "independent") else f"{utility}|draws:{draws}"


def flag(name: str) -> str:
    """The flag of an option: ``temp_hyp`` is ``--temp-hyp``."""
    return "--" + name.replace("_", "-")


def one_of(*choices: str) -> Callable[[str, Any], str]:
    """A check: the value is one of ``choices``."""
    known = f"{', '.join(choices[:-1])} or {choices[-1]}"

    def check(flag: str, value: Any) -> str:
        if str(value) not in choices:
            raise UserError(f"{flag} must be {known}, got {value}")
        return str(value)

    return check


def whole(least: int, most: int) -> Callable[[str, Any], int]:
    """A check: a whole number from ``least`` to ``most``."""
    return functools.partial(whole_number, least=least, most=most)


#: What time and memory grow with: the limit is far above any pool that has been of use.
LARGEST_POOL = 1_000_000
count = whole(1, LARGEST_POOL)
#: Seeds that numpy and torch take.
seed_number = whole(0, LARGEST_SEED)


def json_object(flag: str, value: Any) -> dict[str, Any]:
    """A check: a JSON object as text (command line), or already a mapping (hub, ``--eval-bleu-args``)."""
    return dict(value) if isinstance(value, Mapping) else parse_utility_args(value, flag)


def temperature(flag: str, value: Any) -> Any:
    """A check: a number, whose size is looked at when its use is known, or ``auto``."""
    if value == AUTO:
        return value
    try:
        return float(value)
    except (ValueError, TypeError) as error:
        raise UserError(f"{flag} must be a number above 0 such as 0.5, or auto, got {value}") from error


def as_is(flag: str, value: Any) -> Any:
    """No check: a name that is looked up later, or a number that the truncation checks itself."""
    return value


DECODINGS = ("beam", "sample", "mbr", "dcmbr")
REF_POOLS = ("auto", "shared", "separate")
WEIGHTS = ("counts", "model")
DRAWS = ("independent", "arithmetic")

#: All of them by name, in the order of the records.
SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            "decoding", "beam",
            "decision rule: beam (fairseq's own search, untouched), sample (the first draw), mbr (both "
            "temperatures 1), dcmbr (cooled pools)",
            one_of(*DECODINGS), choices=DECODINGS,
        ),
        Setting(
            "temp_hyp", None,
            "softmax temperature T_h of the hypothesis pool (paper and default with dcmbr: 0.5; 1.0 samples the "
            "model's own distribution; auto: by Lemma 1 from the checkpoint's label smoothing)",
            temperature,
        ),
        Setting(
            "temp_ref", None,
            "softmax temperature T_r of the reference pool (paper and default with dcmbr: 0.5; or auto)",
            temperature,
        ),
        Setting(
            "num_hyp", 50, "size N of the hypothesis pool (paper: 10, low cost; 50, high cost)", count, kind=int
        ),
        Setting("num_ref", None, "size of the reference pool (default: as --num-hyp)", count, kind=int),
        Setting(
            "ref_pool", "auto",
            "shared: one pool plays both parts, as in the paper's main tables; separate: the references are drawn "
            "apart; auto: shared if temperatures and sizes agree",
            one_of(*REF_POOLS), choices=REF_POOLS,
        ),
        Setting(
            "utility", "chrf",
            "utility u(h, r): a name (see `dcmbr utilities`), or your own as module:Class, a subclass of "
            "dcmbr_fairseq.utilities.Utility in a module of the current folder or of Python's path",
            as_is,
        ),
        Setting(
            "utility_args", "{}", "arguments of the utility as a JSON object, e.g. '{\"word_order\": 2}'", json_object
        ),
        Setting(
            "selection", "exact",
            "how the expected utilities are found: exact; prune or coarse for costly utilities; or your own as "
            "module:Class, which follows dcmbr_fairseq.rules.DecisionRule",
            as_is,
        ),
        Setting("selection_args", "{}", "arguments of --selection as a JSON object", json_object),
        Setting(
            "reference_weights", "counts",
            "weights of distinct references: counts (Monte Carlo, as in the paper) or model (renormalised model "
            "probability, Jinnai et al. 2024)",
            one_of(*WEIGHTS), choices=WEIGHTS,
        ),
        Setting(
            "draws", "arithmetic",
            "arithmetic: each draw is an exact sample, and together they are spread evenly over the tree of "
            "translations, so that a smaller pool does the same (Vilnis et al. 2023); independent: as in the paper",
            one_of(*DRAWS), choices=DRAWS,
        ),
        Setting("sampling_topk", -1, "draw from the k most probable tokens", as_is, kind=int, fairseqs=True),
        Setting("sampling_topp", -1.0, "draw from the most probable tokens that hold mass p", as_is, kind=float,
                fairseqs=True),
        Setting(
            "sampling_epsilon", 0.0, "epsilon truncation: draw no token of probability below this (0: off)", as_is,
            kind=float,
        ),
        Setting(
            "pools_out", None,
            "write the pools and decisions to this JSON-lines file, one row per source sentence",
            as_is, recorded=False,
        ),
        Setting(
            "max_rows", 4096, "most draws decoded at once; bounds memory, larger batches are decoded in turn",
            whole(1, MOST), kind=int, recorded=False,
        ),
    )
}  # fmt: skip
#: Those of a decision between hypotheses, and those of the references for it.
DECIDES = ("utility", "utility_args", "selection", "selection_args", "reference_weights")
REFERENCES = ("temp_ref", "num_ref", "ref_pool")
#: What the tasks add to fairseq's own options.
OWN = [setting for setting in SETTINGS.values() if not setting.fairseqs]


def defaults() -> dict[str, Any]:
    """The default of every option of ours by name."""
    return {setting.name: setting.default for setting in OWN}
