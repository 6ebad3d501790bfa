"""Multilingual decoding against exact distributions and fairseq's own tasks, for each convention of language tokens."""

from argparse import Namespace
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.data import Dictionary
from fairseq.logging.metrics import get_smoothed_values
from fairseq.models.transformer import TransformerModel
from fairseq.options import get_generation_parser
from fairseq.tasks import get_task
from fairseq.tasks.translation_from_pretrained_bart import TranslationFromPretrainedBARTTask
from fairseq_commands import generated
from hypothesis import given
from hypothesis import strategies as st
from in_process import Fairseq, rows, translations
from multilingual_world import CONVENTIONS, LANGUAGES, PAIRS, TAGS, World
from random_inputs import inputs
from scipy.stats import chisquare

from dcmbr_fairseq.decoders.fairseq_decoder import FairseqDecoder
from dcmbr_fairseq.decoders.incremental import PrefixRows
from dcmbr_fairseq.decoders.transformer import TransformerDecoder, is_standard_transformer
from dcmbr_fairseq.decoding.options import DecodingConfig
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.rows import read_records

EVERY = pytest.mark.parametrize("convention", CONVENTIONS)


@pytest.fixture
def fairseq_here(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Fairseq:
    return Fairseq(monkeypatch, capsys)


def options(world: World, convention: str, decoding: str = "dcmbr", *others: object) -> list[object]:
    pieces = ["--bpe", "sentencepiece", "--sentencepiece-model", world.pieces]
    task = [*world.options(convention), "-s", "en_XX", "-t", "de_DE", "--path", world.checkpoint(convention)]
    pools = [] if decoding == "beam" else ["--num-hyp", 12]
    return [world.data_bin, *task, *pieces, "--decoding", decoding, *pools, "--seed", 5, "--num-workers", 0, *others]


def hub(world: World, convention: str, target: str = "de_DE") -> Any:
    given = {"bpe": "sentencepiece", "sentencepiece_model": str(world.pieces)}
    if convention != "mbart25":
        given.update(task="translation_multi_simple_epoch_dcmbr", source_lang="en_XX", target_lang=target)
        if convention == "nllb":
            given.update(fixed_dictionary=str(world.nllb_dictionary))
        else:
            given.update(lang_dict=str(world.release / "ML50_langs.txt"))
    folder = str(world.checkpoint(convention).parent)
    return TransformerModel.from_pretrained(folder, "checkpoint_last.pt", str(world.data_bin), **given)


# ------------------------------------------------------------------------------------------- against the whole truth


class Truth(NamedTuple):
    """A sentence as its convention writes it: source ids, what the decoder reads first, tokens that may be drawn."""

    source: list[int]
    start: list[int]
    allowed: np.ndarray

    @classmethod
    def of(cls, convention: str, words: list[int], dictionary: Dictionary) -> "Truth":
        form = "__{}__" if convention == "nllb" else "[{}]"
        english, german = (dictionary.index(form.format(language)) for language in ("en_XX", "de_DE"))
        eos = dictionary.eos()
        source, start = {
            "mbart50": ([english, *words, eos], [eos, german]),
            "nllb": ([english, *words, eos], [eos, german]),
            "replacing": ([*words, german], [german]),  # --encoder-langtok tgt
            "mbart25": ([*words, eos, english], [german]),
        }[convention]
        allowed = np.ones(len(dictionary), dtype=bool)
        allowed[dictionary.pad()] = False
        for symbol in [*(form.format(language) for language in LANGUAGES), "<mask>", *TAGS]:
            if symbol in dictionary:
                allowed[dictionary.index(symbol)] = False
        return cls(source, start, allowed)

    def log_probs(self, model: Any, prefix: list[int]) -> np.ndarray:
        """``(V,)`` the model's log-probabilities of what follows a translation's first words."""
        source, before = torch.tensor([self.source]), torch.tensor([[*self.start, *prefix]])
        with torch.no_grad():
            logits = model(source, torch.tensor([source.size(1)]), before)[0]
        return torch.log_softmax(logits[0, -1].double(), dim=0).numpy()


@EVERY
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_draws_are_of_the_model_without_language_tokens(world: World, convention: str, temperature: float) -> None:
    model = hub(world, convention)
    encoded = model.encode(world.lines("en_XX")[0])
    dictionary = model.task.target_dictionary
    truth = Truth.of(convention, encoded.tolist()[:-1], dictionary)
    hypotheses = model.generate(
        encoded, decoding="sample", num_hyp=4000, nbest=4000, temp_hyp=temperature, min_len=0,
        max_len_b=1, seed=2,
    )  # fmt: skip
    first = truth.log_probs(model.models[0], [])
    weights = np.where(truth.allowed, np.exp(first / temperature), 0)
    counts = Counter(int(hypothesis["tokens"][0]) for hypothesis in hypotheses)
    assert all(truth.allowed[token] for token in counts)
    common = np.flatnonzero(weights / weights.sum() * 4000 >= 5)
    observed = [counts[int(token)] for token in common]
    expected = (weights / weights.sum() * 4000)[common]
    assert (
        len(common) >= 5
        and chisquare([*observed, 4000 - sum(observed) + 1e-9], [*expected, 4000 - expected.sum() + 1e-9]).pvalue
        > 0.001
    )
    assert np.exp(first)[~truth.allowed].sum() > 1e-4, "without the rule, language tokens would be drawn"


@EVERY
def test_scores_are_of_the_translation_alone(world: World, convention: str) -> None:
    """The score is the mean over words and the end of sentence, the language token counting in neither part."""
    model = hub(world, convention)
    encoded = model.encode(world.lines("en_XX")[1])
    eos = model.task.target_dictionary.eos()
    truth = Truth.of(convention, encoded.tolist()[:-1], model.task.target_dictionary)
    for hypothesis in model.generate(encoded, decoding="sample", num_hyp=6, nbest=6, min_len=2, max_len_b=5, seed=2):
        tokens = hypothesis["tokens"].tolist()
        assert tokens[-1] == eos and eos not in tokens[:-1]
        scores = [truth.log_probs(model.models[0], tokens[:i])[token] for i, token in enumerate(tokens)]
        np.testing.assert_allclose(hypothesis["positional_scores"], scores, atol=2e-5)
        assert float(hypothesis["score"]) == pytest.approx(np.mean(scores), abs=1e-5)


@EVERY
def test_lengths_count_words_alone(world: World, convention: str) -> None:
    model = hub(world, convention)
    encoded = model.encode("the dog")
    words = len(encoded) - 1
    ask = {"decoding": "sample", "num_hyp": 1500, "nbest": 1500, "temp_hyp": 4.0}

    def lengths(**limits: Any) -> tuple[int, int]:
        found = [len(hypothesis["tokens"]) - 1 for hypothesis in model.generate(encoded, **ask, **limits)]
        return min(found), max(found)

    assert lengths(min_len=0, max_len_b=3) == (0, 3)
    assert lengths(min_len=1, max_len_b=2) == (1, 2)
    assert lengths(min_len=3, max_len_b=4) == (3, 4)
    assert lengths(min_len=1, max_len_a=1, max_len_b=1) == (1, words + 2)  # as a bilingual model: words and their end


# -------------------------------------------------------------------------------------------- against fairseq's tasks


@pytest.fixture
def their_mbart25(monkeypatch: pytest.MonkeyPatch) -> None:
    """fairseq's task reads ``self.args``, which it has not set since its options are a dataclass."""
    original = TranslationFromPretrainedBARTTask.__init__

    def init(self: Any, args: Any, *dictionaries: Any) -> None:
        self.args = args
        original(self, args, *dictionaries)

    monkeypatch.setattr(TranslationFromPretrainedBARTTask, "__init__", init)


@EVERY
def test_beam_is_byte_identical_to_fairseqs_task(
    fairseq_here: Fairseq, world: World, convention: str, their_mbart25: None
) -> None:
    for extra in (["--batch-size", 5, "--nbest", 3], ["--score-reference"]):
        ours = options(world, convention, "beam", *extra, "--lang-pairs", PAIRS)
        if convention == "mbart25":
            ours = options(world, convention, "beam", *extra)
        theirs = [str(word).removesuffix("_dcmbr") for word in ours]
        theirs[theirs.index("--decoding") : theirs.index("--decoding") + 2] = []
        printed = fairseq_here.generate(*ours)
        assert rows(printed) == rows(fairseq_here.generate(*theirs))
        assert len(generated(printed, "S")) == 12


@EVERY
def test_the_same_translations_whatever_the_batch_and_the_command(
    fairseq_here: Fairseq, world: World, convention: str, tmp_path: Path
) -> None:
    whole = dict(generated(fairseq_here.generate(*options(world, convention), "--batch-size", 12)))
    path = tmp_path / "pools.jsonl"
    parts = fairseq_here.generate(  # two sentences at a time
        *options(world, convention, "dcmbr", "--pools-out", path, "--max-rows", 25), "--batch-size", 5
    )
    assert dict(generated(parts)) == whole and sorted(whole) == list(range(12))
    lines = world.lines("en_XX")
    out = fairseq_here.interactive(
        "".join(f"{line}\n" for line in lines), *options(world, convention), "--buffer-size", 4, "--batch-size", 4
    )
    assert translations(out) == [whole[i] for i in range(12)]
    assert hub(world, convention).translate(lines, decoding="dcmbr", num_hyp=12, seed=5) == [
        whole[i] for i in range(12)
    ]
    for record in read_records(path):
        assert record.fields["translation"] == whole[int(record.id)]
        assert record.pools.source == lines[int(record.id)]
        texts = record.pools.hypotheses.texts
        assert not any(mark in text for text in texts for mark in ("[", "__", "<m", "<M", "\u2581"))


def test_a_model_that_has_learnt_translates(fairseq_here: Fairseq, world: World) -> None:
    for target, words in (("de_DE", "der ein Hund Köter Kater Freund sieht hört"), ("cs_CZ", "ten pes kocour vidí")):
        found = dict(generated(fairseq_here.generate(*options(world, "mbart50"), "-t", target)))
        known = [sum(word.strip(".") in words.split() for word in text.split()) for text in found.values()]
        assert np.mean(known) > 2


@pytest.mark.parametrize("convention", ["mbart50", "nllb"])
def test_prefix_size_counts_the_language_token_as_fairseq_does(
    fairseq_here: Fairseq, world: World, convention: str
) -> None:
    """A target of the data begins with its language's token: --prefix-size 3 forces two pieces beside it."""
    out = fairseq_here.generate(*options(world, convention, "mbr", "--prefix-size", 3))
    segmented = (world.folder / "segmented" / "test.de_DE").read_text("utf-8").splitlines()
    for number, pieces in generated(out, "H"):
        assert pieces.split()[:2] == segmented[number].split()[:2]


@EVERY
def test_sources_that_are_too_long_are_cut(
    fairseq_here: Fairseq, world: World, convention: str, caplog: pytest.LogCaptureFixture
) -> None:
    """mBART has as many positions as it has learnt; language tokens count, though fairseq does not count them."""
    near = [" ".join(["dog"] * 80)[:n] for n in range(150, 215, 3)]  # around 64 pieces
    out = fairseq_here.interactive(
        "".join(f"{line}\n" for line in ["the dog", " ".join(["the dog"] * 90), *near]),
        *options(world, convention, "dcmbr", "--max-len-b", 4), "--buffer-size", 64, "--batch-size", 8,
    )  # fmt: skip
    assert [number for number, _ in generated(out)] == list(range(2 + len(near)))
    assert "were cut" in caplog.text


def test_older_checkpoints_keep_their_options_in_one_namespace(
    fairseq_here: Fairseq, world: World, tmp_path: Path
) -> None:
    """What fairseq saved before it had configurations, and before torch's files were zip archives."""
    expected = rows(fairseq_here.generate(*options(world, "mbart50")))
    state = torch.load(world.checkpoint("mbart50"), weights_only=False)
    state["args"], state["cfg"] = Namespace(**vars(state["cfg"]["model"])), None
    torch.save(state, tmp_path / "model.pt", _use_new_zipfile_serialization=False)
    assert rows(fairseq_here.generate(*options(world, "mbart50"), "--path", tmp_path / "model.pt")) == expected
    model = TransformerModel.from_pretrained(
        str(tmp_path), "model.pt", str(world.data_bin), task="translation_multi_simple_epoch_dcmbr",
        source_lang="en_XX", target_lang="de_DE", bpe="sentencepiece", sentencepiece_model=str(world.pieces),
        lang_dict=str(world.release / "ML50_langs.txt"),
    )  # fmt: skip
    texts = [row.split("\t")[2] for row in expected if row[:2] == "D-"]
    order = [int(row.split("\t")[0][2:]) for row in expected if row[:2] == "D-"]
    lines = world.lines("en_XX")
    assert model.translate([lines[i] for i in order], decoding="dcmbr", num_hyp=12, seed=5) == texts


def test_training_reports_the_token_entropy(fairseq_here: Fairseq, world: World, tmp_path: Path) -> None:
    state = torch.load(world.checkpoint("mbart50"), weights_only=False)
    trained: dict[str, Any] = vars(state["cfg"]["model"])
    size = ["layers", "embed_dim", "ffn_embed_dim", "attention_heads"]
    model = [
        word
        for name in (f"{side}_{what}" for side in ("encoder", "decoder") for what in size)
        for word in (f"--{name.replace('_', '-')}", trained[name])
    ]
    fairseq_here.train(
        world.data_bin, *world.options("mbart50"), "--lang-pairs", PAIRS, "--arch", "mbart_base", *model,
        "--share-all-embeddings", "--optimizer", "adam", "--max-update", 1, "--max-tokens", 500, "--num-workers", 0,
        "--no-save", "--save-dir", tmp_path,
    )  # fmt: skip
    entropy = get_smoothed_values("valid")["token_entropy"]
    assert 3 < entropy < np.log2(75)


def test_the_hub_needs_a_direction(world: World) -> None:
    model = TransformerModel.from_pretrained(
        str(world.release), "model.pt", str(world.data_bin), task="translation_multi_simple_epoch_dcmbr",
        lang_dict=str(world.release / "ML50_langs.txt"),
    )  # fmt: skip
    with pytest.raises(UserError, match="source_lang or target_lang is missing"):
        model.generate(torch.tensor([5, 6, 2]), decoding="dcmbr")


def test_the_hub_compares_languages_with_the_training(world: World) -> None:
    languages = {"source_lang": "cs_CZ", "target_lang": "de_DE", "lang_dict": str(world.release / "ML50_langs.txt")}
    task = "translation_multi_simple_epoch_dcmbr"
    with pytest.raises(UserError, match="cs_CZ-de_DE is not among them"):
        TransformerModel.from_pretrained(str(world.release), "model.pt", str(world.data_bin), task=task, **languages)


@pytest.mark.parametrize("task", ["translation_multi_simple_epoch_dcmbr", "translation_from_pretrained_bart_dcmbr"])
def test_every_decoding_option_is_a_flag_of_its_own(task: str) -> None:
    """fairseq drops a field silently where another option has its name already."""
    parser = get_generation_parser()
    before = {action.dest for action in parser._actions}
    get_task(task).add_args(parser)
    flags = {action.dest: action.default for action in parser._actions if action.dest not in before}
    for entry in fields(DecodingConfig):
        if entry.name != "_name":
            assert flags[entry.name] == entry.default


# --------------------------------------------------------------------------------------------------- mBART's decoder


@pytest.fixture(scope="module")
def mbart(world: World) -> Any:
    (model,), _, _ = checkpoint_utils.load_model_ensemble_and_task(
        [str(world.checkpoint("mbart50"))],
        arg_overrides={"data": str(world.data_bin), "lang_dict": str(world.release / "ML50_langs.txt")},
    )
    return model.eval()


@given(data=st.data())
@inputs(25)
def test_the_fast_decoder_computes_what_mbart_does(mbart: Any, data: st.DataObject) -> None:
    """Pre-norm layers, learned positions, normalised and scaled embeddings, a last normalisation: rows that split."""
    assert is_standard_transformer(mbart)
    mbart.set_beam_size(1)  # as fairseq's generators do: it takes the encoder's way to reorder sentences away
    assert mbart.decoder.layernorm_embedding is not None and mbart.decoder.layer_norm is not None
    sources = torch.tensor([[5, 6, 7, 2], [9, 8, 2, 1]])
    with torch.no_grad():
        encoded = mbart.encoder(sources, torch.tensor([4, 3]))
        decoders = [TransformerDecoder(mbart, encoded), FairseqDecoder(mbart, encoded)]
        sentences = np.array([1, 0, 1])
        step = PrefixRows(np.array([2, 2, 2]), None, sentences)
        for _ in range(4):
            fast, general = (decoder.step(step) for decoder in decoders)
            torch.testing.assert_close(torch.log_softmax(fast, 1), torch.log_softmax(general, 1), atol=1e-4, rtol=0)
            count = data.draw(st.integers(1, 6))
            parents = np.array(data.draw(st.lists(st.integers(0, len(sentences) - 1), min_size=count, max_size=count)))
            tokens = np.array(data.draw(st.lists(st.integers(4, 60), min_size=count, max_size=count)))
            sentences = sentences[parents]
            step = PrefixRows(tokens, parents, sentences)
