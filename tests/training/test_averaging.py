"""dcmbr average: the mean of checkpoints, against the mean computed by hand, and its refusals."""

import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq_commands import generated, run_fairseq
from toy_world import Toy

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.training.averaging import average, last_checkpoints


def write(path: Path, **parameters: torch.Tensor) -> Path:
    """A checkpoint with these parameters, an optimiser's state, and something that tells which one it is."""
    torch.save({"model": parameters, "last_optimizer_state": {"step": 3}, "extra_state": {"name": path.name}}, path)
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
    os.mkfifo(outputs[-1])
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
        assert main(["average", str(one), "--output", str(out)]) == 1
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
    with pytest.raises(UserError, match="--last must be at least 1, got 0"):
        last_checkpoints(tmp_path, 0)
    with pytest.raises(UserError, match="has 0 numbered checkpoints"):
        last_checkpoints(tmp_path / "absent", 1)


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
