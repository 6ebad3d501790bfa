"""Drawing tokens: the two-level search finds what a plain cumulative sum in float64 finds, far down the tail too."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from scipy import stats

from dcmbr_fairseq.sampling.categorical import block_size, draw_tokens

LAST = float(np.nextafter(1.0, 0.0))


def plainly(weights: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """The token at which the cumulative distribution passes each uniform, for one row."""
    ends = weights.astype(np.float64).cumsum()
    return np.searchsorted(ends, uniforms * ends[-1], side="right")


@st.composite
def whole_weights(draw: st.DrawFn) -> np.ndarray:
    """``(P, V)`` whole numbers, many of them 0, whose sums are exact; each row has a positive one."""
    rows, size = draw(st.integers(1, 4)), draw(st.integers(1, 150))  # mostly no multiple of the block's size
    dice = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = dice.integers(1, 31, (rows, size)) * (dice.random((rows, size)) < draw(st.floats(0, 1)))
    weights[np.arange(rows), dice.integers(0, size, rows)] += 1
    return weights.astype(np.float32)


@inputs(50)
@given(whole_weights(), st.sampled_from([1, 2]))
def test_every_token_gets_its_own_interval(roots: np.ndarray, power: int) -> None:
    weights = roots**power
    rows, uniforms, expected = [], [], []
    for row, row_weights in enumerate(weights):
        total = int(row_weights.sum())
        middles = (np.arange(min(total, 500)) + 0.5) / total  # of the unit intervals of which tokens are made
        rows += [row] * len(middles)
        uniforms += middles.tolist()
        expected += plainly(row_weights, middles).tolist()
    drawn = draw_tokens(torch.from_numpy(roots), power, torch.tensor(rows), torch.tensor(uniforms).double())
    assert drawn.tokens.tolist() == expected
    chances = weights[rows, expected] / weights.astype(np.float64).sum(axis=1)[rows]
    np.testing.assert_allclose(drawn.probabilities.numpy(), chances, rtol=1e-6)


@inputs(50)
@given(
    st.integers(1, 300),
    st.floats(0.1, 30),
    st.lists(st.floats(0, LAST) | st.sampled_from([0.0, LAST]), min_size=1, max_size=20),
    st.integers(0, 2**32 - 1),
)
def test_any_weights_and_uniforms(size: int, spread: float, uniforms: list, seed: int) -> None:
    dice = np.random.default_rng(seed)
    logits = spread * dice.standard_normal((1, size))
    weights = np.exp(logits - logits.max()).astype(np.float32)
    weights[:, dice.random(size) < 0.3] = 0
    weights[:, dice.integers(size)] = 1
    drawn = draw_tokens(
        torch.from_numpy(weights),
        1,
        torch.zeros(len(uniforms), dtype=torch.long),
        torch.tensor(uniforms).double(),
    )
    shares = weights[0].astype(np.float64)
    ends = shares.cumsum() / shares.sum()
    tokens = drawn.tokens.numpy()
    assert (shares[tokens] > 0).all()  # a token of weight 0 is never drawn
    # each uniform lies in its token's interval, up to the rounding of float32 block sums
    assert (np.array(uniforms) <= ends[tokens] + 1e-6).all()
    assert (np.array(uniforms) >= ends[tokens] - shares[tokens] / shares.sum() - 1e-6).all()


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 1000])
def test_the_extreme_uniforms_give_the_first_and_last_token_of_positive_weight(size: int) -> None:
    weights = torch.zeros(2, size + 9)
    weights[:, 4 : 4 + size] = torch.rand(2, size, generator=torch.Generator().manual_seed(1)) + 0.1
    drawn = draw_tokens(weights, 1, torch.tensor([0, 0, 1, 1]), torch.tensor([0.0, LAST] * 2).double())
    assert drawn.tokens.tolist() == [4, 3 + size] * 2


def smoothed(vocabulary: int, gold: int) -> torch.Tensor:
    """``(1, V)`` the optimum of label smoothing 0.05: each of 50,000 other tokens has probability 1e-6."""
    weights = torch.full((1, vocabulary), 0.05 / (vocabulary - 1))
    weights[0, gold] = 0.95
    return weights


@pytest.mark.parametrize("gold", [0, 25_000, 50_000])
def test_tokens_of_a_smoothed_tail_have_their_own_intervals(gold: int) -> None:
    weights = smoothed(50_001, gold)
    ends = weights[0].double().cumsum(0)
    tokens = torch.from_numpy(np.random.default_rng(2).choice(50_001, 2000, replace=False))
    middles = (ends[tokens] - weights[0, tokens].double() / 2) / ends[-1]
    assert draw_tokens(weights, 1, torch.zeros(2000, dtype=torch.long), middles).tokens.tolist() == tokens.tolist()


def test_tokens_of_a_smoothed_tail_are_drawn_as_often_as_they_should_be() -> None:
    """Of 200,000 draws, those that fall on the tail: in 100 groups of 500 tokens each, about 100 on each group."""
    weights = smoothed(50_001, gold=0)
    uniforms = np.random.default_rng(3).random(200_000)
    tail = torch.from_numpy(uniforms[uniforms >= 0.95])  # the gold token, which comes first, takes the others
    tokens = draw_tokens(weights, 1, torch.zeros(len(tail), dtype=torch.long), tail).tokens.numpy()
    counts = np.bincount((tokens + 499) // 500, minlength=101)
    assert counts[0] <= 1  # 0.95 itself, rounded
    assert stats.chisquare(counts[1:], np.full(100, counts[1:].sum() / 100)).pvalue > 0.01
    assert len(np.unique(tokens)) > 0.9 * 50_000 * (1 - np.exp(-len(tail) / 50_000))  # not a few of each block


def test_blocks_are_about_the_square_root() -> None:
    for vocabulary in (1, 2, 10, 1000, 32_000, 250_000):
        assert vocabulary / 2.01 <= block_size(vocabulary) ** 2 <= 2.01 * vocabulary
