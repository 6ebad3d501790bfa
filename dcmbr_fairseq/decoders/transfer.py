"""Between the host and the device: what a step needs goes over in one copy, and what it finds comes back in one.

Each copy has a cost of its own, and each copy to the host is a wait for all that the device has been asked for. On a
CPU nothing is copied at all.
"""

import numpy as np
import torch
from torch import Tensor


def on_device(device: torch.device, *arrays: np.ndarray) -> list[Tensor]:
    """Arrays as tensors of a device.

    The host does not wait: the copy is made from pinned memory, which a GPU fetches by itself.

    Args:
        device: where to.
        arrays: one-dimensional, int64 or float64.
    """
    if device.type == "cpu":
        return [torch.from_numpy(array) for array in arrays]
    whole = torch.from_numpy(np.concatenate([array.view(np.int64) for array in arrays]))  # bits are not changed
    if device.type == "cuda":
        whole = whole.pin_memory()
    parts = whole.to(device, non_blocking=True).split([len(array) for array in arrays])
    return [
        part.view(torch.float64) if array.dtype == np.float64 else part
        for part, array in zip(parts, arrays, strict=True)
    ]


def on_host(*tensors: Tensor) -> list[np.ndarray]:
    """One-dimensional tensors of one device as arrays, after one wait; whole numbers up to 2^53, else floats."""
    if tensors[0].device.type == "cpu":
        return [tensor.numpy() for tensor in tensors]
    whole = torch.cat([tensor.double() for tensor in tensors]).cpu().numpy()
    places = np.cumsum([len(tensor) for tensor in tensors])[:-1]
    return [
        part if tensor.is_floating_point() else part.astype(np.int64)
        for part, tensor in zip(np.split(whole, places), tensors, strict=True)
    ]
