"""Drawing from many categorical distributions at once: which token does a uniform number fall on?

A draw takes the token at which the cumulative distribution passes its uniform. The cumulative sum over the vocabulary
is found in two levels, over blocks and then inside one block for each draw, both in float64: label smoothing spreads
about 1e-6 on each of tens of thousands of tokens, and float32 would draw these too often or never. (The sum of one
block alone is float32: its relative error, about 1e-7, is a relative error of its tokens' probabilities, not an
absolute one.)
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Drawn(NamedTuple):
    """``(D,)`` tokens drawn, and the float64 probability that each had in its row's distribution."""

    tokens: Tensor
    probabilities: Tensor


def draw_tokens(weights: Tensor, rows: Tensor, uniforms: Tensor, squared: bool = False) -> Drawn:
    """Draw one token for each uniform number.

    Args:
        weights: ``(P, V)`` non-negative float32, not normalised; a token of weight 0 is never drawn.
        rows: ``(D,)`` the row that each draw samples from.
        uniforms: ``(D,)`` float64 in [0, 1).
        squared: draw in proportion to the squares of the weights (which temperature 0.5 needs), without a pass over
            the vocabulary to make them.
    """
    block = block_size(weights.size(1))
    sums = _block_sums(weights, block, squared)  # (P, n_blocks)
    row_ends = sums.cumsum(dim=1)[rows]  # (D, n_blocks)
    total = row_ends[:, -1]
    target = uniforms * total
    chosen = _position(row_ends, target)
    before = row_ends.gather(1, (chosen - 1).clamp_(min=0)[:, None])[:, 0].masked_fill_(chosen == 0, 0.0)
    inside = _one_block(weights, rows, chosen, block)  # (D, block)
    if squared:
        inside.square_()
    ends = inside.cumsum(dim=1)
    share = (target - before) / sums[rows, chosen]  # how far inside the block, in [0, 1)
    position = _position(ends, share * ends[:, -1])
    return Drawn(chosen * block + position, inside.gather(1, position[:, None])[:, 0] / total)


def block_size(vocabulary: int) -> int:
    """About the square root of the vocabulary, so that both levels cost the same."""
    return max(1, 2 ** round(math.log2(vocabulary) / 2))


def _block_sums(weights: Tensor, block: int, squared: bool) -> Tensor:
    """``(P, V) -> (P, ceil(V / block))`` float64 sums of the weights or of their squares."""
    rows, vocabulary = weights.shape
    whole = vocabulary // block
    parts = [weights[:, : whole * block].view(rows, whole, block)]
    if whole * block < vocabulary:
        parts.append(weights[:, None, whole * block :])
    if squared:
        return torch.cat([torch.linalg.vector_norm(part, dim=2) for part in parts], dim=1).double().square_()
    return torch.cat([part.sum(dim=2) for part in parts], dim=1).double()


def _one_block(weights: Tensor, rows: Tensor, chosen: Tensor, block: int) -> Tensor:
    """``(D, block)`` float64 weights of each draw's chosen block, zeros past the end of the vocabulary."""
    vocabulary = weights.size(1)
    columns = chosen[:, None] * block + torch.arange(block, device=weights.device)
    inside = weights.view(-1)[rows[:, None] * vocabulary + columns.clamp(max=vocabulary - 1)].double()
    return inside.masked_fill_(columns >= vocabulary, 0.0)


def _position(ends: Tensor, target: Tensor) -> Tensor:
    """``(D,)`` position at which the cumulative sums ``ends`` pass ``target``, always one of positive weight."""
    passed = (ends <= target[:, None]).sum(dim=1)
    last_positive = (ends < ends[:, -1:]).sum(dim=1)  # rounding may put the target on the very end
    return torch.minimum(passed, last_positive)
