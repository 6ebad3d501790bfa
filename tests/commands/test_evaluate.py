"""``dcmbr evaluate``: what is read is what was written, and scores are sacreBLEU's own."""

import gzip
import json
import os
import subprocess
import urllib.error
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import MetricOptions, evaluate
from dcmbr_fairseq.evaluation.significance import Resamples
from dcmbr_fairseq.evaluation.translations import read_translations, system_names
from dcmbr_fairseq.utilities.base import Utility

REFERENCES = ["Ein Hund läuft über die Wiese .", "Zwei Männer spielen Fußball !", "Eine Frau liest ein Buch ."]
SYSTEM_A = ["Ein Hund rennt über die Wiese .", "Zwei Männer spielen Fußball !", "Die Frau liest Bücher ."]
SYSTEM_B = ["Hunde auf der wiese", "", "Eine Frau liest ein buch ."]

LOG = """2024-01-01 10:00:00 | INFO | fairseq_cli.generate | D-0\tnot a hypothesis
S-1\tsecond source
T-1\tsecond target
H-1\t-0.5\tZwei Män@@ ner
D-1\t-0.5\tZwei Männer
P-1\t-0.5 -0.5
D-1\t-0.9\tZwei Frauen
S-0\tfirst source
H-0\t-0.1\tHund\ttab
D-0\t-0.1\tHund\ttab
D-2\t-inf\t
Generate test with beam=5: BLEU4 = 12
"""


class LengthRatio(Utility):
    """A user's own utility: the ratio of the lengths in characters."""

    def pairwise(self, hypotheses, references, source=None):
        return np.array([[len(h) / len(r) for r in references] for h in hypotheses])

    def signature(self):
        return "ratio"


class SameCharacters(LengthRatio):
    """Another, to which case matters: how many characters stand in the same place."""

    def pairwise(self, hypotheses, references, source=None):
        rows = [[sum(a == b for a, b in zip(h, r, strict=False)) for r in references] for h in hypotheses]
        return np.array(rows, dtype=float)


class NeedsSource(LengthRatio):
    """The same, but it asks for the source."""

    needs_source = True


def write(path: Path, lines) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
    return str(path)


def test_scores_are_those_of_sacrebleu():
    result = evaluate({"a": SYSTEM_A, "b": SYSTEM_B}, REFERENCES, metrics=("bleu", "chrf", "chrf++", "ter"))
    assert sacrebleu.corpus_ter(SYSTEM_B, [REFERENCES], case_sensitive=True).score != result.scores["TER"][1]
    for i, system in enumerate((SYSTEM_A, SYSTEM_B)):
        assert result.scores["BLEU"][i] == sacrebleu.corpus_bleu(system, [REFERENCES]).score
        assert result.scores["chrF"][i] == sacrebleu.corpus_chrf(system, [REFERENCES]).score
        assert result.scores["chrF++"][i] == sacrebleu.corpus_chrf(system, [REFERENCES], word_order=2).score
        assert result.scores["TER"][i] == sacrebleu.corpus_ter(system, [REFERENCES]).score


def test_lowercase_and_tokeniser_reach_sacrebleu_and_the_signature():
    upper = [text.replace("ß", "ẞ").upper() for text in REFERENCES]  # "ß".upper() is "SS"
    options = MetricOptions(lowercase=True, tokenize="char")
    result = evaluate({"upper": upper}, REFERENCES, metrics=("bleu", "chrf", "ter"), options=options)
    assert result.scores == {"BLEU": [pytest.approx(100)], "chrF": [pytest.approx(100)], "TER": [0]}
    assert "case:lc" in result.signatures["BLEU"] and "tok:char" in result.signatures["BLEU"]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter", "mean", f"{__name__}:SameCharacters"])
def test_lowercase_makes_case_indifferent_to_every_metric(metric):
    arguments = {"mean": {"of": {"chrf": {}, "bleu": {}}}} if metric == "mean" else {}
    options = MetricOptions(lowercase=True, arguments=arguments)
    systems = {"as it is": SYSTEM_A, "lower": [t.lower() for t in SYSTEM_A], "title": [t.title() for t in SYSTEM_A]}
    result = evaluate(systems, REFERENCES, metrics=[metric], options=options)
    (label,) = result.scores
    assert len(set(result.scores[label])) == 1
    assert ("case:lc" in result.signatures[label]) or metric == "ter"
    with_case = evaluate(systems, REFERENCES, metrics=[metric], options=MetricOptions(arguments=arguments))
    assert metric == "ter" or len(set(with_case.scores[label])) > 1


def test_intervals_are_those_of_sacrebleu():
    dice = np.random.default_rng(3)
    words = [f"w{i}" for i in range(30)]
    references = [" ".join(dice.choice(words, 12)) for _ in range(60)]
    system = [" ".join(w if dice.random() > 0.3 else "x" for w in text.split()) for text in references]
    resamples = Resamples(400)
    options = MetricOptions()
    metrics = ("bleu", "chrf", f"{__name__}:LengthRatio")
    result = evaluate({"a": system}, references, metrics=metrics, options=options, confidence=resamples)
    for label, oracle in (("BLEU", sacrebleu.BLEU()), ("chrF", sacrebleu.CHRF())):
        found = oracle.corpus_score(system, [references], n_bootstrap=400)
        (interval,) = result.intervals[label]
        assert (interval.high - interval.low) / 2 == pytest.approx(found._ci, rel=1e-6)  # sacreBLEU counts in float32
        assert interval.low < result.scores[label][0] < interval.high
    ratios = np.array([len(h) / len(r) for h, r in zip(system, references, strict=True)])
    (interval,) = result.intervals["LengthRatio"]
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * ratios.std() / np.sqrt(60), rel=0.15)


@pytest.mark.parametrize("tokenize", ["spm", "flores200"])
def test_a_tokenizer_that_must_be_downloaded_says_so_before_anything_is_scored(tokenize, monkeypatch, tmp_path, capsys):
    module = pytest.importorskip("sacrebleu.tokenizers.tokenizer_spm")
    pytest.importorskip("sentencepiece")

    def offline(*arguments):
        raise urllib.error.URLError("Temporary failure in name resolution")

    monkeypatch.setattr(module, "download_file", offline)
    monkeypatch.setattr(module, "SACREBLEU_DIR", str(tmp_path / "nothing"))
    files = [write(tmp_path / f"{name}.txt", SYSTEM_A) for name in "ab"]
    assert main(["evaluate", "--references", files[0], "--tokenize", tokenize, files[1]]) == 1
    error = capsys.readouterr().err
    assert f"--tokenize {tokenize}: tokenize {tokenize} is not ready" in error and "connect to the network" in error


def test_a_tokenizer_without_its_package_is_one_sentence(monkeypatch):
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    with pytest.raises(UserError, match="--tokenize ja-mecab: tokenize ja-mecab is not ready: .*install"):
        evaluate({"a": SYSTEM_A}, REFERENCES, metrics=["bleu"], options=MetricOptions(tokenize="ja-mecab"))


def test_arguments_reach_sacrebleu():
    arguments = {"ter": {"case_sensitive": True}, "chrf": {"beta": 1}}
    options = MetricOptions(arguments=arguments)
    result = evaluate({"b": SYSTEM_B}, REFERENCES, metrics=("chrf", "ter"), options=options)
    assert result.scores["TER"] == [sacrebleu.corpus_ter(SYSTEM_B, [REFERENCES], case_sensitive=True).score]
    assert result.scores["chrF"] == [sacrebleu.corpus_chrf(SYSTEM_B, [REFERENCES], beta=1).score]
    with pytest.raises(UserError, match='--metrics ter: .*"case": 1.* do not fit --utility ter: .*did you mean case_'):
        evaluate({"b": SYSTEM_B}, REFERENCES, metrics=("ter",), options=MetricOptions(arguments={"ter": {"case": 1}}))


def test_a_users_utility_is_averaged_over_segments():
    result = evaluate({"a": SYSTEM_A}, REFERENCES, metrics=[f"{__name__}:LengthRatio"])
    expected = np.mean([len(h) / len(r) for h, r in zip(SYSTEM_A, REFERENCES, strict=True)])
    assert result.scores == {"LengthRatio": [pytest.approx(expected)]}
    assert result.signatures == {"LengthRatio": "ratio|mean"}


def test_a_utility_that_needs_the_source_says_so():
    with pytest.raises(UserError, match="--source is needed by ratio"):
        evaluate({"a": SYSTEM_A}, REFERENCES, metrics=[f"{__name__}:NeedsSource"])


def test_log_of_fairseq_is_read_by_id_and_keeps_tabs_and_empties(tmp_path):
    path = tmp_path / "generate.log"
    path.write_text(LOG, "utf-8", newline="\n")
    assert read_translations(path, expected=3) == ["Hund\ttab", "Zwei Männer", ""]


@pytest.mark.parametrize("layout", ["log", "records"])
def test_missing_sentences_are_refused(tmp_path, layout):
    rows = {
        "log": ["D-0\t-1\ta", "D-3\t-1\td"],
        "records": [json.dumps({"id": i, "translation": "x"}) for i in (0, 3)],
    }
    path = write(tmp_path / "some.txt", rows[layout])
    with pytest.raises(UserError, match=r"lacks 2 of 4 sentences \(ids 1, 2\)"):
        read_translations(path)
    with pytest.raises(UserError, match=r"lacks 3 of 5 sentences \(ids 1, 2, 4\)"):
        read_translations(path, expected=5)


def test_logs_of_two_runs_in_one_file_are_refused(tmp_path):
    path = write(tmp_path / "twice.log", ["D-0\t-1\ta", "D-1\t-1\tb"] * 2)
    with pytest.raises(UserError, match="D-0 in two places"):
        read_translations(path)


def test_a_quiet_log_is_refused(tmp_path):
    path = write(tmp_path / "quiet.log", ["2024-01-01 | INFO | D-0\tx"])
    with pytest.raises(UserError, match="no D- lines"):
        read_translations(path, "log")


def test_records_are_read_by_id(tmp_path):
    rows = [json.dumps({"id": i, "translation": f"line {i} \u2028"}) for i in (2, 0, 1)]
    path = write(tmp_path / "pools.jsonl", rows)
    assert read_translations(path) == [f"line {i} \u2028" for i in range(3)]
    write(tmp_path / "pools.jsonl", [*rows, rows[0]])
    with pytest.raises(UserError, match="the id 2 twice"):
        read_translations(path)
    write(tmp_path / "pools.jsonl", [*rows, rows[0][:9]])
    with pytest.raises(UserError, match="line 4: not a JSON object"):
        read_translations(path)


def test_records_without_numbers_are_read_in_the_order_of_the_file(tmp_path):
    rows = [json.dumps({"id": name, "translation": name.upper()}) for name in ("b", "a")]
    assert read_translations(write(tmp_path / "named.jsonl", rows), expected=2) == ["B", "A"]
    path = write(tmp_path / "pools.jsonl", [json.dumps({"hypotheses": ["a", "b"]})])
    with pytest.raises(UserError, match="line 1, has no translation, only .*: run dcmbr select"):
        read_translations(path)


@pytest.mark.parametrize(
    "line", ['{"id": 0, "text": "a"}', '{"hyp": "a"}', "{}", '{"translation": 3}', '{"translation": null}']
)
def test_json_lines_with_other_fields_are_no_plain_text(tmp_path, line):
    path = write(tmp_path / "others.jsonl", [line, line])
    with pytest.raises(UserError, match="others.jsonl, line 1, has no translation, only .*--hypothesis-format plain"):
        read_translations(path)
    assert read_translations(path, "plain") == [line, line]


@pytest.mark.parametrize(
    "lines, message",
    [
        (['{"translation": "a"}', '{"translation": "b"'], "line 2: not a JSON object"),
        (['{"translation": "a"'], "line 1: not a JSON object"),
        (['{"translation": "a"}', ""], "line 2: not a JSON object"),
        (['{"translation": "a"}', '["b"]'], "line 2: not a JSON object but"),
        (['{"translation": "a"}', '{"translation": "b", "score": NaN}'], "line 2: .*NaN is no number"),
    ],
)
def test_broken_records_are_refused_with_the_line(tmp_path, lines, message):
    with pytest.raises(UserError, match=f"broken.jsonl, {message}"):
        read_translations(write(tmp_path / "broken.jsonl", lines))


def test_a_file_that_is_cut_off_or_packed_is_refused_with_the_line(tmp_path):
    packed = gzip.compress(os.urandom(40_000).hex("\n").encode(), mtime=0)
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(UserError, match=r"cut.gz, after line \d+, is cut off or damaged"):
        read_translations(tmp_path / "cut.gz")
    (tmp_path / "packed.txt").write_bytes(packed)
    with pytest.raises(UserError, match="packed.txt, line 1, is not UTF-8"):
        read_translations(tmp_path / "packed.txt")


def test_a_byte_order_mark_changes_no_score(tmp_path):
    for name in ("hyp.txt", "hyp.jsonl"):
        text = "Hund\n" if name == "hyp.txt" else '{"translation": "Hund"}\n'
        (tmp_path / name).write_text("\ufeff" + text, "utf-8")
        assert read_translations(tmp_path / name) == ["Hund"]


def test_references_that_are_json_are_refused(tmp_path, capsys):
    hypotheses = write(tmp_path / "hyp.txt", ["a"])
    references = write(tmp_path / "refs.jsonl", ['{"text": "a"}'])
    for command in ("evaluate", "significance"):
        arguments = [hypotheses] * (1 + (command == "significance"))
        names = ["--names", "A,B"] if command == "significance" else []
        assert main([command, *map(str, arguments), *names, "--references", str(references)]) == 1
        assert f"--references {references} holds JSON, but plain text is needed" in capsys.readouterr().err


def test_a_file_that_is_given_twice_loses_no_row(tmp_path, capsys):
    path = str(write(tmp_path / "hyp.txt", ["a b c d"]))
    arguments = ["evaluate", path, path, "--references", path, "--metrics", "bleu", "--seconds", "1,2"]
    assert main(arguments) == 1
    assert f"{path} is given twice: leave one out, or tell them apart with --names" in capsys.readouterr().err
    assert main([*arguments, "--names", "A,B", "--format", "tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [(row[0], row[-1]) for row in rows[1:]] == [("A", "1.0"), ("B", "2.0")]


def test_records_of_a_later_version_are_refused(tmp_path):
    path = write(tmp_path / "later.jsonl", ['{"schema_version": 99, "id": 0, "translation": "a"}'])
    with pytest.raises(UserError, match="later.jsonl, line 1: field schema_version is 99, but this version"):
        read_translations(path)


def test_plain_text_keeps_every_line(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("a\r\n\nb\u2028c\n{not json\n", "utf-8", newline="\n")
    assert read_translations(path) == ["a\r", "", "b\u2028c", "{not json"]
    with pytest.raises(UserError, match="has 4 translations but the references have 5"):
        read_translations(path, expected=5)


def test_names_default_to_files_and_must_be_distinct():
    assert system_names(None, ["x/beam.txt", "x/dcmbr.txt.gz"]) == ["beam", "dcmbr"]
    assert system_names(None, ["x/out.txt", "y/out.txt"]) == ["x/out.txt", "y/out.txt"]
    for names in ("one", "same,same"):
        with pytest.raises(UserError, match="--names"):
            system_names(names, ["a", "b"])


def run(tmp_path: Path, *arguments: str) -> str:
    files = [write(tmp_path / f"{name}.txt", lines) for name, lines in (("a", SYSTEM_A), ("b", SYSTEM_B))]
    references = write(tmp_path / "references.txt", REFERENCES)
    output = tmp_path / "scores"
    assert main(["evaluate", "--references", references, "--output", str(output), *arguments, *files]) == 0
    return output.read_text("utf-8")


def test_command_prints_every_form(tmp_path):
    bleu = sacrebleu.corpus_bleu(SYSTEM_A, [REFERENCES]).score
    found = json.loads(run(tmp_path, "--format", "json", "--seconds", "1.5,2"))
    assert found["systems"][0] == {
        "name": "a", "BLEU": bleu, "chrF": sacrebleu.corpus_chrf(SYSTEM_A, [REFERENCES]).score,
        "TER": sacrebleu.corpus_ter(SYSTEM_A, [REFERENCES]).score, "seconds": 1.5,
    }  # fmt: skip
    assert found["segments"] == 3 and found["signatures"]["chrF"].startswith("chrF|")
    text = run(tmp_path, "--names", "beam,dcmbr", "--metrics", "bleu")
    assert f"\nbeam    {bleu:.1f}\n" in text and f"version:{sacrebleu.__version__}" in text
    assert "\n\nreferences: references.txt, 3 segments\nBLEU|" in text
    latex = run(tmp_path, "--format", "latex", "--metrics", "bleu,bleu", "--names", "a_1,b_2")
    assert rf"a\_1 & \textbf{{{bleu:.1f}}} \\" in latex and "segments\n% BLEU|" in latex
    assert run(tmp_path, "--format", "tsv", "--metrics", "bleu").splitlines()[1] == f"a\t{bleu}"
    assert f"| a | **{bleu:.1f}** |" in run(tmp_path, "--format", "markdown", "--metrics", "bleu")


def test_command_shows_intervals_beside_the_scores(tmp_path):
    confidence = ("--confidence", "--samples", "100", "--metrics", "bleu,chrf")
    found = json.loads(run(tmp_path, *confidence, "--format", "json"))
    low, high = found["intervals"]["BLEU"][0]
    assert found["confidence"] == {"samples": 100, "seed": 12345} and low <= found["systems"][0]["BLEU"] <= high
    text = run(tmp_path, *confidence)
    assert "95% BLEU" in text and f"{low:.1f} .. {high:.1f}" in text and "95%: 100 resamples of 3 segments" in text
    bold = run(tmp_path, *confidence, "--format", "markdown").splitlines()[2].split("|")
    assert "**" in bold[4] and "**" not in bold[3] + bold[5]  # the best chrF, not the intervals beside it
    header, row, _ = (line.split("\t") for line in run(tmp_path, *confidence, "--format", "tsv").splitlines())
    assert header == ["system", "BLEU", "BLEU_low", "BLEU_high", "chrF", "chrF_low", "chrF_high"]
    assert [float(cell) for cell in row[2:4]] == [low, high]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--metrics", "blue"], "--metrics blue is unknown: did you mean bleu? choose from bleu, chrf"),
        (["--metrics", "comedy"], "--metrics comedy is unknown: did you mean comet?"),
        (["--tokenize", "foo"], "--tokenize foo: tokenize must be one of"),
        (["--tokenize", "zh", "--metrics", "chrf"], "--tokenize zh is for BLEU, which --metrics does not ask for"),
        (["--metric-args", '{"bleu": {"smooth_method": "foo"}}'],
         "--metrics bleu: smooth_method must be one of none, floor, add-k, exp, got 'foo': did you mean floor? ("),
        (["--metric-args", '{"bleu": {"tokenize": "13b"}}'], "got '13b': did you mean 13a? (here: --metric-args"),
        (["--metric-args", '{"chrf": {"char_order": -1}}'], "--metrics chrf: char_order must be a whole number"),
        (["--metric-args", '{"chrf": {"char_order": 1000000000}}'], "char_order must be a whole number from 0 to 100"),
        (["--metric-args", '{"chrf": {"char_ordr": 1}}'], "do not fit --utility chrf: got an unexpected keyword"),
        (["--metric-args", '{"chrf": {"char_ordr": 1}}'], "did you mean char_order?"),
        (["--metric-args", '{"bleurt": {}}'], "--metric-args has arguments of bleurt, which nothing here takes: did"),
        (["--metric-args", '{"meteor": {"language": "de"}}', "--metrics", "chrf"], "takes: choose one of chrf"),
        (["--metric-args", '{"chrf": {"beta": ' + "9" * 5000 + "}}"], "--metric-args must be a JSON object"),
        (["--metric-args", '{"chrf":' * 100_000], "--metric-args must be a JSON object"),
        (["--samples", "10"], "--samples 10 has no meaning without --confidence"),
        (["--seed", "1"], "--seed 1 has no meaning without --confidence"),
        (["--confidence", "--samples", "0"], "--samples must be a whole number from 1 to 1000000, got 0"),
        (["--confidence", "--samples", "1000000000000"], "--samples must be a whole number from 1 to"),
        (["--confidence", "--seed=-1"], "--seed must be a whole number from 0 to 4294967295, got -1"),
        (["--metrics", " , "], "names nothing"),
        (["--metrics", "bleurt"], "(here: --metric-args '{\"bleurt\": {...}}')"),
        (["--metric-args", "[1]"], "--metric-args must be a JSON object"),
        (["--seconds", "1"], "--seconds 1 must give 2 numbers"),
        (["--source", "absent.txt"], "absent.txt is not a file"),
    ],
)
def test_bad_input_gets_one_sentence_and_no_output(tmp_path, capsys, arguments, sentence):
    files = [write(tmp_path / f"{name}.txt", SYSTEM_A) for name in "ab"]
    references, output = write(tmp_path / "references.txt", REFERENCES), tmp_path / "scores"
    assert main(["evaluate", "--references", references, "--output", str(output), *arguments, *files]) == 1
    assert sentence in capsys.readouterr().err
    assert not output.exists()


def test_empty_references_are_refused(tmp_path, capsys):
    empty = write(tmp_path / "empty.txt", [])
    assert main(["evaluate", "--references", empty, empty]) == 1
    assert "is empty" in capsys.readouterr().err


def test_real_log_of_fairseq_generate(fairseq, toy, tmp_path):
    done: subprocess.CompletedProcess = fairseq(
        "generate", toy.data_bin, "--path", toy.checkpoint, "--max-tokens", 200, "--nbest", 2
    )
    path = tmp_path / "generate.log"
    path.write_text(done.stdout, "utf-8", newline="\n")
    texts = read_translations(path, expected=done.stdout.count("\nT-"))
    for number, text in enumerate(texts):
        first = next(line for line in done.stdout.split("\n") if line.startswith(f"D-{number}\t"))
        assert first.split("\t", 2)[2] == text
