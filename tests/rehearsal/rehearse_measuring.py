"""Criterion, entropy, ranks and BLEURT on the rehearsal device: the CPU's own numbers, nothing refused."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from rehearsed import rehearsal
from toy_model import EOS, PAD, UNK, net_input, toy_transformer

from dcmbr_fairseq.criterions.entropy import token_entropy
from dcmbr_fairseq.criterions.generalized_entropy import GeneralizedEntropyCriterion
from dcmbr_fairseq.measure.models import Model
from dcmbr_fairseq.measure.ranks import reference_ranks
from dcmbr_fairseq.measure.teacher_forcing import teacher_forced
from dcmbr_fairseq.sampling.support import Support

SOURCES = [[6, 6, 5, 4, 12, 8, EOS], [5, 4, 6, 9, EOS], [4, EOS]]


def sample() -> dict[str, Any]:
    """A batch with references, as fairseq's criterions take it."""
    target = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD], [4, 5, EOS, PAD]])
    previous = torch.tensor([[EOS, 5, 6, 7], [EOS, 8, PAD, PAD], [EOS, 4, 5, PAD]])
    given = {**net_input(SOURCES), "prev_output_tokens": previous}
    return {"net_input": given, "target": target, "ntokens": 9, "nsentences": 3}


class FakeTask:
    """As much of a task as a criterion asks for."""

    target_dictionary = type("Dictionary", (), {"pad": staticmethod(lambda: PAD)})()


def waits_of_fairseqs_criterion() -> int:
    """How often the host waits for label smoothing, the model's own waits left out."""
    criterion = LabelSmoothedCrossEntropyCriterion(FakeTask(), sentence_avg=False, label_smoothing=0.1)
    with rehearsal.rehearse() as counts:
        criterion(rehearsal.to_device(toy_transformer(30)), rehearsal.to_device(sample()))
    return sum(n for place, n in counts.places.items() if "waits" in place and "modules/" not in place)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_ger_forward_and_backward(alpha: float) -> None:
    criterion = GeneralizedEntropyCriterion(FakeTask(), sentence_avg=False, ger_alpha=alpha, ger_beta=0.3)
    model = toy_transformer(30)
    expected, _, log = criterion(model, sample())
    gradients = torch.autograd.grad(expected, list(model.parameters()))
    with rehearsal.rehearse() as counts:
        loss, _, found = criterion(rehearsal.to_device(model), rehearsal.to_device(sample()))
        waits = sum(n for place, n in counts.places.items() if "waits" in place and "modules/" not in place)
        assert waits == waits_of_fairseqs_criterion()  # logging must not make the host wait
        ours = torch.autograd.grad(loss, list(model.parameters()))
        assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
        for a, b in zip(ours, gradients, strict=True):
            np.testing.assert_allclose(a.cpu().numpy(), b.numpy(), atol=1e-5)
        assert found["token_entropy"].item() == pytest.approx(log["token_entropy"].item(), rel=1e-5)


def test_label_smoothing_of_fairseq_runs_there_too() -> None:
    """The device follows fairseq's own code, so that what it refuses in ours is ours."""
    criterion = LabelSmoothedCrossEntropyCriterion(FakeTask(), sentence_avg=False, label_smoothing=0.1)
    model = toy_transformer(30)
    expected = criterion(model, sample())[0].item()
    with rehearsal.rehearse():
        loss = criterion(rehearsal.to_device(model), rehearsal.to_device(sample()))[0]
        assert loss.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("seeds", [(4,), (4, 5)])
def test_entropy_and_ranks(seeds: tuple[int, ...]) -> None:
    models = [toy_transformer(30, seed=seed) for seed in seeds]
    support = Support(EOS, (PAD,), 2, UNK)

    def measure(models: list[Any], given: dict[str, Any]) -> tuple[Any, Any]:
        with torch.no_grad():
            log_probs = teacher_forced(Model("toy", "", models, []), given)
            return token_entropy(log_probs), reference_ranks(log_probs.clone(), given["target"], support)

    entropy, ranks = measure(copy.deepcopy(models), sample())
    with rehearsal.rehearse():
        found = measure([rehearsal.to_device(model) for model in models], rehearsal.to_device(sample()))
        np.testing.assert_allclose(found[0].cpu().numpy(), entropy.numpy(), atol=1e-5)
        assert torch.equal(found[1].cpu(), ranks)


def test_bleurt(tmp_path: Path) -> None:
    pytest.importorskip("bleurt_pytorch", reason="needs the extra bleurt")
    from bleurt_checkpoints import TEXTS, wordpiece_checkpoint

    from dcmbr_fairseq.utilities.bleurt import BleurtUtility

    utility = BleurtUtility(checkpoint=str(wordpiece_checkpoint(tmp_path / "tiny")), device="cpu")
    expected = utility.pairwise(TEXTS, TEXTS)
    with rehearsal.rehearse() as counts:
        rehearsal.to_device(utility._model)
        utility.device = rehearsal.DEVICE
        np.testing.assert_allclose(utility.pairwise(TEXTS, TEXTS), expected, atol=1e-5)
        assert counts.waits == counts.to_host  # it waits for results alone
