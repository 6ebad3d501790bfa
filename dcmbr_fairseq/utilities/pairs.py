"""The distinct (hypothesis, reference) pairs of a batch of sentences: what a costly utility has to score, each once."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dcmbr_fairseq.utilities.base import Comparison

Pair = tuple[str, str]


class DistinctPairs(NamedTuple):
    """The pairs of a batch and where each is needed.

    Attributes:
        pairs: P distinct (hypothesis, reference) pairs, in the order of their first use.
        places: for each sentence ``(H, R)`` indices into ``pairs``.
    """

    pairs: list[Pair]
    places: list[np.ndarray]

    def matrices(self, scores: np.ndarray) -> list[np.ndarray]:
        """Scores ``(P,)`` of the distinct pairs as one float64 matrix ``(H, R)`` for each sentence."""
        return [np.asarray(scores, dtype=np.float64)[places] for places in self.places]


def distinct_pairs(batch: Sequence[Comparison], prepare: Callable[[str], str] = str) -> DistinctPairs:
    """Collect the pairs of a batch after ``prepare`` was applied to each distinct text once."""
    texts = {text for comparison in batch for text in (*comparison.hypotheses, *comparison.references)}
    prepared = {text: prepare(text) for text in texts}
    index: dict[Pair, int] = {}
    places = []
    for comparison in batch:
        hypotheses = [prepared[text] for text in comparison.hypotheses]
        references = [prepared[text] for text in comparison.references]
        flat = [index.setdefault((h, r), len(index)) for h in hypotheses for r in references]
        places.append(np.array(flat, dtype=np.intp).reshape(len(hypotheses), len(references)))
    return DistinctPairs(list(index), places)
