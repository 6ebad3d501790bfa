"""What the report shows: pools, utilities and the choices of several systems, one :class:`View` a sentence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from dcmbr_fairseq.batches import in_batches
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.translations import translations_by_id
from dcmbr_fairseq.files import PathLike, read_lines
from dcmbr_fairseq.pools.rows import Record, read_records
from dcmbr_fairseq.rules.expected_utility import expected_utilities, rank
from dcmbr_fairseq.utilities import Comparison, Utility

#: Utilities that are computed again for a report unless another is asked for; the others are dear.
CHEAP_UTILITIES = ("bleu", "chrf", "chrf++")
_DECODING_NAMES = {"mbr": "MBR", "dcmbr": "DC-MBR", "sample": "sample", "beam": "beam"}


@dataclass(frozen=True)
class View:
    """What the page shows of one sentence.

    Attributes:
        record: the sentence as recorded.
        utilities: ``(H, R)`` of distinct hypotheses and references.
        expected: ``(H,)`` expected utilities that follow from them.
        texts: the translation of each system; the first is the choice recorded with the pools.
        text_expected: ``(S,)`` the expected utility of these.
        reference: the human reference, if given.
        quality: ``(H,)`` utility of each hypothesis against it.
        text_quality: ``(S,)`` the same of the systems' translations.
    """

    record: Record
    utilities: np.ndarray
    expected: np.ndarray
    texts: list[str]
    text_expected: np.ndarray
    reference: str | None = None
    quality: np.ndarray | None = None
    text_quality: np.ndarray | None = None

    @property
    def recorded(self) -> np.ndarray | None:
        """``(H,)`` the expected utilities by which the choice was made, if the record has them."""
        values = self.record.fields.get("expected_utilities")
        fits = isinstance(values, list) and len(values) == len(self.record.pools.hypotheses.texts)
        return np.array(values, dtype=np.float64) if fits else None


@dataclass(frozen=True)
class Setting:
    """What all sentences of a report share.

    Attributes:
        systems: names; the first is the decision recorded with the pools.
        signature: of the utility that fills the heat maps.
        settings: the decoding settings recorded with the first row.
        decided_by: signature of the utility that decided, if recorded.
    """

    systems: list[str]
    signature: str
    settings: Mapping[str, Any]
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
    settings = rows[0].fields.get("settings") or {}
    if settings.get("utility") in CHEAP_UTILITIES:
        return {"name": settings["utility"], "arguments": settings.get("utility_args") or {}}
    return {"name": "chrf", "arguments": {}}


def describe(rows: Sequence[Record], utility: Utility, compared: Sequence[str], name: str | None) -> Setting:
    """What the rows have in common, and how the systems are called."""
    row = rows[0].fields
    settings = row.get("settings") if isinstance(row.get("settings"), dict) else {}
    first = name or _DECODING_NAMES.get(str((settings or {}).get("decoding")), "choice")
    names = [first, *compared]
    if len(set(names)) < len(names):
        raise UserError(f"--compare and --name must give distinct names, got {', '.join(names)}")
    return Setting(names, utility.signature(), settings or {}, row.get("signature"))


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
    return None if path is None else align(dict(enumerate(read_lines(path))), rows, f"--references {path}")


def views(
    rows: Sequence[Record],
    utility: Utility,
    compared: Mapping[str, Sequence[str]],
    references: Sequence[str] | None = None,
    batch_size: int = 16,
) -> Iterator[View]:
    """Yield the view of each row, in order.

    Args:
        rows: the pools.
        utility: fills the heat maps.
        compared: name -> the translation of each row.
        references: the human reference of each row.
        batch_size: sentences given to the utility at once.
    """
    others = [list(texts) for texts in zip(*compared.values(), strict=True)] or [[] for _ in rows]
    humans: Sequence[str | None] = references if references is not None else [None] * len(rows)
    cases = [_Case(*case) for case in zip(rows, others, humans, strict=True)]
    with tqdm(total=len(cases), desc=f"utilities ({utility.signature().split('|')[0]})", unit="sentence") as progress:
        for batch in in_batches(cases, batch_size):
            for case, matrix in zip(batch, utility.pairwise_batch([c.comparison() for c in batch]), strict=True):
                yield case.view(matrix)
                progress.update()


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

    def view(self, matrix: np.ndarray) -> View:
        """Take the matrix apart again."""
        candidates, texts = self.record.pools.candidates(), self._rows()
        size, width = len(candidates.hypotheses), len(candidates.references)
        expected = expected_utilities(matrix[:, :width], candidates.weights)
        recorded = self.record.fields.get("translation")
        if not isinstance(recorded, str):  # pools without a decision: decide by this utility
            recorded = texts[int(rank(expected[:size], candidates.log_prob)[0])]
        chosen = [recorded, *self.others]
        index = [texts.index(text) for text in chosen]
        quality = None if self.human is None else matrix[:, self._columns().index(self.human)]
        return View(
            self.record, matrix[:size, :width], expected[:size], chosen, expected[index], self.human,
            None if quality is None else quality[:size], None if quality is None else quality[index],
        )  # fmt: skip


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
