"""Reading finished translations: plain text, JSON records, or the log of fairseq-generate and fairseq-interactive."""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.json_lines import shown_json
from dcmbr_fairseq.files.reading import iter_lines
from dcmbr_fairseq.pools.order import ids_of
from dcmbr_fairseq.pools.rows import parse_versioned

FORMATS = ("auto", "plain", "records", "log")

#: A detokenised hypothesis line of fairseq. Logger lines, which share the stream, start with a date instead.
_DETOKENISED = re.compile(r"D-(\d{1,18})\t([^\t]*)\t(.*)", re.DOTALL)
_HYPOTHESIS = re.compile(r"H-\d+\t[^\t]*\t")


def read_translations(path: PathLike, layout: str = "auto", expected: int | None = None) -> list[str]:
    """One translation for each source sentence, in the order of the source.

    Args:
        path: the file of one system; ``.gz`` is unpacked.
        layout: ``plain`` (a line a sentence), ``records`` (JSON lines), ``log`` (the output of fairseq-generate or
            fairseq-interactive), or ``auto``, which looks at the file.
        expected: how many sentences the test set has, if known.

    Raises:
        UserError: the file is missing or malformed, sentences are missing, or there are more or fewer than expected.
    """
    return in_order(translations_by_id(path, layout), path, expected)


def translations_by_id(path: PathLike, layout: str = "auto") -> dict[int, str]:
    """The translations under their ids; lines of plain text are counted from 0. See :func:`read_translations`."""
    lines = list(iter_lines(path))
    layout = guess_layout(lines) if layout == "auto" else layout
    if layout == "log":
        return translations_in_log(lines, path)
    return translations_in_records(lines, path) if layout == "records" else dict(enumerate(lines))


def guess_layout(lines: Sequence[str]) -> str:
    """``records`` if the first line is a JSON object, ``log`` if one is an H- or D- line of fairseq, else ``plain``."""
    if lines and is_json(lines[0]):
        return "records"
    return "log" if any(_DETOKENISED.match(line) or _HYPOTHESIS.match(line) for line in lines) else "plain"


def is_json(line: str) -> bool:
    """Whether a line is a JSON object, whatever its fields, or a list of texts or more, or where one begins that is
    spread over lines or cut off: no text looks like that."""
    if line.lstrip().startswith('{"') or line.strip() in ("{", "["):
        return True
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    parts = found if isinstance(found, list) else []
    return isinstance(found, dict) or any(isinstance(part, str | dict | list) for part in parts)


def read_segments(path: PathLike, flag: str) -> list[str]:
    """References or sources: plain text, one segment a line.

    Raises:
        UserError: the file is missing, or holds JSON.
    """
    lines = list(iter_lines(path))
    if lines and is_json(lines[0]):
        raise UserError(f"{flag} {path} holds JSON, but plain text is needed: give a file with one segment a line")
    return lines


def translations_in_log(lines: Iterable[str], path: PathLike) -> dict[int, str]:
    """id -> the best hypothesis, from the D- lines of fairseq; of an n-best list the first line is the best.

    Raises:
        UserError: there is no D- line, or an id comes back later (the log holds several runs).
    """
    texts: dict[int, str] = {}
    previous = None
    for line in lines:
        match = _DETOKENISED.match(line)
        if match is None:
            continue
        number = int(match[1])
        if number in texts and number != previous:  # the hypotheses of an n-best list follow each other directly
            raise UserError(f"{path} has D-{number} in two places: give the log of one run, not of several")
        texts.setdefault(number, match[3])
        previous = number
    if not texts:
        raise UserError(f"{path} has no D- lines: run fairseq-generate without --quiet, or give a plain text file")
    return texts


def translations_in_records(lines: Sequence[str], path: PathLike) -> dict[int, str]:
    """id -> translation, from JSON lines with the field ``translation``; without numbers in ``id``, lines are counted.

    Raises:
        UserError: a line is not such a record, or an id comes twice, or some have ids that others have not.
    """
    rows = [_record(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]
    ids: list[Any] = ids_of(rows, str(path))
    if not all(type(key) is int for key in ids):
        ids = list(range(len(rows)))
    repeated = [key for key, count in Counter(ids).items() if count > 1]
    if repeated:
        raise UserError(f"{path} has the id {repeated[0]} twice: give the records of one run, not of several")
    return {key: row["translation"] for key, row in zip(ids, rows, strict=True)}


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        row = parse_versioned(line)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error
    if not isinstance(row.get("translation"), str):
        raise UserError(
            f"{where}, has no translation, only {shown_json(sorted(row))}: run dcmbr select on pools; rename the "
            "field that holds the text; or give --hypothesis-format plain if the line itself is the text"
        )
    return row


def in_order(texts: dict[int, str], path: PathLike, expected: int | None) -> list[str]:
    """The texts of the ids 0, 1, ... in order; nothing may be missing.

    Raises:
        UserError: names the first ids that are missing, or the two lengths.
    """
    found = max(texts, default=-1) + 1
    count = found if expected is None else expected
    if count != found and len(texts) == found:  # no gap: another test set, or cut off
        raise UserError(
            f"{path} has {found} translations but the references have {count} lines: "
            "give files that belong to the same test set"
        )
    others = sorted(number for number in texts if not 0 <= number < count)
    lacking = count - (len(texts) - len(others))
    if lacking:
        first = itertools.islice((number for number in range(count) if number not in texts), 5)
        some = ", ".join(map(str, first)) + (", ..." if lacking > 5 else "")
        raise UserError(
            f"{path} lacks {lacking} of {count} sentences (ids {some}): decode them, or merge all shards first"
        )
    if others:
        raise UserError(
            f"{path} has the id {others[0]}, but the test set's are 0 to {count - 1}: "
            "give files that belong to the same test set"
        )
    return [texts[number] for number in sorted(texts)]


def system_names(names: str | None, paths: Sequence[PathLike]) -> list[str]:
    """The names of ``--names A,B``, or the files' names without their endings, made distinct.

    Raises:
        UserError: not one distinct name for each file; or no names, and a file is given twice.
    """
    if names is not None:
        given = [name.strip() for name in names.split(",")]
        if len(given) != len(paths) or len(set(given)) != len(given):
            raise UserError(f"--names {names} must give {len(paths)} distinct names, one for each hypothesis file")
        return given
    stems = [Path(path).name.removesuffix(".gz").rsplit(".", 1)[0] for path in paths]
    found = stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
    repeated = [name for name, count in Counter(found).items() if count > 1]
    if repeated:
        raise UserError(f"{repeated[0]} is given twice: leave one out, or tell them apart with --names A,B")
    return found
