"""From a fairseq batch to encoded sentences and the decoders that continue them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from fairseq.models.transformer.transformer_encoder import TransformerEncoderBase
from torch import Tensor

from dcmbr_fairseq.decoders.choice import decoder_for, refuse_without_prefixes
from dcmbr_fairseq.decoders.fairseq_decoder import reordered
from dcmbr_fairseq.decoders.incremental import EnsembleDecoder, IncrementalDecoder

#: Source widths are multiples of this, and none between SPLIT_WIDTHS; see :func:`width_for`.
VECTOR = 16
SPLIT_WIDTHS = (192, 384)


def source_sentences(src_tokens: Tensor, pad: int) -> list[list[int]]:
    """The token ids of each source sentence ``(B, S)``, padding removed."""
    return [[token for token in row if token != pad] for row in src_tokens.tolist()]


def encode(models: Sequence[Any], net_input: dict[str, Any], pad: int) -> Callable[[np.ndarray], IncrementalDecoder]:
    """Run the encoder of every model once.

    Args:
        models: the ensemble, in evaluation mode.
        net_input: fairseq's batch, with ``src_tokens`` ``(B, S)``.
        pad: padding token.

    Returns:
        A function that gives a fresh decoder for the sentences of the batch with the given indices.

    Raises:
        UserError: a model cannot be sampled.
    """
    refuse_without_prefixes(models)
    net_input = {name: value for name, value in net_input.items() if name != "prev_output_tokens"}
    inputs = [_repad(model, net_input, pad) for model in models]
    encoded = [model.encoder.forward_torchscript(given) for model, given in zip(models, inputs, strict=True)]

    def make_decoder(sentences: np.ndarray) -> IncrementalDecoder:
        order = torch.from_numpy(sentences).to(net_input["src_tokens"].device)
        outs = [
            out
            if np.array_equal(sentences, np.arange(len(given["src_tokens"])))
            else reordered(model.encoder, out, order)
            for model, given, out in zip(models, inputs, encoded, strict=True)
        ]
        decoders = [decoder_for(model, out) for model, out in zip(models, outs, strict=True)]
        return decoders[0] if len(decoders) == 1 else EnsembleDecoder(decoders)

    return make_decoder


def _repad(model: Any, net_input: dict[str, Any], pad: int) -> dict[str, Any]:
    """The batch as a Transformer gives every sentence the same bits on a CPU, whatever the others; others as it is.

    Padding stands behind the tokens, for its side is all one to a Transformer, and a single sentence is read twice:
    torch adds the bias before or behind the sum of a product depending on whether the input is one piece of memory,
    which it is for one sentence only.
    """
    if not isinstance(model.encoder, TransformerEncoderBase):
        return net_input
    net_input = {**net_input, "src_tokens": pad_behind(net_input["src_tokens"], pad)}
    if len(net_input["src_tokens"]) == 1:
        net_input.update({name: torch.cat([net_input[name]] * 2) for name in ("src_tokens", "src_lengths")})
    return net_input


def width_for(length: int) -> int:
    """The source width for a batch whose longest sentence has ``length`` tokens.

    Attention over a sentence gives the same bits however long the other sentences are if the width fills whole vectors
    (16 numbers with AVX-512, 8 with AVX2), since what is left over is summed in another order, and is not one of those
    (:data:`SPLIT_WIDTHS`) for which products are summed in two halves.
    """
    width = max(VECTOR, length + -length % VECTOR)
    least, most = SPLIT_WIDTHS
    return most if least < width < most else width


def pad_behind(src_tokens: Tensor, pad: int) -> Tensor:
    """``(B, S)`` token ids with padding moved behind them, and another width."""
    real = src_tokens.ne(pad)
    width = width_for(int(real.sum(dim=1).max()))
    padded = src_tokens.new_full((len(src_tokens), width), pad)
    columns = real.cumsum(dim=1) - 1
    padded[real.nonzero()[:, 0], columns[real]] = src_tokens[real]
    return padded
