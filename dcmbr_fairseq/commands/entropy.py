"""``dcmbr entropy``: mean token entropy of models over teacher-forced references; at what temperature two are alike."""

import argparse
import math
from typing import TYPE_CHECKING

from dcmbr_fairseq.commands.model_options import add_model_arguments, open_experiment, open_workspace
from dcmbr_fairseq.commands.shared import add_rows_output_arguments
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.numeric import read_positive_numbers
from dcmbr_fairseq.present.tidy import write_rows

if TYPE_CHECKING:
    from dcmbr_fairseq.measure.models import Workspace

#: The rest of the command line goes to fairseq-generate's parser.
TAKES_FAIRSEQ_FLAGS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model_arguments(parser)
    parser.add_argument(
        "--temperatures", default="1", metavar="T,T,...", help="softmax temperatures T (default: 1, the model's own)"
    )
    parser.add_argument(
        "--match", metavar="NATS|MODEL",
        help="find the T at which each model's entropy is this, in nats, or that of another checkpoint at T = 1",
    )  # fmt: skip
    add_rows_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    from dcmbr_fairseq.measure.entropy import entropy_rows, matched_rows
    from dcmbr_fairseq.measure.flags import FORCING

    temperatures = read_positive_numbers("--temperatures", args.temperatures)
    if args.match is not None and args.temperatures != "1":
        raise UserError("--match finds the temperature: leave out --temperatures")
    experiment = open_experiment(args, open_workspace(args, FORCING))
    if args.match is None:
        rows = entropy_rows(experiment, temperatures)
    else:
        nats = entropy_to_match(args.match, experiment.workspace)
        rows = [{**row, "match": args.match} for row in matched_rows(experiment, nats)]
    write_rows(rows, args.output, args.format)


def entropy_to_match(text: str, workspace: "Workspace") -> float:
    """The number of ``--match``, or the entropy at T = 1 of the model that it names, in nats.

    Raises:
        UserError: it is neither.
    """
    from dcmbr_fairseq.measure.entropy import mean_token_entropies

    try:
        nats = float(text)
    except ValueError:
        return mean_token_entropies(workspace, workspace.load(text), [1.0])[0].nats
    if not (nats > 0 and math.isfinite(nats)):
        raise UserError(f"--match must be an entropy above 0 in nats, or a checkpoint, got {text}")
    return nats
