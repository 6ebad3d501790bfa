"""``dcmbr distill-data``: training text from recorded decisions, for the model to learn its own MBR translations."""

import argparse

from dcmbr_fairseq.commands.filter_options import add_limit_arguments, given_limits
from dcmbr_fairseq.commands.shared import count_table, distinct_files, write_report
from dcmbr_fairseq.corpus.filters import RULES, Limits
from dcmbr_fairseq.training.distillation import LOW_UTILITY, REPEATED, Selection, distill

OWN_RULES = tuple(name for name in RULES if name != "score")
#: The limits where none are given.
LIMITS = Limits(max_ratio=2.5)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Write the source and the chosen translation of every record as parallel text, without those that are bad "
        f"teachers; print how many each rule has dropped, in this order: {', '.join(OWN_RULES)} (as dcmbr corpus "
        f"filter), {LOW_UTILITY}, {REPEATED}."
    )
    parser.add_argument("records", nargs="+", metavar="RECORDS", help="files of --pools-out, with their decisions")
    parser.add_argument(
        "--out", nargs=2, required=True, metavar=("SOURCE", "TARGET"),
        help="the parallel text, plain or .gz; both files appear, complete, or neither",
    )  # fmt: skip
    parser.add_argument(
        "--sources", nargs="+", default=[], metavar="FILE",
        help="text of the sources, a line an id, one file for all RECORDS or one for each (default: the records' own "
        "text, in which words that the model does not know are missing)",
    )  # fmt: skip
    add_limit_arguments(parser, ["length", "ratio"], LIMITS)
    parser.add_argument(
        "--drop-lowest", type=float, default=0.0, metavar="SHARE",
        help=f"{LOW_UTILITY}: leave out this share of the sentences, those of the lowest expected utility "
        "(default: 0, none)",
    )  # fmt: skip
    parser.add_argument(
        "--skip", nargs="+", default=[], choices=(*OWN_RULES, REPEATED), metavar="RULE",
        help="rules that are not applied",
    )  # fmt: skip
    parser.add_argument("--report", metavar="FILE", help="write the counts as JSON too")


def run(args: argparse.Namespace) -> None:
    """Write the text, print the counts."""
    limits = given_limits(args, LIMITS, args.skip)
    distinct_files([*args.records, *args.sources], [*args.out, args.report])
    found = distill(args.records, args.out, Selection(limits, tuple(args.skip), args.drop_lowest), args.sources)
    print(count_table(found.dropped, found.kept, f"{found.decisions} decisions"))
    write_report(args.report, {**vars(found), "kept": found.kept})
