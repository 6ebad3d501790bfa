"""What the report shows: pools, utilities and the choices of several systems, one :class:`View` a sentence."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from dcmbr_fairseq.batches import in_batches
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.translations import read_segments, translations_by_id
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.pools.identity import identity_in
from dcmbr_fairseq.pools.rows import Record, read_records
from dcmbr_fairseq.rules.expected_utility import expected_utilities, rank
from dcmbr_fairseq.utilities import Comparison, Utility

#: Utilities that are computed again for a report unless another is asked for; the others are dear.
CHEAP_UTILITIES = ("bleu", "chrf", "chrf++")
#: What the head of the page says first, where records say it, as fields of their own or among the settings.
FIRST_FACTS = ("model", "path", "data", "subset", "direction", "seed")
_DECODING_NAMES = {"mbr": "MBR", "dcmbr": "DC-MBR", "sample": "sample", "beam": "beam"}


@dataclass(frozen=True)
class Measured:
    """One sentence by one utility.

    Attributes:
        utilities: ``(H, R)`` of distinct hypotheses and references.
        expected: ``(H,)`` expected utilities that follow from them.
        text_expected: ``(S,)`` the expected utility of each system's translation.
        quality: ``(H,)`` utility of each hypothesis against the human reference, if given.
        text_quality: ``(S,)`` the same of the systems' translations.
    """

    utilities: np.ndarray
    expected: np.ndarray
    text_expected: np.ndarray
    quality: np.ndarray | None = None
    text_quality: np.ndarray | None = None


@dataclass(frozen=True)
class View:
    """What the page shows of one sentence.

    Attributes:
        record: the sentence as recorded.
        texts: the translation of each system; the first is the choice recorded with the pools.
        measured: by each utility; the first fills the heat map.
        reference: the human reference, if given.
    """

    record: Record
    texts: list[str]
    measured: list[Measured]
    reference: str | None = None

    @property
    def recorded(self) -> np.ndarray | None:
        """``(H,)`` the expected utilities by which the choice was made, if the record has them, all finite."""
        values = self.record.fields.get("expected_utilities")
        if not isinstance(values, list) or len(values) != len(self.record.pools.hypotheses.texts):
            return None
        finite = all(type(value) in (int, float) and math.isfinite(value) for value in values)
        return np.array(values, dtype=np.float64) if finite else None

    @property
    def margin(self) -> float | None:
        """By how much the best hypothesis beats the next, by what decided; None where there was but one to choose."""
        values = np.sort(self.measured[0].expected if self.recorded is None else self.recorded)[::-1]
        return float(values[0] - values[1]) if len(values) > 1 else None


@dataclass(frozen=True)
class Setting:
    """What all sentences of a report share.

    Attributes:
        systems: names; the first is the decision recorded with the pools.
        utilities: what utilities are called, and their signatures; the first fills the heat maps.
        facts: what the records say of where they come from: model, data, direction, seed, decoding settings.
        decided_by: signature of the utility that decided, if recorded.
    """

    systems: list[str]
    utilities: list[tuple[str, str]]
    facts: Mapping[str, str]
    decided_by: str | None


def read_rows(path: PathLike) -> list[Record]:
    """All rows of a file of pools.

    Raises:
        UserError: it is malformed or has no rows.
    """
    rows = list(tqdm(read_records(path), desc="reading pools", unit="row"))
    if not rows:
        raise UserError(f"{path} has no rows: give a file written by --pools-out")
    return rows


def recorded_utility(rows: Sequence[Record]) -> dict[str, Any]:
    """The name and arguments of the utility that decided, or chrF where it is not recorded or dear to compute again."""
    settings = _settings(rows[0])
    arguments = settings.get("utility_args") or {}
    if settings.get("utility") in CHEAP_UTILITIES and isinstance(arguments, dict):
        return {"name": settings["utility"], "arguments": arguments}
    return {"name": "chrf", "arguments": {}}


def describe(
    rows: Sequence[Record], utilities: Sequence[Utility], compared: Sequence[str], name: str | None
) -> Setting:
    """What the rows have in common, and how the systems are called.

    Raises:
        UserError: two systems have the same name.
    """
    row = rows[0].fields
    first = name or _DECODING_NAMES.get(str(_settings(rows[0]).get("decoding")), "choice")
    names = [first, *compared]
    if len(set(names)) < len(names):
        raise UserError(f"--compare and --name must give distinct names, got {', '.join(names)}")
    signatures = [(utility.label, utility.signature()) for utility in utilities]
    decided_by = row.get("signature")
    return Setting(names, signatures, facts_of(rows), decided_by if isinstance(decided_by, str) else None)


def facts_of(rows: Sequence[Record]) -> dict[str, str]:
    """What records say of their origin, model, data, direction and seed first: a name for each fact, and its values.

    Facts that differ from row to row (pools of several runs) show all their values.
    """
    facts: dict[str, dict[str, None]] = {}
    for row in rows:
        identity = identity_in(row.fields)
        told = {} if identity is None else identity.facts()
        own = {**dict.fromkeys(FIRST_FACTS), **told, **row.fields, **_flat(_settings(row))}
        for fact, value in own.items():
            known = fact in FIRST_FACTS or fact in _flat(_settings(row))
            if known and value not in (None, "", [], {}):
                facts.setdefault(fact, {})[value if isinstance(value, str) else json.dumps(value)] = None
    return {fact: ", ".join([*values][:4]) + (", ..." if len(values) > 4 else "") for fact, values in facts.items()}


def _settings(row: Record) -> dict[str, Any]:
    settings = row.fields.get("settings")
    return settings if isinstance(settings, dict) else {}


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings under names such as ``data.subset``."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        nested = isinstance(value, dict) and name not in ("utility_args", "selection_args")
        found.update(_flat(value, f"{prefix}{name}.") if nested else {f"{prefix}{name}": value})
    return found


def align(texts: Mapping[int, str], rows: Sequence[Record], what: str) -> list[str]:
    """The text of each row: by its id if all ids are numbers, else by its place in the file.

    Raises:
        UserError: some row has none.
    """
    numbered = all(isinstance(row.id, int) for row in rows)
    keys: list[Any] = [row.id for row in rows] if numbered else list(range(len(rows)))
    missing = [key for key in keys if key not in texts]
    if missing:
        raise UserError(
            f"{what} lacks {len(missing)} of {len(keys)} sentences (first: {missing[0]}): give the same set"
        )
    return [texts[key] for key in keys]


def read_compared(pairs: Sequence[str], rows: Sequence[Record]) -> dict[str, list[str]]:
    """The translations of ``--compare NAME=FILE``, aligned with the rows.

    Raises:
        UserError: not of this form, or sentences are missing.
    """
    found = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise UserError(f"--compare {pair} must be NAME=FILE, such as beam=beam.txt")
        found[name] = align(translations_by_id(path), rows, f"--compare {path}")
    return found


def read_references(path: PathLike | None, rows: Sequence[Record]) -> list[str] | None:
    """The human references aligned with the rows, or None."""
    if path is None:
        return None
    return align(dict(enumerate(read_segments(path, "--references"))), rows, f"--references {path}")


def views(
    rows: Sequence[Record],
    utilities: Sequence[Utility],
    compared: Mapping[str, Sequence[str]],
    references: Sequence[str] | None = None,
    batch_size: int = 16,
) -> Iterator[View]:
    """Yield the view of each row, in order.

    Args:
        rows: the pools.
        utilities: the first fills the heat maps, and decides where the rows have no decision.
        compared: name -> the translation of each row.
        references: the human reference of each row.
        batch_size: sentences given to a utility at once.

    Raises:
        UserError: a utility gives a number that is not finite.
    """
    others = [list(texts) for texts in zip(*compared.values(), strict=True)] or [[] for _ in rows]
    humans: Sequence[str | None] = references if references is not None else [None] * len(rows)
    cases = [_Case(*case) for case in zip(rows, others, humans, strict=True)]
    with tqdm(total=len(cases), desc=f"utilities ({', '.join(u.label for u in utilities)})", unit="sentence") as bar:
        for batch in in_batches(cases, batch_size):
            comparisons = [case.comparison() for case in batch]
            by_utility = [_finite(utility, comparisons) for utility in utilities]
            for case, *matrices in zip(batch, *by_utility, strict=True):
                yield case.view(matrices)
                bar.update()


def _finite(utility: Utility, comparisons: Sequence[Comparison]) -> list[np.ndarray]:
    matrices = utility.pairwise_batch(comparisons)
    for comparison, matrix in zip(comparisons, matrices, strict=True):
        if not np.isfinite(matrix).all():
            text = comparison.hypotheses[0]
            raise UserError(f"{utility.label} gives a number that is not finite for the pool of {text!r}: take another")
    return matrices


@dataclass(frozen=True)
class _Case:
    """One sentence on its way to the utility and back: everything that is to be compared, each text once."""

    record: Record
    others: list[str]
    human: str | None

    def comparison(self) -> Comparison:
        """All hypotheses and translations against all references."""
        return Comparison(self._rows(), self._columns(), self.record.pools.source)

    def _rows(self) -> list[str]:
        recorded = self.record.fields.get("translation")
        return _distinct(
            [*self.record.pools.hypotheses.texts, *([recorded] if isinstance(recorded, str) else []), *self.others]
        )

    def _columns(self) -> list[str]:
        return _distinct([*self.record.pools.references.texts, *([] if self.human is None else [self.human])])

    def view(self, matrices: Sequence[np.ndarray]) -> View:
        """Take the matrices apart again."""
        candidates, texts = self.record.pools.candidates(), self._rows()
        size, width = len(candidates.hypotheses), len(candidates.references)
        expected = [expected_utilities(matrix[:, :width], candidates.weights) for matrix in matrices]
        recorded = self.record.fields.get("translation")
        if not isinstance(recorded, str):  # pools without a decision: decide by the first utility
            recorded = texts[int(rank(expected[0][:size], candidates.log_prob)[0])]
        chosen = [recorded, *self.others]
        index = [texts.index(text) for text in chosen]
        measured = []
        for matrix, values in zip(matrices, expected, strict=True):
            quality = None if self.human is None else matrix[:, self._columns().index(self.human)]
            of_references = (None, None) if quality is None else (quality[:size], quality[index])
            measured.append(Measured(matrix[:size, :width], values[:size], values[index], *of_references))
        return View(self.record, chosen, measured, self.human)


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
