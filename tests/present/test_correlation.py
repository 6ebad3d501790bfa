"""Correlation coefficients against their definitions."""

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from scipy import stats

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.correlation import correlate, permutation_p
from dcmbr_fairseq.present.tables import coefficient_text, p_text

ENTROPY = [1.5, 1.7, 2.0, 2.6, 2.6, 3.0, 3.4]
SCORE = [66.0, 60.0, 61.0, 50.0, 48.0, 30.0, 25.0]


def ranks(values):
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def pearson(x, y):
    x, y = np.array(x) - np.mean(x), np.array(y) - np.mean(y)
    return (x @ y) / np.sqrt((x @ x) * (y @ y))


def test_coefficients_follow_their_definitions():
    found = correlate(ENTROPY, SCORE)
    signs = [np.sign((a[0] - b[0]) * (a[1] - b[1])) for a, b in combinations(zip(ENTROPY, SCORE, strict=True), 2)]
    untied = [sum(a != b for a, b in combinations(values, 2)) for values in (ENTROPY, SCORE)]
    assert found.kendall.value == pytest.approx(sum(signs) / np.sqrt(untied[0] * untied[1]))  # tau-b
    assert found.spearman.value == pytest.approx(pearson(ranks(ENTROPY), ranks(SCORE)))
    assert found.pearson.value == pytest.approx(pearson(ENTROPY, SCORE))
    assert found.count == 7 and 0 < found.kendall.p_value < 0.01


def test_a_decreasing_function_gives_minus_one():
    found = correlate(ENTROPY[:4], [-(x**3) for x in ENTROPY[:4]])
    assert found.kendall.value == pytest.approx(-1) and found.spearman.value == pytest.approx(-1)
    assert -1 < found.pearson.value < -0.9


@inputs(15)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=6))
def test_p_values_of_few_models_are_the_share_of_all_orders(pairs):
    x, y = map(list, zip(*pairs, strict=True))
    if len(set(x)) == 1 or len(set(y)) == 1:
        return
    found = correlate(x, y)
    for name in ("kendall", "spearman", "pearson"):
        tests = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}
        values = [abs(tests[name](order, y).statistic) for order in permutations(x)]
        share = np.mean([value >= abs(getattr(found, name).value) - 1e-9 for value in values])
        assert getattr(found, name).p_value == pytest.approx(share)


def test_a_perfect_order_of_few_models_is_as_probable_as_two_orders():
    x = [1.0, 2.0, 3.5, 4.0, 7.0]
    found = correlate(x, [-(value**3) for value in x])
    assert found.kendall.p_value == found.spearman.p_value == pytest.approx(2 / 120)
    assert stats.spearmanr(x, x).pvalue < 1e-20  # what it was taken for


def test_kendall_without_ties_is_scipy_s_exact_test():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 8))
    assert correlate(x, y).kendall.p_value == pytest.approx(stats.kendalltau(x, y, method="exact").pvalue)
    assert permutation_p(stats.rankdata(x), stats.rankdata(y)) == correlate(x, y).spearman.p_value


def test_no_p_value_is_zero_however_many_models():
    x = np.arange(40.0)
    found = correlate(x, 3 * x + 1)
    assert stats.pearsonr(x, 3 * x + 1).pvalue == 0
    for coefficient in (found.kendall, found.spearman, found.pearson):
        assert 0 < coefficient.p_value < 1e-15 and float(p_text(coefficient.p_value)) > 0


@given(st.floats(0, 1, exclude_min=True))
def test_printed_p_values_are_near_and_never_zero(p):
    assert float(p_text(p)) == pytest.approx(p, rel=0.5)
    assert p_text(p, least=0.01).startswith("< 0.01") == (p < 0.01)


@given(st.floats(-1, 1), st.integers(1, 4))
def test_a_coefficient_is_printed_as_one_only_where_it_is_one(value, digits):
    text = coefficient_text(value, digits)
    assert float(text) == pytest.approx(value, abs=10.0**-digits)
    if 1e-12 < abs(value) < 1 - 1e-12:
        assert float(text) not in (-1, 0, 1)


def test_almost_one_is_not_one():
    assert coefficient_text(-0.996, 2) == "-0.996" and coefficient_text(-1.0, 2) == "-1.00"
    assert coefficient_text(0.99996, 4) == "0.99996" and coefficient_text(0.5, 2) == "0.50"


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1, 2], "at least 3 pairs"),
        ([1, 2, 3], [1, 2], "at least 3 pairs"),
        ([1, 2, float("nan")], [1, 2, 3], "finite"),
        ([1, 1, 1], [1, 2, 3], "vary"),
    ],
)
def test_bad_input(x, y, message):
    with pytest.raises(UserError, match=message):
        correlate(x, y)


def test_command(tmp_path, capsys):
    path = tmp_path / "models.tsv"
    lines = ["model\tentropy\tscore", *(f"m{i}\t{e}\t{s}" for i, (e, s) in enumerate(zip(ENTROPY, SCORE, strict=True)))]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert main(["correlation", str(path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kendall"]["value"] == correlate(ENTROPY, SCORE).kendall.value
    assert main(["correlation", str(path)]) == 0
    assert "score against entropy, 7 models" in capsys.readouterr().out
    known = {"task": "x-en-de", "subset": "test", "sentences": "40", "seed": "1", "decoding": "mbr", "num_hyp": "10",
             "num_ref": "10", "temp_hyp": "1", "temp_ref": "1", "utility_signature": "chrF|v:1",
             "signature": "BLEU|v:2"}  # fmt: skip
    whole = ["\t".join([line, *more]) for line, more in zip(lines, [known, *[known.values()] * 7], strict=True)]
    path.write_text("\n".join(whole) + "\n", "utf-8")
    said = ["test set: x-en-de, test, 40 sentences", "models: m0, m1, m2, m3, m4, m5, m6",
            "N = 10; T = 1; draws: independent", "seed: 1", "decided by: chrF|v:1", "judged by: BLEU|v:2"]  # fmt: skip
    assert main(["correlation", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-len(said) :] == said
    assert main(["correlation", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["about"] == said
    assert main(["correlation", str(path), "--x", "loss"]) == 1
    assert "needs the columns loss" in capsys.readouterr().err


def test_seeds_are_averaged_and_settings_not_mixed(tmp_path, capsys):
    path = tmp_path / "models.tsv"
    rows = [(f"m{i}", seed, 10, i, i * i + seed) for i in range(4) for seed in (1, 2)]
    path.write_text("\n".join(["model\tseed\tnum_hyp\tentropy\tscore", *("\t".join(map(str, r)) for r in rows)]) + "\n")
    assert main(["correlation", str(path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["count"] == 4
    assert found["pearson"]["value"] == pytest.approx(np.corrcoef(range(4), [0, 1, 4, 9])[0, 1])
    with path.open("a") as out:
        out.write("m9\t1\t50\t9\t9\n")
    assert main(["correlation", str(path)]) == 1
    assert "several values of num_hyp (10, 50): choose with --where" in capsys.readouterr().err
