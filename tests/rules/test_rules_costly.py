"""Rules for costly utilities: pruning and coarse to fine against the exact rule, by property and on made-up pools."""

import itertools
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.rules import Candidates, Decision, build_rule
from dcmbr_fairseq.rules.coarse_to_fine import CoarseToFineRule, on_scale_of
from dcmbr_fairseq.rules.expected_utility import ExactRule
from dcmbr_fairseq.rules.pruning import PruningRule, _Race, order_of_appearance
from dcmbr_fairseq.rules.survivors import survivors_first
from dcmbr_fairseq.utilities import Comparison, Utility, build_utility


class CountingUtility(Utility):
    """chrF, times ``scale``, that counts the pairs it scores and remembers the comparisons."""

    def __init__(self, scale: float = 1.0) -> None:
        self.inner, self.scale = build_utility("chrf", {}), scale
        self.calls = 0
        self.asked: list[Comparison] = []

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> np.ndarray:
        self.calls += len(hypotheses) * len(references)
        self.asked.append(Comparison(hypotheses, references, source))
        return self.scale * self.inner.pairwise(hypotheses, references)

    def signature(self) -> str:
        return "counting"


def random_texts(generator: np.random.Generator, count: int) -> list[str]:
    words = ["ein", "der", "Mann", "Hund", "rennt", "lacht", "laut", "im", "Gras", "."]
    texts = {" ".join(generator.choice(words, generator.integers(0, 9))) for _ in range(3 * count)}
    return sorted(texts)[:count]


def pool(seed: int, hyps: int, refs: int, shared: bool = False) -> Candidates:
    generator = np.random.default_rng(seed)
    hypotheses = random_texts(generator, hyps)
    references = hypotheses if shared else random_texts(generator, refs)
    counts = generator.integers(1, 6, len(references))
    return Candidates(
        hypotheses, references, counts / counts.sum(), generator.normal(size=len(hypotheses)), f"source {seed}"
    )


pools = st.builds(pool, st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 40), st.booleans())
batches = st.lists(pools, min_size=1, max_size=3)
few = inputs(40)

PRUNERS: list[dict] = [{}, {"alpha": 0.5, "schedule": [1, 2, 4]}, {"alpha": 0.9, "schedule": [5]}, {"bootstrap": 1}]
COARSE: list[dict] = [{}, {"hypotheses": 1, "references": 1}, {"hypotheses": 3, "references": 4, "utility": "bleu"}]
RULES: list[tuple[str, dict]] = [*(("prune", a) for a in PRUNERS), *(("coarse", a) for a in COARSE)]


def assert_same_decisions(left: Sequence[Decision], right: Sequence[Decision]) -> None:
    for one, other in zip(left, right, strict=True):
        np.testing.assert_allclose(one.expected, other.expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(one.order, other.order)


@few
@given(batches, st.integers(1, 4), st.lists(st.integers(1, 50), unique=True, min_size=1, max_size=4))
def test_pruning_that_drops_nothing_is_the_exact_rule(batch: list[Candidates], nbest: int, sizes: list[int]) -> None:
    utility = CountingUtility()
    exact = ExactRule().decide(batch, utility)
    pruned = PruningRule(alpha=1.0, schedule=sorted(sizes)).decide(batch, utility, nbest)
    assert_same_decisions(pruned, exact)
    assert [decision.utility_calls for decision in pruned] == [decision.utility_calls for decision in exact]


@few
@given(batches, st.sampled_from([{"hypotheses": 100}, {"hypotheses": 100, "references": 100, "utility": "bleu"}]))
def test_coarse_that_keeps_all_is_the_exact_rule(batch: list[Candidates], arguments: dict) -> None:
    utility = CountingUtility()
    assert_same_decisions(CoarseToFineRule(**arguments).decide(batch, utility), ExactRule().decide(batch, utility))


@few
@given(batches, st.integers(1, 6), st.sampled_from(RULES))
def test_decisions_are_whole_and_calls_are_counted(batch: list[Candidates], nbest: int, rule: tuple[str, dict]) -> None:
    utility = CountingUtility()
    decisions = build_rule(*rule).decide(batch, utility, nbest)
    assert sum(decision.utility_calls for decision in decisions) == utility.calls
    for candidates, decision in zip(batch, decisions, strict=True):
        assert np.isfinite(decision.expected).all()
        assert sorted(decision.order) == list(range(len(candidates.hypotheses)))
        assert decision.utility_calls <= len(candidates.hypotheses) * len(candidates.references)


@few
@given(batches, st.integers(1, 6), st.sampled_from(PRUNERS))
def test_at_least_nbest_survive_pruning_to_an_exact_comparison(
    batch: list[Candidates], nbest: int, arguments: dict
) -> None:
    utility = CountingUtility()
    exact = ExactRule().decide(batch, utility)
    for one, other in zip(PruningRule(**arguments).decide(batch, utility, nbest), exact, strict=True):
        best = one.order[:nbest]
        np.testing.assert_allclose(one.expected[best], other.expected[best], rtol=1e-12, atol=1e-12)
        assert (np.diff(one.expected[best]) <= 1e-9).all()


@few
@given(batches, st.integers(1, 3), st.sampled_from(RULES))
def test_a_sentence_is_decided_alike_whatever_stands_beside_it(
    batch: list[Candidates], nbest: int, rule: tuple[str, dict]
) -> None:
    utility = CountingUtility()
    together = build_rule(*rule).decide(batch, utility, nbest)
    alone = [build_rule(*rule).decide([candidates], utility, nbest)[0] for candidates in batch[::-1]][::-1]
    assert_same_decisions(together, alone)
    assert [decision.utility_calls for decision in together] == [decision.utility_calls for decision in alone]


@few
@given(pools, st.integers(1, 5), st.integers(1, 10), st.integers(1, 10))
def test_coarse_compares_the_best_of_the_cheap_utility(
    candidates: Candidates, nbest: int, hypotheses: int, references: int
) -> None:
    utility, cheap = CountingUtility(), build_utility("bleu", {})
    rule = CoarseToFineRule(utility="bleu", hypotheses=hypotheses, references=references)
    decision = rule.decide([candidates], utility, nbest)[0]
    ((kept, chosen, source),) = utility.asked
    expected = cheap.pairwise(candidates.hypotheses, candidates.references) @ candidates.weights
    typical = cheap.pairwise(candidates.references, candidates.references) @ candidates.weights
    assert source == candidates.source
    assert len(kept) == min(max(hypotheses, nbest), len(candidates.hypotheses))
    assert len(chosen) == min(references, len(candidates.references))
    assert_cut_is_best(candidates.hypotheses, expected, kept)
    assert_cut_is_best(candidates.references, typical, chosen)
    assert {candidates.hypotheses[i] for i in decision.order[: len(kept)]} == set(kept)


def assert_cut_is_best(texts: Sequence[str], values: np.ndarray, kept: Sequence[str]) -> None:
    """No text that was left out has a value above any that was kept."""
    inside = np.isin(np.arange(len(texts)), [list(texts).index(text) for text in kept])
    assert values[inside].min() >= values[~inside].max(initial=-np.inf) - 1e-9


def test_pruning_saves_calls_and_finds_the_best_on_a_clear_pool() -> None:
    good = "Ein Mann lacht laut im Gras ."
    hypotheses = [good, *random_texts(np.random.default_rng(0), 30)]
    references = [f"{good} {i}" for i in range(60)]
    candidates = Candidates(hypotheses, references, np.full(60, 1 / 60), np.zeros(31))
    utility = CountingUtility()
    decision = PruningRule().decide([candidates], utility)[0]
    assert decision.order[0] == 0
    assert decision.utility_calls < 0.25 * 31 * 60
    assert utility.calls == decision.utility_calls


def test_the_seed_changes_the_resamples_and_nothing_else_does() -> None:
    batch = [pool(seed, 25, 40) for seed in range(8)]
    utility = CountingUtility()
    runs = [PruningRule(alpha=0.8, bootstrap=20, schedule=[3, 6, 12], seed=seed) for seed in (0, 0, 1)]
    calls = [[decision.utility_calls for decision in rule.decide(batch, utility)] for rule in runs]
    assert calls[0] == calls[1] != calls[2]


def test_resampling_estimates_the_probability_of_winning() -> None:
    # Two hypotheses, 20 equal references: the first is better by 1 on 12 of them, worse by 1 on 8. Resampled, the
    # difference is a sum of 20 signs with P(+) = 0.6: the second wins or ties when at most 10 are positive.
    from scipy.stats import binom

    candidates = Candidates(["a", "b"], [str(i) for i in range(21)], np.full(21, 1 / 21), np.zeros(2))
    race = _Race(candidates, np.random.default_rng(0))
    race.add(20, np.array([[1.0] * 12 + [0.0] * 8, [0.0] * 12 + [1.0] * 8]))
    means = race.resampled_means(20_000)
    share = (means[:, 1] >= means[:, 0] - 1e-12).mean()
    assert share == pytest.approx(binom.cdf(10, 20, 0.6), abs=0.01)


def test_references_come_up_as_in_draws_from_their_weights() -> None:
    from scipy.stats import chisquare

    weights, generator = np.array([0.1, 0.0, 0.4, 0.3, 0.2]), np.random.default_rng(0)
    found: dict[tuple[int, ...], int] = {}
    for _ in range(20_000):
        order = tuple(order_of_appearance(weights, generator).tolist())
        found[order] = found.get(order, 0) + 1
    expected = {}
    for order in itertools.permutations([0, 2, 3, 4]):  # the first of all with its weight, the next among the rest, ...
        rest = np.array([weights[list(order[i:])].sum() for i in range(4)])
        expected[order] = float(np.prod(weights[list(order)] / rest))
    assert set(found) == set(expected)
    counts = [found[order] for order in expected]
    assert chisquare(counts, 20_000 * np.array(list(expected.values()))).pvalue > 0.001


def drawn(codes: np.ndarray, probabilities: np.ndarray) -> Candidates:
    """The shared pool of the draws whose codes in [0, 1) fall into the intervals of 40 texts."""
    texts = random_texts(np.random.default_rng(5), 40)
    chosen = np.searchsorted(np.cumsum(probabilities), codes)
    distinct, counts = np.unique(np.minimum(chosen, 39), return_counts=True)
    pool_texts = [texts[i] for i in distinct]
    return Candidates(pool_texts, pool_texts, counts / counts.sum(), np.log(probabilities[distinct]))


def test_pruning_is_as_sure_of_dependent_draws_as_of_independent_ones() -> None:
    generator = np.random.default_rng(1)
    stratified, independent = [], []
    for _ in range(150):
        probabilities = generator.dirichlet(np.full(40, 0.5))
        stratified.append(drawn((np.arange(50) + generator.random()) / 50, probabilities))  # one draw a stratum
        independent.append(drawn(generator.random(50), probabilities))
    utility = CountingUtility()
    for batch in (stratified, independent):
        exact = [decision.order[0] for decision in ExactRule().decide(batch, utility)]
        pruned = [decision.order[0] for decision in PruningRule(alpha=0.99).decide(batch, utility)]
        assert np.mean(np.equal(exact, pruned)) > 0.95


def test_references_without_weight_are_never_compared() -> None:
    weights = np.array([0.1, 0.0, 0.4, 0.1, 0.4])
    candidates = Candidates(["x y", "z"], ["a", "b", "c", "d", "e"], weights, np.zeros(2))
    utility = CountingUtility()
    for rule in (PruningRule(schedule=[1, 2]), CoarseToFineRule(hypotheses=2), CoarseToFineRule(references=4)):
        decision = rule.decide([candidates], utility)[0]
        assert np.isfinite(decision.expected).all()
    assert all("b" not in comparison.references for comparison in utility.asked)


@pytest.mark.parametrize("name", ["exact", "prune", "coarse"])
def test_a_utility_of_another_shape_is_refused_in_one_sentence(name: str) -> None:
    class Transposed(CountingUtility):
        def pairwise(self, *comparison: Any) -> np.ndarray:
            return super().pairwise(*comparison).T

    with pytest.raises(
        UserError, match=r"--utility gave a matrix of shape \(40, 2\) for 2 hypotheses and 40 references"
    ):
        build_rule(name, {"schedule": [40]} if name == "prune" else {}).decide([pool(0, 2, 40)], Transposed())


def test_a_cheap_utility_of_another_shape_is_refused_in_one_sentence() -> None:
    class Flat(CountingUtility):
        def pairwise(self, *comparison: Any) -> np.ndarray:
            return super().pairwise(*comparison)[:, :1]

    rule = CoarseToFineRule()
    rule.coarse = Flat()
    with pytest.raises(UserError, match=r"cheap utility of coarse gave a matrix of shape \(2, 1\) for 2 hypotheses"):
        rule.decide([pool(0, 2, 40)], CountingUtility())


@pytest.mark.parametrize("name", ["prune", "coarse"])
def test_calls_are_logged_once_when_the_rule_is_done_with(name: str, caplog: pytest.LogCaptureFixture) -> None:
    rule = build_rule(name, {})
    decisions = [*rule.decide([pool(0, 30, 40), pool(1, 2, 3)], CountingUtility())]
    decisions += rule.decide([pool(2, 20, 10)], CountingUtility())
    with caplog.at_level(logging.INFO, logger="dcmbr_fairseq"):
        del rule
    assert [record.getMessage() for record in caplog.records] == [
        f"--selection {name}: {sum(one.utility_calls for one in decisions)} utility calls; "
        f"the exact rule compares all {30 * 40 + 2 * 3 + 20 * 10} pairs of distinct texts"
    ]


def test_survivors_stand_before_those_with_higher_but_earlier_estimates() -> None:
    expected, log_prob, rounds = np.array([9.0, 1.0, 2.0, 2.0]), np.array([0.0, 0, -2, -1]), np.array([1, 3, 2, 2])
    assert survivors_first(expected, log_prob, rounds).tolist() == [1, 3, 2, 0]


def test_estimates_are_on_the_scale_of_the_costly_utility() -> None:
    cheap = np.array([80.0, 70.0, 60.0, 10.0])
    assert on_scale_of(cheap, np.array([0, 1]), np.array([0.8, 0.7])).tolist() == pytest.approx([0.8, 0.7, 0.6, 0.1])
    assert on_scale_of(cheap, np.array([0, 1]), np.array([0.7, 0.8])).tolist() == pytest.approx([0.7, 0.8, 0.75, 0.75])
    assert on_scale_of(cheap, np.array([2]), np.array([0.5])).tolist() == [0.5] * 4


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("prune", {"alpha": 0}, "alpha must be above 0 and at most 1, got 0"),
        ("prune", {"alpha": float("nan")}, "alpha must be above 0 and at most 1, got nan"),
        ("prune", {"alpha": "high"}, "alpha must be above 0 and at most 1, got 'high'"),
        ("prune", {"schedule": []}, "schedule must be a list of increasing sizes"),
        ("prune", {"schedule": [8, 8]}, r"schedule must be a list of increasing sizes.*got \[8, 8\]"),
        ("prune", {"schedule": 8}, "schedule must be a list of increasing sizes"),
        ("prune", {"bootstrap": 0}, "bootstrap must be a whole number from 1 to 100000, got 0"),
        ("prune", {"seed": 1.5}, "seed must be a whole number from 0 to 4294967295, got 1.5"),
        ("prune", {"beta": 1}, "do not fit --selection prune"),
        ("coarse", {"hypotheses": 0}, "hypotheses must be a whole number from 1 to 10000000, got 0"),
        ("coarse", {"references": True}, "references must be a whole number from 1 to 10000000, got True"),
        ("coarse", {"utility": "chrg"}, "--selection-args: the cheap utility of coarse: --utility chrg is unknown"),
        ("coarse", {"utility_args": {"beta": -1}}, "cheap utility of coarse: .*beta must be a number from 0 to 1e.09"),
    ],
)
def test_bad_arguments_are_one_sentence(name: str, arguments: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_rule(name, arguments)
