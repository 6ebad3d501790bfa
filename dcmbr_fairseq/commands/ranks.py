"""``dcmbr ranks``: ranks of reference tokens within the token-level distribution (Figure 2)."""

import argparse

from dcmbr_fairseq.commands.model_options import add_model_arguments, open_experiment, open_workspace
from dcmbr_fairseq.commands.shared import add_rows_output_arguments, at_most
from dcmbr_fairseq.present.tidy import write_rows

TAKES_FAIRSEQ_FLAGS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model_arguments(parser)
    parser.add_argument("--bucket", type=int, default=5, metavar="N", help="ranks in a bucket (paper and default: 5)")
    parser.add_argument(
        "--last", type=int, default=45, metavar="RANK", help="the last bucket begins here (paper and default: 45)"
    )
    add_rows_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Count and print."""
    from dcmbr_fairseq.measure.ranks import rank_rows

    at_most("--bucket", args.bucket)
    at_most("--last", args.last)
    experiment = open_experiment(args, open_workspace(args))
    write_rows(rank_rows(experiment, args.bucket, args.last), args.output, args.format)
