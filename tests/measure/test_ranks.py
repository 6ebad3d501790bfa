"""``dcmbr ranks``: ranks of reference tokens against plain sorting, buckets, the command and its figure."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from analyses import read_tsv, toy_flags
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.measure.ranks import in_buckets, rank_counts, reference_ranks
from dcmbr_fairseq.sampling.support import Support

EOS, PAD = 2, 1


@given(st.integers(0, 10**6), st.integers(0, 2))
def test_ranks_are_positions_in_the_sorted_support(seed: int, min_len: int) -> None:
    dice = np.random.default_rng(seed)
    log_probs = torch.from_numpy(dice.normal(size=(2, 3, 8)))
    target = torch.from_numpy(dice.choice([0, 3, 4, 5, 6, 7], size=(2, 3)))
    found = reference_ranks(log_probs.clone(), target, Support(EOS, (PAD,), min_len))
    for b in range(2):
        for t in range(3):
            allowed = [v for v in range(8) if v != PAD and not (v == EOS and t < min_len)]
            ordered = sorted(allowed, key=lambda v: -float(log_probs[b, t, v]))
            assert ordered[found[b, t]] == target[b, t]


def test_equally_probable_tokens_do_not_count_against_the_reference() -> None:
    log_probs = torch.zeros(1, 1, 6)
    assert reference_ranks(log_probs, torch.tensor([[4]]), Support(EOS, (PAD,))).tolist() == [[0]]


def test_buckets() -> None:
    counts = np.arange(60)
    rows = in_buckets(counts)
    assert [row["bucket"] for row in rows] == [*(f"{s}-{s + 5}" for s in range(0, 45, 5)), "45-|V|"]
    assert rows[0]["count"] == 0 + 1 + 2 + 3 + 4 and rows[-1]["count"] == sum(range(45, 60))
    assert sum(row["count"] for row in rows) == counts.sum()
    assert sum(row["share"] for row in rows) == pytest.approx(1)


@pytest.mark.parametrize(
    "width, last, message",
    [
        (0, 45, "--bucket must be a whole number from 1 to 1000000, got 0"),
        (5, 0, "--last must be a whole number from 1 to 1000000, got 0"),
        (5, 44, "--last 44 must be a multiple of --bucket 5"),
        (10, 5, "--last 5 must be a multiple of --bucket 10"),
    ],
)
def test_bad_buckets(width: int, last: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        in_buckets(np.arange(60), width, last)


def test_counts_of_a_model(toy: Any) -> None:
    """Every reference token is counted once, at the rank that a sentence alone gives it."""
    workspace = Workspace(toy_flags(toy, "valid"))
    model = workspace.load(str(toy.checkpoint))
    expected = np.zeros(len(workspace.task.target_dictionary), dtype=int)
    dataset = workspace.task.dataset("valid")
    for i in range(len(dataset)):
        sample = dataset.collater([dataset[i]])
        with torch.no_grad():
            scores = model.members[0](**sample["net_input"])[0][0]  # (T, V)
        for t, token in enumerate(sample["target"][0].tolist()):
            others = [v for v in range(len(expected)) if v != PAD and not (v == EOS and t == 0)]
            expected[sum(bool(scores[t, v] > scores[t, token]) for v in others)] += 1
    counts = rank_counts(workspace, model)
    assert counts.sum() == expected.sum()
    assert np.abs(counts - expected).sum() <= 2  # rounding may swap near-ties


def test_the_command_makes_the_table_of_figure_2(toy: Any, tmp_path: Path) -> None:
    table = tmp_path / "ranks.tsv"
    arguments = ["--path", str(toy.checkpoint), "--path", str(toy.other), "--bucket", "2", "--last", "6"]
    assert main(["ranks", *toy_flags(toy, "valid"), *arguments, "--output", str(table)]) == 0
    rows = read_tsv(table)
    assert [row["bucket"] for row in rows] == ["0-2", "2-4", "4-6", "6-|V|"] * 2
    assert {row["model"] for row in rows} == {"model", "earlier"}
    pytest.importorskip("matplotlib")
    assert main(["plot", "2", str(table), "--output", str(tmp_path / "figure2"), "--where", "model=model"]) == 0
    assert (tmp_path / "figure2.png").stat().st_size > 1000
