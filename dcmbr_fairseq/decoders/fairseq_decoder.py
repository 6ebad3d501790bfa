"""Any fairseq encoder-decoder as an incremental decoder, through its own interface: the plain way, and the truth for
the fast decoders."""

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from fairseq.models import BaseFairseqModel, FairseqIncrementalDecoder
from fairseq.models import FairseqDecoder as FairseqModelDecoder
from fairseq.models.transformer import TransformerModelBase
from torch import Tensor

from dcmbr_fairseq.decoders.incremental import IncrementalDecoder, PrefixRows
from dcmbr_fairseq.decoders.transfer import on_device

#: Where fairseq itself says how outputs become probabilities: a softmax of logits, or the adaptive softmax.
_NORMALISATION = ("get_normalized_probs", "get_normalized_probs_scriptable")
_FAIRSEQ_S_OWN = (BaseFairseqModel, TransformerModelBase, FairseqModelDecoder)


def gives_logits(model: Any) -> bool:
    """Whether the softmax of what the decoder gives is the model's distribution.

    It is not where the model or its decoder says otherwise (a pointer-generator gives probabilities), nor with an
    adaptive softmax, which comes after the decoder's output.
    """
    own = {getattr(part, name, None) for part in _FAIRSEQ_S_OWN for name in _NORMALISATION}
    methods = [getattr(part, name) for part in (model, model.decoder) for name in _NORMALISATION]
    is_plain = all(getattr(method, "__func__", method) in own for method in methods)
    return is_plain and getattr(model.decoder, "adaptive_softmax", None) is None


def reordered(encoder: Any, encoder_out: Any, order: Tensor) -> Any:
    """An encoder's output with its sentences in another order, by the encoder's class; what is given stays as it is.

    For its own beam search BART puts a method in that place that does nothing, and leaves it there. Convolutional
    encoders write into what they are given.
    """
    return type(encoder).reorder_encoder_out(encoder, _copied(encoder_out), order)


def _copied(structure: Any) -> Any:
    """Dictionaries and lists copied, at every depth, of the same tensors."""
    if isinstance(structure, dict):
        return {key: _copied(value) for key, value in structure.items()}
    return [_copied(value) for value in structure] if type(structure) is list else structure


@contextlib.contextmanager
def _without_beams(modules: Sequence[Any]) -> Iterator[None]:
    """Beam search tells modules that so many rows after another belong to one sentence, which prefix rows do not."""
    sizes = [module.beam_size for module in modules]
    for module in modules:
        module.beam_size = 1
    try:
        yield
    finally:
        for module, size in zip(modules, sizes, strict=True):
            module.beam_size = size


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
        self.gives_logits = gives_logits(model)
        self.beamed = [module for module in model.modules() if getattr(module, "beam_size", None)]
        self.incremental_state: dict[str, dict[str, Tensor | None]] = {}
        self.prefixes: Tensor | None = None  # (P, t): some models read the whole prefix
        self.sentences = np.empty(0, dtype=np.int64)  # (P,) of each row so far

    def step(self, rows: PrefixRows) -> Tensor:
        """See :meth:`IncrementalDecoder.step`."""
        count = len(rows.tokens)
        rows = rows.padded(len(self.sentences))
        tokens, sentences = on_device(self.device, rows.tokens, rows.sentences)
        column = tokens[:, None]
        if self.prefixes is None:
            self.encoder_out = reordered(self.model.encoder, self.encoder_out, sentences)
            self.prefixes, self.sentences = column, rows.sentences
        else:
            self._follow(rows)
            self.prefixes = torch.cat([self.prefixes, column], dim=1)
        decoder = self.model.decoder
        state = {"incremental_state": self.incremental_state} if self.has_incremental else {}
        with _without_beams(self.beamed):
            output = decoder.forward(self.prefixes, encoder_out=self.encoder_out, **state)
        last = output[0][:, -1:, :]
        if not self.gives_logits:  # in its own precision
            last = self.model.get_normalized_probs((last, *output[1:]), log_probs=True, sample=None)
        return last[:count, -1, :].float().contiguous()

    def fork(self) -> "FairseqDecoder":
        """See :meth:`IncrementalDecoder.fork`."""
        other = copy.copy(self)
        other.incremental_state = copy.deepcopy(self.incremental_state)  # some modules write into their tensors
        return other

    def _follow(self, rows: PrefixRows) -> None:
        """Bring prefixes, cached keys and values, and encoder output into the order of the new rows."""
        assert self.prefixes is not None and rows.parents is not None
        before = self.sentences[rows.parents]
        if len(rows.tokens) == len(self.prefixes) and not len(rows.moves()[0]):
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
        (order,) = on_device(self.device, parents)
        self.prefixes = self.prefixes[order]
        if self.has_incremental:
            self.model.decoder.reorder_incremental_state_scripting(self.incremental_state, order)
        self.encoder_out = reordered(self.model.encoder, self.encoder_out, order)
