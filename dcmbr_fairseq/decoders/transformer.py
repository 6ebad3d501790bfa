"""The standard Transformer decoder, one step over prefix rows: what `FairseqDecoder` computes, with less copying.

Savings over fairseq's own incremental forward, none of which changes the numbers beyond rounding: cached keys and
values stay in place and only rows that split are copied; the cross-attention keys and values of a sentence are kept
once for all of its rows; queries, keys and values are projected together; weights are laid out for few rows, and the
logits are written to the same memory at every step.
"""

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from fairseq.models.transformer.transformer_decoder import TransformerDecoderBase
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase
from torch import Tensor, nn

from dcmbr_fairseq.decoders.attention import SharedSources, attend
from dcmbr_fairseq.decoders.incremental import IncrementalDecoder, PrefixRows
from dcmbr_fairseq.decoders.key_value_cache import KeyValueCache
from dcmbr_fairseq.decoders.memory import Scratch
from dcmbr_fairseq.decoders.transfer import on_device

#: The weights of a decoder of fewer parameters are copied in the order of matrix products, which saves up to a fifth of
#: a product's time on a CPU. Larger products gain little, and need the memory.
SMALL_DECODER = 2**22

#: With fewer outputs than this, products in that order round a row differently at different places.
NARROW = 16

_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")

#: Methods that may be overridden: what they do is seen in the result, or does not reach the logits, or is looked at
#: apart (`gives_logits`).
_NO_COMPUTATION = ("__init__", "max_positions", "upgrade_state_dict_named", "make_generation_fast_",
                   "prepare_for_onnx_export_", "buffered_future_mask")  # fmt: skip

_PLAIN_LAYER = ("attn_ln", "c_attn", "ffn_layernorm", "w_resid")


def is_standard_transformer(model: Any) -> bool:
    """Whether :class:`TransformerDecoder` computes what ``model`` does: fairseq's own decoder, no unusual parts."""
    decoder = model.decoder
    return (
        isinstance(decoder, TransformerDecoderBase)
        and _computes_as(decoder, TransformerDecoderBase)
        and not any(module._forward_hooks or module._forward_pre_hooks for module in _inside(decoder))
        and not decoder.cross_self_attention
        and decoder.adaptive_softmax is None
        and decoder.quant_noise is None
        and all(_is_standard_layer(layer) for layer in decoder.layers)
    )


def _inside(decoder: Any) -> list[nn.Module]:
    """All modules but the decoder itself, whose hooks fairseq's generators pass over as well."""
    return [module for module in decoder.modules() if module is not decoder]


def _computes_as(module: Any, base: type) -> bool:
    """Whether a module's class overrides no method of ``base`` that has to do with what it computes."""
    return all(
        getattr(type(module), name) is method or name in _NO_COMPUTATION or name.startswith("build_")
        for name, method in vars(base).items()
        if callable(method)
    )


def _is_standard_layer(layer: Any) -> bool:
    return (
        isinstance(layer, TransformerDecoderLayerBase)
        and _computes_as(layer, TransformerDecoderLayerBase)
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
    """``(P, K) -> (P, N)`` by several linear layers of the same input at once.

    Args:
        layers: the layers.
        copied: whether to use a copy of the weights in the order of matrix products.
    """

    def __init__(self, *layers: nn.Linear, copied: bool) -> None:
        weights: list[Tensor] = [layer.weight.t() for layer in layers]
        self.weight = weights[0] if len(weights) == 1 else torch.cat(weights, dim=1)  # (K, N)
        if copied and self.weight.size(1) >= NARROW:
            self.weight = self.weight.contiguous()
        biases: list[Tensor] = [layer.bias for layer in layers if layer.bias is not None]
        self.bias = torch.cat(biases) if biases else None

    def __call__(self, x: Tensor, out: Tensor | None = None) -> Tensor:
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
        model: a model for which :func:`is_standard_transformer` holds.
        encoder_out: its encoder's output, fairseq's dictionary with ``(S, B, C)`` states and a ``(B, S)`` mask.
    """

    def __init__(self, model: Any, encoder_out: Any) -> None:
        self.decoder = decoder = model.decoder
        self.length = 0  # target tokens so far
        states = encoder_out["encoder_out"][0]  # (S, B, C)
        self.device = states.device
        copied = states.device.type == "cpu" and sum(x.numel() for x in decoder.parameters()) < SMALL_DECODER
        self.layers = [_Layer(layer, copied) for layer in decoder.layers]
        masks = encoder_out["encoder_padding_mask"]
        self.sources = SharedSources(decoder.layers, states, masks[0] if len(masks) else None)
        first = self.layers[0]
        self.cache = KeyValueCache(len(self.layers), first.heads, first.width, states)
        self.positions = states.new_empty((0, 0))  # (n, C) embeddings of the first n positions
        output = decoder.output_projection
        is_plain = type(output) is nn.Linear and output.weight.dtype == torch.float32
        self.output = _Linear(output, copied=copied) if is_plain else None
        self.logits = Scratch(states)

    def step(self, rows: PrefixRows) -> Tensor:
        """See :meth:`IncrementalDecoder.step`."""
        count = len(rows.tokens)
        rows = rows.padded(self.cache.rows)
        places = self.sources.assign(rows.sentences)
        tokens, to, origin, *blocks = on_device(self.device, rows.tokens, *rows.moves(), *places)
        self.cache.follow(len(rows.tokens), self.length, to, origin)
        self.sources.use(*blocks)
        x = self._embed(tokens)  # (P, C)
        for index, layer in enumerate(self.layers):
            x = layer(x, index, self.cache, self.sources)
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
        other.cache, other.sources = self.cache.fork(), copy.copy(self.sources)
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
    """One decoder layer."""

    def __init__(self, layer: Any, copied: bool) -> None:
        attention, cross = layer.self_attn, layer.encoder_attn
        self.heads, self.width, self.scaling = attention.num_heads, attention.head_dim, attention.scaling
        self.projection = _Linear(attention.q_proj, attention.k_proj, attention.v_proj, copied=copied)
        self.mix = _Linear(attention.out_proj, copied=copied)
        self.cross_query, self.cross_mix = (_Linear(x, copied=copied) for x in (cross.q_proj, cross.out_proj))
        self.inner, self.outer = (_Linear(x, copied=copied) for x in (layer.fc1, layer.fc2))
        self.activation = layer.activation_fn
        self.is_pre_norm = layer.normalize_before
        modules = (layer.self_attn_layer_norm, layer.encoder_attn_layer_norm, layer.final_layer_norm)
        self.norms = [_norm(module) for module in modules]

    def __call__(self, x: Tensor, index: int, cache: KeyValueCache, sources: SharedSources) -> Tensor:
        """``(P, C) -> (P, C)``; ``index`` is the layer's own in the cache."""
        sublayers: Sequence[Callable[[Tensor], Tensor]] = (
            lambda y: self._self_attention(y, index, cache),
            lambda y: self.cross_mix(sources.attend(index, self.cross_query(y))),
            lambda y: self.outer(self.activation(self.inner(y))),
        )
        for norm, sublayer in zip(self.norms, sublayers, strict=True):
            x = x + sublayer(norm(x)) if self.is_pre_norm else norm(sublayer(x).add_(x))
        return x

    def _self_attention(self, x: Tensor, index: int, cache: KeyValueCache) -> Tensor:
        rows = x.size(0)
        projected = self.projection(x).view(rows, 3, self.heads, self.width)
        keys, values, mask = cache.append(index, projected[:, 1:])  # (P*h, t, d), (t,)
        query = projected[:, 0].reshape(rows * self.heads, 1, self.width)
        mixed = attend(query, keys.transpose(1, 2), values, mask, self.scaling)  # (P*h, 1, d)
        return self.mix(mixed.view(rows, self.heads * self.width))
