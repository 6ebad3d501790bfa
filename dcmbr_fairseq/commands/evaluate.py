"""``dcmbr evaluate``: score finished translations against references, signatures included."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from dcmbr_fairseq.commands.shared import (
    DEFAULT_METRICS,
    add_output_arguments,
    add_whole_number,
    describe_references,
    distinct_files,
    parse_metric_arguments,
    parse_metrics,
    refuse_idle,
    with_notes,
    write_output,
)
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import ERROR_RATES, Evaluation, MetricOptions, evaluate
from dcmbr_fairseq.evaluation.significance import MOST_SAMPLES, Interval, Resamples
from dcmbr_fairseq.evaluation.translations import FORMATS, read_segments, read_translations, system_names
from dcmbr_fairseq.numeric import LARGEST_SEED
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
    parser.add_argument("--lowercase", action="store_true", help="ignore case, whatever the metric (TER always does)")
    parser.add_argument("--tokenize", metavar="NAME", help="sacreBLEU's tokeniser for BLEU (default: 13a)")
    parser.add_argument(
        "--confidence", action="store_true", help="add 95%% intervals from bootstrap resamples of the segments"
    )
    add_whole_number(parser, "--samples", most=MOST_SAMPLES, metavar="S", help="number of resamples (default: 1000)")
    add_whole_number(
        parser, "--seed", least=0, most=LARGEST_SEED, help="seed of the resamples (default: 12345, sacreBLEU's)"
    )
    parser.add_argument("--hypothesis-format", default="auto", choices=FORMATS, help="layout of HYP (default: auto)")
    parser.add_argument("--seconds", metavar="S,S,...", help="add a column of decoding seconds, one for each system")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    distinct_files([*args.hypotheses, args.references, args.source], [args.output])
    confidence = parse_confidence(args)
    names = system_names(args.names, args.hypotheses)
    seconds = parse_seconds(args.seconds, names)
    references = read_segments(args.references, "--references")
    if not references:
        raise UserError(f"--references {args.references} is empty: give one reference a line")
    systems = {
        name: read_translations(path, args.hypothesis_format, len(references))
        for name, path in zip(names, args.hypotheses, strict=True)
    }
    sources = read_segments(args.source, "--source") if args.source else None
    options = MetricOptions(args.lowercase, args.tokenize, parse_metric_arguments(args.metric_args))
    result = evaluate(systems, references, sources, parse_metrics(args.metrics), options, confidence)
    test_set = describe_references(args.references, result.segments)
    write_output(show(result, args.format, test_set, seconds, confidence), args.output)


def parse_confidence(args: argparse.Namespace) -> Resamples | None:
    """The resamples of ``--confidence``.

    Raises:
        UserError: their number or seed is out of range, or has no meaning.
    """
    if not args.confidence:
        resampling = {"--samples": args.samples, "--seed": args.seed}
        refuse_idle(resampling, "without --confidence", "add it, or leave this out")
        return None
    return Resamples(**{name: getattr(args, name) for name in ("samples", "seed") if getattr(args, name) is not None})


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


def show(
    result: Evaluation, form: str, test_set: str, seconds: list[float] | None, confidence: Resamples | None
) -> str:
    """The scores in the asked form; signatures follow the table, or are a field of the JSON object."""
    columns: dict[str, list[float]] = dict(result.scores)
    if seconds is not None:
        columns["seconds"] = seconds
    if form == "json":
        rows = [{"name": name, **{c: columns[c][i] for c in columns}} for i, name in enumerate(result.systems)]
        out = {"segments": result.segments, "systems": rows, "signatures": result.signatures}
        if confidence is not None:
            limits = {label: [[one.low, one.high] for one in own] for label, own in result.intervals.items()}
            out.update(intervals=limits, confidence=asdict(confidence))
        return json.dumps(out, ensure_ascii=False, indent=2) + "\n"
    table: dict[str, list[Cell]] = {"system": [*result.systems]}
    for label, values in columns.items():
        table[label] = [*values]
        table.update(interval_columns(label, result.intervals.get(label, []), form))
    bold = best_cells(columns, len(result.systems), list(table))
    grid = Grid(list(table), [list(row) for row in zip(*table.values(), strict=True)], bold=bold)
    notes = [test_set, *result.signatures.values()]
    if confidence is not None:
        notes.insert(1, f"95%: {confidence.samples} resamples of {result.segments} segments, seed {confidence.seed}")
    return with_notes(render(grid, form), notes, form)


def interval_columns(label: str, intervals: Sequence[Interval], form: str) -> dict[str, list[Cell]]:
    """The columns beside a metric's: two of numbers in TSV, otherwise one to be read; none without intervals."""
    if not intervals:
        return {}
    if form == "tsv":
        return {f"{label}_low": [one.low for one in intervals], f"{label}_high": [one.high for one in intervals]}
    return {f"95% {label}": [f"{one.low:.1f} .. {one.high:.1f}" for one in intervals]}


def best_cells(columns: Mapping[str, list[float]], systems: int, table: list[str]) -> list[list[int]]:
    """For each system the columns of the table in which it is best, as printed; nothing is best among one."""
    bold: list[list[int]] = [[] for _ in range(systems)]
    if systems < 2:
        return bold
    for label, values in columns.items():
        rounded = [round(value, 1) for value in values]
        best = min(rounded) if label in ERROR_RATES else max(rounded)
        for system, value in enumerate(rounded):
            if value == best:
                bold[system].append(table.index(label))
    return bold
