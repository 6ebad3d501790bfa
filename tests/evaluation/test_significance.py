"""Significance tests against Moses' script, sacreBLEU's own tests, and plain re-implementations."""

import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import MetricOptions
from dcmbr_fairseq.evaluation.nist import MOSES, MTEVAL, ngram_information, nist_score, segment_sums
from dcmbr_fairseq.evaluation.significance import approximate_randomisation, paired_bootstrap
from dcmbr_fairseq.evaluation.statistics import build_statistic
from dcmbr_fairseq.evaluation.uncertainty import holm

REFERENCES = [
    "the cat sat on the mat .", "a dog barks at the cat", "the the the end", "dogs and cats are animals .",
    "she reads a book in the park",
]  # fmt: skip
FIRST = [
    "the cat is on the mat .", "the dog barks at the cat", "the end the end", "dogs and cats are animals",
    "she reads the book in a park .",
]  # fmt: skip
SECOND = [
    "a cat sat on mat .", "dog barks at a cat", "the the end", "dogs are animals .",
    "she read a book in the park today .",
]  # fmt: skip

#: What bootstrap-hypothesis-difference-significance.pl prints for these lines, given the resamples of seed 12345.
MOSES_PRINTED = {
    "bleu": (51.3139586703027, 38.5780889812126, 0.334),
    "nist": (4.32824971545988, 4.00066941122197, 0.156),
}


def statistic(name: str, tokenizer: str = "none"):
    return build_statistic(name, tokenizer, "en", MetricOptions())


def corpus(size: int, seed: int = 1):
    """References and two noisy systems, the second a little worse; some outputs are empty."""
    dice = random.Random(seed)
    words = [f"w{i}" for i in range(40)]
    references = [" ".join(dice.choices(words, k=dice.randint(5, 15))) for _ in range(size)]

    def noisy(text: str, rate: float) -> str:
        return " ".join(dice.choice(words) if dice.random() < rate else w for w in text.split() if dice.random() > 0.1)

    systems = [[noisy(text, rate) for text in references] for rate in (0.20, 0.24)]
    systems[0][3] = systems[1][5] = ""
    return references, systems


@pytest.mark.parametrize("name", ["bleu", "nist"])
def test_scores_and_p_values_are_those_of_moses(name):
    metric = statistic(name)
    rows = [metric.segments(system, REFERENCES, None) for system in (FIRST, SECOND)]
    result = paired_bootstrap(*rows, metric.score, samples=1000, seed=12345)
    first, second, p = MOSES_PRINTED[name]
    assert result.baseline == pytest.approx(first, rel=1e-12)
    assert result.system == pytest.approx(second, rel=1e-12)
    assert result.p_value == p


def plain_nist(hypotheses, references, order, by_type):
    """NIST from its definition, segment by segment and n-gram by n-gram."""
    occurrences = Counter(
        tuple(r[i : i + n]) for r in references for n in range(1, order + 1) for i in range(len(r) - n + 1)
    )
    words = sum(map(len, references))
    score = 0.0
    for n in range(1, order + 1):
        information, total = 0.0, 0
        for h, r in zip(hypotheses, references, strict=True):
            ngrams = [tuple(h[i : i + n]) for i in range(len(h) - n + 1)]
            available = [tuple(r[i : i + n]) for i in range(len(r) - n + 1)]
            for ngram in sorted(set(ngrams)):
                matches = min(ngrams.count(ngram), available.count(ngram))
                if matches:
                    bits = math.log2((occurrences[ngram[:-1]] if n > 1 else words) / occurrences[ngram])
                    information += bits * (1 if by_type else matches)
            total += len(set(ngrams)) if by_type else len(ngrams)
        score += information / total if total else 0.0
    length, reference_length = sum(map(len, hypotheses)), words
    if length == 0:
        return 0.0
    beta = math.log(0.5) / math.log(1.5) ** 2
    return score * math.exp(beta * math.log(min(1.0, length / reference_length)) ** 2)


sentences = st.lists(st.sampled_from("a b c d".split()), min_size=1, max_size=8)


@inputs(60)
@given(st.lists(st.tuples(st.lists(st.sampled_from("a b c d".split()), max_size=8), sentences), min_size=1, max_size=5))
def test_nist_follows_its_definition(pairs):
    hypotheses, references = zip(*pairs, strict=True)
    for variant in (MOSES, MTEVAL):
        information = ngram_information(references, variant.order)
        rows = [segment_sums(h, r, information, variant) for h, r in pairs]
        expected = plain_nist(hypotheses, references, variant.order, variant.by_type)
        assert nist_score(np.array(rows, float).sum(axis=0)) == pytest.approx(expected, abs=1e-12)


def test_nist_halves_at_two_thirds_of_the_length_and_is_zero_for_nothing():
    assert nist_score(np.array([3.0, 3.0, 6.0, 3.0])) == pytest.approx(2.0)
    assert nist_score(np.array([2.0, 3.0, 6.0, 3.0])) == pytest.approx(1.0)
    assert nist_score(np.array([0.0, 3.0, 0.0, 0.0])) == 0.0


def test_unsmoothed_bleu_is_sacrebleus_and_zero_without_matches():
    references, systems = corpus(50)
    metric = statistic("bleu")
    oracle = BLEU(tokenize="none", smooth_method="none")
    for system in systems:
        found = metric.score(metric.segments(system, references, None).sum(axis=0))
        assert found == pytest.approx(oracle.corpus_score(system, [references]).score, rel=1e-12)
    assert metric.score(metric.segments(["x"], ["y"], None).sum(axis=0)) == 0.0
    assert metric.score(metric.segments([""], ["y"], None).sum(axis=0)) == 0.0


def sacrebleu_test(kind: str, metrics, references, systems, samples: int):
    named = [("A", systems[0]), ("B", systems[1])]
    test = PairedTest(named, metrics, [references], kind, n_samples=samples)
    return test()[1]


@pytest.mark.parametrize(("kind", "run"), [("bs", paired_bootstrap), ("ar", approximate_randomisation)])
def test_p_values_are_those_of_sacrebleu(kind, run):
    references, systems = corpus(120)
    oracle = {"sacrebleu": BLEU(), "chrf": CHRF(), "bleu": BLEU(tokenize="none", smooth_method="none")}
    for name, metric in oracle.items():
        found = sacrebleu_test(kind, {"metric": metric}, references, systems, samples=400)
        ours = statistic(name)
        rows = [ours.segments(system, references, None) for system in systems]
        result = run(*rows, ours.score, samples=400, seed=12345)
        baseline, system = next(value for key, value in found.items() if key != "System")
        assert (result.baseline, result.system) == (pytest.approx(baseline.score), pytest.approx(system.score))
        assert result.corrected_p_value == pytest.approx(system.p_value, abs=1e-12)
        if kind == "bs":
            interval = result.system_interval
            assert (interval.high - interval.low) / 2 == pytest.approx(system.ci, rel=1e-4)


def test_bootstrap_is_the_straightforward_one():
    references, systems = corpus(30, seed=7)
    metric = statistic("nist")
    rows = [metric.segments(system, references, None) for system in systems]
    result = paired_bootstrap(*rows, metric.score, samples=60, seed=3)
    information = ngram_information([r.split() for r in references], 4)

    def nist(system, chosen):
        sums = [segment_sums(systems[system][i].split(), references[i].split(), information, MOSES) for i in chosen]
        return float(nist_score(np.array(sums, float).sum(axis=0)))

    generator = np.random.default_rng(3)
    drawn = generator.choice(30, size=(60, 30), replace=True)
    spread = np.array([abs(nist(0, chosen) - nist(1, chosen)) for chosen in drawn])
    observed = abs(nist(0, range(30)) - nist(1, range(30)))
    assert result.extreme == sum(spread - spread.mean() >= observed)


def test_randomisation_is_the_exact_permutation_test_in_the_limit():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(2, 8)) + np.array([[0.0], [0.7]])
    rows = [np.stack([v, np.ones_like(v)], axis=1) for v in values]
    score = statistic("sentence-chrf").score
    observed = abs(values[1].mean() - values[0].mean())
    signs = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1).T  # all 256 ways to swap
    exact = np.mean(np.abs((signs * (values[1] - values[0])).mean(axis=1)) >= observed - 1e-12)
    result = approximate_randomisation(*rows, score, samples=40000)
    assert result.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40000))


def test_segment_metric_bootstrap_agrees_with_the_normal_approximation():
    references, systems = corpus(200)
    metric = statistic("sentence-chrf")
    rows = [metric.segments(system, references, None) for system in systems]
    result = paired_bootstrap(*rows, metric.score, samples=4000)
    difference = rows[1][:, 0] - rows[0][:, 0]
    assert result.difference == pytest.approx(difference.mean())
    half = 1.96 * difference.std() / math.sqrt(200)
    interval = result.difference_interval
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.06)


@pytest.mark.parametrize("run", [paired_bootstrap, approximate_randomisation])
def test_a_system_does_not_differ_from_itself(run):
    references, systems = corpus(20)
    metric = statistic("bleu")
    rows = metric.segments(systems[0], references, None)
    result = run(rows, rows, metric.score, samples=50)
    assert result.p_value == result.corrected_p_value == 1.0


@pytest.mark.parametrize("run", [paired_bootstrap, approximate_randomisation])
def test_seeds_and_blocks(run, monkeypatch):
    references, systems = corpus(40)
    metric = statistic("bleu")
    rows = [metric.segments(system, references, None) for system in systems]
    results = [run(*rows, metric.score, samples=300, seed=seed) for seed in (1, 1, 2)]
    assert results[0] == results[1] != results[2]
    monkeypatch.setattr("dcmbr_fairseq.evaluation.significance._BLOCK", 1600)  # 40 samples a block
    assert run(*rows, metric.score, samples=300, seed=1) == results[0]


def test_other_lengths_and_sample_counts_are_refused():
    rows = np.ones((3, 2))
    for arguments in ((rows, rows[:2]), (rows[:0], rows[:0])):
        with pytest.raises(UserError, match="give outputs of one test set"):
            paired_bootstrap(*arguments, lambda sums: sums[:, 0])
    with pytest.raises(UserError, match="--samples must be a whole number from 1 to 1000000, got 0"):
        approximate_randomisation(rows, rows, lambda sums: sums[:, 0], samples=0)


def test_command_tokenises_first_and_reports_both_systems(tmp_path, capsys):
    references, systems = corpus(60)
    paths = []
    for name, lines in (("references", references), ("beam", systems[0]), ("mbr", systems[1]), ("same", systems[0])):
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"{line.replace('w1 ', 'w1, ')}\n" for line in lines), "utf-8")
        paths.append(str(path))
    command = ["significance", "--references", *paths, "--metrics", "bleu,nist,sentence-chrf", "--samples", "200"]
    assert main([*command, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    metric = statistic("bleu", "moses")
    separated = [[line.replace("w1 ", "w1 , ") for line in lines] for lines in (references, systems[1])]
    expected = metric.score(statistic("bleu").segments(separated[1], separated[0], None).sum(axis=0))
    rows = {(row["metric"], row["system"]): row for row in found["comparisons"]}
    assert len(rows) == 6 and found["signatures"][1].startswith("NIST|order:4|tok:moses-en")
    assert rows["BLEU", "mbr"]["system_score"] == pytest.approx(expected)
    assert rows["BLEU", "mbr"]["bootstrap_p"] == rows["BLEU", "mbr"]["bootstrap_extreme"] / 200
    assert rows["BLEU", "mbr"]["randomisation_p"] == (rows["BLEU", "mbr"]["randomisation_extreme"] + 1) / 201
    assert rows["NIST", "same"]["bootstrap_p"] == rows["NIST", "same"]["randomisation_p"] == 1.0
    assert rows["NIST", "same"]["difference"] == 0.0
    low, high = rows["BLEU", "mbr"]["difference_interval"]
    assert low < rows["BLEU", "mbr"]["difference"] < high
    for form, expected in (("text", "\nNIST  "), ("latex", r"\midrule"), ("tsv", "\nNIST\t"), ("markdown", "| NIST |")):
        assert main([*command, "--format", form]) == 0
        assert expected in capsys.readouterr().out
    assert main([*command, "--test", "randomisation"]) == 0
    out = capsys.readouterr().out
    head = f"references: {Path(paths[0]).name}, 60 segments\n"
    assert f"{head}randomisation, 200 samples, seed 12345" in out and "p boot" not in out
    assert "6 comparisons, of which none is corrected for the others" in out


@pytest.fixture
def files(tmp_path):
    """Paths of references and of two systems, in capitals and in small letters."""
    references, systems = corpus(40)
    paths = {}
    for name, lines in (("references", references), ("upper", [s.upper() for s in systems[0]]), ("lower", systems[0])):
        paths[name] = str(tmp_path / name)
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return paths


METRICS = "bleu,nist,nist-mteval,sacrebleu,chrf,chrf++,ter,sentence-bleu,sentence-chrf,sentence-ter"


def test_lowercase_is_honoured_by_every_metric(files, capsys):
    command = ["significance", "--references", files["references"], files["lower"], files["upper"]]
    assert main([*command, "--samples", "20", "--metrics", METRICS, "--lowercase", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["difference"] for row in found["comparisons"]] == [0.0] * len(METRICS.split(","))
    assert sum("case:lc" in signature for signature in found["signatures"]) == len(found["signatures"])
    assert main([*command, "--samples", "20", "--metrics", "bleu,nist", "--format", "json"]) == 0
    assert all(row["difference"] for row in json.loads(capsys.readouterr().out)["comparisons"])


def test_tsv_and_json_hold_the_same_numbers(files, capsys):
    command = ["significance", "--references", files["references"], files["lower"], files["upper"], "--samples", "20"]
    for extra in (["--correction", "holm"], ["--test", "bootstrap"], ["--test", "randomisation"]):
        assert main([*command, *extra, "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)["comparisons"]
        assert main([*command, *extra, "--format", "tsv"]) == 0
        header, *lines = (line.split("\t") for line in capsys.readouterr().out.splitlines())
        for row, line in zip(rows, lines, strict=True):
            cells = dict(zip(header, line, strict=True))
            for name, value in row.items():
                if name.endswith("_interval"):
                    ends = [cells[name.replace("interval", end)] for end in ("low", "high")]
                    assert ends == ["-", "-"] if value is None else list(map(float, ends)) == value
                elif isinstance(value, str) or value is None:
                    assert cells[name] == (value or "-")
                else:
                    assert float(cells[name]) == value
        assert (rows[0]["p_holm"] is None) == ("holm" not in extra)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--metrics", "blue"], "--metrics blue is unknown: did you mean bleu? choose from bleu, nist"),
        (["--metrics", "sentence-bluert"], "--metrics sentence-bluert is unknown"),
        (["--language", "xx"], "--language xx: Moses' tokeniser has no rules for it: give one of as, bn"),
        (["--language", "de", "--metrics", "chrf"], "--language de is for bleu, nist, nist-mteval, and --metrics chrf"),
        (["--tokenizer", "none", "--metrics", "chrf"], "--tokenizer none is for bleu, nist"),
        (["--metric-args", '{"bleu": {}}'], "--metric-args has arguments of bleu, which nothing here takes: leave it"),
        (["--metric-args", '{"blue": {}}', "--metrics", "sacrebleu"], "arguments of blue, .* did you mean bleu?"),
        (["--samples", "0"], "--samples must be a whole number from 1 to 1000000, got 0"),
        (["--samples", "99999999999999999999"], "whole number from 1 to 1000000, got 99999999999999999999"),
        (["--seed=-1"], "--seed must be a whole number from 0 to 4294967295, got -1"),
    ],
)
def test_bad_options_get_one_sentence_before_anything_is_scored(files, capsys, arguments, sentence):
    command = ["significance", "--references", files["references"], files["lower"], files["upper"], *arguments]
    assert main(command) == 1
    assert re.search(sentence.replace("?", r"\?").replace("(", r"\("), capsys.readouterr().err)


def test_systems_that_do_not_differ_are_told_apart_as_often_as_is_said():
    """400 null trials at 0.05: the bootstrap of Moses and sacreBLEU rejects twice as often as it says."""
    rng = np.random.default_rng(11)
    rejected = {"bootstrap": 0, "randomisation": 0}
    score = statistic("sentence-chrf").score
    for trial in range(400):
        values = rng.gamma(2.0, size=(80, 1)) + rng.normal(size=(80, 2))  # exchangeable within each segment
        rows = [np.stack([values[:, i], np.ones(80)], axis=1) for i in (0, 1)]
        rejected["bootstrap"] += paired_bootstrap(*rows, score, samples=300, seed=trial).corrected_p_value < 0.05
        rejected["randomisation"] += approximate_randomisation(*rows, score, 300, trial).corrected_p_value < 0.05
    assert 0.07 * 400 < rejected["bootstrap"] < 0.14 * 400
    assert rejected["randomisation"] < 0.08 * 400


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=7))
def test_holm_follows_its_definition(p_values):
    corrected = holm(p_values)
    for level in (0.01, 0.05, 0.2, 0.7):
        order = np.argsort(p_values, kind="stable")
        expected = set()
        for step, index in enumerate(order):  # rejects from the smallest on, until one fails
            if p_values[index] > level / (len(p_values) - step):
                break
            expected.add(int(index))
        near = {i for i, p in enumerate(corrected) if abs(p - level) < 1e-12}
        assert {i for i, p in enumerate(corrected) if p <= level} - near == expected - near
    assert all(p <= c <= 1 for p, c in zip(p_values, corrected, strict=True))
