"""``dcmbr user-dir``: the folder of this package, for ``--user-dir`` from wherever a command is given."""

import argparse

from dcmbr_fairseq.hooks.registration import PACKAGE_FOLDER


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(args: argparse.Namespace) -> None:
    """Print the folder."""
    print(PACKAGE_FOLDER)
