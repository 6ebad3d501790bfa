"""Several processes of one decode on this machine."""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dcmbr_fairseq.files.signals import finishing_first

logger = logging.getLogger(__name__)

#: Run it again: the status of a process that a signal has ended between two batches (EX_TEMPFAIL of sysexits).
UNFINISHED = 75


def launch(count: int, arguments: Sequence[str], launcher: str) -> int:
    """Run ``dcmbr ARGUMENTS`` in so many processes, each told its number as torchrun does; the exit status of all.

    A process that fails does not end the others, whose sentences are their own. TERM and HUP are handed on.

    Args:
        count: of processes.
        arguments: of ``dcmbr``.
        launcher: the variable that tells them who has started them.

    Returns:
        0, :data:`UNFINISHED` where some were ended between two batches, or what the first that failed has returned.
    """
    package = str(Path(__file__).parents[2])
    shared = {**os.environ, "WORLD_SIZE": str(count), launcher: str(os.getpid())}
    shared["PYTHONPATH"] = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    if count > 1:
        shared.setdefault("OMP_NUM_THREADS", str(max(1, len(os.sched_getaffinity(0)) // count)))
    line = [sys.executable, "-P", "-m", "dcmbr_fairseq.cli", *arguments]
    children = []
    try:
        with finishing_first() as asked:
            for number in range(count):
                own = {"RANK": str(number), "LOCAL_RANK": str(number)}
                children.append(subprocess.Popen(line, env={**shared, **own}))
            _wait(children, asked)
    except BaseException:
        for child in children:
            child.terminate()
        raise
    finally:
        statuses = [child.wait() for child in children]
    for number, status in enumerate(statuses):
        if status not in (0, UNFINISHED):
            logger.error("process %d of %d ended with status %d", number, count, status)
    failed = [status for status in statuses if status not in (0, UNFINISHED)]
    return abs(failed[0]) if failed else max(statuses, default=0)


def _wait(children: Sequence["subprocess.Popen[bytes]"], asked: Sequence[int]) -> None:
    handed_on = 0
    while any(child.poll() is None for child in children):
        for number in asked[handed_on:]:
            for child in children:
                child.send_signal(number)
        handed_on = len(asked)
        time.sleep(0.05)
