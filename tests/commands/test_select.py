"""``dcmbr select``: the choice equals a plain double loop with sacrebleu, whatever form the pools come in."""

import errno
import gzip
import json
import os
import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from dcmbr_fairseq import cli
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.record_writer import RecordWriter
from dcmbr_fairseq.pools.rows import make_row
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.present.report.collect import read_rows, views
from dcmbr_fairseq.utilities import build_utility

WORDS = "ein Mann mit Hut geht über die Straße . Hund läuft schnell im Park , 日本 😀".split()
METRICS = {"chrf": CHRF(), "bleu": BLEU(effective_order=True)}


@pytest.fixture
def pools():
    """Pools of 40 sentences, more than one batch: 6 hypothesis draws and 6 reference draws each, with repeats."""
    generator = random.Random(1)

    def draw(base):
        return " ".join(word if generator.random() < 0.7 else generator.choice(WORDS) for word in base)

    rows = []
    for _ in range(40):
        base = [generator.choice(WORDS) for _ in range(6)]
        distinct = [draw(base) for _ in range(4)]
        rows.append([[generator.choice(distinct) for _ in range(6)] for _ in range(2)])
    return rows


def best(hypotheses, references, metric):
    """Eq. 14 by a double loop over draws; ties go to the earlier draw."""
    means = [np.mean([metric.sentence_score(h, [r]).score for r in references]) for h in hypotheses]
    return hypotheses[int(np.argmax(np.round(means, 9)))], max(means)


def write_jsonl(path, rows, **fields):
    lines = [json.dumps({"hypotheses": h, **({"references": r} if r else {}), **fields}) for h, r in rows]
    path.write_text("".join(line + "\n" for line in lines))
    return str(path)


def write_plain(path, lists):
    path.write_text("".join(line + "\n" for lines in lists for line in lines))
    return str(path)


def select(capsys, *arguments):
    """Run the command; returns the lines it prints."""
    assert cli.main(["select", *map(str, arguments)]) == 0, capsys.readouterr().err
    return capsys.readouterr().out.split("\n")[:-1]


def refused(capsys, *arguments):
    """Run the command on bad input; returns its one sentence."""
    assert cli.main(["select", *map(str, arguments)]) == 1
    captured = capsys.readouterr()
    lines = [line for line in captured.err.split("\n") if "error: " in line]
    assert len(lines) == 1 and lines[0].startswith("dcmbr select: error: ")
    return lines[0]


@pytest.mark.parametrize("utility", ["chrf", "bleu"])
def test_choices_equal_a_double_loop(tmp_path, capsys, pools, utility):
    path = write_jsonl(tmp_path / "pools.jsonl", pools)
    assert select(capsys, path, "--utility", utility) == [best(h, r, METRICS[utility])[0] for h, r in pools]


def test_plain_text_pools_give_the_same(tmp_path, capsys, pools):
    hypotheses = write_plain(tmp_path / "hyp.txt", [h for h, _ in pools])
    references = write_plain(tmp_path / "ref.txt", [r for _, r in pools])
    plain = ("--hypotheses", hypotheses, "--lines-per-source", 6)
    assert select(capsys, *plain, "--references", references) == [best(h, r, METRICS["chrf"])[0] for h, r in pools]
    assert select(capsys, *plain) == [best(h, h, METRICS["chrf"])[0] for h, _ in pools]


def test_the_first_draws_of_a_shared_pool_play_each_part(tmp_path, capsys, pools):
    path = write_jsonl(tmp_path / "pools.jsonl", [(h, None) for h, _ in pools])
    expected = [best(h[:2], h[:5], METRICS["chrf"])[0] for h, _ in pools]
    assert select(capsys, path, "--num-hyp", 2, "--num-ref", 5) == expected
    row = json.loads(select(capsys, path, "--num-hyp", 2, "--num-ref", 5, "--format", "json")[0])
    assert (row["num_hyp"], row["num_ref"]) == (2, 5)


def test_weights_count_as_repetitions(tmp_path, capsys, pools):
    weighted = write_jsonl(tmp_path / "a.jsonl", pools, weights=[1, 2, 1, 1, 3, 1])
    repeated = write_jsonl(tmp_path / "b.jsonl", [(h, r + [r[1], r[4], r[4]]) for h, r in pools])
    assert select(capsys, weighted) == select(capsys, repeated)


def test_references_may_weigh_their_model_probability(tmp_path, capsys):
    rows = [(["x y", "x z"], ["x y", "x z", "x y"])]
    log_probs = {"reference_log_probs": np.log([0.1, 0.3, 0.1]).tolist()}
    path = write_jsonl(tmp_path / "pools.jsonl", rows, **log_probs)
    assert select(capsys, path) == ["x y"]
    (line,) = select(capsys, path, "--reference-weights", "model", "--format", "json")
    row = json.loads(line)
    scores = [METRICS["chrf"].sentence_score("x z", [r]).score for r in ("x y", "x z")]
    assert row["translation"] == "x z"
    assert row["expected_utility"] == pytest.approx(0.25 * scores[0] + 0.75 * scores[1], abs=1e-6)
    model = ("--reference-weights", "model")
    bare = write_jsonl(tmp_path / "bare.jsonl", rows)
    assert "model: sentence 1 lacks the references' log-probabilities" in refused(capsys, bare, *model)
    weighted = write_jsonl(tmp_path / "weighted.jsonl", rows, weights=[1, 2, 3], **log_probs)
    assert "model: sentence 1 has weights of its own" in refused(capsys, weighted, *model)


def test_json_holds_scores_and_signature(tmp_path, capsys, pools):
    path = write_jsonl(tmp_path / "pools.jsonl", pools)
    rows = [json.loads(line) for line in select(capsys, path, "--format", "json", "--nbest", 3)]
    assert [row["id"] for row in rows] == list(range(len(pools)))
    for row, (h, r) in zip(rows, pools, strict=True):
        text, score = best(h, r, METRICS["chrf"])
        assert row["translation"] == row["nbest"][0]["text"] == text
        assert row["expected_utility"] == pytest.approx(score, abs=1e-6)
        scores = [entry["expected_utility"] for entry in row["nbest"]]
        assert scores == sorted(scores, reverse=True) and len(scores) == min(3, len(set(h)))
        assert row["utility_calls"] == len(set(h)) * len(set(r))
        assert row["signature"].startswith("chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")


@pytest.mark.parametrize("rule", [("prune", '{"alpha": 1}'), ("coarse", '{"hypotheses": 99}')])
def test_a_rule_that_drops_nothing_decides_as_the_exact_one(tmp_path, capsys, pools, rule):
    path = write_jsonl(tmp_path / "pools.jsonl", pools)
    ruled = select(capsys, path, "--selection", rule[0], "--selection-args", rule[1])
    assert ruled == select(capsys, path)


def test_coarse_selection_saves_calls_and_says_so(tmp_path, capsys, caplog):
    path = write_jsonl(tmp_path / "pools.jsonl", [(["a b", "a c", "a d", "x y"], None)])
    caplog.set_level("INFO")
    line = select(capsys, path, "--selection", "coarse", "--selection-args", '{"hypotheses": 2}', "--format", "json")[0]
    assert json.loads(line)["utility_calls"] == 2 * 4
    assert "utility calls: 8, for 16 pairs of draws" in caplog.text


def test_nbest_text_names_sentence_and_score(tmp_path, capsys):
    path = write_jsonl(tmp_path / "pools.jsonl", [(["a b", "a c", "a b"], None), (["x"], None)])
    lines = [line.split("\t") for line in select(capsys, path, "--nbest", 2)]
    assert [(number, text) for number, _, text in lines] == [("0", "a b"), ("0", "a c"), ("1", "x")]
    assert lines[2][1] == "100.0"


def test_utility_arguments_reach_the_utility(tmp_path, capsys):
    path = write_jsonl(tmp_path / "pools.jsonl", [(["A B C D", "a b c d e f"], ["a b c d", "A B"])])
    for arguments in ({}, {"lowercase": True}, {"beta": 0}, {"word_order": 2, "whitespace": True}):
        (line,) = select(capsys, path, "--format", "json", "--utility-args", json.dumps(arguments))
        row = json.loads(line)
        _, score = best(["A B C D", "a b c d e f"], ["a b c d", "A B"], CHRF(**arguments))
        assert row["expected_utility"] == pytest.approx(score, abs=1e-6)


def test_saved_records_are_decided_again(tmp_path, capsys):
    pool = TextPool.from_draws(["b", "a", "b"], [-1.0, -2.0, -1.0], [-1.0, -2.0, -1.0])
    writer = RecordWriter(tmp_path / "pools.jsonl")
    for sentence in (1, 0):
        writer.write(make_row(sentence, Pools.of([pool], "s"), 0, signature="?", seed=1, settings={}))
    writer.finish()
    assert select(capsys, tmp_path / "pools.jsonl") == ["b", "b"]


def test_records_with_a_new_decision_are_read_again(tmp_path, capsys, pools):
    """Deciding again from them gives the same choices; what is not known is not made up."""
    path = write_jsonl(tmp_path / "pools.jsonl", pools, seed=7, settings={"decoding": "mbr", "path": "m.pt"})
    options = ["--utility", "bleu", "--num-hyp", 4, "--num-ref", 5]
    written = tmp_path / "records.jsonl"
    assert select(capsys, path, *options, "--format", "records", "--output", written) == []
    rows = [json.loads(line) for line in written.read_text().splitlines()]
    assert [row["translation"] for row in rows] == select(capsys, path, *options)
    assert [row["translation"] for row in rows] == select(capsys, written, "--utility", "bleu")
    scores = [json.loads(line) for line in select(capsys, path, *options, "--format", "json")]
    for row, score, (hypotheses, references) in zip(rows, scores, pools, strict=True):
        assert [row["hypotheses"][i] for i in row["hypothesis_draws"]] == hypotheses[:4]
        assert [row["references"][i] for i in row["reference_draws"]] == references[:5]
        assert row["hypotheses"][row["choice"]] == row["translation"] == score["translation"]
        assert row["expected_utilities"][row["choice"]] == score["expected_utility"]
        assert (row["signature"], row["seed"]) == (score["signature"], 7)
        wanted = {"decoding": "mbr", "path": "m.pt", "utility": "bleu", "num_hyp": 4, "num_ref": 5}
        assert wanted.items() <= row["settings"].items()
        assert not [name for name in row if name.endswith("log_probs")]


def test_records_keep_weights_shared_pools_and_what_they_know(tmp_path, capsys):
    pool = TextPool.from_draws(["a", "a b", "a"], [-1.0, -2.0, -1.5], [-0.5, -1.0, -0.7])
    row = make_row(3, Pools.of([pool], "x"), 0, seed=1)
    (tmp_path / "pools.jsonl").write_text(json.dumps({**row, "weights": [1, 2, 1], "origin": "elsewhere"}) + "\n")
    (line,) = select(capsys, tmp_path / "pools.jsonl", "--format", "records")
    found = json.loads(line)
    assert "references" not in found and found["weights"] == [0.25, 0.5, 0.25]
    assert (found["id"], found["origin"], found["hypothesis_log_probs"]) == (3, "elsewhere", [-1.0, -2.0, -1.5])
    (line,) = select(capsys, tmp_path / "pools.jsonl", "--format", "records", "--num-ref", 2)
    cut = json.loads(line)  # the parts are cut each by itself
    assert (cut["reference_draws"], cut["reference_log_probs"]) == ([0, 1], [-1.0, -2.0])
    assert cut["weights"] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]


def test_the_report_shows_the_new_decision_with_its_pool(tmp_path, capsys, pools):
    path = write_jsonl(tmp_path / "pools.jsonl", pools)
    select(capsys, path, "--utility", "bleu", "--format", "records", "--output", tmp_path / "bleu.jsonl")
    view, *_ = views(read_rows(tmp_path / "bleu.jsonl"), [build_utility("chrf", {})], {})
    assert view.texts == select(capsys, path, "--utility", "bleu")[:1]
    by_bleu = np.mean([[METRICS["bleu"].sentence_score(h, [r]).score for r in pools[0][1]]
                       for h in dict.fromkeys(pools[0][0])], axis=1)  # fmt: skip
    np.testing.assert_allclose(view.recorded, by_bleu, atol=1e-5)


def test_log_probabilities_break_ties(tmp_path, capsys):
    rows = [(["x", "y"], ["z"])]
    assert select(capsys, write_jsonl(tmp_path / "a.jsonl", rows)) == ["x"]
    assert select(capsys, write_jsonl(tmp_path / "b.jsonl", rows, hypothesis_log_probs=[-2, -1])) == ["y"]


def test_output_goes_to_a_file_as_a_whole(tmp_path, capsys, pools):
    path = write_jsonl(tmp_path / "pools.jsonl", pools)
    out = tmp_path / "new" / "out.txt"
    assert select(capsys, path, "--output", out) == []
    assert out.read_text().split("\n")[:-1] == select(capsys, path)
    (tmp_path / "pools.jsonl").write_text(open(path).read() + "{}\n")
    assert "pools.jsonl, line 41: field hypotheses is missing" in refused(
        capsys, path, "--output", tmp_path / "other.txt"
    )
    assert sorted(os.listdir(tmp_path)) == ["new", "pools.jsonl"]


def test_compressed_pools_and_awkward_lines_are_read(tmp_path, capsys):
    lines = ["a\u2028b\rc", "", " "]
    with gzip.open(tmp_path / "hyp.gz", "wt", newline="\n", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in lines)
    assert select(capsys, "--hypotheses", tmp_path / "hyp.gz", "--lines-per-source", 1) == lines


def test_long_files_are_streamed(tmp_path, capsys):
    """One batch at a time: what was decided is printed before a later row is found bad."""
    path = write_jsonl(tmp_path / "pools.jsonl", [(["a"], None)] * 100)
    with open(path, "a") as out:
        out.write('{"hypotheses": []}\n')
    assert cli.main(["select", path]) == 1
    assert capsys.readouterr().out == "a\n" * 96


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--num-hyp", 3], "--num-hyp 3 is more than the 2 draws of sentence 1: lower it"),
        (["--num-ref", 3], "--num-ref 3 is more than the 2 draws of sentence 1: lower it"),
        (["--num-hyp", 0], "--num-hyp must be a whole number from 1 to 1000000, got 0"),
        (["--nbest", -1], "--nbest must be a whole number from 1 to 1000000, got -1"),
        (["--lines-per-source", 2], "--lines-per-source goes with --hypotheses, not with "),
        (["--source", "FILE"], "--source goes with --hypotheses, not with "),
        (["--hypotheses", "FILE"], "give the pools either as POOLS.jsonl or as --hypotheses FILE"),
        (["--utility", "best"], "--utility best is unknown: did you mean"),
        (["--utility-args", "{beta: 1}"], "--utility-args must be a JSON object"),
        (["--utility-args", '{"beta": -1}'], "--utility-args: beta must be a number from 0 to 1e+09, got -1"),
        (["--utility-args", '{"gamma": 1}'], "do not fit --utility chrf"),
        (["--selection-args", "[1]"], "--selection-args must be a JSON object"),
        (["--selection", "prune", "--selection-args", '{"alpha": 2}'], "--selection-args: alpha must be above 0"),
        (["--selection-args", '{"alpha": 1}'], '--selection-args {"alpha": 1} do not fit --selection exact'),
    ],
)  # fmt: skip
def test_bad_options_are_refused(tmp_path, capsys, arguments, message):
    path = write_jsonl(tmp_path / "pools.jsonl", [(["a", "b"], None)])
    assert message in refused(capsys, path, *arguments)


def test_files_that_do_not_fit_are_refused(tmp_path, capsys):
    hyp = write_plain(tmp_path / "hyp.txt", [["a", "b"]] * 3)
    odd = write_plain(tmp_path / "odd.txt", [["a", "b"], ["c"]])
    short = write_plain(tmp_path / "short.txt", [["a", "b"]])
    assert "give the pools either" in refused(capsys)
    assert "--hypotheses needs --lines-per-source N" in refused(capsys, "--hypotheses", hyp)
    plain = ("--lines-per-source", 2, "--hypotheses")
    assert "missing.txt is not a file" in refused(capsys, *plain, tmp_path / "missing.txt")
    assert f"{odd} ends with 1 lines for sentence 2, not --lines-per-source 2" in refused(capsys, *plain, odd)
    message = "one ends after sentence 1, another goes on"
    assert message in refused(capsys, *plain, hyp, "--references", short)
    assert message in refused(capsys, *plain, short, "--references", hyp)
    assert "one ends after sentence 2" in refused(capsys, *plain, hyp, "--source", short)


@pytest.mark.parametrize("text, reason", [("a\nb", "a line break"), ("a\ud800", "a lone surrogate (U+D800)")])
def test_texts_that_do_not_fit_on_a_line_need_json(tmp_path, capsys, text, reason):
    path = write_jsonl(tmp_path / "pools.jsonl", [(["a"], None), ([text], None)])
    assert f"the text of sentence 2 holds {reason}" in refused(capsys, path)
    assert json.loads(select(capsys, path, "--format", "json")[1])["translation"] == text


def test_an_output_that_cannot_be_written_is_refused(tmp_path, capsys, pools):
    path = write_jsonl(tmp_path / "pools.jsonl", pools)
    message = "cannot be written: "
    assert message in refused(capsys, path, "--output", tmp_path / "pools.jsonl" / "out.txt")
    (tmp_path / "folder").mkdir()
    assert message in refused(capsys, path, "--output", tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["folder", "pools.jsonl"]


def test_a_full_disk_leaves_nothing(tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = write_jsonl(tmp_path / "pools.jsonl", [(["a"], None)])
    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in refused(capsys, path, "--output", tmp_path / "out.txt")
    assert os.listdir(tmp_path) == ["pools.jsonl"]


def test_ctrl_c_leaves_nothing(tmp_path, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    path = write_jsonl(tmp_path / "pools.jsonl", [(["a"], None)])
    monkeypatch.setattr("dcmbr_fairseq.commands.select.rank_texts", interrupted)
    assert cli.main(["select", path, "--output", str(tmp_path / "out.txt")]) == 130
    assert os.listdir(tmp_path) == ["pools.jsonl"]


USER_UTILITY = """
import numpy as np
from dcmbr_fairseq.utilities import Utility

class SourceLength(Utility):
    needs_source = True
    def pairwise(self, hypotheses, references, source=None):
        return np.array([[-abs(len(h) - len(source)) for _ in references] for h in hypotheses], dtype=float)
    def signature(self):
        return "source-length"
"""


def test_a_users_own_utility_sees_the_source(tmp_path, capsys, monkeypatch):
    (tmp_path / "users_module.py").write_text(USER_UTILITY)
    monkeypatch.syspath_prepend(tmp_path)
    own = ("--utility", "users_module:SourceLength")
    hyp = write_plain(tmp_path / "hyp.txt", [["a", "bb", "ccc"]] * 2)
    source = write_plain(tmp_path / "source.txt", [["12"], ["123"]])
    plain = ("--hypotheses", hyp, "--lines-per-source", 3)
    assert select(capsys, *plain, "--source", source, *own) == ["bb", "ccc"]
    assert "needs the source, which sentence 1 lacks" in refused(capsys, *plain, *own)


USER_RULE = """
import numpy as np
from dcmbr_fairseq.rules import Decision

class Longest:
    def __init__(self, *, sign=1):
        self.sign = sign
    def decide(self, batch, utility, nbest=1):
        lengths = [np.array([self.sign * len(text) for text in c.hypotheses], dtype=float) for c in batch]
        return [Decision(values, np.argsort(-values, kind="stable"), 0) for values in lengths]

class One(Longest):
    def decide(self, batch, utility, nbest=1):
        return super().decide(batch, utility)[:1]

class Short(Longest):
    def decide(self, batch, utility, nbest=1):
        return [Decision(d.expected[:1], d.order[:1], 0) for d in super().decide(batch, utility)]

class Undecided:
    pass

class Narrow:
    def decide(self, batch):
        return []
"""


def test_a_users_own_rule_decides(tmp_path, capsys, monkeypatch):
    (tmp_path / "users_rules.py").write_text(USER_RULE)
    monkeypatch.syspath_prepend(tmp_path)
    plain = ("--hypotheses", write_plain(tmp_path / "hyp.txt", [["a", "bb", "ccc"]] * 2), "--lines-per-source", 3)
    assert select(capsys, *plain, "--selection", "users_rules:Longest") == ["ccc", "ccc"]
    shortest = ("--selection", "users_rules:Longest", "--selection-args", '{"sign": -1}')
    assert select(capsys, *plain, *shortest) == ["a", "a"]
    for name, arguments, sentence in (
        ("Longest", '{"sing": 1}', "do not fit --selection users_rules:Longest: got an unexpected keyword argument "
         "'sing': did you mean sign?"),
        ("Longer", "{}", "--selection users_rules:Longer cannot be imported"),
        ("Undecided", "{}", "--selection users_rules:Undecided is not a subclass of dcmbr_fairseq.rules.DecisionRule"),
        ("Narrow", "{}", "--selection users_rules:Narrow: decide must take (self, batch, utility, nbest)"),
        ("One", "{}", "--selection gave 1 decisions for 2 sentences"),
        ("Short", "{}", "--selection gave 1 places and 1 expected utilities for 3 distinct hypotheses"),
    ):  # fmt: skip
        own = ("--selection", f"users_rules:{name}", "--selection-args", arguments)
        assert sentence in refused(capsys, *plain, *own)


def shuffled(path, ids):
    path.write_text("".join(json.dumps({"id": i, "hypotheses": [f"text {i}"]}) + "\n" for i in ids))
    return path


def test_joined_shards_are_not_written_in_another_order_without_a_word(tmp_path, capsys):
    path = shuffled(tmp_path / "joined.jsonl", [2, 3, 0, 1])
    output = tmp_path / "out.txt"
    assert cli.main(["select", str(path), "--output", str(output)]) == 1
    message = capsys.readouterr().err
    assert "joined.jsonl has the ids 0 to 3 in another order (line 1 has 2): give --order id" in message
    assert not output.exists()
    assert select(capsys, path, "--order", "id") == [f"text {i}" for i in range(4)]
    assert select(capsys, path, "--order", "file") == [f"text {i}" for i in (2, 3, 0, 1)]
    numbered = select(capsys, path, "--order", "id", "--nbest", "2")
    assert [line.split("\t")[0] for line in numbered] == ["0", "1", "2", "3"]
    rows = [json.loads(line)["id"] for line in select(capsys, path, "--format", "json")]
    assert rows == [2, 3, 0, 1]  # each row has its id
    rows = [json.loads(line)["id"] for line in select(capsys, path, "--format", "json", "--order", "id")]
    assert rows == [0, 1, 2, 3]


@pytest.mark.parametrize("ids", [[0, 1, 2], [12, 10, 11], ["b", "a"], [0, 1, 0, 1], [1, 2, 3], ["00", "2", "1"]])
def test_other_ids_keep_the_order_of_the_file(tmp_path, capsys, ids):
    assert select(capsys, shuffled(tmp_path / "pools.jsonl", ids)) == [f"text {i}" for i in ids]


@pytest.mark.parametrize(
    "ids, message",
    [
        ([0, 1, 0], "line 3: the id 0 comes twice"),
        (["b", "a"], 'line 1: --order id needs whole numbers as ids, got "b"'),
        ([0, "a"], "line 2, has a text as id, the first line a number as id"),
    ],
)
def test_ids_that_give_no_order(tmp_path, capsys, ids, message):
    assert cli.main(["select", str(shuffled(tmp_path / "pools.jsonl", ids)), "--order", "id"]) == 1
    assert f"pools.jsonl, {message}" in capsys.readouterr().err


def test_order_needs_ids(tmp_path, capsys):
    plain = write_plain(tmp_path / "plain.txt", [["a", "b"]])
    assert cli.main(["select", "--hypotheses", plain, "--lines-per-source", "2", "--order", "id"]) == 1
    assert "--order id goes with POOLS.jsonl" in capsys.readouterr().err


def test_rows_are_looked_at_before_anything_is_computed(tmp_path, capsys):
    path = shuffled(tmp_path / "pools.jsonl", range(40))
    path.write_text(path.read_text() + '{"hypotheses": ["a"], "x": NaN}\n')
    assert cli.main(["select", str(path)]) == 1
    found = capsys.readouterr()
    assert f"{path}, line 41: not a JSON object (NaN is no number of JSON)" in found.err and found.out == ""
