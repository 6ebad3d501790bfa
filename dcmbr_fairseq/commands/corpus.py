"""``dcmbr corpus``: filter, normalise and check the parallel text that models are trained on."""

import argparse
import dataclasses
import math
import os

from dcmbr_fairseq.commands.filter_options import add_limit_arguments, given_limits
from dcmbr_fairseq.commands.shared import (
    MOST_PROCESSES,
    add_whole_number,
    count_table,
    distinct_files,
    refuse_idle,
    write_report,
)
from dcmbr_fairseq.corpus.clean import (
    REASONS,
    FilterSettings,
    filter_files,
    normalize_file,
)
from dcmbr_fairseq.corpus.filters import Limits
from dcmbr_fairseq.corpus.normalize import LANGUAGES, Normalization
from dcmbr_fairseq.corpus.streams import aligned_length
from dcmbr_fairseq.errors import UserError, nearest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the three tools and their flags."""
    tools = parser.add_subparsers(dest="tool", metavar="TOOL", required=True)
    add_filter(tools.add_parser("filter", help="drop bad sentence pairs, by named rules", description=FILTER))
    add_normalize(tools.add_parser("normalize", help="normalise punctuation and letters", description=NORMALIZE))
    check = tools.add_parser("check", help="see that files are aligned", description=CHECK)
    check.add_argument("files", nargs="+", metavar="FILE", help="text, plain or .gz")
    check.set_defaults(tool_run=run_check)


FILTER = f"""Copy the sentence pairs that no rule drops, and print how many each rule has dropped. A pair is counted at
the first rule that applies, in this order: {", ".join(REASONS)}. The limits are those of Zeng et al. (2021),
whose filters the paper uses; empty and copy are rules of ours, and score is asked only where scores are given. Files
may be plain or .gz; both outputs appear, complete, or neither."""

NORMALIZE = """Normalise punctuation as Moses does, and white space; for Romanian also letters with a cedilla (written
with a comma below since Unicode 3.0). Line i of the output is line i of the input."""

CHECK = """Print the number of lines that the files have; fail, naming all counts, if it is not the same."""


def add_filter(parser: argparse.ArgumentParser) -> None:
    """The flags of ``dcmbr corpus filter``."""
    parser.add_argument("source", metavar="SOURCE", help="source sentences, one a line")
    parser.add_argument("target", metavar="TARGET", help="their translations, one a line")
    parser.add_argument("--out", nargs=2, required=True, metavar=("SOURCE", "TARGET"), help="where to write what stays")
    add_limit_arguments(parser, ["length", "word-length", "ratio"], Limits())
    parser.add_argument("--scores", metavar="FILE", help="score: lines that end with the pair's alignment score")
    parser.add_argument("--min-score", type=float, help="score: the lowest score that may stay")
    parser.add_argument(
        "--score-per-word", action="store_true",
        help="score: divide by the target's words first (fast_align's scores are sums over them)",
    )  # fmt: skip
    parser.add_argument(
        "--skip", nargs="+", default=[], choices=REASONS[1:], metavar="RULE", help="rules that are not applied"
    )
    add_common(parser, "drop", "drop and count the pair (rule utf8)")
    parser.set_defaults(tool_run=run_filter)


def add_normalize(parser: argparse.ArgumentParser) -> None:
    """The flags of ``dcmbr corpus normalize``."""
    parser.add_argument("input", metavar="INPUT", help="sentences, one a line")
    parser.add_argument("output", metavar="OUTPUT", help="where to write them")
    parser.add_argument(
        "--lang", required=True, help="two letters; de, en, es, fr and cs have rules for punctuation of their own"
    )
    parser.add_argument("--no-punctuation", action="store_true", help="leave punctuation as it is")
    parser.add_argument(
        "--romanian-diacritics", choices=["keep", "remove"], default="keep",
        help="remove: write Romanian without marks, as Sennrich et al. (2016) do where it is the source",
    )  # fmt: skip
    add_common(parser, "blank", "write an empty line and count it, so that files stay aligned")
    parser.set_defaults(tool_run=run_normalize)


def add_common(parser: argparse.ArgumentParser, lenient: str, meaning: str) -> None:
    """The flags that both tools have; ``lenient`` is what they do with bytes that are not UTF-8 by default."""
    parser.add_argument(
        "--invalid-utf8", choices=[lenient, "refuse"], default=lenient,
        help=f"at bytes that are not UTF-8: {meaning}, or refuse the file (default: %(default)s)",
    )  # fmt: skip
    add_whole_number(
        parser, "--processes", most=MOST_PROCESSES, default=len(os.sched_getaffinity(0)),
        help="default: one for each core (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--report", metavar="FILE", help="write the counts as JSON too")


def run(args: argparse.Namespace) -> None:
    """Run the chosen tool."""
    args.tool_run(args)


def run_filter(args: argparse.Namespace) -> None:
    """Filter, print the table, write the report."""
    if (args.scores is None) != (args.min_score is None):
        raise UserError("--scores and --min-score belong together: give both, or neither")
    if args.min_score is not None and math.isnan(args.min_score):
        raise UserError("--min-score must be a number, got nan")
    if "score" in args.skip:
        refuse_idle({"--scores": args.scores}, "with --skip score", "leave one of them out")
    if args.scores is None:
        refuse_idle({"--score-per-word": args.score_per_word}, "without --scores", "add it, or leave this out")
    distinct_files([args.source, args.target, args.scores], [*args.out, args.report])
    usual = Limits(min_score=args.min_score, score_per_word=args.score_per_word)
    limits = given_limits(args, usual, args.skip)
    settings = FilterSettings(limits, tuple(args.skip), args.invalid_utf8 == "refuse")
    report = filter_files([args.source, args.target], args.out, settings, args.scores, args.processes)
    print(count_table(report.dropped, report.kept, f"{report.pairs} pairs ({report.kept / report.pairs:.2%})"))
    write_report(args.report, {"pairs": report.pairs, "kept": report.kept, "dropped": report.dropped})


def run_normalize(args: argparse.Namespace) -> None:
    """Normalise, print the counts, write the report."""
    if args.romanian_diacritics == "remove" and args.lang != "ro":
        raise UserError(f"--romanian-diacritics remove goes with --lang ro, got --lang {args.lang}")
    known_language(args.lang)
    distinct_files([args.input], [args.output, args.report])
    settings = Normalization(args.lang, not args.no_punctuation, args.romanian_diacritics == "keep")
    report = normalize_file(args.input, args.output, settings, args.invalid_utf8 == "refuse", args.processes)
    print(f"{report.lines} lines, {report.changed} changed, {report.blanked} not UTF-8 (left empty)")
    write_report(args.report, dataclasses.asdict(report))


def run_check(args: argparse.Namespace) -> None:
    """Print the common number of lines."""
    print(f"{aligned_length(args.files)} lines")


def known_language(code: str) -> None:
    """Refuse what is no language: it would be treated as one that has no rules of its own.

    Raises:
        UserError: ``code`` is none of the two-letter codes of ISO 639-1.
    """
    if code not in LANGUAGES:
        close = nearest(code, sorted(LANGUAGES))
        meant = f" (did you mean {close}?)" if close else ""
        raise UserError(f"--lang {code} is no two-letter code of a language{meant}: give for instance de or ro")
