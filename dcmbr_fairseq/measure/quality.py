"""How good single texts are: any utility of them against one reference each, on the scale that papers print."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dcmbr_fairseq.evaluation.metrics import IN_PER_CENT, LABELS
from dcmbr_fairseq.utilities import Comparison, build_utility


class Judged(NamedTuple):
    """The texts of one sentence that are to be judged, repeated ones included, and its reference."""

    texts: Sequence[str]
    reference: str
    source: str | None = None


class Quality:
    """A utility as a measure of single texts.

    Args:
        name: of the utility, or ``module:Class``.
        arguments: its arguments.

    Raises:
        UserError: it is unknown, or something that it needs is missing.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any]) -> None:
        self.label = LABELS.get(name, name.rpartition(":")[2])
        self._utility = build_utility(name, arguments)
        self._scale = 100.0 if name in IN_PER_CENT else 1.0

    def scores(self, batch: Sequence[Judged]) -> list[np.ndarray]:
        """For each sentence the score of each of its texts, ``(N,)`` float64."""
        distinct = [list(dict.fromkeys(judged.texts)) for judged in batch]
        matrices = self._utility.pairwise_batch(
            [Comparison(texts, [j.reference], j.source) for texts, j in zip(distinct, batch, strict=True)]
        )
        found = []
        for judged, texts, matrix in zip(batch, distinct, matrices, strict=True):
            score = dict(zip(texts, self._scale * matrix[:, 0], strict=True))
            found.append(np.array([score[text] for text in judged.texts]))
        return found

    def signature(self) -> str:
        """The utility's signature, and the scale."""
        return self._utility.signature() + ("|x100" if self._scale == 100 else "")

    def close(self) -> None:
        """Release what the utility holds."""
        self._utility.close()


def build_qualities(names: Sequence[str], arguments: Mapping[str, Mapping[str, Any]]) -> list[Quality]:
    """The measures called ``names``; ``arguments`` are filed under their names.

    Raises:
        UserError: one is unknown, or something that it needs is missing.
    """
    return [Quality(name, arguments.get(name, {})) for name in names]
