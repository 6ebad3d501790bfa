"""Which decoder drives a model: a fast one that computes the same, or else fairseq's own interface.

To add one: a subclass of :class:`IncrementalDecoder` made from a model and its encoder's output, a function that says
of which models it computes what :class:`FairseqDecoder` does, and a line in :data:`FAST_DECODERS`; the tests of the
sampler and of the rows then compare it with fairseq.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from dcmbr_fairseq.decoders.fairseq_decoder import FairseqDecoder
from dcmbr_fairseq.decoders.incremental import IncrementalDecoder
from dcmbr_fairseq.decoders.transformer import TransformerDecoder, is_standard_transformer


class FastDecoder(NamedTuple):
    """A fast decoder: which models it serves, and how it is made from a model and its encoder's output."""

    serves: Callable[[Any], bool]
    make: Callable[[Any, Any], IncrementalDecoder]


#: The first that serves a model is taken.
FAST_DECODERS: list[FastDecoder] = [FastDecoder(is_standard_transformer, TransformerDecoder)]


def decoder_for(model: Any, encoder_out: Any) -> IncrementalDecoder:
    """A fresh decoder of the sentences whose encoder's output is given."""
    for fast in FAST_DECODERS:
        if fast.serves(model):
            return fast.make(model, encoder_out)
    return FairseqDecoder(model, encoder_out)
