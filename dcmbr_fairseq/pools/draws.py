"""Pools of draws: how one is to be sampled, what the sampler gives (tokens), and what is compared (texts)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PoolSpec:
    """How a pool is to be sampled.

    Attributes:
        size: number of draws N (Sec. 3.2).
        temperature: softmax temperature T (Eq. 11); 1 samples the model's own distribution.
        stream: which keyed stream of uniforms it uses: 0 for hypotheses (and a shared pool), 1 for references.
    """

    size: int
    temperature: float
    stream: int


@dataclass(frozen=True)
class TokenPool:
    """A pool of one source sentence as the sampler returns it; S distinct token sequences, D draws.

    Attributes:
        tokens: S distinct sequences of target token ids, EOS included, in the order of their first draw.
        positional_log_probs: S arrays of natural log-probabilities at temperature 1, one for each token.
        sampling_log_prob: ``(S,)`` natural log-probability under the distribution that was sampled from.
        draws: ``(D,)`` index into ``tokens`` of every draw, in draw order: the first k are a fair sample of size k.
    """

    tokens: list[np.ndarray]
    positional_log_probs: list[np.ndarray]
    sampling_log_prob: np.ndarray
    draws: np.ndarray

    @property
    def log_prob(self) -> np.ndarray:
        """``(S,)`` natural log-probability of each sequence at temperature 1, EOS included."""
        return np.array([scores.sum() for scores in self.positional_log_probs])


@dataclass(frozen=True)
class TextPool:
    """A pool of one source sentence as texts; H distinct texts, D draws.

    Attributes:
        texts: H distinct texts in the order of their first draw.
        draws: ``(D,)`` index into ``texts`` of every draw, in draw order.
        log_prob: ``(D,)`` natural log-probability of every draw's token sequence at temperature 1.
        sampling_log_prob: ``(D,)`` the same under the distribution that was sampled from.
    """

    texts: list[str]
    draws: np.ndarray
    log_prob: np.ndarray
    sampling_log_prob: np.ndarray

    @classmethod
    def from_draws(
        cls, texts: Sequence[str], log_prob: Sequence[float], sampling_log_prob: Sequence[float]
    ) -> "TextPool":
        """Collect repeated texts; one text, log-prob and sampling log-prob for every draw, in draw order."""
        index = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        draws = np.array([index[text] for text in texts], dtype=np.int64)
        return cls(list(index), draws, np.asarray(log_prob, float), np.asarray(sampling_log_prob, float))

    def first(self, size: int) -> "TextPool":
        """The pool of the first ``size`` draws, which is itself a fair sample."""
        draws = self.draws[:size]
        kept = int(draws.max(initial=-1)) + 1  # texts are in the order of their first draw
        return TextPool(self.texts[:kept], draws, self.log_prob[:size], self.sampling_log_prob[:size])

    def counts(self) -> np.ndarray:
        """``(H,)`` how often each distinct text was drawn."""
        return np.bincount(self.draws, minlength=len(self.texts))

    def weights(self) -> np.ndarray:
        """``(H,)`` multiplicity / N of each distinct text: the Monte Carlo weights of Eq. 13."""
        return self.counts() / len(self.draws)

    def text_log_prob(self) -> np.ndarray:
        """``(H,)`` the log-probability of each text's most probable drawn token sequence at temperature 1."""
        best = np.full(len(self.texts), -np.inf)
        np.maximum.at(best, self.draws, self.log_prob)
        return best
