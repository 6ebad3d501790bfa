"""Fixtures shared by all tests: fairseq's commands as child processes, a toy model, and the trained models beside us.

The toy (:func:`toy`) is a small English-German world of about 30 word types, a one-layer Transformer trained on it for
a few seconds, and its ``fairseq-preprocess`` folder. It is built once, by the first worker that needs it, and kept in
pytest's cache until this file or fairseq changes.
"""

import hashlib
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Callable, List, Optional, Tuple

import pytest
from filelock import FileLock

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "dcmbr_fairseq"
SHARED = REPOSITORY.parent / "shared"

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread a worker: pytest-xdist already fills the cores


def run_fairseq(
    command: str,
    *arguments: object,
    stdin: Optional[str] = None,
    user_dir: Optional[Path] = PACKAGE,
    check: bool = True,
) -> subprocess.CompletedProcess:
    """Run ``fairseq-COMMAND`` in a child process, on the CPU, and return it with its ``stdout`` and ``stderr`` texts.

    Args:
        command: ``generate``, ``interactive``, ``train``, ``preprocess``, ``validate``, ...
        stdin: text for its standard input, line ends untouched; nothing if None.
        user_dir: passed as ``--user-dir``; None leaves the option out.
        check: fail the test, showing standard error, unless the command exits with 0.
    """
    line = [sys.executable, "-m", f"fairseq_cli.{command}", *map(str, arguments), "--cpu"]
    line += ["--user-dir", str(user_dir)] if user_dir else []
    done = subprocess.run(line, input=(stdin or "").encode("utf-8"), capture_output=True, timeout=300)
    stdout, stderr = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")  # not text=True: that would change \r
    result = subprocess.CompletedProcess(line, done.returncode, stdout, stderr)
    if check and result.returncode != 0:
        pytest.fail(f"fairseq-{command} exited with {result.returncode}:\n{result.stderr[-4000:]}")
    return result


@pytest.fixture(scope="session")
def fairseq() -> Callable[..., subprocess.CompletedProcess]:
    """:func:`run_fairseq`: ``fairseq("generate", data_bin, "--path", ..., stdin=..., user_dir=..., check=...)``."""
    return run_fairseq


def generated(stdout: str, kind: str = "D") -> List[Tuple[int, str]]:
    """``(sentence id, text)`` of every ``S``, ``T``, ``H``, ``D`` or ``P`` line of fairseq's output, as printed."""
    rows = (line.split("\t") for line in stdout.split("\n") if line.startswith(f"{kind}-"))
    return [(int(row[0][2:]), row[-1]) for row in rows]


@dataclass(frozen=True)
class Toy:
    """The toy world on disk.

    Attributes:
        data_bin: the ``fairseq-preprocess`` folder (en-de; splits train, valid, test; dict.en.txt, dict.de.txt).
        checkpoint: a briefly trained Transformer (label smoothing 0.1).
        other: the same with another seed, for ensembles.
        text: folder of the plain text: train.en, train.de, valid.*, test.* (23 sentences).
    """

    data_bin: Path
    checkpoint: Path
    other: Path
    text: Path

    @property
    def source_lines(self) -> List[str]:
        """The sources of the test split."""
        return (self.text / "test.en").read_text("utf-8").splitlines()


@pytest.fixture(scope="session")
def toy(request: pytest.FixtureRequest) -> Toy:
    """The toy model and its data; read-only, shared by all tests."""
    key = hashlib.sha256(f"{version('ve-fairseq')} {version('torch')}".encode() + Path(__file__).read_bytes())
    folder = Path(request.config.cache.mkdir("toy")) / key.hexdigest()[:16]
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            unfinished = Path(f"{folder}.partial")
            shutil.rmtree(unfinished, ignore_errors=True)
            build_toy(unfinished)
            unfinished.rename(folder)
    return Toy(folder / "data-bin", folder / "seed1.pt", folder / "seed2.pt", folder / "text")


def build_toy(folder: Path) -> None:
    """Write the toy corpus, preprocess it and train two models on it."""
    text = folder / "text"
    text.mkdir(parents=True)
    dice = random.Random(1)
    for split, size in (("train", 600), ("valid", 40), ("test", 23)):  # 23: the last batch is never a full one
        pairs = [toy_pair(dice) for _ in range(size)]
        for language, lines in zip(("en", "de"), zip(*pairs, strict=True), strict=True):
            (text / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    prefixes = [f"--{split}pref={text / split}" for split in ("train", "valid", "test")]
    run_fairseq("preprocess", "-s", "en", "-t", "de", *prefixes, "--destdir", folder / "data-bin", user_dir=None)
    for seed in (1, 2):
        train_toy(folder / "data-bin", folder / f"seed{seed}.pt", seed)


def toy_pair(dice: random.Random) -> Tuple[str, str]:
    """A random sentence and a translation; several translations are right, so that the model has something to weigh."""
    nouns = {"dog": ("Hund", "Köter"), "cat": ("Kater",), "friend": ("Freund", "Kumpel"), "man": ("Mann",)}
    verbs = {"sees": ("sieht", "erblickt"), "hears": ("hört",), "likes": ("mag", "liebt")}
    tails = {"today": ("heute",), "again": ("wieder", "erneut"), "quietly": ("leise", "still")}

    def noun_phrase(accusative: bool) -> Tuple[str, str]:
        article = dice.choice(["the", "a"])
        noun = dice.choice(sorted(nouns))
        german = {"the": ("der", "den"), "a": ("ein", "einen")}[article][accusative]
        return f"{article} {noun}", f"{german} {dice.choice(nouns[noun])}"

    subject, object_, verb = noun_phrase(False), noun_phrase(True), dice.choice(sorted(verbs))
    english, german = [subject[0], verb, object_[0]], [subject[1], dice.choice(verbs[verb]), object_[1]]
    if dice.random() < 0.5:
        tail = dice.choice(sorted(tails))
        english.append(tail)
        german.append(dice.choice(tails[tail]))
    return " ".join([*english, "."]), " ".join([*german, "."])


def train_toy(data_bin: Path, checkpoint: Path, seed: int) -> None:
    """Train a one-layer Transformer of 32 dimensions for 150 updates."""
    folder = checkpoint.with_suffix(".train")
    size = ["embed-dim=32", "ffn-embed-dim=64", "layers=1", "attention-heads=2"]
    run_fairseq(
        "train", data_bin, "--task", "translation", "--arch", "transformer", "--dropout", 0.1,
        *[f"--{side}-{option}" for side in ("encoder", "decoder") for option in size],
        "--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.1, "--optimizer", "adam", "--lr", 0.01,
        "--max-tokens", 800, "--max-update", 150, "--seed", seed, "--save-dir", folder, "--disable-validation",
        "--no-epoch-checkpoints", "--no-save-optimizer-state", "--log-format", "none", "--num-workers", 0,
    )  # fmt: skip
    (folder / "checkpoint_last.pt").rename(checkpoint)
    shutil.rmtree(folder)


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
