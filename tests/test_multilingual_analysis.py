"""The analyses on a multilingual model: what is sampled and searched for has no language tokens but the forced one."""

import numpy as np
import pytest
from multilingual_world import LANGUAGES, World

from dcmbr_fairseq.analysis.models import Workspace
from dcmbr_fairseq.analysis.sampling import PoolKey, sampled
from dcmbr_fairseq.analysis.topn import Budget, search_sentences


@pytest.mark.parametrize("convention", ["replacing", "nllb"])
def test_pools_and_searches_know_the_language_tokens(world: World, convention: str) -> None:
    pieces = ["--bpe", "sentencepiece", "--sentencepiece-model", world.pieces]
    flags = [world.data_bin, *world.options(convention), "-s", "en_XX", "-t", "de_DE", *pieces, "--max-len-b", 3]
    workspace = Workspace([*map(str, flags), "--cpu", "--num-workers", "0", "--batch-size", "12"], first=3)
    system = workspace.load(str(world.checkpoint(convention)))
    dictionary = workspace.task.target_dictionary
    form = "__{}__" if convention == "nllb" else "[{}]"
    languages = {dictionary.index(form.format(language)) for language in LANGUAGES}
    forced = 1 if convention == "nllb" else 0
    (prepared,) = workspace.prepared(system)
    assert prepared.sampler.support.min_len == forced + 1  # --min-len 1 wants a piece beside the language
    for pool in sampled(prepared, [PoolKey(1, 0, 1.0)], 400)[PoolKey(1, 0, 1.0)]:
        assert not any(mark in text for text in pool.texts for mark in ("[", "__", "<M", "<m"))
    for sentence in search_sentences(workspace, system, Budget(5, 3000, np.inf), [0, 1]):
        for sequence in sentence.found.sequences:
            assert not languages & set(sequence.tokens[forced:]) and len(sequence.tokens) >= forced + 2
