"""The benchmark of costly utilities: what it reports, on tiny pools."""

import sys
from pathlib import Path

import numpy as np
import pytest
from fairseq_commands import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import neural

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.utilities.meteor import MeteorUtility


@pytest.fixture(scope="module")
def pools() -> list[TextPool]:
    draws = [["ein Mann lacht", "ein Mann lacht", "der Mann lachte laut"], ["zwei Hunde", "zwei Hunde rennen", "Hunde"]]
    return [TextPool.from_draws(texts, [-1.0, -1.0, -2.0], [-1.0, -1.0, -2.0]) for texts in draws]


def test_sentences_are_spread_over_the_file(pools: list[TextPool]) -> None:
    many = [pools[0]] * 50 + [pools[1]] * 50
    assert neural.spread(many, 4) == [pools[0]] * 2 + [pools[1]] * 2
    assert neural.spread(pools, 10) == pools


def test_bleurt_report(pools: list[TextPool], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bleurt_pytorch", reason="needs the extra bleurt: pip install 'dcmbr_fairseq[bleurt]'")
    monkeypatch.setattr(neural, "SINGLE_PAIRS", 2)
    report = neural.bleurt_benchmark(pools, runs=1)
    assert report["naive, batched"]["calls"] == 9
    assert report["exact"]["calls"] == (4 + 9) / 2
    assert report["calls_of_exact_in_naive_calls"] == round(6.5 / 9, 3)
    assert neural.calls_of_exact(pools) == {"sentences": 2, "naive": 9, "exact": 6.5, "share": 0.722}
    assert report["same_choice_as_exact"] == {"prune": 1, "coarse": 1}  # too few hypotheses to drop any
    product = np.prod([saving["cpu"] for saving in report["savings"].values()])
    assert product == pytest.approx(report["exact_times_faster_than_naive_batched"]["cpu"], rel=0.05)


def test_batches_as_they_come_hold_every_pair_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neural, "NAIVE_BATCH", 4)
    assert [batch.tolist() for batch in neural.batches_as_they_come([7] * 9, 3)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8]]


def test_the_contestants_score_alike(pools: list[TextPool], tmp_path: Path) -> None:
    pytest.importorskip("bleurt_pytorch", reason="needs the extra bleurt: pip install 'dcmbr_fairseq[bleurt]'")
    folder = neural.random_bleurt(tmp_path / "random", [text for pool in pools for text in pool.texts])
    utility = neural.BleurtUtility(checkpoint=str(folder), device="cpu")
    texts = neural.draws_of(pools[0])
    ours = utility.pairwise(pools[0].texts, pools[0].texts)[np.ix_(pools[0].draws, pools[0].draws)]
    np.testing.assert_allclose(neural.library_pairwise(utility, texts), ours, rtol=0, atol=1e-6)


def test_meteor_report(pools: list[TextPool]) -> None:
    try:
        MeteorUtility.require_ready()
    except UserError as missing:
        pytest.skip(str(missing))
    report = neural.meteor_benchmark(pools, "de", runs=1)
    assert report["naive, one round trip a pair"]["calls"] == 9
    assert report["savings"]["distinct pairs"] == round(9 / 6.5, 2)
    assert report["same_choice_as_exact"] == {"prune": 1, "coarse": 1}


def test_some_pairs_are_all_pairs_if_there_are_no_more() -> None:
    assert neural.some_pairs(["a", "b"], 9) == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    assert neural.some_pairs(["a", "b"], 2) == [("a", "a"), ("b", "b")]


def test_round_trips_score_as_the_utility_does(pools: list[TextPool]) -> None:
    try:
        MeteorUtility.require_ready()
    except UserError as missing:
        pytest.skip(str(missing))
    utility = neural.MeteorUtility(language="de")
    trips = neural.RoundTrips(utility)
    texts = pools[0].texts
    scores = trips.pairwise([(h, r) for h in texts for r in texts])
    trips.close()
    np.testing.assert_array_equal(np.reshape(scores, (2, 2)), utility.pairwise(texts, texts))
    utility.close()
