"""The GER divergence against its formula in float64, its limits and its sign; the criterion against fairseq's own."""

import math

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.logging import metrics
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.criterions.entropy import generalized_entropy, token_entropy
from dcmbr_fairseq.criterions.generalized_entropy import GeneralizedEntropyCriterion
from dcmbr_fairseq.errors import UserError

ALPHAS = [1e-29, 1e-9, 1e-6, 1e-3, 0.1, 0.3, 0.5, math.nextafter(0.5, 1), 0.9, 0.999, 1 - 1e-6, 1 - 1e-9]


def logits(rows=6, words=500, spread=4.0, seed=1):
    return spread * torch.randn(rows, words, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def negative_entropy(q):
    return (q * q.log()).sum(-1)  # G


def naive(log_probs, alpha):
    """The definition, read literally."""
    p = log_probs.exp()
    u = torch.full_like(p, 1 / p.size(-1))
    m = alpha * p + (1 - alpha) * u
    mean = (1 - alpha) * negative_entropy(u) + alpha * negative_entropy(p)
    return (mean - negative_entropy(m)) / (alpha * (1 - alpha))


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_values_and_gradients_are_those_of_the_formula(alpha):
    ours, formula = logits().requires_grad_(), logits().requires_grad_()
    value, truth = generalized_entropy(ours.log_softmax(-1), alpha), naive(formula.log_softmax(-1), alpha)
    torch.testing.assert_close(value, truth, rtol=1e-12, atol=1e-12)
    weights = torch.arange(1.0, 7.0, dtype=torch.float64)  # another upstream gradient for each token
    (value @ weights).backward()
    (truth @ weights).backward()
    torch.testing.assert_close(ours.grad, formula.grad, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("alpha", [0.0, *ALPHAS, 1.0])
def test_the_written_out_gradient_is_the_derivative(alpha):
    log_probs = logits(rows=3, words=7, spread=1.0).log_softmax(-1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: generalized_entropy(x, alpha), log_probs)


def test_the_ends_are_the_confidence_penalty_and_label_smoothing():
    log_probs = logits().log_softmax(-1)
    words = log_probs.size(-1)
    penalty = math.log(words) - token_entropy(log_probs)  # KL(p || u)
    smoothing = -log_probs.mean(-1) - math.log(words)  # KL(u || p)
    torch.testing.assert_close(generalized_entropy(log_probs, 0), penalty)
    torch.testing.assert_close(generalized_entropy(log_probs, 1), smoothing)
    for alpha, limit in ((1e-12, penalty), (1 - 1e-12, smoothing)):
        torch.testing.assert_close(generalized_entropy(log_probs, alpha), limit, rtol=1e-6, atol=0)


@pytest.mark.parametrize("alpha", [0.0, *ALPHAS, 1.0])
def test_float32_keeps_its_digits_near_both_ends(alpha):
    exact, single = logits().requires_grad_(), logits().float().requires_grad_()
    truth, value = generalized_entropy(exact.log_softmax(-1), alpha), generalized_entropy(single.log_softmax(-1), alpha)
    assert value.dtype == torch.float32
    torch.testing.assert_close(value.double(), truth, rtol=2e-6, atol=0)
    truth.sum().backward()
    value.sum().backward()
    torch.testing.assert_close(single.grad.double(), exact.grad, rtol=0, atol=2e-6)
    if alpha in (1e-6, 1 - 1e-6):  # why all this: the formula itself is useless here
        assert (naive(single.detach().log_softmax(-1), alpha) - truth).abs().max() > 0.05


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 0.5, 1 - 1e-6, 1.0])
def test_half_precision_is_computed_in_float32(dtype, alpha):
    half = logits().log_softmax(-1).to(dtype).requires_grad_()
    value = generalized_entropy(half, alpha)
    assert torch.equal(value, generalized_entropy(half.detach().float(), alpha))
    assert torch.equal(token_entropy(half), token_entropy(half.float()))
    value.sum().backward()
    assert half.grad.dtype == dtype and half.grad.isfinite().all()


@pytest.mark.parametrize("alpha", [0.0, 1e-9, 0.5, 0.9, 1 - 1e-12])
def test_probabilities_that_underflow_do_no_harm(alpha):
    certain = torch.tensor([0.0, -1e4, -200.0, -88.0, -math.inf]).requires_grad_()  # exp is 0 in float32
    value = generalized_entropy(certain, alpha)
    value.backward()
    p = torch.tensor([1.0, 0, 0, 0, 0], dtype=torch.float64)
    m = alpha * p + (1 - alpha) / 5
    truth = -math.log(m[0]) / (1 - alpha) - (((m * 5).log().sum() / 5) / alpha if alpha else 0)
    assert value.item() == pytest.approx(float(truth), rel=1e-5)
    assert certain.grad.isfinite().all()


@given(
    scores=st.lists(st.floats(-60, 60), min_size=2, max_size=40),
    alpha=st.one_of(st.sampled_from([0.0, *ALPHAS, 1.0]), st.floats(0, 1)),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_it_is_never_negative_and_zero_for_the_uniform_distribution_alone(scores, alpha, dtype):
    log_probs = torch.tensor(scores, dtype=dtype).log_softmax(-1)
    value = generalized_entropy(log_probs, alpha).item()
    rounding = torch.finfo(dtype).eps * (1 + max(scores) - min(scores))
    assert value >= -rounding
    largest_gap = (log_probs.exp() - 1 / len(scores)).abs().max().item()
    assert value >= largest_gap**2 / 2 - rounding  # x log x bends by at least 1 on [0, 1]
    uniform = torch.zeros(len(scores), dtype=dtype).log_softmax(-1)
    assert generalized_entropy(uniform, alpha).item() == pytest.approx(0, abs=rounding)


def test_token_entropy_has_its_closed_forms():
    words = 1000
    uniform = torch.zeros(2, 3, words).log_softmax(-1)
    assert token_entropy(uniform).shape == (2, 3)
    torch.testing.assert_close(token_entropy(uniform), torch.full((2, 3), math.log(words)))
    certain = torch.full((words,), -math.inf).index_fill(0, torch.tensor([3]), 0.0)
    assert token_entropy(certain).item() == 0
    coin = torch.tensor([math.log(0.25), math.log(0.75), -math.inf])
    assert token_entropy(coin).item() == pytest.approx(-0.25 * math.log(0.25) - 0.75 * math.log(0.75))


@pytest.mark.parametrize("shape", [(7, 50), (2, 3, 50), (50,), (0, 50)])
def test_rows_taken_a_few_at_a_time_are_the_same(monkeypatch, shape):
    def run():
        scores = torch.randn(shape, generator=torch.Generator().manual_seed(1), requires_grad=True)
        log_probs = scores.log_softmax(-1)
        value, entropy = generalized_entropy(log_probs, 0.3), token_entropy(log_probs)
        assert value.shape == entropy.shape == shape[:-1]
        (value**2).sum().backward()
        return value.detach(), entropy.detach(), scores.grad

    whole = run()
    for elements in (1, 50, 120):
        monkeypatch.setattr("dcmbr_fairseq.criterions.entropy.ELEMENTS_AT_ONCE", elements)
        assert all(map(torch.equal, run(), whole))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8, 1.0])
def test_the_backward_pass_keeps_the_log_probabilities_alone(alpha):
    log_probs = logits().log_softmax(-1).requires_grad_()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor):
        generalized_entropy(log_probs, alpha)
    assert [tensor.data_ptr() for tensor in kept] == [log_probs.data_ptr()]


@pytest.fixture(scope="module")
def world(toy):
    """(model, task, valid data set) of the toy."""
    (model,), _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(toy.checkpoint)], arg_overrides={"data": str(toy.data_bin)}
    )
    task.load_dataset("valid")
    return model.eval(), task, task.dataset("valid")


def batch(data, indices):
    return data.collater([data[i] for i in indices])


def different_lengths(data):
    indices = sorted(range(len(data)), key=lambda i: len(data[i]["target"]))
    return indices[:3] + indices[-3:]


def token_log_probs(model, sample, padding):
    """float64 log-probabilities and words of the tokens that are not padding: (N, V), (N,)."""
    with torch.no_grad():
        log_probs = model.get_normalized_probs(model(**sample["net_input"]), log_probs=True)
    real = sample["target"].ne(padding)
    return log_probs[real].double(), sample["target"][real]


def test_the_criterion_is_the_formula_summed_over_real_tokens(world):
    model, task, data = world
    sample = batch(data, different_lengths(data))
    padding = task.target_dictionary.pad()
    assert sample["target"].eq(padding).any()
    log_probs, words = token_log_probs(model, sample, padding)
    assert log_probs.size(-1) == len(task.target_dictionary)  # |V|: the special symbols count, as in label smoothing
    nll = -log_probs.gather(1, words.unsqueeze(1)).sum().item()
    regularizer, entropy = naive(log_probs, 0.4).sum().item(), token_entropy(log_probs).sum().item()

    criterion = GeneralizedEntropyCriterion(task, False, ger_alpha=0.4, ger_beta=0.3, report_accuracy=True)
    loss, sample_size, log = criterion(model, sample)
    assert sample_size == log["ntokens"] == len(words)
    assert loss.item() == pytest.approx(nll + 0.3 * regularizer, rel=1e-6)
    assert log["nll_loss"].item() == pytest.approx(nll, rel=1e-6)
    assert log["regularizer"].item() == pytest.approx(regularizer, rel=1e-6)
    assert log["token_entropy"].item() == pytest.approx(entropy, rel=1e-6)
    assert log["n_correct"] == log_probs.argmax(-1).eq(words).sum() and log["total"] == len(words)
    assert criterion(model, sample, reduce=False)[0].sum().item() == pytest.approx(loss.item())
    by_sentence = GeneralizedEntropyCriterion(task, True, ger_alpha=0.4, ger_beta=0.3)
    assert by_sentence(model, sample)[1] == sample["nsentences"]


def test_padding_changes_neither_loss_nor_gradient(world):
    model, task, data = world
    criterion = GeneralizedEntropyCriterion(task, False, ger_alpha=0.7, ger_beta=0.2)

    def run(samples):
        model.zero_grad()
        logs = []
        for sample in samples:
            loss, _, log = criterion(model, sample)
            loss.backward()
            logs.append(log)
        return {key: float(sum(log[key] for log in logs)) for key in logs[0]}, gradients(model)

    indices = different_lengths(data)
    together, alone = run([batch(data, indices)]), run([batch(data, [i]) for i in indices])
    assert together[0] == pytest.approx(alone[0], rel=1e-5)
    torch.testing.assert_close(together[1], alone[1], rtol=1e-4, atol=1e-4)


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).clone()


@pytest.mark.parametrize("epsilon, beta", [(0.1, 0.111), (0.2, 0.25), (0.3, 0.429)])
@pytest.mark.parametrize("alpha", [1.0, 1 - 1e-9])
@pytest.mark.parametrize("prefix", [0, 1, 2])
def test_alpha_one_is_label_smoothing_up_to_a_factor_and_a_constant(world, alpha, epsilon, beta, prefix):
    model, task, data = world
    sample = batch(data, range(12))
    counted = sample["target"][:, prefix:].ne(task.target_dictionary.pad()).sum().item()
    words = len(task.target_dictionary)
    e = epsilon * words / (words - 1)
    assert epsilon / (1 - epsilon) == pytest.approx(beta, abs=5e-4)  # the limit of many words
    smoothed = LabelSmoothedCrossEntropyCriterion(task, False, epsilon, ignore_prefix_size=prefix)
    ours = GeneralizedEntropyCriterion(task, False, alpha, e / (1 - e), ignore_prefix_size=prefix)

    def run(criterion):
        model.zero_grad()
        loss, tokens, _ = criterion(model, sample)
        loss.backward()
        return loss.item() / tokens, gradients(model) / tokens

    theirs, mine = run(smoothed), run(ours)
    constant = e * math.log(words) * counted / sample["ntokens"]  # fairseq divides by all tokens, prefix included
    assert theirs[0] == pytest.approx((1 - e) * mine[0] + constant, rel=1e-6)
    torch.testing.assert_close(theirs[1], (1 - e) * mine[1], rtol=0, atol=1e-6)


def test_without_weight_it_is_cross_entropy(world):
    model, task, data = world
    sample = batch(data, range(12))
    plain = LabelSmoothedCrossEntropyCriterion(task, False, label_smoothing=0.0)(model, sample)[0]
    ours = GeneralizedEntropyCriterion(task, False, ger_alpha=0.5, ger_beta=0.0)(model, sample)[0]
    torch.testing.assert_close(ours, plain)


def test_the_log_is_in_bits_per_token_and_adds_up(world):
    model, task, data = world
    criterion = GeneralizedEntropyCriterion(task, False, ger_alpha=0.4, ger_beta=0.3)
    assert criterion.logging_outputs_can_be_summed()
    logs = [criterion(model, batch(data, part))[2] for part in (range(5), range(5, 12))]
    with metrics.aggregate(new_root=True) as logged:
        GeneralizedEntropyCriterion.reduce_metrics(logs)
    values = logged.get_smoothed_values()
    tokens = sum(log["ntokens"] for log in logs)
    for key in ("loss", "nll_loss", "regularizer", "token_entropy"):
        bits = sum(log[key].item() for log in logs) / tokens / math.log(2)
        assert float(values[key]) == pytest.approx(bits, abs=6e-4)  # fairseq rounds to 3 decimals
    assert float(values["loss"]) == pytest.approx(
        float(values["nll_loss"]) + 0.3 * float(values["regularizer"]), abs=2e-3
    )
    assert float(values["ppl"]) == pytest.approx(2 ** float(values["nll_loss"]), abs=0.01)


@pytest.mark.parametrize(
    "alpha, beta, message",
    [
        (1.5, 0.1, "--ger-alpha must be in [0, 1], got 1.5"),
        (-0.1, 0.1, "--ger-alpha must be in [0, 1], got -0.1"),
        (math.nan, 0.1, "--ger-alpha must be in [0, 1], got nan"),
        (0.5, -0.2, "--ger-beta must be a finite number >= 0, got -0.2"),
        (0.5, math.nan, "--ger-beta must be a finite number >= 0, got nan"),
        (0.5, math.inf, "--ger-beta must be a finite number >= 0, got inf"),
    ],
)
def test_impossible_settings_are_named(world, alpha, beta, message):
    with pytest.raises(UserError) as error:
        GeneralizedEntropyCriterion(world[1], False, ger_alpha=alpha, ger_beta=beta)
    assert message in str(error.value)


def test_a_negative_prefix_is_refused(world):
    with pytest.raises(UserError, match="--ignore-prefix-size must be a whole number from 0 to 10000000, got -1"):
        GeneralizedEntropyCriterion(world[1], False, ger_alpha=0.5, ger_beta=0.1, ignore_prefix_size=-1)
