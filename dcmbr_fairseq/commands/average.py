"""``dcmbr average``: average the parameters of a run's last checkpoints."""

import argparse
import logging
import os
from pathlib import Path

from dcmbr_fairseq.commands.shared import add_whole_number
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.training.averaging import average, last_checkpoints, save

logger = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT", help="files, or one folder with --last")
    add_whole_number(
        parser, "--last",
        help="average the last N of the folder: those saved every so many updates, where there are any, else epochs",
    )  # fmt: skip
    parser.add_argument("--output", required=True, metavar="FILE", help="where to write the averaged checkpoint")
    parser.add_argument("--force", action="store_true", help="replace --output if it exists")
    parser.add_argument(
        "--mix-settings", action="store_true", help="average checkpoints that were trained with different settings too"
    )


def run(args: argparse.Namespace) -> None:
    """Average and write."""
    if os.path.isfile(args.output) and not args.force:
        raise UserError(f"--output {args.output} exists already: give another name, or replace it with --force")
    paths = [Path(path) for path in args.checkpoints]
    if args.last is not None:
        if len(paths) != 1:
            raise UserError(f"--last {args.last} needs one folder, got {len(paths)} paths: name the folder alone")
        paths = last_checkpoints(paths[0], args.last)
    logger.info("averaging %s", ", ".join(map(str, paths)))
    save(average(paths, args.mix_settings), Path(args.output))
