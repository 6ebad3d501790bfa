"""``dcmbr sweep``: quality over a grid of pool sizes, temperatures, utilities and seeds (Figures 1, 5, 6 and 7)."""

import argparse
import contextlib
from pathlib import Path

from dcmbr_fairseq.commands.grid_options import add_grid_arguments, journal_settings, make_plan
from dcmbr_fairseq.commands.model_options import (
    add_model_arguments,
    add_test_set_arguments,
    open_experiment,
    open_workspace,
)
from dcmbr_fairseq.commands.shared import add_journal_output_argument, distinct_files, parse_names
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.tidy import Journal, format_rows, refuse_existing, write_rows

TAKES_FAIRSEQ_FLAGS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model_arguments(parser)
    add_test_set_arguments(parser)
    add_grid_arguments(parser)
    parser.add_argument("--utilities", default="chrf", metavar="U,U,...", help="utilities that decide (default: chrf)")
    parser.add_argument("--metrics", default="chrf,bleu", metavar="M,M,...", help="as of evaluate (default: chrf,bleu)")
    parser.add_argument(
        "--with-beam", action="store_true", help="add rows of fairseq's beam search (--beam, --lenpen: fairseq's)"
    )
    parser.add_argument(
        "--entropy",
        action="store_true",
        help="add a column: mean token entropy of the model at T = 1, in nats (Figure 4)",
    )
    parser.add_argument(
        "--baseline", action="append", default=[], metavar="COLUMN=VALUE,...",
        help="print means over seeds with standard errors, and a paired test of each cell against the one with these "
        "values, such as temp_hyp=1,temp_ref=1 or decoding=beam or model=NAME; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--tests", metavar="FILE", help="write what --baseline prints also as a table, TSV, or JSON lines if .jsonl"
    )
    add_journal_output_argument(parser, "cell and metric", "the cells that are")


def run(args: argparse.Namespace) -> None:
    """Fill the grid and write the table."""
    from dcmbr_fairseq.measure.cells import (
        against_baseline,
        cell_scores,
        parse_baseline,
        refuse_absent_baseline,
        without_statistics,
    )
    from dcmbr_fairseq.measure.flags import BEAM, SAMPLING
    from dcmbr_fairseq.measure.sweep import sweep

    distinct_files([], [args.output, args.tests])
    refuse_existing(args.output)
    refuse_existing(args.tests, "--tests")
    if args.tests is not None and not args.baseline:
        raise UserError(f"--tests {args.tests} has no tests to hold: give a --baseline, such as decoding=beam")
    conditions = {text: parse_baseline(text) for text in args.baseline}
    utilities, metrics = parse_names("--utilities", args.utilities), parse_names("--metrics", args.metrics)
    workspace = open_workspace(args, SAMPLING | BEAM if args.with_beam else SAMPLING)
    plan = make_plan(args, workspace, utilities, metrics)
    experiment = open_experiment(args, workspace)
    planned, names = plan.cells(), [model.name for model in experiment.models]
    for wanted in conditions.values():
        refuse_absent_baseline(wanted, planned, names)
    with contextlib.closing(Journal(args.output, journal_settings(args, experiment, plan))) as journal:
        swept = sweep(experiment, plan, Path(args.pools or f"{args.output}.pools"), journal)
        rows = journal.rows(swept.keys)
        cells = cell_scores(rows, swept.scores) if conditions else []
        tests = {baseline: against_baseline(cells, wanted) for baseline, wanted in conditions.items()}
        for tested in tests.values():
            print(format_rows(tested, "text"), end="")
        if args.tests is not None:
            all_tests = [{"baseline": baseline, **row} for baseline, tested in tests.items() for row in tested]
            write_rows(all_tests, args.tests)
        journal.finish(without_statistics(rows))
