"""The grid of pool sizes, temperatures and seeds that sweeping and tuning share: its options, and the plan of it."""

import argparse
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dcmbr_fairseq.commands.model_options import data_settings
from dcmbr_fairseq.commands.shared import (
    add_draws_argument,
    add_seeds_argument,
    parse_metric_arguments,
    parse_seeds,
)
from dcmbr_fairseq.numeric import read_positive_numbers, read_whole_numbers
from dcmbr_fairseq.pools.settings import LARGEST_POOL

if TYPE_CHECKING:
    from dcmbr_fairseq.measure.experiment import Experiment
    from dcmbr_fairseq.measure.grid import Plan
    from dcmbr_fairseq.measure.models import Workspace

SAME = "same"


def add_grid_arguments(parser: argparse.ArgumentParser, ref_pool: str = "auto") -> None:
    """Declare the axes of the grid, and where pools are kept; ``ref_pool`` is the default of ``--ref-pool``."""
    grid = parser.add_argument_group("grid")
    grid.add_argument("--num-hyp", default="10,50", metavar="N,N,...", help="pool sizes N (paper and default: 10,50)")
    grid.add_argument(
        "--num-ref", default=SAME, metavar="N,N,...|same", help="sizes of the reference pool (default: same as N)"
    )
    grid.add_argument("--temp-hyp", default="0.5,1", metavar="T,T,...", help="temperatures T_h (default: 0.5,1)")
    grid.add_argument(
        "--temp-ref", default=SAME, metavar="T,T,...|same",
        help="temperatures T_r, each with each T_h (default: same as T_h)",
    )  # fmt: skip
    add_seeds_argument(grid)
    grid.add_argument(
        "--ref-pool", default=ref_pool, choices=("auto", "shared", "separate"),
        help="auto: one pool plays both parts where temperatures and sizes agree, as in decoding; separate: pools of "
        f"their own everywhere, so that cells differ by temperatures and sizes alone (default: {ref_pool})",
    )  # fmt: skip
    add_draws_argument(grid)
    grid.add_argument(
        "--utility-args", default="{}", metavar="JSON", help='arguments by utility, such as \'{"chrf": {"beta": 1}}\''
    )
    grid.add_argument("--metric-args", default="{}", metavar="JSON", help="the same of metrics")
    grid.add_argument(
        "--pools", metavar="DIR",
        help="where pools are kept as records, to be used again by other commands (default: OUTPUT.pools)",
    )  # fmt: skip


def make_plan(args: argparse.Namespace, workspace: "Workspace", utilities: list[str], metrics: list[str]) -> "Plan":
    """The grid that the options describe.

    Raises:
        UserError: names the option.
    """
    from dcmbr_fairseq.measure.grid import Plan, Sizes

    return Plan(
        sizes=[Sizes(*pair) for pair in pairs(read_sizes, "--num-hyp", args.num_hyp, "--num-ref", args.num_ref)],
        temperatures=pairs(read_positive_numbers, "--temp-hyp", args.temp_hyp, "--temp-ref", args.temp_ref),
        utilities=utilities,
        seeds=parse_seeds(args, workspace),
        metrics=metrics,
        draws=args.draws,
        ref_pool=args.ref_pool,
        utility_args=parse_metric_arguments(args.utility_args, "--utility-args"),
        metric_args=parse_metric_arguments(args.metric_args),
        beam=getattr(args, "with_beam", False),
        entropy=getattr(args, "entropy", False),
    )


def read_sizes(flag: str, text: str) -> list[int]:
    """The sizes of pools in a list."""
    return read_whole_numbers(flag, text, most=LARGEST_POOL)


def pairs(read: Callable[..., list[Any]], flag: str, text: str, other_flag: str, other: str) -> list[tuple[Any, Any]]:
    """Each number of the first list with each of the other, or with itself where that is ``same``.

    Raises:
        UserError: names the option.
    """
    first = read(flag, text)
    if other == SAME:
        return [(number, number) for number in first]
    return list(itertools.product(first, read(other_flag, other)))


def journal_settings(args: argparse.Namespace, experiment: "Experiment", plan: "Plan") -> Any:
    """What cells depend on beside their keys: a larger grid may go on with the cells of a smaller one."""
    return {
        **data_settings(args, experiment),
        "rows": 3,  # their form: with the sentences' statistics
        "sizes": plan.sizes,
        "metrics": plan.metrics,
        "draws": plan.draws,
        "ref_pool": plan.ref_pool,
        "utility_args": plan.utility_args,
        "metric_args": plan.metric_args,
        "entropy": plan.entropy,
    }
