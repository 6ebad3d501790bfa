"""One copy there and one back: what arrives is what was sent, bit for bit, on any device."""

import numpy as np
import torch

from dcmbr_fairseq.decoders.transfer import on_device, on_host

CPU = torch.device("cpu")
ARRAYS = [np.array([3, -1, 2**40]), np.array([0.1, np.nextafter(1, 0), 0.0]), np.empty(0, dtype=np.int64)]


def test_the_cpu_copies_nothing() -> None:
    tensors = on_device(CPU, *ARRAYS)
    assert [tensor.data_ptr() for tensor in tensors[:2]] == [array.ctypes.data for array in ARRAYS[:2]]
    back = on_host(*tensors)
    assert all(np.shares_memory(a, b) for a, b in zip(back[:2], ARRAYS[:2], strict=True))
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(back, ARRAYS, strict=True))
