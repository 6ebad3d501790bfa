"""``--draws`` reaches every way to decode and to measure, and what comes out says which it was."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from analyses import read_tsv, toy_flags
from fairseq.models.transformer import TransformerModel
from fairseq_commands import generated
from in_process import Fairseq
from toy_world import Toy

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.pools.rows import format_row, read_records, read_rows

KINDS = ("independent", "arithmetic")


@pytest.fixture
def fairseq_here(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Fairseq:
    return Fairseq(monkeypatch, capsys)


def options(toy: Toy, draws: str, *others: object) -> list[object]:
    task = ["--task", "translation_dcmbr", "--decoding", "dcmbr", "--num-hyp", 12, "--temp-hyp", 1, "--temp-ref", 1]
    return [toy.data_bin, "--path", toy.checkpoint, *task, "--seed", 5, "--draws", draws, *others]


@pytest.fixture
def records(fairseq_here: Fairseq, toy: Toy, tmp_path: Path) -> dict[str, Path]:
    """Records of fairseq-generate with either kind."""
    paths = {kind: tmp_path / f"{kind}.jsonl" for kind in KINDS}
    for kind, path in paths.items():
        fairseq_here.generate(*options(toy, kind, "--pools-out", path), "--batch-size", 8)
    return paths


def test_generate_interactive_and_hub_draw_alike(fairseq_here: Fairseq, toy: Toy, records: dict[str, Path]) -> None:
    found = {kind: list(read_rows(path)) for kind, path in records.items()}
    assert [row["hypotheses"] for row in found["arithmetic"]] != [row["hypotheses"] for row in found["independent"]]
    task = {"_name": "translation_dcmbr", "data": str(toy.data_bin)}
    model = TransformerModel.from_pretrained(str(toy.folder), "model.pt", task=task)
    text = "".join(f"{line}\n" for line in toy.lines("en"))
    for kind, rows in found.items():
        assert all(row["settings"]["draws"] == kind for row in rows)
        assert all(row["signature"].endswith("|draws:arithmetic") == (kind == "arithmetic") for row in rows)
        expected = [row["translation"] for row in rows]
        answered = generated(fairseq_here.interactive(text, *options(toy, kind), "--buffer-size", 4))
        assert [translation for _, translation in answered] == expected
        own = {"decoding": "dcmbr", "num_hyp": 12, "temp_hyp": 1.0, "temp_ref": 1.0, "seed": 5}
        assert model.translate(toy.lines("en"), draws=kind, **own) == expected


def test_select_says_which_draws_it_takes(records: dict[str, Path], tmp_path: Path, caplog: Any, capsys: Any) -> None:
    caplog.set_level("INFO", "dcmbr_fairseq")
    assert main(["select", str(records["arithmetic"]), "--num-hyp", "5", "--num-ref", "7", "--format", "json"]) == 0
    said = "the first 5 of 12 arithmetic draws as hypotheses, the first 7 of 12 arithmetic draws as references"
    assert caplog.text.count(said) == 1
    for line in capsys.readouterr().out.splitlines():
        row = json.loads(line)
        assert row["draws"] == "arithmetic" and row["signature"].endswith("|draws:arithmetic")
    again, both = tmp_path / "again.jsonl", tmp_path / "both.jsonl"
    shown = ["--format", "records", "--output"]
    assert main(["select", str(records["arithmetic"]), "--num-hyp", "5", "--num-ref", "5", *shown, str(again)]) == 0
    assert "the first 5 of 12 arithmetic draws" in caplog.text
    assert {record.draws for record in read_records(again)} == {"arithmetic"}
    caplog.clear()
    assert main(["select", str(again), *shown, str(tmp_path / "third.jsonl")]) == 0
    assert "all 5 arithmetic draws" in caplog.text and "averaged" not in caplog.text
    both.write_text("".join(format_row(row) + "\n" for path in records.values() for row in read_rows(path)))
    assert main(["select", str(both), *shown, str(tmp_path / "fourth.jsonl")]) == 0
    assert caplog.text.count("has arithmetic draws, others have independent ones") == 1


def test_pools_of_anyone_are_of_unknown_draws(tmp_path: Path, caplog: Any, capsys: Any) -> None:
    pools = tmp_path / "pools.jsonl"
    caplog.set_level("INFO", "dcmbr_fairseq")
    pools.write_text('{"hypotheses": ["a b", "a c", "a b"]}\n')
    assert main(["select", str(pools), "--num-hyp", "2", "--num-ref", "2", "--format", "json"]) == 0
    assert "the first 2 of 3 draws" in caplog.text and "draws" not in json.loads(capsys.readouterr().out)


def test_sweep_measures_what_generate_decodes(
    fairseq_here: Fairseq, toy: Toy, tmp_path: Path, capsys: Any, records: dict[str, Path]
) -> None:
    tables = {kind: tmp_path / f"{kind}.tsv" for kind in KINDS}
    grid = ["--num-hyp", "4,12", "--temp-hyp", "1", "--seeds", "5", "--metrics", "chrf", "--with-beam", "--beam", "1"]
    grid += ["--path", str(toy.checkpoint), "--pools", str(tmp_path / "pools")]
    for kind, table in tables.items():  # both in one folder
        assert main(["sweep", *toy_flags(toy), *grid, "--draws", kind, "--output", str(table)]) == 0
        beam, small, large = read_tsv(table)
        assert beam["draws"] == "-" and small["draws"] == large["draws"] == kind
        assert large["utility_signature"].endswith("|draws:arithmetic") == (kind == "arithmetic")
        translations = [row["translation"] for row in read_rows(records[kind])]
        score = sacrebleu.corpus_chrf(translations, [toy.lines("de")]).score
        assert float(large["score"]) == pytest.approx(score, abs=1e-6)
    both = [str(table) for table in tables.values()]
    assert main(["table", "1", *both]) == 1
    assert "several values of draws (independent, arithmetic): choose with --where" in capsys.readouterr().err
    assert main(["table", "1", *both, "--where", "draws=arithmetic"]) == 0
    assert "draws: arithmetic" in capsys.readouterr().out


def test_a_measurement_does_not_go_on_with_other_draws(toy: Toy, tmp_path: Path, capsys: Any) -> None:
    output = tmp_path / "sweep.tsv"
    arguments = ["sweep", *toy_flags(toy), "--path", str(toy.checkpoint), "--num-hyp", "3", "--first", "2"]
    assert main([*arguments, "--output", str(output)]) == 0
    head = '{"settings": {"draws": "independent"}}\n'
    Path(f"{tmp_path}/other.tsv.partial").write_text(head)
    assert main([*arguments, "--draws", "arithmetic", "--output", str(tmp_path / "other.tsv")]) == 1
    assert "was begun with other settings" in capsys.readouterr().err


def test_div_is_of_independent_draws_unless_asked(toy: Toy, tmp_path: Path, caplog: Any) -> None:
    arguments = ["diversity", *toy_flags(toy), "--path", str(toy.checkpoint), "--temperatures", "1", "--num-hyp", "8"]
    arguments += ["--seeds", "1,2,3,4,5,6"]  # of one seed chance decides
    outputs = {kind: tmp_path / f"{kind}.tsv" for kind in KINDS}
    assert main([*arguments, "--output", str(outputs["independent"])]) == 0
    assert "Div" not in caplog.text
    assert main([*arguments, "--draws", "arithmetic", "--output", str(outputs["arithmetic"])]) == 0
    assert "must not be compared with that of independent ones" in caplog.text
    tables = {kind: read_tsv(path) for kind, path in outputs.items()}
    assert all(row["draws"] == kind for kind, rows in tables.items() for row in rows)
    one, other = (np.mean([float(row["diversity"]) for row in rows]) for rows in tables.values())
    assert other < one  # spread


def test_tuning_hands_the_draws_on(fairseq_here: Fairseq, toy: Toy, tmp_path: Path, capsys: Any) -> None:
    flags, surface = tmp_path / "best.flags", tmp_path / "surface.tsv"
    arguments = ["--temp-hyp", "1", "--temp-ref", "1", "--num-hyp", "6", "--ref-pool", "auto", "--draws", "arithmetic"]
    arguments += ["--path", str(toy.checkpoint), "--output", str(flags), "--surface", str(surface)]
    assert main(["temperature", "--tune", *toy_flags(toy), *arguments]) == 0
    assert "|draws:arithmetic\n" in capsys.readouterr().out
    (row,) = read_tsv(surface)
    words = flags.read_text().split()
    assert row["draws"] == "arithmetic" and words[words.index("--draws") + 1] == "arithmetic"
    decoded = generated(fairseq_here.generate(toy.data_bin, "--path", toy.checkpoint, *words))
    translations = [text for _, text in sorted(decoded)]
    score = sacrebleu.corpus_chrf(translations, [toy.lines("de")]).score
    assert float(row["score"]) == pytest.approx(score, abs=1e-6)
