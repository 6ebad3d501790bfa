"""A bar for a training, from the lines of fairseq's simple log: python scripts/lib/progress.py MAX_UPDATE < LOG.

Shows updates, loss and the remaining time on standard error where that is a terminal, and otherwise the lines that tell
how far it is. Errors and warnings stand above the bar, whole.
"""

import re
import sys
from collections.abc import Iterable

from tqdm import tqdm

UPDATE = re.compile(r"\bnum_updates=(\d+)")
LOSS = re.compile(r"\bloss=([\d.]+)")
TELLING = re.compile(r"train_inner|valid on|Error|error|WARNING")
WIDTH = 240  # of a line that is no error


def follow(log: Iterable[str], updates: int, bar: bool) -> None:
    """Show a log as it comes.

    Args:
        log: its lines.
        updates: how many updates the training is to reach; 0 if that is not known.
        bar: whether to draw a bar instead of writing lines.
    """
    with tqdm(total=updates or None, desc="training", unit=" updates", disable=not bar) as shown:
        for line in log:
            done = UPDATE.search(line)
            if done and bar:
                if shown.n == 0:  # a training that goes on: what was done before says nothing about the time
                    shown.initial = max(0, int(done[1]) - 1)
                loss = LOSS.search(line)
                shown.set_postfix(loss=loss[1] if loss else "?", refresh=False)
                shown.update(int(done[1]) - shown.n)
            elif TELLING.search(line) and (not bar or "train_inner" not in line and "valid on" not in line):
                text = line.rstrip("\n")
                tqdm.write(text if re.search("[Ee]rror", text) else text[:WIDTH], file=sys.stderr)


if __name__ == "__main__":
    follow(sys.stdin, int(sys.argv[1]), sys.stderr.isatty())
