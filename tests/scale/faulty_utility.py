"""Utilities for the tests of faults: chrF, and a child process that scores; they fail when and how they are told to."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dcmbr_fairseq.utilities.base import Utility
from dcmbr_fairseq.utilities.chrf import ChrfUtility
from dcmbr_fairseq.utilities.line_process import LineProcess

#: What is done at which call, counted from 1 over the whole process: "raise", "term", "kill".
plan: dict[int, str] = {}
calls = 0


class Faulty(ChrfUtility):
    """chrF that follows the plan."""

    def pairwise_batch(self, batch: Any) -> list[np.ndarray]:
        """As chrF's, but for the plan; a call is a batch of sentences."""
        global calls
        calls += 1
        fault = plan.get(calls)
        if fault == "raise":
            raise RuntimeError("the utility has broken")
        if fault is not None:
            os.kill(os.getpid(), {"term": signal.SIGTERM, "kill": signal.SIGKILL}[fault])
        return super().pairwise_batch(batch)


SCORER = """
import sys
for line in sys.stdin:
    text = line.rstrip("\\n")
    print(text if text == "probe" else len(set(text)), flush=True)
"""


class Outside(Utility):
    """A score from a child process, as METEOR's from Java: the number of distinct characters in both texts."""

    label, in_per_cent = "outside", False

    def __init__(self, script: str) -> None:
        Path(script).write_text(SCORER)
        self.process = LineProcess("OUTSIDE", [sys.executable, script], 60, "probe")

    def pairwise(self, hypotheses: Any, references: Any, source: str | None = None) -> np.ndarray:
        """``(H, R)`` scores."""
        global calls
        calls += 1
        self.process.start()
        if calls in plan:
            os.kill(self.process._child.process.pid, signal.SIGKILL)
        if plan.get(calls) == "for good":
            Path(self.process.command[1]).write_text("raise SystemExit('no memory left')")
        lines = [f"{h} {r}" for h in hypotheses for r in references]
        scores = [float(answer) for answer in self.process.ask(lines, len(lines))]
        return np.array(scores).reshape(len(hypotheses), len(references))

    def signature(self) -> str:
        """One word."""
        return "outside"

    def close(self) -> None:
        """End the child."""
        self.process.close()
