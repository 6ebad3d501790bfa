"""``dcmbr significance``: is a difference between systems more than chance? The paper's test by default."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dcmbr_fairseq.commands.shared import (
    add_output_arguments,
    add_whole_number,
    describe_references,
    distinct_files,
    parse_metric_arguments,
    parse_metrics,
    with_notes,
    write_output,
)
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.baseline import (
    BOOTSTRAP_SAMPLES,
    CORRECTIONS,
    RANDOMISATION_SAMPLES,
    Compared,
    Tests,
    against_baseline,
)
from dcmbr_fairseq.evaluation.metrics import Metric, MetricOptions, check_options
from dcmbr_fairseq.evaluation.significance import MOST_SAMPLES, PairedResult
from dcmbr_fairseq.evaluation.statistics import MOSES_METRICS, arguments_name, build_statistic
from dcmbr_fairseq.evaluation.translations import FORMATS, read_segments, read_translations, system_names
from dcmbr_fairseq.numeric import LARGEST_SEED
from dcmbr_fairseq.present.tables import Grid, p_text, render

P_BOOTSTRAP = (
    "p boot: extreme samples / samples, as Moses' script and the paper; one-sided in effect: at 0.05 it rejects about "
    "10% of differences that are none"
)
P_RANDOMISATION = "p rand: two-sided, (extreme samples + 1) / (samples + 1); at 0.05 it rejects 5% of them"
TESTS = ("both", "bootstrap", "randomisation")


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
    parser.add_argument("--lowercase", action="store_true", help="ignore case, whatever the metric")
    parser.add_argument("--tokenizer", choices=("moses", "none"), help="for bleu and nist (default: moses)")
    parser.add_argument("--language", metavar="L", help="language of its rules: the target (default: en)")
    parser.add_argument(
        "--test", default="both", choices=TESTS,
        help="bootstrap: paired, over segments (the paper's); randomisation: swap the outputs of segments (default: "
        "both)",
    )  # fmt: skip
    add_whole_number(
        parser, "--samples", most=MOST_SAMPLES, metavar="S",
        help=f"default: {BOOTSTRAP_SAMPLES} bootstrap resamples, {RANDOMISATION_SAMPLES} swaps",
    )  # fmt: skip
    parser.add_argument(
        "--correction", default="none", choices=CORRECTIONS,
        help="holm: add p-values corrected for the number of comparisons, systems times metrics (default: none)",
    )  # fmt: skip
    add_whole_number(parser, "--seed", least=0, most=LARGEST_SEED, default=12345, help="default: 12345, sacreBLEU's")
    parser.add_argument("--hypothesis-format", default="auto", choices=FORMATS, help="layout of the files")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Test each system against the baseline on each metric and print."""
    paths = [args.baseline, *args.systems]
    distinct_files([*paths, args.references, args.source], [args.output])
    names = system_names(args.names, paths)
    references = read_segments(args.references, "--references")
    texts = [read_translations(path, args.hypothesis_format, len(references)) for path in paths]
    sources = read_segments(args.source, "--source") if args.source else None
    metrics = build_metrics(args)
    tests = Tests(args.test != "randomisation", args.test != "bootstrap", args.samples, args.seed, args.correction)
    found = against_baseline(dict(zip(names, texts, strict=True)), references, sources, metrics, tests)
    signatures = [metric.signature() for metric in metrics]
    lines = notes(found, tests, args.references, len(references))
    write_output(show(found, args.format, lines, signatures), args.output)


def build_metrics(args: argparse.Namespace) -> list[Metric]:
    """The metrics of ``--metrics``.

    Raises:
        UserError: one is unknown or cannot be had, or an option concerns none of them.
    """
    names = parse_metrics(args.metrics)
    options = MetricOptions(args.lowercase, None, parse_metric_arguments(args.metric_args))
    for flag in ("tokenizer", "language"):
        if getattr(args, flag) is not None and not set(names) & set(MOSES_METRICS):
            raise UserError(
                f"--{flag} {getattr(args, flag)} is for {', '.join(MOSES_METRICS)}, and --metrics {args.metrics} has "
                "none of them: leave it out"
            )
    metrics = [build_statistic(name, args.tokenizer or "moses", args.language or "en", options) for name in names]
    check_options(options, [taker for name in names if (taker := arguments_name(name))])
    return metrics


def notes(found: Sequence[Compared], tests: Tests, references: str, segments: int) -> list[str]:
    """What the tests are and how to read their p-values, a line each."""
    made = [
        f"{name}, {result.samples} samples"
        for name, result in (("bootstrap", found[0].bootstrap), ("randomisation", found[0].randomisation))
        if result is not None
    ]
    lines = [describe_references(references, segments), f"{'; '.join(made)}, seed {tests.seed}"]
    lines += [P_BOOTSTRAP] if tests.bootstrap else []
    lines += [P_RANDOMISATION] if tests.randomisation else []
    if tests.correction == "holm":
        corrected = "p rand" if tests.randomisation else "(extreme samples + 1) / (samples + 1) of the bootstrap"
        lines.append(f"p Holm: {corrected}, corrected for all {len(found)} comparisons (Holm 1979)")
    elif len(found) > 1:
        lines.append(f"{len(found)} comparisons, of which none is corrected for the others: --correction holm does so")
    return lines


def show(found: Sequence[Compared], form: str, lines: list[str], signatures: list[str]) -> str:
    """The comparisons in the asked form, with the settings and signatures; JSON and TSV hold plain numbers."""
    if form == "json":
        rows = [as_row(one) for one in found]
        return json.dumps({"test": lines, "signatures": signatures, "comparisons": rows}, indent=2) + "\n"
    if form == "tsv":
        flat = [flattened(as_row(one)) for one in found]
        return render(Grid(list(flat[0]), [list(row.values()) for row in flat], labels=3), form)
    rows = [cells(one) for one in found]
    grid = Grid(list(rows[0]), [list(row.values()) for row in rows], labels=3, digits=2)
    return with_notes(render(grid, form), [*lines, *signatures], form)


def as_row(one: Compared) -> dict[str, Any]:
    """A comparison as an object; what a test that was not made would give is None."""
    result, bootstrap, swaps = one.result, one.bootstrap, one.randomisation
    intervals = {
        name: list(asdict(interval).values()) if bootstrap is not None and interval is not None else None
        for name, interval in (
            ("baseline_interval", bootstrap and bootstrap.baseline_interval),
            ("system_interval", bootstrap and bootstrap.system_interval),
            ("difference_interval", bootstrap and bootstrap.difference_interval),
        )
    }
    return {
        "metric": one.metric, "baseline": one.baseline, "system": one.system, "baseline_score": result.baseline,
        "system_score": result.system, "difference": result.difference, **intervals,
        "bootstrap_p": bootstrap and bootstrap.p_value,
        "bootstrap_p_plus": bootstrap and bootstrap.corrected_p_value, **_counted("bootstrap", bootstrap),
        "randomisation_p": swaps and swaps.corrected_p_value, **_counted("randomisation", swaps), "p_holm": one.holm,
    }  # fmt: skip


def _counted(test: str, result: PairedResult | None) -> dict[str, int | None]:
    extreme, samples = (None, None) if result is None else (result.extreme, result.samples)
    return {f"{test}_extreme": extreme, f"{test}_samples": samples}


def flattened(row: dict[str, Any]) -> dict[str, Any]:
    """The object with two columns, ``_low`` and ``_high``, for each interval."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_interval"):
            flat[f"{name.removesuffix('_interval')}_low"], flat[f"{name.removesuffix('_interval')}_high"] = (
                value or (None, None)
            )
        else:
            flat[name] = value
    return flat


def cells(one: Compared) -> dict[str, Any]:
    """A comparison as a row of the table, by column; p = 0 of S samples is shown as less than 1 / S."""
    result = one.result
    row: dict[str, Any] = {
        "metric": one.metric, "A": one.baseline, "B": one.system, "score A": result.baseline,
        "score B": result.system, "B - A": f"{result.difference:+.2f}",
    }  # fmt: skip
    if one.bootstrap is not None:
        interval = one.bootstrap.difference_interval
        row["95% interval"] = interval and f"{interval.low:+.2f} .. {interval.high:+.2f}"
        row["p boot"] = p_text(one.bootstrap.p_value, 1 / one.bootstrap.samples)
    if one.randomisation is not None:
        row["p rand"] = p_text(one.randomisation.corrected_p_value)
    if one.holm is not None:
        row["p Holm"] = p_text(one.holm)
    return row
