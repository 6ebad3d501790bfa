"""Tercom's edits and shifts, all pairs at once, against sacrebleu's one by one."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter

from dcmbr_fairseq.utilities import tercom
from dcmbr_fairseq.utilities.tercom import edit_counts

Text = list[str]


def one_by_one(hypotheses: list[Text], references: list[Text]) -> np.ndarray:
    return np.array([[lib_ter.translation_edit_rate(h, r)[0] for r in references] for h in hypotheses])


def assert_equals_sacrebleu(hypotheses: list[Text], references: list[Text]) -> None:
    np.testing.assert_array_equal(edit_counts(hypotheses, references), one_by_one(hypotheses, references))


def variants(seed: int, length: int, vocabulary: int, count: int) -> list[Text]:
    """A text, and texts made of it by edits and shifts of blocks."""
    generator = random.Random(seed)
    base = [str(generator.randrange(vocabulary)) for _ in range(length)]
    texts = [base]
    for _ in range(count - 1):
        words = list(base)
        for _ in range(generator.randrange(1, 5)):
            i, j = generator.randrange(len(words)), generator.randrange(len(words))
            block = words[i : i + generator.randrange(1, 13)]
            del words[i : i + len(block)]
            words[j:j] = block if generator.random() < 0.7 else [str(generator.randrange(vocabulary))]
        texts.append(words)
    return texts


texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=10), min_size=1, max_size=4)


@given(texts, texts)
def test_equals_sacrebleu_on_short_texts(hypotheses: list[Text], references: list[Text]) -> None:
    assert_equals_sacrebleu(hypotheses, references)


@pytest.mark.parametrize("length, vocabulary", [(12, 40), (12, 4), (24, 30), (25, 30), (26, 30), (40, 300)])
def test_equals_sacrebleu_on_shifted_texts(length: int, vocabulary: int) -> None:
    texts = variants(length, length, vocabulary, 6)
    assert_equals_sacrebleu(texts, texts)


def test_equals_sacrebleu_where_the_beam_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lib_ter, "_MAX_SHIFT_CANDIDATES", 20)  # sacrebleu takes seconds for long texts
    monkeypatch.setattr(tercom, "MAX_CANDIDATES", 20)
    words = [str(i) for i in range(130)]
    hypotheses = [words[26:60] + ["x"] * 26, words[40:42], words[3:4], ["5"] * 70]
    references = [words[:60], words]
    assert_equals_sacrebleu(hypotheses, references)
    exhaustive = edit_counts_with(hypotheses, references, BEAM=1000)
    assert exhaustive[0, 0] < edit_counts(hypotheses, references)[0, 0]


@pytest.mark.parametrize("limit", [1, 10, 60])
def test_equals_sacrebleu_where_the_search_ends_early(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = variants(5, 16, 12, 5)
    exhaustive = edit_counts(texts, texts)
    monkeypatch.setattr(lib_ter, "_MAX_SHIFT_CANDIDATES", limit)  # 1,000 take sacrebleu seconds
    monkeypatch.setattr(tercom, "MAX_CANDIDATES", limit)
    assert_equals_sacrebleu(texts, texts)
    assert (exhaustive < edit_counts(texts, texts)).any()


def edit_counts_with(hypotheses: list[Text], references: list[Text], **limits: int) -> np.ndarray:
    """Under other limits than Tercom's."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(tercom, name, value)
        return edit_counts(hypotheses, references)


def test_the_size_of_parts_changes_nothing() -> None:
    texts = [*variants(1, 14, 20, 6), [], ["7"]]
    np.testing.assert_array_equal(edit_counts_with(texts, texts, CELLS=300), edit_counts(texts, texts))


def test_empty_texts_and_no_texts() -> None:
    assert edit_counts([["a", "b"], []], [[], ["a", "c", "d"]]).tolist() == [[2, 2], [0, 3]]
    assert edit_counts([], [["a"]]).shape == (0, 1) and edit_counts([["a"]], []).shape == (1, 0)
