"""Every command that reads, given every kind of damaged input: one sentence, status 1, and no output."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_world import Toy

from dcmbr_fairseq.cli import COMMANDS, main

#: Command, then its arguments; {in} is what is damaged. The good files are those of the fixture ``inputs``.
RECORDS = {  # JSON lines of decisions, or of pools
    "select": "select {in} --output out",
    "select records": "select {in} --format records --output out",
    "report": "report {in} --output out",
    "distill-data": "distill-data {in} --out out other",
    "merge": "merge {in} --output out",
    "merge second": "merge records.jsonl {in} --output out",
}
TABLES = {
    "correlation": "correlation {in} --output out",
    "table": "table 1 {in} --output out",
    "plot": "plot 1 {in} --output out --formats png",
    "plot 2": "plot 2 {in} --output out --formats png",
    "plot 4": "plot 4 rows.tsv {in} --output out --formats png",
}
TEXTS = {
    "select hypotheses": "select --hypotheses {in} --lines-per-source 1 --output out",
    "select references": "select --hypotheses ref.txt --references {in} --lines-per-source 1 --output out",
    "select source": "select --hypotheses ref.txt --source {in} --lines-per-source 1 --output out",
    "evaluate": "evaluate {in} --references ref.txt --metrics chrf --output out",
    "evaluate references": "evaluate ref.txt --references {in} --metrics chrf --output out",
    "evaluate source": "evaluate ref.txt --references ref.txt --source {in} --metrics chrf --output out",
    "significance": "significance ref.txt {in} --references ref.txt --metrics chrf --samples 9 --output out",
    "significance references": "significance ref.txt hyp.txt --references {in} --metrics chrf --samples 9 --output out",
    "report compare": "report records.jsonl --compare b={in} --output out",
    "report references": "report records.jsonl --references {in} --output out",
    "corpus filter": "corpus filter {in} ref.txt --out out other --processes 1 --invalid-utf8 refuse",
    "corpus filter target": "corpus filter ref.txt {in} --out out other --processes 1 --invalid-utf8 refuse",
    "corpus filter scores": "corpus filter ref.txt hyp.txt --scores {in} --min-score 0 --out out other --processes 1",
    "corpus normalize": "corpus normalize {in} out --lang de --processes 1 --invalid-utf8 refuse",
    "corpus check": "corpus check {in} ref.txt",
    "distill-data sources": "distill-data records.jsonl --sources {in} --out out other",
}
OTHERS = {
    "average": "average {in} a.pt --output out",
    "average last": "average --last 1 {in} --output out",
    "flags": "flags {in}",
}
#: These read no files, or data and checkpoints of fairseq: tests/tasks/test_bad_input.py, tests/messages, and below.
READ_NOTHING = {"temperature", "utilities", "user-dir"}
WITH_A_MODEL = {"generate", "entropy", "ranks", "topn", "diversity", "sweep"}

ROWS = "task\tmodel\tlabel_smoothing\tdecoding\tmetric\tscore\tentropy\n" + "".join(
    f"en-de\tm{i}\t0.{i}\tbeam\tBLEU\t{30 + i * i}\t{1 + i / 3}\n" for i in range(4)
)
GZIP = gzip.compress(b"".join(b"line %d of some text that is packed\n" % i for i in range(2000)))
#: Name of the file and what it holds; None for no file, ... for a folder.
DAMAGED: dict[str, tuple[str, Any]] = {
    "missing": ("in", None),
    "a folder": ("in", ...),
    "below a file": ("ref.txt/in", None),
    "truncated gzip": ("in.gz", GZIP[: len(GZIP) // 2]),
    "no gzip": ("in.gz", b"plain text\n"),
    "binary": ("in", bytes(range(256)) * 40),
    "invalid UTF-8": ("in", b"{\"hypotheses\": [\"gr\xf6\xdfe\"]}\nein Hund .\n"),
    "empty": ("in", b""),
    "deep nesting": ("in.jsonl", b"[" * 100_000 + b"\n"),
    "deep objects": ("in.jsonl", b'{"hypotheses": ["a"], "x": ' + b'{"a":' * 100_000 + b"\n"),
    "huge number": ("in.jsonl", b'{"hypotheses": ["a"], "weights": [' + b"9" * 5000 + b"]}\n"),
    "a list": ("in.jsonl", b"[1, 2]\n[3]\n"),
}  # fmt: skip
#: A process may have had no sentence to decode; only the line ends are counted.
TAKEN = {("merge second", "empty"), ("corpus check", "invalid UTF-8")}
UNREADABLE = {"missing", "a folder", "below a file", "truncated gzip", "no gzip", "binary", "invalid UTF-8"}
#: Values that fields of records may not have; whatever is taken must be shown without a traceback.
WRONG = [None, True, -1, 1.5, 10**30, "x", [], [1], {}, {"a": [None]}, [[]]]
FIELDS = [
    "id", "source", "hypotheses", "references", "weights", "choice", "translation", "expected_utilities", "settings",
    "identity", "signature", "seed", "schema_version", "hypothesis_draws", "reference_draws", "draws",
    "hypothesis_log_probs", "decoding_seconds",
]  # fmt: skip


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the current one, with good inputs for all commands."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.txt").write_text("ein Hund .\neine Katze .\n")
    (tmp_path / "hyp.txt").write_text("ein Hund .\ndie Katze .\n")
    (tmp_path / "records.jsonl").write_text(json.dumps(record()) + "\n")
    (tmp_path / "rows.tsv").write_text(ROWS)
    torch.save({"model": {"w": torch.ones(2)}}, tmp_path / "a.pt")
    return tmp_path


def record(number: int = 0) -> dict[str, Any]:
    return {
        "schema_version": 1, "id": number, "source": "a dog .", "hypotheses": ["ein Hund .", "eine Katze ."],
        "choice": 0, "translation": "ein Hund .", "expected_utilities": [1.0, 0.5],
        "settings": {"utility": "chrf", "utility_args": {}}, "signature": "x",
    }  # fmt: skip


def place(folder: Path, name: str, content: Any) -> None:
    if content is ...:
        (folder / name).mkdir()
    elif content is not None:
        (folder / name).write_bytes(content)


def outputs(folder: Path) -> list[Path]:
    """What a command has written, under its final name or another."""
    return [path for path in folder.iterdir() if path.name.startswith(("out", "other", ".out", ".other"))]


def remove_outputs(folder: Path) -> None:
    for path in outputs(folder):
        path.unlink()


def outcome(line: str, capsys: Any) -> tuple[int, str]:
    """Exit status and the one sentence, if it failed; a traceback fails the test."""
    capsys.readouterr()
    try:
        status = main(line.split())
    except SystemExit as end:  # argparse
        status = int(end.code or 0)
    error = capsys.readouterr().err
    assert "Traceback" not in error and status in (0, 1)
    if status == 0:
        return 0, ""
    (sentence,) = [text for text in error.split("\n") if f"dcmbr {line.split()[0]}: error: " in text]
    assert "Errno" not in sentence and len(sentence) < 1000
    return 1, sentence


def test_every_command_is_here() -> None:
    tried = {line.split()[0] for lines in (RECORDS, TABLES, TEXTS, OTHERS) for line in lines.values()}
    assert tried | READ_NOTHING | WITH_A_MODEL == set(COMMANDS)


ALL = {**RECORDS, **TABLES, **TEXTS, **OTHERS}


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize("name", ALL)
def test_damaged_inputs(inputs: Path, name: str, kind: str, capsys: Any) -> None:
    path, content = DAMAGED[kind]
    if name == "average last" and kind == "a folder":
        pytest.skip("what it takes")
    place(inputs, path, content)
    status, sentence = outcome(ALL[name].replace("{in}", path), capsys)
    is_text = name in TEXTS and kind not in UNREADABLE  # where lines are text, any text is one
    assert status or is_text or (name, kind) in TAKEN, "taken without a word"
    if status:
        assert is_text or path.partition("/")[0] in sentence
        assert not outputs(inputs)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", RECORDS)
def test_wrong_types_in_records(inputs: Path, name: str, field: str, capsys: Any) -> None:
    for value in WRONG:
        (inputs / "in").write_text(json.dumps({**record(1 if "second" in name else 0), field: value}) + "\n")
        status, sentence = outcome(RECORDS[name].replace("{in}", "in"), capsys)
        remove_outputs(inputs)
        legal = "none of 1 decisions is left", "are missing"  # a row of its own kind, which is too little
        assert status == 0 or any(said in sentence for said in ("in, ", "in has", "in:", *legal)), sentence


@pytest.mark.parametrize("column", ["label_smoothing", "score", "entropy", "metric", "model", "task", "decoding"])
@pytest.mark.parametrize("name", ["correlation", "table", "plot", "plot 4"])
def test_wrong_types_in_tables(inputs: Path, name: str, column: str, capsys: Any) -> None:
    head, *lines = ROWS.strip().split("\n")
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    for value in [*WRONG, 1e300, "nan", "inf", ""]:
        rows[2][column] = value
        (inputs / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        outcome(TABLES[name].replace("{in}", "in.jsonl"), capsys)
        remove_outputs(inputs)


#: Of data and models the kinds that fairseq reads in other places; all commands with a model open them alike.
MODELS = [(f"{command} {{data}} --path in --cpu", kind) for command in ("entropy", "generate --output out") for kind in
          ("missing", "a folder", "binary", "empty")]  # fmt: skip
MODELS += [("entropy in --path {model} --cpu", kind) for kind in ("missing", "a folder", "binary", "below a file")]
MODELS += [("entropy {data} --path {model} --cpu --gen-subset in", "missing")]
MODELS += [("sweep {data} --path {model} --cpu --references in --output out", kind) for kind in ("missing", "binary")]


@pytest.mark.parametrize("line, kind", MODELS)
def test_damaged_data_and_models(inputs: Path, toy: Toy, line: str, kind: str, capsys: Any) -> None:
    _, content = DAMAGED[kind]
    if kind == "below a file":
        line = line.replace(" in ", " ref.txt/in ")
    else:
        place(inputs, "in", content)
    status, sentence = outcome(line.format(data=toy.data_bin, model=toy.checkpoint), capsys)
    assert status == 1 and re.search(r"\bin\b", sentence) and "\n" not in sentence
    assert not any(path.is_file() for path in inputs.glob("out*"))
