"""scripts/demo.sh: the whole way on a small phrasebook, and again without doing anything twice."""

import re
import subprocess
from pathlib import Path

import programs
import pytest
from pipeline_scripts import TINY, assert_all_refused, script

SMALL = {"PAIRS": 3000, "HELD_OUT": 25, "NUM": 5, "SYSTEMS": "beam dcmbr"}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "work"


@pytest.fixture(scope="module")
def first(work: Path) -> "subprocess.CompletedProcess[str]":
    """With real starts of every program."""
    return script("demo.sh", *TINY, WORK=work, VENV=programs.REAL, **SMALL)


def stamps(folder: Path) -> dict[Path, int]:
    """When each file was last written, but for the tables, which are made anew."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("results."))
    return {path: path.stat().st_mtime_ns for path in paths}


def test_the_table_has_each_system(first: "subprocess.CompletedProcess[str]", work: Path) -> None:
    row = r"^{} +\d+\.\d +\d+\.\d +\d+\.\d$"
    for system in ("beam", "dcmbr-chrf-n5-t0.5"):
        assert re.search(row.format(re.escape(system)), first.stdout, re.MULTILINE), first.stdout
        translated = (work / "decode" / system / "hypotheses.txt").read_text("utf-8").split("\n")[:-1]
        assert len(translated) == SMALL["HELD_OUT"]
    assert "chrF" in first.stdout and "BLEU" in first.stdout


def test_translations_stand_side_by_side(first: "subprocess.CompletedProcess[str]", work: Path) -> None:
    lines = [(work / "raw" / f"test.{language}").read_text("utf-8").split("\n")[:-1] for language in ("en", "de")]
    block = r"^source +(.+)\nreference +(.+)\nbeam +(.*)\ndcmbr-chrf-n5-t0.5 +(.*)$"
    shown = re.findall(block, first.stdout, re.MULTILINE)
    assert shown
    for source, reference, beam, dcmbr in shown:
        assert lines[1][lines[0].index(source)] == reference
        assert beam != dcmbr


def test_the_last_line_says_what_to_look_at(first: "subprocess.CompletedProcess[str]", work: Path) -> None:
    page = (work / "report.html").read_text("utf-8")
    assert first.stderr.splitlines()[-1].endswith(f"open {work / 'report.html'} in a browser")
    assert page.startswith("<!doctype html>")
    assert f"wrote {work / 'report.html'}: " in first.stderr
    assert "REPORTED\tdcmbr-chrf-n5-t0.5\n" in (work / "report.html.settings").read_text("utf-8")


def test_what_others_say_of_themselves_is_not_shown(first: "subprocess.CompletedProcess[str]") -> None:
    for noise in ("tensorboardX", "Namespace(", "_name", "upgrades/1.0_to_1.1"):
        assert noise not in first.stderr, noise


def test_a_second_run_does_nothing_twice(first: "subprocess.CompletedProcess[str]", work: Path) -> None:
    before = stamps(work)
    second = script("demo.sh", *TINY, WORK=work, **SMALL)
    assert stamps(work) == before
    assert second.stdout == first.stdout
    assert second.stderr.count("done already") == 9


def test_half_written_steps_are_done_again(first: "subprocess.CompletedProcess[str]", work: Path) -> None:
    whole = (work / "bpe.codes").read_bytes()
    (work / "bpe.codes").unlink()
    (work / ".bpe.codes.0a1B2c3D.tmp").write_text("half")
    script("demo.sh", *TINY, WORK=work, **SMALL)
    assert (work / "bpe.codes").read_bytes() == whole
    assert not list(work.rglob(".*.tmp"))


def test_other_settings_are_refused_by_name(first: "subprocess.CompletedProcess[str]", work: Path) -> None:
    assert_all_refused("demo", work, WORK=work, **SMALL)


def test_more_updates_go_on_and_what_was_translated_before_is_refused(
    first: "subprocess.CompletedProcess[str]", work: Path
) -> None:
    """The last test: the training of the others is changed."""
    more = script("demo.sh", *TINY, "optimization.max_update=6", check=False, WORK=work, **SMALL)
    assert "training: goes on, 6 updates are asked for" in more.stderr
    assert (work / "checkpoints/finished").read_text() == "updates 6\nmax_update 6\nmax_epoch 0\n"
    assert more.returncode == 1 and "updates=6 (was 4)" in more.stderr.splitlines()[-1]
    fewer = script("demo.sh", *TINY, check=False, WORK=work, **SMALL)
    assert f"training: done already ({work / 'checkpoints'})" in fewer.stderr


def test_usage(tmp_path: Path) -> None:
    asked = script("demo.sh", "--help", check=False, WORK=tmp_path / "work")
    assert asked.returncode == 2 and "bash scripts/demo.sh" in asked.stderr
    assert not (tmp_path / "work").exists()
