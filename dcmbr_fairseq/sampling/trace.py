"""The trace of a decoding pass: which row each row came from, so that every finished sequence can be read back."""

from typing import NamedTuple

import numpy as np


class _Layer(NamedTuple):
    """The rows of one step: parent row in the step before, token, its log-prob."""

    parents: np.ndarray
    tokens: np.ndarray
    log_probs: np.ndarray


class Trace:
    """All rows of a decoding pass so far, and the sequences that have ended.

    Args:
        eos: end-of-sentence token.
    """

    def __init__(self, eos: int) -> None:
        self.eos = eos
        self._layers: list[_Layer] = []
        self._endings: list[tuple[np.ndarray, np.ndarray]] = []  # of each step: rows that ended, log-prob of the end
        self._count = 0

    @property
    def steps(self) -> int:
        """Number of steps so far."""
        return len(self._layers)

    def end(self, rows: np.ndarray, log_probs: np.ndarray) -> np.ndarray:
        """Some rows end in this step, before :meth:`grow`; gives the index of each finished sequence.

        Args:
            rows: ``(E,)`` which ones.
            log_probs: ``(E,)`` log-probability of the end.
        """
        self._endings.append((rows, log_probs))
        self._count += len(rows)
        return np.arange(self._count - len(rows), self._count)

    def grow(self, parents: np.ndarray, tokens: np.ndarray, log_probs: np.ndarray) -> None:
        """The ``(P,)`` rows of the next step: parent rows, tokens and their log-probabilities."""
        self._layers.append(_Layer(parents, tokens, log_probs))

    def sequences(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Tokens and log-probabilities of every finished sequence, by following parent rows back to the root."""
        steps = np.concatenate([np.full(len(rows), step) for step, (rows, _) in enumerate(self._endings)])
        row = np.concatenate([rows for rows, _ in self._endings])
        tokens = np.full((len(row), self.steps + 1), self.eos)
        scores = np.zeros(tokens.shape)
        scores[np.arange(len(row)), steps] = np.concatenate([end for _, end in self._endings])
        for step in range(self.steps - 1, -1, -1):
            inside = np.flatnonzero(steps > step)
            layer = self._layers[step]
            tokens[inside, step] = layer.tokens[row[inside]]
            scores[inside, step] = layer.log_probs[row[inside]]
            row[inside] = layer.parents[row[inside]]
        return _cut(tokens, steps), _cut(scores, steps)


def _cut(table: np.ndarray, steps: np.ndarray) -> list[np.ndarray]:
    """Each line of a table up to and including the step at which it ended."""
    return [line[: step + 1] for line, step in zip(table, steps, strict=True)]
