"""``dcmbr report``: a self-contained HTML page for looking into the decisions recorded with ``--pools-out``."""

import argparse
import contextlib
import logging
import os

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import atomic_writer
from dcmbr_fairseq.present.report.collect import (
    describe,
    read_compared,
    read_references,
    read_rows,
    recorded_utility,
    views,
)
from dcmbr_fairseq.present.report.page import render_page
from dcmbr_fairseq.utilities import build_utility, parse_utility_args

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
        "--utility", metavar="NAME", help="fills the heat maps (default: the one that decided if it is cheap, or chrf)"
    )
    parser.add_argument("--utility-args", metavar="JSON", help="its arguments")
    parser.add_argument(
        "--heat-map-size", type=int, default=100, metavar="K",
        help="at most K x K cells, the best hypotheses against the most frequent references (default: 100)",
    )  # fmt: skip
    parser.add_argument("--title", default="MBR decisions", help="heading of the page (default: MBR decisions)")


def run(args: argparse.Namespace) -> None:
    """Read, compute the utilities, and write the page."""
    if args.heat_map_size < 1:
        raise UserError(f"--heat-map-size must be >= 1, got {args.heat_map_size}")
    if args.utility is None and args.utility_args is not None:
        raise UserError(f"--utility-args {args.utility_args} need --utility: name the utility that they belong to")
    rows = read_rows(args.pools)
    compared = read_compared(args.compare, rows)
    references = read_references(args.references, rows)
    chosen = recorded_utility(rows)
    if args.utility is not None:
        chosen = {"name": args.utility, "arguments": parse_utility_args(args.utility_args or "{}")}
    with contextlib.closing(build_utility(**chosen)) as utility:
        setting = describe(rows, utility, list(compared), args.name)
        page = render_page(views(rows, utility, compared, references), setting, args.title, args.heat_map_size)
        with atomic_writer(args.output) as out:
            out.writelines(page)
    logger.info("wrote %s: %d sentences, %.1f MB", args.output, len(rows), os.path.getsize(args.output) / 1e6)
