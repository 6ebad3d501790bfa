"""``auto``: the temperature that undoes what a checkpoint says of its label smoothing."""

import math

import pytest
import torch

from dcmbr_fairseq.criterions.entropy import generalized_entropy
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.preflight.auto_temperature import (
    TARGET_SMOOTHING,
    automatic_temperature,
    checkpoint_temperature,
    smoothing_of,
)
from dcmbr_fairseq.preflight.checkpoints import CheckpointFacts, inspect_checkpoint


@pytest.mark.parametrize("smoothing", [0.02, 0.1, 0.2, 0.3, 0.49])
def test_it_makes_the_log_odds_those_of_the_target(smoothing):
    cooled = math.log((1 - smoothing) / smoothing) / automatic_temperature(smoothing)
    assert cooled == pytest.approx(math.log((1 - TARGET_SMOOTHING) / TARGET_SMOOTHING))


def test_the_paper_s_model_gets_about_the_paper_s_temperature():
    assert automatic_temperature(0.1) == pytest.approx(0.478, abs=5e-4)


@pytest.mark.parametrize("smoothing", [0.0, 0.001, TARGET_SMOOTHING])
def test_what_was_not_smoothed_is_not_heated(smoothing):
    assert automatic_temperature(smoothing) == 1.0


@pytest.mark.parametrize("smoothing", [0.5, 0.9, -0.1, math.nan])
def test_refused(smoothing):
    with pytest.raises(UserError, match="below 0.5"):
        automatic_temperature(smoothing)


def test_ger_with_alpha_1_is_the_label_smoothing_with_the_same_minimum():
    """Minimise the regularised loss of one token numerically: its optimum is that of the equivalent smoothing."""
    vocabulary, beta = 7, 0.25
    smoothing = smoothing_of(CheckpointFacts("m", ger=(1.0, beta)), vocabulary)
    logits = torch.zeros(vocabulary, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([logits], max_iter=200, tolerance_grad=1e-12, tolerance_change=0, lr=0.5)

    def loss():
        optimiser.zero_grad()
        log_probs = logits.log_softmax(0)
        value = -log_probs[0] + beta * generalized_entropy(log_probs, 1.0)
        value.backward()
        return value

    for _ in range(5):
        optimiser.step(loss)
    assert logits.softmax(0)[0].item() == pytest.approx(1 - smoothing, abs=1e-6)


def test_other_ger_is_refused():
    with pytest.raises(UserError, match="alpha 0.5, beta 0.2, which equals no label smoothing"):
        smoothing_of(CheckpointFacts("m", ger=(0.5, 0.2)), 100)
    assert smoothing_of(CheckpointFacts("m", ger=(0.5, 0.0)), 100) == 0  # without weight it is no regulariser


def test_the_toy_checkpoint(toy):
    facts = inspect_checkpoint(str(toy.checkpoint))
    assert checkpoint_temperature([facts, facts], 30) == automatic_temperature(0.1)


@pytest.mark.parametrize(
    "facts, reason",
    [
        ([CheckpointFacts("m", "my_loss")], "m does not say"),
        ([CheckpointFacts("m", label_smoothing=0.1), CheckpointFacts("n", label_smoothing=0.2)], "0.1 and 0.2"),
        ([], "needs a checkpoint"),
    ],
)
def test_what_is_not_known_is_refused(facts, reason):
    with pytest.raises(UserError, match=reason):
        checkpoint_temperature(facts, 30)
