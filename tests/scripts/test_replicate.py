"""scripts/replicate.sh in small: what is measured is kept with its settings, and nothing is made twice, with or without
the model."""

import shutil
from pathlib import Path

import pytest
from pipeline_scripts import assert_refused, beginnings, lines, script

from dcmbr_fairseq.present.tables import read_table


def test_tables_outlive_their_models(shared: Path, tmp_path: Path) -> None:
    """What a committed table holds is not measured again: neither is its model trained again."""
    counts = {"train": 100, "val": 3, **dict.fromkeys((f"test_{year}_flickr" for year in (2016, 2017, 2018)), 3)}
    beginnings(shared, tmp_path / "data", counts, ("en", "de"))
    out, work = tmp_path / "out", tmp_path / "work"
    settings = {
        "DATA": tmp_path / "data", "WORK": work, "OUT": out, "MERGES": 60, "UPDATES": 2, "AVERAGE": 1, "SIZES": "2",
        "RUNS": "0.2-7", "MAIN": "ls0.2-7", "PAIR": "ls0.2-7", "PARTS": "quality ranks temperature truncation ger",
        "TRUNCATIONS": "epsilon-0.5", "GER_RUNS": "0.7-0.3", "GER_UPDATES": 1, "FIRST": 2, "DPI": 30,
    }  # fmt: skip
    setting = "multi30k-en-de-two-layers"
    done = script("replicate.sh", setting, **settings)
    rows = read_table(out / "ls0.2-7" / "quality.tsv")
    assert {row["model"] for row in rows} == {"ls0.2"} and {row["label_smoothing"] for row in rows} == {"0.2"}
    assert {(row["decoding"], row["temp_hyp"], row["seed"]) for row in rows} == {
        ("beam", "-", "-"), ("mbr", "1.0", "7"), ("dcmbr", "0.5", "7"),
    }  # fmt: skip
    assert {"BLEU", "chrF", "TER"} <= {row["metric"] for row in rows}
    tests = {(row["baseline"], row["decoding"]) for row in read_table(out / "ls0.2-7" / "tests.tsv") if row["p"] != "-"}
    beam, mbr = "decoding=beam", "temp_hyp=1,temp_ref=1"
    assert tests == {(beam, "mbr"), (beam, "dcmbr"), (mbr, "dcmbr")}
    assert "baseline" not in (out / "ls0.2-7" / "quality.tsv.settings").read_text("utf-8")  # it changes no number there
    tables = (out / "tables.md").read_text("utf-8")
    assert "| ls0.2 | 7 | 2 | decoding=beam |" in tables and "| ls0.2 | 7 | 2 | temp_hyp=1,temp_ref=1 |" in tables
    assert "## Table 1, by chrF" in tables and "| N=2" in tables
    assert "![Figure 1](figure1.png)" in tables and "![Figure 5]" not in tables
    assert (out / "figure1.png").is_file() and (out / "figure2.png").is_file()
    assert [line.split("\t")[2:4] for line in lines(out / "log.tsv")[1:]] == [
        *(["ls0.2-7", part] for part in ("quality", "ranks", "truncation-epsilon-0.5", "temperature")),
        ["ger0.7-0.3", "quality"],
    ]
    (logged,) = [line for line in lines(out / "log.tsv") if "\tquality\t" in line and "\tls0.2-7\t" in line]
    assert logged.endswith("--baseline decoding=beam --baseline temp_hyp=1,temp_ref=1 --tests OUT/ls0.2-7/tests.tsv")
    (ger,) = {(row["model"], row["alpha"], row["beta"]) for row in read_table(out / "ger0.7-0.3" / "quality.tsv")}
    assert ger == ("ger0.7-0.3", "0.7", "0.3")
    assert "nothing to do" not in done.stderr
    assert "Figure 4 cannot be drawn yet" in done.stderr  # it takes three models
    # the first sentences have pools of their own
    assert {row["sentences"] for row in rows} == {"3"}
    assert {row["sentences"] for row in read_table(out / "ls0.2-7" / "temperature.tsv")} == {"2"}
    said = "".join(
        path.read_text("utf-8") for path in out.rglob("*") if path.suffix in (".md", ".tsv", ".settings", ".txt")
    )
    assert str(tmp_path) not in said  # where it lay on this machine is nobody's business

    before = {path: path.read_bytes() for path in out.rglob("*.tsv*")}
    shutil.rmtree(work)
    again = script("replicate.sh", setting, **settings)
    assert "training" not in again.stderr and not list(work.rglob("checkpoints*"))
    assert {path: path.read_bytes() for path in out.rglob("*.tsv*")} == before
    assert_refused("replicate.sh", [setting], "updates=3 (was 2)", **{**settings, "UPDATES": 3})
    less = {**settings, "PARTS": "growth temperature ger", "PAIR": "ls0.1-1", "GER_RUNS": ""}
    said = script("replicate.sh", setting, **less).stderr
    assert "growth: nothing to do, for it is measured of PAIR (ls0.1-1), and RUNS has none of these" in said
    assert "ger: nothing to do, for GER_RUNS names no model" in said and "temperature: nothing to do" not in said


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("RUNS", "0.1-1 0.1", "0.1: give label smoothing and seed"),
        ("RUNS", "ls0.1-1", "ls0.1-1: give"),
        ("PAIR", "ls0.1-1 0.0-1", "0.0-1: give runs as"),
        ("MAIN", "0.1-1", "0.1-1: give a run as"),
        ("PARTS", "quality rank", "rank: give some of quality ranks"),
        ("GER_RUNS", "0.1-0.1 0.3", "0.3: give ALPHA-BETA"),
        ("TRUNCATIONS", "none top-0.9", "top-0.9: give none, topp-P"),
    ],
)
def test_a_word_that_means_nothing_is_refused_before_work_starts(
    tmp_path: Path, name: str, value: str, word: str
) -> None:
    out, venv = tmp_path / "out", tmp_path / "venv"
    done = script("replicate.sh", check=False, OUT=out, VENV=venv, WORK=tmp_path / "work", **{name: value})
    assert done.returncode == 1 and f"error: {name} holds {word}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_unknown_settings_get_the_usage(tmp_path: Path) -> None:
    done = script("replicate.sh", "wmt20", check=False, OUT=tmp_path / "out")
    assert done.returncode == 2 and "scripts/replicate.sh [SETTING]" in done.stderr and not (tmp_path / "out").exists()
