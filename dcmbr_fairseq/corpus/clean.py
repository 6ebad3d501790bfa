"""Filtering and normalising whole corpora: files in, files out, through filters.py, duplicates.py and normalize.py.

aligned files -> chunks of raw lines -> judged or rewritten in parallel -> duplicates, in one process -> outputs
"""

import functools
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dcmbr_fairseq.corpus.duplicates import SeenFingerprints, fingerprint
from dcmbr_fairseq.corpus.filters import RULES, Limits, first_offence, pair_of
from dcmbr_fairseq.corpus.normalize import Normalization, normalize_line
from dcmbr_fairseq.corpus.streams import Chunk, aligned_chunks, aligned_length, map_in_order
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.writing import atomic_writer, atomic_writers

#: why a pair may be dropped, in the order in which the rules are asked; the first and the last see more than its text
UTF8, DUPLICATE = "utf8", "duplicate"
REASONS = (UTF8, *RULES, DUPLICATE)

Reasons = list[str | None]  # of each pair of a chunk: what drops it, None if it may stay


@dataclass(frozen=True)
class FilterSettings:
    """What a filter asks.

    Attributes:
        limits: the limits of the rules.
        skip: names of ``REASONS`` that are not asked; ``utf8`` always is.
        refuse_invalid_utf8: stop at bytes that are not UTF-8 instead of dropping the pair.
    """

    limits: Limits = Limits()
    skip: tuple[str, ...] = ()
    refuse_invalid_utf8: bool = False

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the rules that are asked, in order: ``score`` only where it has a limit."""
        idle = self.skip if self.limits.min_score is not None else (*self.skip, "score")
        return tuple(reason for reason in REASONS if reason not in idle)


@dataclass
class FilterReport:
    """What a filter has done: ``pairs`` read, of which ``dropped[rule]`` fell to each rule that was asked."""

    pairs: int
    dropped: dict[str, int] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        """Pairs written."""
        return self.pairs - sum(self.dropped.values())


@dataclass
class NormalizeReport:
    """What a normalisation has done: ``lines`` read and written, ``changed`` among them, ``blanked`` for bad bytes."""

    lines: int
    changed: int = 0
    blanked: int = 0


def filter_files(
    sources: Sequence[PathLike],
    outputs: Sequence[PathLike],
    settings: FilterSettings,
    scores: PathLike | None = None,
    processes: int = 1,
) -> FilterReport:
    """Copy those pairs of two aligned files that no rule drops, in their order, without white space at their ends.

    Both outputs appear, complete, or neither. Memory does not grow with the corpus but for 8 bytes (24 at times) per
    pair kept, by which duplicates are recognised.

    Args:
        sources: the source and the target file, plain or ``.gz``.
        outputs: where the pairs that stay are written, likewise.
        scores: a third aligned file, whose lines end with the alignment score; needs ``limits.min_score``.
    Raises:
        UserError: files missing, damaged, not aligned, holding bytes or scores that are none, or nothing is left.
    """
    paths = [*sources, *([] if scores is None else [scores])]
    report = FilterReport(aligned_length(paths), {reason: 0 for reason in settings.asked})
    seen = SeenFingerprints()
    judged = map_in_order(functools.partial(judge_chunk, settings), aligned_chunks(paths), processes)
    progress = tqdm(total=report.pairs, unit=" pairs", desc="filter")
    with closing(judged), atomic_writers(*outputs) as outs, progress:
        for chunk, judgement in judged:
            if settings.refuse_invalid_utf8 and UTF8 in judgement.reasons:
                raise UserError(where_not_utf8(chunk, paths))
            reasons = judgement.reasons
            if DUPLICATE in settings.asked:
                reasons = with_duplicates(judgement, seen)
            for out, column in zip(outs, chunk.columns, strict=False):  # a column of scores has no output
                out.write(kept_text(column, reasons))
            for reason, count in Counter(filter(None, reasons)).items():
                report.dropped[reason] += count
            progress.update(len(reasons))
        if not report.kept:
            raise UserError(nothing_left(sources, report))
    return report


class Judgement(NamedTuple):
    """What the rules say about a chunk: a reason for each pair, and (k,) fingerprints of the k pairs without one."""

    reasons: Reasons
    fingerprints: NDArray[np.uint64]


def judge_chunk(settings: FilterSettings, chunk: Chunk) -> Judgement:
    """Ask every rule that needs no more than the pair itself."""
    sources, targets = ([line.strip() for line in column] for column in chunk.columns[:2])
    scores = parsed_scores(chunk) if len(chunk.columns) > 2 else [None] * len(sources)
    rules = {name: rule for name, rule in RULES.items() if name in settings.asked}

    def offence(source: bytes, target: bytes, score: float | None) -> str | None:
        try:
            pair = pair_of(source.decode("utf-8"), target.decode("utf-8"), score)
        except UnicodeDecodeError:
            return UTF8
        return first_offence(pair, settings.limits, rules)

    reasons = [offence(*pair) for pair in zip(sources, targets, scores, strict=True)]
    kept = [fingerprint(*pair) for *pair, reason in zip(sources, targets, reasons, strict=True) if reason is None]
    return Judgement(reasons, np.frombuffer(b"".join(kept), dtype=np.uint64))


def parsed_scores(chunk: Chunk) -> list[float | None]:
    """The number at the end of each line of the third column, as ``fast_align -s`` writes it. Raises UserError."""
    scores: list[float | None] = []
    for number, line in enumerate(chunk.columns[2], chunk.first):
        try:
            scores.append(float(line.split()[-1]))
        except (ValueError, IndexError):
            text = line.decode("utf-8", "replace")[:40]
            raise UserError(f"line {number} of --scores must end with a number, got {text!r}: repair it") from None
    return scores


def with_duplicates(judgement: Judgement, seen: SeenFingerprints) -> Reasons:
    """The reasons, with ``duplicate`` for the pairs that were ``seen`` before; adds the others to it."""
    first = iter(seen.first_seen(judgement.fingerprints).tolist())
    return [reason or (None if next(first) else DUPLICATE) for reason in judgement.reasons]


def kept_text(column: list[bytes], reasons: Reasons) -> str:
    """The lines that no reason drops, as text."""
    kept = (line.strip() + b"\n" for line, reason in zip(column, reasons, strict=True) if reason is None)
    return b"".join(kept).decode("utf-8")


def where_not_utf8(chunk: Chunk, paths: Sequence[PathLike]) -> str:
    """A sentence that names the first line of the chunk that is not UTF-8."""
    for number, lines in enumerate(zip(*chunk.columns, strict=True), chunk.first):
        for path, line in zip(paths, lines, strict=True):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                wrong = f"{path}, line {number}, is not UTF-8 (byte {error.start + 1}: {error.reason})"
                return f"{wrong}: convert the file with iconv, or leave --invalid-utf8 at its default"
    raise AssertionError("every line is UTF-8")


def nothing_left(sources: Sequence[PathLike], report: FilterReport) -> str:
    """A sentence that says what has become of all pairs."""
    if not report.pairs:
        return f"{sources[0]} and {sources[1]} are empty: nothing can be filtered"
    drops = ", ".join(f"{reason} {count}" for reason, count in report.dropped.items() if count)
    return f"no pair of {sources[0]} and {sources[1]} is left after filtering ({drops}): relax or --skip these rules"


def normalize_file(
    source: PathLike,
    output: PathLike,
    settings: Normalization,
    refuse_invalid_utf8: bool = False,
    processes: int = 1,
) -> NormalizeReport:
    """Normalise each line of a file, plain or ``.gz``; line i of the output is line i of the source.

    A line that is not UTF-8 becomes an empty one, so that the file stays aligned with others and the filters drop the
    pair; or it is refused.

    Raises:
        UserError: the file is missing, damaged, or refused; nothing is left.
    """
    report = NormalizeReport(aligned_length([source]))
    chunks = map_in_order(functools.partial(normalize_chunk, settings), aligned_chunks([source]), processes)
    progress = tqdm(total=report.lines, unit=" lines", desc="normalize")
    with closing(chunks), atomic_writer(output) as out, progress:
        for chunk, lines in chunks:
            blanked = lines.count(None)
            if blanked and refuse_invalid_utf8:
                raise UserError(where_not_utf8(chunk, [source]))
            texts = [line or "" for line in lines]
            out.writelines(f"{text}\n" for text in texts)
            report.blanked += blanked
            report.changed += sum(text.encode() != raw for text, raw in zip(texts, chunk.columns[0], strict=True))
            progress.update(len(lines))
    return report


def normalize_chunk(settings: Normalization, chunk: Chunk) -> list[str | None]:
    """The normalised lines; None where the bytes are not UTF-8."""

    def normalized(line: bytes) -> str | None:
        try:
            return normalize_line(line.decode("utf-8"), settings)
        except UnicodeDecodeError:
            return None

    return [normalized(line) for line in chunk.columns[0]]
