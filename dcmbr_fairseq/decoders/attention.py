"""Attention of prefix rows, and to sources whose keys and values are projected and kept once for all of their rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dcmbr_fairseq.decoders.transfer import on_device

#: Rows of one block, always as many, for the reason of ROW_MULTIPLE. Blocks are small, so that sentences with few rows
#: do not pay for those with many.
BLOCK_ROWS = 8


def attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor, scaling: float) -> Tensor:
    """``(n, q, d)`` attention of queries ``(n, q, d)`` to keys ``(n, d, t)`` and values ``(n, t, d)``.

    The softmax is that of float32, as in fairseq's attention; ``mask`` (-inf: not seen) is added to the scores.
    """
    scores = torch.baddbmm(mask, query, keys, alpha=scaling)
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).type_as(scores)
    return torch.bmm(weights, values)


class SharedSources:
    """What P rows of B sentences see of their sources in all L layers.

    Rows are grouped into G blocks of one sentence each; a block has its own copy of its sentence's keys and values, so
    that one batched product serves all rows. The layout of blocks is kept while it serves.

    Args:
        layers: the decoder's layers.
        states: ``(S, B, C)`` states of the encoder.
        padding_mask: ``(B, S)``, true at padding; None for none.
    """

    def __init__(self, layers: Sequence[Any], states: Tensor, padding_mask: Tensor | None) -> None:
        states = states.contiguous()  # one way of projecting them, whatever has been done to them
        width, self.sentences, _ = states.shape
        attention = layers[0].encoder_attn
        self.heads, self.width, self.scaling = attention.num_heads, attention.head_dim, attention.scaling
        self.mask = states.new_zeros((self.sentences, width))  # -inf at padding
        if padding_mask is not None:
            self.mask.masked_fill_(padding_mask.bool(), -torch.inf)
        projected = []
        for layer in layers:
            keys, values = layer.encoder_attn.k_proj(states), layer.encoder_attn.v_proj(states)
            projected += [self._by_sentence(keys, (1, 2, 3, 0)), self._by_sentence(values, (1, 2, 0, 3))]
        self.store = torch.stack(projected)  # (2L, B, h*d*S): of each layer keys (h, d, S) and values (h, S, d)
        self.blocks = np.zeros(self.sentences, dtype=np.int64)  # blocks of each sentence
        self.count = 0  # G
        self._head_numbers = np.arange(self.heads)
        self._block_store = self._block_mask = states.new_empty(0)
        self._to_blocks = self._to_rows = torch.empty(0, dtype=torch.int64, device=states.device)

    def _by_sentence(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """``(S, B, C)`` as ``(B, h*d*S)``: with its heads apart in another order."""
        return x.view(*x.shape[:2], self.heads, self.width).permute(*order).flatten(1)

    def assign(self, sentences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give each row ``(P,)`` a place in a block of its sentence; what is to be given to :meth:`use`."""
        counts = np.bincount(sentences, minlength=self.sentences)
        needed = -(-counts // BLOCK_ROWS)
        if (needed > self.blocks).any() or self.count > 1.5 * needed.sum():
            self._lay_out(needed)
        order = np.argsort(sentences, kind="stable")
        first_places = (np.cumsum(self.blocks) - self.blocks) * BLOCK_ROWS  # of each sentence
        places = np.arange(len(order)) + np.repeat(first_places - (np.cumsum(counts) - counts), counts)  # in that order
        row = np.zeros(self.count * BLOCK_ROWS, dtype=np.int64)  # where there is none, the first row stands for it
        row[places] = order
        to_blocks = row.reshape(-1, 1, BLOCK_ROWS) * self.heads + self._head_numbers[:, None]  # (G, h, W) of (P, h)
        place = np.empty_like(order)
        place[order] = places
        place += place // BLOCK_ROWS * (BLOCK_ROWS * (self.heads - 1))  # of the first head
        to_rows = place[:, None] + self._head_numbers * BLOCK_ROWS  # (P, h) of (G, h, W)
        return to_blocks.ravel(), to_rows.ravel()

    def use(self, to_blocks: Tensor, to_rows: Tensor) -> None:
        """The places of the rows of this step: those that :meth:`assign` gave, on the device."""
        self._to_blocks, self._to_rows = to_blocks, to_rows

    def _lay_out(self, blocks: np.ndarray) -> None:
        self.blocks, self.count = blocks, int(blocks.sum())
        (sentence,) = on_device(self.store.device, np.repeat(np.arange(self.sentences), blocks))
        self._block_store = self.store.new_empty(0)  # freed first, so that the old and the new never exist at once
        self._block_store = self.store.index_select(1, sentence)
        self._block_mask = self.mask[sentence].repeat_interleave(self.heads, dim=0)[:, None]  # (G*h, 1, S)

    def attend(self, layer: int, query: Tensor) -> Tensor:
        """``(P, C) -> (P, C)``: the projected queries of a layer, and what each head found, not yet mixed."""
        items, width = self.count * self.heads, self.width
        keys = self._block_store[2 * layer].view(items, width, -1)
        values = self._block_store[2 * layer + 1].view(items, -1, width)
        grouped = query.view(-1, width).index_select(0, self._to_blocks).view(items, BLOCK_ROWS, width)
        found = attend(grouped, keys, values, self._block_mask, self.scaling)
        return found.view(-1, width).index_select(0, self._to_rows).view(query.shape)
