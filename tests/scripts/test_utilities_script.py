"""scripts/multi30k/utilities.sh: utilities against metrics, from pools that have been sampled already."""

import json
import subprocess
from pathlib import Path

import pytest
from pipeline_scripts import script
from sacrebleu.metrics import BLEU, CHRF

REFERENCES = ["der Hund sieht den Kater .", "ein Mann hört ein Lied .", "left out by LIMIT"]
POOLS = {
    "mbr-chrf-n3": [["der Köter", "der Hund", "der Hund hört ."], ["ein Mann", "kein Mann hört", "Lied ."], ["x"] * 3],
    "dcmbr-chrf-n3-t0.5": [["der Hund sieht den Kater ."] * 3, ["ein Mann hört ein Lied ."] * 3, ["x"] * 3],
}


def run(work: Path) -> "subprocess.CompletedProcess[str]":
    variables = {"WORK": work, "NUM": 3, "LIMIT": 2, "UTILITIES": "bleu", "METRICS": "bleu,chrf", "RUN": "ours"}
    return script("multi30k/utilities.sh", "en", "de", 0.1, "test_2016_flickr", check=False, **variables)


def test_utilities_against_metrics(tmp_path: Path) -> None:
    base = tmp_path / "en-de"
    (base / "raw").mkdir(parents=True)
    (base / "raw" / "test_2016_flickr.de").write_text("".join(f"{line}\n" for line in REFERENCES), "utf-8")
    for name, pools in POOLS.items():
        folder = base / "decode" / "ours" / "test_2016_flickr" / name
        folder.mkdir(parents=True)
        rows = [json.dumps({"id": i, "hypotheses": pool}) for i, pool in enumerate(pools)]
        (folder / "pools.jsonl").write_text("".join(f"{row}\n" for row in rows), "utf-8")
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    out = base / "utilities" / "ours" / "test_2016_flickr-first2" / "n3-t0.5-seed1"
    table = out / "bleu-by-bleu+chrf"
    header, *rows = [line.split("\t") for line in (table / "scores.tsv").read_text("utf-8").splitlines()]
    found = {}
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        assert cells["temp_hyp"] == cells["temp_ref"] == ("1" if cells["decoding"] == "mbr" else "0.5")
        found[cells["decoding"], cells["utility"], cells["metric"]] = float(cells["score"])
    for decoding in ("mbr", "dcmbr"):
        chosen = (out / f"{decoding}-bleu.txt").read_text("utf-8").splitlines()
        for label, metric in (("BLEU", BLEU()), ("chrF", CHRF())):
            score = metric.corpus_score(chosen, [REFERENCES[:2]]).score
            assert found.pop((decoding, "bleu", label)) == pytest.approx(score, abs=1e-6)
    assert not found
    assert done.stdout == (table / "table.text").read_text("utf-8")
    latex = (table / "table.tex").read_text("utf-8")
    assert "tabular" in latex and "bleu" in latex and "100.0" in latex

    (table / "table.text").unlink()  # what is done is not done again
    again = run(tmp_path)
    assert again.stdout == done.stdout and "select:" in done.stderr and "select:" not in again.stderr
