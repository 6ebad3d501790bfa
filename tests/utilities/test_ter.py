"""TER of all pairs against sacrebleu's sentence scores."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from sacrebleu.metrics import TER

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities import build_utility

TEXTS = [
    "the cat sat on the mat .",
    "on the mat the cat sat .",
    "The Cat sat, on the mat!",
    "",
    "  ",
    "x",
    "日本語 テスト 。",
    "a b c d e f g h",
    "e f g h a b c d",
]
words = st.lists(st.sampled_from(["a", "b", "c", "d", "B", ",", "."]), max_size=9).map(" ".join)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"case_sensitive": True}, {"normalized": True, "no_punct": True}, {"normalized": True, "asian_support": True}],
)
def test_equals_sacrebleu(arguments: dict[str, Any]) -> None:
    oracle = TER(**arguments)
    utility = build_utility("ter", arguments)
    expected = [[-oracle.sentence_score(h, [r]).score for r in TEXTS] for h in TEXTS]
    np.testing.assert_array_equal(utility.pairwise(TEXTS, TEXTS), expected)
    assert utility.signature() == f"-TER|{oracle.get_signature().format()}"


@inputs(60)
@given(st.lists(words, min_size=1, max_size=3), st.lists(words, min_size=1, max_size=3))
def test_equals_sacrebleu_on_shuffled_words(hypotheses: list, references: list) -> None:
    oracle = TER()
    expected = [[-oracle.sentence_score(h, [r]).score for r in references] for h in hypotheses]
    np.testing.assert_array_equal(build_utility("ter", {}).pairwise(hypotheses, references), expected)


def test_higher_is_better() -> None:
    matrix = build_utility("ter", {}).pairwise(["a b c", "a b x", "x y z w"], ["a b c"])
    assert matrix[0, 0] == 0 > matrix[1, 0] > matrix[2, 0]


def test_bad_arguments_are_one_sentence() -> None:
    with pytest.raises(UserError, match="normalized must be true or false, got 1"):
        build_utility("ter", {"normalized": 1})
