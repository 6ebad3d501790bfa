"""``dcmbr significance``: is a difference between systems more than chance? The paper's test by default."""

import argparse
import json
from dataclasses import asdict
from typing import Any

from dcmbr_fairseq.commands.shared import (
    add_output_arguments,
    parse_metric_arguments,
    parse_metrics,
    with_notes,
    write_output,
)
from dcmbr_fairseq.evaluation.baseline import TESTS, Tested, against_baseline
from dcmbr_fairseq.evaluation.metrics import MetricOptions
from dcmbr_fairseq.evaluation.significance import Interval
from dcmbr_fairseq.evaluation.statistics import build_statistic
from dcmbr_fairseq.evaluation.translations import FORMATS, read_translations, system_names
from dcmbr_fairseq.files import read_lines
from dcmbr_fairseq.present.tables import Grid, render

P_VALUES = "p: extreme samples / samples, as Moses' script; p+: (extreme samples + 1) / (samples + 1), as sacreBLEU"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("baseline", metavar="BASELINE", help="translations of the system to compare with")
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="translations to compare with it, in any layout")
    parser.add_argument("--references", required=True, metavar="FILE", help="detokenised references, a line a segment")
    parser.add_argument("--source", metavar="FILE", help="source sentences (COMET needs them)")
    parser.add_argument("--names", metavar="A,B,...", help="names of the systems, the baseline's first")
    parser.add_argument(
        "--metrics", default="bleu,nist", metavar="M,M,...",
        help="bleu, nist: as Moses' bootstrap script (the paper's test); nist-mteval; sacrebleu, chrf, chrf++, ter: as "
        "sacreBLEU; any utility (sentence-bleu, sentence-chrf, meteor, bleurt, ...): its mean (default: bleu,nist)",
    )  # fmt: skip
    parser.add_argument("--metric-args", default="{}", metavar="JSON", help="arguments of utilities, as in evaluate")
    parser.add_argument("--lowercase", action="store_true", help="ignore case in sacreBLEU's BLEU and chrF")
    parser.add_argument("--tokenizer", default="moses", choices=("moses", "none"), help="for bleu and nist")
    parser.add_argument("--language", default="en", help="language of the tokeniser's rules: the target (default: en)")
    parser.add_argument(
        "--test", default="bootstrap", choices=sorted(TESTS),
        help="bootstrap: paired, over segments (the paper's); randomisation: swap the outputs of segments",
    )  # fmt: skip
    parser.add_argument("--samples", type=int, metavar="S", help="default: 1000 bootstrap resamples, 10000 swaps")
    parser.add_argument("--seed", type=int, default=12345, help="default: 12345, sacreBLEU's")
    parser.add_argument("--hypothesis-format", default="auto", choices=FORMATS, help="layout of the files")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Test each system against the baseline on each metric and print."""
    paths = [args.baseline, *args.systems]
    names = system_names(args.names, paths)
    references = read_lines(args.references)
    texts = [read_translations(path, args.hypothesis_format, len(references)) for path in paths]
    sources = read_lines(args.source) if args.source else None
    options = MetricOptions(args.lowercase, None, parse_metric_arguments(args.metric_args))
    statistics = [build_statistic(m, args.tokenizer, args.language, options) for m in parse_metrics(args.metrics)]
    tested = against_baseline(
        list(zip(names, texts, strict=True)), references, sources, statistics, args.test, args.samples, args.seed
    )
    note = f"{args.test}, {tested[0].result.samples} samples of {len(references)} segments, seed {args.seed}"
    write_output(show(tested, args.format, note, [s.signature() for s in statistics]), args.output)


def show(tested: list[Tested], form: str, note: str, signatures: list[str]) -> str:
    """The comparisons in the asked form, with the settings and signatures."""
    if form == "json":
        rows = [as_json(row) for row in tested]
        return json.dumps({"test": note, "signatures": signatures, "comparisons": rows}, indent=2) + "\n"
    header = ["metric", "A", "B", "score A", "score B", "B - A", "95% interval", "p", "p+"]
    grid = Grid(header, [cells(row) for row in tested], labels=3, digits=2)
    return with_notes(render(grid, form), [note, P_VALUES, *signatures], form)


def as_json(row: Tested) -> dict[str, Any]:
    """A comparison as a flat JSON object."""
    result = row.result
    scores = {"baseline_score": result.baseline, "system_score": result.system, "difference": result.difference}
    intervals = {
        name: list(asdict(interval).values()) if interval is not None else None
        for name, interval in (
            ("baseline_interval", result.baseline_interval),
            ("system_interval", result.system_interval),
            ("difference_interval", result.difference_interval),
        )
    }
    p_values = {"p": result.p_value, "p_corrected": result.corrected_p_value, "extreme": result.extreme}
    names = {"metric": row.metric, "baseline": row.baseline, "system": row.system}
    return {**names, **scores, **intervals, **p_values, "samples": result.samples}


def cells(row: Tested) -> list[Any]:
    """A comparison as a row of the table; p = 0 of S samples is shown as less than 1 / S."""
    result = row.result
    p = f"{result.p_value:.3f}" if result.extreme else f"< {1 / result.samples:.2g}"
    interval = result.difference_interval
    shown = _show_interval(interval) if interval else None
    return [
        row.metric, row.baseline, row.system, result.baseline, result.system, f"{result.difference:+.2f}", shown, p,
        f"{result.corrected_p_value:.4f}",
    ]  # fmt: skip


def _show_interval(interval: Interval) -> str:
    return f"{interval.low:+.2f} .. {interval.high:+.2f}"
