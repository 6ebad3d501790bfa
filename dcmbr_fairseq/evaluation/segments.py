"""A utility as a metric of single texts, each against the one reference of its segment, on the scale papers print."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dcmbr_fairseq.errors import UserError, suggestion
from dcmbr_fairseq.utilities import Comparison, build_utility


class Judged(NamedTuple):
    """The texts of one segment that are to be judged, repeated ones included, and its reference."""

    texts: Sequence[str]
    reference: str
    source: str | None = None


class SegmentMetric:
    """Scores single texts by a utility; on the scale 0..100 where papers print it so.

    Args:
        name: of the utility, or ``module:Class``.
        arguments: its arguments.

    Raises:
        UserError: it is unknown, or something that it needs is missing.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any]) -> None:
        self._utility = build_utility(name, arguments)
        self.label = self._utility.label
        self._scale = 100.0 if self._utility.in_per_cent else 1.0

    def scores(self, batch: Sequence[Judged]) -> list[np.ndarray]:
        """For each segment the score of each of its texts, ``(N,)`` float64.

        Raises:
            UserError: the utility needs the source, and a segment has none.
        """
        if self._utility.needs_source and any(judged.source is None for judged in batch):
            name = self._utility.signature().split("|")[0]
            raise UserError(f"--source is needed by {name}: give the file of source sentences")
        distinct = [list(dict.fromkeys(judged.texts)) for judged in batch]
        matrices = self._utility.pairwise_batch(
            [Comparison(texts, [j.reference], j.source) for texts, j in zip(distinct, batch, strict=True)]
        )
        found = []
        for judged, texts, matrix in zip(batch, distinct, matrices, strict=True):
            score = dict(zip(texts, self._scale * matrix[:, 0], strict=True))
            found.append(np.array([score[text] for text in judged.texts]))
        return found

    def segments(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None
    ) -> np.ndarray:
        """The score of the one hypothesis of each segment, ``(B,)`` float64.

        Raises:
            UserError: the utility needs the sources and there are none.
        """
        given = sources if sources is not None else [None] * len(hypotheses)
        batch = [Judged([h], r, s) for h, r, s in zip(hypotheses, references, given, strict=True)]
        return np.array([scores[0] for scores in self.scores(batch)], dtype=np.float64)

    def signature(self, note: str = "") -> str:
        """The utility's signature, a ``note`` on what was done with it (``|mean``), and the scale."""
        return self._utility.signature() + note + ("|x100" if self._scale == 100 else "")

    def close(self) -> None:
        """Release what the utility holds."""
        self._utility.close()


def refuse_unused(flag: str, arguments: Collection[str], takers: Sequence[str]) -> None:
    """Refuse arguments that are filed under a name which nobody looks for.

    Raises:
        UserError: names the ``flag``, the name, and the nearest of the ``takers``.
    """
    for name in arguments:
        if name not in takers:
            raise UserError(f"{flag} has arguments of {name}, which nothing here takes: {suggestion(name, takers)}")


def build_segment_metrics(names: Sequence[str], arguments: Mapping[str, Mapping[str, Any]]) -> list[SegmentMetric]:
    """The segment metrics called ``names``; ``arguments`` are filed under their names.

    Raises:
        UserError: one is unknown, something that it needs is missing, or arguments belong to none.
    """
    refuse_unused("--metric-args", arguments, names)
    return [SegmentMetric(name, arguments.get(name, {})) for name in names]
