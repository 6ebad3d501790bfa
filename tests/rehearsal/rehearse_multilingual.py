"""The multilingual tasks on the rehearsal device: how each forces its language tokens, from data to n-best lists."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from multilingual_world import CONVENTIONS, World
from rehearsed import assert_same, on_both

from dcmbr_fairseq.commands.generate import with_defaults
from dcmbr_fairseq.measure.flags import DECODING
from dcmbr_fairseq.measure.models import Workspace

WORLD = World(Path(os.environ["REHEARSED_WORLD"]))  # tests/rehearsal/test_rehearsals.py has it made


@pytest.fixture(autouse=True)
def nothing_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """fairseq's batches are to be pinned where there is an accelerator, which the rehearsal device does not offer."""
    monkeypatch.setattr(torch.utils.data._utils.pin_memory, "pin_memory", lambda data, device=None: data)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_decoding(convention: str) -> None:
    flags = [WORLD.data_bin, *WORLD.options(convention), "-s", "en_XX", "-t", "de_DE", "--batch-size", 4, "--cpu",
             "--post-process", "sentencepiece", "--num-hyp", 5, "--num-ref", 3, "--max-len-b", 6]  # fmt: skip
    workspace = Workspace(with_defaults([str(flag) for flag in flags]), first=4, follows=DECODING)
    model = workspace.load(str(WORLD.checkpoint(convention)))
    sample = next(iter(workspace.batches(model)))

    def decode(models: list[Any], place: Callable[[Any], Any]) -> Any:
        generator = workspace.task.build_generator(models, workspace.cfg.generation)
        return [
            [(hypothesis["tokens"].tolist(), hypothesis["positional_scores"].tolist()) for hypothesis in nbest]
            for nbest in workspace.task.inference_step(generator, models, place(sample))
        ]

    expected, found, counts = on_both(model.members, decode)
    assert_same(found, expected)
    assert len(found) == 4 and counts.launches > 100
