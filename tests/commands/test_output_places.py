"""Every command that writes, at every kind of place that cannot be written: one sentence, status 1, nothing left."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq_commands import run
from toy_world import Toy

from dcmbr_fairseq.cli import COMMANDS, main

#: Command, then its arguments in the folder of the fixture ``inputs``; {out} is where it writes.
WITHOUT_A_MODEL: dict[str, str] = {
    "select": "select pools.jsonl --output {out}",
    "select json": "select pools.jsonl --format json --output {out}",
    "utilities": "utilities --output {out}",
    "evaluate": "evaluate hyp.txt --references ref.txt --metrics chrf --output {out}",
    "significance": "significance hyp.txt ref.txt --references ref.txt --samples 10 --metrics chrf --output {out}",
    "temperature": "temperature --from-ls 0.1 --to-ls 0.01 --output {out}",
    "correlation": "correlation rows.tsv --output {out}",
    "table": "table 1 --paper --output {out}",
    "plot": "plot 2 ranks.tsv --formats png --output {out}/figure",
    "report": "report records.jsonl --output {out}",
    "average": "average a.pt a.pt --output {out}",
    "corpus filter": "corpus filter src.txt ref.txt --processes 1 --out {out} other.txt",
    "corpus filter report": "corpus filter src.txt ref.txt --processes 1 --out one.txt other.txt --report {out}",
    "distill-data": "distill-data records.jsonl --out {out} other.txt",
    "distill-data report": "distill-data records.jsonl --out one.txt other.txt --report {out}",
    "merge": "merge records.jsonl --output {out}",
    "merge text": "merge records.jsonl --output all.jsonl --translations {out}",
    "corpus normalize": "corpus normalize ref.txt {out} --lang de --processes 1",
}
WITH_A_MODEL: dict[str, str] = {
    "entropy": "entropy {data} --path {model} --cpu --output {out}",
    "ranks": "ranks {data} --path {model} --cpu --output {out}",
    "topn": "topn {data} --path {model} --cpu --first 1 --output {out}",
    "diversity": "diversity {data} --path {model} --cpu --first 1 --output {out}",
    "sweep": "sweep {data} --path {model} --cpu --first 1 --output {out}",
    "sweep tests": "sweep {data} --path {model} --cpu --first 1 --with-beam --num-hyp 2 --temp-hyp 1 --output t.tsv "
    "--baseline decoding=beam --tests {out}",
    "tune": "temperature --tune {data} --path {model} --cpu --first 1 --output {out}",
    "tune surface": "temperature --tune {data} --path {model} --cpu --first 1 --surface {out}",
}
#: These print, write nothing, or write into a folder (tests/scale).
NO_OUTPUT = {"flags", "generate", "user-dir"}

ROWS = "task\tmodel\tlabel_smoothing\tdecoding\tmetric\tscore\tentropy\n" + "".join(
    f"en-de\tm{i}\t0.{i}\tbeam\tBLEU\t{30 + i * i}\t{1 + i / 3}\n" for i in range(4)
)


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the current one, with good inputs for all commands."""
    monkeypatch.chdir(tmp_path)
    texts = ["ein Hund .", "eine Katze ."]
    for name in ("hyp.txt", "ref.txt"):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "src.txt").write_text("a dog .\na cat .\n")
    (tmp_path / "pools.jsonl").write_text("".join(json.dumps({"hypotheses": [t, "x"]}) + "\n" for t in texts))
    assert main(["select", "pools.jsonl", "--format", "json", "--output", "chosen.jsonl"]) == 0
    record = {"id": 0, "source": "a dog .", "hypotheses": texts, "choice": 0, "translation": texts[0],
              "expected_utilities": [1.0, 0.5],
              "settings": {"utility": "chrf", "utility_args": {}}, "signature": "x"}  # fmt: skip
    (tmp_path / "records.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "rows.tsv").write_text(ROWS)
    (tmp_path / "ranks.tsv").write_text("model\tbucket\tcount\tshare\nm\t0-5\t3\t0.75\nm\t5-|V|\t1\t0.25\n")
    torch.save({"model": {"w": torch.ones(2)}}, tmp_path / "a.pt")
    return tmp_path


@pytest.fixture
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which nothing may be written, even by root, where the system offers such a thing."""
    folder = tmp_path_factory.mktemp("frozen")
    if os.geteuid():
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    if subprocess.run(["chattr", "+i", folder], capture_output=True).returncode:
        pytest.skip("root may write everywhere here: neither permissions nor chattr +i hold it back")
    yield folder
    subprocess.run(["chattr", "-i", folder], check=True)


PLACES = ["a folder", "below a file", "a folder to be", "too long a name", "a circle of links", "no permission"]


@pytest.fixture(params=PLACES)
def bad_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A path at which no file can be written."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").write_text("precious\n")
    os.symlink("circle", tmp_path / "circle")
    if request.param == "no permission":
        return str(request.getfixturevalue("frozen") / "out.txt")
    return {
        "a folder": "folder", "below a file": "ref.txt/out.txt", "a folder to be": "new/", "too long a name": "x" * 300,
        "a circle of links": "circle",
    }[request.param]  # fmt: skip


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def refused(line: str, capsys: Any) -> str:
    """The one sentence that a command ends with."""
    capsys.readouterr()
    assert main(line.split()) == 1
    error = capsys.readouterr().err
    (sentence,) = [text for text in error.split("\n") if f"dcmbr {line.split()[0]}: error: " in text]
    assert "Errno" not in sentence and "Traceback" not in error
    return sentence


def test_every_command_is_here() -> None:
    tried = {line.split()[0] for line in (*WITHOUT_A_MODEL.values(), *WITH_A_MODEL.values())}
    assert tried | NO_OUTPUT == set(COMMANDS)


@pytest.mark.parametrize("line", WITHOUT_A_MODEL.values(), ids=WITHOUT_A_MODEL)
def test_bad_places(inputs: Path, bad_place: str, line: str, capsys: Any) -> None:
    if line.startswith("plot"):
        bad_place = bad_place.rstrip("/").replace("folder", "ref.txt").replace("new", "ref.txt")
    before = tree(inputs)
    sentence = refused(line.format(out=bad_place), capsys)
    assert bad_place.rstrip("/") in sentence and "cannot be written" in sentence
    assert tree(inputs) == before


@pytest.mark.parametrize("line", WITH_A_MODEL.values(), ids=WITH_A_MODEL)
def test_bad_places_are_found_before_a_model_is_loaded(
    inputs: Path, bad_place: str, line: str, toy: Toy, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairseq import checkpoint_utils

    monkeypatch.delattr(checkpoint_utils, "load_model_ensemble")
    before = tree(inputs)
    sentence = refused(line.format(out=bad_place, data=toy.data_bin, model=toy.checkpoint), capsys)
    assert bad_place in sentence and "cannot be written" in sentence
    assert tree(inputs) == before


@pytest.mark.parametrize("line", WITHOUT_A_MODEL.values(), ids=WITHOUT_A_MODEL)
def test_a_full_disk(inputs: Path, line: str, capsys: Any) -> None:
    if line.startswith("plot"):
        pytest.skip("writes files beside the name, and a device has none beside it")
    if not Path("/dev/full").is_char_device():
        pytest.skip("this system has no /dev/full")
    before = tree(inputs)
    sentence = refused(line.format(out="/dev/full"), capsys)
    assert (
        "the disk is full: /dev/full could not be written" in sentence or "/dev/full is a pipe or a device" in sentence
    )
    left = {name for name in tree(inputs).keys() - before.keys() if "report" not in line}
    assert not left


@pytest.mark.parametrize("line", WITHOUT_A_MODEL.values(), ids=WITHOUT_A_MODEL)
def test_good_places(inputs: Path, line: str) -> None:
    """The same lines work where nothing is in the way: the refusals above are about the place."""
    assert main(line.format(out="made/out.txt").split()) == 0
    assert len(list((inputs / "made").rglob("*"))) >= 1


#: Runs lines on a read-only mount and on a disk that is full, each with the sentences that it ends with, in a namespace
#: where this may be mounted.
MOUNTED = """
import contextlib, errno, io, json, os, subprocess, sys
from dcmbr_fairseq.cli import main
for folder in ("readonly", "full"):
    os.mkdir(folder)
subprocess.run("mount -t tmpfs -o ro none readonly && mount -t tmpfs -o size=16k none full", shell=True, check=True)
with contextlib.suppress(OSError), open("full/ballast", "wb", buffering=0) as ballast:
    while True:
        ballast.write(bytes(1024))
found = []
for line in json.load(sys.stdin):
    for folder in ("readonly", "full"):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            status = main(line.format(out=f"{folder}/out").split())
        found.append((line, folder, status, said.getvalue(), os.listdir(folder)))
print()  # after what the commands have said
print(json.dumps(found))
"""


def test_read_only_mounts_and_full_disks(inputs: Path) -> None:
    lines = [line.replace("{out}/figure", "{out}") for line in WITHOUT_A_MODEL.values()]
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("nothing may be mounted here")
    done = run([*alone, sys.executable, "-c", MOUNTED], stdin=json.dumps(lines))
    for line, folder, status, said, left in json.loads(done.stdout.split("\n")[-2]):
        (sentence,) = [text for text in said.split("\n") if f"dcmbr {line.split()[0]}: error: " in text]
        assert status == 1 and "Traceback" not in said and f"{folder}/out" in sentence, sentence
        assert {"readonly": "the file system is read-only", "full": "the disk is full"}[folder] in sentence
        assert left == {"readonly": [], "full": ["ballast"]}[folder]


# --- standard output, in processes of their own -----------------------------------------------------------------------


def dcmbr(redirection: str, *, locale: str = "C.UTF-8", line: str = "table 1 --paper") -> Any:
    """A command by a shell, which redirects its standard output."""
    script = f'"{sys.executable}" -m dcmbr_fairseq.cli {line} {redirection}'
    environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment.pop("PYTHONIOENCODING", None)
    return run(["bash", "-c", f"set -o pipefail; {script}"], check=False, env=environment)


@pytest.mark.parametrize("redirection, reason", [(">/dev/full", "the disk is full"), (">&-", "is closed")])
@pytest.mark.parametrize("line", ["table 1 --paper", "--help"])
def test_standard_output_that_cannot_be_written(redirection: str, reason: str, line: str) -> None:
    done = dcmbr(redirection, line=line)
    assert done.returncode == 1
    assert len(done.stderr.strip().split("\n")) == 1 and "standard output" in done.stderr and reason in done.stderr


def test_a_reader_that_has_seen_enough() -> None:
    done = dcmbr("| head -n 1")
    assert done.returncode == 0 and done.stderr == "" and done.stdout.count("\n") == 1


def test_closed_standard_error_does_not_send_messages_to_standard_output() -> None:
    done = dcmbr("2>&-", line="table 1 no-such-file")
    assert done.returncode == 1 and done.stdout == ""


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_output_is_utf8_whatever_the_locale(locale: str, tmp_path: Path) -> None:
    (tmp_path / "ref").write_text("a b\n")
    (tmp_path / "größe").write_text("a b\n")
    line = f"evaluate {tmp_path / 'größe'} --references {tmp_path / 'ref'} --metrics chrf --names Größe"
    done = dcmbr("", locale=locale, line=line)
    assert done.returncode == 0 and "Größe" in done.stdout
    assert "Δ" in dcmbr("", locale=locale).stdout
