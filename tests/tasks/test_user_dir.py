"""The plugin is found whether it is installed, passed as --user-dir, or both, and in processes that fairseq spawns."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from fairseq_commands import PACKAGE, REPOSITORY, generated, run
from toy_world import Toy

GENERATE = "from fairseq_cli.generate import cli_main; cli_main()"

#: Makes an interpreter that of someone who has not installed this package.
NOT_INSTALLED = f"""
import importlib.util, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in f"{{finder}}"]
sys.path[:] = [folder for folder in sys.path if folder != {str(REPOSITORY)!r} and "__editable__" not in folder]
assert importlib.util.find_spec("dcmbr_fairseq") is None
"""

#: Makes fairseq spawn a worker process, as it does for several GPUs, on a machine that has none.
ONE_DEVICE = "import torch; torch.cuda.device_count = lambda: 1"


def options(toy: Toy) -> list[str]:
    """Options of a DC-MBR decode of the toy test set."""
    line = [toy.data_bin, "--path", toy.checkpoint, "--task", "translation_dcmbr", "--decoding", "dcmbr",
            "--num-hyp", 8, "--batch-size", 16, "--seed", 3, "--cpu"]  # fmt: skip
    return [str(part) for part in line]


def decode(code: str, arguments: list[str], folder: Path) -> "dict[int, str]":
    """Run Python code that decodes, in ``folder``; translation of each sentence."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return dict(generated(run([sys.executable, "-c", code, *arguments], cwd=folder, env=environment).stdout))


@pytest.fixture(scope="module")
def expected(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> "dict[int, str]":
    """The translations when the package is installed and passed as ``--user-dir`` at the same time."""
    arguments = [*options(toy), "--user-dir", str(PACKAGE), "--num-workers", "2"]
    translations = decode(GENERATE, arguments, tmp_path_factory.mktemp("both"))
    assert sorted(translations) == list(range(23))
    assert len(set(translations.values())) > 15
    return translations


def test_installed_alone(toy: Toy, expected: "dict[int, str]", tmp_path: Path) -> None:
    assert decode(f"import dcmbr_fairseq; {GENERATE}", options(toy), tmp_path) == expected


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with a copy of the package in its subfolder ``plugins``."""
    shutil.copytree(PACKAGE, tmp_path / "plugins" / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_user_dir_alone(toy: Toy, expected: "dict[int, str]", elsewhere: Path) -> None:
    arguments = [*options(toy), "--user-dir", "plugins/dcmbr_fairseq"]
    assert decode(NOT_INSTALLED + GENERATE, arguments, elsewhere) == expected


def test_spawned_worker(toy: Toy, expected: "dict[int, str]", elsewhere: Path) -> None:
    arguments = [*options(toy), "--user-dir", "plugins/dcmbr_fairseq", "--distributed-backend", "gloo",
                 "--distributed-init-method", f"file://{elsewhere}/rendezvous"]  # fmt: skip
    code = f"{NOT_INSTALLED}{ONE_DEVICE}; {GENERATE}"
    assert decode(code, arguments, elsewhere) == expected


def test_interactive_agrees(toy: Toy, expected: "dict[int, str]", fairseq) -> None:
    arguments = [arg for arg in options(toy) if arg not in ("--batch-size", "16", "--cpu")]
    stdin = "".join(f"{line}\n" for line in toy.lines("en"))
    done = fairseq("interactive", *arguments, "--buffer-size", 16, "--batch-size", 16, stdin=stdin)
    assert dict(generated(done.stdout)) == expected


def test_folder_above_the_package_is_refused(toy: Toy, fairseq, elsewhere: Path) -> None:
    done = fairseq("generate", *options(toy)[:-1], user_dir=elsewhere / "plugins", check=False)
    assert done.returncode != 0 and done.stdout == ""
    assert "translation_dcmbr" in done.stderr.strip().split("\n")[-1]


def test_what_the_command_prints_works_from_anywhere(toy: Toy, expected: "dict[int, str]", tmp_path: Path) -> None:
    printed = run([sys.executable, "-m", "dcmbr_fairseq.cli", "user-dir"], cwd=REPOSITORY).stdout.removesuffix("\n")
    assert decode(NOT_INSTALLED + GENERATE, [*options(toy), "--user-dir", printed], tmp_path) == expected


@pytest.mark.parametrize("given", ["dcmbr_fairseq", "./dcmbr_fairseq/", "link/dcmbr_fairseq"])
def test_the_package_that_runs_is_known_by_any_path(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fairseq compares paths as written, and would take this one for another package of the same name."""
    from argparse import Namespace

    from fairseq import utils

    (tmp_path / "link").symlink_to(REPOSITORY)
    (tmp_path / "dcmbr_fairseq").symlink_to(PACKAGE)
    monkeypatch.chdir(tmp_path)
    before = sys.modules["dcmbr_fairseq"]
    utils.import_user_module(Namespace(user_dir=given))
    assert sys.modules["dcmbr_fairseq"] is before


def test_another_package_of_the_name_is_refused(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from argparse import Namespace

    from fairseq import utils

    monkeypatch.chdir(elsewhere)
    with pytest.raises(ImportError, match="is not globally unique"):
        utils.import_user_module(Namespace(user_dir="plugins/dcmbr_fairseq"))
