"""Cached self-attention keys and values of all layers, for rows that split, move and leave.

Rows stay in place unless they move. There is room for the positions of :func:`room_for` and not for more, so that
attention runs over whole, compact histories: torch multiplies few positions the slow way, and moving a row means
copying one stretch of memory for each layer.
"""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from dcmbr_fairseq.decoders.memory import WORTH_KEEPING, Memory

#: Units of 16 bytes on their way from row to row at once (16 MiB), which are memory beyond the cache's own.
MOVED_AT_ONCE = 2**20


def room_for(length: int) -> int:
    """Positions to make room for: a multiple of 8, with which matrix products are fastest, and at least 16."""
    return max(16, length + -length % 8)


class KeyValueCache:
    """Keys and values ``(L, 2, rows, h, t, d)`` of L layers with h heads of width d.

    Args:
        layers, heads, width: L, h and d.
        like: a tensor of the device and type wanted.

    Attributes:
        rows: how many rows there were in the step before.
    """

    def __init__(self, layers: int, heads: int, width: int, like: Tensor) -> None:
        self._layers, self._heads, self._width = layers, heads, width
        self._like = like
        self._memory = Memory("histories", like, pieces=2)  # a table is copied into the next larger one
        self.rows = 0
        self._store = like.new_zeros(self._shape(0, 0))
        self._mask = like.new_zeros(0)
        self._slots: Sequence[Tensor] = ()
        self._histories: Sequence[tuple[Tensor, ...]] = ()

    def fork(self) -> "KeyValueCache":
        """An independent copy of the history of all rows."""
        other = copy.copy(self)
        other._memory, other._mask = self._memory.fork(), self._mask.clone()
        other._store = self._store[:, :, : self.rows].clone()
        return other

    def release(self) -> None:
        """Hand the memory on. What it holds must be finite, since positions not in use are multiplied by zero."""
        self._memory.release()

    def follow(self, rows: int, length: int, to: Tensor, origin: Tensor) -> None:
        """Make room for one more position of the new rows, and copy the history of those that moved.

        Args:
            rows: P, of the coming step.
            length: positions so far.
            to: the rows that moved.
            origin: the row of the step before that each of them continues.
        """
        self._reserve(rows, length + 1)
        self.rows = rows
        self._mask.select(0, length).zero_()
        if len(to):
            whole = self._store.flatten(3).flatten(0, 1).view(torch.complex128)  # copied in units of 16 bytes
            for part in whole.split(max(1, MOVED_AT_ONCE // (len(to) * whole.size(2)))):
                part.index_copy_(1, to, part.index_select(1, origin))
        in_use = self._store.narrow(2, 0, self.rows)
        self._slots = in_use.select(4, length).unbind()  # L times (2, P, h, d)
        self._histories = [both.unbind() for both in in_use.flatten(2, 3).unbind()]  # L pairs of (P*h, t, d)

    def append(self, layer: int, keys_values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Store the keys and values of the new position.

        Args:
            layer: index of the layer.
            keys_values: ``(P, 2, h, d)``.

        Returns:
            Keys and values ``(P*h, t, d)`` of all positions, and the mask ``(t,)`` that is -inf after the new one.
        """
        self._slots[layer].copy_(keys_values.transpose(0, 1))
        keys, values = self._histories[layer]
        return keys, values, self._mask

    def _shape(self, rows: int, length: int) -> tuple[int, ...]:
        return self._layers, 2, rows, self._heads, length, self._width

    def _reserve(self, rows: int, length: int) -> None:
        """Make room for ``rows`` rows of ``length`` positions; the rows of the step before keep their history."""
        old = self._store
        if rows <= old.size(2) and length <= old.size(4):
            return
        if rows > old.size(2):
            is_small = self._bytes(rows, length) <= WORTH_KEEPING // 2  # then to copy it again costs more than room
            rows = max(64, rows + rows // (2 if is_small else 8))
        rows, length = max(rows, self.rows), max(room_for(length), old.size(4))
        self._store = self._new(rows, length)
        self._store[:, :, : self.rows, :, : old.size(4)] = old[:, :, : self.rows]
        self._memory.shed()
        mask = self._mask.new_full((length,), -torch.inf)
        mask[: len(self._mask)] = self._mask
        self._mask = mask

    def _bytes(self, rows: int, length: int) -> int:
        return torch.Size(self._shape(rows, length)).numel() * self._like.element_size()

    def _new(self, rows: int, length: int) -> Tensor:
        """A store in memory that is not in use, for more rows than asked for if there is room."""
        one = torch.Size(self._shape(1, length)).numel()
        memory = self._memory.take(rows * one, rows * one)
        rows = memory.numel() // one
        return memory[: rows * one].view(self._shape(rows, length))
