"""scripts/train.sh: how far a training came is recorded, and what is missing is trained."""

from pathlib import Path

import pytest
from pipeline_scripts import TINY, lib, script
from toy_world import Toy

WORDS = [*TINY, "model.share_all_embeddings=false", "dataset.max_valid_steps=1"]


@pytest.fixture
def train(toy: Toy, tmp_path: Path):
    """``train(KEY=VALUE...)``: scripts/train.sh on the toy data; what it prints for people, and its exit status."""

    def run(*given: str, **variables: object) -> tuple[int, str]:
        words = ("multi30k/small", toy.data_bin, tmp_path / "run", *WORDS, *given)
        done = script("train.sh", *words, check=False, **variables)
        return done.returncode, done.stderr

    return run


def finished(folder: Path) -> dict[str, int]:
    lines = (folder / "run/finished").read_text().splitlines()
    return {name: int(number) for name, number in (line.split() for line in lines)}


def test_a_training_goes_on_until_it_has_what_was_asked_for(train, tmp_path: Path) -> None:
    status, said = train("optimization.stop_time_hours=0.0000001")
    assert status == 75 and "stop_time_hours ended it after" in said and "of 4 updates" in said
    assert not (tmp_path / "run/finished").exists()
    averaging = "AVERAGE=1; average_run run mean.pt"
    early = lib(averaging, tmp_path)
    assert early.returncode == 1 and "the training in run has not come to its end: run train.sh again" in early.stderr

    status, said = train()
    assert status == 0 and "4 updates" in said
    assert finished(tmp_path) == {"updates": 4, "max_update": 4, "max_epoch": 0}
    assert lib(averaging, tmp_path).returncode == 0
    status, said = train()
    assert status == 0 and "training: done already" in said

    status, said = train("optimization.max_update=6")
    assert status == 0 and "goes on, 6 updates are asked for" in said
    assert finished(tmp_path) == {"updates": 6, "max_update": 6, "max_epoch": 0}
    late = lib(averaging, tmp_path)
    assert late.returncode == 1 and "mean.pt was made otherwise: updates=6 (was 4);" in late.stderr

    kept = (tmp_path / "run/checkpoint_last.pt").read_bytes()
    status, said = train("optimization.lr=[0.5]", "optimization.max_update=6")
    assert status == 1 and "was begun otherwise: --lr=0.5 (was 0.003);" in said
    status, said = train("optimization.lr=[0.5]", "optimization.max_update=6", CHANGED="--lr")
    assert status == 0 and "training: done already" in said

    (tmp_path / "run/training.settings").unlink()  # as an earlier version left it
    (tmp_path / "run/finished").write_text("")
    status, said = train("optimization.max_update=6")
    assert status == 0 and "the log says 6" in said and "training: done already" in said
    assert "has no record of the settings it was trained with" in said
    assert (tmp_path / "run/checkpoint_last.pt").read_bytes() == kept
