"""``dcmbr flags``: a training config (YAML, as fairseq-hydra-train reads it) as flags of ``fairseq-train``."""

import argparse
import sys

from dcmbr_fairseq.training.flags import compose, to_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("config", metavar="CONFIG", help="the config's path, such as configs/wmt20/en-de.yaml")
    parser.add_argument(
        "overrides", nargs="*", metavar="KEY=VALUE",
        help="as for fairseq-hydra-train, such as criterion.label_smoothing=0.2 or recipe=ger_finetuning",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Print the flags, one word a line: ``mapfile -t`` reads them back whatever they contain."""
    sys.stdout.writelines(f"{flag}\n" for flag in to_flags(compose(args.config, args.overrides)))
