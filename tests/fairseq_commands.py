"""fairseq's commands as child processes, and their output as rows: how tests see what a user sees."""

import subprocess
from pathlib import Path

import programs

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "dcmbr_fairseq"


def run_fairseq(
    command: str,
    *arguments: object,
    stdin: str | None = None,
    user_dir: Path | None = PACKAGE,
    check: bool = True,
) -> "subprocess.CompletedProcess[str]":
    """Run ``fairseq-COMMAND`` on the CPU and return its exit status and what it wrote.

    Args:
        command: ``generate``, ``interactive``, ``train``, ``preprocess``, ``validate``, ...
        stdin: text for its standard input, line ends untouched; nothing if None.
        user_dir: passed as ``--user-dir``; None leaves the option out.
        check: fail the test, showing standard error, unless the command exits with 0.
    """
    line = [programs.python(), "-m", f"fairseq_cli.{command}", *map(str, arguments), "--cpu"]
    line += ["--user-dir", str(user_dir)] if user_dir else []
    return run(line, stdin=stdin, check=check)


def run(
    line: list[str], stdin: str | None = None, check: bool = True, timeout: float = 300, **options: object
) -> "subprocess.CompletedProcess[str]":
    """Run a command line; ``stdout`` and ``stderr`` are UTF-8 texts with their line ends as they were written."""
    done = subprocess.run(line, input=(stdin or "").encode(), capture_output=True, timeout=timeout, **options)  # type: ignore
    result = subprocess.CompletedProcess(line, done.returncode, done.stdout.decode(), done.stderr.decode())
    if check:
        assert result.returncode == 0, f"{line[:3]} exited with {result.returncode}:\n{result.stderr[-4000:]}"
    return result


def generated(stdout: str, kind: str = "D") -> list[tuple[int, str]]:
    """``(sentence id, last column)`` of each ``S``, ``T``, ``H``, ``D`` or ``P`` line of fairseq's output."""
    rows = (line.split("\t") for line in stdout.split("\n") if line.startswith(f"{kind}-"))
    return [(int(row[0][2:]), row[-1]) for row in rows]
