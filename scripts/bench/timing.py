"""Alternating runs and their medians, on the clock and of the processor: how every benchmark here measures."""

import time
from statistics import median
from typing import Any, Callable, Dict, List, Mapping, NamedTuple


class Times(NamedTuple):
    """Milliseconds of a run, on the clock and of the processor, or ratios of them."""

    clock: float
    cpu: float

    def rounded(self, digits: int) -> Dict[str, float]:
        """As a dictionary for JSON."""
        return {name: round(value, digits) for name, value in self._asdict().items()}


def timed(run: Callable[[], Any]) -> Times:
    """One run."""
    start, start_cpu = time.perf_counter(), time.process_time()
    run()
    return Times((time.perf_counter() - start) * 1000, (time.process_time() - start_cpu) * 1000)


def medians(contestants: Mapping[str, Callable[[], Any]], runs: int) -> Dict[str, Times]:
    """Medians of ``runs`` alternating runs of each, after one that is not timed."""
    times: Dict[str, List[Times]] = {name: [] for name in contestants}
    for number in range(runs + 1):
        for name, run in contestants.items():
            measured = timed(run)
            if number:
                times[name].append(measured)
    return {name: Times(*map(median, zip(*found, strict=True))) for name, found in times.items()}


def ratio(slower: Times, faster: Times) -> Times:
    """How many times faster the second is."""
    return Times(*(a / b for a, b in zip(slower, faster, strict=True)))
