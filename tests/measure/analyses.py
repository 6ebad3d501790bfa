"""What tests of analyses share: the flags that name the toy data, and a table as another program would read it."""

import csv
from pathlib import Path

from toy_world import Toy


def toy_flags(toy: Toy, subset: str = "test") -> list[str]:
    """fairseq-generate's flags for a split of the toy world."""
    return [str(toy.data_bin), "-s", "en", "-t", "de", "--gen-subset", subset, "--num-workers", "0", "--cpu"]


def read_tsv(path: Path) -> list[dict[str, str]]:
    """The rows of a tidy table."""
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))
