"""The device that a neural utility runs on."""

from typing import TYPE_CHECKING

from dcmbr_fairseq.errors import UserError

if TYPE_CHECKING:
    import torch


def find_device(name: str) -> "torch.device":
    """The torch device called ``name``; ``auto`` is CUDA where there is one, else the CPU.

    Raises:
        UserError: there is no such device.
    """
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise UserError(f"--utility-args: device must be auto, cpu, cuda or cuda:N, got {name!r}") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise UserError(f"--utility-args: device {name} is not here ({count} CUDA devices): use auto or cpu")
    return device
