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

#: Times this, a positive float64 (that is not subnormal) becomes the next smaller one.
_ALMOST_ONE = 1 - 2**-53


class Drawn(NamedTuple):
    """What D draws have drawn.

    Attributes:
        tokens: ``(D,)``.
        probabilities: ``(D,)`` float64, that each token had in its row's distribution.
        totals: ``(D,)`` float64 sum of the row's weights.
        remainders: ``(D,)`` float64 in [0, 1): how far inside its token's interval each uniform lies. Given the tokens
            they are uniform again, with as many bits less as the tokens are improbable.
    """

    tokens: Tensor
    probabilities: Tensor
    totals: Tensor
    remainders: Tensor


def draw_tokens(weights: Tensor, power: int, rows: Tensor, uniforms: Tensor) -> Drawn:
    """Draw one token for each uniform number.

    Args:
        weights: ``(P, V)`` non-negative float32, contiguous, not normalised; a token of weight 0 is never drawn.
        power: 1, or 2 to draw by the squares of the weights.
        rows: ``(D,)`` the row that each draw samples from.
        uniforms: ``(D,)`` float64 in [0, 1).
    """
    block = block_size(weights.size(1))
    sums = _block_sums(weights, power, block)  # (P, n_blocks)
    row_ends = sums.cumsum(dim=1).index_select(0, rows)  # (D, n_blocks)
    total = row_ends[:, -1]
    target = uniforms * total
    chosen = _position(row_ends, target)
    own = sums.view(-1).index_select(0, rows * sums.size(1) + chosen)
    before = row_ends.gather(1, chosen[:, None])[:, 0] - own
    inside, first = _one_block(weights, power, rows, chosen, block)  # (D, block), (D,)
    ends = inside.cumsum(dim=1)
    share = ((target - before) / own).clamp_(min=0.0)  # how far inside the block
    within = share * ends[:, -1]
    position = _position(ends, within)[:, None]
    weight, end = (table.gather(1, position)[:, 0] for table in (inside, ends))
    remainders = ((within - (end - weight)) / weight).clamp_(0.0, _ALMOST_ONE)
    return Drawn(first + position[:, 0], weight / total, total, remainders)


def block_size(vocabulary: int) -> int:
    """About the square root of the vocabulary, so that both levels cost the same."""
    return max(1, 2 ** round(math.log2(vocabulary) / 2))


def _block_sums(weights: Tensor, power: int, block: int) -> Tensor:
    """``(P, V) -> (P, ceil(V / block))`` float64 sums of the weights, or of their squares."""
    rows, vocabulary = weights.shape
    whole = vocabulary // block
    sums = weights.new_empty((rows, -(-vocabulary // block)), dtype=torch.float64)
    parts = [(slice(0, whole), weights[:, : whole * block].view(rows, whole, block))]
    if whole * block < vocabulary:
        parts.append((slice(whole, None), weights[:, None, whole * block :]))
    for blocks, part in parts:
        sums[:, blocks] = part.sum(dim=2) if power == 1 else torch.linalg.vector_norm(part, dim=2)
    return sums if power == 1 else sums.square_()


def _one_block(weights: Tensor, power: int, rows: Tensor, chosen: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """``(D, block)`` float64 weights, or squares, around each draw's chosen block; ``(D,)`` their first tokens.

    The last block of a vocabulary may be shorter: its window then begins in the block before, and is zero there.
    """
    vocabulary = weights.size(1)
    begin = chosen * block
    first = begin.clamp(max=vocabulary - block)
    windows = weights.view(-1).unfold(0, block, 1)  # a view: the window at every offset
    inside = windows.index_select(0, rows * vocabulary + first).double()
    if power == 2:
        inside.square_()
    if vocabulary % block:
        outside = torch.arange(block, device=weights.device) < (begin - first)[:, None]
        inside.masked_fill_(outside, 0.0)
    return inside, first


def _position(ends: Tensor, target: Tensor) -> Tensor:
    """``(D,)`` position at which the cumulative sums ``ends`` pass ``target``, always one of positive weight."""
    total = ends[:, -1]
    below = torch.minimum(target, total * _ALMOST_ONE)  # rounding may reach the very end
    position = torch.searchsorted(ends, below[:, None], right=True)[:, 0]
    return position.clamp_(max=ends.size(1) - 1)  # passes only nan, which the caller finds in the probability
