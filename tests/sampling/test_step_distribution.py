"""The distributions of one step against closed forms in float64, and a draw's numbers whatever else is drawn."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from scipy.special import log_softmax, softmax

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.sampling.next_token import Chosen, Draws, NextToken
from dcmbr_fairseq.sampling.step_distribution import StepDistribution
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.sampling.truncation import Truncation

PAD, EOS, UNK, BANNED = 1, 2, 3, (1, 5)
MIN_LEN = 2


def random_logits(dice: np.random.Generator, rows: int, vocabulary: int, spread: float) -> np.ndarray:
    """``(P, V)``; what is banned may be as probable as anything else, and not more."""
    logits = (spread * dice.standard_normal((rows, vocabulary))).astype(np.float32)
    others = np.delete(logits, [*BANNED, EOS], axis=1).max(axis=1, keepdims=True)
    logits[:, BANNED] = np.minimum(logits[:, BANNED], others)
    return logits


def choose(
    logits: np.ndarray, step: int, temperatures: np.ndarray, rows: np.ndarray, uniforms: np.ndarray,
    forced: np.ndarray | None = None, penalty: float = 0.0,
) -> Chosen:  # fmt: skip
    distinct = tuple(sorted(set(temperatures.tolist())))
    chooser = NextToken(Support(EOS, BANNED, MIN_LEN, UNK, penalty))
    return chooser.draw(torch.from_numpy(logits.copy()), step, Draws(rows, uniforms, temperatures, distinct, forced))


@inputs(100)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 1.0, 2.0, 30.0]), st.floats(0.1, 80), st.integers(0, 3))
def test_a_draws_numbers_do_not_depend_on_what_else_is_drawn(
    seed: int, temperature: float, spread: float, step: int
) -> None:
    """Its token and log-probabilities are the same bits alone and beside draws at other temperatures, on other rows,
    and forced ones; where the model is peaked, so that others have no probability in float32, too."""
    dice = np.random.default_rng(seed)
    count = int(dice.integers(1, 40))
    logits = random_logits(dice, 6, int(dice.integers(7, 300)), spread)
    rows = np.concatenate([np.arange(6), dice.integers(0, 6, count)])  # every row has a draw
    uniforms = dice.random(len(rows))
    own = dice.random(len(rows)) < 0.5
    own[0] = True
    temperatures = np.where(own, temperature, dice.choice([0.2, 0.5, 1.0, 3.0, 100.0], len(rows)))
    forced = np.where(~own & (dice.random(len(rows)) < 0.3), dice.integers(0, logits.shape[1], len(rows)), -1)
    everything = choose(logits, step, temperatures, rows, uniforms, forced)
    used, places = np.unique(rows[own], return_inverse=True)
    alone = choose(logits[used], step, temperatures[own], places, uniforms[own])
    for found, expected in zip(everything, alone, strict=True):
        assert np.array_equal(found[own], expected)


@inputs(60)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 80), st.integers(0, 3), st.booleans())
def test_log_probs_are_logits_minus_logsumexp(seed: int, spread: float, step: int, forced: bool) -> None:
    """Of what may not be drawn and of what has no probability in float32, too, when it is forced."""
    dice = np.random.default_rng(seed)
    logits = random_logits(dice, 5, 50, spread)
    rows, tokens = (x.ravel() for x in np.indices(logits.shape))
    temperatures = np.ones(len(rows))
    if forced:
        chosen = choose(logits, step, temperatures, rows, dice.random(len(rows)), tokens)
        assert np.array_equal(chosen.tokens, tokens) and not chosen.sampling_log_probs.any()
    else:
        chosen = choose(logits, step, temperatures, rows, dice.random(len(rows)))
    expected = log_softmax(logits.astype(np.float64), axis=1)[rows, chosen.tokens]
    np.testing.assert_allclose(chosen.log_probs, expected, rtol=1e-6, atol=1e-5)


def closed_form(logits: np.ndarray, temperature: float, step: int, penalty: float) -> np.ndarray:
    """``(P, V)`` what is to be drawn from, in float64."""
    weights = logits.astype(np.float64) / temperature
    weights[:, UNK] -= penalty
    weights[:, [*BANNED, *([EOS] if step < MIN_LEN else [])]] = -np.inf
    return softmax(weights, axis=1)


@pytest.mark.parametrize("penalty", [0.0, 2.0, -3.0, 1e5, -1000.0, -1e30, 1e30])
@pytest.mark.parametrize("temperature", [1e-6, 0.02, 0.5, 0.7, 1.0, 4.0])
@pytest.mark.parametrize("step", [0, MIN_LEN])
def test_draws_have_the_probabilities_of_the_closed_form(temperature: float, penalty: float, step: int) -> None:
    """With a penalty that leaves the unknown word nothing, or nothing but it, at every temperature."""
    dice = np.random.default_rng(7)
    logits = random_logits(dice, 4, 11, 3.0)
    logits[1, EOS] = 200.0  # what may not come yet has all of the mass
    expected = closed_form(logits, temperature, step, penalty)
    rows = np.repeat(np.arange(4), 2000)
    uniforms = np.tile((np.arange(2000) + 0.5) / 2000, 4)
    chosen = choose(logits, step, np.full(len(rows), temperature), rows, uniforms, penalty=penalty)
    np.testing.assert_allclose(np.exp(chosen.sampling_log_probs), expected[rows, chosen.tokens], rtol=2e-5)
    drawn = np.zeros_like(expected)
    np.add.at(drawn, (rows, chosen.tokens), 1 / 2000)
    np.testing.assert_allclose(drawn, expected, atol=1.01 / 2000)
    truth = log_softmax(logits.astype(np.float64), axis=1)[rows, chosen.tokens]  # the model's own knows no penalty
    np.testing.assert_allclose(chosen.log_probs, truth, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("penalty", [math.inf, -math.inf, math.nan])
def test_a_penalty_that_is_not_finite_is_refused(penalty: float) -> None:
    with pytest.raises(UserError, match="--unkpen must be finite"):
        Support(EOS, (PAD,), 1, UNK, penalty)


def test_truncation_comes_after_cooling_and_penalty() -> None:
    logits = np.log(np.array([[0.05, 0.1, 0.1, 0.4, 0.2, 0.05, 0.1]], dtype=np.float32))
    support = Support(EOS, BANNED, 1, UNK, 10.0)
    distribution = StepDistribution(torch.from_numpy(logits), 5, support, Truncation(top_k=1))
    drawn = distribution.draw({0.5: (np.zeros(9, dtype=np.int64), np.linspace(0, 0.99, 9))})
    assert set(drawn.tokens.tolist()) == {4} and drawn.probabilities.tolist() == [1.0] * 9


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_a_model_that_wants_nothing_but_padding_is_refused_for_what_it_is(temperature: float) -> None:
    logits = np.zeros((1, 9), dtype=np.float32)
    for excess in (0.0, 20.0, 60.0, 200.0):
        logits[0, PAD] = excess
        step = (logits, MIN_LEN, np.array([temperature]), np.array([0]), np.array([0.5]))
        if excess <= 20:
            np.testing.assert_allclose(np.exp(choose(*step).sampling_log_probs), 1 / 7, rtol=1e-6)
        else:
            with pytest.raises(UserError, match="padding and language tokens"):
                choose(*step)
