"""The sampler against the exact distribution of enumerable toy models, against fairseq's scores, and against itself."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from toy_model import EOS, PAD, drawn, exact_distribution, sample_toy, teacher_forced, toy_transformer

from dcmbr_fairseq.decoders import choice
from dcmbr_fairseq.decoders.transformer import is_standard_transformer
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.sampling.truncation import Truncation

SOURCES = [[5, 4, 6, EOS], [4, EOS], [6, 6, 5, 4, 5, EOS], [EOS], [4, 5, EOS]]


@pytest.fixture(scope="module")
def model() -> Any:
    return toy_transformer(words=2)


@pytest.fixture(params=["transformer", "any fairseq model"])
def decoder_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both decoders: the fast one, and the one that drives any model."""
    if request.param == "any fairseq model":
        monkeypatch.setattr(choice, "FAST_DECODERS", [])
    return request.param


def assert_frequencies(draws: list[Any], distribution: Any, significance: float = 0.01) -> None:
    """Chi-square test of drawn frequencies against exact probabilities; rare outcomes are pooled."""
    counts = Counter(draws)
    assert set(counts) <= {target for target, p in distribution.items() if p > 0}
    common = [target for target, p in distribution.items() if p * len(draws) >= 5]
    observed = [counts[target] for target in common]
    expected = [distribution[target] * len(draws) for target in common]
    if (rest := len(draws) - sum(expected)) > 1e-6 * len(draws):
        observed.append(len(draws) - sum(observed))
        expected.append(rest)
    assert len(expected) >= 3, "the test would say nothing"
    assert chisquare(observed, expected).pvalue > significance


TRUNCATIONS = {
    "none": (Truncation(), None),
    "top-k": (Truncation(top_k=2), lambda p: p >= np.sort(p)[-2]),
    "top-p": (Truncation(top_p=0.8), lambda p: p >= np.sort(p)[::-1][(np.cumsum(np.sort(p)[::-1]) < 0.8).sum()]),
    "epsilon": (Truncation(epsilon=0.1), lambda p: (p >= 0.1) | (p == p.max())),
}  # fmt: skip


@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.7])
@pytest.mark.parametrize("truncation", TRUNCATIONS)
def test_frequencies_match_the_exact_distribution(model: Any, temperature: float, truncation: str) -> None:
    rule, keep = TRUNCATIONS[truncation]
    distribution = exact_distribution([model], SOURCES[0], 2, 3, temperature, truncate=keep)
    assert sum(distribution.values()) == pytest.approx(1)
    pool = sample_toy([model], SOURCES[:1], [PoolSpec(4000, temperature, 0)], truncation=rule).pools[0][0]
    assert_frequencies(drawn(pool), distribution)
    for tokens, log_prob in zip(pool.tokens, pool.sampling_log_prob, strict=True):
        assert np.exp(log_prob) == pytest.approx(distribution[tuple(tokens.tolist())], rel=1e-4)


def test_frequencies_of_an_ensemble_on_both_decoders(decoder_kind: str) -> None:
    models = [toy_transformer(words=2, seed=seed) for seed in (4, 6)]
    distribution = exact_distribution(models, SOURCES[0], 2, 2, 0.5)
    pool = sample_toy(models, SOURCES[:1], [PoolSpec(3000, 0.5, 0)], max_len=2).pools[0][0]
    assert_frequencies(drawn(pool), distribution)


def test_two_pools_in_one_pass_each_match_their_own_distribution(model: Any) -> None:
    specs = [PoolSpec(2000, 0.5, 0), PoolSpec(3000, 1.0, 1)]
    pools = sample_toy([model], SOURCES[:2], specs).pools
    for source, both in zip(SOURCES, pools, strict=False):
        for spec, pool in zip(specs, both, strict=True):
            assert_frequencies(drawn(pool), exact_distribution([model], source, 2, 3, spec.temperature))


def test_min_len_zero_allows_the_empty_translation_and_one_bans_it(model: Any) -> None:
    distribution = exact_distribution([model], SOURCES[0], 2, 2, min_len=0)
    assert distribution[(EOS,)] > 0.01
    pool = sample_toy([model], SOURCES[:1], [PoolSpec(3000, 1.0, 0)], max_len=2, min_len=0).pools[0][0]
    assert_frequencies(drawn(pool), distribution)
    pool = sample_toy([model], SOURCES[:1], [PoolSpec(3000, 1.0, 0)], max_len=2, min_len=2).pools[0][0]
    assert {len(target) for target in drawn(pool)} == {3}


def test_log_probs_are_teacher_forced_scores(decoder_kind: str, model: Any) -> None:
    pools = sample_toy([model], SOURCES, [PoolSpec(40, 0.5, 0), PoolSpec(20, 1.0, 1)], max_len=6).pools
    for source, both in zip(SOURCES, pools, strict=True):
        for pool in both:
            targets = [tokens.tolist() for tokens in pool.tokens]
            logs = teacher_forced([model], source, targets)
            for target, scores, rows in zip(targets, pool.positional_log_probs, logs, strict=True):
                np.testing.assert_allclose(scores, rows[np.arange(len(target)), target], atol=2e-5)
            np.testing.assert_allclose(pool.log_prob, [scores.sum() for scores in pool.positional_log_probs])


def test_low_temperature_is_greedy(model: Any) -> None:
    from fairseq.sequence_generator import SequenceGenerator
    from toy_model import net_input, toy_dictionary

    generator = SequenceGenerator([model], toy_dictionary(2), beam_size=1, max_len_b=6)
    greedy = generator.generate([model], {"net_input": net_input(SOURCES)})
    pools = sample_toy([model], SOURCES, [PoolSpec(25, 1e-4, 0)], max_len=6).pools
    for (pool,), hypotheses in zip(pools, greedy, strict=True):
        assert [tokens.tolist() for tokens in pool.tokens] == [hypotheses[0]["tokens"].tolist()]


def test_what_a_high_temperature_draws_has_a_log_prob_however_improbable_it_is() -> None:
    model = toy_transformer(spread=300.0)
    (pool,) = sample_toy([model], SOURCES[:1], [PoolSpec(100, 200.0, 0)]).pools[0]
    assert pool.log_prob.min() < -150  # float32 has no such probability
    logs = teacher_forced([model], SOURCES[0], [tokens.tolist() for tokens in pool.tokens])
    for tokens, scores, rows in zip(pool.tokens, pool.positional_log_probs, logs, strict=True):
        np.testing.assert_allclose(scores, rows[np.arange(len(tokens)), tokens], atol=1e-3, rtol=1e-6)


def same_pools(one: Any, other: Any) -> bool:
    return (
        drawn(one) == drawn(other)
        and np.array_equal(one.log_prob, other.log_prob)
        and np.array_equal(one.sampling_log_prob, other.sampling_log_prob)
    )


def test_draws_do_not_depend_on_batch_or_order_to_the_last_bit(model: Any) -> None:
    specs = [PoolSpec(30, 0.5, 0), PoolSpec(20, 1.0, 1)]
    alone = [sample_toy([model], [source], specs, max_len=5).pools[0] for source in SOURCES]
    order = [3, 0, 4, 2, 1]
    batched = sample_toy([model], [SOURCES[i] for i in order] * 2, specs, max_len=5).pools
    for place, index in enumerate(order * 2):
        assert all(map(same_pools, batched[place], alone[index]))


@pytest.mark.parametrize("spread", [1.5, 40.0])
def test_a_pool_is_the_same_bits_whatever_other_pools_are_sampled(spread: float) -> None:
    model = toy_transformer(words=2, spread=spread)  # 40: most tokens have no probability in float32
    pools = [PoolSpec(30, temperature, stream) for stream, temperature in enumerate((0.5, 1.0, 0.3, 2.5, 100.0))]
    together = sample_toy([model], SOURCES, pools, max_len=5).pools
    for sentence, source in enumerate(SOURCES):
        for index, pool in enumerate(pools):
            (alone,) = sample_toy([model], [source], [pool], max_len=5).pools[0]
            assert same_pools(alone, together[sentence][index])


@pytest.mark.parametrize("max_rows", [1, 7, 60])
def test_max_rows_changes_nothing_but_memory(model: Any, max_rows: int) -> None:
    specs = [PoolSpec(30, 0.5, 0), PoolSpec(20, 1.0, 1)]
    whole = sample_toy([model], SOURCES, specs, max_len=5).pools
    parts = sample_toy([model], SOURCES, specs, max_len=5, max_rows=max_rows).pools
    for ones, others in zip(whole, parts, strict=True):
        assert all(map(same_pools, ones, others))


def test_the_first_draws_of_a_pool_are_the_smaller_pool(model: Any) -> None:
    (large,) = sample_toy([model], SOURCES[:1], [PoolSpec(200, 0.7, 0)], max_len=5).pools[0]
    for size in (1, 10, 77):
        (small,) = sample_toy([model], SOURCES[:1], [PoolSpec(size, 0.7, 0)], max_len=5).pools[0]
        assert drawn(small) == drawn(large)[:size]


def test_shared_and_separate_hypothesis_pools_agree_and_references_differ(model: Any) -> None:
    (shared,) = sample_toy([model], SOURCES[:1], [PoolSpec(50, 0.7, 0)], max_len=5).pools[0]
    hypotheses, references = sample_toy(
        [model], SOURCES[:1], [PoolSpec(50, 0.7, 0), PoolSpec(50, 0.7, 1)], max_len=5
    ).pools[0]
    assert drawn(hypotheses) == drawn(shared)
    assert drawn(references) != drawn(shared)


def test_seeds_give_other_draws(model: Any) -> None:
    one, other = (
        sample_toy([model], SOURCES[:1], [PoolSpec(50, 1.0, 0)], max_len=5, seed=seed).pools[0][0] for seed in (1, 2)
    )
    assert drawn(one) != drawn(other)


def test_both_decoders_draw_the_same(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [PoolSpec(40, 0.5, 0)]
    fast = sample_toy([model], SOURCES, specs, max_len=6).pools
    monkeypatch.setattr(choice, "FAST_DECODERS", [])
    general = sample_toy([model], SOURCES, specs, max_len=6).pools
    for (one,), (other,) in zip(fast, general, strict=True):
        assert drawn(one) == drawn(other)
        np.testing.assert_allclose(one.log_prob, other.log_prob, atol=2e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"decoder_normalize_before": True, "encoder_normalize_before": True},
        {"decoder_learned_pos": True, "encoder_learned_pos": True, "layernorm_embedding": True},
        {"no_token_positional_embeddings": True, "activation_fn": "gelu"},
        {"decoder_output_dim": 8, "decoder_input_dim": 8},
    ],
)
def test_architecture_options_are_followed(settings: Any) -> None:
    model = toy_transformer(words=3, seed=5, **settings)
    assert is_standard_transformer(model)
    (pool,) = sample_toy([model], SOURCES[:1], [PoolSpec(30, 1.0, 0)], max_len=5).pools[0]
    targets = [tokens.tolist() for tokens in pool.tokens]
    for target, scores, rows in zip(
        targets, pool.positional_log_probs, teacher_forced([model], SOURCES[0], targets), strict=True
    ):
        np.testing.assert_allclose(scores, rows[np.arange(len(target)), target], atol=2e-5)


def test_prefix_tokens_are_taken_by_all_draws(decoder_kind: str, model: Any) -> None:
    prefixes = np.array([[4, 5], [5, -1]])
    pools = sample_toy(
        [model], SOURCES[:2], [PoolSpec(40, 1.0, 0), PoolSpec(9, 0.5, 1)], max_len=4, prefixes=prefixes
    ).pools
    assert all(target[:2] == (4, 5) for pool in pools[0] for target in drawn(pool))
    assert all(target[0] == 5 for pool in pools[1] for target in drawn(pool))
    assert len({target[1] for target in drawn(pools[1][0])}) > 1
    (scores,) = {tuple(s[:2]) for s in pools[0][0].positional_log_probs}
    logs = teacher_forced([model], SOURCES[0], [[4, 5]])[0]
    np.testing.assert_allclose(scores, logs[[0, 1], [4, 5]], atol=2e-5)


def test_a_prefix_that_ends_the_sentence_ends_all_draws(model: Any) -> None:
    (pool,) = sample_toy([model], SOURCES[:1], [PoolSpec(7, 1.0, 0)], prefixes=np.array([[4, EOS]])).pools[0]
    assert drawn(pool) == [(4, EOS)] * 7
    assert pool.sampling_log_prob.tolist() == [0.0]


def test_padding_is_never_drawn_and_the_unknown_word_obeys_its_penalty(model: Any) -> None:
    (pool,) = sample_toy([model], SOURCES[:1], [PoolSpec(500, 3.0, 0)], max_len=5).pools[0]
    everything = np.concatenate(pool.tokens)
    assert PAD not in everything and 3 in everything
    (pool,) = sample_toy([model], SOURCES[:1], [PoolSpec(500, 3.0, 0)], max_len=5, unk_penalty=1e9).pools[0]
    assert 3 not in np.concatenate(pool.tokens)


def test_rows_are_shared_and_counted(model: Any) -> None:
    sampled = sample_toy([model], SOURCES[:1], [PoolSpec(500, 0.5, 0)], max_len=4)
    lengths = [len(target) for target in drawn(sampled.pools[0][0])]
    assert sampled.tokens == sum(lengths)
    prefixes = {target[:step] for target in drawn(sampled.pools[0][0]) for step in range(len(target))}
    assert sampled.rows == len(prefixes)


def test_a_distribution_that_is_not_finite_is_refused(model: Any) -> None:
    from dcmbr_fairseq.errors import UserError

    broken = toy_transformer(words=2)
    broken.decoder.output_projection.weight.data.fill_(float("nan"))
    with pytest.raises(UserError, match="not finite"):
        sample_toy([broken], SOURCES[:1], [PoolSpec(5, 1.0, 0)])
    assert torch.isfinite(model.decoder.output_projection.weight).all()
