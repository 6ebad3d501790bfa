"""The decoding options as fields of the fairseq tasks, and, validated together, as one frozen object.

They are declared in `pools/settings.py`. Values come from the task's configuration (command line, YAML) or, where the
generator is built with arguments of its own (``--eval-bleu-args``, the hub's ``translate(..., decoding="dcmbr")``),
from those.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Optional, TypeVar

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from dcmbr_fairseq.decoding.generation_options import refuse_meaningless
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.pools.settings import AUTO, OWN, SETTINGS, defaults, flag
from dcmbr_fairseq.preflight.auto_temperature import checkpoint_temperature
from dcmbr_fairseq.rules import RULES
from dcmbr_fairseq.sampling.truncation import Truncation
from dcmbr_fairseq.utilities import UTILITIES

HYPOTHESES, REFERENCES = 0, 1  # streams of uniform numbers
SMALLEST_TEMPERATURE = 1e-30  # logits divided by less would overflow float32
Config = TypeVar("Config")


def with_settings(config: type[Config]) -> type[Config]:
    """Decorates a fairseq dataclass: adds a field for every option of ours, of a type that fairseq understands."""
    for setting in OWN:
        kind: Any = ChoiceEnum(list(setting.choices)) if setting.choices else setting.kind
        config.__annotations__[setting.name] = Optional[kind] if setting.default is None else kind
        setattr(config, setting.name, field(default=setting.default, metadata={"help": setting.help}))
    return dataclass(config)


@with_settings
class DecodingConfig(FairseqDataclass):
    """The fields that the tasks of this package add to fairseq's own."""

    __annotations__ = {}


@dataclass(frozen=True)
class DecodingOptions:
    """Validated options of one generator.

    Attributes:
        decoding: one of sample, mbr, dcmbr.
        hypotheses: the hypothesis pool.
        references: the reference pool; None where the hypotheses play both parts.
        utility, utility_args: name and arguments.
        selection, selection_args: decision rule and arguments.
        reference_weights: counts or model.
        draws: independent or arithmetic.
        truncation: truncation of the sampling distributions.
        max_rows: most draws decoded at once.
    """

    decoding: str
    hypotheses: PoolSpec
    references: PoolSpec | None
    utility: str
    utility_args: dict[str, Any]
    selection: str
    selection_args: dict[str, Any]
    reference_weights: str
    draws: str
    truncation: Truncation
    max_rows: int

    @property
    def specs(self) -> list[PoolSpec]:
        """The pools to be sampled."""
        return [self.hypotheses] if self.references is None else [self.hypotheses, self.references]

    def printed_draws(self, nbest: int) -> "DecodingOptions":
        """What ``sample`` needs where nobody wants the whole pool: the draws that are printed, no references."""
        size = min(self.hypotheses.size, nbest)
        return replace(self, hypotheses=replace(self.hypotheses, size=size), references=None)

    def describe(self) -> dict[str, Any]:
        """The effective settings, for the log and the records."""
        references = self.hypotheses if self.references is None else self.references
        effective = {
            **vars(self),
            "temp_hyp": self.hypotheses.temperature,
            "temp_ref": references.temperature,
            "num_hyp": self.hypotheses.size,
            "num_ref": references.size,
            "ref_pool": "shared" if self.references is None else "separate",
            "sampling_topk": self.truncation.top_k,
            "sampling_topp": self.truncation.top_p,
            "sampling_epsilon": self.truncation.epsilon,
        }
        return {setting.name: effective[setting.name] for setting in SETTINGS.values() if setting.recorded}


def decoding_values(options: Any) -> dict[str, Any]:
    """Our options among a task's; a checkpoint of another task has none of them."""
    return {name: getattr(options, name, default) for name, default in defaults().items()}


def decoding_options(
    values: Mapping[str, Any],
    top_k: int = -1,
    top_p: float = -1.0,
    automatic: Callable[[], float] = lambda: checkpoint_temperature((), 0),
) -> DecodingOptions:
    """Validate the options of sample, mbr or dcmbr decoding.

    Args:
        values: the fields of :class:`DecodingConfig` by name.
        top_k: fairseq's ``--sampling-topk``.
        top_p: fairseq's ``--sampling-topp``.
        automatic: gives the temperature that ``auto`` stands for; by default there is none.

    Raises:
        UserError: a value is out of range or does not fit another; names the flag, the value and the remedy.
    """
    checked = {setting.name: setting.value(values[setting.name]) for setting in OWN}
    temp_hyp, temp_ref = (
        _temperature(name, checked[name], values[name], checked["decoding"], automatic)
        for name in ("temp_hyp", "temp_ref")
    )
    num_hyp, num_ref = checked["num_hyp"], checked["num_ref"]
    hypotheses = PoolSpec(num_hyp, temp_hyp, HYPOTHESES)
    references = PoolSpec(num_hyp if num_ref is None else num_ref, temp_ref, REFERENCES)
    return DecodingOptions(
        decoding=checked["decoding"],
        hypotheses=hypotheses,
        references=None if _shared(checked["ref_pool"], hypotheses, references) else references,
        utility=str(checked["utility"]),
        utility_args=checked["utility_args"],
        selection=str(checked["selection"]),
        selection_args=checked["selection_args"],
        reference_weights=checked["reference_weights"],
        draws=checked["draws"],
        # fairseq's "off" becomes ours, so that no truncation equals Truncation(), which the sampler has a fast way for
        truncation=Truncation(
            0 if top_k == -1 else int(top_k), 0.0 if top_p == -1 else float(top_p), float(checked["sampling_epsilon"])
        ),
        max_rows=checked["max_rows"],
    )


def check_options(values: dict[str, Any], args: Any, automatic: Callable[[], float]) -> DecodingOptions:
    """Validate the decoding options together with fairseq's generation options ``args``.

    Raises:
        UserError: see :func:`decoding_options`; also an unknown utility or decision rule, or a generation option that
            would be ignored.
    """
    top_k, top_p = getattr(args, "sampling_topk", -1), getattr(args, "sampling_topp", -1.0)
    options = decoding_options(values, top_k, top_p, automatic)
    refuse_meaningless(args, options.decoding)
    if getattr(args, "score_reference", False) and values["pools_out"] is not None:
        raise UserError(
            f"--pools-out {values['pools_out']} has no meaning with --score-reference: leave one of them out"
        )
    RULES.check(options.selection, options.selection_args)
    if options.decoding != "sample":
        UTILITIES.check(options.utility, options.utility_args)
    return options


def _temperature(name: str, checked: Any, given: Any, decoding: str, automatic: Callable[[], float]) -> float:
    """The effective temperature: as given, or the default of the kind of decoding."""
    if checked is None:
        return 0.5 if decoding == "dcmbr" else 1.0
    try:
        temperature = automatic() if checked == AUTO else checked
    except UserError as error:
        raise UserError(f"{flag(name)} auto: {error}") from error
    if 0 < temperature < SMALLEST_TEMPERATURE:
        raise UserError(f"{flag(name)} {given} is too small to compute with: 1e-6 gives greedy search already")
    if not (temperature > 0 and math.isfinite(temperature)):
        raise UserError(f"{flag(name)} must be > 0 and finite, got {given}: the paper uses 0.5")
    if decoding == "mbr" and temperature != 1.0:
        raise UserError(f"{flag(name)} {given} does not go with --decoding mbr, which samples at 1: use dcmbr")
    return temperature


def _shared(ref_pool: str, hypotheses: PoolSpec, references: PoolSpec) -> bool:
    same = (hypotheses.size, hypotheses.temperature) == (references.size, references.temperature)
    if ref_pool == "shared" and not same:
        raise UserError(
            f"--ref-pool shared needs equal temperatures and sizes, got T_h {hypotheses.temperature}, "
            f"T_r {references.temperature}, N_h {hypotheses.size}, N_r {references.size}: "
            "make them equal, or use --ref-pool separate"
        )
    return same and ref_pool != "separate"
