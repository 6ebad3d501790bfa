"""Keyed uniforms: a number depends on (seed, source, stream, step, draw) and on nothing else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from scipy import stats

from dcmbr_fairseq.sampling.randomness import STEPS_PER_BLOCK, KeyedUniforms, sentence_key

sources = st.lists(st.integers(0, 50_000), max_size=12)
seeds = st.integers(0, 2**31)


def table(key: np.ndarray, draws: int, steps: int) -> np.ndarray:
    """``(steps, draws)`` for a sentence by itself."""
    alone = KeyedUniforms([key], draws)
    return np.stack([alone.step(step)[0] for step in range(steps)])


@inputs(10)
@given(seeds, st.lists(sources, min_size=1, max_size=4), st.integers(1, 9), st.integers(0, 5), st.data())
def test_neither_batch_nor_size_nor_order_matters(seed, batch, draws, first, data) -> None:
    steps = 2 * STEPS_PER_BLOCK + 1
    keys = [sentence_key(seed, source, 0) for source in batch]
    wanted = [table(key, first + draws + 3, steps) for key in keys]
    part = KeyedUniforms(keys, draws, first)  # all sentences together, some of the draws
    for step in range(steps):
        found = part.step(step)
        assert found.shape == (len(batch), draws)
        for sentence, row in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(row, sentence[step, first : first + draws])
    again = part.step(data.draw(st.integers(0, steps - 1), label="a step that has been before"))
    assert again.shape == (len(batch), draws)


def test_the_first_draws_of_a_larger_pool_are_the_smaller_pool() -> None:
    key = sentence_key(1, [4, 5, 2], 0)
    np.testing.assert_array_equal(table(key, 250, 70)[:, :10], table(key, 10, 70))


@given(seeds, sources, sources)
def test_each_part_of_the_key_matters(seed: int, one: list, other: list) -> None:
    key = sentence_key(seed, one, 0).tolist()
    assert key == sentence_key(seed, list(one), 0).tolist()
    assert key != sentence_key(seed + 1, one, 0).tolist()
    assert key != sentence_key(seed, one, 1).tolist()
    assert (key == sentence_key(seed, other, 0).tolist()) == (one == other)


def test_numbers_are_uniform_and_independent() -> None:
    keys = [sentence_key(seed, [seed, 7, 2], stream) for seed in range(10) for stream in (0, 1)]
    uniforms = KeyedUniforms(keys, 50)
    numbers = np.stack([uniforms.step(step) for step in range(100)])  # (step, sentence, draw)
    assert numbers.min() >= 0 and numbers.max() < 1
    assert stats.kstest(numbers.ravel(), "uniform").pvalue > 0.01
    assert len(np.unique(numbers)) == numbers.size  # no number is used twice
    for axis in range(3):  # from step to step, from sentence to sentence, from draw to draw
        one, following = np.delete(numbers, -1, axis).ravel(), np.delete(numbers, 0, axis).ravel()
        assert abs(stats.pearsonr(one, following).statistic) < 0.02
