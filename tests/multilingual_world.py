"""A toy world of English, German and Czech with sentencepiece, and one tiny model for each convention of languages.

``release`` is laid out exactly like mBART-50's: model.pt, dict.LANG.txt, sentence.bpe.model, ML50_langs.txt.
"""

import json
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import sentencepiece
from fairseq_commands import PACKAGE, REPOSITORY

LANGUAGES = ["cs_CZ", "de_DE", "en_XX", "fi_FI"]  # in the order of a list of languages; fi_FI is never trained on
PAIRS = "en_XX-de_DE,de_DE-en_XX,en_XX-cs_CZ,cs_CZ-en_XX"
TAGS = ["<MINED_DATA>", "<MMT_BT_DATA>", "<SMT_BT_DATA>"]  # NLLB's, behind its language tokens

#: name of each model, the task it is trained with, and how many updates: few leave it close to uniform
CONVENTIONS = {
    "mbart50": (150, ["--task", "translation_multi_simple_epoch", "--lang-pairs", PAIRS, "--arch", "mbart_base",
                      "--lang-tok-style", "mbart", "--encoder-langtok", "src", "--decoder-langtok"]),
    "replacing": (3, ["--task", "translation_multi_simple_epoch", "--lang-pairs", PAIRS, "--arch", "mbart_base",
                      "--lang-tok-style", "mbart", "--encoder-langtok", "tgt", "--decoder-langtok",
                      "--lang-tok-replacing-bos-eos"]),
    "mbart25": (3, ["--task", "translation_from_pretrained_bart_dcmbr", "-s", "en_XX", "-t", "de_DE", "--langs",
                    ",".join(LANGUAGES), "--arch", "mbart_base"]),
    "nllb": (3, ["--task", "translation_multi_simple_epoch", "--lang-pairs", PAIRS, "--langs", ",".join(LANGUAGES),
                 "--encoder-langtok", "src", "--decoder-langtok", "--arch", "transformer"]),
}  # fmt: skip

SIZE = [
    *[f"--{side}-{option}" for side in ("encoder", "decoder") for option in
      ("layers=1", "embed-dim=32", "ffn-embed-dim=48", "attention-heads=2", "normalize-before")],
    "--layernorm-embedding", "--share-all-embeddings", "--max-source-positions", "64", "--max-target-positions", "64",
]  # fmt: skip

RUN_ALL = """
import json, sys
from importlib import import_module
for command, *arguments in json.load(sys.stdin):
    sys.argv = ["fairseq-" + command, *arguments]
    import_module("fairseq_cli." + command).cli_main()
"""


@dataclass(frozen=True)
class World:
    """The world on disk, read-only.

    Attributes:
        folder: where it stands.
    """

    folder: Path

    @property
    def data_bin(self) -> Path:
        """Binarised train, valid and test (12 lines) of en_XX with de_DE and with cs_CZ, and the dictionaries."""
        return self.folder / "bin"

    @property
    def release(self) -> Path:
        """A folder laid out like the release of mBART-50."""
        return self.folder / "release"

    @property
    def pieces(self) -> Path:
        """The sentencepiece model."""
        return self.release / "sentence.bpe.model"

    @property
    def nllb_dictionary(self) -> Path:
        """One dictionary for all, in which tags follow the language tokens."""
        return self.folder / "dictionary.txt"

    def checkpoint(self, convention: str) -> Path:
        """The model of one of :data:`CONVENTIONS`."""
        return self.folder / "models" / convention / "checkpoint_last.pt"

    def lines(self, language: str, split: str = "test") -> list[str]:
        """Plain text: 400 lines of train, 20 of valid, 12 of test."""
        return (self.folder / "text" / f"{split}.{language}").read_text("utf-8").splitlines()

    def options(self, convention: str) -> list[object]:
        """What decoding has to be told: task, languages and tokens, of our tasks."""
        if convention == "mbart25":
            return ["--task", "translation_from_pretrained_bart_dcmbr", "--langs", ",".join(LANGUAGES)]
        task: list[object] = ["--task", "translation_multi_simple_epoch_dcmbr", "--decoder-langtok"]
        if convention == "nllb":
            known = ["--langs", ",".join(LANGUAGES), "--fixed-dictionary", self.nllb_dictionary]
            return [*task, *known, "--encoder-langtok", "src", "--lang-pairs", PAIRS]
        known = ["--lang-dict", self.release / "ML50_langs.txt", "--lang-tok-style", "mbart"]
        if convention == "replacing":
            return [*task, *known, "--encoder-langtok", "tgt", "--lang-tok-replacing-bos-eos"]
        return [*task, *known, "--encoder-langtok", "src"]


def build_world(folder: Path) -> None:
    """Write the corpus, learn the pieces, preprocess, train the models, lay out the release."""
    world = World(folder)
    for name in ("text", "segmented", "release"):
        (folder / name).mkdir(parents=True)
    write_text(folder / "text")
    learn_pieces(world)
    (world.release / "ML50_langs.txt").write_text("".join(f"{language}\n" for language in LANGUAGES))
    jobs = [preprocessing(folder, language) for language in ("de_DE", "cs_CZ")]
    run_all([*jobs, *(training(world, convention) for convention in CONVENTIONS)])
    shutil.copy(world.checkpoint("mbart50"), world.release / "model.pt")


def write_text(folder: Path) -> None:
    """Random sentences of a tiny grammar; many words have two translations."""
    words: dict[str, list[list[str]]] = {
        "en_XX": [["the"], ["dog"], ["cat"], ["friend"], ["sees"], ["hears"], ["likes"], ["today"], ["again"]],
        "de_DE": [["der", "ein"], ["Hund", "Köter"], ["Kater"], ["Freund"], ["sieht", "erblickt"], ["hört"],
                  ["mag", "liebt"], ["heute"], ["wieder", "erneut"]],
        "cs_CZ": [["ten"], ["pes"], ["kocour"], ["přítel", "kamarád"], ["vidí"], ["slyší"], ["má rád"], ["dnes"],
                  ["zase", "znovu"]],
    }  # fmt: skip
    dice = random.Random(1)
    for split, size in (("train", 400), ("valid", 20), ("test", 12)):
        sentences = [
            [0, dice.randint(1, 3), dice.randint(4, 6), 0, dice.randint(1, 3), *dice.choice([[], [7], [8]])]
            for _ in range(size)
        ]
        for language, lexicon in words.items():
            lines = [" ".join(dice.choice(lexicon[word]) for word in sentence) + ".\n" for sentence in sentences]
            (folder / f"{split}.{language}").write_text("".join(lines), "utf-8")


def learn_pieces(world: World) -> None:
    """The sentencepiece model, the dictionaries without language tokens as released, and all text in pieces."""
    sentencepiece.SentencePieceTrainer.train(
        input=[str(path) for path in sorted((world.folder / "text").glob("train.*"))],
        model_prefix=str(world.release / "sentence.bpe"), vocab_size=60, character_coverage=1.0, minloglevel=2,
    )  # fmt: skip
    vocabulary = (world.release / "sentence.bpe.vocab").read_text("utf-8").split("\n")[3:]
    (world.release / "sentence.bpe.vocab").unlink()
    entries = [f"{line.split(chr(9))[0]} 1\n" for line in vocabulary if line]
    for language in ("en_XX", "de_DE", "cs_CZ"):
        (world.release / f"dict.{language}.txt").write_text("".join(entries), "utf-8")
    tokens = [f"{token} 1\n" for token in [*(f"__{language}__" for language in LANGUAGES), *TAGS]]
    world.nllb_dictionary.write_text("".join([*entries, *tokens]), "utf-8")
    model = sentencepiece.SentencePieceProcessor(model_file=str(world.pieces))
    for path in (world.folder / "text").iterdir():
        lines = [" ".join(model.encode(line, out_type=str)) for line in path.read_text("utf-8").splitlines()]
        (world.folder / "segmented" / path.name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def preprocessing(folder: Path, language: str) -> list[object]:
    """The fairseq-preprocess command of English with another language."""
    prefixes = [f"--{split}pref={folder / 'segmented' / split}" for split in ("train", "valid", "test")]
    sides = ["-s", "en_XX", "-t", language, "--srcdict", folder / "release" / "dict.en_XX.txt"]
    return ["preprocess", *sides, "--tgtdict", folder / "release" / f"dict.{language}.txt", *prefixes, "--destdir",
            folder / "bin"]  # fmt: skip


def training(world: World, convention: str) -> list[object]:
    """The fairseq-train command of one convention."""
    updates, task = CONVENTIONS[convention]
    known: list[object] = []
    if convention in ("mbart50", "replacing"):
        known = ["--lang-dict", world.release / "ML50_langs.txt"]
    elif convention == "nllb":
        known = ["--fixed-dictionary", world.nllb_dictionary]
    return [
        "train", world.data_bin, *task, *known, *SIZE, "--dropout", 0.1, "--criterion", "label_smoothed_cross_entropy",
        "--label-smoothing", 0.2, "--optimizer", "adam", "--lr", 0.01, "--max-tokens", 600, "--max-update", updates,
        "--save-dir", world.checkpoint(convention).parent, "--disable-validation", "--no-epoch-checkpoints",
        "--no-save-optimizer-state", "--num-workers", 0, "--cpu", "--user-dir", PACKAGE,
    ]  # fmt: skip


def run_all(jobs: list[list[object]]) -> None:
    """Run fairseq's commands one after another in one process."""
    lines = json.dumps([list(map(str, job)) for job in jobs])
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL], input=lines, cwd=REPOSITORY, capture_output=True, text=True, timeout=1800
    )  # many runs: patience on a busy machine
    assert done.returncode == 0, done.stderr[-4000:]
