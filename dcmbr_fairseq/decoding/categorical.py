"""Drawing from many categorical distributions at once: which token does a uniform number fall on?

A draw takes the token at which the cumulative distribution passes its uniform. The cumulative sum over the vocabulary
is found in two levels, block sums and then one block for each draw, all sums in float64: label smoothing spreads about
1e-6 on each of tens of thousands of tokens, and float32 sums would draw these too often or never.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Drawn(NamedTuple):
    """``(D,)`` tokens drawn, and the float64 probability that each had in its row's distribution."""

    tokens: Tensor
    probabilities: Tensor


def draw_tokens(weights: Tensor, rows: Tensor, uniforms: Tensor) -> Drawn:
    """Draw one token for each uniform number.

    Args:
        weights: ``(P, V)`` non-negative float32, not normalised; a token of weight 0 is never drawn.
        rows: ``(D,)`` the row that each draw samples from.
        uniforms: ``(D,)`` float64 in [0, 1).
    """
    block = block_size(weights.size(1))
    sums = _block_sums(weights, block)  # (P, n_blocks)
    ends = sums.cumsum(dim=1)
    row_ends = ends[rows]  # (D, n_blocks)
    total = row_ends[:, -1]
    target = uniforms * total
    # Rounding may put the target on the very end; the last block that has any weight is then meant.
    last = (row_ends < total[:, None]).sum(dim=1)
    chosen = torch.minimum((row_ends <= target[:, None]).sum(dim=1), last)
    start = torch.where(chosen > 0, row_ends.gather(1, (chosen - 1).clamp(min=0)[:, None])[:, 0], 0.0)
    inside = _one_block(weights, rows, chosen, block)  # (D, block)
    position = _position(inside, target - start)
    weight = inside.gather(1, position[:, None])[:, 0]
    return Drawn(chosen * block + position, weight / total)


def block_size(vocabulary: int) -> int:
    """About the square root of the vocabulary, so that both levels cost the same."""
    return max(1, 2 ** round(math.log2(vocabulary) / 2))


def _block_sums(weights: Tensor, block: int) -> Tensor:
    """``(P, V) -> (P, ceil(V / block))`` float64."""
    rows, vocabulary = weights.shape
    whole = vocabulary // block
    sums = weights[:, : whole * block].view(rows, whole, block).sum(dim=2, dtype=torch.float64)
    if whole * block == vocabulary:
        return sums
    rest = weights[:, whole * block :].sum(dim=1, keepdim=True, dtype=torch.float64)
    return torch.cat([sums, rest], dim=1)


def _one_block(weights: Tensor, rows: Tensor, chosen: Tensor, block: int) -> Tensor:
    """``(D, block)`` float64 weights of each draw's chosen block, zeros past the end of the vocabulary."""
    vocabulary = weights.size(1)
    columns = chosen[:, None] * block + torch.arange(block, device=weights.device)
    inside = weights.view(-1)[rows[:, None] * vocabulary + columns.clamp(max=vocabulary - 1)].double()
    return inside.masked_fill_(columns >= vocabulary, 0.0)


def _position(inside: Tensor, target: Tensor) -> Tensor:
    """``(D,)`` position at which the cumulative sum of ``inside`` passes ``target``, always one of positive weight."""
    passed = (inside.cumsum(dim=1) <= target[:, None]).sum(dim=1)
    places = torch.arange(inside.size(1), device=inside.device)
    last_positive = torch.where(inside > 0, places, 0).amax(dim=1)
    return torch.minimum(passed, last_positive)
