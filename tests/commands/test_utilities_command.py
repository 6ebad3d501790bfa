"""dcmbr utilities: complete, honest about what is missing, and without loading anything heavy."""

import importlib.metadata
import subprocess
import sys

import pytest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.commands.utilities import why_not_ready
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities import UTILITIES, build_utility


def test_every_utility_has_a_row(capsys: pytest.CaptureFixture) -> None:
    assert main(["utilities", "--format", "tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["utility", "ready", "needs", "--utility-args at least"]
    assert [row[0] for row in rows[1:]] == list(UTILITIES)
    ready = {row[0]: row[1] for row in rows[1:]}
    assert ready["bleu"] == ready["chrf"] == ready["ter"] == ready["mean"] == "yes"


def test_what_is_missing_is_said_in_a_sentence(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.delenv("BEER_HOME", raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert main(["utilities"]) == 0
    lines = capsys.readouterr().out.splitlines()
    reasons = dict(line.split(": ", 1) for line in lines if ": " in line and line.split(": ")[0] in UTILITIES)
    assert set(reasons) == {"meteor", "beer", "bleurt", "comet", "xcomet", "metricx", "bertscore"}
    assert reasons["meteor"].startswith("METEOR needs Java: install a JRE")
    assert reasons["beer"].startswith("BEER needs its package")
    assert reasons["bleurt"].startswith("BLEURT needs the package bleurt-pytorch: pip install")
    assert all(len(line) < 130 for line in lines if line not in reasons.values())


@pytest.mark.parametrize("name", sorted(UTILITIES))
def test_ready_means_that_only_arguments_are_missing(name: str) -> None:
    reason = why_not_ready(name)
    if reason is None and not UTILITIES.find(name).least_arguments:
        build_utility(name, {}).close()
    else:
        with pytest.raises(UserError, match="needs|do not fit|cannot be loaded"):
            build_utility(name, {})


def test_nothing_heavy_is_imported() -> None:
    heavy = ("torch", "transformers", "fairseq", "bleurt_pytorch", "mbrs", "scipy")
    code = (
        "import sys; from dcmbr_fairseq.cli import main; main(['utilities']); "
        f"sys.exit(','.join(set({heavy}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""
