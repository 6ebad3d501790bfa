"""The mean of the parameters of a run's last checkpoints (fairseq's wheel does not ship its script).

As in Vaswani et al. 2017, which average the last 5 checkpoints of a base model. The result is an ordinary checkpoint
without optimiser state: for decoding, or for ``--finetune-from-model``.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import atomic_bytes_writer

BY_UPDATE = re.compile(r"checkpoint_\d+_(\d+)\.pt")  # checkpoint_EPOCH_UPDATE.pt, from --save-interval-updates
BY_EPOCH = re.compile(r"checkpoint(\d+)\.pt")


def last_checkpoints(folder: Path, count: int) -> list[Path]:
    """The last ``count`` checkpoints of a run, oldest first.

    Raises:
        UserError: ``count`` < 1, or fewer checkpoints than that.
    """
    if count < 1:
        raise UserError(f"--last must be at least 1, got {count}")
    names = os.listdir(folder) if folder.is_dir() else []
    for pattern in (BY_UPDATE, BY_EPOCH):
        numbered = [(int(match[1]), folder / match[0]) for match in map(pattern.fullmatch, names) if match]
        if numbered:
            break
    if len(numbered) < count:
        raise UserError(f"--last {count}: {folder} has {len(numbered)} numbered checkpoints; give a smaller number")
    return [path for _, path in sorted(numbered)[-count:]]


def average(paths: Sequence[Path]) -> dict[str, Any]:
    """The last checkpoint with the mean of all parameters; one file is in memory beside the sum.

    Floating-point parameters are added in float64 and keep their type; the few others come from the last file.

    Raises:
        UserError: a file is not a checkpoint, or has other parameters than the first.
    """
    import torch

    total: dict[str, torch.Tensor] = {}
    for path in paths:
        state = load(path)
        model: dict[str, torch.Tensor] = state["model"]
        if total and shapes(model) != shapes(total):
            raise UserError(f"{path} has other parameters than {paths[0]}: average checkpoints of one model only")
        for name, value in model.items():
            if not value.is_floating_point():
                total[name] = value
            else:
                total[name] = value.double() + total[name] if name in total else value.double()
    mean = {n: (total[n] / len(paths)).to(v.dtype) if v.is_floating_point() else v for n, v in model.items()}
    return {**state, "model": mean, "last_optimizer_state": None}


def shapes(model: dict[str, Any]) -> dict[str, Any]:
    """Parameter names with their shapes."""
    return {name: tuple(value.shape) for name, value in model.items()}


def load(path: Path) -> dict[str, Any]:
    """A checkpoint on the CPU.

    Raises:
        UserError: the file is missing or is no fairseq checkpoint.
    """
    import pickle

    import torch
    from fairseq import checkpoint_utils  # noqa: F401  (its import makes our repairs: what a checkpoint may hold)

    if not path.is_file():
        raise UserError(f"{path} is not a file: give checkpoints that exist")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, EOFError, RuntimeError) as error:
        raise UserError(f"{path} is not a checkpoint that can be read: {str(error).splitlines()[0]}") from error
    if not isinstance(state, dict) or not isinstance(state.get("model"), dict):
        raise UserError(f"{path} is not a fairseq checkpoint: it has no model in it")
    return state


def save(state: dict[str, Any], output: Path) -> None:
    """Write a checkpoint whole or not at all."""
    import torch

    with atomic_bytes_writer(output) as out:
        torch.save(state, out)
