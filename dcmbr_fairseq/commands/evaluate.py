"""``dcmbr evaluate``: score finished translations against references, signatures included."""

import argparse
import json
from collections.abc import Mapping

from dcmbr_fairseq.commands.shared import (
    DEFAULT_METRICS,
    add_output_arguments,
    parse_metric_arguments,
    parse_metrics,
    with_notes,
    write_output,
)
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import ERROR_RATES, Evaluation, MetricOptions, evaluate
from dcmbr_fairseq.evaluation.translations import FORMATS, read_translations, system_names
from dcmbr_fairseq.files import read_lines
from dcmbr_fairseq.present.tables import Cell, Grid, render


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "hypotheses", nargs="+", metavar="HYP",
        help="one file for each system: plain text, JSON records, or a fairseq-generate / fairseq-interactive log",
    )  # fmt: skip
    parser.add_argument("--references", required=True, metavar="FILE", help="detokenised references, a line a segment")
    parser.add_argument("--source", metavar="FILE", help="source sentences (COMET needs them)")
    parser.add_argument("--names", metavar="A,B,...", help="names of the systems (default: the files' names)")
    parser.add_argument(
        "--metrics", default=DEFAULT_METRICS, metavar="M,M,...",
        help="bleu, chrf, chrf++, ter, or any utility (meteor, beer, bleurt, comet, module:Class), which is averaged "
        f"over segments (default: {DEFAULT_METRICS}; leave out ter where time matters: it is slow)",
    )  # fmt: skip
    parser.add_argument(
        "--metric-args", default="{}", metavar="JSON",
        help='arguments of metrics, such as \'{"meteor": {"language": "de"}, "ter": {"case_sensitive": true}}\'',
    )  # fmt: skip
    parser.add_argument("--lowercase", action="store_true", help="ignore case in BLEU and chrF; TER always does")
    parser.add_argument("--tokenize", metavar="NAME", help="sacreBLEU's tokeniser (default: 13a)")
    parser.add_argument("--hypothesis-format", default="auto", choices=FORMATS, help="layout of HYP (default: auto)")
    parser.add_argument("--seconds", metavar="S,S,...", help="add a column of decoding seconds, one for each system")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    names = system_names(args.names, args.hypotheses)
    seconds = parse_seconds(args.seconds, names)
    references = read_lines(args.references)
    if not references:
        raise UserError(f"--references {args.references} is empty: give one reference a line")
    systems = {
        name: read_translations(path, args.hypothesis_format, len(references))
        for name, path in zip(names, args.hypotheses, strict=True)
    }
    sources = read_lines(args.source) if args.source else None
    options = MetricOptions(args.lowercase, args.tokenize, parse_metric_arguments(args.metric_args))
    result = evaluate(systems, references, sources, parse_metrics(args.metrics), options)
    write_output(show(result, args.format, seconds), args.output)


def parse_seconds(text: str | None, names: list[str]) -> list[float] | None:
    """The numbers of ``--seconds``.

    Raises:
        UserError: not one number for each system.
    """
    if text is None:
        return None
    try:
        seconds = [float(value) for value in text.split(",")]
    except ValueError:
        seconds = []
    if len(seconds) != len(names):
        raise UserError(f"--seconds {text} must give {len(names)} numbers, one for each hypothesis file")
    return seconds


def show(result: Evaluation, form: str, seconds: list[float] | None = None) -> str:
    """The scores in the asked form; signatures follow the table, or are a field of the JSON object."""
    columns: dict[str, list[float]] = dict(result.scores)
    if seconds is not None:
        columns["seconds"] = seconds
    if form == "json":
        rows = [{"name": name, **{c: columns[c][i] for c in columns}} for i, name in enumerate(result.systems)]
        out = {"segments": result.segments, "systems": rows, "signatures": result.signatures}
        return json.dumps(out, ensure_ascii=False, indent=2) + "\n"
    cells: list[list[Cell]] = [[name, *(c[i] for c in columns.values())] for i, name in enumerate(result.systems)]
    grid = Grid(["system", *columns], cells, bold=best_cells(columns, len(result.systems)))
    return with_notes(render(grid, form), list(result.signatures.values()), form)


def best_cells(columns: Mapping[str, list[float]], systems: int) -> list[list[int]]:
    """For each system the columns in which it is best, as printed; nothing is best among one."""
    bold: list[list[int]] = [[] for _ in range(systems)]
    if systems < 2:
        return bold
    for number, (label, values) in enumerate(columns.items(), 1):
        rounded = [round(value, 1) for value in values]
        best = min(rounded) if label in ERROR_RATES else max(rounded)
        for system, value in enumerate(rounded):
            if value == best:
                bold[system].append(number)
    return bold
