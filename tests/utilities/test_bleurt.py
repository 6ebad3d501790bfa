"""BLEURT on small random checkpoints: equal to the library's own scores, one by one, whatever the batches."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities import Comparison, build_utility
from dcmbr_fairseq.utilities.bleurt import BleurtUtility, length_batches, require_packages, truncate

pytest.importorskip("bleurt_pytorch", reason="needs the extra bleurt: pip install 'dcmbr_fairseq[bleurt]'")

import bleurt_checkpoints
import torch

TEXTS = [*bleurt_checkpoints.TEXTS, "", "Hut", "ein Mann " * 20, "ein Mann " * 200]
MATCH = dict(rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bleurt_checkpoints.sentencepiece_checkpoint(tmp_path_factory.mktemp("bleurt") / "a folder" / "tiny")


@pytest.fixture(scope="module")
def utility(checkpoint: Path) -> BleurtUtility:
    return BleurtUtility(checkpoint=str(checkpoint), device="cpu")


def one_by_one(utility: BleurtUtility, hypotheses: list[str], references: list[str]) -> np.ndarray:
    """The library's own forward pass for each pair alone, truncated by its own tokenizer."""
    scores = np.empty((len(hypotheses), len(references)))
    with torch.no_grad():
        for i, hypothesis in enumerate(hypotheses):
            for j, reference in enumerate(references):
                inputs = utility._tokenizer(  # lists: alone, an empty candidate would be taken for none at all
                    [reference],
                    [hypothesis],
                    return_tensors="pt",
                    truncation="longest_first",
                    max_length=utility.max_length,
                )
                scores[i, j] = utility._model(**inputs).logits.item()
    return scores


def test_equals_one_by_one_scoring(utility: BleurtUtility) -> None:
    matrix = utility.pairwise(TEXTS, TEXTS)
    np.testing.assert_allclose(matrix, one_by_one(utility, TEXTS, TEXTS), **MATCH)
    assert matrix.dtype == np.float64
    assert np.ptp(matrix) > 0.01  # the model tells pairs apart
    assert np.abs(matrix - matrix.T).max() > 0.01  # and hypothesis from reference


@pytest.mark.parametrize("config", [{"embedding_size": 16}, {"num_hidden_layers": 1}, {"hidden_act": "gelu_new"}])
def test_other_models_equal_one_by_one_scoring(tmp_path: Path, config: dict) -> None:
    folder = bleurt_checkpoints.wordpiece_checkpoint(tmp_path / "wordpiece", **config)
    utility = BleurtUtility(checkpoint=str(folder), device="cpu")
    np.testing.assert_allclose(
        utility.pairwise(TEXTS[:7], TEXTS[:7]), one_by_one(utility, TEXTS[:7], TEXTS[:7]), **MATCH
    )


@pytest.mark.parametrize("tokens", [1, 40, 500, 100_000])
def test_scores_do_not_depend_on_the_composition_of_batches(
    checkpoint: Path, utility: BleurtUtility, tokens: int
) -> None:
    other = BleurtUtility(checkpoint=str(checkpoint), device="cpu", tokens_per_batch=tokens)
    batch = [Comparison(TEXTS[:5], TEXTS[2:8]), Comparison(TEXTS[6:], TEXTS[:2]), Comparison(TEXTS[:2], TEXTS[:2])]
    for comparison, matrix in zip(batch, other.pairwise_batch(batch), strict=True):
        np.testing.assert_allclose(matrix, utility.pairwise(*comparison), **MATCH)


def test_each_distinct_pair_is_scored_and_each_distinct_text_tokenised_once(
    utility: BleurtUtility, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[tuple[list[int], list[int]]] = []
    texts: list[str] = []
    forward, tokenizer = utility._forward, utility._tokenizer

    class Recording:
        def __getattr__(self, name: str) -> object:
            return getattr(tokenizer, name)

        def __call__(self, given: list[str], **options: object) -> object:
            texts.extend(given)
            return tokenizer(given, **options)

    monkeypatch.setattr(utility, "_forward", lambda batch: (rows.extend(batch), forward(batch))[1])
    monkeypatch.setattr(utility, "_tokenizer", Recording())
    utility.pairwise_batch([Comparison(TEXTS[:4], TEXTS[:4]), Comparison(TEXTS[:4], TEXTS[2:5])])
    assert len(rows) == 4 * 5
    assert sorted(texts) == sorted(TEXTS[:5])


@given(st.integers(0, 40), st.integers(0, 40), st.integers(2, 40))
def test_truncation_is_the_originals(reference: int, candidate: int, limit: int) -> None:
    # bleurt/encoding.py: while they are too long together, pop the longer one, or the candidate
    left, right = list(range(reference)), list(range(candidate))
    while len(left) + len(right) > limit:
        if len(left) > len(right):
            left.pop()
        else:
            right.pop()
    assert truncate(range(reference), range(candidate), limit) == (left, right)


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 200))
def test_batches_hold_every_item_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = [batch.tolist() for batch in length_batches(lengths, budget)]
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


def test_truncated_pairs_are_counted_and_reported_once(checkpoint: Path, caplog: pytest.LogCaptureFixture) -> None:
    utility = BleurtUtility(checkpoint=str(checkpoint), device="cpu", max_length=64)
    short, long = TEXTS[:2], "ein Mann " * 200
    with caplog.at_level(logging.INFO, logger="dcmbr_fairseq"):
        np.testing.assert_allclose(
            utility.pairwise([*short, long], [*short, long]),
            one_by_one(utility, [*short, long], [*short, long]),
            **MATCH,
        )
        utility.pairwise([long], short)
        utility.close()
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("dcmbr_fairseq")]
    assert len(messages) == 2
    assert messages[0].startswith("BLEURT: 6 of 9 pairs have more than 64 tokens and were truncated")
    assert messages[1] == "BLEURT: 8 of 11 pairs were truncated"


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_lower_precision_stays_close(checkpoint: Path, utility: BleurtUtility, precision: str) -> None:
    low = BleurtUtility(checkpoint=str(checkpoint), device="cpu", precision=precision)
    difference = np.abs(low.pairwise(TEXTS[:5], TEXTS[:5]) - utility.pairwise(TEXTS[:5], TEXTS[:5])).max()
    assert 0 < difference < 0.1
    assert f"|{precision}|" in low.signature()


def test_signature_tells_checkpoints_and_activations_apart(checkpoint: Path, utility: BleurtUtility) -> None:
    assert utility.signature().startswith("BLEURT|ckpt:tiny|weights:")
    assert "|act:gelu|len:512|fp32|version:bleurt-pytorch-0.0.1" in utility.signature()
    tanh = BleurtUtility(checkpoint=str(checkpoint), device="cpu", hidden_act="gelu_new")
    assert tanh.signature() == utility.signature().replace("act:gelu", "act:gelu_new")
    assert np.abs(tanh.pairwise(TEXTS, TEXTS) - utility.pairwise(TEXTS, TEXTS)).max() > 1e-6


def test_a_folder_is_read_without_a_network(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*arguments: object) -> None:
        raise AssertionError("a local checkpoint needs no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert BleurtUtility(checkpoint=f"{checkpoint}/", device="cpu").checkpoint == "tiny"


def test_bad_checkpoints_are_one_sentence(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--utility bleurt needs a checkpoint"):
        build_utility("bleurt", {})
    with pytest.raises(UserError, match=r"checkpoint ./nowhere is not a folder"):
        build_utility("bleurt", {"checkpoint": "./nowhere"})
    with pytest.raises(UserError, match=f"checkpoint {tmp_path} cannot be loaded"):
        build_utility("bleurt", {"checkpoint": str(tmp_path)})
    (tmp_path / "bert_config.json").write_text("{}")
    with pytest.raises(UserError, match="in the original's TensorFlow format: convert it"):
        build_utility("bleurt", {"checkpoint": str(tmp_path)})


def test_a_checkpoint_that_lacks_weights_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for path in checkpoint.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    save_file(
        {k: v for k, v in weights.items() if "classifier" not in k}, tmp_path / "model.safetensors", {"format": "pt"}
    )
    with pytest.raises(UserError, match="lacks 2 weights of a BLEURT model, such as classifier"):
        build_utility("bleurt", {"checkpoint": str(tmp_path)})
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "hidden_size": 48}))
    with pytest.raises(UserError, match="cannot be loaded"):
        build_utility("bleurt", {"checkpoint": str(tmp_path)})


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"precision": "fp8"}, "precision must be one of fp32, fp16, bf16, got 'fp8'"),
        ({"device": "abacus"}, "device must be auto, cpu, cuda or cuda:N, got 'abacus'"),
        ({"device": "cuda:64"}, "device cuda:64 is not here"),
        ({"tokens_per_batch": -5}, "tokens_per_batch must be a whole number from 1 to 10000000, got -5"),
        ({"hidden_act": "gelo"}, "hidden_act must be one of .*got 'gelo'"),
        ({"max_length": 513}, "max_length must be a whole number from 5 to 512, got 513"),
        ({"batch": 3}, "do not fit --utility bleurt"),
    ],
)
def test_bad_arguments_are_one_sentence(checkpoint: Path, arguments: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_utility("bleurt", {"checkpoint": str(checkpoint), **arguments})


def test_missing_or_wrong_packages_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    with pytest.raises(
        UserError, match=r"BLEURT needs the package bleurt-pytorch: pip install 'dcmbr_fairseq\[bleurt\]'"
    ):
        require_packages()
    monkeypatch.setattr("importlib.metadata.version", lambda name: "5.1.0")
    with pytest.raises(UserError, match="BLEURT needs transformers<5, 5.1.0 is installed"):
        require_packages()


def test_a_checkpoint_that_must_be_downloaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    sentence = "checkpoint nobody/no-such-bleurt cannot be loaded: .*must be downloaded: check its name and the network"
    with pytest.raises(UserError, match=sentence):
        build_utility("bleurt", {"checkpoint": "nobody/no-such-bleurt"})
