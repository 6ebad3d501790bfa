"""What the rehearsals share: the device, and toy models and batches that are moved to it."""

import sys

import pytest
import torch
from fairseq_commands import REPOSITORY

if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13):
    pytest.skip("the rehearsal device needs torch >= 2.13", allow_module_level=True)
sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import rehearsal  # noqa: F401
