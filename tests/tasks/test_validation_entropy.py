"""Token entropy in validation, added to fairseq's own translation task, for criterions that report it or do not."""

import math

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.logging import metrics
from fairseq.tasks.translation import TranslationTask

from dcmbr_fairseq.criterions.generalized_entropy import GeneralizedEntropyCriterion
from dcmbr_fairseq.tasks._validation_entropy import ValidationEntropyMixin


class TaskWithEntropy(ValidationEntropyMixin, TranslationTask):
    pass


class PartByPart(LabelSmoothedCrossEntropyCriterion):
    """A criterion that never calls the model as a whole."""

    def forward(self, model, sample, reduce=True):
        inputs = sample["net_input"]
        encoded = model.encoder(inputs["src_tokens"], inputs["src_lengths"])
        net_output = model.decoder(inputs["prev_output_tokens"], encoder_out=encoded)
        loss, nll = self.compute_loss(model, net_output, sample, reduce=reduce)
        return loss, sample["ntokens"], {"loss": loss, "nll_loss": nll, "ntokens": sample["ntokens"], "sample_size": 1}


@pytest.fixture(scope="module")
def world(toy):
    (model,), cfg, _ = checkpoint_utils.load_model_ensemble_and_task(
        [str(toy.checkpoint)], arg_overrides={"data": str(toy.data_bin)}
    )
    task = TaskWithEntropy.setup_task(cfg.task)
    task.load_dataset("valid")
    data = task.dataset("valid")
    samples = [data.collater([data[i] for i in part]) for part in (range(7), range(7, 20))]
    return model.eval(), task, samples


def criterions(task):
    return {
        "label smoothing": LabelSmoothedCrossEntropyCriterion(task, False, label_smoothing=0.1),
        "by sentence": LabelSmoothedCrossEntropyCriterion(task, True, label_smoothing=0.0),
        "GER": GeneralizedEntropyCriterion(task, False, ger_alpha=0.5, ger_beta=0.2),
        "part by part": PartByPart(task, False, label_smoothing=0.0),
    }


def entropies(model, sample, padding):
    """H of every real target token in nats, a token at a time, in float64."""
    with torch.no_grad():
        p = model.get_normalized_probs(model(**sample["net_input"]), log_probs=False).double()
    real = zip(p.flatten(0, 1), sample["target"].flatten().tolist(), strict=True)
    return [-sum(x * math.log(x) for x in row.tolist() if x > 0) for row, word in real if word != padding]


@pytest.mark.parametrize("name", ["label smoothing", "by sentence", "GER", "part by part"])
def test_validation_reports_the_mean_token_entropy_in_bits(world, name):
    model, task, samples = world
    criterion = criterions(task)[name]
    assert any(sample["target"].eq(task.target_dictionary.pad()).any() for sample in samples)
    truth = [h for sample in samples for h in entropies(model, sample, task.target_dictionary.pad())]
    with metrics.aggregate(new_root=True) as logged:
        for sample in samples:
            loss, size, log = task.valid_step(sample, model, criterion)
            task.reduce_metrics([log], criterion)
            expected_loss, expected_size, _ = criterion(model, sample)
            assert torch.equal(loss, expected_loss) and size == expected_size
    meter = logged["token_entropy"]
    assert meter.count == len(truth)  # counted once, also where the criterion reports it by itself
    assert float(meter.avg) == pytest.approx(sum(truth) / len(truth) / math.log(2), rel=1e-5)


@pytest.mark.parametrize("name, passes", [("label smoothing", 1), ("GER", 1), ("part by part", 2)])
def test_it_costs_no_second_forward_pass(world, name, passes):
    model, task, samples = world
    calls = []
    hook = model.encoder.register_forward_hook(lambda *_: calls.append(1))
    task.valid_step(samples[0], model, criterions(task)[name])
    hook.remove()
    assert len(calls) == passes
    assert not model._forward_hooks  # nothing stays behind on the model


def test_nothing_stays_on_the_model_when_a_step_fails(world):
    model, task, _ = world
    with pytest.raises(KeyError):
        task.valid_step({}, model, criterions(task)["label smoothing"])
    assert not model._forward_hooks


def test_training_steps_are_left_alone(world):
    _, task, _ = world
    assert TaskWithEntropy.train_step is TranslationTask.train_step
    with metrics.aggregate(new_root=True) as logged:
        log = {"loss": torch.tensor(1.0), "nll_loss": torch.tensor(1.0), "ntokens": 2, "sample_size": 2}
        task.reduce_metrics([log], criterions(task)["label smoothing"])
    assert "token_entropy" not in logged


def test_the_logs_of_several_processes_can_be_summed(world):
    model, task, samples = world
    criterion = criterions(task)["label smoothing"]
    logs = [task.valid_step(sample, model, criterion)[2] for sample in samples]
    assert task.logging_outputs_can_be_summed(criterion)
    summed = {key: sum(log[key] for log in logs) for key in logs[0]}
    values = []
    for outputs in (logs, [summed]):
        with metrics.aggregate(new_root=True) as logged:
            task.reduce_metrics(outputs, criterion)
        values.append(float(logged["token_entropy"].avg))
    assert values[0] == pytest.approx(values[1], rel=1e-6)
