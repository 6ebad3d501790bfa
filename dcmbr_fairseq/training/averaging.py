"""The mean of the parameters of a run's last checkpoints (fairseq's wheel does not ship its script).

As in Vaswani et al. 2017, which average the last 5 checkpoints of a base model. The result is an ordinary checkpoint
without optimiser state: for decoding, or for ``--finetune-from-model``.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError, shown
from dcmbr_fairseq.files.writing import atomic_bytes_writer
from dcmbr_fairseq.numeric import whole_number

BY_UPDATE = re.compile(r"checkpoint_\d+_(\d+)\.pt")  # checkpoint_EPOCH_UPDATE.pt, from --save-interval-updates
LAST = "checkpoint_last.pt"  # what a run without numbered checkpoints leaves
BY_EPOCH = re.compile(r"checkpoint(\d+)\.pt")

#: Settings that may change while a run goes on, or that say nothing of the model: where and how long it runs, on what
#: machines, what it logs and keeps. All others are compared before checkpoints are averaged.
MAY_CHANGE = re.compile(
    r"_name|data|.*_dir|.*_?path|.*suffix|max_update|max_epoch|stop_time_hours|stop_min_lr|total_num_update|patience|"
    r"log_.*|.*_?num_workers.*|cpu|tpu|bf16|fp16.*|.*_fp16|amp.*|.*loss_scale.*|empty_cache_freq|profile|device_id|"
    r"distributed_.*|ddp_.*|local_rank|nprocs_per_node|pipeline_.*|zero_sharding|num_shards|shard_id|bucket_cap_mb|"
    r"find_unused_parameters|fast_stat_sync|heartbeat_timeout|broadcast_buffers|slowmo_.*|localsgd_.*|"
    r"save_.*|keep_.*|no_.*save.*|no_.*checkpoints|no_progress_bar|write_checkpoints_.*|restore_file|finetune_from_model|"
    r"reset_.*|load_.*|validate_.*|.*_valid|.*valid_.*|valid_subset|.*_?gen_.*|max_tokens|batch_size|max_sentences|"
    r"update_freq|required_batch_size_multiple|tensorboard_.*|wandb_.*|aim_.*|azureml_.*|suppress_crashes|plasma_.*|"
    r"use_plasma_view|eval_.*|best_checkpoint_metric|maximize_best_checkpoint_metric|post_process|results_path|quiet"
)


def last_checkpoints(folder: Path, count: int) -> list[Path]:
    """The last ``count`` checkpoints of a run, oldest first; if one is wanted and none is numbered, the very last.

    Raises:
        UserError: ``count`` is no number of checkpoints, or there are fewer checkpoints than that.
    """
    whole_number("--last", count)
    names = os.listdir(folder) if folder.is_dir() else []
    for pattern in (BY_UPDATE, BY_EPOCH):
        numbered = [(int(match[1]), folder / match[0]) for match in map(pattern.fullmatch, names) if match]
        if numbered:
            break
    if not numbered and count == 1 and LAST in names:
        return [folder / LAST]
    if len(numbered) < count:
        remedy = "give a smaller number" if numbered else f"--last 1 takes {LAST}" if LAST in names else "train first"
        raise UserError(f"--last {count}: {folder} has {len(numbered)} numbered checkpoints; {remedy}")
    return [path for _, path in sorted(numbered)[-count:]]


def average(paths: Sequence[Path], mix_settings: bool = False) -> dict[str, Any]:
    """The last checkpoint with the mean of all parameters; one file is in memory beside the sum.

    Floating-point parameters are added in float64 and keep their type; the few others come from the last file.

    Args:
        paths: checkpoints of one run, in its order.
        mix_settings: allow checkpoints that were trained differently.

    Raises:
        UserError: a file is not a checkpoint, has other parameters than the first, or was trained with other settings.
    """
    import torch

    total: dict[str, torch.Tensor] = {}
    first: dict[str, str] = {}
    for path in paths:
        state = load(path)
        first = first or training_settings(state)
        if not mix_settings:
            refuse_other_settings(paths[0], first, path, training_settings(state))
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


def training_settings(state: Mapping[str, Any]) -> dict[str, str]:
    """The settings in a checkpoint on which its parameters depend: key -> value, as text. Older ones hold ``args``."""
    config = state.get("cfg") or {"args": state.get("args")}
    found: dict[str, str] = {}
    for section in dict(config).values():
        values = section if isinstance(section, Mapping) else getattr(section, "__dict__", {})
        found.update({str(key): str(value) for key, value in values.items() if not MAY_CHANGE.fullmatch(str(key))})
    return found


def refuse_other_settings(first: Path, before: Mapping[str, str], path: Path, now: Mapping[str, str]) -> None:
    """Refuse two checkpoints that are not of one run; a setting that one of them does not know says nothing.

    Raises:
        UserError: names the settings in which they differ.
    """
    differing = [key for key in before if key in now and now[key] != before[key]]
    if differing:
        shown = ", ".join(f"{key} {before[key]} and {now[key]}" for key in differing[:4])
        raise UserError(
            f"{first} and {path} were trained with other settings ({shown}): average checkpoints of one run, "
            "or say that you mean it with --mix-settings"
        )


def load(path: Path) -> dict[str, Any]:
    """A checkpoint on the CPU.

    Raises:
        UserError: the file is missing or is no fairseq checkpoint.
    """
    import torch
    from fairseq import checkpoint_utils  # noqa: F401  (its import makes our repairs: what a checkpoint may hold)

    if not path.is_file():
        raise UserError(f"{path} is not a file: give checkpoints that exist")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception as error:  # a damaged archive ends in whatever its reader has stumbled over
        raise UserError(f"{path} is not a checkpoint that can be read: {shown(str(error))}") from error
    model = state.get("model") if isinstance(state, dict) else None
    if not isinstance(model, dict) or not all(isinstance(value, torch.Tensor) for value in model.values()):
        raise UserError(f"{path} is not a fairseq checkpoint: it has no model in it")
    return state


def save(state: dict[str, Any], output: Path) -> None:
    """Write a checkpoint whole or not at all."""
    import torch

    with atomic_bytes_writer(output) as out:
        torch.save(state, out)
