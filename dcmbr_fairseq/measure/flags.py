"""fairseq-generate's flags, read by its own parser, for commands that do something else with models and data.

What a command does not follow is refused: each says which options of decoding it follows, of those that fairseq and
this package declare.
"""

import argparse
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from fairseq import options, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import DictConfig

from dcmbr_fairseq.decoding.generation_options import GENERATION, WITHOUT_EFFECT, refuse_undecided
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.settings import SETTINGS, defaults, flag

#: What is followed where references are forced on a model: nothing, for nothing is decoded.
FORCING: frozenset[str] = frozenset()
#: By exact search: which translations there are.
SEARCH = frozenset({"min_len", "max_len_a", "max_len_b", "unkpen"})
#: Where pools are sampled; their sizes, temperatures and draws are the command's own options.
SAMPLING = SEARCH | {"sampling_topk", "sampling_topp", "sampling_epsilon", "max_rows"}
#: By fairseq's beam search.
BEAM = SEARCH | {
    "beam", "lenpen", "unnormalized", "match_source_len", "no_repeat_ngram_size", "diverse_beam_groups",
    "diverse_beam_strength", "diversity_rate",
}  # fmt: skip
#: By a decode that writes records: all but what is for fairseq-generate's scoring and files. What sampled pools do not
#: follow is refused where the generator is built.
DECODING = frozenset({*SETTINGS, *GENERATION}) - {"pools_out", "score_reference", "sacrebleu"}

#: What fairseq-generate has beside these, with its default: followed nowhere here.
_ELSEWHERE = {"num_shards": 1, "shard_id": 0, "scoring": "bleu", "results_path": None}
#: No matter how a model is used: fairseq prepares it so, or sets it itself.
_HARMLESS = WITHOUT_EFFECT | {"no_beamable_mm"}
_PARTS = "the sentences are divided by dcmbr generate --processes, and cut off by --first"
#: What to do instead of some options that are not followed; the others are to be left out.
_REMEDIES = {
    "temperature": "temperatures are the command's own",
    "utility": "the utilities of a sweep are its --utilities",
    "num_shards": _PARTS,
    "shard_id": _PARTS,
    "scoring": "scores are those of --metrics, or of dcmbr evaluate",
    "results_path": "what is written goes to --output",
    **dict.fromkeys(BEAM - SAMPLING, "beam search is measured by dcmbr sweep --with-beam"),
}


def parse_flags(flags: Sequence[str], follows: Collection[str] = SAMPLING) -> DictConfig:
    """fairseq's configuration from the flags of fairseq-generate.

    Args:
        flags: without ``--path``.
        follows: the options of decoding, fairseq's and ours, that are followed: :data:`FORCING` to :data:`DECODING`.

    Raises:
        UserError: fairseq's parser refuses them, one would be ignored, or there is no data folder.
    """
    user_dir = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    user_dir.add_argument("--user-dir")
    utils.import_user_module(user_dir.parse_known_args(flags)[0])  # it may bring the task
    parser = options.get_generation_parser()

    def refuse(message: str) -> None:
        raise UserError(f"{message} (after the command's own options, those of fairseq-generate are meant)")

    parser.error = refuse
    args = options.parse_args_and_arch(parser, input_args=list(flags))
    if not getattr(args, "data", None):
        raise UserError("the data folder is missing: give the folder that fairseq-preprocess has written")
    for folder in args.data.split(os.pathsep):
        if not Path(folder).is_dir():
            raise UserError(f"{folder} is not a folder: give the folder that fairseq-preprocess has written")
    refuse_ignored(args, follows)
    if "decoding" in follows:
        if getattr(args, "decoding", "beam") == "beam":
            raise UserError("beam search makes no records: give --decoding dcmbr or mbr, and a task of this package")
        if args.decoding == "sample":
            refuse_undecided(args, keeps_pools=True)
    return convert_namespace_to_omegaconf(args)


def refuse_ignored(args: Any, follows: Collection[str]) -> None:
    """Refuse options that would be ignored.

    Args:
        args: what fairseq's parser has read.
        follows: the options of decoding that are followed.

    Raises:
        UserError: one of the others is not at its default; says what to do instead.
    """
    for name, default in {**GENERATION, **defaults(), **_ELSEWHERE}.items():
        value = getattr(args, name, default)
        if name in follows or name in _HARMLESS or value is None or value is False or str(value) == str(default):
            continue
        given = flag(name) if value is True else f"{flag(name)} {value}"
        raise UserError(f"{given} has no meaning here: {_REMEDIES.get(name, 'leave it out')}")
