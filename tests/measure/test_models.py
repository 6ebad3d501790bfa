"""Loading models and data for the analyses: what fairseq-generate would load, decode and print."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from analyses import toy_flags
from fairseq.data import LanguagePairDataset

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.flags import parse_flags
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.measure.sampling import PoolKey, sampled
from dcmbr_fairseq.measure.topn import Budget, search_sentences
from dcmbr_fairseq.preflight.languages import LanguageTokens
from dcmbr_fairseq.sampling.truncation import Truncation


def test_the_corpus_is_the_text_that_was_preprocessed(toy: Any) -> None:
    workspace = Workspace(toy_flags(toy))
    corpus = workspace.corpus(workspace.load(str(toy.checkpoint)))
    assert list(corpus.sources) == list(range(23)) == list(corpus.references)
    assert list(corpus.sources.values()) == toy.lines("en") and list(corpus.references.values()) == toy.lines("de")


def test_references_from_a_file(toy: Any, tmp_path: Path) -> None:
    (tmp_path / "ref.de").write_text("".join(f"Referenz {i}\n" for i in range(23)))
    workspace = Workspace(toy_flags(toy), first=3)
    corpus = workspace.corpus(workspace.load(str(toy.checkpoint)), tmp_path / "ref.de")
    assert corpus.references == {i: f"Referenz {i}" for i in range(3)}


def test_unknown_words_of_references_match_nothing_and_are_told_of(toy: Any, caplog: Any) -> None:
    workspace = Workspace(toy_flags(toy))
    model = workspace.load(str(toy.checkpoint))
    dictionary = workspace.task.target_dictionary
    for sample in workspace.batches(model, only=[4]):
        sample["target"][0, 1] = dictionary.unk()
        workspace.batches = lambda *_: iter([sample])  # type: ignore[method-assign] # noqa: B023
    corpus = workspace.corpus(model)
    words = toy.lines("de")[4].split()
    assert corpus.references[4] == " ".join([words[0], "<<unk>>", *words[2:]])
    assert "1 of 1 references hold words that the dictionary does not know, which score as <<unk>>" in caplog.text
    assert "give the references as text with --references" in caplog.text


def test_known_words_and_references_from_a_file_are_no_cause_to_warn(toy: Any, tmp_path: Path, caplog: Any) -> None:
    (tmp_path / "ref.de").write_text("zzz\n" * 23)
    workspace = Workspace(toy_flags(toy))
    model = workspace.load(str(toy.checkpoint))
    workspace.corpus(model)
    workspace.corpus(model, tmp_path / "ref.de")
    assert "<<unk>>" not in caplog.text


def test_longer_sources_than_the_task_s_default_are_read_by_a_model_that_can(toy: Any, tmp_path: Path) -> None:
    state = torch.load(toy.checkpoint)
    state["cfg"]["model"].max_source_positions = 3000
    torch.save(state, tmp_path / "model.pt")
    workspace = Workspace(toy_flags(toy), first=2)
    model = workspace.load(str(tmp_path / "model.pt"))
    long = torch.cat([torch.full((1500,), 5), torch.tensor([2])])
    sizes = np.array([len(long), len(long)])
    workspace._dataset = LanguagePairDataset(
        [long, long], sizes, workspace.task.source_dictionary, [long[-9:]] * 2, np.array([9, 9]),
        workspace.task.target_dictionary,
    )  # fmt: skip
    for decode in (True, False):
        (sample,) = workspace.batches(model, decode=decode)
        assert sample["net_input"]["src_tokens"].size(1) == 1501


def test_shards_and_texts_are_as_in_decoding(toy: Any, tmp_path: Path) -> None:
    for part in (0, 1):
        (tmp_path / f"model_part{part}.pt").write_bytes(toy.checkpoint.read_bytes())
    model = Workspace([*toy_flags(toy), "--checkpoint-shard-count", "2"]).load(str(tmp_path / "model.pt"))
    assert model.facts[0].label_smoothing == 0.1 and model.facts[0].decoder_rows is None
    with pytest.raises(UserError, match="--bpe subword_nmt and --post-process @@ .* twice"):
        Workspace([*toy_flags(toy), "--bpe", "subword_nmt", "--remove-bpe", "@@ "])
    with pytest.raises(UserError, match="has no subset nix of en-de: it has test of en-de"):
        Workspace([*toy_flags(toy), "--gen-subset", "nix"]).load(str(toy.checkpoint))


def test_sources_lose_the_source_s_language_tokens_not_the_target_s(toy: Any, monkeypatch: Any) -> None:
    """The two dictionaries number them apart; decoding's records say the same (one function makes the texts)."""
    workspace = Workspace(toy_flags(toy), first=5)
    english = workspace.task.source_dictionary
    own, other = english.index("the"), english.index(".")
    tokens = LanguageTokens(ids=frozenset([other]), source_ids=frozenset([own]))
    monkeypatch.setattr(workspace.task, "language_tokens", lambda: tokens, raising=False)
    sources = workspace.corpus(workspace.load(str(toy.checkpoint))).sources
    expected = [" ".join(word for word in line.split() if word != "the") for line in toy.lines("en")[:5]]
    assert list(sources.values()) == expected and any("the " in line for line in toy.lines("en")[:5])


def test_columns_that_describe_a_model(toy: Any) -> None:
    workspace = Workspace(toy_flags(toy))
    model = workspace.load(f"{toy.checkpoint}:{toy.other}", "both")
    assert model.columns() == {"model": "both", "label_smoothing": 0.1, "alpha": None, "beta": None}
    assert len(model.members) == 2 and workspace.test_set() == "data-bin-en-de"


def test_only_some_sentences_in_batches(toy: Any) -> None:
    workspace = Workspace([*toy_flags(toy), "--batch-size", "2"])
    model = workspace.load(str(toy.checkpoint))
    batches = [sample["id"].tolist() for sample in workspace.batches(model, only=[3, 17, 5])]
    assert sorted(map(len, batches)) == [1, 2] and sorted(i for batch in batches for i in batch) == [3, 5, 17]


def test_sources_that_are_too_long_are_cut_in_decoding(toy: Any) -> None:
    workspace = Workspace([*toy_flags(toy), "--max-source-positions", "5"])
    model = workspace.load(str(toy.checkpoint))
    prepared = list(workspace.prepared(model))
    assert sorted(i for batch in prepared for i in batch.ids) == list(range(23))
    assert {len(source) for batch in prepared for source in batch.batch.sources} == {5}


def test_what_a_task_tells_its_generator_reaches_sampling_and_search(toy: Any, monkeypatch: Any) -> None:
    """Multilingual tasks force the language token, or give another first token; some ignore the generator's class."""
    workspace = Workspace(toy_flags(toy), first=5)
    model, token = workspace.load(str(toy.checkpoint)), 9

    def inference_step(generator: Any, models: Any, sample: Any) -> Any:
        prefix = torch.full((len(sample["id"]), 1), token)
        return generator.generate(models, sample, prefix_tokens=prefix, bos_token=5)

    monkeypatch.setattr(workspace.task, "inference_step", inference_step)
    (prepared,) = workspace.prepared(model)
    assert prepared.batch.bos == 5 and prepared.batch.prefixes.tolist() == [[token]] * 5  # type: ignore[union-attr]
    word = workspace.task.target_dictionary[token]
    for pool in sampled(prepared, [PoolKey(1, 0, 1.0)], 4)[PoolKey(1, 0, 1.0)]:
        assert all(text.split()[0] == word for text in pool.texts)
    for sentence in search_sentences(workspace, model, Budget(3, 200, np.inf), [0, 1]):
        assert all(sequence.tokens[0] == token for sequence in sentence.found.sequences)


def test_flags_of_fairseq_and_ours_reach_the_sampler(toy: Any) -> None:
    more = ["--min-len", "2", "--max-len-a", "1", "--max-len-b", "4", "--seed", "7", "--sampling-topk", "3"]
    workspace = Workspace([*toy_flags(toy), *more, "--task", "translation_dcmbr", "--max-rows", "100"])
    prepared = next(workspace.prepared(workspace.load(str(toy.checkpoint))))
    sampler = prepared.sampler
    assert (sampler.seed, sampler.max_rows, sampler.support.min_len) == (7, 100, 2)
    assert sampler.truncation == Truncation(top_k=3)
    assert prepared.batch.max_lens.tolist() == [len(source) + 4 for source in prepared.batch.sources]


def test_data_that_is_missing(toy: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        parse_flags([str(tmp_path / "nix")])
    with pytest.raises(UserError, match="is no folder of binarised data"):
        Workspace([str(tmp_path), "-s", "en", "-t", "de"])
    with pytest.raises(UserError, match="the folder that fairseq-preprocess has written|required: data"):
        parse_flags(["-s", "en"])
