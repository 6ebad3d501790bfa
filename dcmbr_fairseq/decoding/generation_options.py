"""fairseq's own generation options: which of them sampled pools follow. The others are refused, never ignored.

Every field that fairseq declares is looked at, so that one which a later version adds is refused too until it is known
to be followed. Options that come as a dictionary (``--eval-bleu-args``, keyword arguments of the hub) may have any
name: unknown ones are refused with the nearest that is known.
"""

import copy
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from fairseq.dataclass.configs import GenerationConfig
from omegaconf import DictConfig, OmegaConf

from dcmbr_fairseq.errors import UserError, suggestion
from dcmbr_fairseq.pools.settings import DECIDES, OWN, REFERENCES, SETTINGS, count, flag, seed_number

#: The options that fairseq declares, with their defaults.
GENERATION: dict[str, Any] = {entry.name: entry.default for entry in fields(GenerationConfig) if entry.name[0] != "_"}

#: Followed by sampled pools (see README), or by fairseq's command around them.
FOLLOWED = frozenset({
    "nbest", "max_len_a", "max_len_b", "min_len", "unkpen", "prefix_size", "sampling_topk", "sampling_topp",
    "score_reference",  # fairseq's scorer then takes the place of decoding
    "sacrebleu",  # how fairseq-generate scores what has been decoded
    "no_beamable_mm",  # how fairseq prepares the model
})  # fmt: skip
#: Without effect whatever their value: fairseq sets them itself, so that a user cannot be blamed.
WITHOUT_EFFECT = frozenset({
    "no_seed_provided",  # set by fairseq's parser; without --seed the seed is 1
})  # fmt: skip
#: What fairseq's commands, and the hub's translate and sample, say by default.
USUAL_BEAMS = (1, 5)

_A_SEARCH = "it is a kind of beam search"
_NO_LENGTH = "the expected utility is not divided by a length"
_REFINEMENT = "it belongs to models that refine a whole translation"
_FIRST_PASS = "it belongs to models with two decoders"
#: What to do instead of an option that is refused; any other is refused with a general remedy.
REMEDIES: dict[str, str] = {
    "temperature": "use --temp-hyp and --temp-ref",
    "sampling": "leave it out: --decoding sample, mbr and dcmbr sample by themselves",
    "lenpen": _NO_LENGTH,
    "unnormalized": _NO_LENGTH,
    "match_source_len": "use --max-len-a and --max-len-b",
    "no_repeat_ngram_size": "it is a constraint on beam search",
    "no_early_stop": _A_SEARCH,
    "diverse_beam_groups": _A_SEARCH,
    "diverse_beam_strength": _A_SEARCH,
    "diversity_rate": _A_SEARCH,
    "constraints": _A_SEARCH,
    "print_alignment": "sampled hypotheses carry no attention",
    "replace_unk": "it needs the attention of beam search",
    "retain_dropout": "draws would depend on the batch",
    "retain_dropout_modules": "draws would depend on the batch",
    "lm_path": "fusion with a language model is not part of the sampled distribution",
    "lm_weight": "fusion with a language model is not part of the sampled distribution",
    "eos_token": "a sampled translation ends with the dictionary's end of sentence",
    "print_step": _REFINEMENT,
    "retain_iter_history": _REFINEMENT,
    "decoding_format": _REFINEMENT,
    "beam_mt": _FIRST_PASS,
    "max_len_a_mt": _FIRST_PASS,
    "max_len_b_mt": _FIRST_PASS,
    "lenpen_mt": _FIRST_PASS,
    **{name: _REFINEMENT for name in GENERATION if name.startswith("iter_decode")},
}

#: Names that arguments of a generator may have beside fairseq's and our options.
_ALSO_READ = frozenset({"seed", "keep_inference_langtok", "prefix_allowed_tokens_fn"})


def names_of(args: Any) -> list[str]:
    """The names in a generator's arguments, a namespace or a section of fairseq's configuration."""
    return list(vars(args)) if isinstance(args, Namespace) else list(args)


def without_sampling(args: Any) -> Any:
    """The generation options without those that fairseq refuses unless its own sampler is used."""
    args = copy.deepcopy(args)
    if isinstance(args, DictConfig):
        OmegaConf.set_struct(args, False)
    args.sampling_topk, args.sampling_topp = -1, -1.0
    return args


def refuse_unknown(args: Any, where: str) -> None:
    """Refuse arguments of a generator that nothing reads.

    Args:
        args: the arguments, a namespace or a section.
        where: what they were given to, for the sentence.

    Raises:
        UserError: names the argument, and the known one that is most like it.
    """
    known = {*GENERATION, *(setting.name for setting in OWN), *_ALSO_READ}
    for name in names_of(args):
        if name not in known and not name.startswith("_"):
            raise UserError(f"{where} has no argument {name}: {suggestion(name, sorted(known))}")


def refuse_without_sampling(args: Any, names: Iterable[str] = SETTINGS) -> None:
    """Refuse options of this package that would be ignored because fairseq's beam search decodes.

    Args:
        args: has them as attributes; what is missing has its default.
        names: those to be looked at.

    Raises:
        UserError: one of them, other than ``decoding``, is not at its default.
    """
    for setting in OWN:
        value = getattr(args, setting.name, setting.default)
        if setting.name in names and setting.name != "decoding" and str(value) != str(setting.default):
            given = f"{setting.flag} {value}"
            raise UserError(f"{given} has no meaning with --decoding beam: add --decoding dcmbr, or leave it out")


def refuse_undecided(args: Any, keeps_pools: bool, names: Iterable[str] = SETTINGS) -> None:
    """Refuse options that ``--decoding sample`` would ignore: nothing is compared there, and only ``--pools-out`` wants
    references.

    Args:
        args: has them as attributes; what is missing has its default.
        keeps_pools: whether the pools are recorded.
        names: those to be looked at.

    Raises:
        UserError: one of them is not at its default.
    """
    for name in (*DECIDES, *(() if keeps_pools else REFERENCES)):
        value, default = getattr(args, name, SETTINGS[name].default), SETTINGS[name].default
        if name in names and str(value) != str(default):
            why = "which compares nothing" if name in DECIDES else "which draws no references without --pools-out"
            raise UserError(
                f"{flag(name)} {value} has no meaning with --decoding sample, {why}: use --decoding mbr or dcmbr, or "
                "leave it out"
            )


def refuse_meaningless(args: Any, decoding: str) -> None:
    """Refuse fairseq options that would be ignored, or that contradict each other.

    Args:
        args: fairseq's generation options; what is missing has its default.
        decoding: as ``--decoding``.

    Raises:
        UserError: names the option.
    """
    count("--nbest", getattr(args, "nbest", 1))
    seed_number("--seed", getattr(args, "seed", 1))
    beam = getattr(args, "beam", 5)
    if beam not in USUAL_BEAMS:
        raise UserError(f"--beam {beam} has no meaning with --decoding {decoding}: the pool's size is --num-hyp")
    min_len, max_len = getattr(args, "min_len", 1), getattr(args, "max_len_b", 200)
    if not getattr(args, "max_len_a", 0) and min_len > max_len:
        raise UserError(f"--min-len {min_len} exceeds --max-len-b {max_len}, with --max-len-a 0: lower it")
    for name, default in GENERATION.items():
        value = getattr(args, name, default)
        if name in FOLLOWED | WITHOUT_EFFECT | {"beam"} or value is None or value is False or value == default:
            continue
        remedy = REMEDIES.get(name, "it belongs to fairseq's own search")
        raise UserError(f"{flag(name)} {value} has no meaning with --decoding {decoding}: {remedy}")
