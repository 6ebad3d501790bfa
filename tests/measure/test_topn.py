"""``dcmbr topn``: against teacher forcing and fairseq's beam search, resuming, and the figure."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from analyses import read_tsv, toy_flags
from sacrebleu.metrics import CHRF

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.measure.flags import BEAM
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.measure.topn import Budget, cost_by_length, mark_comparable, search_sentences, summary
from dcmbr_fairseq.search.exact_search import ExactSearch


@pytest.fixture(scope="module")
def table(toy: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The top 5 of the first 8 sentences."""
    output = tmp_path_factory.mktemp("topn") / "topn.tsv"
    arguments = ["--path", str(toy.checkpoint), "--first", "8", "--size", "5", "--metrics", "chrf,bleu"]
    assert main(["topn", *toy_flags(toy), *arguments, "--output", str(output)]) == 0
    return output


def test_every_row_is_a_translation_with_its_log_probability_and_score(toy: Any, table: Path) -> None:
    rows = read_tsv(table)
    assert [(int(r["sentence"]), int(r["rank"]), r["metric"]) for r in rows] == [
        (sentence, rank, metric) for sentence in range(8) for metric in ("chrF", "BLEU") for rank in range(1, 6)
    ]
    workspace = Workspace(toy_flags(toy))
    model = workspace.load(str(toy.checkpoint)).members[0]
    dictionary, dataset = workspace.task.target_dictionary, workspace.task.dataset("test")
    references = toy.lines("de")
    for row in rows:
        if row["metric"] == "BLEU":
            continue
        target = dictionary.encode_line(row["text"], add_if_not_exist=False).long()
        source = dataset[int(row["sentence"])]["source"][None]
        previous = torch.cat([target[-1:], target[:-1]])[None]
        with torch.no_grad():
            log_probs = model(source, torch.tensor([source.size(1)]), previous)[0][0].log_softmax(-1)
        assert float(row["log_prob"]) == pytest.approx(float(log_probs.gather(1, target[:, None]).sum()), abs=1e-4)
        score = CHRF().sentence_score(row["text"], [references[int(row["sentence"])]]).score
        assert float(row["score"]) == pytest.approx(score, abs=1e-5)
        assert row["exact"] == "yes" and row["label_smoothing"] == "0.1"


def test_never_worse_than_fairseq_s_beam_search(toy: Any, table: Path) -> None:
    workspace = Workspace([*toy_flags(toy), "--beam", "5", "--unnormalized"], first=8, follows=BEAM)
    model = workspace.load(str(toy.checkpoint))
    generator = workspace.task.build_generator(model.members, workspace.cfg.generation)
    beam: dict[int, list[float]] = {}
    for sample in workspace.batches(model):
        found = workspace.task.inference_step(generator, model.members, sample)
        beam.update(zip(sample["id"].tolist(), [[float(h["score"]) for h in nbest] for nbest in found], strict=True))
    exact: dict[int, list[float]] = {}
    for row in read_tsv(table):
        if row["metric"] == "chrF":
            exact.setdefault(int(row["sentence"]), []).append(float(row["log_prob"]))
    assert exact.keys() == beam.keys()
    for sentence, log_probs in exact.items():
        assert log_probs == sorted(log_probs, reverse=True)
        theirs = sorted(beam[sentence], reverse=True)
        assert all(ours >= other - 1e-4 for ours, other in zip(log_probs, theirs, strict=True))


def test_it_goes_on_where_it_was_interrupted(toy: Any, table: Path, tmp_path: Path, monkeypatch: Any) -> None:
    output = tmp_path / "topn.tsv"
    arguments = ["topn", *toy_flags(toy), "--path", str(toy.checkpoint), "--first", "8", "--size", "5"]
    arguments += ["--metrics", "chrf,bleu", "--output", str(output)]
    original, searched = ExactSearch.search, []

    def interrupted(self: Any, *others: Any) -> Any:
        if len(searched) == 3:
            raise KeyboardInterrupt
        searched.append(1)
        return original(self, *others)

    monkeypatch.setattr(ExactSearch, "search", interrupted)
    assert main(arguments) == 130
    assert not output.exists()
    monkeypatch.setattr(ExactSearch, "search", lambda *others: searched.append(2) or original(*others))
    assert main(arguments) == 0
    assert searched == [1] * 3 + [2] * 5
    drop = ("seconds",)
    kept = [[{k: v for k, v in row.items() if k not in drop} for row in read_tsv(path)] for path in (output, table)]
    assert kept[0] == kept[1]


def test_sentences_that_are_exact_with_every_model_are_marked() -> None:
    rows = [{"model": m, "sentence": s, "exact": e} for m, s, e in [("a", 0, "yes"), ("a", 1, "yes"), ("b", 1, "time")]]
    assert [row["all_exact"] for row in mark_comparable(rows)] == ["yes", "no", "no"]


def test_summaries() -> None:
    searches = [("a", 0, 3, "yes", 10), ("a", 1, 10, "yes", 20), ("a", 2, 11, "yes", 60), ("b", 2, 11, "time", 9)]
    rows = [
        {"model": m, "sentence": s, "source_tokens": t, "exact": e, "expansions": x, "seconds": x / 10, "rank": r,
         "metric": metric, "score": 10 * s + r, "text": "" if (s, r) == (1, 1) else "x"}
        for m, s, t, e, x in searches for metric in ("chrF", "BLEU") for r in (1, 2)
    ]  # fmt: skip
    first, second = summary(mark_comparable(rows))
    assert first["sentences"] == first["exact"] == 3 and first["empty first"] == 1
    assert (first["expansions (median)"], first["(mean)"], first["(mean) "]) == (20, 30, 3)
    assert first["chrF (all exact)"] == first["BLEU (all exact)"] == np.mean([1, 2, 11, 12])  # without sentence 2
    assert (second["sentences"], second["exact"], second["chrF (all exact)"]) == (1, 0, None)
    lengths = [(r["model"], r["source tokens"], r["sentences"], r["(mean)"]) for r in cost_by_length(rows)]
    assert lengths == [("a", "1-10", 2, 15), ("a", "11-20", 1, 60), ("b", "11-20", 1, 9)]


def test_budgets_reach_the_search(toy: Any) -> None:
    workspace = Workspace(toy_flags(toy), first=4)
    model = workspace.load(str(toy.checkpoint))
    found = list(search_sentences(workspace, model, Budget(3, 1, np.inf), [0, 2]))
    assert sorted(sentence.sentence for sentence in found) == [0, 2]
    assert {sentence.found.stopped_by for sentence in found} == {"expansions"}


def test_length_limits_are_those_of_fairseq(toy: Any) -> None:
    workspace = Workspace([*toy_flags(toy), "--max-len-a", "0", "--max-len-b", "3", "--min-len", "2"], first=4)
    model = workspace.load(str(toy.checkpoint))
    for sentence in search_sentences(workspace, model, Budget(30, 10_000, np.inf), workspace.ids):
        assert {len(sequence.tokens) for sequence in sentence.found.sequences} <= {3, 4}
        assert sentence.found.stopped_by == "length"


def test_the_figure(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["plot", "3", str(table), "--where", "metric=chrF", "--output", str(tmp_path / "figure3")]
    assert main(arguments) == 0
    assert (tmp_path / "figure3.png").stat().st_size > 1000


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--size", "0"], "--size must be a whole number from 1 to 10000, got"),
        (["--max-seconds", "0"], "--max-seconds must be > 0"),
        (["--unkpen", "1"], "--unkpen changes scores"),
        (["--metrics", "nix"], "nix is unknown"),
        (["--references", "REFERENCES"], "has 1 lines but the split has 23 sentences"),
    ],
)
def test_bad_input(
    toy: Any, tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.de").write_text("ein Satz\n")
    arguments = [str(tmp_path / "one.de") if word == "REFERENCES" else word for word in arguments]
    output = ["--output", str(tmp_path / "out.tsv")]
    assert main(["topn", *toy_flags(toy), "--path", str(toy.checkpoint), *arguments, *output]) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]
