"""The bench of draws: variants draw from the model's distribution, rows are counted as forwarded, reports compare."""

import itertools
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fairseq_commands import REPOSITORY
from toy_model import drawn, exact_distribution, sample_toy, toy_transformer

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import draw_report
import draws
from draw_variants import VARIANTS, in_place

from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.sampling import prefix_sampler
from dcmbr_fairseq.sampling.randomness import sentence_key

SOURCE = [5, 4, 2]


@pytest.mark.parametrize("name", list(VARIANTS))
def test_every_draw_of_every_variant_is_an_exact_sample(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, numbers = toy_transformer(words=2), itertools.count(7)
    monkeypatch.setattr(
        prefix_sampler, "sentence_key", lambda seed, source, stream: sentence_key(next(numbers), source, stream)
    )
    with in_place(VARIANTS[name], model):
        pools = sample_toy([model], [SOURCE] * 700, [PoolSpec(3, 0.7, 0)], draws=VARIANTS[name].draws, max_rows=2100)
    expected = exact_distribution([model], SOURCE, 2, 3, 0.7)
    for number in range(3):
        found = Counter(drawn(pool)[number] for (pool,) in pools.pools)
        for target, p in expected.items():
            assert abs(found[target] / 700 - p) < 4.5 * np.sqrt(p * (1 - p) / 700) + 1e-3


@pytest.mark.parametrize("name", [name for name, variant in VARIANTS.items() if variant.draws == "arithmetic"])
def test_codes_are_in_the_interval_and_keyed(name: str) -> None:
    codes = VARIANTS[name].codes or prefix_sampler.arithmetic_codes
    keys = [sentence_key(1, [4], 0), sentence_key(2, [4], 0)]
    found = codes(keys, 50, 0)
    assert found.shape == (2, 50) and ((found >= 0) & (found < 1)).all() and not np.array_equal(*found)
    if VARIANTS[name].prefixes:
        np.testing.assert_array_equal(codes(keys, 10, 0), found[:, :10])
        np.testing.assert_array_equal(codes(keys, 40, 10), found[:, 10:])


@pytest.mark.parametrize("size", [1, 9, 40])
def test_rows_are_counted_as_the_sampler_forwards_them(size: int) -> None:
    model = toy_transformer(words=6, seed=3)
    (((pool,),), rows, _) = sample_toy([model], [SOURCE], [PoolSpec(size, 0.7, 0)], max_len=6, draws="arithmetic")
    assert draws.forwarded_rows(pool)[size] == rows
    (((whole,),), _, _) = sample_toy([model], [SOURCE], [PoolSpec(40, 0.7, 0)], max_len=6, draws="arithmetic")
    assert draws.forwarded_rows(whole)[size] == rows


def journal(path: Path, kinds: dict[str, np.ndarray]) -> Path:
    """A journal of one cell of each kind: (seeds, sentences) contributions."""
    lines = [json.dumps({"settings": {}})]
    for kind, parts in kinds.items():
        for seed, own in enumerate(parts):
            row: dict[str, Any] = {"task": "a-b", "subset": "test", "sentences": len(own), "model": "m"}
            row |= {"draws": kind, "temperature": 0.5, "seed": seed, "rule": "counts", "num_hyp": 50, "distinct": 9.0}
            row |= {"rows": 100.0, "metric": "chrF", "score": float(own.mean()), "contributions": own.tolist()}
            lines.append(json.dumps({"key": [kind, seed], "rows": [row]}))
    path.write_text("\n".join(lines) + '\n{"key": ["cut o')
    return path


def test_differences_are_paired_over_sentences_and_seeds(tmp_path: Path, capsys: Any) -> None:
    dice = np.random.default_rng(1)
    one = dice.normal(50, 10, (1, 30)) + dice.normal(0, 1, (4, 30))
    other = one + 0.3 + dice.normal(0, 0.5, (4, 30))
    path = journal(tmp_path / "run.partial", {"independent": one, "arithmetic": other})
    rows = draw_report.compared(draw_report.read_cells([path]))
    (row,) = [row for row in rows if row["draws"] == "arithmetic"]
    differences = (other - one).mean(axis=0)
    error = differences.std(ddof=1) / np.sqrt(30)
    assert row["difference"] == pytest.approx(differences.mean())
    ends = [differences.mean() + side * 1.96 * error for side in (-1, 1)]
    assert [row["low"], row["high"]] == pytest.approx(ends)
    assert row["seed_error"] == pytest.approx(other.mean(axis=1).std(ddof=1) / 2) and row["p"] < 0.05
    draw_report.report([path], tmp_path / "cells.tsv")
    assert "1 cells" in capsys.readouterr().out and len((tmp_path / "cells.tsv").read_text().splitlines()) == 3


def test_the_size_that_equals_50_independent_draws() -> None:
    scores = {"independent": {10: 1.0, 50: 3.0}, "arithmetic": {10: 2.0, 40: 4.0, 50: 4.1}}
    rows = [{"draws": k, "num_hyp": n, "score": s} for k, own in scores.items() for n, s in own.items()]
    assert draw_report.equal_size(rows) == pytest.approx(20)  # half way from 10 to 40 in log N
    worse = [{**row, "score": 0.0} if row["draws"] == "arithmetic" else row for row in rows]
    assert draw_report.equal_size(worse) is None
