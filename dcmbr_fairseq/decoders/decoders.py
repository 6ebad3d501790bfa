"""Incremental decoders as the sampler sees them: one next-token distribution for each prefix row.

Rows are target prefixes; each belongs to one source sentence. From step to step rows split, stay or leave, which the
caller says by naming each new row's parent row. :class:`FairseqDecoder` drives any fairseq encoder-decoder through its
own interface; `transformer.py` holds a faster equal for the standard Transformer.
"""

import abc
import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from fairseq.models import FairseqIncrementalDecoder
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

    def moved(self) -> np.ndarray:
        """Indices of the rows whose history must be fetched from another row."""
        if self.parents is None:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.parents != np.arange(len(self.parents)))


def reordered(encoder: Any, encoder_out: Any, order: Tensor) -> Any:
    """An encoder's output with its sentences in another order, by the encoder's class.

    For its own beam search BART puts a method in that place that does nothing, and leaves it there.
    """
    return type(encoder).reorder_encoder_out(encoder, encoder_out, order)


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


class FairseqDecoder(IncrementalDecoder):
    """Any fairseq encoder-decoder model, through its own ``forward`` and ``reorder_incremental_state_scripting``.

    Args:
        model: the model, in evaluation mode.
        encoder_out: its encoder's output for B sentences.
    """

    def __init__(self, model: Any, encoder_out: Any) -> None:
        self.model = model
        self.encoder_out = encoder_out
        self.device = next(model.parameters()).device
        self.has_incremental = isinstance(model.decoder, FairseqIncrementalDecoder)
        self.incremental_state: dict[str, dict[str, Tensor | None]] = {}
        self.prefixes: Tensor | None = None  # (P, t): some models read the whole prefix
        self.sentences = np.empty(0, dtype=np.int64)  # (P,) of each row so far

    def step(self, rows: PrefixRows) -> Tensor:
        """See :meth:`IncrementalDecoder.step`."""
        count = len(rows.tokens)
        rows = rows.padded(len(self.sentences))
        column = torch.from_numpy(rows.tokens).to(self.device)[:, None]
        if self.prefixes is None:
            self.encoder_out = reordered(
                self.model.encoder, self.encoder_out, torch.from_numpy(rows.sentences).to(self.device)
            )
            self.prefixes, self.sentences = column, rows.sentences
        else:
            self._follow(rows)
            self.prefixes = torch.cat([self.prefixes, column], dim=1)
        decoder = self.model.decoder
        state = {"incremental_state": self.incremental_state} if self.has_incremental else {}
        output = decoder.forward(self.prefixes, encoder_out=self.encoder_out, **state)
        last = output[0][:, -1:, :].float()
        if getattr(decoder, "adaptive_softmax", None) is not None:
            last = self.model.get_normalized_probs((last, output[1]), log_probs=True, sample=None)
        return last[:count, -1, :].contiguous()

    def fork(self) -> "FairseqDecoder":
        """See :meth:`IncrementalDecoder.fork`."""
        other = copy.copy(self)
        other.incremental_state = copy.deepcopy(self.incremental_state)  # some modules write into their tensors
        return other

    def _follow(self, rows: PrefixRows) -> None:
        """Bring prefixes, cached keys and values, and encoder output into the order of the new rows."""
        assert self.prefixes is not None and rows.parents is not None
        before = self.sentences[rows.parents]
        if len(rows.tokens) == len(self.prefixes) and not len(rows.moved()):
            return
        if len(rows.tokens) == len(self.prefixes) and not np.array_equal(before, self.sentences):
            # fairseq's cross-attention takes an order of unchanged size for one within sentences and ignores it.
            self._reorder(np.append(rows.parents, rows.parents[-1]))
            self._reorder(np.arange(len(rows.tokens)))
        else:
            self._reorder(rows.parents)
        self.sentences = before  # of rows that nobody reads, too: what is really cached

    def _reorder(self, parents: np.ndarray) -> None:
        assert self.prefixes is not None
        order = torch.from_numpy(parents).to(self.device)
        self.prefixes = self.prefixes[order]
        if self.has_incremental:
            self.model.decoder.reorder_incremental_state_scripting(self.incremental_state, order)
        self.encoder_out = reordered(self.model.encoder, self.encoder_out, order)


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
