"""Alternating runs and their medians, on the clock and of the processor, and peak memory: how benchmarks measure."""

import os
import resource
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, NamedTuple


class Times(NamedTuple):
    """Milliseconds of a run, on the clock and of the processor, or ratios of them."""

    clock: float
    cpu: float

    def rounded(self, digits: int) -> dict[str, float]:
        """As a dictionary for JSON."""
        return {name: round(value, digits) for name, value in self._asdict().items()}


def timed(run: Callable[[], Any]) -> Times:
    """One run."""
    start, start_cpu = time.perf_counter(), time.process_time()
    run()
    return Times((time.perf_counter() - start) * 1000, (time.process_time() - start_cpu) * 1000)


def medians(contestants: Mapping[str, Callable[[], Any]], runs: int) -> dict[str, Times]:
    """Medians of ``runs`` alternating runs of each, after one that is not timed."""
    times: dict[str, list[Times]] = {name: [] for name in contestants}
    for number in range(runs + 1):
        for name, run in contestants.items():
            measured = timed(run)
            if number:
                times[name].append(measured)
    return {name: Times(*map(median, zip(*found, strict=True))) for name, found in times.items()}


def ratio(slower: Times, faster: Times) -> Times:
    """How many times faster the second is."""
    return Times(*(a / b for a, b in zip(slower, faster, strict=True)))


def peak_memory(run: Callable[[], Any]) -> float:
    """MiB by which the process' memory grows while ``run`` runs, in a copy of this process (Linux)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            run()
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            os.write(writer, str(grown / 1024).encode())
            status = 0
        finally:
            os._exit(status)  # no clean-up twice of what the parent has
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    if not text:
        raise RuntimeError("the run whose memory was to be measured failed")
    return float(text)
