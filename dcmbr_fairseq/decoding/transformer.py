"""The standard Transformer decoder, one step over prefix rows: what `FairseqDecoder` computes, with less copying.

Two savings over fairseq's own incremental forward, none of which changes the numbers beyond rounding: cached keys and
values stay in place and only rows that split are copied, and the cross-attention keys and values of a sentence are
kept once for all of its rows. All weights and layers are the model's own modules.
"""

import copy
from typing import Any, ClassVar, Dict, List, Optional

import numpy as np
import torch
from fairseq.models.transformer.transformer_decoder import TransformerDecoderBase
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase
from torch import Tensor

from dcmbr_fairseq.decoding.decoders import IncrementalDecoder, PrefixRows

_DECODER_METHODS = ("forward", "extract_features", "extract_features_scriptable", "output_layer")

#: Rows of one block of cross-attention, always as many, for the reason of FEWEST_ROWS.
BLOCK_ROWS = 8

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
    )


def _is_standard_attention(attention: Any) -> bool:
    return (
        type(attention) is MultiheadAttention
        and attention.bias_k is None
        and not attention.add_zero_attn
        and not attention.use_xformers
    )


class TransformerDecoder(IncrementalDecoder):
    """Decoding state of a standard Transformer over P prefix rows of B sentences.

    Args:
        decoder: a decoder for which :func:`is_standard_transformer` holds.
        encoder_out: the encoder's output, fairseq's dictionary with ``(S, B, C)`` states and a ``(B, S)`` mask.
    """

    def __init__(self, decoder: Any, encoder_out: Any) -> None:
        self.decoder = decoder
        self.length = 0  # target tokens so far
        states = encoder_out["encoder_out"][0]  # (S, B, C)
        self.device = states.device
        attentions = [layer.encoder_attn for layer in decoder.layers]
        self.cross = [_SharedAttention(attention, states) for attention in attentions]
        self.blocks = _SentenceBlocks(encoder_out["encoder_padding_mask"], states)
        self.cache = _KeyValueCache(decoder.layers, states)

    def step(self, rows: PrefixRows) -> Tensor:
        """See :meth:`IncrementalDecoder.step`."""
        self.cache.follow(rows, self.length)
        self.blocks.assign(rows.sentences)
        x = self._embed(torch.from_numpy(rows.tokens).to(self.device))  # (P, C)
        for index, layer in enumerate(self.decoder.layers):
            x = self._layer(index, layer, x)
        self.length += 1
        if self.decoder.layer_norm is not None:
            x = self.decoder.layer_norm(x)
        if self.decoder.project_out_dim is not None:
            x = self.decoder.project_out_dim(x)
        return self.decoder.output_layer(x).float()

    def fork(self) -> "TransformerDecoder":
        """See :meth:`IncrementalDecoder.fork`; what belongs to the source is shared."""
        other = copy.copy(self)
        other.cache, other.blocks = self.cache.fork(self.length), copy.copy(self.blocks)
        other.cross = [copy.copy(attention) for attention in self.cross]
        return other

    def _embed(self, tokens: Tensor) -> Tensor:
        decoder = self.decoder
        x = decoder.embed_scale * decoder.embed_tokens(tokens)
        if decoder.project_in_dim is not None:
            x = decoder.project_in_dim(x)
        if decoder.embed_positions is not None:
            prefix = tokens.new_full((1, self.length + 1), decoder.padding_idx + 1)  # only its length is read
            x = x + decoder.embed_positions(prefix, incremental_state={}).view(1, -1)
        if decoder.layernorm_embedding is not None:
            x = decoder.layernorm_embedding(x)
        return x

    def _layer(self, index: int, layer: Any, x: Tensor) -> Tensor:
        before = layer.normalize_before

        def sublayer(norm: Any, function: Any, x: Tensor) -> Tensor:
            return x + function(norm(x)) if before else norm(x + function(x))

        x = sublayer(layer.self_attn_layer_norm, lambda y: self._self_attention(index, layer.self_attn, y), x)
        x = sublayer(layer.encoder_attn_layer_norm, lambda y: self.cross[index](y, self.blocks), x)
        return sublayer(layer.final_layer_norm, lambda y: layer.fc2(layer.activation_fn(layer.fc1(y))), x)

    def _self_attention(self, index: int, attention: MultiheadAttention, x: Tensor) -> Tensor:
        rows, heads, width = x.size(0), attention.num_heads, attention.head_dim
        keys, values = self.cache.append(index, attention.k_proj(x), attention.v_proj(x), self.length)  # (P*h, t, d)
        query = (attention.q_proj(x) * attention.scaling).view(rows * heads, 1, width)
        weights = _softmax(torch.bmm(query, keys.transpose(1, 2)))  # (P*h, 1, t)
        return attention.out_proj(torch.bmm(weights, values).view(rows, heads * width))


def _softmax(scores: Tensor) -> Tensor:
    """Softmax in float32, returned in the type of the scores, as fairseq's attention does."""
    return torch.softmax(scores, dim=-1, dtype=torch.float32).type_as(scores)


class _KeyValueCache:
    """Self-attention keys and values of all layers, ``(L, 2, rows, h, t, d)``; rows stay in place unless they move."""

    #: One store for each kind of model, handed from batch to batch: fresh memory costs more than the copying.
    _spare: ClassVar[Dict[Any, Tensor]] = {}

    def __init__(self, layers: Any, like: Tensor) -> None:
        attention = layers[0].self_attn
        mode = torch.is_inference_mode_enabled()  # tensors made in one mode cannot be written to in the other
        self._kind = (like.device, like.dtype, mode, len(layers), attention.num_heads, attention.head_dim)
        empty = like.new_empty((len(layers), 2, 0, attention.num_heads, 0, attention.head_dim))
        self._store = self._spare.pop(self._kind, empty)
        self._rows = 0  # rows of the step before

    def fork(self, length: int) -> "_KeyValueCache":
        """An independent copy of the history of all rows."""
        other = copy.copy(self)
        other._store = self._store[:, :, : self._rows, :, : length + 1].clone()
        return other

    def __del__(self) -> None:
        self._spare[self._kind] = self._store

    def follow(self, rows: PrefixRows, length: int) -> None:
        """Make room for one more position of the new rows, and copy the history of those that moved."""
        self._reserve(len(rows.tokens), length + 1)
        self._rows = len(rows.tokens)
        moved = rows.moved()
        if len(moved):
            assert rows.parents is not None
            to = torch.from_numpy(moved).to(self._store.device)
            origin = torch.from_numpy(rows.parents[moved]).to(self._store.device)
            self._store[:, :, to, :, :length] = self._store[:, :, origin, :, :length]

    def _reserve(self, rows: int, length: int) -> None:
        """Make room for ``rows`` rows of ``length`` positions; the rows of the step before keep their history."""
        old = self._store
        if rows <= old.size(2) and length <= old.size(4):
            return
        size = list(old.shape)
        size[2] = max(64, 2 * rows if rows > old.size(2) else max(rows, self._rows))
        size[4] = old.size(4) if length <= old.size(4) else max(16, 2 * length)
        self._store = old.new_empty(size)
        self._store[:, :, : self._rows, :, : length - 1] = old[:, :, : self._rows, :, : length - 1]

    def append(self, layer: int, key: Tensor, value: Tensor, position: int) -> List[Tensor]:
        """Store ``(P, C)`` keys and values at ``position``; all so far as two tensors ``(P*h, position + 1, d)``."""
        rows = key.size(0)
        result = []
        for store, new in zip(self._store[layer], (key, value), strict=True):
            heads, width = store.size(1), store.size(3)
            store[:rows, :, position] = new.view(rows, heads, width)
            result.append(store[:rows].view(rows * heads, -1, width)[:, : position + 1])
        return result


class _SentenceBlocks:
    """Where each row stands when rows are grouped into blocks of one sentence each, for attention to shared keys.

    Blocks are small, so that sentences with few rows do not pay for those with many; ``(G, W)`` places for P rows.
    """

    def __init__(self, padding_mask: Any, states: Tensor) -> None:
        self.mask: Optional[Tensor] = None  # (B, 1, 1, S), -inf at padding
        if len(padding_mask) and padding_mask[0] is not None and bool(padding_mask[0].any()):
            mask = states.new_zeros(padding_mask[0].shape).masked_fill(padding_mask[0].bool(), float("-inf"))
            self.mask = mask[:, None, None, :]
        self.sentences = states.size(1)
        self.blocks = np.zeros(self.sentences, dtype=np.int64)  # blocks of each sentence
        self.count = self.layout = 0  # blocks in all; number of the layout
        self.place = self.sentence = torch.empty(0, dtype=torch.int64, device=states.device)
        self.block_mask: Optional[Tensor] = None  # (G, 1, 1, S)

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
        self.place = torch.from_numpy(place).to(self.place.device)

    def _lay_out(self, blocks: np.ndarray) -> None:
        self.blocks, self.count, self.layout = blocks, int(blocks.sum()), self.layout + 1
        self.sentence = torch.from_numpy(np.repeat(np.arange(self.sentences), blocks)).to(self.place.device)
        self.block_mask = None if self.mask is None else self.mask[self.sentence]

    def scatter(self, rows: Tensor) -> Tensor:
        """``(P, C) -> (G, W, C)``, zeros where there is no row."""
        grouped = rows.new_zeros((self.count * BLOCK_ROWS, rows.size(1)))
        return grouped.index_copy_(0, self.place, rows).view(self.count, BLOCK_ROWS, -1)

    def gather(self, grouped: Tensor) -> Tensor:
        """``(G, W, C) -> (P, C)``."""
        return grouped.reshape(self.count * BLOCK_ROWS, -1)[self.place]


class _SharedAttention:
    """Cross-attention whose keys and values are projected and kept once for each sentence."""

    def __init__(self, attention: MultiheadAttention, states: Tensor) -> None:
        self.attention = attention
        self.keys = self._split_heads(attention.k_proj(states)).permute(1, 2, 3, 0).contiguous()  # (B, h, d, S)
        self.values = self._split_heads(attention.v_proj(states)).permute(1, 2, 0, 3).contiguous()  # (B, h, S, d)
        self._layout = -1  # of the blocks that the next two are for
        self._block_keys, self._block_values = self.keys, self.values

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.attention.num_heads, self.attention.head_dim)

    def __call__(self, x: Tensor, blocks: _SentenceBlocks) -> Tensor:
        if self._layout != blocks.layout:
            self._layout = blocks.layout
            self._block_keys, self._block_values = self.keys[blocks.sentence], self.values[blocks.sentence]
        query = blocks.scatter(self.attention.q_proj(x) * self.attention.scaling)
        query = self._split_heads(query).transpose(1, 2)  # (G, h, W, d)
        scores = torch.matmul(query, self._block_keys)  # (G, h, W, S)
        if blocks.block_mask is not None:
            scores = scores + blocks.block_mask
        mixed = torch.matmul(_softmax(scores), self._block_values)  # (G, h, W, d)
        return self.attention.out_proj(blocks.gather(mixed.transpose(1, 2).flatten(2)))
