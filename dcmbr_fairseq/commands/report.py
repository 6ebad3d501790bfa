"""``dcmbr report``: a self-contained HTML page for looking into the decisions recorded with ``--pools-out``."""

import argparse
import contextlib
import logging
import os

from dcmbr_fairseq.commands.shared import add_whole_number, distinct_files
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.writing import atomic_writer
from dcmbr_fairseq.pools.rows import Record
from dcmbr_fairseq.present.report.collect import (
    describe,
    read_compared,
    read_references,
    read_rows,
    recorded_utility,
    views,
)
from dcmbr_fairseq.present.report.page import render_page
from dcmbr_fairseq.utilities import Utility, build_utility, parse_utility_args

logger = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("pools", metavar="POOLS", help="JSON lines of --pools-out or dcmbr select")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the page, such as report.html")
    parser.add_argument(
        "--compare", action="append", default=[], metavar="NAME=FILE",
        help="translations of another system (text, records or a fairseq log), such as beam=beam.txt; may be repeated",
    )  # fmt: skip
    parser.add_argument("--references", metavar="FILE", help="human references: adds utilities against them")
    parser.add_argument("--name", help="how the decision recorded with the pools is called (default: by its decoding)")
    parser.add_argument(
        "--utility", action="append", metavar="NAME",
        help="fills the heat maps (default: the one that decided if it is cheap, or chrf); may be repeated: further "
        "utilities stand beside",
    )  # fmt: skip
    parser.add_argument(
        "--utility-args", action="append", metavar="JSON", help="its arguments; repeated in the order of --utility"
    )
    add_whole_number(
        parser, "--heat-map-size", most=10_000, default=100, metavar="K",
        help="at most K x K cells, the best hypotheses against the most frequent references (default: 100)",
    )  # fmt: skip
    parser.add_argument("--title", default="MBR decisions", help="heading of the page (default: MBR decisions)")


def run(args: argparse.Namespace) -> None:
    """Read, compute the utilities, and write the page."""
    others = filter(None, (given.partition("=")[2] for given in args.compare))
    distinct_files([args.pools, args.references, *others], [args.output])
    if len(args.utility_args or ()) > len(args.utility or ()):
        raise UserError(
            f"--utility-args {args.utility_args[-1]} need --utility: name the utility that they belong to, each in turn"
        )
    rows = read_rows(args.pools)
    compared = read_compared(args.compare, rows)
    references = read_references(args.references, rows)
    with contextlib.ExitStack() as undo:
        utilities = [undo.enter_context(contextlib.closing(utility)) for utility in build_utilities(args, rows)]
        setting = describe(rows, utilities, list(compared), args.name)
        page = render_page(views(rows, utilities, compared, references), setting, args.title, args.heat_map_size)
        with atomic_writer(args.output) as out:
            out.writelines(page)
    logger.info("wrote %s: %d sentences, %.1f MB", args.output, len(rows), os.path.getsize(args.output) / 1e6)


def build_utilities(args: argparse.Namespace, rows: list[Record]) -> list[Utility]:
    """Those that are named, or the one that decided.

    Raises:
        UserError: one is unknown or cannot be had.
    """
    if args.utility is None:
        return [build_utility(**recorded_utility(rows))]
    arguments = [parse_utility_args(text) for text in args.utility_args or ()]
    arguments += [{}] * (len(args.utility) - len(arguments))
    return [build_utility(name, own) for name, own in zip(args.utility, arguments, strict=True)]
