"""``dcmbr table``: the paper's tables from results, with the paper's own numbers beside ours where asked."""

import argparse

from dcmbr_fairseq.commands.shared import (
    add_output_arguments,
    add_where_argument,
    distinct_files,
    refuse_idle,
    write_output,
)
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present import paper
from dcmbr_fairseq.present.layouts import LAYOUTS, build_table
from dcmbr_fairseq.present.results import read_results
from dcmbr_fairseq.present.tables import FORMS, render

#: The flags of what a table may be asked for.
FLAGS = {"paper_table": "--paper", "temperature": "--temperature", "spread": "--spread"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    titles = "; ".join(f"{name}: {layout.title}" for name, layout in LAYOUTS.items())
    parser.add_argument("table", choices=list(LAYOUTS), metavar="NAME", help=titles)
    results = parser.add_argument(
        "results", nargs="+", default=[], metavar="RESULTS",
        help="tidy results, TSV or JSON lines; with --paper none is needed",
    )  # fmt: skip
    results.required = False  # with nargs="*" argparse would not find them behind an option
    add_where_argument(parser)
    parser.add_argument(
        "--temperature", type=float, metavar="T", help=f"T_h = T_r of DC-MBR (paper and default: {paper.TEMPERATURE})"
    )
    parser.add_argument("--paper", action="store_true", help="put the paper's numbers in parentheses beside ours")
    parser.add_argument(
        "--spread",
        action="store_true",
        help="put the least and the greatest seed in brackets behind each mean of several",
    )
    add_output_arguments(parser, FORMS)


def run(args: argparse.Namespace) -> None:
    """Make the table and print it."""
    distinct_files(args.results, [args.output])
    options = {"paper_table": args.paper, "temperature": args.temperature, "spread": args.spread}
    idle = {FLAGS[name]: options[name] for name in FLAGS if name not in LAYOUTS[args.table].options}
    refuse_idle(idle, f"in table {args.table}")
    if not args.results and not args.paper:
        raise UserError("a table needs results: give files of results, or --paper to see the paper's numbers alone")
    rows = read_results(args.results, args.where) if args.results else []
    temperature = paper.TEMPERATURE if args.temperature is None else args.temperature
    grid = build_table(args.table, rows, args.paper, temperature, args.spread)
    if not grid.rows:
        raise UserError(f"no row fits table {args.table}: decodings must be beam, mbr, or dcmbr at --temperature")
    write_output(render(grid, args.format), args.output)
