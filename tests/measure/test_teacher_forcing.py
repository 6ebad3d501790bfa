"""Log-probabilities of the references: an ensemble's mean probabilities, each token once, and only with references."""

import shutil
from pathlib import Path

import pytest
import torch
from analyses import toy_flags
from toy_world import Toy

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.measure.teacher_forcing import forced_references, teacher_forced


def test_an_ensemble_is_the_mean_of_probabilities(toy: Toy) -> None:
    workspace = Workspace(toy_flags(toy))
    both = workspace.load(f"{toy.checkpoint}:{toy.other}")
    sample = next(workspace.batches(both, decode=False))
    with torch.no_grad():
        members = [m.get_normalized_probs(m(**sample["net_input"]), log_probs=False) for m in both.members]
    torch.testing.assert_close(teacher_forced(both, sample).exp(), (members[0] + members[1]) / 2)


def test_every_token_of_the_references_comes_once(toy: Toy) -> None:
    workspace = Workspace(toy_flags(toy), first=7)
    model = workspace.load(str(toy.checkpoint))
    dataset = workspace.task.dataset("test")
    expected = sorted(dataset[i]["target"].tolist() for i in range(7))
    found = []
    for log_probs, target, counted in forced_references(workspace, model, "anything"):
        torch.testing.assert_close(log_probs.exp().sum(dim=-1), torch.ones(target.shape))
        found += [row[real].tolist() for row, real in zip(target, counted, strict=True)]
    assert sorted(found) == expected


@pytest.mark.parametrize("command", ["entropy", "ranks"])
def test_data_without_references_are_refused(
    command: str, toy: Toy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = shutil.copytree(toy.data_bin, tmp_path / "data-bin")
    for path in data.glob("test.en-de.de.*"):
        path.unlink()
    flags = [str(data), *toy_flags(toy)[1:], "--path", str(toy.checkpoint), "--output", str(tmp_path / "table.tsv")]
    assert main([command, *flags]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert "references are needed, give a split with a target side" in error and not (tmp_path / "table.tsv").exists()
