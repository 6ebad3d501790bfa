"""scripts/lib/calibration.py: what pools promise against what references say, from records."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from fairseq_commands import REPOSITORY

SCRIPT = REPOSITORY / "scripts" / "lib" / "calibration.py"
REFERENCES = ["ein Hund läuft schnell", "zwei Kinder spielen im Garten", "der Mann liest"]
CHOICES = ["ein Hund läuft", "zwei Kinder spielen", "eine Frau liest"]
EXPECTED = [81.5, 60.25, 70.0]


def record(number: int, **changes: Any) -> dict[str, Any]:
    settings = {"num_hyp": 3, "temp_hyp": 0.5, "draws": "arithmetic"}
    return {
        "id": number, "hypotheses": [CHOICES[number], "etwas anderes"], "hypothesis_draws": [0, 1, 0],
        "expected_utilities": [EXPECTED[number], 20.0], "choice": 0, "translation": CHOICES[number],
        "settings": settings, "identity": {"sources": {"subset": "test1"}}, "signature": "chrF2|nrefs:1", **changes,
    }  # fmt: skip


def calibrate(folder: Path, *records: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    (folder / "references").write_text("".join(f"{line}\n" for line in REFERENCES), "utf-8")
    (folder / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    command = [sys.executable, "-P", str(SCRIPT), "references", "model", "records.jsonl"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_row_says_of_what_it_is_and_how_much_was_promised(tmp_path: Path) -> None:
    done = calibrate(tmp_path, *map(record, range(3)))
    head, line = (text.split("\t") for text in done.stdout.splitlines())
    row = dict(zip(head, line, strict=True))
    worth = [sacrebleu.sentence_chrf(choice, [ref]).score for choice, ref in zip(CHOICES, REFERENCES, strict=True)]
    assert [row[name] for name in ("model", "subset", "num_hyp", "temp_hyp", "draws", "sentences", "distinct")] == [
        "model", "test1", "3", "0.5", "arithmetic", "3", "2.0"
    ]  # fmt: skip
    means = [np.mean(EXPECTED), np.mean(worth), np.mean(EXPECTED) - np.mean(worth)]
    found = [float(row[name]) for name in ("expected", "reference", "promised_too_much")]
    assert found == pytest.approx(means, abs=0.01)
    assert float(row["pearson"]) == pytest.approx(np.corrcoef(EXPECTED, worth)[0, 1], abs=1e-3)


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"signature": "BLEU|nrefs:1"}, "was decided by BLEU"), ({"id": 7}, "sentence 7 has no reference among 3")],
)
def test_other_records_are_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    done = calibrate(tmp_path, record(0), record(1, **changes))
    assert done.returncode != 0 and said in done.stderr
