"""From a fairseq batch to encoded sentences and the decoders that continue them."""

from typing import Any, Callable, Dict, List, Sequence

import numpy as np
import torch
from fairseq.models.transformer.transformer_encoder import TransformerEncoderBase
from torch import Tensor

from dcmbr_fairseq.decoding.decoders import EnsembleDecoder, FairseqDecoder, IncrementalDecoder, reordered
from dcmbr_fairseq.decoding.transformer import TransformerDecoder, is_standard_transformer

#: With source widths in multiples of this, padding behind the tokens, attention over a sentence gives the same bits on
#: a CPU however long the other sentences of the batch are.
WIDTH_MULTIPLE = 16


def source_sentences(src_tokens: Tensor, pad: int) -> List[List[int]]:
    """The token ids of each source sentence ``(B, S)``, padding removed."""
    return [[token for token in row if token != pad] for row in src_tokens.tolist()]


def encode(models: Sequence[Any], net_input: Dict[str, Any], pad: int) -> Callable[[np.ndarray], IncrementalDecoder]:
    """Run the encoder of every model once.

    Args:
        models: the ensemble, in evaluation mode.
        net_input: fairseq's batch, with ``src_tokens`` ``(B, S)``.
        pad: padding token.

    Returns:
        A function that gives a fresh decoder for the sentences of the batch with the given indices.
    """
    net_input = {name: value for name, value in net_input.items() if name != "prev_output_tokens"}
    encoded = [model.encoder.forward_torchscript(_repad(model, net_input, pad)) for model in models]
    everything = np.arange(len(net_input["src_tokens"]))

    def make_decoder(sentences: np.ndarray) -> IncrementalDecoder:
        outs = encoded
        if not np.array_equal(sentences, everything):
            order = torch.from_numpy(sentences).to(net_input["src_tokens"].device)
            outs = [reordered(model.encoder, out, order) for model, out in zip(models, encoded, strict=True)]
        decoders = [_decoder(model, out) for model, out in zip(models, outs, strict=True)]
        return decoders[0] if len(decoders) == 1 else EnsembleDecoder(decoders)

    return make_decoder


def _decoder(model: Any, encoder_out: Any) -> IncrementalDecoder:
    if is_standard_transformer(model.decoder):
        return TransformerDecoder(model.decoder, encoder_out)
    return FairseqDecoder(model, encoder_out)


def _repad(model: Any, net_input: Dict[str, Any], pad: int) -> Dict[str, Any]:
    """The batch with padding behind the tokens, where the encoder is a Transformer, to which its side is all one."""
    if not isinstance(model.encoder, TransformerEncoderBase):
        return net_input
    return {**net_input, "src_tokens": pad_behind(net_input["src_tokens"], pad)}


def pad_behind(src_tokens: Tensor, pad: int) -> Tensor:
    """``(B, S)`` token ids with padding moved behind them, S made a multiple of :data:`WIDTH_MULTIPLE`."""
    real = src_tokens.ne(pad)
    width = int(real.sum(dim=1).max())
    width += -width % WIDTH_MULTIPLE
    padded = src_tokens.new_full((len(src_tokens), width), pad)
    columns = real.cumsum(dim=1) - 1
    padded[real.nonzero()[:, 0], columns[real]] = src_tokens[real]
    return padded
