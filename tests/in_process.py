"""fairseq's commands run inside the test process: the same code as on the command line, without its start-up time."""

import importlib
import io
import sys
from typing import Any

import pytest
from fairseq_commands import PACKAGE, generated

from dcmbr_fairseq.hooks import compat


class Fairseq:
    """``Fairseq(monkeypatch, capsys).generate(data_bin, "--path", ...)`` gives what the command prints.

    Args:
        monkeypatch: sets the command line and standard input.
        capsys: catches what is printed.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def generate(self, *arguments: object) -> str:
        """fairseq-generate."""
        from fairseq_cli import generate

        return self._run(generate.cli_main, "generate", arguments)

    def interactive(self, text: str, *arguments: object) -> str:
        """fairseq-interactive with ``text`` on standard input."""
        from fairseq_cli import interactive

        compat.end_lines_at_newline_only()
        raw = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        self.monkeypatch.setattr(sys, "stdin", raw)
        return self._run(interactive.cli_main, "interactive", arguments)

    def train(self, *arguments: object) -> str:
        """fairseq-train."""
        from fairseq_cli import train

        return self._run(train.cli_main, "train", arguments)

    def other(self, name: str, *arguments: object) -> str:
        """Another one, such as ``preprocess``."""
        return self._run(importlib.import_module(f"fairseq_cli.{name}").cli_main, name.replace("_", "-"), arguments)

    def _run(self, main: Any, name: str, arguments: tuple[object, ...]) -> str:
        line = [f"fairseq-{name}", *map(str, arguments), "--cpu", "--user-dir", str(PACKAGE)]
        self.monkeypatch.setattr(sys, "argv", line)
        self.capsys.readouterr()
        main()
        return self.capsys.readouterr().out


def rows(stdout: str, kinds: str = "SHDPT") -> list[str]:
    """The result lines of fairseq's output, in order, without those that measure time."""
    return [line for line in stdout.split("\n") if line[:2] in {f"{kind}-" for kind in kinds}]


def translations(stdout: str) -> list[str]:
    """The D- texts by sentence id, best only."""
    best = {}
    for number, text in generated(stdout):
        best.setdefault(number, text)
    return [best[number] for number in sorted(best)]
