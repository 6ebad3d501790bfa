"""``dcmbr ranks``: ranks of reference tokens within the token-level distribution (Figure 2)."""

import argparse

from dcmbr_fairseq.commands.model_options import add_model_arguments, open_experiment, open_workspace
from dcmbr_fairseq.commands.shared import add_rows_output_arguments, add_whole_number
from dcmbr_fairseq.numeric import LARGEST_RANK
from dcmbr_fairseq.present.tidy import write_rows

TAKES_FAIRSEQ_FLAGS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model_arguments(parser)
    add_whole_number(parser, "--bucket", most=LARGEST_RANK, default=5, help="ranks in a bucket (paper and default: 5)")
    add_whole_number(
        parser, "--last", most=LARGEST_RANK, default=45, metavar="RANK",
        help="the last bucket begins here (paper and default: 45)",
    )  # fmt: skip
    add_rows_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Count and print."""
    from dcmbr_fairseq.measure.flags import FORCING
    from dcmbr_fairseq.measure.ranks import rank_rows

    experiment = open_experiment(args, open_workspace(args, FORCING))
    write_rows(rank_rows(experiment, args.bucket, args.last), args.output, args.format)
