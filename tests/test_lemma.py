"""Lemma 1: temperatures against the distributions themselves."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.lemma import cooling_temperature, equivalent_smoothing

smoothings = st.floats(1e-6, 0.49)


def optimum(smoothing: float, vocabulary: int) -> np.ndarray:
    """Proposition 1: the distribution that minimises the label-smoothed loss."""
    return np.array([1 - smoothing] + [smoothing / (vocabulary - 1)] * (vocabulary - 1))


def cooled(distribution: np.ndarray, temperature: float) -> np.ndarray:
    """Eq. 11: the softmax of the logits over T."""
    logits = np.log(distribution) / temperature
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


@given(smoothings, smoothings, st.sampled_from([2, 3, 50, 5000]))
def test_the_temperature_turns_one_optimum_into_the_other(first, second, vocabulary):
    temperature = cooling_temperature(first, second, vocabulary)
    found = cooled(optimum(first, vocabulary), temperature)
    np.testing.assert_allclose(found, optimum(second, vocabulary), rtol=1e-6, atol=1e-12)


@given(smoothings, smoothings, st.sampled_from([2, 3, 50, 5000]))
def test_both_ways_are_inverse(first, second, vocabulary):
    temperature = cooling_temperature(first, second, vocabulary)
    assert equivalent_smoothing(first, temperature, vocabulary) == pytest.approx(second, rel=1e-6)


def test_the_printed_form():
    assert cooling_temperature(0.1, 0.01) == pytest.approx(math.log(0.9 / 0.1) / math.log(0.99 / 0.01), rel=1e-15)
    assert cooling_temperature(0.1, 0.01) == pytest.approx(0.478, abs=5e-4)
    assert equivalent_smoothing(0.1, 0.5) == pytest.approx(0.0122, abs=5e-5)
    assert cooling_temperature(0.1, 0.1) == 1.0


def test_the_printed_form_is_not_exact_for_a_real_vocabulary():
    reached = cooled(optimum(0.1, 32000), cooling_temperature(0.1, 0.0122))
    assert 1 - reached[0] < 1e-6  # the lemma promises 0.0122
    assert equivalent_smoothing(0.1, 0.5, 32000) == pytest.approx(1 - cooled(optimum(0.1, 32000), 0.5)[0], rel=1e-6)
    assert equivalent_smoothing(0.1, 0.5, 32000) == pytest.approx(3.9e-7, rel=0.02)


def test_extremes_do_not_overflow():
    assert equivalent_smoothing(0.1, 1e-3) == 0.0
    assert equivalent_smoothing(0.1, 1e9) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.1), "--from-ls must be > 0 and < 0.5, got 0"),
        ((0.1, 0.5), "--to-ls must be > 0 and < 0.5, got 0.5"),
        ((0.1, 0.8, 4), "--to-ls must be > 0 and < 0.75, got 0.8"),
        ((0.1, 0.1, 1), "--vocabulary must be a whole number from 2 to 10000000, got 1"),
    ],
)
def test_outside_the_domain(arguments, message):
    with pytest.raises(UserError, match=message):
        cooling_temperature(*arguments)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.inf, math.nan])
def test_temperatures_are_positive_and_finite(temperature):
    with pytest.raises(UserError, match="--temperature must be > 0 and finite"):
        equivalent_smoothing(0.1, temperature)


def test_command(capsys):
    assert main(["temperature", "--from-ls", "0.1", "--to-ls", "0.01"]) == 0
    assert capsys.readouterr().out == "T = 0.4782 takes label smoothing 0.1 to 0.01 (Lemma 1 as printed)\n"
    arguments = ["--from-ls", "0.1", "--temperature", "0.5", "--vocabulary", "32000", "--format", "json"]
    assert main(["temperature", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "from_ls": 0.1,
        "to_ls": equivalent_smoothing(0.1, 0.5, 32000),
        "temperature": 0.5,
        "vocabulary": 32000,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to-ls", "0.1"], "--from-ls is missing"),
        (["--from-ls", "0.1"], "give either --to-ls"),
        (["--from-ls", "0.1", "--to-ls", "0.1", "--temperature", "1"], "give either --to-ls"),
    ],
)
def test_command_needs_one_question(capsys, arguments, message):
    assert main(["temperature", *arguments]) == 1
    assert message in capsys.readouterr().err
