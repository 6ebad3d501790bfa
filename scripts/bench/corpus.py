"""Speed and memory of ``dcmbr corpus filter`` and ``normalize`` on synthetic pairs; prints one JSON object.

    python scripts/bench/corpus.py [--pairs 1000000] [--processes 1 2]

The pairs have 20 words a side on average (about 120 bytes), drawn from 50,000 made-up words by a Zipf law; one in 50 is
a duplicate and one in 50 is too long, out of proportion, a copy, or has a tag or a control character. Memory is the
largest sum of the resident sets of the command and its workers (shared pages count in each), seen every 20 ms. On a
machine with other work look at the processor's seconds: they do not wait.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dcmbr_fairseq.corpus.streams import count_lines


def main() -> None:
    """Make the corpus in a temporary folder and measure each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, args.pairs)
        size = sum((folder / f"in.{side}").stat().st_size for side in ("en", "de"))
        report = {"pairs": args.pairs, "megabytes": round(size / 1e6, 1), "cores": len(os.sched_getaffinity(0))}
        for processes in args.processes:
            report[f"{processes} processes"] = measured_commands(folder, args.pairs, processes)
    print(json.dumps(report, indent=2))


def measured_commands(folder: Path, pairs: int, processes: int) -> dict:
    """Lines per second and megabytes of each command; checks that the outputs are complete."""
    source, target, outs = folder / "in.en", folder / "in.de", [folder / "out.en", folder / "out.de"]
    filtering = measured(["filter", source, target, "--out", *outs, "--processes", processes])
    kept = {count_lines(out) for out in outs}
    assert len(kept) == 1, kept
    normalizing = measured(["normalize", target, outs[1], "--lang", "de", "--processes", processes])
    assert count_lines(outs[1]) == pairs
    return {
        "filter": {**rates("pairs", pairs, filtering), "kept": kept.pop()},
        "normalize": rates("lines", pairs, normalizing),
    }


class Measurement(NamedTuple):
    """Seconds from start to end, those of all processors, and megabytes."""

    seconds: float
    cpu_seconds: float
    peak_mb: float


def rates(unit: str, count: int, cost: Measurement) -> dict[str, float]:
    """Per second, per second of a processor, and the memory."""
    return {
        f"{unit}_per_second": round(count / cost.seconds),
        f"{unit}_per_cpu_second": round(count / cost.cpu_seconds),
        "peak_mb": cost.peak_mb,
    }


def measured(command: list[object]) -> Measurement:
    """What ``dcmbr corpus COMMAND`` costs, its start and its workers included."""
    start, start_cpu, peak = time.perf_counter(), children_cpu_seconds(), 0
    line = [sys.executable, "-m", "dcmbr_fairseq.cli", "corpus", *map(str, command)]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, resident_bytes(process.pid))
        time.sleep(0.02)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(line)} exited with {process.returncode}")
    return Measurement(time.perf_counter() - start, children_cpu_seconds() - start_cpu, round(peak / 1e6, 1))


def children_cpu_seconds() -> float:
    """Processor seconds of all children that have ended, and theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def resident_bytes(process: int) -> int:
    """Resident memory of a process and its children; 0 where they have just ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(resident_bytes(int(child)) for child in children)


def write_corpus(folder: Path, pairs: int) -> None:
    """Write ``in.en`` and ``in.de``."""
    with (
        open(folder / "in.en", "w", encoding="utf-8") as source,
        open(folder / "in.de", "w", encoding="utf-8") as target,
    ):
        for english, german in synthetic_pairs(pairs):
            source.write(english + "\n")
            target.write(german + "\n")


def synthetic_pairs(pairs: int) -> Iterator[tuple[str, str]]:
    """The pairs, the same at each call."""
    dice = random.Random(1)
    letters = "eeeeeennniiissrrttaaddhhuullccggmmoobbwfkzvpäüöß"
    words = ["".join(dice.choices(letters, k=dice.randint(1, 8))) for _ in range(50_000)]
    frequencies = [1 / rank for rank in range(1, len(words) + 1)]
    stream = iter(())
    earlier: tuple[str, str] = ("a pair", "ein Paar")
    for number in range(pairs):
        length = dice.randint(5, 35)
        text = []
        while len(text) < 2 * length:
            token = next(stream, None)
            if token is None:  # choices has a cost for each call, so it is called for many words at once
                stream = iter(dice.choices(words, frequencies, k=100_000))
            else:
                text.append(token)
        pair = " ".join(text[:length]) + ".", " ".join(text[length:]) + "."
        if number % 50 == 0:
            pair = earlier
        elif number % 50 == 1:
            pair = dice.choice(
                [(pair[0] * 8, pair[1]), (pair[0], pair[1][:3]), (pair[0], pair[0]), (f"<p>{pair[0]}</p>", pair[1]),
                 (pair[0], f"\x07{pair[1]}")]
            )  # fmt: skip
        else:
            earlier = pair
        yield pair


if __name__ == "__main__":
    main()
