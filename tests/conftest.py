"""Fixtures shared by all tests: fairseq's commands, a toy model, and the trained models beside the repository."""

import hashlib
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import fairseq_commands
import multilingual_world
import programs
import pytest
import toy_world
from filelock import FileLock
from hypothesis import HealthCheck, settings
from random_inputs import LONG

SHARED = Path(__file__).parents[2] / "shared"
sys.path.insert(0, str(fairseq_commands.REPOSITORY / "scripts"))  # for the demo's phrasebook

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: the tests of Ctrl-C need it
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as under nohup: so do those of HUP
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# No test is a matter of time: the machine may have other work.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
#: scripts/fuzz.sh. Properties that say how many inputs they take multiply it too (random_inputs.py).
settings.register_profile(
    "long",
    max_examples=LONG,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Every test finds the environment and the log as they were at the start.

    Modules set variables when they are imported, as fairseq's commands do when they run, and what starts later would
    start otherwise. A log that was set up in one test writes to what was standard error there.
    """
    for name in set(os.environ) - set(programs.START):
        if not name.startswith("PYTEST_"):
            del os.environ[name]
    os.environ.update(programs.START)
    logging.root.handlers[:] = [each for each in logging.root.handlers if type(each).__module__.startswith("_pytest")]


@pytest.fixture(scope="session")
def fairseq() -> "Callable[..., subprocess.CompletedProcess[str]]":
    """``fairseq("generate", data_bin, "--path", ..., stdin=, user_dir=, check=)``: see fairseq_commands.run_fairseq."""
    return fairseq_commands.run_fairseq


@pytest.fixture(scope="session")
def toy(request: pytest.FixtureRequest) -> toy_world.Toy:
    """The toy model and its data (toy_world.py)."""
    return toy_world.Toy(built(request, "toy", toy_world.__file__, toy_world.build_toy))


@pytest.fixture(scope="session")
def world(request: pytest.FixtureRequest) -> multilingual_world.World:
    """The multilingual toy models and their data (multilingual_world.py)."""
    module = multilingual_world
    return module.World(built(request, "multilingual", module.__file__, module.build_world))


def built(request: pytest.FixtureRequest, name: str, recipe: str, build: Callable[[Path], None]) -> Path:
    """A folder that the first worker that needs it has built, kept in pytest's cache until recipe or fairseq change."""
    key = Path(recipe).read_bytes() + f"{version('ve-fairseq')} {version('torch')}".encode()
    folder: Path = request.config.cache.mkdir(name) / hashlib.sha256(key).hexdigest()[:16]
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            unfinished = Path(f"{folder}.partial")
            shutil.rmtree(unfinished, ignore_errors=True)
            build(unfinished)
            unfinished.rename(folder)
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of data and trained models beside the repository; skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared (trained models and data beside the repository), which is absent")
    return SHARED


@pytest.fixture(scope="session")
def multi30k_model(shared: Path) -> Path:
    """The folder of the Multi30k English-German models: ls0.0.pt, ls0.1.pt, dict.en.txt, dict.de.txt, bpe.codes."""
    folder = shared / "models" / "multi30k-en-de"
    if not (folder / "ls0.1.pt").is_file():
        pytest.skip("needs ../shared/models/multi30k-en-de (trained models), which is absent")
    return folder


#: Files that take longest, which must not be left to the end, when there is nothing to do beside them.
LONGEST = (
    "test_imports", "test_pipelines", "test_task", "test_configs", "test_demo", "test_rehearsals", "test_documents",
    "test_mistakes", "test_bad_input", "test_mbart50", "test_criterion_training", "test_architectures", "test_codes",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the longest files first; the order is otherwise kept."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONGEST)))
