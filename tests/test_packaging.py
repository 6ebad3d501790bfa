"""What is built holds the whole package; what it asks for is what it is tested with; the scripts refuse bad input."""

import os
import re
import shutil
import sys
from email.message import Message
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
from fairseq_commands import PACKAGE, REPOSITORY, run
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import dcmbr_fairseq


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """The wheel built from a copy of the checkout (a build in the checkout itself would leave its folders there)."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        if (REPOSITORY / name).exists():
            shutil.copy(REPOSITORY / name, folder)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", "dist", "."]
    run(pip, cwd=folder)
    (path,) = (folder / "dist").glob("*.whl")
    return ZipFile(path)


@pytest.fixture(scope="module")
def metadata(wheel: ZipFile) -> Message:
    """The wheel's METADATA."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(wheel.read(name).decode())


def requirements(metadata: Message, extra: str = "") -> list[Requirement]:
    """The requirements that hold for one extra, or for all installations."""
    parsed = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    return [r for r in parsed if (r.marker.evaluate({"extra": extra}) if r.marker else not extra)]


def test_wheel_holds_every_file_of_the_package(wheel: ZipFile) -> None:
    files = {str(path.relative_to(REPOSITORY)) for path in PACKAGE.rglob("*") if path.is_file()}
    files = {name for name in files if "__pycache__" not in name}
    assert files == {name for name in wheel.namelist() if name.startswith("dcmbr_fairseq/")}


def test_wheel_holds_licence_and_entry_point(wheel: ZipFile, metadata: Message) -> None:
    names = [name for name in wheel.namelist() if ".dist-info/" in name]
    (licence,) = [name for name in names if name.endswith("LICENSE")]
    assert wheel.read(licence) == (REPOSITORY / "LICENSE").read_bytes()
    (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
    assert "dcmbr = dcmbr_fairseq.cli:main" in wheel.read(entry_points).decode().splitlines()
    assert metadata["Version"] == dcmbr_fairseq.__version__


def test_only_tried_pythons_are_claimed(metadata: Message) -> None:
    claimed = SpecifierSet(metadata["Requires-Python"])
    versions = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
    assert [v for v in versions if f"{v}.5" in claimed] == ["3.11", "3.12"]
    classified = [line.rpartition(" ")[2] for line in metadata.get_all("Classifier", []) if ":: 3." in line]
    assert classified == ["3.11", "3.12"]


def test_requirements_admit_what_the_tests_run_with(metadata: Message) -> None:
    needed = requirements(metadata) + requirements(metadata, "test")
    assert {"ve-fairseq", "torch", "numpy", "sacrebleu", "pytest"} <= {r.name for r in needed}
    unmet = [str(r) for r in needed if not r.specifier.contains(version(r.name), prereleases=True)]
    assert not unmet


def test_lock_names_the_fairseq_that_is_required(metadata: Message) -> None:
    (needed,) = [r for r in requirements(metadata) if "fairseq" in r.name]
    lock = (REPOSITORY / "scripts" / "fairseq.lock").read_text("utf-8")
    assert re.findall(r"^(\S+==\S+) ", lock, re.M) == [str(needed)]
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", lock)) == 2  # one wheel for each Python


def test_installed_command_answers() -> None:
    dcmbr = str(Path(sys.executable).with_name("dcmbr"))
    assert run([dcmbr, "--help"]).stdout.startswith("usage: dcmbr")
    wrong = run([dcmbr, "bake"], check=False)
    assert wrong.returncode == 2 and "'bake'" in wrong.stderr and "select" in wrong.stderr


def install(*arguments: str, **environment: str) -> "tuple[int, str]":
    """Exit status and last line of standard error of scripts/install.sh, which is expected to refuse."""
    line = ["bash", str(REPOSITORY / "scripts" / "install.sh"), *arguments]
    done = run(line, check=False, env={**os.environ, **environment})
    return done.returncode, done.stderr.strip().split("\n")[-1]


def test_install_refuses_a_python_that_will_not_do(tmp_path: Path) -> None:
    old = tmp_path / "python2"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    status, message = install("test", PYTHON=str(old), VENV=str(tmp_path / "venv"))
    assert status == 1 and str(old) in message and "3.11 or 3.12" in message
    assert not (tmp_path / "venv").exists()


def test_install_refuses_a_broken_environment(tmp_path: Path) -> None:
    status, message = install("test", VENV=str(tmp_path))
    assert status == 1 and str(tmp_path) in message and "remove that folder" in message


@pytest.mark.parametrize("script", ["install.sh", "check_install.sh"])
def test_scripts_print_usage(script: str) -> None:
    arguments = ["--help"] if script == "install.sh" else []
    done = run(["bash", str(REPOSITORY / "scripts" / script), *arguments], check=False)
    assert done.returncode == 2 and f"scripts/{script} " in done.stderr and "#" not in done.stderr
