"""Sources longer than the model allows are cut, each keeping its end of sentence, and nothing else is changed."""

from typing import Any

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset, ListDataset
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.preflight.long_sources import cut_long_sources, fit_sources, length_limits

WORDS = Dictionary()
for _word in "abcdefgh":
    WORDS.add_symbol(_word)


def dataset(lengths: list[int], target_lengths: list[int] | None = None) -> LanguagePairDataset:
    """Sentences of that many tokens, the end of sentence included."""
    sides = []
    for sizes in (lengths, target_lengths):
        if sizes is not None:
            texts = [torch.tensor([4 + i % 8 for i in range(size - 1)] + [WORDS.eos()]) for size in sizes]
            sides += [ListDataset(texts, sizes), sizes]
        else:
            sides += [None, None]
    source, source_sizes, target, target_sizes = sides
    return LanguagePairDataset(source, source_sizes, WORDS, target, target_sizes, WORDS)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(2, 20), st.booleans())
def test_long_ones_are_cut_and_the_others_stay(lengths: list[int], limit: int, with_targets: bool) -> None:
    whole = dataset(lengths, [30] * len(lengths) if with_targets else None)
    cut = cut_long_sources(whole, limit)
    assert len(cut) == len(lengths) and (cut is whole) == (max(lengths) <= limit)
    for i, length in enumerate(lengths):
        before, after = whole[i]["source"].tolist(), cut[i]["source"].tolist()
        expected = before if length <= limit else [*before[: limit - 1], WORDS.eos()]
        assert after == expected and cut.src_sizes[i] == len(expected)
        if with_targets:
            assert cut[i]["target"].tolist() == whole[i]["target"].tolist()
    indices, ignored = cut.filter_indices_by_size(cut.ordered_indices(), (limit, 100))
    assert sorted(indices.tolist()) == list(range(len(lengths))) and not len(ignored)
    batch = cut.collater([cut[i] for i in range(len(lengths))])
    assert batch["net_input"]["src_tokens"].size(1) <= limit


def test_the_user_is_told(caplog: pytest.LogCaptureFixture) -> None:
    cut_long_sources(dataset([3, 9, 2, 8]), 5)
    assert "2 source sentences are longer than the 5 tokens that the model or --max-source-positions" in caplog.text
    assert "were cut, the first is number 1" in caplog.text
    caplog.clear()
    cut_long_sources(dataset([3, 5]), 5)
    assert not caplog.text


def test_other_data_sets_are_left_to_fairseq() -> None:
    other = ListDataset([torch.arange(9)], np.array([9]))
    assert cut_long_sources(other, 5) is other


class WithLimits:
    """What has limits: a task, a model."""

    def __init__(self, *limits: Any) -> None:
        self.limits = limits

    def max_positions(self) -> Any:
        return self.limits


@pytest.mark.parametrize(
    "task, models, expected",
    [
        ((1024, 1024), [(3000, 2000)], (3000, 2000)),
        ((1024, 1024), [(3000, 2000), (500, 4000)], (500, 2000)),
        ((600, 1024), [(3000, 2000)], (600, 2000)),
        ((4000, 1024), [(3000, 2000)], (3000, 2000)),
        ((1024, 900), [(512, 2000)], (512, 900)),
        ((None, None), [(512, 700)], (512, 700)),
    ],
)
def test_the_checkpoint_s_limits_hold_unless_the_user_gave_others(task: Any, models: Any, expected: Any) -> None:
    assert length_limits(WithLimits(*task), [WithLimits(*limits) for limits in models]) == expected


def test_without_a_limit_nothing_is_cut() -> None:
    whole = dataset([3, 9])
    assert fit_sources(None, whole, (None, 7)) == (whole, None)
