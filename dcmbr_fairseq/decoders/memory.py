"""Memory that is handed from step to step and from batch to batch: fresh memory costs more than what is done in it."""

from typing import ClassVar

import torch
from torch import Tensor

#: Memory that is no longer in use is kept for later if it has at most this many bytes.
WORTH_KEEPING = 2**26

#: Tables of more numbers are made anew: they cost much memory, and with such a model fresh memory costs little.
LARGE_TABLE = 2**22

MemoryKind = tuple[str, torch.device, torch.dtype, bool]


class Memory:
    """Flat memory for one table that grows, in one piece or in two that take turns.

    Args:
        use: what it is for; memory is handed on to the same use only, since sizes differ.
        like: a tensor of the device and type wanted.
        pieces: 1 if the contents need not outlive the next :meth:`take`; 2 if the piece before must stay valid until
            then, to be copied from.
    """

    #: What has been handed on. Tensors made in inference mode cannot be written to outside it, and the other way round.
    _spare: ClassVar[dict[MemoryKind, list[Tensor]]] = {}

    def __init__(self, use: str, like: Tensor, pieces: int) -> None:
        self._kind = use, like.device, like.dtype, torch.is_inference_mode_enabled()
        self._like, self._most = like, pieces
        self._pieces: list[Tensor] = self._spare.pop(self._kind, [])  # what is in use is the last

    def take(self, needed: int, wanted: int) -> Tensor:
        """A flat tensor of at least ``needed`` numbers, all finite; ``wanted`` are made if there is none."""
        if len(self._pieces) == self._most:
            self._pieces.append(self._pieces.pop(0))  # the one that has not been used for longest
            if self._pieces[-1].numel() < needed:
                del self._pieces[-1]  # freed first, so that it and the larger one never exist at once
        if len(self._pieces) < self._most:
            self._pieces.append(self._like.new_zeros(wanted))
        return self._pieces[-1]

    def shed(self) -> None:
        """The piece before has been copied from: it is kept for its next turn only if it is small."""
        self._pieces[:-1] = _small(self._pieces[:-1])

    def fork(self) -> "Memory":
        """Memory of the same kind and use, with nothing in it yet."""
        other = Memory.__new__(Memory)
        other._kind, other._like, other._most, other._pieces = self._kind, self._like, self._most, []
        return other

    def release(self) -> None:
        """Hand on what is small; the tensors given are no longer valid."""
        self._spare[self._kind], self._pieces = _small(self._pieces), []


def _small(pieces: list[Tensor]) -> list[Tensor]:
    return [piece for piece in pieces if piece.nbytes <= WORTH_KEEPING]


class Scratch:
    """One table whose contents need not outlive a step.

    Args:
        like: a tensor of the device and type wanted.
    """

    def __init__(self, like: Tensor) -> None:
        self._like, self._memory = like, Memory("scratch", like, pieces=1)

    def table(self, rows: int, columns: int) -> Tensor:
        """``(rows, columns)`` with undefined contents; the tables given before are no longer valid."""
        if rows * columns > LARGE_TABLE:
            return self._like.new_empty((rows, columns))
        memory = self._memory.take(rows * columns, (rows + rows // 4) * columns)
        return memory[: rows * columns].view(rows, columns)

    def release(self) -> None:
        """Hand the memory on."""
        self._memory.release()
