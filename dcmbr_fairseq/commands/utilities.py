"""``dcmbr utilities``: all utilities, what each needs, and whether it is ready on this machine. No model is loaded."""

import argparse
import importlib
from typing import NamedTuple

from dcmbr_fairseq.commands.shared import add_output_arguments, write_output
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.tables import FORMS, Grid, render
from dcmbr_fairseq.utilities import UTILITIES, utility_class


class Needs(NamedTuple):
    """What a utility needs besides the package itself, and the arguments that it cannot do without."""

    what: str
    arguments: str = ""


MBRS = "pip install 'dcmbr_fairseq[neural]', a model, the source"
NEEDS: dict[str, Needs] = {
    "bleu": Needs("nothing more"),
    "chrf": Needs("nothing more"),
    "chrf++": Needs("nothing more"),
    "ter": Needs("nothing more"),
    "meteor": Needs("Java; pip install 'dcmbr_fairseq[meteor]' or METEOR_JAR", '{"language": "de"}'),
    "beer": Needs("Java; BEER 2.0 in BEER_HOME", '{"language": "de"}'),
    "bleurt": Needs("pip install 'dcmbr_fairseq[bleurt]', a checkpoint", '{"checkpoint": "FOLDER"}'),
    "comet": Needs(MBRS, '{"model": "NAME or FILE"}'),
    "xcomet": Needs(MBRS, '{"model": "NAME or FILE"}'),
    "metricx": Needs(MBRS, '{"model": "NAME"}'),
    "bertscore": Needs(MBRS.replace(", the source", ""), '{"model_type": "NAME or FOLDER"}'),
    "mean": Needs("what its parts need", '{"of": {"chrf": {}, "bleu": {}}}'),
}


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
    rows: list[list[str]] = [
        [name, "no" if missing[name] else "yes", NEEDS[name].what, NEEDS[name].arguments or "-"] for name in UTILITIES
    ]
    return Grid(["utility", "ready", "needs", "--utility-args at least"], rows, labels=4)


def why_not_ready(name: str) -> str | None:
    """The sentence that ``--utility NAME`` would be answered with on this machine, or None if it would run.

    Whether a model or checkpoint that the user names exists is not looked at.
    """
    module = importlib.import_module(utility_class(name).__module__)
    try:
        getattr(module, "require_ready", lambda: None)()
    except UserError as error:
        return str(error)
    return None
