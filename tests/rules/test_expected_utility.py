"""The exact decision rule: weighted distinct texts equal the plain mean over all draws; ties are broken in order."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.rules import Candidates, build_rule
from dcmbr_fairseq.rules.expected_utility import ExactRule, expected_utilities, rank
from dcmbr_fairseq.utilities import Utility, build_utility

draws = st.lists(st.sampled_from(["a cat", "the cat", "a dog sat", "dogs", "", "a cat sat"]), min_size=1, max_size=12)


class TableUtility(Utility):
    """u(h, r) from a table, so that any expected utilities can be made."""

    def __init__(self, table):
        self.table = table

    def pairwise(self, hypotheses, references, source=None):
        return np.array([[self.table[h, r] for r in references] for h in hypotheses], dtype=np.float64)

    def signature(self):
        return "table"


def pool(texts):
    return TextPool.from_draws(texts, -np.arange(1.0, len(texts) + 1), np.zeros(len(texts)))


@lru_cache
def pair_utility(name, hypothesis, reference):
    return build_utility(name, {}).pairwise([hypothesis], [reference])[0, 0]


def naive_choice(hypotheses, references, log_prob, name):
    """Eq. 14 as it stands: a mean over all draws for each draw, and the first of the best."""
    best = None
    for i, hypothesis in enumerate(hypotheses):
        total = 0.0
        for reference in references:
            total += pair_utility(name, hypothesis, reference)
        key = (round(total / len(references), 9), log_prob[hypothesis], -i)
        best = max(best, (key, hypothesis)) if best else (key, hypothesis)
    return best[0][0], best[1]


@inputs(60)
@given(draws, st.none() | draws, st.sampled_from(["chrf", "bleu"]))
def test_multiplicities_as_weights_equal_the_mean_over_all_draws(hypotheses, references, name):
    utility = build_utility(name, {})
    pools = Pools.of([pool(texts) for texts in (hypotheses, references) if texts is not None])
    candidates = pools.candidates()
    (decision,) = ExactRule().decide([candidates], utility)
    log_prob = dict(zip(candidates.hypotheses, candidates.log_prob, strict=True))
    value, text = naive_choice(hypotheses, references or hypotheses, log_prob, name)
    assert candidates.hypotheses[decision.order[0]] == text
    assert decision.expected[decision.order[0]] == pytest.approx(value, abs=1e-8)
    assert decision.utility_calls == len(set(hypotheses)) * len(set(references or hypotheses))


@inputs(60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 0)), min_size=1, max_size=8))
def test_order_is_by_utility_then_log_prob_then_draw(values):
    table = {(str(i), "r"): utility for i, (utility, _) in enumerate(values)}
    log_prob = np.array([log_prob for _, log_prob in values], dtype=np.float64)
    candidates = Candidates([str(i) for i in range(len(values))], ["r"], np.ones(1), log_prob)
    (decision,) = ExactRule().decide([candidates], TableUtility(table), nbest=2)
    expected_order = sorted(range(len(values)), key=lambda i: (-values[i][0], -values[i][1], i))
    assert decision.order.tolist() == expected_order


@inputs(100)
@given(st.integers(1, 70), st.integers(1, 70), st.randoms(use_true_random=False))
def test_equal_rows_are_tied_wherever_they_stand(size, repeats, random):
    row = np.array([random.random() for _ in range(size)])
    weights = np.full(size, 1 / size)
    assert len(set(expected_utilities(np.tile(row, (repeats, 1)), weights).tolist())) == 1


def test_rounding_does_not_break_ties():
    third = 0.1 + 0.2  # 0.30000000000000004
    assert rank(np.array([0.3, third]), np.array([-1.0, -2.0])).tolist() == [0, 1]
    assert rank(np.array([0.3, 0.3 + 1e-11]), np.array([-1.0, -2.0])).tolist() == [1, 0]
    assert rank(np.zeros(3), np.array([-3.0, -1.0, -1.0])).tolist() == [1, 2, 0]


def test_sentences_of_a_batch_are_decided_one_by_one():
    utility = build_utility("chrf", {})
    batch = [Pools.of([pool(list(texts))]).candidates() for texts in (["a", "b"], ["x"], ["ab", "abc", "abc", "bc"])]
    together = ExactRule().decide(batch, utility)
    for candidates, decision in zip(batch, together, strict=True):
        (alone,) = ExactRule().decide([candidates], utility)
        np.testing.assert_array_equal(decision.expected, alone.expected)
        assert decision.order.tolist() == alone.order.tolist()


def test_rules_are_built_by_name():
    assert isinstance(build_rule("exact", {}), ExactRule)
    with pytest.raises(UserError, match="--selection best is unknown: choose one of exact"):
        build_rule("best", {})
    with pytest.raises(UserError, match='--selection-args {"alpha": 1} do not fit --selection exact'):
        build_rule("exact", {"alpha": 1})
