"""What pools promise against what references say: python scripts/lib/calibration.py REFERENCES NAME,NAME,... RECORDS...

A row for each file of records: its subset, N, T_h and draws; the mean expected utility of the choices (what the model
expects of them), their mean utility against the references (what they are worth), the difference, and Pearson's
correlation of the two over sentences. Records must have been decided by chrF.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.reading import read_lines
from dcmbr_fairseq.pools.rows import read_records, read_rows
from dcmbr_fairseq.utilities import build_utility

SETTINGS = ("num_hyp", "temp_hyp", "draws")
SCORES = ("expected", "reference", "promised_too_much", "pearson", "distinct")
COLUMNS = ("model", "subset", *SETTINGS, "sentences", *SCORES)


def calibration(path: str | Path, references: Sequence[str]) -> tuple[int, float, float, float, float]:
    """Sentences, mean expected utility, mean utility against the references (both 0-100), Pearson's r, distinct texts.

    Raises:
        UserError: a record was decided by another utility, or has no reference.
    """
    utility = build_utility("chrf", {})
    expected, real, distinct = [], [], []
    for record in read_records(path):
        if record.fields["signature"].split("|")[0] != utility.signature().split("|")[0]:
            raise UserError(f"{path} was decided by {record.fields['signature']}: give records decided by chrF")
        if not isinstance(record.id, int) or not 0 <= record.id < len(references):
            raise UserError(f"{path}: sentence {record.id} has no reference among {len(references)}")
        expected.append(record.fields["expected_utilities"][record.fields["choice"]])
        real.append(utility.pairwise([record.fields["translation"]], [references[record.id]])[0, 0])
        distinct.append(len(record.pools.hypotheses.texts))
    means = float(np.mean(expected)), float(np.mean(real))
    return len(real), *means, float(np.corrcoef(expected, real)[0, 1]), float(np.mean(distinct))


if __name__ == "__main__":
    references, names, *files = sys.argv[1:]
    print(*COLUMNS, sep="\t")
    for name, file in zip(names.split(","), files, strict=True):
        first = next(read_rows(file))
        subset = first.get("identity", {}).get("sources", {}).get("subset", "-")
        settings = [first["settings"].get(column, "-") for column in SETTINGS]
        count, expected, real, pearson, distinct = calibration(file, read_lines(references))
        scores = [f"{score:.2f}" for score in (expected, real, expected - real)]
        print(name, subset, *settings, count, *scores, f"{pearson:.3f}", f"{distinct:.1f}", sep="\t")
