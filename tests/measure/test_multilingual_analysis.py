"""The analyses on a multilingual model: what is sampled and searched for has no language tokens but the forced one."""

from pathlib import Path

import numpy as np
import pytest
from multilingual_world import LANGUAGES, World
from toy_model import teacher_forced as by_teacher_forcing

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.entropy import mean_token_entropies
from dcmbr_fairseq.measure.models import Model, Workspace
from dcmbr_fairseq.measure.ranks import rank_counts
from dcmbr_fairseq.measure.sampling import PoolKey, sampled
from dcmbr_fairseq.measure.teacher_forcing import teacher_forced
from dcmbr_fairseq.measure.topn import Budget, search_sentences


def opened(world: World, convention: str, *more: object) -> tuple[Workspace, Model]:
    pieces = ["--bpe", "sentencepiece", "--sentencepiece-model", world.pieces]
    flags = [world.data_bin, *world.options(convention), "-s", "en_XX", "-t", "de_DE", *pieces, "--max-len-b", 3, *more]
    workspace = Workspace([*map(str, flags), "--cpu", "--num-workers", "0", "--batch-size", "12"], first=3)
    return workspace, workspace.load(str(world.checkpoint(convention)))


@pytest.mark.parametrize("convention", ["replacing", "nllb"])
def test_pools_and_searches_know_the_language_tokens(world: World, convention: str) -> None:
    workspace, model = opened(world, convention)
    dictionary = workspace.task.target_dictionary
    form = "__{}__" if convention == "nllb" else "[{}]"
    languages = {dictionary.index(form.format(language)) for language in LANGUAGES}
    forced = 1 if convention == "nllb" else 0
    (prepared,) = workspace.prepared(model)
    assert prepared.sampler.support.min_len == forced + 1  # --min-len 1 wants a piece beside the language
    for pool in sampled(prepared, [PoolKey(1, 0, 1.0)], 400)[PoolKey(1, 0, 1.0)]:
        assert not any(mark in text for text in pool.texts for mark in ("[", "__", "<M", "<m"))
    for sentence in search_sentences(workspace, model, Budget(5, 3000, np.inf), [0, 1]):
        for sequence in sentence.found.sequences:
            assert not languages & set(sequence.tokens[forced:]) and len(sequence.tokens) >= forced + 2


@pytest.mark.parametrize("convention", ["replacing", "nllb"])
def test_a_forced_language_token_counts_for_nothing(world: World, convention: str) -> None:
    """Entropy, ranks and log-probabilities against teacher forcing, with the language's position left out by hand."""
    workspace, model = opened(world, convention)
    forced = 1 if convention == "nllb" else 0
    pad, support = workspace.task.target_dictionary.pad(), workspace.support(model)
    entropies, ranks = [], []
    for sample in workspace.batches(model, decode=False):
        log_probs = teacher_forced(model, sample).double().numpy()
        for target, rows in zip(sample["target"].tolist(), log_probs, strict=True):
            for step, token in enumerate(target):
                if step >= forced and token != pad:
                    entropies.append(-(np.exp(rows[step]) * rows[step]).sum())
                    drawn = np.ones(len(rows[step]), dtype=bool)
                    drawn[[*support.banned, support.eos] if step < support.min_len else list(support.banned)] = False
                    ranks.append(int((rows[step] > rows[step][token])[drawn].sum()))
    (found,) = mean_token_entropies(workspace, model, [1.0])
    assert found.tokens == len(entropies)
    assert found.nats == pytest.approx(np.mean(entropies), rel=1e-5)
    counts = rank_counts(workspace, model)
    assert counts.tolist() == np.bincount(ranks, minlength=len(counts)).tolist()

    (prepared,) = workspace.prepared(model)
    for sentence in search_sentences(workspace, model, Budget(3, 3000, np.inf), [0, 1]):
        source = prepared.batch.sources[prepared.ids.index(sentence.sentence)]
        for sequence in sentence.found.sequences:
            targets = [list(sequence.tokens)]
            (rows,) = by_teacher_forcing(model.members, source, targets, bos=prepared.batch.bos)
            scores = rows[np.arange(len(sequence.tokens)), list(sequence.tokens)]
            assert sequence.log_prob == pytest.approx(scores[forced:].sum(), abs=1e-4)


def test_dictionaries_are_checked_as_the_task_checks_them(world: World, tmp_path: Path) -> None:
    """mBART's last embedding is the mask's, which fairseq drops with the other style of tokens: both styles fit."""
    _, model = opened(world, "mbart50", "--lang-tok-style", "multilingual")
    assert len(model.members) == 1
    (tmp_path / "langs.txt").write_text("".join(f"{language}\n" for language in ["ar_AR", *LANGUAGES]))
    with pytest.raises(UserError, match="5 languages were given, but the model has 4: give the model's own list"):
        opened(world, "mbart50", "--lang-dict", tmp_path / "langs.txt")


def test_a_source_that_is_cut_keeps_what_ends_it(world: World) -> None:
    """mBART-25 ends a source with the end of sentence and its language, the others with one token."""
    for convention, tail in (("mbart25", 2), ("mbart50", 1)):
        ends = []
        for limit in (64, 9):
            workspace, model = opened(world, convention, "--max-source-positions", limit)
            batches = list(workspace.prepared(model))
            numbered = [pair for part in batches for pair in zip(part.ids, part.batch.sources, strict=True)]
            ends.append({number: source[-tail:] for number, source in numbered})
        assert {len(source) for batch in batches for source in batch.batch.sources} == {9}
        assert ends[0] == ends[1] and len(ends[0]) == 3
