"""The decoding options: declared as fields of the fairseq tasks, validated once, used as one frozen object.

Values come from the task's configuration (command line, YAML) or, where the generator is built with arguments of its
own (``--eval-bleu-args``, the hub's ``translate(..., decoding="dcmbr")``), from those.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.preflight.auto_temperature import checkpoint_temperature
from dcmbr_fairseq.sampling.truncation import Truncation
from dcmbr_fairseq.utilities import parse_utility_args

DECODINGS = ("beam", "sample", "mbr", "dcmbr")
HYPOTHESES, REFERENCES = 0, 1  # streams of uniform numbers
SMALLEST_TEMPERATURE = 1e-30  # logits divided by less would overflow float32


@dataclass
class DecodingConfig(FairseqDataclass):
    """The fields that the tasks of this package add to fairseq's own."""

    decoding: ChoiceEnum(list(DECODINGS)) = field(  # type: ignore[valid-type]
        default="beam",
        metadata={
            "help": "decision rule: beam (fairseq's own search, untouched), sample (the first draw), mbr (both "
            "temperatures 1), dcmbr (cooled pools)"
        },
    )
    temp_hyp: Optional[str] = field(
        default=None,
        metadata={
            "help": "softmax temperature T_h of the hypothesis pool (paper and default with dcmbr: 0.5; 1.0 samples "
            "the model's own distribution; auto: by Lemma 1 from the checkpoint's label smoothing)",
        },
    )
    temp_ref: Optional[str] = field(
        default=None,
        metadata={
            "help": "softmax temperature T_r of the reference pool (paper and default with dcmbr: 0.5; or auto)",
        },
    )
    num_hyp: int = field(
        default=50, metadata={"help": "size N of the hypothesis pool (paper: 10, low cost; 50, high cost)"}
    )
    num_ref: Optional[int] = field(
        default=None, metadata={"help": "size of the reference pool (default: as --num-hyp)"}
    )
    ref_pool: ChoiceEnum(["auto", "shared", "separate"]) = field(  # type: ignore[valid-type]
        default="auto",
        metadata={
            "help": "shared: one pool plays both parts, as in the paper's main tables; separate: the references are "
            "drawn apart; auto: shared if temperatures and sizes agree"
        },
    )
    utility: str = field(
        default="chrf",
        metadata={
            "help": "utility u(h, r): a name (see `dcmbr utilities`), or your own as module:Class, a subclass of "
            "dcmbr_fairseq.utilities.Utility in a module of the current folder or of Python's path"
        },
    )
    utility_args: str = field(
        default="{}", metadata={"help": "arguments of the utility as a JSON object, e.g. '{\"word_order\": 2}'"}
    )
    sampling_epsilon: float = field(
        default=0.0,
        metadata={"help": "epsilon truncation: draw no token of probability below this (0: off)"},
    )
    selection: str = field(
        default="exact",
        metadata={
            "help": "how the expected utilities are found: exact; prune or coarse for costly utilities; or your own as "
            "module:Class, which follows dcmbr_fairseq.rules.DecisionRule"
        },
    )
    selection_args: str = field(default="{}", metadata={"help": "arguments of --selection as a JSON object"})
    reference_weights: ChoiceEnum(["counts", "model"]) = field(  # type: ignore[valid-type]
        default="counts",
        metadata={
            "help": "weights of distinct references: counts (Monte Carlo, as in the paper) or model (renormalised "
            "model probability, Jinnai et al. 2024)"
        },
    )
    pools_out: Optional[str] = field(
        default=None,
        metadata={"help": "write the pools and decisions to this JSON-lines file, one row per source sentence"},
    )
    max_rows: int = field(
        default=4096,
        metadata={"help": "most draws decoded at once; bounds memory, larger batches are decoded in turn"},
    )


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
    truncation: Truncation
    max_rows: int

    @property
    def specs(self) -> list[PoolSpec]:
        """The pools to be sampled."""
        return [self.hypotheses] if self.references is None else [self.hypotheses, self.references]

    def describe(self) -> dict[str, Any]:
        """The effective settings, for the log and the records."""
        references = self.hypotheses if self.references is None else self.references
        return {
            "decoding": self.decoding,
            "temp_hyp": self.hypotheses.temperature,
            "temp_ref": references.temperature,
            "num_hyp": self.hypotheses.size,
            "num_ref": references.size,
            "ref_pool": "shared" if self.references is None else "separate",
            "utility": self.utility,
            "utility_args": self.utility_args,
            "selection": self.selection,
            "selection_args": self.selection_args,
            "reference_weights": self.reference_weights,
            "sampling_topk": self.truncation.top_k,
            "sampling_topp": self.truncation.top_p,
            "sampling_epsilon": self.truncation.epsilon,
        }


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
    decoding = str(values["decoding"])
    if decoding not in DECODINGS:
        raise UserError(f"--decoding must be one of {', '.join(DECODINGS)}, got {decoding}")
    temp_hyp, temp_ref = (_temperature(flag, values, decoding, automatic) for flag in ("temp_hyp", "temp_ref"))
    num_hyp = _positive("num_hyp", values["num_hyp"])
    num_ref = num_hyp if values["num_ref"] is None else _positive("num_ref", values["num_ref"])
    hypotheses = PoolSpec(num_hyp, temp_hyp, HYPOTHESES)
    references = PoolSpec(num_ref, temp_ref, REFERENCES)
    weights = str(values["reference_weights"])
    if weights not in ("counts", "model"):
        raise UserError(f"--reference-weights must be counts or model, got {weights}")
    return DecodingOptions(
        decoding=decoding,
        hypotheses=hypotheses,
        references=None if _shared(str(values["ref_pool"]), hypotheses, references) else references,
        utility=str(values["utility"]),
        utility_args=_arguments("utility_args", values["utility_args"]),
        selection=str(values["selection"]),
        selection_args=_arguments("selection_args", values["selection_args"]),
        reference_weights=weights,
        # fairseq's "off" becomes ours, so that no truncation equals Truncation(), which the sampler has a fast way for
        truncation=Truncation(
            0 if top_k == -1 else int(top_k), 0.0 if top_p == -1 else float(top_p), float(values["sampling_epsilon"])
        ),
        max_rows=_positive("max_rows", values["max_rows"]),
    )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _temperature(name: str, values: Mapping[str, Any], decoding: str, automatic: Callable[[], float]) -> float:
    """The effective temperature: as given, or the default of the kind of decoding."""
    given = values[name]
    if given is None:
        return 0.5 if decoding == "dcmbr" else 1.0
    try:
        temperature = automatic() if given == "auto" else float(given)
    except UserError as error:
        raise UserError(f"{_flag(name)} auto: {error}") from error
    except (ValueError, TypeError) as error:
        raise UserError(f"{_flag(name)} must be a number above 0 such as 0.5, or auto, got {given}") from error
    if 0 < temperature < SMALLEST_TEMPERATURE:
        raise UserError(f"{_flag(name)} {given} is too small to compute with: 1e-6 gives greedy search already")
    if not (temperature > 0 and math.isfinite(temperature)):
        raise UserError(f"{_flag(name)} must be > 0 and finite, got {given}: the paper uses 0.5")
    if decoding == "mbr" and temperature != 1.0:
        raise UserError(f"{_flag(name)} {given} does not go with --decoding mbr, which samples at 1: use dcmbr")
    return temperature


def _arguments(name: str, value: Any) -> dict[str, Any]:
    """A JSON object as text (command line) or already as a mapping (hub, ``--eval-bleu-args``)."""
    return dict(value) if isinstance(value, Mapping) else parse_utility_args(value, _flag(name))


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, (int, float)) or not value >= 1 or value % 1:
        raise UserError(f"{_flag(name)} must be a whole number of at least 1, got {value}")
    return int(value)


def _shared(ref_pool: str, hypotheses: PoolSpec, references: PoolSpec) -> bool:
    if ref_pool not in ("auto", "shared", "separate"):
        raise UserError(f"--ref-pool must be auto, shared or separate, got {ref_pool}")
    same = (hypotheses.size, hypotheses.temperature) == (references.size, references.temperature)
    if ref_pool == "shared" and not same:
        raise UserError(
            f"--ref-pool shared needs equal temperatures and sizes, got T_h {hypotheses.temperature}, "
            f"T_r {references.temperature}, N_h {hypotheses.size}, N_r {references.size}: "
            "make them equal, or use --ref-pool separate"
        )
    return same and ref_pool != "separate"


def refuse_without_sampling(values: Mapping[str, Any]) -> None:
    """Refuse options of this package that would be ignored because fairseq's beam search decodes.

    Args:
        values: the fields of :class:`DecodingConfig` by name; ``decoding`` is ``beam``.

    Raises:
        UserError: one of the others is not at its default.
    """
    for entry in fields(DecodingConfig):
        if entry.name not in ("_name", "decoding") and str(values[entry.name]) != str(entry.default):
            given = f"{_flag(entry.name)} {values[entry.name]}"
            raise UserError(f"{given} has no meaning with --decoding beam: add --decoding dcmbr, or leave it out")


#: fairseq's generation options that have no meaning for sampled pools: (name, default, what to do instead)
_MEANINGLESS: list[tuple[str, Any, str]] = [
    ("temperature", 1.0, "use --temp-hyp and --temp-ref"),
    ("sampling", False, "leave it out: --decoding sample, mbr and dcmbr sample by themselves"),
    ("lenpen", 1.0, "the expected utility is not divided by a length"),
    ("unnormalized", False, "the expected utility is not divided by a length"),
    ("match_source_len", False, "use --max-len-a and --max-len-b"),
    ("no_repeat_ngram_size", 0, "it is a constraint on beam search"),
    ("diverse_beam_groups", -1, "it is a kind of beam search"),
    ("diversity_rate", -1.0, "it is a kind of beam search"),
    ("constraints", None, "it is a kind of beam search"),
    ("print_alignment", None, "sampled hypotheses carry no attention"),
    ("replace_unk", None, "it needs the attention of beam search"),
    ("retain_dropout", False, "draws would depend on the batch"),
    ("retain_dropout_modules", None, "draws would depend on the batch"),
    ("lm_path", None, "fusion with a language model is not part of the sampled distribution"),
]


def refuse_meaningless(args: Any, decoding: str) -> None:
    """Refuse fairseq options that would be ignored, or that contradict each other.

    Args:
        args: fairseq's generation options; what is missing has its default.
        decoding: as ``--decoding``.

    Raises:
        UserError: names the option.
    """
    _positive("nbest", getattr(args, "nbest", 1))
    beam = getattr(args, "beam", 5)
    if beam not in (1, 5):  # what fairseq's commands, and the hub's translate and sample, say by default
        raise UserError(f"--beam {beam} has no meaning with --decoding {decoding}: the pool's size is --num-hyp")
    min_len, max_len = getattr(args, "min_len", 1), getattr(args, "max_len_b", 200)
    if not getattr(args, "max_len_a", 0) and min_len > max_len:
        raise UserError(f"--min-len {min_len} exceeds --max-len-b {max_len}, with --max-len-a 0: lower it")
    for name, default, remedy in _MEANINGLESS:
        value = getattr(args, name, default)
        if value != default and not (value is None or value is False):
            raise UserError(f"{_flag(name)} {value} has no meaning with --decoding {decoding}: {remedy}")
