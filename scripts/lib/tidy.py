"""Scores of decoded folders as a tidy table: python scripts/lib/tidy.py STEM BASE TASK SUBSET [RUN].

Reads STEM.json (of `dcmbr evaluate`) and BASE/SYSTEM.settings (of steps.sh), writes STEM.tsv: a row for each system and
metric, with the columns that `dcmbr table` and `dcmbr plot` read. A system is called [RUN/]LABEL, as decode.sh labels
them. Where RUN/entropy.tsv (of `dcmbr entropy`) lies in BASE, its entropy stands beside the scores of that run.
"""

import csv
import json
import re
import sys
from pathlib import Path

from dcmbr_fairseq.files.writing import atomic_writer

LABEL = re.compile(r"(mbr|dcmbr)-(.+)-n(\d+)(?:-t([\d.]+))?(?:-([\d.]+))?(?:-(arithmetic))?(?:-seed(\d+))?")
COLUMNS = (
    "task", "subset", "sentences", "model", "label_smoothing", "alpha", "beta", "decoding", "num_hyp", "num_ref",
    "temp_hyp", "temp_ref", "utility", "ref_pool", "draws", "seed", "metric", "score", "signature", "entropy",
)  # fmt: skip
NONE = "-"  # what a tidy table shows where there is nothing


def decoding_of(label: str) -> dict[str, str]:
    """The columns that a label stands for."""
    found = LABEL.fullmatch(label)
    if not found:
        return {"decoding": label}
    decoding, utility, size, hyp, ref, draws, seed = found.groups()
    hyp = hyp or "1"
    ref = ref or hyp
    pools = {"num_hyp": size, "num_ref": size, "temp_hyp": hyp, "temp_ref": ref}
    shared = "shared" if hyp == ref else "separate"  # what --ref-pool auto makes of them
    drawn = {"ref_pool": shared, "draws": draws or "independent", "seed": seed or "1"}
    return {"decoding": decoding, "utility": utility, **pools, **drawn}


def training_of(record: Path) -> dict[str, str]:
    """How the model was trained, from the record of what it has translated. GER starts from another model, whose label
    smoothing stands in the record too: it is no longer this model's."""
    lines = record.read_text("utf-8").splitlines() if record.is_file() else []
    settings = dict(line.split("\t")[:2] for line in lines if line.startswith("--"))
    ger = {"alpha": settings.get("--ger-alpha", NONE), "beta": settings.get("--ger-beta", NONE)}
    smoothing = NONE if "--ger-alpha" in settings else settings.get("--label-smoothing", NONE)
    return {"label_smoothing": smoothing, **ger}


def entropy_of(table: Path) -> str:
    """The token entropy that was measured of a run at T = 1, in nats; a dash where it was not."""
    if not table.is_file():
        return NONE
    with table.open(encoding="utf-8", newline="") as lines:
        return next(csv.DictReader(lines, delimiter="\t"))["entropy"]


def rows(stem: str, base: Path, task: str, subset: str, run: str = "") -> list[dict[str, str]]:
    """The rows of the table; see the head of this file."""
    result = json.loads(Path(f"{stem}.json").read_text("utf-8"))
    found = []
    for system in result["systems"]:
        model, slash, label = system["name"].rpartition("/")
        settings = {
            "task": task, "subset": subset, "sentences": str(result["segments"]),
            "model": model if slash else run or NONE,
            **training_of(base / f"{system['name']}.settings"), **decoding_of(label),
            "entropy": entropy_of(base / model / "entropy.tsv"),
        }  # fmt: skip
        for metric, score in system.items():
            if metric not in ("name", "seconds"):
                signature = result["signatures"].get(metric, NONE)
                found.append({**settings, "metric": metric, "score": str(score), "signature": signature})
    return found


if __name__ == "__main__":
    stem, base, *names = sys.argv[1:]
    with atomic_writer(f"{stem}.tsv") as out:
        writer = csv.DictWriter(out, COLUMNS, restval=NONE, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(stem, Path(base), *names))
