"""scripts/multi30k/figures.sh: measures what is missing, draws, and leaves out figures whose models are missing."""

import csv
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pipeline_scripts import script

pytest.importorskip("matplotlib", reason="needs matplotlib (the extra [plots])")

CELL = "label_smoothing\tdecoding\tmetric\tnum_hyp\ttemp_hyp\ttemp_ref\tscore\n"
TABLES: dict[str, str] = {
    "sizes": CELL + "0\tmbr\tchrF\t5\t1\t1\t50\n0.1\tmbr\tchrF\t5\t1\t1\t40\n",
    "topn": "label_smoothing\trank\tmetric\tscore\tall_exact\n0\t1\tchrF\t50\tyes\n0.1\t1\tchrF\t60\tyes\n",
    "temperature": "task\t" + CELL + "test-en-de\t0.1\tmbr\tchrF\t10\t1\t1\t50\n",
    "hypotheses": CELL + "0.1\tdcmbr\tchrF\t10\t0.5\t1\t50\n",
    "references": CELL + "0.1\tdcmbr\tchrF\t10\t0.5\t0.5\t51\n",
    "diversity": "label_smoothing\ttemperature\tmetric\tnum_hyp\tquality\tdiversity\n0.1\t0.5\tchrF\t10\t50\t70\n",
    "models": "entropy\t" + CELL + "".join(f"{i}\t0.{i}\tmbr\tchrF\t50\t1\t1\t{9 - i}\n" for i in range(3)),
}


def run(toy: Any, work: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    words = ("en", "de", work / "models", *arguments)
    return script("multi30k/figures.sh", *words, check=False, WORK=work, BIN=toy.data_bin, FIRST=5)


def test_all_figures(toy: Any, tmp_path: Path) -> None:
    out, models = tmp_path / "en-de" / "figures" / "test_2016_flickr", tmp_path / "models"
    out.mkdir(parents=True)
    models.mkdir()
    for name in ("ls0.0", "ls0.1"):
        shutil.copy(toy.checkpoint, models / f"{name}.pt")
    (models / "ger.pt").touch()  # its measurements are there
    for name, text in TABLES.items():
        (out / f"{name}.tsv").write_text(text)
    done = run(toy, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    with (out / "ranks.tsv").open(newline="") as lines:  # the table that was missing
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert [row["model"] for row in rows] == ["ls0.0"] * 10 + ["ls0.1"] * 10
    assert {path.name for path in out.glob("figure*")} == {
        f"figure{n}.{f}" for n in range(1, 8) for f in ("png", "pdf", "txt")
    }
    assert re.search(r"Kendall tau-b +-1\.0000", done.stdout) and "left out" not in done.stderr


def test_figures_without_models_are_left_out(toy: Any, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    refused = run(toy, tmp_path)
    assert refused.returncode == 1 and "holds no checkpoint NAME.pt" in refused.stderr
    assert "no test set test_2015 for en-de" in run(toy, tmp_path, "test_2015").stderr
    (tmp_path / "models" / "ls0.3.pt").touch()
    out = tmp_path / "en-de" / "figures" / "test_2017_flickr"
    out.mkdir(parents=True)
    for name in ("models", "ranks"):
        (out / f"{name}.tsv").write_text("label_smoothing\tdecoding\tscore\tbucket\tcount\n0.3\tbeam\t50\t0-5\t1\n")
    done = run(toy, tmp_path, "test_2017_flickr")
    assert done.returncode == 0, done.stderr[-3000:]
    assert {path.name for path in out.glob("*.png")} == {"figure1.png", "figure2.png"}
    assert all(f"Figure {number} is left out" in done.stderr for number in (3, 4, 5, 6, 7))
