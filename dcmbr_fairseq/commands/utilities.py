"""``dcmbr utilities``: all utilities, what each needs, and whether it is ready on this machine. No model is loaded."""

import argparse

from dcmbr_fairseq.commands.shared import add_output_arguments, write_output
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.tables import FORMS, Grid, render
from dcmbr_fairseq.utilities import UTILITIES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_output_arguments(parser, FORMS)


def run(args: argparse.Namespace) -> None:
    """Print the table, and below it a sentence for each utility that is not ready."""
    missing = {name: why_not_ready(name) for name in UTILITIES}
    table = render(utility_grid(missing), args.format)
    reasons = "".join(f"{name}: {reason}\n" for name, reason in missing.items() if reason)
    write_output(f"{table}\n{reasons}" if args.format == "text" and reasons else table, args.output)


def utility_grid(missing: dict[str, str | None]) -> Grid:
    """The table: one row for each utility; ``missing`` says why one is not ready, or None."""
    kinds = {name: UTILITIES.find(name) for name in UTILITIES}
    rows: list[list[str]] = [
        [name, "no" if missing[name] else "yes", kind.needs, kind.least_arguments or "-"]
        for name, kind in kinds.items()
    ]
    return Grid(["utility", "ready", "needs", "--utility-args at least"], rows, labels=4)


def why_not_ready(name: str) -> str | None:
    """The sentence that ``--utility NAME`` would be answered with on this machine, or None if it would run.

    Whether a model or checkpoint that the user names exists is not looked at.
    """
    try:
        UTILITIES.find(name).require_ready()
    except UserError as error:
        return str(error)
    return None
