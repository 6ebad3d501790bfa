"""COMET and its like through mbrs: the adapter against a fake metric of its interface, and against mbrs where it is."""

import importlib.metadata
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities import build_utility
from dcmbr_fairseq.utilities.neural import MbrsUtility

HYPOTHESES, REFERENCES = ["ab", "abc", ""], ["abc", "d"]


class FakeMetric:
    """The interface of mbrs.metrics.Metric: a Config, HIGHER_IS_BETTER, pairwise_scores -> Tensor (H, R)."""

    HIGHER_IS_BETTER: ClassVar[bool] = True

    @dataclass
    class Config:
        model: str = "fake/model"
        batch_size: int = 64
        cpu: bool = False

    def __init__(self, cfg: Any) -> None:
        if cfg.model == "missing":
            raise OSError("missing is not a local folder\nand is not a valid model identifier")
        self.cfg = cfg

    def pairwise_scores(self, hypotheses: list[str], references: list[str], source: str | None) -> torch.Tensor:
        assert isinstance(hypotheses, list) and isinstance(references, list)
        rows = [[len(set(h) & set(r)) + 0.1 * len(source or "") for r in references] for h in hypotheses]
        return torch.tensor(rows, dtype=torch.float32)


class FakeErrorMetric(FakeMetric):
    HIGHER_IS_BETTER = False


class FakeNanMetric(FakeMetric):
    def pairwise_scores(self, *arguments: Any) -> torch.Tensor:
        return super().pairwise_scores(*arguments) * float("nan")


KINDS: dict[str, type] = {
    "comet": FakeMetric,
    "xcomet": FakeMetric,
    "metricx": FakeErrorMetric,
    "bertscore": FakeMetric,
}


@pytest.fixture
def fake_mbrs(monkeypatch: pytest.MonkeyPatch) -> dict[str, type]:
    metrics = types.ModuleType("mbrs.metrics")
    kinds = dict(KINDS)
    metrics.get_metric = kinds.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mbrs", types.ModuleType("mbrs"))
    monkeypatch.setitem(sys.modules, "mbrs.metrics", metrics)
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1.8" if name == "mbrs" else version(name))
    return kinds


def test_scores_and_signature(fake_mbrs: dict[str, type]) -> None:
    utility = build_utility("comet", {"batch_size": 8, "cpu": True})
    matrix = utility.pairwise(tuple(HYPOTHESES), tuple(REFERENCES), "source")
    np.testing.assert_allclose(matrix, [[2.6, 0.6], [3.6, 0.6], [0.6, 0.6]], rtol=1e-6)
    assert matrix.dtype == np.float64
    assert utility.signature() == "COMET|model:fake/model|batch_size:8|version:mbrs-0.1.8"


def test_error_scores_are_negated(fake_mbrs: dict[str, type]) -> None:
    utility = build_utility("metricx", {})
    assert utility.pairwise(HYPOTHESES, REFERENCES, "").tolist() == [[-2, 0], [-3, 0], [0, 0]]
    assert utility.signature().startswith("-MetricX|")


@pytest.mark.parametrize(
    "name, arguments, needed",
    [
        ("comet", {}, True),
        ("xcomet", {}, True),
        ("metricx", {"model": "google/metricx-24-hybrid-xl-v2p6"}, True),
        ("metricx", {"model": "google/metricx-23-xl-v2p0"}, False),
        ("metricx", {"model": "google/metricx-23-qe-xl-v2p0"}, True),
        ("bertscore", {}, False),
    ],
)
def test_who_needs_the_source(fake_mbrs: dict[str, type], name: str, arguments: dict, needed: bool) -> None:
    utility = build_utility(name, arguments)
    assert utility.needs_source is needed
    if needed:
        with pytest.raises(UserError, match="needs the source text of every sentence"):
            utility.pairwise(HYPOTHESES, REFERENCES)
    else:
        assert utility.pairwise(HYPOTHESES, REFERENCES).shape == (3, 2)


def test_scores_that_are_not_numbers_are_refused(fake_mbrs: dict[str, type]) -> None:
    fake_mbrs["comet"] = FakeNanMetric
    with pytest.raises(UserError, match="COMET gave scores that are not numbers"):
        build_utility("comet", {}).pairwise(HYPOTHESES, REFERENCES, "source")


def test_bad_arguments_are_one_sentence(fake_mbrs: dict[str, type]) -> None:
    with pytest.raises(UserError, match="do not fit COMET: .*'speed': choose one of model, batch_size, cpu"):
        build_utility("comet", {"speed": 3})
    with pytest.raises(UserError, match="do not fit COMET: .*'batchsize': did you mean batch_size?"):
        build_utility("comet", {"batchsize": 3})
    with pytest.raises(UserError, match="COMET cannot be loaded with .*OSError: missing is not a local folder and is"):
        build_utility("comet", {"model": "missing"})


class OfflineMetric(FakeMetric):
    """What COMET does without a network: a KeyError that blames the name."""

    def __init__(self, cfg: Any) -> None:
        raise KeyError(f"Model '{cfg.model}' not supported by COMET.")


class LayerlessMetric(FakeMetric):
    """What bert-score does with a model whose best layer it does not know."""

    @dataclass
    class Config:
        model_type: str = "roberta-large"
        num_layers: int | None = None

    def __init__(self, cfg: Any) -> None:
        if cfg.num_layers is None:
            raise KeyError(cfg.model_type)
        self.cfg = cfg


def test_a_model_that_must_be_downloaded_is_named(fake_mbrs: dict[str, type]) -> None:
    fake_mbrs["comet"] = OfflineMetric
    remedy = "unless Unbabel/wmt22-comet-da is on this machine it must be downloaded: check its name and the network"
    with pytest.raises(UserError, match=remedy):
        build_utility("comet", {"model": "Unbabel/wmt22-comet-da"})


def test_bertscore_says_that_it_needs_the_layer(fake_mbrs: dict[str, type]) -> None:
    fake_mbrs["bertscore"] = LayerlessMetric
    with pytest.raises(UserError, match="the best layer of /models/bert is not known: add num_layers"):
        build_utility("bertscore", {"model_type": "/models/bert"})
    assert build_utility("bertscore", {"model_type": "/models/bert", "num_layers": 9}).needs_source is False


@pytest.mark.parametrize("name", sorted(KINDS))
def test_without_mbrs_the_sentence_says_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> str:
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(UserError, match=r"needs the package mbrs: pip install 'dcmbr_fairseq\[neural\]'"):
        build_utility(name, {})


def test_a_broken_mbrs_is_one_sentence(fake_mbrs: dict[str, type], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mbrs.metrics", None)  # import raises ImportError
    with pytest.raises(UserError, match="COMET: the package mbrs cannot be imported"):
        build_utility("comet", {})


def tiny_encoder(folder: Path) -> Path:
    """A random BERT of two layers, with its tokenizer, in a folder."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir()
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces))
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=128).save_pretrained(folder)
    torch.manual_seed(1)
    sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    BertModel(BertConfig(vocab_size=len(pieces), initializer_range=0.2, **sizes)).save_pretrained(folder)
    return folder


def assert_equals_single_scores(utility: MbrsUtility, source: str | None) -> None:
    texts = ["ein hund rennt", "der hund lief weg", "zwei frauen"]
    matrix = utility.pairwise(texts, texts[:2], source)
    expected = [[utility._metric.score(h, r, source) for r in texts[:2]] for h in texts]
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-5)
    assert np.ptp(matrix) > 1e-4


def test_bertscore_of_mbrs_with_a_random_model(tmp_path: Path) -> None:
    pytest.importorskip("mbrs", reason="needs the extra neural: pip install 'dcmbr_fairseq[neural]'")
    folder = tiny_encoder(tmp_path / "bert")
    utility = build_utility("bertscore", {"model_type": str(folder), "num_layers": 2, "cpu": True})
    assert isinstance(utility, MbrsUtility)
    assert_equals_single_scores(utility, None)
    assert utility.pairwise(["", "hund"], ["", "hund"])[1, 1] == pytest.approx(1, abs=1e-5)
    with pytest.raises(UserError, match="BERTScore cannot be loaded"):
        build_utility("bertscore", {"cpu": True})


def test_comet_of_mbrs_with_a_random_model(tmp_path: Path) -> None:
    pytest.importorskip("mbrs", reason="needs the extra neural: pip install 'dcmbr_fairseq[neural]'")
    from comet.models import RegressionMetric

    encoder = tiny_encoder(tmp_path / "bert")
    settings = dict(encoder_model="BERT", pretrained_model=str(encoder), hidden_sizes=[16], layer="mix", pool="avg")
    torch.manual_seed(1)
    model = RegressionMetric(**settings, load_pretrained_weights=False)
    checkpoint = tmp_path / "comet" / "checkpoints" / "model.ckpt"
    checkpoint.parent.mkdir(parents=True)
    (checkpoint.parents[1] / "hparams.yaml").write_text("class_identifier: regression_metric\n")
    torch.save(
        {"state_dict": model.state_dict(), "hyper_parameters": settings, "pytorch-lightning_version": "2.0.0"},
        checkpoint,
    )
    utility = build_utility("comet", {"model": str(checkpoint), "cpu": True})
    assert isinstance(utility, MbrsUtility)
    assert_equals_single_scores(utility, "a dog runs")
    with pytest.raises(UserError, match="COMET cannot be loaded"):
        build_utility("comet", {"model": str(tmp_path / "nothing.ckpt")})
