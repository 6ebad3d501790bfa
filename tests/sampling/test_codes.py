"""Arithmetic draws: each alone is an exact sample, whatever the pool, batch and passes; together they are spread."""

import copy
import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from test_sampler import SOURCES, TRUNCATIONS, assert_frequencies, same_pools
from toy_model import EOS, cooled, drawn, exact_distribution, sample_toy, teacher_forced, toy_transformer

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.pools.settings import DRAWS
from dcmbr_fairseq.sampling import codes, prefix_sampler
from dcmbr_fairseq.sampling.codes import arithmetic_codes, van_der_corput
from dcmbr_fairseq.sampling.randomness import KeyedUniforms, sentence_key


@pytest.fixture(scope="module")
def model() -> Any:
    return toy_transformer(words=2)


@given(st.integers(0, 2**40), st.integers(1, 70))
def test_the_sequence_is_van_der_corput_s(first: int, count: int) -> None:
    for number, code in zip(itertools.count(first), van_der_corput(first, count).tolist(), strict=False):
        mirrored = Fraction(int(f"{number:b}"[::-1], 2), 2 ** len(f"{number:b}"))
        assert Fraction(code) == mirrored


@given(st.integers(0, 2**32), st.integers(0, 8), st.integers(0, 100))
def test_codes_are_evenly_spaced_keyed_and_the_same_however_many_there_are(seed: int, power: int, first: int) -> None:
    keys = [sentence_key(seed, source, 0) for source in SOURCES]
    whole = arithmetic_codes(keys, 256)
    assert ((whole >= 0) & (whole < 1)).all() and len(np.unique(whole[:, 0])) == len(SOURCES)
    np.testing.assert_array_equal(whole[:, first:], arithmetic_codes(keys, 256 - first, first))
    spaced = np.sort(whole[:, : 2**power], axis=1)
    np.testing.assert_allclose(np.diff(spaced, axis=1), 0.5**power, rtol=1e-9)
    for key, own in zip(keys, whole, strict=True):  # the shift is none of the numbers that draws go on by
        assert own[0] not in KeyedUniforms([key], 300).step(0)


def test_unknown_draws_are_refused(model: Any) -> None:
    with pytest.raises(UserError, match="--draws must be independent or arithmetic, got latin"):
        sample_toy([model], SOURCES[:1], [PoolSpec(3, 1.0, 0)], draws="latin")


#: Where a code is spent: never in so small a tree, after a step or two, at once.
LIMITS = {"codes": codes.SPENT, "codes, then uniforms": -1.5 * math.log(2), "nearly only uniforms": -0.01}


@pytest.fixture(params=LIMITS)
def limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix_sampler, "SPENT", LIMITS[request.param])


@pytest.fixture
def many_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal sentences of a batch have keys of their own: as many samples of one distribution."""
    numbers = itertools.count(1000)
    monkeypatch.setattr(
        prefix_sampler, "sentence_key", lambda seed, source, stream: sentence_key(next(numbers), source, stream)
    )


def by_draw(pools: list[Any], which: int) -> list[list[tuple[int, ...]]]:
    """For each number of a draw what that draw was in every sentence."""
    return [list(column) for column in zip(*(drawn(pool[which]) for pool in pools), strict=True)]


@pytest.mark.parametrize(
    "temperature, truncation",
    [(1.0, "none"), (0.5, "none"), (0.7, "none"), (1.5, "none"), (1.0, "top-k"), (0.5, "top-p"), (0.7, "epsilon")],
)
def test_every_draw_alone_is_an_exact_sample(
    model: Any, temperature: float, truncation: str, limit: None, many_sentences: None
) -> None:
    rule, keep = TRUNCATIONS[truncation]
    distribution = exact_distribution([model], SOURCES[0], 2, 3, temperature, truncate=keep)
    sampled = sample_toy(
        [model], SOURCES[:1] * 1500, [PoolSpec(3, temperature, 0)], truncation=rule, draws="arithmetic", max_rows=9000
    )
    for draws in by_draw(sampled.pools, 0):
        assert_frequencies(draws, distribution, significance=0.001)


def test_two_pools_of_an_ensemble_at_two_temperatures(limit: None, many_sentences: None) -> None:
    models = [toy_transformer(words=2, seed=seed) for seed in (4, 6)]
    specs = [PoolSpec(2, 0.5, 0), PoolSpec(3, 1.3, 1)]
    sampled = sample_toy(models, SOURCES[1:2] * 1500, specs, max_len=2, draws="arithmetic", max_rows=7500)
    for which, spec in enumerate(specs):
        distribution = exact_distribution(models, SOURCES[1], 2, 2, spec.temperature)
        for draws in by_draw(sampled.pools, which):
            assert_frequencies(draws, distribution, significance=0.001)
    pairs = Counter(zip(by_draw(sampled.pools, 0)[0], by_draw(sampled.pools, 1)[0], strict=True))
    one, other = (exact_distribution(models, SOURCES[1], 2, 2, spec.temperature) for spec in specs)
    both = {(a, b): one[a] * other[b] for a in one for b in other}
    assert_frequencies(list(pairs.elements()), both, significance=0.001)  # the pools are independent of each other


def test_forced_prefixes_and_a_least_length(model: Any, limit: None, many_sentences: None) -> None:
    prefixes = np.array([[4]] * 1500)
    sampled = sample_toy(
        [model], SOURCES[:1] * 1500, [PoolSpec(3, 1.0, 0)], prefixes=prefixes, min_len=2, draws="arithmetic",
        max_rows=9000,
    )  # fmt: skip
    whole = exact_distribution([model], SOURCES[0], 2, 3, min_len=2)
    mass = sum(p for target, p in whole.items() if target[0] == 4)
    distribution = {target: p / mass for target, p in whole.items() if target[0] == 4}
    for draws in by_draw(sampled.pools, 0):
        assert_frequencies(draws, distribution, significance=0.001)


@pytest.mark.parametrize("size", [16, 64])
@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_a_pool_is_spread_over_the_tree(model: Any, size: int, temperature: float, many_sentences: None) -> None:
    """Of N = 2^k draws, those that begin with any of the first m tokens are N F(m), up to less than one; so are all
    draws whose sequence stands, in the tree's order, before another."""
    sampled = sample_toy([model], SOURCES[:1] * 40, [PoolSpec(size, temperature, 0)], draws="arithmetic", max_rows=9000)
    distribution = exact_distribution([model], SOURCES[0], 2, 3, temperature)
    for (pool,) in sampled.pools:
        found = Counter(drawn(pool))
        for last in sorted(distribution):
            before = sum(p for target, p in distribution.items() if target <= last)
            assert abs(sum(n for target, n in found.items() if target <= last) - size * before) < 1.001


def test_means_over_a_pool_have_less_variance(model: Any, many_sentences: None) -> None:
    """The share of each sequence in a pool of 16, over 300 sentences: unbiased, and nearer to its probability."""
    errors = {}
    distribution = exact_distribution([model], SOURCES[0], 2, 3)
    for draws in DRAWS:
        sampled = sample_toy([model], SOURCES[:1] * 300, [PoolSpec(16, 1.0, 0)], draws=draws, max_rows=9000)
        shares = np.array([[Counter(drawn(p))[target] / 16 for target in distribution] for (p,) in sampled.pools])
        wrong = shares - np.array(list(distribution.values()))
        assert np.abs(wrong.mean(axis=0)).max() < 4 * np.sqrt(0.25 / 16 / 300)
        errors[draws] = (wrong**2).sum(axis=1).mean()
    assert errors["arithmetic"] < 0.5 * errors["independent"]


#: Distributions with many translations, so that codes are spent: peaked, flat.
LARGE = {"words": 40, "spread": 6.0}, {"words": 40, "spread": 1.0}


@pytest.fixture(scope="module", params=LARGE, ids=["peaked", "flat"])
def large(request: pytest.FixtureRequest) -> Any:
    return toy_transformer(seed=8, **request.param)


def arithmetic(model: Any, sources: list[list[int]], specs: list[PoolSpec], **more: Any) -> list[Any]:
    found: list[Any] = sample_toy([model], sources, specs, max_len=12, draws="arithmetic", **more).pools
    return found


def test_codes_are_spent_in_the_large_tree(large: Any) -> None:
    """Otherwise the tests below would not see the threshold."""
    pools = arithmetic(large, SOURCES, [PoolSpec(50, 1.0, 0)])
    assert min(pool.sampling_log_prob.min() for (pool,) in pools) < 1.5 * codes.SPENT


def test_rounding_turns_few_draws(large: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU the last bits of logits depend on the batch: a code that is stretched without end stretches them too."""
    other = copy.deepcopy(large)
    with torch.no_grad():
        weight = other.decoder.output_projection.weight
        weight *= 1 + 1e-6 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))

    def turned() -> float:
        pools = [arithmetic(model, SOURCES, [PoolSpec(200, 1.0, 0)]) for model in (large, other)]
        one, two = ([target for (pool,) in found for target in drawn(pool)] for found in pools)
        return float(np.mean([a != b for a, b in zip(one, two, strict=True)]))

    found = turned()
    assert found < 0.02
    monkeypatch.setattr(prefix_sampler, "SPENT", -20 * math.log(2))
    assert turned() > 5 * max(found, 0.01)


@pytest.mark.parametrize("temperature", [0.3, 0.5, 0.7, 1.0])
def test_the_first_draws_of_a_pool_are_the_smaller_pool(large: Any, temperature: float) -> None:
    whole = arithmetic(large, SOURCES, [PoolSpec(50, temperature, 0)])
    for size in (1, 7, 10, 32):
        for (small,), (wide,) in zip(arithmetic(large, SOURCES, [PoolSpec(size, temperature, 0)]), whole, strict=True):
            assert drawn(small) == drawn(wide)[:size]
            scores = wide.log_prob[wide.draws[:size]]
            assert np.array_equal(small.log_prob[small.draws], scores)


@pytest.mark.parametrize("max_rows", [1, 7, 60, 300])
def test_max_rows_and_passes_change_nothing(large: Any, max_rows: int) -> None:
    specs = [PoolSpec(20, 0.5, 0), PoolSpec(13, 1.0, 1)]
    whole, parts = (arithmetic(large, SOURCES, specs, max_rows=rows) for rows in (4096, max_rows))
    for ones, others in zip(whole, parts, strict=True):
        assert all(map(same_pools, ones, others))


def test_each_pool_alone_is_what_it_is_beside_others_in_any_batch(large: Any) -> None:
    specs = [PoolSpec(20, 0.5, 0), PoolSpec(13, 1.0, 1), PoolSpec(9, 0.7, 2), PoolSpec(9, 3.0, 3)]
    order = [3, 0, 4, 2, 1]
    together = arithmetic(large, [SOURCES[i] for i in order], specs)
    for pools, index in zip(together, order, strict=True):
        for pool, spec in zip(pools, specs, strict=True):
            ((alone,),) = arithmetic(large, [SOURCES[index]], [spec])
            assert same_pools(alone, pool)


@inputs(20)
@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 40))
def test_the_sampler_follows_the_codes_of_the_definition(model: Any, seed: int, size: int, first: int) -> None:
    """Against codes of unlimited precision, one draw at a time, where they are not spent."""
    source = SOURCES[0]
    ((pool,),) = sample_toy([model], [source], [PoolSpec(size, 1.0, 0)], seed=seed, draws="arithmetic").pools
    numbers = arithmetic_codes([sentence_key(seed, source, 0)], size)[0]
    for target, number in zip(drawn(pool), numbers.tolist(), strict=True):
        code = Fraction(number)
        logs = teacher_forced([model], source, [target])[0]
        for step, token in enumerate(target):
            probabilities = cooled(logs[step], 1.0, step, 1, 3)
            ends = [Fraction(0), *itertools.accumulate(Fraction(float(p)) for p in probabilities)]
            place = (code * ends[-1] - ends[token]) / (ends[token + 1] - ends[token])
            assert -1e-4 < place < 1 + 1e-4  # up to the rounding of float32 logits
            code = min(max(place, Fraction(0)), Fraction(1))
        assert target[-1] == EOS
