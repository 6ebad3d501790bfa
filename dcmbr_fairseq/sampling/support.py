"""Which tokens may follow a prefix."""

import functools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from dcmbr_fairseq.errors import UserError


@dataclass(frozen=True)
class Support:
    """Which tokens may follow a prefix.

    Attributes:
        eos: end-of-sentence token.
        banned: tokens that are never drawn (padding).
        min_len: number of tokens before the end of sentence may be drawn (fairseq's ``--min-len``; 1 bans the empty
            translation).
        unk: unknown-word token.
        unk_penalty: subtracted from its cooled logit (fairseq's ``--unkpen``).

    Raises:
        UserError: the penalty is not finite.
    """

    eos: int
    banned: tuple[int, ...]
    min_len: int = 1
    unk: int = -1
    unk_penalty: float = 0.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.unk_penalty):
            raise UserError(f"--unkpen must be finite, got {self.unk_penalty}: 1e5 bans the unknown word in effect")

    def penalise(self, cooled_logits: Tensor) -> None:
        """Subtract the unknown word's penalty from its cooled logit, ``(P, V)``, in place."""
        if self.unk_penalty:
            cooled_logits.select(1, self.unk).sub_(self.unk_penalty)

    def restrict(self, values: Tensor, step: int, value: float = -math.inf) -> None:
        """Set the ``(P, V)`` logits of what may not be drawn at this step to -inf, or weights to 0, in place."""
        tokens = (*self.banned, self.eos) if step < self.min_len else self.banned
        values.index_fill_(1, _index(tokens, values.device), value)


@functools.lru_cache(maxsize=16)
def _index(tokens: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.tensor(tokens, dtype=torch.int64, device=device)
