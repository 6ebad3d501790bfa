"""What the rehearsals share: the device. Importing this makes it, for good, in the process that does so."""

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from fairseq_commands import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import rehearsal


def assert_same(found: Any, expected: Any) -> None:
    """The same tokens, and log-probabilities but for rounding: torch has other kernels for a wrapped encoder layer."""
    for ours, theirs in zip(found, expected, strict=True):
        assert [tokens for tokens, _ in ours] == [tokens for tokens, _ in theirs]
        for (_, scores), (_, truth) in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(scores, truth, atol=1e-5)


def on_both(models: list[Any], use: Callable[[list[Any], Callable[[Any], Any]], Any]) -> tuple[Any, Any, Any]:
    """What ``use(models, place)`` gives on the CPU and on the device, and the device's counts."""
    copies = [copy.deepcopy(model) for model in models]
    expected = use(copies, lambda x: x)
    with rehearsal.rehearse() as counts:
        found = use([rehearsal.to_device(model) for model in models], rehearsal.to_device)
    return expected, found, counts
