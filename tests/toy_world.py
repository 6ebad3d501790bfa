"""A toy English-German world of about 30 word types, and a one-layer Transformer that learns it in seconds.

Many words have two right translations, so that the model has something to weigh and samples differ.
"""

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

from fairseq_commands import run_fairseq


@dataclass(frozen=True)
class Toy:
    """The toy world on disk, read-only.

    Attributes:
        folder: where it stands.
    """

    folder: Path

    @property
    def data_bin(self) -> Path:
        """The ``fairseq-preprocess`` folder: en-de; splits train, valid, test; dict.en.txt, dict.de.txt."""
        return self.folder / "data-bin"

    @property
    def checkpoint(self) -> Path:
        """A briefly trained Transformer (label smoothing 0.1)."""
        return self.folder / "model.pt"

    @property
    def other(self) -> Path:
        """The same less trained, for ensembles."""
        return self.folder / "earlier.pt"

    def lines(self, language: str, split: str = "test") -> list[str]:
        """The plain text of a split: 600 lines of train, 40 of valid, 23 of test (also files in ``folder/text``)."""
        return (self.folder / "text" / f"{split}.{language}").read_text("utf-8").splitlines()


def build_toy(folder: Path) -> None:
    """Write the toy corpus, preprocess it and train on it."""
    text = folder / "text"
    text.mkdir(parents=True)
    dice = random.Random(1)
    for split, size in (("train", 600), ("valid", 40), ("test", 23)):  # 23: the last batch is never a full one
        pairs = [toy_pair(dice) for _ in range(size)]
        for language, lines in zip(("en", "de"), zip(*pairs, strict=True), strict=True):
            (text / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    prefixes = [f"--{split}pref={text / split}" for split in ("train", "valid", "test")]
    run_fairseq("preprocess", "-s", "en", "-t", "de", *prefixes, "--destdir", folder / "data-bin")
    train_toy(folder)


def toy_pair(dice: random.Random) -> tuple[str, str]:
    """A random sentence and one of its translations."""
    nouns = {"dog": ("Hund", "Köter"), "cat": ("Kater",), "friend": ("Freund", "Kumpel"), "man": ("Mann",)}
    verbs = {"sees": ("sieht", "erblickt"), "hears": ("hört",), "likes": ("mag", "liebt")}
    tails = {"today": ("heute",), "again": ("wieder", "erneut"), "quietly": ("leise", "still")}

    def noun_phrase(accusative: bool) -> tuple[str, str]:
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


def train_toy(folder: Path) -> None:
    """Train one layer of 32 dimensions for 150 updates; keep the model and what it was after 100."""
    size = ["embed-dim=32", "ffn-embed-dim=64", "layers=1", "attention-heads=2"]
    saved = folder / "train"
    run_fairseq(
        "train", folder / "data-bin", "--task", "translation", "--arch", "transformer", "--dropout", 0.1,
        *[f"--{side}-{option}" for side in ("encoder", "decoder") for option in size],
        "--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.1, "--optimizer", "adam", "--lr", 0.01,
        "--max-tokens", 800, "--max-update", 150, "--seed", 1, "--save-dir", saved, "--disable-validation",
        "--save-interval-updates", 100, "--no-epoch-checkpoints", "--no-save-optimizer-state", "--num-workers", 0,
    )  # fmt: skip
    (saved / "checkpoint_last.pt").rename(folder / "model.pt")
    (earlier,) = saved.glob("checkpoint_*_100.pt")
    earlier.rename(folder / "earlier.pt")
    shutil.rmtree(saved)
