"""From records to training text: the translations that MBR has chosen, as targets for the model itself to learn from.

Fine-tuning on one's own MBR translations (Finkelstein and Freitag 2023) gives their quality at the cost of a beam. What
is a bad teacher is left out: the rules of ``dcmbr corpus filter`` (empty, copies, out of proportion, ...), and, where
asked, the sentences whose best hypothesis has a low expected utility, for there the pool does not agree.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from dcmbr_fairseq.corpus.filters import RULES, Limits, first_offence, pair_of
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.reading import read_lines
from dcmbr_fairseq.files.writing import atomic_writers
from dcmbr_fairseq.pools.rows import Record, read_records

#: Why a pair is left out beside the rules of the filter, which are asked first.
LOW_UTILITY, REPEATED = "low-utility", "repeated"


@dataclass(frozen=True)
class Selection:
    """Which decisions become training text.

    Attributes:
        limits: limits of the filter's rules.
        skip: names of rules that are not asked: the filter's, or :data:`REPEATED`.
        drop_lowest: share of the sentences, in [0, 1), whose expected utility is too low: the lowest ones.
    """

    limits: Limits = Limits()
    skip: tuple[str, ...] = ()
    drop_lowest: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.drop_lowest < 1:
            raise UserError(f"--drop-lowest must be in [0, 1), got {self.drop_lowest:g}: it is a share of sentences")


@dataclass
class Distilled:
    """What became of the decisions: how many there were, and how many were dropped by each rule.

    Attributes:
        decisions: rows read.
        dropped: name of the rule -> decisions.
        threshold: the lowest expected utility that stays; None where none is asked for.
    """

    decisions: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    threshold: float | None = None

    @property
    def kept(self) -> int:
        """Pairs written."""
        return self.decisions - self.dropped.total()


def distill(
    records: Sequence[PathLike],
    outputs: Sequence[PathLike],
    selection: Selection,
    sources: Sequence[PathLike] = (),
) -> Distilled:
    """Write the sources and their chosen translations, a line each, in the records' order.

    Args:
        records: files of ``--pools-out``, shards of one run or several runs.
        outputs: the source's and the target's file, plain or ``.gz``; both appear, complete, or neither.
        selection: what is left out.
        sources: files of the sources' own text, a line an id, one for all files of records or one for each. Without
            them the records' text is taken, which has been through segmentation and back: what the model's dictionary
            does not know is missing there.

    Raises:
        UserError: a row holds no decision, no source, or a line break; an id is no line of the sources; or nothing is
            left.
    """
    report = Distilled(threshold=_threshold(records, selection.drop_lowest))
    rules = {name: rule for name, rule in RULES.items() if name not in selection.skip}
    seen: set[tuple[str, str]] = set()
    with atomic_writers(*outputs) as outs:
        for record, source in _with_sources(records, sources):
            pair = _pair_of(record, source)
            reason = first_offence(pair_of(*pair), selection.limits, rules)
            if reason is None and report.threshold is not None and _expected(record) < report.threshold:
                reason = LOW_UTILITY
            if reason is None and pair in seen and REPEATED not in selection.skip:
                reason = REPEATED
            report.decisions += 1
            if reason is not None:
                report.dropped[reason] += 1
                continue
            seen.add(pair)
            for out, text in zip(outs, pair, strict=True):
                out.write(f"{text}\n")
        if not report.decisions:
            raise UserError(f"{', '.join(map(str, records))} has no records: give files of --pools-out")
        if not report.kept:
            drops = ", ".join(f"{reason} {count}" for reason, count in report.dropped.items())
            raise UserError(f"none of {report.decisions} decisions is left ({drops}): relax the rules")
    return report


def _decided(paths: Sequence[PathLike]) -> Iterator[Record]:
    """All records, in order.

    Raises:
        UserError: one has no choice or no source.
    """
    for path in paths:
        for number, record in enumerate(read_records(path), 1):
            for name in ("translation", "source"):
                if not isinstance(record.fields.get(name), str):
                    raise UserError(
                        f"{path}, line {number}: field {name} is missing: give records of --pools-out, which hold the "
                        "decision and the source's text"
                    )
            yield record


def _with_sources(paths: Sequence[PathLike], sources: Sequence[PathLike]) -> Iterator[tuple[Record, str]]:
    """All records with the text of their source: that of the sources' files, or their own.

    Raises:
        UserError: see :func:`_decided`; neither one file of sources nor one for each; an id that is no line of them.
    """
    if not sources:
        yield from ((record, record.fields["source"]) for record in _decided(paths))
        return
    if len(sources) not in (1, len(paths)):
        raise UserError(f"--sources: give one file for all records, or {len(paths)}, one for each; got {len(sources)}")
    for number, path in enumerate(paths):
        if number < len(sources):
            texts = read_lines(sources[number])
        for record in _decided([path]):
            if not isinstance(record.id, int) or not 0 <= record.id < len(texts):
                raise UserError(
                    f"{path} holds sentence {record.id}, which is no line of {sources[min(number, len(sources) - 1)]} "
                    f"({len(texts)} lines, counted from 0): give the text that was translated"
                )
            yield record, texts[record.id]


def _pair_of(record: Record, source: str) -> tuple[str, str]:
    """Source and translation.

    Raises:
        UserError: one holds a line break, which would shift all lines that follow.
    """
    translation = record.fields["translation"]
    if "\n" in source + translation:
        raise UserError(f"the record of sentence {record.id} holds a line break: leave it out of the sources")
    return source, translation


def _expected(record: Record) -> float:
    """The expected utility of the choice.

    Raises:
        UserError: the record holds none, since nothing was compared.
    """
    values = record.fields.get("expected_utilities")
    if not isinstance(values, list):
        raise UserError(f"--drop-lowest: the record of sentence {record.id} holds no expected utilities: leave it out")
    return float(values[record.fields["choice"]])


def _threshold(paths: Sequence[PathLike], share: float) -> float | None:
    """The expected utility below which the lowest ``share`` of the sentences lies."""
    if not share:
        return None
    return float(np.quantile([_expected(record) for record in _decided(paths)], share))
