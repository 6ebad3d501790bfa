"""The bar of a training: what of fairseq's log is shown, and how."""

import subprocess
import sys
from pathlib import Path

from fairseq_commands import REPOSITORY

PROGRESS = REPOSITORY / "scripts" / "lib" / "progress.py"
LOG = """2026-01-01 10:00:00 | INFO | fairseq.trainer | begin training epoch 1
2026-01-01 10:00:10 | INFO | train_inner | epoch 001: 50 / 281 loss=9.5, ppl=20, num_updates=50, lr=0.001
2026-01-01 10:00:11 | WARNING | fairseq.trainer | something is odd
2026-01-01 10:00:20 | INFO | train_inner | epoch 001: 100 / 281 loss=8.25, ppl=18, num_updates=100, lr=0.001
2026-01-01 10:00:25 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 7.5
RuntimeError: all of this {long} line
""".replace("{long}", "long " * 100)


def test_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, PROGRESS, "200"], input=LOG, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    first, *rest = LOG.splitlines()
    assert done.stderr.splitlines() == rest  # errors whole, however long


def test_a_bar_on_a_terminal() -> None:
    code = (
        f"import sys; sys.stderr.isatty = lambda: True; sys.argv = ['x', '200']; exec(open({str(PROGRESS)!r}).read())"
    )
    done = subprocess.run([sys.executable, "-c", code], input=LOG, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    bars = [part for part in done.stderr.replace("\n", "\r").split("\r") if part.startswith("training:")]
    assert "100/200" in bars[-1] and "loss=8.25" in bars[-1]
    assert "something is odd" in done.stderr and "RuntimeError: all of this" in done.stderr
    assert "valid on" not in done.stderr
