"""Memory that is handed from step to step and from batch to batch: fresh memory costs more than what is done in it."""

from typing import ClassVar

import torch
from torch import Tensor

#: Tables of more numbers are made anew: they cost much memory, and with such a model fresh memory costs little.
LARGE_TABLE = 2**22

MemoryKind = tuple[torch.device, torch.dtype, bool]


def memory_kind(like: Tensor) -> MemoryKind:
    """What memory can be handed on for: device, type, and inference mode, since tensors of one cannot be written to in
    the other."""
    return like.device, like.dtype, torch.is_inference_mode_enabled()


class Scratch:
    """One table whose contents need not outlive a step.

    Args:
        like: a tensor of the device and type wanted.
    """

    _spare: ClassVar[dict[MemoryKind, Tensor]] = {}

    def __init__(self, like: Tensor) -> None:
        self._kind = memory_kind(like)
        self._memory = self._spare.pop(self._kind, like.new_empty(0))

    def table(self, rows: int, columns: int) -> Tensor:
        """``(rows, columns)`` with undefined contents; the tables given before are no longer valid."""
        if rows * columns > LARGE_TABLE:
            return self._memory.new_empty((rows, columns))
        if rows * columns > self._memory.numel():
            self._memory = self._memory.new_empty(0)  # before there is more
            self._memory = self._memory.new_empty((rows + rows // 4) * columns)
        return self._memory[: rows * columns].view(rows, columns)

    def release(self) -> None:
        """Hand the memory on."""
        self._spare[self._kind] = self._memory
