"""What commands share: options that several have, declared once; the lists and objects in them; where output goes."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dcmbr_fairseq.errors import UserError, shown
from dcmbr_fairseq.files.json_lines import read_json
from dcmbr_fairseq.files.places import is_stream
from dcmbr_fairseq.files.writing import atomic_writer
from dcmbr_fairseq.numeric import LARGEST_SEED, MOST, read_whole_number, read_whole_numbers
from dcmbr_fairseq.pools.settings import SETTINGS
from dcmbr_fairseq.present.tidy import FORMATS

if TYPE_CHECKING:
    from dcmbr_fairseq.measure.models import Workspace

DEFAULT_METRICS = "bleu,chrf,ter"
#: What one machine can start.
MOST_PROCESSES = 4096
WRITE_THERE = "write there, whole or not at all (default: standard output)"


# --- options -------------------------------------------------------------------------------------------------------


def add_output_arguments(parser: argparse.ArgumentParser, forms: Iterable[str] = FORMATS) -> None:
    """``--format``, text by default, and ``--output``."""
    parser.add_argument("--format", default="text", choices=sorted(forms), help="form of the output (default: text)")
    parser.add_argument("--output", metavar="FILE", help=WRITE_THERE)


def add_rows_output_arguments(parser: argparse.ArgumentParser) -> None:
    """``--format`` and ``--output`` of commands that make tidy tables: the ending of the file chooses the form too."""
    parser.add_argument("--format", choices=FORMATS, help="default: text, or what the ending of --output says")
    parser.add_argument("--output", metavar="FILE", help=WRITE_THERE)


def add_journal_output_argument(parser: argparse.ArgumentParser, row: str, part: str) -> None:
    """``--output`` of commands that go on where they were cut off.

    Args:
        parser: of the command.
        row: what a row of the table is there for.
        part: what is kept of a measurement that was cut off.
    """
    parser.add_argument(
        "--output", required=True, metavar="FILE",
        help=f"table, a row for each {row}: TSV, or JSON lines if it ends in .jsonl; FILE.partial keeps {part} done, "
        "and the same command goes on from there",
    )  # fmt: skip


def add_where_argument(parser: argparse.ArgumentParser) -> None:
    """``--where``: conditions on the rows of tables that are read."""
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE", help="keep these rows only")


def add_quality_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """``--metrics`` and ``--metric-args`` of analyses that score each ``what`` (draw, translation) by utilities."""
    parser.add_argument(
        "--metrics", default="chrf", metavar="M,M,...",
        help=f"utilities that score each {what} against its reference (default: chrf)",
    )  # fmt: skip
    parser.add_argument(
        "--metric-args", default="{}", metavar="JSON",
        help='their arguments by name, such as \'{"meteor": {"language": "de"}}\'',
    )  # fmt: skip


def add_seeds_argument(parser: argparse._ActionsContainer) -> None:
    """``--seeds``; see :func:`parse_seeds`."""
    parser.add_argument("--seeds", metavar="S,S,...", help="seeds of the draws (default: fairseq's --seed, 1)")


def add_draws_argument(parser: Any, **changes: Any) -> None:
    """``--draws``, fairseq-generate's, for whichever task reads the data."""
    SETTINGS["draws"].add_to(parser, **changes)


class _WholeNumber(argparse.Action):
    """Reads the value of an option that :func:`add_whole_number` has declared."""

    def __init__(self, *args: Any, least: int, most: int, **options: Any) -> None:
        super().__init__(*args, **options)
        self.least, self.most = least, most

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        flag = option_string or self.option_strings[0]
        setattr(namespace, self.dest, read_whole_number(flag, values, self.least, self.most))


def add_whole_number(parser: Any, flag: str, least: int = 1, most: int = MOST, **options: Any) -> None:
    """Declare an option that takes a whole number; others are refused as soon as the command line is read.

    Args:
        parser: of the command, or a group of it.
        flag: the option.
        least: the smallest number that is allowed.
        most: the largest: what is larger would not end, or take all memory.
        options: keyword arguments of ``add_argument``.
    """
    parser.add_argument(flag, action=_WholeNumber, least=least, most=most, **{"metavar": "N", **options})


# --- what stands in them -------------------------------------------------------------------------------------------


def parse_seeds(args: argparse.Namespace, workspace: "Workspace") -> list[int]:
    """The numbers of ``--seeds``, each once, or fairseq's seed.

    Raises:
        UserError: one is no seed.
    """
    if args.seeds is None:
        return [workspace.cfg.common.seed]
    return read_whole_numbers("--seeds", args.seeds, 0, LARGEST_SEED)


def parse_names(flag: str, text: str, example: str = "chrf") -> list[str]:
    """The names of a list such as ``chrf,bleu``, each once.

    Raises:
        UserError: there is none; ``example`` says what could stand there.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise UserError(f"{flag} {text!r} names nothing: give for instance {example}")
    return names


def parse_metrics(text: str) -> list[str]:
    """The names in ``--metrics`` of evaluate and significance, known ones in lower case.

    Raises:
        UserError: there is none.
    """
    names = parse_names("--metrics", text, DEFAULT_METRICS)
    return list(dict.fromkeys(name if ":" in name else name.lower() for name in names))


def parse_metric_arguments(text: str, flag: str = "--metric-args") -> Mapping[str, Mapping[str, Any]]:
    """Read ``--metric-args``, or another ``flag``: a JSON object of JSON objects.

    Raises:
        UserError: it is something else.
    """
    remedy = f'{flag} must be a JSON object such as \'{{"meteor": {{"language": "de"}}}}\', got {shown(text)}'
    arguments = read_json(text, remedy)
    if not isinstance(arguments, dict) or not all(isinstance(value, dict) for value in arguments.values()):
        raise UserError(remedy)
    return arguments


def refuse_idle(options: Mapping[str, object], where: str, remedy: str = "leave it out") -> None:
    """Refuse options that were given where they would change nothing.

    Args:
        options: the values by flag; None and False were not given.
        where: in what they have no meaning, such as ``without --confidence``.
        remedy: what to do.

    Raises:
        UserError: names the first of them, with its value.
    """
    for flag, value in options.items():
        if value is not None and value is not False:
            given = flag if value is True else f"{flag} {value}"
            raise UserError(f"{given} has no meaning {where}: {remedy}")


# --- what goes out -------------------------------------------------------------------------------------------------


def write_output(text: str, path: str | None) -> None:
    """Write ``text`` to a file, whole or not at all, or to standard output."""
    if path is None:
        sys.stdout.write(text)
        return
    with atomic_writer(path) as out:
        out.write(text)


def with_notes(table: str, notes: Sequence[str], form: str) -> str:
    """A table with lines below it, such as signatures; a form for machines (TSV) has numbers alone."""
    if form == "tsv":
        return table
    comment = "% " if form == "latex" else ""
    return table + "\n" + ("  \n" if form == "markdown" else "\n").join(comment + note for note in notes) + "\n"


def describe_references(path: str, segments: int) -> str:
    """The line of a table that says against which references it was made."""
    return f"references: {os.path.basename(path)}, {segments} segments"


def count_table(dropped: Mapping[str, int], kept: int, of: str) -> str:
    """What a filter has done: a line for each rule, and what is left ``of`` how much."""
    width = max(7, len(str(kept + sum(dropped.values()))))
    name = max([11, *map(len, dropped)])
    rows = [f"{'rule':<{name}}  {'dropped':>{width}}"]
    rows += [f"{reason:<{name}}  {count:>{width}}" for reason, count in dropped.items()]
    return "\n".join([*rows, f"{'kept':<{name}}  {kept:>{width}}  of {of}"])


def write_report(path: str | None, counts: Mapping[str, Any]) -> None:
    """Write the counts as a JSON object, if a path is given."""
    if path is not None:
        with atomic_writer(path) as out:
            out.write(json.dumps(counts, indent=2) + "\n")


# --- which files ---------------------------------------------------------------------------------------------------


def distinct_files(inputs: Sequence[str | None], outputs: Sequence[str | None]) -> None:
    """Refuse to write two things into one file, or over what is read; pipes and devices may be named twice.

    Raises:
        UserError: two outputs are one file, or an output is an input, by whatever names they go.
    """
    read, written = ([path for path in paths if path is not None] for paths in (inputs, outputs))
    for number, path in enumerate(written):
        if is_stream(path):
            continue
        for other in read:
            if same_file(path, other):
                raise UserError(f"the output {path} would overwrite the input {other}: give it another name")
        if any(same_file(path, other) for other in written[:number]):
            raise UserError(f"the outputs need different names, got {' and '.join(written)}")


def same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one place: by name, through links, or as two names of one file."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
