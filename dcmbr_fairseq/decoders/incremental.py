"""Incremental decoders as the sampler sees them: one next-token distribution for each prefix row.

Rows are target prefixes; each belongs to one source sentence. From step to step rows split, stay or leave, which the
caller says by naming each new row's parent row.
"""

import abc
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

#: Matrix products treat one to three rows that are left over differently, and round them differently. With a multiple
#: of this many the logits of a row are, on a CPU, the same bits whatever other rows there are and however many threads,
#: so that draws do not depend on the batch at all.
ROW_MULTIPLE = 4


class PrefixRows(NamedTuple):
    """The P active rows of one step.

    Attributes:
        tokens: ``(P,)`` the last token of each row.
        parents: ``(P,)`` the row of the previous step that each row continues; None at the first step. Rows keep their
            places where they can: most have ``parents[i] == i``.
        sentences: ``(P,)`` the sentence of the batch that each row belongs to.
    """

    tokens: np.ndarray
    parents: np.ndarray | None
    sentences: np.ndarray

    def padded(self, before: int) -> "PrefixRows":
        """With up to three further rows, which nobody reads, so that there is a multiple of :data:`ROW_MULTIPLE`.

        Args:
            before: number of rows of the previous step, padded. What stands at the places of further rows is kept.
        """
        missing = -len(self.tokens) % ROW_MULTIPLE
        if not missing:
            return self
        tokens, sentences = (np.append(x, [x[-1]] * missing) for x in (self.tokens, self.sentences))
        parents = None
        if self.parents is not None:
            places = np.arange(len(self.tokens), len(tokens))
            parents = np.append(self.parents, np.minimum(places, before - 1))
        return PrefixRows(tokens, parents, sentences)

    def moves(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows whose history must be fetched from another row, and these others."""
        if self.parents is None:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        moved = np.flatnonzero(self.parents != np.arange(len(self.parents)))
        return moved, self.parents[moved]


class IncrementalDecoder(abc.ABC):
    """Decoding state of one model over P active prefix rows."""

    @abc.abstractmethod
    def step(self, rows: PrefixRows) -> Tensor:
        """Append a token to every row, and give the logits of the next.

        Args:
            rows: the rows of this step, at least one.

        Returns:
            ``(P, V)`` float32, contiguous, each row defined up to a constant. The caller may overwrite them; they are
            valid until the next step.
        """

    @abc.abstractmethod
    def fork(self) -> "IncrementalDecoder":
        """A decoder in the same state, which from here on steps by itself: a search comes back to its prefixes."""

    def release(self) -> None:
        """Decoding has ended well: what is costly to make may be handed on to the next decoder."""
        return None


class EnsembleDecoder(IncrementalDecoder):
    """Several models as one: the mean of their next-token probabilities, as fairseq's ensembles."""

    def __init__(self, decoders: Sequence[IncrementalDecoder]) -> None:
        self.decoders = list(decoders)

    def step(self, rows: PrefixRows) -> Tensor:
        """See :meth:`IncrementalDecoder.step`; returns log-probabilities up to a constant."""
        log_probs: list[Tensor] = [torch.log_softmax(decoder.step(rows), dim=-1) for decoder in self.decoders]
        return torch.logsumexp(torch.stack(log_probs), dim=0)

    def fork(self) -> "EnsembleDecoder":
        """See :meth:`IncrementalDecoder.fork`."""
        return EnsembleDecoder([decoder.fork() for decoder in self.decoders])

    def release(self) -> None:
        """See :meth:`IncrementalDecoder.release`."""
        for decoder in self.decoders:
            decoder.release()
