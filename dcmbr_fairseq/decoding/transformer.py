"""The standard Transformer decoder, one step over prefix rows: what `FairseqDecoder` computes, with less copying.

Savings over fairseq's own incremental forward, none of which changes the numbers beyond rounding: cached keys and
values stay in place and only rows that split are copied; the cross-attention keys and values of a sentence are kept
once for all of its rows; queries, keys and values are projected together; weights are laid out for few rows, and the
logits are written to the same memory at every step.
"""

import copy
import functools
from typing import Any, Callable, Optional, Sequence

import numpy as np
import torch
from fairseq.models.transformer.transformer_decoder import TransformerDecoderBase
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase
from torch import Tensor, nn

from dcmbr_fairseq.decoding.decoders import IncrementalDecoder, PrefixRows
from dcmbr_fairseq.decoding.key_value_cache import KeyValueCache
from dcmbr_fairseq.decoding.scratch import Scratch

_DECODER_METHODS = ("forward", "extract_features", "extract_features_scriptable", "output_layer")

#: Rows of one block of cross-attention, always as many, for the reason of ROW_MULTIPLE.
BLOCK_ROWS = 8

#: Weights of at least so many numbers are used as they lie. Smaller ones are copied in the order of matrix products,
#: which saves up to a fifth of a product's time on a CPU; large ones gain little and need the memory.
LARGE_WEIGHT = 2**20

#: With fewer outputs than this, products in that order round a row differently at different places.
NARROW = 16

_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")

_PLAIN_LAYER = ("attn_ln", "c_attn", "ffn_layernorm", "w_resid")


def is_standard_transformer(decoder: Any) -> bool:
    """Whether :class:`TransformerDecoder` computes what ``decoder`` does: fairseq's own class, no unusual parts."""
    return (
        isinstance(decoder, TransformerDecoderBase)
        and all(getattr(type(decoder), name) is getattr(TransformerDecoderBase, name) for name in _DECODER_METHODS)
        and not decoder.cross_self_attention
        and decoder.adaptive_softmax is None
        and decoder.quant_noise is None
        and all(_is_standard_layer(layer) for layer in decoder.layers)
    )


def _is_standard_layer(layer: Any) -> bool:
    return (
        isinstance(layer, TransformerDecoderLayerBase)
        and type(layer).forward is TransformerDecoderLayerBase.forward
        and layer.encoder_attn is not None
        and all(getattr(layer, name, None) is None for name in _PLAIN_LAYER)
        and all(_is_standard_attention(attention) for attention in (layer.self_attn, layer.encoder_attn))
        and type(layer.fc1) is nn.Linear
        and type(layer.fc2) is nn.Linear
    )


def _is_standard_attention(attention: Any) -> bool:
    return (
        type(attention) is MultiheadAttention
        and attention.bias_k is None
        and not attention.add_zero_attn
        and not attention.use_xformers
        and all(type(getattr(attention, name)) is nn.Linear for name in _PROJECTIONS)
    )


class _Linear:
    """``(P, K) -> (P, N)`` by several linear layers of the same input at once."""

    def __init__(self, *layers: nn.Linear) -> None:
        weight = layers[0].weight if len(layers) == 1 else torch.cat([layer.weight for layer in layers])
        copied = weight.device.type == "cpu" and len(weight) >= NARROW and weight.numel() < LARGE_WEIGHT
        self.weight = weight.t().contiguous() if copied else weight.t()  # (K, N)
        biases = [layer.bias for layer in layers if layer.bias is not None]
        self.bias = torch.cat(biases) if biases else None

    def __call__(self, x: Tensor, out: Optional[Tensor] = None) -> Tensor:
        if self.bias is None:
            return torch.mm(x, self.weight, out=out)
        return torch.addmm(self.bias, x, self.weight, out=out)


def _norm(module: nn.Module) -> Callable[[Tensor], Tensor]:
    """A layer normalisation without the cost of calling a module, which counts where rows are few."""
    if type(module) is not nn.LayerNorm:
        return module
    shape, weight, bias = module.normalized_shape, module.weight, module.bias
    return functools.partial(torch.layer_norm, normalized_shape=shape, weight=weight, bias=bias, eps=module.eps)


class TransformerDecoder(IncrementalDecoder):
    """Decoding state of a standard Transformer over P prefix rows of B sentences.

    Args:
        decoder: a decoder for which :func:`is_standard_transformer` holds.
        encoder_out: the encoder's output, fairseq's dictionary with ``(S, B, C)`` states and a ``(B, S)`` mask.
    """

    def __init__(self, decoder: Any, encoder_out: Any) -> None:
        self.decoder = decoder
        self.length = 0  # target tokens so far
        self.row_count = 0  # of the step before, padded
        states = encoder_out["encoder_out"][0]  # (S, B, C)
        self.device = states.device
        self.layers = [_Layer(layer, states) for layer in decoder.layers]
        self.blocks = _SentenceBlocks(encoder_out["encoder_padding_mask"], states)
        self.cache = KeyValueCache(decoder.layers, states)
        self.positions = states.new_empty((0, 0))  # (n, C) embeddings of the first n positions
        output = decoder.output_projection
        is_plain = type(output) is nn.Linear and output.weight.dtype == torch.float32
        self.output = _Linear(output) if is_plain else None
        self.logits = Scratch(states)

    def step(self, rows: PrefixRows) -> Tensor:
        """See :meth:`IncrementalDecoder.step`."""
        count = len(rows.tokens)
        rows = rows.padded(self.row_count)
        self.row_count = len(rows.tokens)
        self.cache.follow(rows, self.length)
        self.blocks.assign(rows.sentences)
        x = self._embed(torch.from_numpy(rows.tokens).to(self.device))  # (P, C)
        for index, layer in enumerate(self.layers):
            x = layer(x, index, self.cache, self.blocks)
        self.length += 1
        if self.decoder.layer_norm is not None:
            x = self.decoder.layer_norm(x)
        if self.decoder.project_out_dim is not None:
            x = self.decoder.project_out_dim(x)
        if self.output is None:
            return self.decoder.output_layer(x)[:count].float()
        return self.output(x, self.logits.table(len(x), self.output.weight.size(1)))[:count]

    def fork(self) -> "TransformerDecoder":
        """See :meth:`IncrementalDecoder.fork`; what belongs to the model and the source is shared."""
        other = copy.copy(self)
        other.cache, other.blocks = self.cache.fork(), copy.copy(self.blocks)
        other.layers = [layer.fork() for layer in self.layers]
        return other

    def release(self) -> None:
        """See :meth:`IncrementalDecoder.release`."""
        self.cache.release()
        self.logits.release()

    def _embed(self, tokens: Tensor) -> Tensor:
        decoder = self.decoder
        x = decoder.embed_scale * decoder.embed_tokens(tokens)
        if decoder.project_in_dim is not None:
            x = decoder.project_in_dim(x)
        if decoder.embed_positions is not None:
            x = x + self._position(tokens)
        if decoder.layernorm_embedding is not None:
            x = decoder.layernorm_embedding(x)
        return x

    def _position(self, tokens: Tensor) -> Tensor:
        """``(C,)`` embedding of the current position."""
        if self.length >= len(self.positions):
            count = max(self.length + 1, min(2 * self.length + 64, self.decoder.max_positions()))
            prefix = tokens.new_full((1, count), self.decoder.padding_idx + 1)  # only its length is read
            self.positions = self.decoder.embed_positions(prefix)[0]
        return self.positions[self.length]


class _Layer:
    """One decoder layer for one batch of sentences."""

    def __init__(self, layer: Any, states: Tensor) -> None:
        attention = layer.self_attn
        self.heads, self.width, self.scaling = attention.num_heads, attention.head_dim, attention.scaling
        self.projection = _Linear(attention.q_proj, attention.k_proj, attention.v_proj)
        self.mix = _Linear(attention.out_proj)
        self.cross = _SharedAttention(layer.encoder_attn, states)
        self.inner, self.outer, self.activation = _Linear(layer.fc1), _Linear(layer.fc2), layer.activation_fn
        self.is_pre_norm = layer.normalize_before
        modules = (layer.self_attn_layer_norm, layer.encoder_attn_layer_norm, layer.final_layer_norm)
        self.norms = [_norm(module) for module in modules]

    def __call__(self, x: Tensor, index: int, cache: KeyValueCache, blocks: "_SentenceBlocks") -> Tensor:
        """``(P, C) -> (P, C)``; ``index`` is the layer's own in the cache."""
        sublayers: Sequence[Callable[[Tensor], Tensor]] = (
            lambda y: self._self_attention(y, index, cache),
            lambda y: self.cross(y, blocks),
            lambda y: self.outer(self.activation(self.inner(y))),
        )
        for norm, sublayer in zip(self.norms, sublayers, strict=True):
            x = x + sublayer(norm(x)) if self.is_pre_norm else norm(sublayer(x).add_(x))
        return x

    def fork(self) -> "_Layer":
        """The same layer for another state of decoding."""
        other = copy.copy(self)
        other.cross = copy.copy(self.cross)
        return other

    def _self_attention(self, x: Tensor, index: int, cache: KeyValueCache) -> Tensor:
        rows = x.size(0)
        projected = self.projection(x).view(rows, 3, self.heads, self.width)
        keys, values, mask = cache.append(index, projected[:, 1:])  # (P*h, t, d), (t,)
        query = projected[:, 0].reshape(rows * self.heads, 1, self.width)
        mixed = _attend(query, keys.transpose(1, 2), values, mask, self.scaling)  # (P*h, 1, d)
        return self.mix(mixed.view(rows, self.heads * self.width))


def _attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor, scaling: float) -> Tensor:
    """``(n, q, d)`` attention of queries ``(n, q, d)`` to keys ``(n, d, t)`` and values ``(n, t, d)``.

    The softmax is that of float32, as in fairseq's attention; ``mask`` (-inf: not seen) is added to the scores.
    """
    scores = torch.baddbmm(mask, query, keys, alpha=scaling)
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).type_as(scores)
    return torch.bmm(weights, values)


class _SentenceBlocks:
    """Where each row stands when rows are grouped into blocks of one sentence each, for attention to shared keys.

    Blocks are small, so that sentences with few rows do not pay for those with many; ``(G, W)`` places for P rows.
    """

    def __init__(self, padding_mask: Any, states: Tensor) -> None:
        width, self.sentences, _ = states.shape
        self.mask = states.new_zeros((self.sentences, width))  # (B, S), -inf at padding
        if len(padding_mask) and padding_mask[0] is not None:
            self.mask.masked_fill_(padding_mask[0].bool(), -torch.inf)
        self.blocks = np.zeros(self.sentences, dtype=np.int64)  # blocks of each sentence
        self.count = self.layout = 0  # blocks in all; number of the layout
        self.place = self.row = self.sentence = torch.empty(0, dtype=torch.int64, device=states.device)

    def assign(self, sentences: np.ndarray) -> None:
        """Give each row ``(P,)`` a place in a block of its sentence; the layout is kept while it serves."""
        order = np.argsort(sentences, kind="stable")
        counts = np.bincount(sentences, minlength=self.sentences)
        needed = -(-counts // BLOCK_ROWS)
        if (needed > self.blocks).any() or self.count > 1.5 * needed.sum():
            self._lay_out(needed)
        starts, first = np.cumsum(counts) - counts, np.cumsum(self.blocks) - self.blocks
        place = np.empty_like(order)
        place[order] = np.arange(len(order)) + (first * BLOCK_ROWS - starts)[sentences[order]]
        row = np.zeros(self.count * BLOCK_ROWS, dtype=np.int64)
        row[place] = np.arange(len(place))
        self.place, self.row = (torch.from_numpy(x).to(self.place.device) for x in (place, row))

    def _lay_out(self, blocks: np.ndarray) -> None:
        self.blocks, self.count, self.layout = blocks, int(blocks.sum()), self.layout + 1
        self.sentence = torch.from_numpy(np.repeat(np.arange(self.sentences), blocks)).to(self.place.device)

    def scatter(self, rows: Tensor) -> Tensor:
        """``(P, C) -> (G, W, C)``; places without a row hold the first row, which is not read there."""
        return rows.index_select(0, self.row).view(self.count, BLOCK_ROWS, -1)

    def gather(self, grouped: Tensor) -> Tensor:
        """``(G, W, C) -> (P, C)``."""
        return grouped.reshape(self.count * BLOCK_ROWS, -1).index_select(0, self.place)


class _SharedAttention:
    """Cross-attention whose keys and values are projected and kept once for each sentence."""

    def __init__(self, attention: MultiheadAttention, states: Tensor) -> None:
        self.heads, self.width, self.scaling = attention.num_heads, attention.head_dim, attention.scaling
        self.query, self.mix = _Linear(attention.q_proj), _Linear(attention.out_proj)
        self.keys = self._split_heads(attention.k_proj(states)).permute(1, 2, 3, 0).contiguous()  # (B, h, d, S)
        self.values = self._split_heads(attention.v_proj(states)).permute(1, 2, 0, 3).contiguous()  # (B, h, S, d)
        self._layout = -1  # of the blocks that the next three are for
        self._block_keys = self._block_values = self._block_mask = states

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, self.width)

    def __call__(self, x: Tensor, blocks: _SentenceBlocks) -> Tensor:
        if self._layout != blocks.layout:
            self._lay_out(blocks)
        query = self._split_heads(blocks.scatter(self.query(x))).transpose(1, 2)  # (G, h, W, d)
        flat = query.flatten(0, 1)  # (G*h, W, d)
        mixed = _attend(flat, self._block_keys, self._block_values, self._block_mask, self.scaling)
        mixed = mixed.view(query.shape).transpose(1, 2).flatten(2)  # (G, W, C)
        return self.mix(blocks.gather(mixed))

    def _lay_out(self, blocks: _SentenceBlocks) -> None:
        self._layout = blocks.layout
        self._block_keys = self.keys.index_select(0, blocks.sentence).flatten(0, 1)  # (G*h, d, S)
        self._block_values = self.values.index_select(0, blocks.sentence).flatten(0, 1)  # (G*h, S, d)
        mask = blocks.mask[blocks.sentence].repeat_interleave(self.heads, dim=0)
        self._block_mask = mask[:, None]  # (G*h, 1, S)
