"""Every block of README and docs is in a class, and its commands run, or at least are understood as they stand.

RUN: the commands run on the toy model, with the document's own options; only names of files, and what makes a run long
(how many sentences, draws, seeds), are replaced. EXACT: they run as they stand, on tables of this repository, and print
what the document shows. PARSED: what needs a network, a GPU, large models or hours: each
command of ours, and of fairseq, is read by its own parser, each script is there and is shell that bash can read.
"""

import argparse
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from blocks import Block, blocks, script
from fairseq_commands import PACKAGE, REPOSITORY
from in_process import Fairseq
from toy_world import Toy

from dcmbr_fairseq.cli import build_parser, main

RUN, EXACT, PARSED, SHOWN = "run", "exact", "parsed", "shown"
#: (document, how the first line begins) -> class, and why it is not run.
CLASSES: dict[tuple[str, str], tuple[str, str]] = {
    ("README.md", "git clone"): (PARSED, "minutes; tests/scripts/test_demo.py runs the demo"),
    ("README.md", "@inproceedings"): (SHOWN, "is no command"),
    ("README.md", "The phrasebook, English"): (SHOWN, "what the demo prints"),
    ("README.md", "pip install ."): (SHOWN, "needs a network; scripts/check_install.sh tries it"),
    ("README.md", "fairseq-generate DATA_BIN"): (RUN, ""),
    ("README.md", "import dcmbr_fairseq"): (RUN, ""),
    ("README.md", "dcmbr select pools.jsonl"): (RUN, ""),
    ("analysis.md", "D="): (SHOWN, "a variable of the blocks below it"),
    ("analysis.md", "fairseq-train data-bin"): (PARSED, "trains"),
    ("analysis.md", "TOP_FIRST=60 scripts"): (PARSED, "an hour; tests/scripts/test_figures_script.py runs it"),
    ("analysis.md", "$ dcmbr evaluate"): (RUN, ""),
    ("analysis.md", "$ dcmbr significance"): (RUN, ""),
    ("analysis.md", "$ dcmbr temperature --from-ls"): (RUN, ""),
    ("analysis.md", "$ dcmbr entropy"): (RUN, ""),
    ("analysis.md", "$ dcmbr temperature --tune"): (RUN, ""),
    ("analysis.md", "$ dcmbr ranks"): (RUN, ""),
    ("analysis.md", "$ dcmbr topn"): (RUN, ""),
    ("analysis.md", "$ dcmbr sweep"): (RUN, ""),
    ("analysis.md", "$ dcmbr plot 4"): (PARSED, "needs six models; tests/present/test_figures.py draws it"),
    ("analysis.md", "$ dcmbr correlation docs/results"): (EXACT, ""),
    ("analysis.md", "dcmbr plot 5"): (PARSED, "another table than the sweep's above; test_figures.py draws it"),
    ("analysis.md", "$ dcmbr table 1"): (PARSED, "needs the decodings of the table; test_tables.py makes it"),
    ("analysis.md", "fairseq-generate DATA"): (PARSED, "stands for a command with the reader's own options"),
    ("architecture.md", "flowchart"): (SHOWN, "a picture"),
    ("distillation.md", "DATA="): (PARSED, "an hour; tests/scripts/test_distill.py runs it"),
    ("distillation.md", "dcmbr distill-data"): (PARSED, "tests/training/test_distillation.py runs it"),
    ("mbart50.md", "fairseq-generate"): (PARSED, "needs mBART-50; tests/tasks/test_mbart50.py runs a small one"),
    ("mbart50.md", "import dcmbr_fairseq"): (PARSED, "needs mBART-50"),
    ("mbart50.md", "export MBART50"): (PARSED, "needs mBART-50"),
    ("mbart50.md", "scripts/mbart50/train_small.sh"): (PARSED, "trains for an hour"),
    ("scale.md", ""): (SHOWN, "needs a cluster, a GPU or hours; tests/scale runs dcmbr generate and merge"),
    ("training.md", ""): (PARSED, "trains for days, on GPUs"),
    ("utilities.md", "$ dcmbr utilities"): (RUN, ""),
    ("utilities.md", "apt-get"): (PARSED, "needs a network"),
    ("utilities.md", "export BEER_HOME"): (PARSED, "needs BEER"),
    ("utilities.md", "pip install"): (PARSED, "needs a network, and models"),
}
BLOCKS = blocks()


def class_of(block: Block) -> tuple[str, str]:
    """Its class and the reason; the longest beginning of its first line counts."""
    fitting = [key for key in CLASSES if key[0] == block.document and block.first.startswith(key[1])]
    assert fitting, f"{block.document}: a block that begins with {block.first!r} is in no class of CLASSES"
    return CLASSES[max(fitting, key=lambda key: len(key[1]))]


def of_class(name: str) -> list[Block]:
    return [block for block in BLOCKS if class_of(block)[0] == name]


def shown_as(block: Block) -> str:
    return f"{block.document}: {block.first[:60]}"


def test_every_block_is_in_a_class_and_every_class_is_needed() -> None:
    assert len(BLOCKS) > 30
    used = {max((k for k in CLASSES if k[0] == b.document and b.first.startswith(k[1])), key=lambda k: len(k[1]))
            for b in BLOCKS if class_of(b)}  # fmt: skip
    assert used == set(CLASSES)
    assert all(reason or name in (RUN, EXACT) for name, reason in CLASSES.values())


# --- parsed -----------------------------------------------------------------------------------------------------------


def understand(command: list[str]) -> None:
    """Read a command's options by its own parser; refuse what it does not know."""
    name, *arguments = command
    arguments = [word for word in arguments if word != "..." and not word.startswith((">", "#"))]
    if name == "dcmbr":
        args, others = build_parser(arguments[0]).parse_known_args(arguments)
        assert args.fairseq_flags is not None or not others, others
        if others:
            fairseq_parser("generate").parse_args(others)
    elif name in ("fairseq-generate", "fairseq-train"):
        fairseq_parser(name.removeprefix("fairseq-"), arguments)
    elif name.endswith(".sh") or (name == "bash" and arguments):
        path = script(next(word for word in command if word.endswith(".sh")).replace("$script", "decode"))
        assert path.is_file(), path
        assert subprocess.run(["bash", "-n", path]).returncode == 0


def fairseq_parser(command: str, arguments: list[str] | None = None) -> argparse.ArgumentParser:
    """fairseq's parser; with the options of the task and the model that ``arguments`` choose."""
    from fairseq import options

    parser = options.get_generation_parser() if command == "generate" else options.get_training_parser()
    if arguments is not None:
        words = [str(PACKAGE) if word == "dcmbr_fairseq" else word for word in arguments]
        options.parse_args_and_arch(parser, input_args=words)
    return parser


@pytest.mark.parametrize("block", of_class(PARSED), ids=shown_as)
def test_commands_are_understood(block: Block) -> None:
    if block.language == "python":
        compile(block.text, block.document, "exec")
        return
    syntax = "\n".join(line.removeprefix("$ ") for line in block.text.split("\n") if not _is_output(block, line))
    assert subprocess.run(["bash", "-n"], input=syntax.encode()).returncode == 0
    for command in block.commands():
        understand(command)


def _is_output(block: Block, line: str) -> bool:
    """Whether a line was printed by the command above it, in blocks with prompts."""
    if not any(each.startswith("$ ") for each in block.text.split("\n")):
        return False
    lines = block.text.split("\n")
    place = lines.index(line)
    continued = place > 0 and lines[place - 1].endswith("\\")
    return not line.startswith("$ ") and not continued


# --- run --------------------------------------------------------------------------------------------------------------

#: What makes a run long, and what it is here.
SHORTER = {"--first": "3", "--num-hyp": "3", "--num-ref": "3", "--seeds": "1", "--samples": "20"}
GRID = ("--temp-hyp", "--temp-ref", "--temperatures")
SHORTER.update(dict.fromkeys(GRID, "0.5,1"))


@pytest.fixture(scope="module")
def workplace(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the documents name, made of the toy world."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "models").mkdir()
    state = torch.load(toy.checkpoint)
    for smoothing in (0.0, 0.1, 0.2, 0.3):
        state["cfg"]["criterion"]["label_smoothing"] = smoothing  # what tables tell the models apart by
        torch.save(state, folder / "models" / f"ls{smoothing}.pt")
    shutil.copytree(toy.data_bin, folder / "data-bin")
    shutil.copytree(toy.data_bin, folder / "DATA_BIN")
    (folder / "MODEL_DIR").mkdir()
    shutil.copy(toy.checkpoint, folder / "MODEL_DIR" / "model.pt")
    shutil.copy(toy.checkpoint, folder / "model.pt")
    (folder / "codes").write_text("#version: 0.2\nt h\nth e</w>\n")
    references = toy.lines("de")
    for name in ("test.de", "beam.log", "mbr.jsonl", "dcmbr.jsonl"):
        (folder / name).write_text("".join(f"{line}\n" for line in references))
    return folder


def shortened(command: list[str], workplace: Path) -> list[str]:
    """A command with the values of the document's variables, and with what makes it long made small."""
    values = {
        "$D": "data-bin -s en -t de --gen-subset test --remove-bpe --tokenizer moses".split(),
        "$MODELS": "--path models/ls0.0.pt --path models/ls0.1.pt".split(),
    }
    if "$FLAGS" in command:
        values["$FLAGS"] = (workplace / "best.flags").read_text().split()
    words = [each for word in command for each in values.get(word, [word])]
    if ">" in words:
        words = words[: words.index(">")]
    for place, (flag, value) in enumerate(zip(words, words[1:], strict=False)):
        if flag in SHORTER and (flag not in GRID or "," in value):
            words[place + 1] = SHORTER[flag]
    return words


@pytest.mark.parametrize("block", of_class(RUN), ids=shown_as)
def test_commands_run(
    block: Block, workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    if block.language == "python":
        exec(compile(block.text.replace("MODEL_DIR", str(workplace / "MODEL_DIR")), block.document, "exec"), {})
        return
    for command in block.commands():
        run_one(shortened(command, workplace), workplace, monkeypatch, capsys)


def run_one(
    words: list[str], workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if words[0] == "fairseq-generate":
        flags = [str(PACKAGE) if word == "dcmbr_fairseq" else word for word in words[1:]]
        out = Fairseq(monkeypatch, capsys).generate(*flags)
        assert "D-0\t" in out
    elif words[0] == "dcmbr":
        assert main([*words[1:], *(["--cpu"] if "--path" in words else [])]) == 0, words


def test_repository_paths_in_the_text_exist() -> None:
    """Files of the repository that a document names in backticks or as a link."""
    for path in (REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("block", of_class(EXACT), ids=shown_as)
def test_commands_print_what_the_document_shows(
    block: Block, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(REPOSITORY)
    printed = ""
    for command in block.commands():
        assert command[0] == "dcmbr" and main(command[1:]) == 0
        printed += f"$ {' '.join(command)}\n{capsys.readouterr().out}"
    assert printed == block.text
