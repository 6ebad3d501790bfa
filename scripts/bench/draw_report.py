"""What draws.py has measured, cell by cell: means over seeds, errors, and differences from independent draws.

A difference is paired, sentence by sentence, of contributions averaged over seeds; its 95% interval is that of a normal
distribution with the standard error over sentences, which covers the sentences and what was drawn for them. p-values
are of the same distribution, corrected by Holm's method over all cells of a metric and kind of draws. (Flipped signs
would test the mean of the contributions: BLEU's is not its difference, since the brevity penalty has a corner.)
"""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dcmbr_fairseq.evaluation.uncertainty import holm, standard_error
from dcmbr_fairseq.present.tables import Grid, as_text
from dcmbr_fairseq.present.tidy import Row, write_rows

#: The column of a row that holds what each sentence contributes to the score.
CONTRIBUTIONS = "contributions"
#: What is the same in a cell and the one it is compared with; the rest of the key is draws, rule and N.
CONTEXT = ("task", "subset", "sentences", "model", "temperature", "metric")
BASE = "independent"
#: Half of a 95% interval in standard errors.
WIDTH = 1.96
#: How far the expected utility may fall for arithmetic draws to be the default.
TOLERANCE = -0.1


class CellKey(NamedTuple):
    """What tells cells apart: the context's values, kind of draws, rule, N (of growing pools their goal)."""

    context: tuple[Any, ...]
    draws: str
    rule: str
    size: float


class Measured(NamedTuple):
    """A cell: seed -> its row."""

    by_seed: dict[int, Row]

    def mean(self, column: str) -> float | None:
        """Mean over seeds; None where the rows have no such number."""
        values = [row[column] for row in self.by_seed.values()]
        return None if None in values else float(np.mean(values))

    def contributions(self, seeds: Sequence[int]) -> np.ndarray:
        """``(B,)`` means over these seeds."""
        return np.mean([self.by_seed[seed][CONTRIBUTIONS] for seed in seeds], axis=0)


def read_cells(journals: Sequence[Path]) -> dict[CellKey, Measured]:
    """The cells in journals of draws.py, also of runs that are going on."""
    found: dict[CellKey, Measured] = {}
    for path in journals:
        for line in path.read_text("utf-8").splitlines(keepends=True)[1:]:
            if line.endswith("\n"):  # the last may not be written yet
                for row in json.loads(line)["rows"]:
                    size = 0.0 if row["rule"] == "grow" else float(row["num_hyp"])
                    key = CellKey(tuple(row[name] for name in CONTEXT), row["draws"], row["rule"], size)
                    found.setdefault(key, Measured({})).by_seed[row["seed"]] = row
    return found


def compared(cells: dict[CellKey, Measured]) -> list[Row]:
    """A row for each cell: its mean and error over seeds, and the difference from independent draws by the same rule,
    or, by another rule than ``counts``, from ``counts`` (growing pools: from the largest) with the same draws."""
    rows = []
    for key, cell in cells.items():
        base = cells.get(_base(key))
        row = {**dict(zip(CONTEXT, key.context, strict=True)), "draws": key.draws, "rule": key.rule,
               "num_hyp": cell.mean("num_hyp"), "seeds": len(cell.by_seed), "score": cell.mean("score"),
               "seed_error": standard_error(np.array([one["score"] for one in cell.by_seed.values()])),
               "distinct": cell.mean("distinct"), "rows": cell.mean("rows"),
               "difference": None, "low": None, "high": None, "p": None}  # fmt: skip
        seeds = sorted(cell.by_seed.keys() & base.by_seed.keys()) if base is not None and base is not cell else []
        if base is not None and seeds:
            score = float(np.mean([cell.by_seed[s]["score"] - base.by_seed[s]["score"] for s in seeds]))
            error = standard_error(cell.contributions(seeds) - base.contributions(seeds)) or 0.0
            p_value = math.erfc(abs(score) / error / math.sqrt(2)) if error else 1.0
            row |= {"difference": score, "low": score - WIDTH * error, "high": score + WIDTH * error, "p": p_value}
        rows.append(row)
    for group in _grouped(rows, ("metric", "draws", "rule")):
        tested = [row for row in group if row["p"] is not None]
        for row, p_value in zip(tested, holm([row["p"] for row in tested]), strict=True):
            row["p"] = p_value
    return rows


def _base(key: CellKey) -> CellKey:
    if key.rule == "counts":
        return key._replace(draws=BASE)
    return key._replace(rule="largest", size=64.0) if key.rule == "grow" else key._replace(rule="counts")


def _grouped(rows: Sequence[Row], columns: Sequence[str]) -> Iterator[list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    yield from groups.values()


def equal_size(rows: Sequence[Row], size: int = 50) -> float | None:
    """The N at which arithmetic draws are as good as ``size`` independent ones, interpolated in log N; None if none is.

    Args:
        rows: of one model, temperature and metric, by the rule ``counts``.
        size: of the independent pool.
    """
    goal = [row["score"] for row in rows if row["draws"] == BASE and row["num_hyp"] == size]
    curve = sorted((row["num_hyp"], row["score"]) for row in rows if row["draws"] == "arithmetic")
    if not goal or not curve or max(score for _, score in curve) < goal[0]:
        return None
    before = None
    for number, score in curve:
        if score >= goal[0]:
            if before is None:
                return float(number)
            share = (goal[0] - before[1]) / (score - before[1])
            return float(np.exp(np.log(before[0]) + share * (np.log(number) - np.log(before[0]))))
        before = (number, score)
    return None


def report(journals: Sequence[Path], output: Path | None) -> None:
    """Print all comparisons, the N that equals 50 independent draws, and the verdict; ``output`` gets the cells."""
    rows = compared(read_cells(journals))
    if output is not None:
        write_rows(rows, output)
    for group in _grouped(rows, ("model", "metric", "temperature")):
        head = group[0]
        print(f"\n{head['model']}, {head['sentences']} sentences, T = {head['temperature']:g}, {head['metric']}")
        print(as_text(Grid(["draws", "rule", "N", "seeds", "score", "+-", "distinct", "rows", "difference", "95%", "p"],
                           [_cells(row) for row in sorted(group, key=_place)])), end="")  # fmt: skip
        equal = equal_size([row for row in group if row["rule"] == "counts"])
        if equal is not None:
            print(f"50 independent draws are equalled by {equal:.1f} arithmetic ones")
    print("\n" + "\n".join(verdict(rows)))


def _place(row: Row) -> tuple[Any, ...]:
    return row["rule"], row["num_hyp"] if row["rule"] == "counts" else 0, row["draws"] != BASE, row["draws"]


def _cells(row: Row) -> list[str | None]:
    numbers = [row["score"], row["seed_error"], row["distinct"], row["rows"], row["difference"]]
    shown = [None if number is None else f"{number:.2f}" for number in numbers]
    interval = None if row["low"] is None else f"{row['low']:+.2f} .. {row['high']:+.2f}"
    p_value = None if row["p"] is None else f"{row['p']:.4f}"
    return [row["draws"], row["rule"], f"{row['num_hyp']:g}", str(row["seeds"]), *shown, interval, p_value]


def verdict(rows: Sequence[Row]) -> list[str]:
    """Whether arithmetic draws may be the default: a line for each metric."""
    lines = []
    tested = [row for row in rows if row["draws"] == "arithmetic" and row["rule"] == "counts" and row["p"] is not None]
    for group in _grouped(tested, ("metric",)):
        worst = min(group, key=lambda row: row["low"])
        falls = [row for row in group if row["difference"] < 0 and row["p"] < 0.05]
        below = sum(row["low"] <= TOLERANCE for row in group)
        mean = np.mean([row["difference"] for row in group])
        above, under = sum(row["low"] > 0 for row in group), sum(row["high"] < 0 for row in group)
        lines.append(
            f"{group[0]['metric']}: {len(group)} cells, mean difference {mean:+.3f}, {above} intervals above 0, "
            f"{under} below 0, "
            f"{len(falls)} falls by Holm's p < 0.05; {below} reach to {TOLERANCE} or below, the lowest to "
            f"{worst['low']:+.3f} ({worst['model']}, T = {worst['temperature']:g}, N = {worst['num_hyp']:g})"
        )
    return lines
