"""The options of commands that load models: their own, and then all of fairseq-generate's."""

import argparse
import logging
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcmbr_fairseq.commands.shared import add_whole_number
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.translations import system_names

if TYPE_CHECKING:
    from dcmbr_fairseq.measure.experiment import Experiment
    from dcmbr_fairseq.measure.models import Model, Workspace

logger = logging.getLogger(__name__)

EPILOG = """\
DATA (the folder of fairseq-preprocess) and all further options are those of fairseq-generate: -s en -t de,
--gen-subset valid, --remove-bpe, --tokenizer moses, --max-len-b, --min-len, --seed, --max-tokens, --cpu, --fp16,
--task, --user-dir, --model-overrides, ... Pools are sampled, and texts made, as fairseq-generate would with them.
"""


def add_model_arguments(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Declare which models read which sentences."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.usage = f"{parser.prog} DATA --path MODEL [options of {parser.prog}] [options of fairseq-generate]"
    group = parser.add_argument_group("models and data")
    group.add_argument(
        "--path", action="append", required=required, metavar="MODEL",
        help="a checkpoint, or an ensemble of several joined by colons; may be repeated to compare models",
    )  # fmt: skip
    group.add_argument("--names", metavar="A,B,...", help="what tables call the models (default: the files' names)")
    add_whole_number(group, "--first", help="only the first N sentences of the split (default: all)")


def add_test_set_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the references, and what tables call the test set."""
    parser.add_argument(
        "--references", metavar="FILE",
        help="detokenised references, a line a sentence (default: the split's own target side, detokenised)",
    )  # fmt: skip
    parser.add_argument(
        "--test-set", metavar="NAME",
        help="column task of the table; should end in the direction (default: the data folder's name, -en-de)",
    )  # fmt: skip


def open_workspace(args: argparse.Namespace, follows: Collection[str]) -> "Workspace":
    """The data that ``args`` names.

    Args:
        args: of the command.
        follows: the options of decoding that the command follows (:mod:`dcmbr_fairseq.measure.flags`).

    Raises:
        UserError: see :class:`~dcmbr_fairseq.measure.models.Workspace`.
    """
    from dcmbr_fairseq.measure.models import Workspace

    for part in ("fairseq.tasks", "fairseq.data"):  # they tell about every batch iterator
        logging.getLogger(part).setLevel(logging.WARNING)
    return Workspace(args.fairseq_flags, args.first, follows)


def named_paths(args: argparse.Namespace) -> list[tuple[str, str]]:
    """``(path, name)`` of every model.

    Raises:
        UserError: ``--names`` does not fit.
    """
    if args.names is None and len(args.path) == 1:
        return [(args.path[0], Path(args.path[0].split(":")[0]).stem)]
    if len(set(args.path)) != len(args.path):
        raise UserError("--path names the same model twice: leave one out")
    return list(zip(args.path, system_names(args.names, args.path), strict=True))


def load_models(args: argparse.Namespace, workspace: "Workspace") -> "list[Model]":
    """All models, loaded: what is missing is found before anything is computed."""
    return [workspace.load(path, name) for path, name in named_paths(args)]


def open_experiment(args: argparse.Namespace, workspace: "Workspace") -> "Experiment":
    """The models, loaded, on the sentences of ``workspace``; bad references are found now where the command has any."""
    from dcmbr_fairseq.measure.experiment import Experiment

    models = load_models(args, workspace)
    if "references" not in args:
        return Experiment(workspace, models, workspace.test_set())
    experiment = Experiment(workspace, models, args.test_set or workspace.test_set(), args.references)
    logger.info("%s: %d sentences", experiment.test_set, len(experiment.corpus.references))
    return experiment


def data_settings(args: argparse.Namespace, experiment: "Experiment") -> dict[str, Any]:
    """What a long measurement's rows depend on: the models, the sentences, what they are called, fairseq's flags."""
    flags = [flag for flag in args.fairseq_flags if flag != "--cpu"]
    return {**experiment.fingerprints(), "test_set": experiment.test_set, "first": args.first, "flags": flags}
