"""Exact top-N search against brute force on enumerable models, and against beam search."""

import math
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from fairseq.models.lstm import LSTMModel
from fairseq.models.lstm import base_architecture as lstm_architecture
from fairseq.sequence_generator import SequenceGenerator
from toy_model import EOS, PAD, all_targets, net_input, teacher_forced, toy_dictionary, toy_transformer

from dcmbr_fairseq.decoders import choice
from dcmbr_fairseq.decoders.encoding import encode
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.search.exact_search import ExactSearch, Target, TopN

SOURCES = [[5, 4, 6, EOS], [4, EOS], [6, 6, 5, 4, 5, EOS]]
Truth = dict[tuple[int, ...], float]


def search(models: Sequence[Any], source: list[int], target: Target, min_len: int = 1, **settings: Any) -> TopN:
    """Exact search on one sentence of the toy model."""
    with torch.no_grad():
        make_decoder = encode(models, net_input([source]), PAD)
    searcher = ExactSearch(Support(EOS, (PAD,), min_len), **settings)
    return searcher.search(lambda: make_decoder(np.array([0])), target)


def brute_force(models: Sequence[Any], source: list[int], words: int, max_len: int, min_len: int = 1) -> Truth:
    """The log-probability of every translation of at most ``max_len`` tokens."""
    targets = list(all_targets(words, max_len, min_len))
    logs = teacher_forced(models, source, targets)
    return {y: sum(rows[t, token] for t, token in enumerate(y)) for y, rows in zip(targets, logs, strict=True)}


def assert_is_top(found: TopN, truth: Truth, size: int) -> None:
    """The sequences are the ``size`` most probable ones of ``truth``, best first, with their log-probabilities."""
    best = sorted(truth.values(), reverse=True)[:size]
    np.testing.assert_allclose([sequence.log_prob for sequence in found.sequences], best, atol=1e-5)
    assert len({sequence.tokens for sequence in found.sequences}) == len(best)
    for sequence in found.sequences:
        assert truth[sequence.tokens] == pytest.approx(sequence.log_prob, abs=1e-5)


@pytest.fixture(params=["transformer", "any fairseq model"])
def decoder_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both decoders: the fast one, and the one that drives any model."""
    if request.param == "any fairseq model":
        monkeypatch.setattr(choice, "FAST_DECODERS", [])
    return request.param


@pytest.mark.parametrize("size, width", [(1, 1), (1, 50), (7, 2), (20, 3), (20, 50), (200, 50)])
def test_equals_brute_force(decoder_kind: str, size: int, width: int) -> None:
    models = [toy_transformer(words=2)]
    for source in SOURCES:
        truth = brute_force(models, source, words=2, max_len=3)
        assert_is_top(search(models, source, Target(EOS, 3), size=size, width=width), truth, size)


@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
def test_flat_and_peaked_models(spread: float) -> None:
    models = [toy_transformer(words=3, spread=spread, seed=9)]
    truth = brute_force(models, SOURCES[0], words=3, max_len=4)
    assert_is_top(search(models, SOURCES[0], Target(EOS, 4), size=12, width=5), truth, 12)


def test_ensembles(decoder_kind: str) -> None:
    models = [toy_transformer(words=2, seed=seed) for seed in (4, 6)]
    truth = brute_force(models, SOURCES[2], words=2, max_len=3)
    assert_is_top(search(models, SOURCES[2], Target(EOS, 3), size=9, width=4), truth, 9)


def test_a_model_that_is_no_transformer() -> None:
    torch.manual_seed(3)
    args = Namespace(encoder_embed_dim=8, decoder_embed_dim=8, decoder_out_embed_dim=8, dropout=0.0, criterion="none")
    lstm_architecture(args)
    task = Namespace(source_dictionary=toy_dictionary(3), target_dictionary=toy_dictionary(2))
    model = LSTMModel.build_model(args, task).eval()
    truth = brute_force([model], SOURCES[0], words=2, max_len=3)
    assert_is_top(search([model], SOURCES[0], Target(EOS, 3), size=15, width=2), truth, 15)


@pytest.mark.parametrize("min_len", [0, 1, 2])
def test_the_support_is_that_of_the_sampler(min_len: int) -> None:
    models = [toy_transformer(words=2)]
    truth = brute_force(models, SOURCES[1], words=2, max_len=3, min_len=min_len)
    found = search(models, SOURCES[1], Target(EOS, 3), min_len=min_len, size=300)
    assert_is_top(found, truth, 300)
    assert min(len(sequence.tokens) for sequence in found.sequences) == min_len + 1


def test_forced_prefixes() -> None:
    models = [toy_transformer(words=2)]
    truth = brute_force(models, SOURCES[0], words=2, max_len=4)
    truth = {tokens: log_prob for tokens, log_prob in truth.items() if tokens[:2] == (5, 4)}
    assert_is_top(search(models, SOURCES[0], Target(EOS, 4, [5, 4]), size=6, width=3), truth, 6)


def test_a_length_limit_that_may_matter_is_reported() -> None:
    """Where the search calls itself exact, longer translations change nothing; where it says length, they may."""
    reasons = set()
    for seed in range(8):
        models = [toy_transformer(words=1, spread=3.0, seed=seed)]
        longer = brute_force(models, SOURCES[0], words=1, max_len=6)
        for size in (1, 4):
            found = search(models, SOURCES[0], Target(EOS, 3), size=size)
            reasons.add(found.stopped_by)
            if found.exact:
                assert_is_top(found, longer, size)
    assert reasons == {None, "length"}


@pytest.mark.parametrize("budget, reason", [({"max_expansions": 1}, "expansions"), ({"max_seconds": 1e-9}, "time")])
def test_a_spent_budget_is_reported_and_leaves_the_beam(budget: dict[str, float], reason: str) -> None:
    models = [toy_transformer(words=3, spread=0.3)]
    found = search(models, SOURCES[0], Target(EOS, 4), size=5, width=2, **budget)
    assert found.stopped_by == reason and not found.exact
    assert len(found.sequences) == 5
    for sequence, beam in zip(found.sequences, fairseq_beam(models[0], SOURCES[0], 5, 4), strict=True):
        assert sequence.log_prob >= beam - 1e-5


def test_a_budget_that_is_just_enough_is_exact() -> None:
    models = [toy_transformer(words=2)]
    needed = search(models, SOURCES[0], Target(EOS, 3), size=3, width=2)
    again = search(models, SOURCES[0], Target(EOS, 3), size=3, width=2, max_expansions=needed.expansions)
    assert again.stopped_by == needed.stopped_by and again.sequences == needed.sequences


def fairseq_beam(model: Any, source: list[int], size: int, max_len: int) -> list[float]:
    """The scores of fairseq's own beam search, best first, not divided by the length."""
    generator = SequenceGenerator(
        [model], toy_dictionary(model.decoder.embed_tokens.num_embeddings - 4), beam_size=size, max_len_a=0,
        max_len_b=max_len, normalize_scores=False,
    )  # fmt: skip
    (hypotheses,) = generator.generate([model], {"net_input": net_input([source])})
    return sorted((float(hypothesis["score"]) for hypothesis in hypotheses), reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_never_worse_than_beam_search(seed: int) -> None:
    model = toy_transformer(words=30, spread=4.0, seed=seed)
    for source in SOURCES:
        found = search([model], source, Target(EOS, 12), size=5, width=5, max_expansions=400)
        for sequence, beam in zip(found.sequences, fairseq_beam(model, source, 5, 12), strict=False):
            assert sequence.log_prob >= beam - 1e-4


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"size": 0}, "--size must be a whole number from 1 to 10000, got 0"),
        ({"max_expansions": 0}, "--max-expansions must be a whole number from 1 to 10000000, got 0"),
        ({"width": -3}, "--width must be a whole number from 1 to 10000000, got -3"),
        ({"max_seconds": math.nan}, "--max-seconds must be > 0"),
    ],
)
def test_bad_settings(settings: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        ExactSearch(Support(EOS, (PAD,)), **settings)  # type: ignore[arg-type]


def test_penalties_that_are_no_probabilities_are_refused() -> None:
    with pytest.raises(UserError, match="--unkpen"):
        ExactSearch(Support(EOS, (PAD,), unk=3, unk_penalty=1.0))


def test_broken_models_are_reported() -> None:
    model = toy_transformer(words=2)
    model.decoder.output_projection.weight.data[5] = math.nan
    with pytest.raises(UserError, match="not finite"):
        search([model], SOURCES[0], Target(EOS, 3))
