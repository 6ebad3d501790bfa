"""``dcmbr correlation``: Kendall, Spearman and Pearson coefficients of two columns of a table (Figure 4)."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from dcmbr_fairseq.commands.shared import add_output_arguments, add_where_argument, distinct_files, write_output
from dcmbr_fairseq.present.correlation import PERMUTED_BELOW, Correlation, correlate
from dcmbr_fairseq.present.provenance import describe
from dcmbr_fairseq.present.results import (
    SETTINGS,
    averaged_over_seeds,
    number,
    read_results,
    refuse_mixture,
    require,
)
from dcmbr_fairseq.present.tables import Grid, coefficient_text, p_text, render


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "tables", nargs="+", metavar="TABLE", help="TSV or JSON lines, one row a model; seeds are averaged"
    )
    parser.add_argument("--x", default="entropy", metavar="COLUMN", help="default: entropy, in nats a token")
    parser.add_argument("--y", default="score", metavar="COLUMN", help="default: score, the quality of MBR")
    add_where_argument(parser)
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Compute the coefficients and print them."""
    distinct_files(args.tables, [args.output])
    rows = read_results(args.tables, args.where)
    require(rows, (args.x, args.y), "the correlation")
    refuse_mixture(rows, [column for column in ("decoding", *SETTINGS) if column not in (args.x, args.y)])
    said = describe(rows)
    rows = averaged_over_seeds(rows, (args.x, args.y))
    result = correlate([number(row, args.x) for row in rows], [number(row, args.y) for row in rows])
    write_output(show(result, args.x, args.y, args.format, said), args.output)


def show(result: Correlation, x: str, y: str, form: str, said: Sequence[str] = ()) -> str:
    """The coefficients in the asked form; ``said`` are lines that tell of what they are."""
    if form == "json":
        return json.dumps({"x": x, "y": y, **asdict(result), "about": list(said)}) + "\n"
    names = {"kendall": "Kendall tau-b", "spearman": "Spearman rho", "pearson": "Pearson r"}
    found = {title: getattr(result, name) for name, title in names.items()}
    caption = f"{y} against {x}, {result.count} models"
    if form == "tsv":
        return render(Grid(["coefficient", "value", "p"], [[t, c.value, c.p_value] for t, c in found.items()]), form)
    rows = [[title, coefficient_text(c.value, 4), p_text(c.p_value)] for title, c in found.items()]
    test = "p of all orders" if result.count < PERMUTED_BELOW else "p of scipy's tests"
    about = f"{caption}; {test}, two-sided"
    return render(Grid(["coefficient", "value", "p"], rows, caption=about, notes=said), form)
