"""What a table or figure says it is: test set, models, N, T, seeds, utility, metric, with signatures."""

from collections.abc import Sequence

from dcmbr_fairseq.present.results import (
    TEST_SET,
    Cells,
    as_value,
    distinct,
    grouped,
    label,
    test_set_in_words,
)

#: What points and bars are where seeds are averaged.
BARS = "points are means over seeds, bars reach from the least to the greatest seed"
#: The same for cells, alone and with ``--spread``.
CELLS = "cells are means over seeds"
CELLS_WITH_SPREAD = f"{CELLS}, in brackets the least and the greatest seed, of the difference too"


def describe(rows: Sequence[Cells]) -> list[str]:
    """Lines that say of what measurements rows are, as far as their columns say it.

    Args:
        rows: those that are shown.
    """
    lines = [_test_sets(rows), _models(rows), _pools(rows), _seeds(rows)]
    lines += [
        _judge(rows, "utility", "utility_signature", "decided by"),
        _judge(rows, "metric", "signature", "judged by"),
    ]
    return [line for line in lines if line]


def _values(rows: Sequence[Cells], column: str) -> list[str]:
    """The distinct values of a column as shown; dashes and empty cells are none."""
    chosen = [row for row in rows if row.get(column, "") not in ("", "-")]
    return [label(value) for value in distinct(chosen, column)]


def _test_sets(rows: Sequence[Cells]) -> str:
    found = [test_set_in_words(*map(label, values)) for values in grouped(rows, TEST_SET)]
    return f"test set: {'; '.join(dict.fromkeys(filter(None, found)))}" if any(found) else ""


def _models(rows: Sequence[Cells]) -> str:
    names = _values(rows, "model")
    return f"{'model' if len(names) == 1 else 'models'}: {', '.join(names)}" if names else ""


def _pools(rows: Sequence[Cells]) -> str:
    """Pool sizes, temperatures, kinds of draws; T_r and the size of the reference pool only where they differ."""
    parts = []
    for symbol, first, second in (("N", "num_hyp", "num_ref"), ("T", "temp_hyp", "temp_ref")):
        ours, theirs = _values(rows, first), _values(rows, second)
        same = all(as_value(row.get(second, "")) in ("", "-", as_value(row.get(first, ""))) for row in rows)
        if ours:
            parts.append(f"{symbol if same else f'{symbol}_h'} = {', '.join(ours)}")
        if ours and not same:
            parts.append(f"{symbol}_r = {', '.join(theirs)}")
    temperatures, kinds, draws = (_values(rows, name) for name in ("temperature", "ref_pool", "draws"))
    parts += [f"pools at T = {', '.join(temperatures)}"] if temperatures else []
    parts += [f"reference pools: {', '.join(kinds)}"] if kinds else []
    parts += [f"draws: {', '.join(draws)}"] if draws else []
    return "; ".join(parts)


def _seeds(rows: Sequence[Cells]) -> str:
    seeds = _values(rows, "seed")
    return f"{'seed' if len(seeds) == 1 else 'seeds'}: {', '.join(seeds)}" if seeds else ""


def _judge(rows: Sequence[Cells], column: str, signature: str, what: str) -> str:
    """Who decided or judged: the signature, which begins with the name, or else the name."""
    found = _values(rows, signature) or _values(rows, column)
    return f"{what}: {'; '.join(found)}" if found else ""
