"""``dcmbr diversity``: diversity and quality of sampled pools against temperature (Figure 7, right)."""

import argparse
import logging
import tempfile
from pathlib import Path

from dcmbr_fairseq.commands.model_options import (
    add_model_arguments,
    add_test_set_arguments,
    open_experiment,
    open_workspace,
)
from dcmbr_fairseq.commands.shared import (
    add_draws_argument,
    add_quality_arguments,
    add_rows_output_arguments,
    add_seeds_argument,
    parse_metric_arguments,
    parse_names,
    parse_seeds,
)
from dcmbr_fairseq.evaluation.segments import build_segment_metrics
from dcmbr_fairseq.numeric import read_positive_numbers, read_whole_numbers
from dcmbr_fairseq.pools.settings import LARGEST_POOL
from dcmbr_fairseq.present.tidy import write_rows

logger = logging.getLogger(__name__)

TAKES_FAIRSEQ_FLAGS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model_arguments(parser)
    add_test_set_arguments(parser)
    parser.add_argument(
        "--temperatures", default="0.1,0.3,0.5,0.7,0.9,1", metavar="T,T,...", help="default: 0.1,0.3,0.5,0.7,0.9,1"
    )
    parser.add_argument("--num-hyp", default="10", metavar="N,N,...", help="pool sizes N (paper and default: 10)")
    add_seeds_argument(parser)
    add_draws_argument(parser, default="independent")  # Div is defined on these
    add_quality_arguments(parser, "draw")
    parser.add_argument(
        "--pools", metavar="DIR",
        help="where pools are kept, to be shared with sweep; those that are there are used (default: not kept)",
    )  # fmt: skip
    add_rows_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Sample, measure and print."""
    from dcmbr_fairseq.measure.diversity import Axes, diversity_rows
    from dcmbr_fairseq.measure.flags import SAMPLING

    temperatures = read_positive_numbers("--temperatures", args.temperatures)
    if args.draws != "independent":
        logger.warning(
            "--draws %s: Div of such draws says how spread the pool is, not how alike the model's translations are: it "
            "must not be compared with that of independent ones, the paper's", args.draws,
        )  # fmt: skip
    sizes = read_whole_numbers("--num-hyp", args.num_hyp, most=LARGEST_POOL)
    qualities = build_segment_metrics(parse_names("--metrics", args.metrics), parse_metric_arguments(args.metric_args))
    workspace = open_workspace(args, SAMPLING)
    axes = Axes(temperatures, parse_seeds(args, workspace), sizes, args.draws)
    experiment = open_experiment(args, workspace)
    with tempfile.TemporaryDirectory() as temporary:
        rows = list(diversity_rows(experiment, axes, qualities, Path(args.pools or temporary)))
    for quality in qualities:
        quality.close()
    write_rows(rows, args.output, args.format)
