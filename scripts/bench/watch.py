"""Run a command and watch its memory: a TSV of seconds and resident MiB, and in the end a plot of it.

    python scripts/bench/watch.py OUT.tsv COMMAND...        OUT.png is drawn if matplotlib is there

The memory is that of the process itself, without its children. TERM and HUP are handed on.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

EVERY_S = 5


def resident_mib(process: int) -> float | None:
    """Memory that a process holds (Linux); None where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), None)


def main() -> int:
    """Run, watch and draw; the command's exit status."""
    table, command = Path(sys.argv[1]), sys.argv[2:]
    start = time.monotonic()
    with table.open("w", encoding="utf-8") as out, subprocess.Popen(command) as process:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda given, _: process.send_signal(given))
        print("seconds\tmib", file=out)
        while process.poll() is None:
            mib = resident_mib(process.pid)
            if mib is not None:
                print(f"{time.monotonic() - start:.0f}\t{mib:.1f}", file=out, flush=True)
            time.sleep(EVERY_S)
    draw(table)
    return process.returncode


def draw(table: Path) -> None:
    """The plot of a table, beside it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [line.split("\t") for line in table.read_text("utf-8").splitlines()[1:]]
    figure, axes = pyplot.subplots(figsize=(6, 2.6), layout="constrained")
    axes.plot([float(row[0]) / 60 for row in rows], [float(row[1]) for row in rows])
    axes.set(xlabel="minutes", ylabel="resident memory, MiB", ylim=(0, None))
    figure.savefig(table.with_suffix(".png"), dpi=120)


if __name__ == "__main__":
    sys.exit(main())
