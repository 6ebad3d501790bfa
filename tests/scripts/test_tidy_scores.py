"""scripts/lib/tidy.py: from what the pipelines leave to the paper's tables and Figure 4."""

import csv
import json
import sys
from pathlib import Path

import pytest
from fairseq_commands import REPOSITORY
from pipeline_scripts import lib

from dcmbr_fairseq.cli import main

sys.path.insert(0, str(REPOSITORY / "scripts" / "lib"))
from tidy import decoding_of

SMOOTHED = "--criterion\tlabel_smoothed_cross_entropy\n--label-smoothing\t{}\n"
GER = SMOOTHED.format("0.0") + "--ger-alpha\t{}\n--ger-beta\t0.2\n"  # started from a model without smoothing
RUNS = {
    "ls0.0": SMOOTHED.format("0.0"), "ls0.1": SMOOTHED.format("0.1"),
    **{f"ls0.0-ger-a0.{i}-b0.2": GER.format(f"0.{i}") for i in (1, 2, 3)},
}  # fmt: skip
LABELS = {"beam": 50.0, "mbr-chrf-n10": 40.0, "dcmbr-chrf-n10-t0.5": 45.0, "dcmbr-chrf-n10-t0.5-1-seed2": 30.0}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The table of five models, decoded in four ways."""
    systems = []
    for number, (run, record) in enumerate(RUNS.items()):
        folder = tmp_path / "decode" / run
        folder.mkdir(parents=True)
        (folder / "entropy.tsv").write_text(f"model\tentropy\tentropy_bits\naveraged\t{number}.25\t1\n")
        for label, score in LABELS.items():
            (folder / f"{label}.settings").write_text(record)
            systems.append({"name": f"{run}/{label}", "BLEU": score - number, "seconds": 1.0})
    result = {"segments": 1999, "systems": systems, "signatures": {"BLEU": "BLEU|case:lc"}}
    (tmp_path / "test.json").write_text(json.dumps(result))
    done = lib("tidy test decode wmt16-en-ro test", tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path / "test.tsv"


def test_rows_say_what_was_measured(table: Path) -> None:
    with table.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert len(rows) == 20
    first, last = rows[0], rows[-1]
    same = {"task": "wmt16-en-ro", "subset": "test", "sentences": "1999", "metric": "BLEU", "signature": "BLEU|case:lc"}
    assert same.items() <= first.items() and same.items() <= last.items()
    assert (first["model"], first["label_smoothing"], first["alpha"], first["entropy"]) == ("ls0.0", "0.0", "-", "0.25")
    assert [first[name] for name in ("decoding", "num_hyp", "utility", "seed")] == ["beam", "-", "-", "-"]
    assert (last["label_smoothing"], last["alpha"], last["beta"], last["entropy"]) == ("-", "0.3", "0.2", "4.25")
    settings = ("decoding", "num_hyp", "num_ref", "temp_hyp", "temp_ref", "utility", "ref_pool", "draws", "seed")
    expected = ["dcmbr", "10", "10", "0.5", "1", "chrf", "separate", "independent", "2"]
    assert [last[name] for name in settings] == expected


def test_a_label_says_how_pools_were_drawn() -> None:
    found = decoding_of("dcmbr-chrf++-n32-t0.5-arithmetic-seed2")
    assert (found["utility"], found["num_hyp"], found["temp_ref"]) == ("chrf++", "32", "0.5")
    assert (found["draws"], found["seed"]) == ("arithmetic", "2")
    settings = "DRAWS=arithmetic UTILITY=chrf++ NUM=32 SEED=2; label dcmbr; DRAWS=independent; label dcmbr; label beam"
    labels = lib(settings, Path.cwd()).stdout.split()
    assert labels == ["dcmbr-chrf++-n32-t0.5-arithmetic-seed2", "dcmbr-chrf++-n32-t0.5-seed2", "beam"]


def test_the_papers_tables_and_figure_4_read_it(table: Path, tmp_path: Path, capsys) -> None:
    assert main(["table", "en-ro", str(table), "--where", "metric=BLEU", "--paper"]) == 0
    printed = capsys.readouterr().out
    assert "39.0 (25.1)" in printed and "44.0 (30.9)" in printed  # label smoothing 0.1; GER is left out
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    wanted = [str(table), "--where", "decoding=mbr", "--where", "metric=BLEU"]
    assert main(["plot", "4", *wanted, "--output", str(tmp_path / "figure4"), "--formats", "png"]) == 0
    assert (tmp_path / "figure4.png").stat().st_size > 1000
    assert main(["correlation", *wanted]) == 0
