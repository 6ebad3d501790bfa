"""Tidy tables of results: one row a measurement, columns named after the options that made it (docs/analysis.md).

Figures and tables are selections and means of such rows. Cells that look like numbers compare as numbers: 0.5 is 0.50.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.present.tables import read_table

logger = logging.getLogger(__name__)

#: A row as it was read: column -> text of the cell.
Cells = dict[str, str]
Value = float | str

#: What tells one test set from another: its name, the split, and how many of its sentences.
TEST_SET = ("task", "subset", "sentences")
#: Who judged and who decided, with all that their numbers depend on: one name may stand for several.
METRIC, UTILITY = ("metric", "signature"), ("utility", "utility_signature")
#: What a measurement depends on beside the model and the seed: a mean over any of these would say nothing.
SETTINGS = (*TEST_SET, *METRIC, *UTILITY, "ref_pool", "draws", "num_hyp", "num_ref", "temp_hyp", "temp_ref")
#: Of these, what beam search has not: a condition on them does not concern its rows.
POOLS = (*UTILITY, "ref_pool", "draws", "num_hyp", "num_ref", "temp_hyp", "temp_ref", "seed")
#: With these, what tells one measurement from another, but for the seed.
IDENTITY = ("model", "label_smoothing", "alpha", "beta", "decoding", "temperature", *SETTINGS)
#: What draws are where a table does not say it: until there was a choice, all were.
UNSAID_DRAWS = "independent"
#: Columns of rows that pools were drawn for.
_OF_POOLS = ("num_hyp", "temp_hyp", "diversity")


@dataclass(frozen=True)
class Mean:
    """A mean over repeated measurements.

    Attributes:
        mean: their mean.
        low: the least.
        high: the greatest.
        count: how many.
        by_seed: the measurement of each seed, as far as the rows say their seeds.
    """

    mean: float
    low: float
    high: float
    count: int
    by_seed: Mapping[Value, float] = field(default_factory=dict)


def read_results(paths: Sequence[PathLike], conditions: Sequence[str] = ()) -> list[Cells]:
    """The rows of all tables that fulfil every condition ``column=value`` (``--where``).

    Rows of beam search, which has no pools, stay whatever is said of pools. Rows with pools that do not say how these
    were drawn get the column ``draws``, :data:`UNSAID_DRAWS`.

    Raises:
        UserError: a table is missing or malformed, a condition is, or no row is left.
    """
    rows = [with_draws(row) for path in paths for row in read_table(path)]
    for condition in conditions:
        column, equals, wanted = condition.partition("=")
        if not equals or not any(column in row for row in rows):
            known = ", ".join(dict.fromkeys(name for row in rows for name in row))
            raise UserError(f"--where {condition} must be COLUMN=VALUE with one of the columns {known}")
        kept = [row for row in rows if column in row and fulfils(row, column, as_value(wanted))]
        if not kept:
            raise UserError(f"--where {condition} leaves no row: {remedy(rows, column)}")
        rows = kept
    return rows


def with_draws(row: Cells) -> Cells:
    """The row with the column ``draws``, if pools were drawn for it."""
    pools = row.get("decoding") in ("mbr", "dcmbr") or any(row.get(name, "") not in ("", "-") for name in _OF_POOLS)
    return {**row, "draws": UNSAID_DRAWS} if pools and row.get("draws", "") in ("", "-") else row


def one_kind_of_draws(rows: Sequence[Cells]) -> None:
    """Refuse pools that were drawn in different ways: means over arithmetic draws are not those of as many independent
    ones, and what is compared with them must be drawn alike.

    Raises:
        UserError: names the kinds.
    """
    refuse_mixture([with_draws(row) for row in rows if row.get("decoding") != "beam"], ("draws",))


def remedy(rows: Sequence[Cells], column: str) -> str:
    """What to do where a condition on ``column`` leaves no row."""
    if column in ("exact", "all_exact"):
        return "no search was exact, so measure again with a larger --max-expansions, or fewer models"
    values = distinct([row for row in rows if column in row], column)
    return f"choose a value that the table has ({', '.join(map(label, values[:10]))})"


def fulfils(row: Cells, column: str, wanted: Value) -> bool:
    """Whether a cell has the value, or says that it means nothing to beam search."""
    silent = row.get("decoding") == "beam" and column in POOLS and row[column] in ("", "-")
    return silent or as_value(row[column]) == wanted


def test_set_in_words(name: object, subset: object, sentences: object) -> str:
    """A test set as far as it is known: ``multi30k-en-de, test, 1000 sentences``; else an empty string."""
    unknown = (None, "", "-")
    parts = [name, subset, None if sentences in unknown else f"{sentences} sentences"]
    return ", ".join(str(part) for part in parts if part not in unknown)


def as_value(text: str) -> Value:
    """The number that ``text`` shows, or else the text."""
    try:
        return float(text)
    except ValueError:
        return text


def number(row: Cells, column: str) -> float:
    """The number in a cell.

    Raises:
        UserError: it is not a finite number.
    """
    value = as_value(row[column])
    if isinstance(value, str) or not np.isfinite(value):
        raise UserError(f"column {column} must hold finite numbers, got {row[column]!r}: repair the table")
    return value


def require(rows: Sequence[Cells], columns: Iterable[str], what: str) -> None:
    """Refuse rows that lack one of the columns.

    Raises:
        UserError: names the columns that are missing and what needs them.
    """
    missing = [column for column in columns if not rows or any(column not in row for row in rows)]
    if missing:
        raise UserError(f"{what} needs the columns {', '.join(missing)}: see docs/analysis.md for the tables' columns")


def refuse_mixture(rows: Sequence[Cells], columns: Iterable[str]) -> None:
    """Refuse rows with several values of a column over which a mean would say nothing, such as ``metric``.

    Raises:
        UserError: names the column, its values and the option that chooses.
    """
    for column in columns:
        silent = ("", "-") if column.endswith("signature") else ("",)
        values = distinct([row for row in rows if row.get(column, "") not in silent], column)
        if len(values) > 1:
            shown = ", ".join(map(label, values))
            raise UserError(f"the table has several values of {column} ({shown}): choose with --where")


def grouped(rows: Iterable[Cells], keys: Sequence[str]) -> dict[tuple[Value, ...], list[Cells]]:
    """The rows that agree in ``keys``, in the order of their first row; a column that a row lacks is empty."""
    groups: dict[tuple[Value, ...], list[Cells]] = {}
    for row in rows:
        groups.setdefault(tuple(as_value(row.get(key, "")) for key in keys), []).append(row)
    return groups


def one_test_set(rows: Sequence[Cells], by: Sequence[str] = (), models_by: Sequence[str] | None = None) -> None:
    """Refuse rows of several test sets, whose numbers must not be averaged nor stand side by side.

    Tables of version 0.1.0 do not say all of it: a warning says what cannot be checked.

    Args:
        rows: what a table or figure shows.
        by: columns that it shows: rows need to agree where these do.
        models_by: the same for the model; None where models are told apart.

    Raises:
        UserError: names the column, its values and the option that chooses.
    """
    for group in grouped(rows, by).values():
        refuse_mixture(group, [column for column in TEST_SET if column not in by])
    for group in [] if models_by is None else grouped(rows, models_by).values():
        refuse_mixture(group, ("model",))
    wanted = TEST_SET if models_by is None else (*TEST_SET, "model")
    silent = [column for column in wanted if any(row.get(column, "") in ("", "-") for row in rows)]
    if silent:
        logger.warning(
            "rows do not say their %s, as in tables of version 0.1.0: that none are mixed that should not be cannot be "
            "checked",
            ", ".join(silent),
        )


def means(
    rows: Sequence[Cells], keys: Sequence[str], column: str = "score", same: Sequence[str] = ()
) -> dict[tuple[Value, ...], Mean]:
    """The mean of ``column`` over the rows (seeds, mostly) that agree in ``keys``, in the order of their first row.

    Raises:
        UserError: a cell is no number, or rows that agree in ``keys`` differ in one of the columns ``same``, or have
            several values of one seed. (The same value twice, as of a cell that two tables have, counts once.)
    """
    found = {}
    for key, group in grouped(rows, keys).items():
        refuse_mixture(group, same)
        by_seed, others = _measured(group, column)
        numbers = [*by_seed.values(), *others]
        found[key] = Mean(mean_of(numbers), min(numbers), max(numbers), len(numbers), by_seed)
    seeds = (sorted(mean.by_seed, key=str) for mean in found.values() if mean.by_seed)
    kinds = dict.fromkeys(", ".join(map(label, some)) for some in seeds)
    if len(kinds) > 1:
        logger.warning("some means are over other seeds than others: %s", "; ".join(kinds))
    return found


def mean_of(values: Sequence[float]) -> float:
    """Their mean."""
    return float(np.mean(values))


def combined(linear: Callable[[Sequence[float]], float], parts: Sequence[Mean]) -> Mean:
    """A linear function, such as a difference, of means: seed by seed where all of them have the same seeds."""
    mean, seeds = linear([part.mean for part in parts]), parts[0].by_seed
    paired = all(part.by_seed.keys() == seeds.keys() and part.count == len(seeds) for part in parts)
    by_seed = {seed: linear([part.by_seed[seed] for part in parts]) for seed in seeds} if paired else {}
    values = list(by_seed.values()) or [mean]
    return Mean(mean, min(values), max(values), len(values), by_seed)


def _measured(rows: Sequence[Cells], column: str) -> tuple[dict[Value, float], list[float]]:
    """The numbers in ``column`` of which a mean is to be taken: those of each seed, and those that say no seed.

    Raises:
        UserError: two numbers are of one seed, so that they are no repeated measurement.
    """
    by_seed: dict[Value, float] = {}
    others = []
    for row in rows:
        value = number(row, column)
        if row.get("seed", "") in ("", "-"):
            others.append(value)
        elif by_seed.setdefault(as_value(row["seed"]), value) != value:
            raise UserError(
                f"the table has several values of {column} for seed {row['seed']}, in rows that differ in no column "
                "that is known: choose with --where, or give the tables of one measurement"
            )
    return by_seed, others


def averaged_over_seeds(rows: Sequence[Cells], columns: Sequence[str]) -> list[Cells]:
    """One row for each measurement, the numbers in ``columns`` averaged over the values of the column ``seed``.

    Rows that agree in all of :data:`IDENTITY` and in the seed are measurements of their own.

    Raises:
        UserError: a cell of ``columns`` is no number.
    """
    keys = [name for name in IDENTITY if name not in columns]
    seen: dict[tuple[str, ...], int] = {}
    groups: dict[tuple[str, ...], list[Cells]] = {}
    for row in rows:
        identity = tuple(row.get(name, "") for name in keys)
        with_seed = (*identity, row.get("seed", ""))
        seen[with_seed] = seen.get(with_seed, 0) + 1
        groups.setdefault((*identity, str(seen[with_seed])), []).append(row)
    return [
        {**group[0], **{name: repr(mean_of([number(row, name) for row in group])) for name in columns}}
        for group in groups.values()
    ]


def distinct(rows: Sequence[Cells], column: str) -> list[Value]:
    """The different values of a column: numbers in ascending order, then texts in the order of their first row."""
    values = list(dict.fromkeys(as_value(row[column]) for row in rows))
    numbers, texts = [v for v in values if isinstance(v, float)], [v for v in values if isinstance(v, str)]
    return [*sorted(numbers), *texts]


def label(value: Value) -> str:
    """A value as figures and tables show it: 0.5, 10, en-de."""
    return f"{value:g}" if isinstance(value, float) else value


def decoding_of(row: Cells, temperature: float) -> str:
    """Which column of the paper's tables a row belongs to: ``beam``, ``mbr``, ``dcmbr``, or ``""`` for none.

    Args:
        row: with the column ``decoding`` (as the option), and ``temp_hyp`` and ``temp_ref`` where they were set.
        temperature: the T_h = T_r that stands for DC-MBR; rows at other temperatures belong to no column.
    """
    decoding = row["decoding"]
    if decoding not in ("mbr", "dcmbr"):
        return decoding if decoding == "beam" else ""
    temperatures = {
        as_value(row[column]) for column in ("temp_hyp", "temp_ref") if row.get(column, "-") not in ("", "-")
    }
    if temperatures == {1.0} or (decoding == "mbr" and not temperatures):
        return "mbr"
    return "dcmbr" if not temperatures or temperatures == {temperature} else ""
