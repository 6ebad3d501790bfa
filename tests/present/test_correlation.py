"""Correlation coefficients against their definitions."""

import json
from itertools import combinations

import numpy as np
import pytest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.correlation import correlate

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
