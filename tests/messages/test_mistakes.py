"""What an uncaught exception means: a sentence where its origin is an input or output, a traceback for faults."""

import errno
import io
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from fairseq_commands import PACKAGE, run
from in_process import Fairseq
from toy_world import Toy

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.messages.mistakes import sentence_of

TRAINING = (
    "--arch transformer --optimizer adam --lr 0.01 --max-update 1 --num-workers 0 --encoder-layers 1 "
    "--decoder-layers 1 --encoder-embed-dim 8 --decoder-embed-dim 8 --encoder-ffn-embed-dim 8 "
    "--decoder-ffn-embed-dim 8 --encoder-attention-heads 2 --decoder-attention-heads 2"
).split()


@pytest.fixture
def fairseq_here(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> Fairseq:
    monkeypatch.chdir(tmp_path)
    return Fairseq(monkeypatch, capsys)


def sentence(run: Any, *arguments: object) -> str:
    """What the hook says of the exception that a fairseq command ends with."""
    with pytest.raises(Exception) as caught:
        run(*arguments)
    found = sentence_of(caught.value, sys.argv[1:])
    assert found is not None, repr(caught.value)
    assert "\n" not in found and "Errno" not in found
    return found


# --- fairseq's own ----------------------------------------------------------------------------------------------------

GENERATE = [
    ("nowhere --path {model}", "nowhere is not there: give the path of an existing file or folder"),
    ("empty --path {model}", "empty does not tell its languages: give them with -s and -t"),
    ("{data}", "--path is missing: give the checkpoint to decode with"),
    ("{data} --path no.pt", "--path no.pt is not a file: give the path of an existing file"),
    ("{data} --path {model}:no.pt", "--path no.pt is not a file"),
    ("{data} --path bad.pt", "--path bad.pt cannot be read as a fairseq checkpoint ("),
    ("{data} --path {data}", "cannot be used: it is a folder; give the path of a file"),
    ("{data} --path {model} --gen-subset foo", "--gen-subset foo: {data} has no such subset in these languages (it has "
     "test, train, valid): choose another"),
    ("{data} --path {model} -s xx -t de", "{data} has no dictionary of the language xx (it has those of de, en)"),
    ("{data} --path {model} --max-tokens 3", "--max-tokens 3 is smaller than the longest sentence: raise it"),
    ("{data} --path {model} --max-source-positions 3", "sentence 0 is too long for the model, which takes (3, 1024)"),
    ("{data} --path {model} --results-path {model}/x", "--results-path {model}/x cannot be used: a part of the path"),
    ("{data} --path a${{x}}.pt", "--path holds ${{...}}, which fairseq takes for another setting's value"),
    ("a${{x}} --path {model}", "the data folder holds ${{...}}, which fairseq takes"),
    ("{data} --path a${{.pt", "--path holds ${{, which fairseq takes for another setting's value"),
    ("{data} --path {model} --seed -1", "--seed must be a whole number from 0 to 4294967295, got -1"),
    ("{data} --path {model} --seed 99999999999999999999", "--seed must be a whole number from 0 to 4294967295, got 99"),
    ("{data} --path {model} --bpe subword_nmt --bpe-codes no", "--bpe-codes no is not a file"),
    ("{data} --path {model} --bpe sentencepiece", "--sentencepiece-model is missing: give"),
    ("{data} --path {model} --bpe sentencepiece --sentencepiece-model bad.pt", "bad.pt is no sentencepiece model"),
    ("{data} --path {model} --model-overrides {{", "--model-overrides must be a Python dictionary such as"),
    ("damaged --path {model}", "damaged/test.en-de.en.bin and .idx are cut off or damaged: copy it again"),
    ("words --path {model}", "is no dictionary of fairseq (Incorrect dictionary format"),
]  # fmt: skip


@pytest.mark.parametrize("line, message", GENERATE, ids=[line for line, _ in GENERATE])
def test_fairseq_generate(fairseq_here: Fairseq, toy: Toy, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.pt").write_bytes(toy.checkpoint.read_bytes()[:5000])
    for name in ("damaged", "words"):
        if line.startswith(name):
            shutil.copytree(toy.data_bin, tmp_path / name)
    if line.startswith("damaged"):
        os.truncate(tmp_path / "damaged" / "test.en-de.en.idx", 100)
    if line.startswith("words"):
        (tmp_path / "words" / "dict.en.txt").write_text("a\nb\n")
    names = {"data": toy.data_bin, "model": toy.checkpoint}
    said = sentence(fairseq_here.generate, *[word.format(**names) for word in line.split(" ")])
    assert message.format(**names) in said


TRAIN = [
    ("{data} --max-tokens 800 --save-dir bad.pt", "--save-dir bad.pt cannot be used: a part of the path is a file"),
    ("{data} --max-tokens 800 --valid-subset foo --save-dir s", "--valid-subset foo: {data} has no such subset"),
    ("{data} --max-tokens 2 --save-dir s", "no sentence is left to train on: raise --max-tokens"),
    ("{data} --max-tokens 800 --fp16 --save-dir s", "--fp16 does not go with --cpu"),
    ("{data} --max-tokens 800 --encoder-attention-heads 3 --save-dir s", "must divide the embedding dimensions"),
    ("{data} --max-tokens 800 --share-all-embeddings --save-dir s", "--share-all-embeddings needs a joined dictionary"),
    ("{data} --max-tokens 800 --restore-file bad.pt --save-dir s", "--restore-file bad.pt cannot be read as a fairseq"),
]  # fmt: skip


@pytest.mark.parametrize("line, message", TRAIN, ids=[line for line, _ in TRAIN])
def test_fairseq_train(fairseq_here: Fairseq, toy: Toy, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "bad.pt").write_bytes(toy.checkpoint.read_bytes()[:5000])
    said = sentence(fairseq_here.train, *TRAINING, *[word.format(data=toy.data_bin) for word in line.split(" ")])
    assert message.format(data=toy.data_bin) in said


OTHERS = [
    ("validate", "{data} --path no.pt", "--path no.pt is not a file: give the path of an existing file"),
    ("validate", "{data} --path bad.pt", "--path bad.pt cannot be read as a fairseq checkpoint ("),
    ("validate", "{data}", "--path is missing: give the checkpoint to validate"),
    ("validate", "{data} --path {model} --valid-subset foo", "--valid-subset foo: {data} has no such subset"),
    ("validate", "{data} --path {model} --max-tokens 2", "--max-tokens 2 is smaller than the longest sentence: raise"),
    ("preprocess", "-s en -t de --trainpref no --destdir out", "--trainpref no: no.en is not there"),
    ("preprocess", "-s en -t de --trainpref text --destdir bad.pt/out", "--destdir bad.pt/out cannot be used: a part"),
    ("preprocess", "-s en -t de --trainpref text --srcdict bad.pt --destdir out", "bad.pt is not UTF-8"),
    ("preprocess", "-s en -t de --validpref text --destdir out", "--trainpref is missing, which is needed where"),
    ("preprocess", "-s en -t de --trainpref text --destdir made", "made/dict.en.txt exists already: give another"),
    ("preprocess", "-s en -t de --trainpref latin --destdir out", "latin.en is not UTF-8: convert it with iconv"),
    ("preprocess", "-s en -t de --trainpref text --joined-dictionary --srcdict a --tgtdict b --destdir out",
     "--srcdict and --tgtdict do not go together with --joined-dictionary"),
    ("eval_lm", "nowhere --path {model}", "nowhere is not there: give the path of an existing file or folder"),
    ("eval_lm", "{data} --path {model}", "{data}: {data}/dict.txt is not there"),
]  # fmt: skip


@pytest.mark.parametrize("command, line, message", OTHERS, ids=[f"{command} {line}" for command, line, _ in OTHERS])
def test_fairseqs_other_commands(
    fairseq_here: Fairseq, toy: Toy, tmp_path: Path, command: str, line: str, message: str
) -> None:
    (tmp_path / "bad.pt").write_bytes(toy.checkpoint.read_bytes()[:5000])
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "dict.en.txt").write_text("a 1\n")
    for language in ("en", "de"):
        (tmp_path / f"text.{language}").write_text("a b\n")
        (tmp_path / f"latin.{language}").write_bytes("größe\n".encode("latin-1"))
    names = {"data": toy.data_bin, "model": toy.checkpoint}
    words = [word.format(**names) for word in line.split(" ")]
    if command == "validate":
        words += ["--task", "translation", *([] if "--max-tokens" in words else ["--max-tokens", "800"])]
    assert message.format(**names) in sentence(fairseq_here.other, command, *words)


def test_fairseq_interactive(fairseq_here: Fairseq, toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "latin1").write_bytes("größe\n".encode("latin-1"))
    arguments = [toy.data_bin, "--path", toy.checkpoint, "--input"]
    said = sentence(fairseq_here.interactive, "", *arguments, "no")
    assert said == "--input no is not a file: give the path of an existing file"
    said = sentence(fairseq_here.interactive, "", *arguments, "latin1")
    assert said == "line 1 of --input latin1 is not UTF-8: convert it with iconv"


def test_the_hook_ends_a_command_with_the_sentence(toy: Toy, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "fairseq_cli.generate", str(toy.data_bin), "--cpu", "--user-dir", str(PACKAGE)]
    done = run(line, check=False, cwd=tmp_path, env={**os.environ, "DCMBR_TRACEBACK": "0"})
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.endswith("dcmbr_fairseq: error: --path is missing: give the checkpoint to decode with\n")
    shown = run(line, check=False, cwd=tmp_path, env={**os.environ, "DCMBR_TRACEBACK": "1"})
    assert shown.returncode == 1 and "Traceback" in shown.stderr and shown.stderr.endswith(done.stderr[-60:])


# --- the rule ---------------------------------------------------------------------------------------------------------


def raised(error: BaseException) -> BaseException:
    """The exception, with a traceback of this place."""
    try:
        raise error
    except BaseException as caught:
        return caught


FAULTS = [
    AssertionError("--path required for generation!"),  # the same words from elsewhere
    FileNotFoundError("Dataset not found: test (data)"),
    ValueError("Seed must be between 0 and 2**32 - 1"),
    OSError(errno.ENOSPC, "No space left on device"),  # a bare errno: of what?
    FileNotFoundError(errno.ENOENT, "No such file or directory", "/elsewhere/made-by-the-program"),
    KeyError("x"),
    RuntimeError("CUDA error: an illegal memory access was encountered"),
]


@pytest.mark.parametrize("error", FAULTS, ids=repr)
def test_faults_keep_their_traceback(error: Exception) -> None:
    assert sentence_of(raised(error), ["data-bin", "--path", "model.pt", "--seed", "3"]) is None


@pytest.mark.parametrize("flag", ["--path {}", "--path={}", "{}", "--compare beam={}", "--path a.pt:{}"])
def test_a_file_is_known_by_the_command_line(flag: str, tmp_path: Path) -> None:
    name = str(tmp_path / "here.pt")
    error = raised(PermissionError(errno.EACCES, "Permission denied", name))
    said = sentence_of(error, flag.format(name).split())
    assert said is not None and f"{name} cannot be used: permission denied; change the permissions" in said


@pytest.mark.parametrize("name", ["out/checkpoint_last.pt", "out/a/b", "out", ".out.123.partial"])
def test_what_stands_below_or_beside_a_named_place_belongs_to_it(name: str) -> None:
    error = raised(OSError(errno.EROFS, "Read-only file system", os.path.abspath(name)))
    said = sentence_of(error, ["data", "--save-dir", "out"])
    assert said == "--save-dir out cannot be written: the file system is read-only; write elsewhere"


def test_a_user_error_is_its_own_sentence() -> None:
    assert sentence_of(UserError("--beam 0: give 1"), []) == "--beam 0: give 1"


def test_a_lone_surrogate_is_named() -> None:
    with pytest.raises(UnicodeEncodeError) as caught:
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8").write("\ud800")
    assert "U+D800" in str(sentence_of(caught.value, []))
