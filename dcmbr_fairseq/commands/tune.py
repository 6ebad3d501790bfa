"""``dcmbr temperature --tune``: T_h and T_r chosen on a validation set, and written as flags of fairseq-generate."""

import argparse
import contextlib
import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dcmbr_fairseq.commands.grid_options import SAME, add_grid_arguments, journal_settings, make_plan
from dcmbr_fairseq.commands.model_options import (
    add_model_arguments,
    add_test_set_arguments,
    open_experiment,
    open_workspace,
)
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.writing import atomic_writer
from dcmbr_fairseq.present.provenance import describe
from dcmbr_fairseq.present.tables import as_cell, as_text
from dcmbr_fairseq.present.tidy import Journal, Row

if TYPE_CHECKING:
    from dcmbr_fairseq.evaluation.uncertainty import Score
    from dcmbr_fairseq.measure.grid import Plan
    from dcmbr_fairseq.measure.models import Workspace

logger = logging.getLogger(__name__)

USAGE = """\
dcmbr temperature --from-ls L1 (--to-ls L2 | --temperature T) [--vocabulary V]
       dcmbr temperature --tune DATA --path MODEL [options] [options of fairseq-generate]"""


def add_tune_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of tuning."""
    add_model_arguments(parser, required=False)
    parser.usage = USAGE
    group = parser.add_argument_group("tuning")
    group.add_argument(
        "--tune", action="store_true",
        help="choose T_h and T_r on the split --gen-subset, print the surface, and write the best as flags to --output",
    )  # fmt: skip
    group.add_argument("--utility", default="chrf", metavar="U", help="utility that decides (default: chrf)")
    group.add_argument(
        "--metric", default="chrf", metavar="M", help="metric that judges, as of evaluate (default: chrf)"
    )
    group.add_argument(
        "--surface", metavar="FILE", help="keep the scores as a table, resumable as those of dcmbr sweep"
    )
    add_test_set_arguments(parser)
    add_grid_arguments(parser, ref_pool="separate")
    temperatures = "0.1,0.3,0.5,0.7,0.9,1"
    parser.set_defaults(num_hyp="10", num_ref=SAME, temp_hyp=temperatures, temp_ref=temperatures)


def run(args: argparse.Namespace) -> None:
    """Tune, print and write."""
    from dcmbr_fairseq.measure.flags import SAMPLING
    from dcmbr_fairseq.measure.tuning import decoding_flags, surface_grid, surface_of, verdict

    if args.path is None or len(args.path) > 1:
        raise UserError("--tune needs the model as --path MODEL, once: temperatures are a model's own")
    workspace = open_workspace(args, SAMPLING)
    plan = make_plan(args, workspace, [args.utility], [args.metric])
    if len(plan.sizes) > 1:
        raise UserError(
            f"--tune takes one pool size, got --num-hyp {args.num_hyp} --num-ref {args.num_ref}: choose one"
        )
    rows, scores = measured(args, workspace, plan)
    surface = surface_of(rows, scores)
    print(as_text(surface_grid(surface)), end="")
    said = describe([{column: as_cell(value) for column, value in row.items()} for row in rows])
    print(*verdict(surface), *said, sep="\n")
    if args.output is not None:
        with atomic_writer(args.output) as out:
            out.writelines(f"{word}\n" for word in decoding_flags(surface.best, plan))
        logger.info("wrote %s, to be used as: fairseq-generate ... $(cat %s)", args.output, args.output)


def measured(
    args: argparse.Namespace, workspace: "Workspace", plan: "Plan"
) -> tuple[list[Row], Mapping[str, "Score"]]:
    """The rows of the grid, a sweep over temperatures; and the metric by its label."""
    from dcmbr_fairseq.measure.cells import without_statistics
    from dcmbr_fairseq.measure.sweep import sweep

    experiment = open_experiment(args, workspace)
    with contextlib.ExitStack() as stack:
        surface = args.surface or f"{stack.enter_context(tempfile.TemporaryDirectory())}/surface.tsv"
        journal = stack.enter_context(
            contextlib.closing(Journal(surface, journal_settings(args, experiment, plan)))
        )
        swept = sweep(experiment, plan, Path(args.pools or f"{surface}.pools"), journal)
        rows = journal.rows(swept.keys)
        journal.finish(without_statistics(rows))
    return rows, swept.scores
