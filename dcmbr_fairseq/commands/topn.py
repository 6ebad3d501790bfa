"""``dcmbr topn``: the N most probable translations, found exactly, and how good they are (Figure 3)."""

import argparse
import contextlib
import math

from dcmbr_fairseq.commands.model_options import (
    add_model_arguments,
    add_test_set_arguments,
    data_settings,
    open_experiment,
    open_workspace,
)
from dcmbr_fairseq.commands.shared import (
    add_journal_output_argument,
    add_quality_arguments,
    add_whole_number,
    parse_metric_arguments,
    parse_names,
)
from dcmbr_fairseq.evaluation.segments import build_segment_metrics
from dcmbr_fairseq.numeric import MOST_TRANSLATIONS
from dcmbr_fairseq.present.tidy import Journal, format_rows, refuse_existing

TAKES_FAIRSEQ_FLAGS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model_arguments(parser)
    add_test_set_arguments(parser)
    add_whole_number(
        parser, "--size", most=MOST_TRANSLATIONS, default=20, help="how many translations (paper and default: 20)"
    )
    add_whole_number(
        parser, "--max-expansions", default=100_000,
        help="give a sentence up after so many prefixes (default: 100000)",
    )  # fmt: skip
    parser.add_argument(
        "--max-seconds",
        type=float,
        default=math.inf,
        metavar="S",
        help="give a sentence up after this time (default: no)",
    )
    add_quality_arguments(parser, "translation")
    add_journal_output_argument(parser, "sequence", "what is")


def run(args: argparse.Namespace) -> None:
    """Search, write the table, and print summaries."""
    from dcmbr_fairseq.measure.flags import SEARCH
    from dcmbr_fairseq.measure.topn import Budget, cost_by_length, mark_comparable, measure_topn, summary

    refuse_existing(args.output)
    names = parse_names("--metrics", args.metrics)
    arguments = parse_metric_arguments(args.metric_args)
    budget = Budget(args.size, args.max_expansions, args.max_seconds)
    experiment = open_experiment(args, open_workspace(args, SEARCH))
    qualities = build_segment_metrics(names, arguments)
    settings = {**data_settings(args, experiment), **budget._asdict(), "metrics": [q.signature() for q in qualities]}
    with contextlib.closing(Journal(args.output, settings)) as journal:
        keys = measure_topn(experiment, budget, qualities, journal)
        rows = mark_comparable(journal.rows(keys))
        print(format_rows(summary(rows), "text"))
        print(format_rows(cost_by_length(rows), "text"), end="")
        journal.finish(rows)
    for quality in qualities:
        quality.close()
