"""The records of several processes as one file, in the order of the sentences: nothing missing, twice, or foreign.

Each file is sorted by id, as all files of records are, so that they are joined row by row in little memory.
"""

import heapq
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.json_lines import shown_json
from dcmbr_fairseq.files.reading import iter_lines
from dcmbr_fairseq.pools.identity import PARTS, UNKNOWN, Identity, identity_in
from dcmbr_fairseq.pools.rows import parse_versioned

#: What all rows of one decode say alike, beside what they were made from.
SAME = ("seed", "settings", "signature")

#: How the files of one decode are called: which process, of how many.
SHARD = re.compile(r"(?P<stem>.*)\.(?P<rank>\d+)-of-(?P<count>\d+)(?P<ending>\.jsonl(\.gz)?)")

_SHOWN = 5  # ranges of sentences in a message


class ShardRow(NamedTuple):
    """A row of one of the files, as it stands there, and what it says."""

    id: int
    shard: str
    line: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class Merge:
    """Files that are to be one.

    Attributes:
        paths: the files, in any order.
        sentences: how many sentences there must be; None where the records say it (fairseq-generate's do).
    """

    paths: Sequence[str]
    sentences: int | None = None

    def rows(self) -> Iterator[ShardRow]:
        """Yield all rows in the order of their ids.

        Raises:
            UserError: a row is missing, comes twice, belongs to another decode, or is no row; names file, sentence and
                remedy. What is missing at the end is only known there: publish nothing before.
        """
        self._refuse_the_same_file_twice()
        first: ShardRow | None = None
        expected, missing = 0, []
        for row in heapq.merge(*map(read_shard, self.paths), key=lambda row: row.id):
            if first is None:
                first = row
            if row.id < expected:
                raise UserError(
                    f"sentence {row.id} comes twice, the second time in {row.shard}: give each file of one decode once"
                )
            _refuse_foreign(first, row)
            if row.id > expected:
                missing.append((expected, row.id - 1))
            expected = row.id + 1
            yield row
        wanted = self._wanted(first)
        if wanted is not None and expected < wanted:
            missing.append((expected, wanted - 1))
        if wanted is not None and expected > wanted:
            raise UserError(f"there is sentence {expected - 1} of {wanted} sentences: give --sentences as they are")
        if missing:
            raise UserError(f"{_ranges(missing)} missing: {self._remedy()}")

    def _wanted(self, first: ShardRow | None) -> int | None:
        if self.sentences is not None:
            return self.sentences
        if first is None:
            raise UserError(f"{', '.join(self.paths)} hold no rows: give the files of a decode, or --sentences 0")
        sources = (identity_in(first.fields) or Identity({})).parts.get("sources", UNKNOWN)
        known = sources.shown.get("sentences")
        return known if isinstance(known, int) else None

    def _refuse_the_same_file_twice(self) -> None:
        places: dict[Path, str] = {}
        for path in self.paths:
            other = places.setdefault(Path(path).resolve(), path)
            if other is not path:
                raise UserError(f"{path} is given twice: give each file of one decode once")

    def _remedy(self) -> str:
        """What to do about missing sentences: name the file that is not given, or not finished."""
        for found in filter(None, map(SHARD.fullmatch, self.paths)):
            given = {Path(path).resolve() for path in self.paths}
            for rank in range(int(found["count"])):
                name = f"{found['stem']}.{rank}-of-{found['count']}{found['ending']}"
                if Path(name).resolve() not in given:
                    if Path(name).exists():
                        return f"give {name} too"
                    begun = f", which has begun it ({name}.partial)" if Path(f"{name}.partial").exists() else ""
                    return f"{name} is not there: run its process again{begun}"
        return "give all files of one decode, or run the processes again that did not come to their end"


def read_shard(path: str) -> Iterator[ShardRow]:
    """Yield the rows of one file.

    Raises:
        UserError: it is no file of records, or is not sorted by id.
    """
    last = -1
    for number, line in enumerate(iter_lines(path), 1):
        try:
            row = parse_versioned(line)
            row_id = row.get("id")
            if type(row_id) is not int or row_id < 0:
                raise UserError(f"field id must be a whole number from 0, got {shown_json(row_id)}")
            if row_id <= last:
                again = "comes twice" if row_id == last else f"comes after {last}"
                raise UserError(f"the id {row_id} {again}: give files as they were written, sorted by id")
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error}") from error
        last = row_id
        yield ShardRow(row_id, path, line, row)


def _refuse_foreign(first: ShardRow, row: ShardRow) -> None:
    """Refuse a row that was not made as the first one was."""
    if row.fields.get("identity") != first.fields.get("identity"):
        one, other = (identity_in(each.fields) for each in (first, row))
        part = None if one is None or other is None else one.difference(other)
        if one is None or other is None or part is not None:
            what = "something that it does not name" if part is None else f"another {PARTS[part]}"
            raise UserError(
                f"{row.shard}, sentence {row.id}, was made from {what} than {first.shard}: "
                "merge the files of one decode"
            )
    for name in SAME:
        here, there = row.fields.get(name), first.fields.get(name)
        if here != there:
            raise UserError(
                f"{row.shard}, sentence {row.id}, was made with another {name} ({_difference(here, there)}) than "
                f"{first.shard}: merge the files of one decode"
            )


def _difference(here: Any, there: Any) -> str:
    """The first setting that differs, or both values."""
    if isinstance(here, dict) and isinstance(there, dict):
        for name in sorted({*here, *there}):
            if here.get(name) != there.get(name):
                return f"{name} {shown_json(here.get(name))}, not {shown_json(there.get(name))}"
    return f"{shown_json(here)}, not {shown_json(there)}"


def _ranges(missing: Sequence[tuple[int, int]]) -> str:
    """Sentences as a user reads them: ``sentences 3-5, 9``."""
    words = [str(first) if first == last else f"{first}-{last}" for first, last in missing]
    more = f" and {len(words) - _SHOWN} more ranges" if len(words) > _SHOWN else ""
    count = sum(last - first + 1 for first, last in missing)
    noun, verb = ("sentence", "is") if count == 1 else ("sentences", "are")
    return f"{noun} {', '.join(words[:_SHOWN])}{more} ({count} in all) {verb}"
