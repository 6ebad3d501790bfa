"""Which decoder drives a model: a fast one that computes the same, or else fairseq's own interface.

To add one: a subclass of :class:`IncrementalDecoder` made from a model and its encoder's output, a function that says
of which models it computes what :class:`FairseqDecoder` does, and a line in :data:`FAST_DECODERS`; the tests of the
sampler, of the rows and of all architectures then compare it with fairseq.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fairseq.models.nat import FairseqNATDecoder, FairseqNATModel

from dcmbr_fairseq.decoders.fairseq_decoder import FairseqDecoder, gives_logits
from dcmbr_fairseq.decoders.incremental import IncrementalDecoder
from dcmbr_fairseq.decoders.transformer import TransformerDecoder, is_standard_transformer
from dcmbr_fairseq.errors import UserError


class FastDecoder(NamedTuple):
    """A fast decoder: which models it serves, and how it is made from a model and its encoder's output."""

    serves: Callable[[Any], bool]
    make: Callable[[Any, Any], IncrementalDecoder]


#: The first that serves a model is taken. All of them give logits, so that they serve only models that do.
FAST_DECODERS: list[FastDecoder] = [FastDecoder(is_standard_transformer, TransformerDecoder)]


def decoder_for(model: Any, encoder_out: Any) -> IncrementalDecoder:
    """A fresh decoder of the sentences whose encoder's output is given."""
    if gives_logits(model):
        for fast in FAST_DECODERS:
            if fast.serves(model):
                return fast.make(model, encoder_out)
    return FairseqDecoder(model, encoder_out)


def refuse_without_prefixes(models: Sequence[Any]) -> None:
    """Refuse models that have no next-token distributions given a source and a target prefix.

    Raises:
        UserError: names the model's class.
    """
    for model in models:
        name = type(model).__name__
        if isinstance(model, FairseqNATModel) or isinstance(getattr(model, "decoder", None), FairseqNATDecoder):
            raise UserError(
                f"{name} is non-autoregressive: it has no next-token distributions to sample from or to search; "
                "decode it with fairseq's own task translation_lev"
            )
        if not (hasattr(model, "encoder") and hasattr(model, "decoder")):
            raise UserError(f"{name} has not an encoder and a decoder: sampling and search need a translation model")
