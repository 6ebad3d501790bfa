"""Runs the rehearsals, each in a process of its own.

Where the rehearsal device exists torch believes in an accelerator and pins memory for it: others must not meet it.
"""

from pathlib import Path

import programs
import pytest
import torch
from fairseq_commands import REPOSITORY, run
from multilingual_world import World

NEEDED = (2, 13)


@pytest.mark.skipif(
    tuple(map(int, torch.__version__.split(".")[:2])) < NEEDED, reason="the rehearsal device needs torch >= 2.13"
)
@pytest.mark.parametrize("rehearsal", sorted(path.stem for path in Path(__file__).parent.glob("rehearse_*.py")))
def test_rehearsal(rehearsal: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REHEARSED_WORLD", str(world.folder))
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__).with_name(f"{rehearsal}.py"))]
    done = run([programs.python(), *words], check=False, cwd=REPOSITORY)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
