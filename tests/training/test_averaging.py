"""dcmbr average: the mean of checkpoints, against the mean computed by hand, and its refusals."""

import os
import random
import resource
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq_commands import generated, run_fairseq
from toy_world import Toy

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.training.averaging import average, last_checkpoints


def write(path: Path, cfg: dict[str, Any] | None = None, **parameters: torch.Tensor) -> Path:
    """A checkpoint with these parameters, an optimiser's state, and something that tells which one it is."""
    state = {"model": parameters, "last_optimizer_state": {"step": 3}, "extra_state": {"name": path.name}, "cfg": cfg}
    torch.save(state, path)
    return path


def read(path: Path) -> dict[str, Any]:
    return torch.load(path, weights_only=True)


def test_the_mean_of_three(tmp_path: Path) -> None:
    draws = torch.randn(3, 5, generator=torch.Generator().manual_seed(1))
    paths = [write(tmp_path / f"{i}.pt", w=draws[i], version=torch.tensor([i])) for i in range(3)]
    out = tmp_path / "new" / "mean.pt"
    assert main(["average", *map(str, paths), "--output", str(out)]) == 0
    state = read(out)
    torch.testing.assert_close(state["model"]["w"], draws.double().mean(0).float(), rtol=0, atol=0)
    assert state["model"]["version"].item() == 2  # no mean of numbers that are no weights: the last one's
    assert state["last_optimizer_state"] is None
    assert state["extra_state"]["name"] == "2.pt"
    assert [path.name for path in out.parent.iterdir()] == ["mean.pt"]


def test_the_same_checkpoints_give_the_same_bytes_in_a_file_and_in_a_pipe(tmp_path: Path) -> None:
    one = write(tmp_path / "one.pt", w=torch.randn(100))
    outputs = [tmp_path / "a.pt", tmp_path / "b.pt", tmp_path / "pipe"]
    os.mkfifo(outputs[-1])  # not a file that could be lost
    reading = os.open(outputs[-1], os.O_RDONLY | os.O_NONBLOCK)
    for output in outputs:
        assert main(["average", str(one), "--output", str(output)]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes() == os.read(reading, 1 << 16)
    assert outputs[-1].is_fifo()
    os.close(reading)


def test_a_full_disk_keeps_what_was_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, out = write(tmp_path / "one.pt", w=torch.randn(100_000)), tmp_path / "out.pt"
    out.write_text("before")
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        assert main(["average", str(one), "--output", str(out), "--force"]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert f"error: the disk is full: {out} could not be written" in capsys.readouterr().err
    assert out.read_text() == "before" and sorted(os.listdir(tmp_path)) == ["one.pt", "out.pt"]


def test_half_precision_is_added_in_double(tmp_path: Path) -> None:
    """1 + 3 * 2^-12 is lost at every step if the sum itself is half precision."""
    values = [torch.tensor([1.0], dtype=torch.float16)] + [torch.tensor([2.0**-10], dtype=torch.float16)] * 3
    paths = [write(tmp_path / f"{i}.pt", w=value) for i, value in enumerate(values)]
    mean = average(paths)["model"]["w"]
    assert mean.dtype == torch.float16
    assert mean.item() == pytest.approx((1 + 3 * 2.0**-10) / 4, abs=2.0**-13)


def test_the_average_of_a_model_with_itself_translates_alike(toy: Toy, tmp_path: Path) -> None:
    out = tmp_path / "mean.pt"
    assert main(["average", str(toy.checkpoint), str(toy.checkpoint), "--output", str(out)]) == 0
    both = [run_fairseq("generate", toy.data_bin, "--path", path, "--beam", 2).stdout for path in (toy.checkpoint, out)]
    assert generated(both[0], "H") == generated(both[1], "H")


def test_last_checkpoints_by_update_before_epoch(tmp_path: Path) -> None:
    for name in ("checkpoint9.pt", "checkpoint10.pt", "checkpoint11.pt", "checkpoint_last.pt", "checkpoint_best.pt"):
        (tmp_path / name).touch()
    assert [path.name for path in last_checkpoints(tmp_path, 2)] == ["checkpoint10.pt", "checkpoint11.pt"]
    for name in ("checkpoint_1_900.pt", "checkpoint_2_1000.pt", "checkpoint_3_1100.pt"):
        (tmp_path / name).touch()
    assert [path.name for path in last_checkpoints(tmp_path, 2)] == ["checkpoint_2_1000.pt", "checkpoint_3_1100.pt"]
    with pytest.raises(UserError, match="--last 4: .* has 3 numbered checkpoints"):
        last_checkpoints(tmp_path, 4)
    with pytest.raises(UserError, match="--last must be a whole number from 1 to 10000000, got 0"):
        last_checkpoints(tmp_path, 0)
    with pytest.raises(UserError, match="has 0 numbered checkpoints; train first"):
        last_checkpoints(tmp_path / "absent", 1)


def test_a_short_run_has_a_last_checkpoint_too(tmp_path: Path) -> None:
    (tmp_path / "checkpoint_last.pt").touch()
    assert last_checkpoints(tmp_path, 1) == [tmp_path / "checkpoint_last.pt"]
    with pytest.raises(UserError, match="--last 2: .* has 0 numbered checkpoints; --last 1 takes checkpoint_last.pt"):
        last_checkpoints(tmp_path, 2)


def test_real_checkpoints_give_the_same_bytes_in_any_process(toy: Toy, tmp_path: Path) -> None:
    """Whatever order Python's hashes have."""
    for name in ("1", "2"):
        line = [sys.executable, "-P", "-m", "dcmbr_fairseq.cli", "average", toy.checkpoint, toy.checkpoint, "--output"]
        subprocess.run([*line, tmp_path / name], env={**os.environ, "PYTHONHASHSEED": name}, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_an_output_that_exists_is_replaced_only_by_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, out = write(tmp_path / "one.pt", w=torch.ones(2)), tmp_path / "out.pt"
    out.write_text("hours of training")
    assert main(["average", str(one), "--output", str(out)]) == 1
    assert f"--output {out} exists already: give another name, or replace it with --force" in capsys.readouterr().err
    assert out.read_text() == "hours of training"
    assert main(["average", str(one), "--output", str(out), "--force"]) == 0
    assert read(out)["model"]["w"].tolist() == [1, 1]


SMOOTHING = {"criterion": {"_name": "label_smoothed_cross_entropy", "label_smoothing": 0.1}, "common": {"seed": 1}}
OTHER_RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "smoothing": ({"criterion": {"label_smoothing": 0.2}}, "label_smoothing 0.1 and 0.2"),
    "seed": ({"common": {"seed": 2}}, "seed 1 and 2"),
    "older": ({"args": Namespace(seed=3, save_dir="x")}, "seed 1 and 3"),
}


@pytest.mark.parametrize("case", OTHER_RUNS)
def test_other_runs_are_not_mixed_in_silence(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, says = OTHER_RUNS[case]
    paths = [
        write(tmp_path / "1.pt", SMOOTHING, w=torch.ones(2)),
        write(tmp_path / "2.pt", {**SMOOTHING, **other}, w=torch.zeros(2)),
    ]
    line = ["average", *map(str, paths), "--output", str(tmp_path / "out.pt")]
    assert main(line) == 1
    assert f"{paths[0]} and {paths[1]} were trained with other settings ({says})" in capsys.readouterr().err
    assert main([*line, "--mix-settings"]) == 0
    assert read(tmp_path / "out.pt")["model"]["w"].tolist() == [0.5, 0.5]


def test_a_run_that_went_on_elsewhere_is_one_run(tmp_path: Path) -> None:
    """Longer, on other machines, under another name, with data in another place."""
    later = {
        **SMOOTHING, "optimization": {"max_update": 9, "update_freq": [4]}, "checkpoint": {"save_dir": "b"},
        "distributed_training": {"distributed_world_size": 2}, "task": {"data": "elsewhere"},
        "dataset": {"max_tokens": 100, "num_workers": 0},
    }  # fmt: skip
    before = {
        **SMOOTHING, "optimization": {"max_update": 3, "update_freq": [1]}, "checkpoint": {"save_dir": "a"},
        "distributed_training": {"distributed_world_size": 8}, "task": {"data": "here"},
        "dataset": {"max_tokens": 400, "num_workers": 1},
    }  # fmt: skip
    paths = [write(tmp_path / f"{i}.pt", cfg, w=torch.ones(1)) for i, cfg in enumerate((before, later))]
    assert average(paths)["model"]["w"].tolist() == [1]


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = write(tmp_path / "one.pt", w=torch.zeros(2))
    other = write(tmp_path / "other.pt", w=torch.zeros(3))
    text = tmp_path / "text.pt"
    text.write_text("not a checkpoint")
    torch.save([1, 2], tmp_path / "list.pt")
    out = tmp_path / "out.pt"
    for arguments, says in (
        ([one, other], "has other parameters than"),
        ([one, text], "text.pt is not a checkpoint that can be read"),
        ([tmp_path / "list.pt"], "it has no model in it"),
        ([tmp_path / "absent.pt"], "absent.pt is not a file"),
        ([one, other, "--last", "2"], "--last 2 needs one folder, got 2 paths"),
    ):
        assert main(["average", *map(str, arguments), "--output", str(out)]) == 1
        assert says in capsys.readouterr().err
        assert not out.exists()


def test_damaged_checkpoints_are_refused_wherever_the_damage_is(tmp_path: Path) -> None:
    """Cut off, or a byte turned, anywhere: a sentence, or the very numbers, but no fault of the reader."""
    whole = write(tmp_path / "whole.pt", w=torch.arange(64.0), b=torch.ones(3, dtype=torch.float16)).read_bytes()
    dice = random.Random(1)
    path = tmp_path / "damaged.pt"
    refused = 0
    for trial in range(150):
        place = dice.randrange(len(whole))
        turned = bytes([whole[place] ^ dice.randrange(1, 256)])
        path.write_bytes(whole[:place] if trial % 3 == 0 else whole[:place] + turned + whole[place + 1 :])
        try:
            average([path])
        except UserError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > 50


@pytest.mark.parametrize("state", [[1], {"model": [1]}, {"model": {"w": 3}}, {"model": None}, {}])
def test_files_of_something_else_are_refused(tmp_path: Path, state: Any) -> None:
    torch.save(state, tmp_path / "other.pt")
    with pytest.raises(UserError, match="is not a fairseq checkpoint: it has no model in it"):
        average([tmp_path / "other.pt"])
