"""``dcmbr ranks``: ranks of reference tokens within the token-level distribution (Figure 2)."""

import argparse
from typing import Any

from dcmbr_fairseq.commands.model_options import add_model_arguments, load_systems, open_workspace
from dcmbr_fairseq.present.tidy import FORMATS, write_rows

TAKES_FAIRSEQ_FLAGS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model_arguments(parser)
    parser.add_argument("--bucket", type=int, default=5, metavar="N", help="ranks in a bucket (paper and default: 5)")
    parser.add_argument(
        "--last", type=int, default=45, metavar="RANK", help="the last bucket begins here (paper and default: 45)"
    )
    parser.add_argument("--format", choices=FORMATS, help="default: text, or what the ending of --output says")
    parser.add_argument("--output", metavar="FILE", help="write there, whole or not at all (default: standard output)")


def run(args: argparse.Namespace) -> None:
    """Count and print."""
    from dcmbr_fairseq.measure.ranks import in_buckets, rank_counts

    workspace = open_workspace(args)
    rows: list[dict[str, Any]] = []
    for system in load_systems(args, workspace):
        rows += [
            {**system.columns(), **row} for row in in_buckets(rank_counts(workspace, system), args.bucket, args.last)
        ]
    write_rows(rows, args.output, args.format)
