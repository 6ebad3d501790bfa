"""What pools promise against what references say: python scripts/lib/calibration.py REFERENCES NAME,NAME,... RECORDS...

A row for each file of records: its subset, N, T_h and draws; the mean expected utility of the choices (what the model
expects of them), their mean utility against the references (what they are worth), the difference, and Pearson's
correlation of the two over sentences. Records must have been decided by chrF.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.reading import read_lines
from dcmbr_fairseq.pools.rows import read_records
from dcmbr_fairseq.utilities import build_utility

SETTINGS = ("num_hyp", "temp_hyp", "draws")
SCORES = ("expected", "reference", "promised_too_much", "pearson", "distinct")
COLUMNS = ("model", "subset", *SETTINGS, "sentences", *SCORES)


def calibration(path: str | Path, references: Sequence[str]) -> dict[str, object]:
    """The cells of a file's row, but for the model: expected and reference are 0-100, pearson is over sentences.

    Raises:
        UserError: a record was decided by another utility, or has no reference.
    """
    utility = build_utility("chrf", {})
    expected, real, distinct = [], [], []
    described: dict[str, object] = {}
    for record in read_records(path):
        described = described or description(record.fields)
        if record.fields["signature"].split("|")[0] != utility.signature().split("|")[0]:
            raise UserError(f"{path} was decided by {record.fields['signature']}: give records decided by chrF")
        if not isinstance(record.id, int) or not 0 <= record.id < len(references):
            raise UserError(f"{path}: sentence {record.id} has no reference among {len(references)}")
        expected.append(record.fields["expected_utilities"][record.fields["choice"]])
        real.append(utility.pairwise([record.fields["translation"]], [references[record.id]])[0, 0])
        distinct.append(len(record.pools.hypotheses.texts))
    promised, worth = float(np.mean(expected)), float(np.mean(real))
    return {
        **described, "sentences": len(real), "expected": f"{promised:.2f}", "reference": f"{worth:.2f}",
        "promised_too_much": f"{promised - worth:.2f}", "pearson": f"{np.corrcoef(expected, real)[0, 1]:.3f}",
        "distinct": f"{np.mean(distinct):.1f}",
    }  # fmt: skip


def description(fields: Mapping[str, Any]) -> dict[str, object]:
    """Of what pools a file is, as a record of it says."""
    subset = fields.get("identity", {}).get("sources", {}).get("subset", "-")
    return {"subset": subset, **{name: fields["settings"].get(name, "-") for name in SETTINGS}}


if __name__ == "__main__":
    path, names, *files = sys.argv[1:]
    references = read_lines(path)
    print(*COLUMNS, sep="\t")
    for name, file in zip(names.split(","), files, strict=True):
        row = {"model": name, **calibration(file, references)}
        print(*(row[column] for column in COLUMNS), sep="\t")
