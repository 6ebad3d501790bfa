"""dcmbr distill-data: what is written, what each rule drops, and that nothing shifts or is lost."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.rows import format_row, make_row
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.rules import build_rule
from dcmbr_fairseq.training.distillation import Selection, distill
from dcmbr_fairseq.utilities import build_utility


def decided(sources: Sequence[str], pools: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """The records of decisions by chrF, one a source."""
    sentences = [
        Pools.of([TextPool.from_draws(texts, [0.0] * len(texts), [0.0] * len(texts))], source)
        for source, texts in zip(sources, pools, strict=True)
    ]
    decisions = build_rule("exact", {}).decide([pool.candidates() for pool in sentences], build_utility("chrf", {}), 1)
    return [
        make_row(number, pool, int(decision.order[0]), decision)
        for number, (pool, decision) in enumerate(zip(sentences, decisions, strict=True))
    ]


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(format_row(row) + "\n" for row in rows), "ascii")
    return path


SOURCES = ["a dog runs", "copied", "two cats", "a man", "nothing", "a dog runs"]
POOLS = [
    ["ein Hund rennt", "ein Hund rennt", "ein Hund läuft"],
    ["copied", "copied"],
    ["zwei Katzen " * 9, "zwei Katzen " * 9],
    ["Mann", "Frau", "Kind", "Haus"],
    ["", ""],
    ["ein Hund rennt", "ein Hund rennt", "ein Hund läuft"],
]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write(tmp_path / "pools.jsonl", decided(SOURCES, POOLS))


def lines(path: Path) -> list[str]:
    return path.read_bytes().decode().split("\n")[:-1]


def test_rules_in_their_order(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = [tmp_path / "train.en", tmp_path / "train.de"], tmp_path / "report.json"
    line = ["distill-data", str(records), "--out", *map(str, out), "--drop-lowest", "0.3", "--report", str(report)]
    assert main(line) == 0
    assert lines(out[0]) == ["a dog runs"] and lines(out[1]) == ["ein Hund rennt"]
    counts = json.loads(report.read_text())
    expected = {"empty": 1, "ratio": 1, "copy": 1, "low-utility": 1, "repeated": 1}
    assert counts["dropped"] == expected and counts["kept"] == 1 and counts["decisions"] == 6
    assert "of 6 decisions" in capsys.readouterr().out


def test_the_threshold_is_the_quantile_of_what_was_chosen(records: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in records.read_text().splitlines()]
    chosen = [row["expected_utilities"][row["choice"]] for row in rows]
    report = distill([records], [tmp_path / "en", tmp_path / "de"], Selection(drop_lowest=0.3))
    assert report.threshold == np.quantile(chosen, 0.3)


def test_skipped_rules_and_several_files(records: Path, tmp_path: Path) -> None:
    selection = Selection(skip=("empty", "ratio", "copy", "repeated"))
    report = distill([records, records], [tmp_path / "en", tmp_path / "de"], selection)
    assert report.kept == report.decisions == 12
    assert lines(tmp_path / "en") == SOURCES * 2
    assert lines(tmp_path / "de") == [row["translation"] for row in map(json.loads, lines(records))] * 2


def test_sources_of_their_own(records: Path, tmp_path: Path) -> None:
    """By the record's id, whatever order and file it stands in: one file for all records, or one for each."""
    rows = records.read_text().splitlines()
    shards = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    shards[0].write_text("\n".join(rows[:2][::-1]) + "\n")
    shards[1].write_text("\n".join(rows[3:4] + rows[2:3]) + "\n")
    texts = tmp_path / "texts"
    texts.write_text("".join(f"Source {number} ☃\n" for number in range(4)), "utf-8")
    selection = Selection(skip=("empty", "ratio", "copy", "repeated"))
    for files in ([texts], [texts, texts]):
        distill(shards, [tmp_path / "en", tmp_path / "de"], selection, files)
        assert lines(tmp_path / "en") == [f"Source {number} ☃" for number in (1, 0, 3, 2)]
        assert lines(tmp_path / "de") == [json.loads(rows[number])["translation"] for number in (1, 0, 3, 2)]


def test_sources_that_are_not_those_translated(records: Path, tmp_path: Path) -> None:
    texts, outputs = tmp_path / "texts", [tmp_path / "en", tmp_path / "de"]
    texts.write_text("one\ntwo\n")
    with pytest.raises(UserError, match=r"sentence 2, which is no line of .*texts \(2 lines"):
        distill([records], outputs, Selection(), [texts])
    with pytest.raises(UserError, match="--sources: give one file for all records, or 1"):
        distill([records], outputs, Selection(), [texts, texts])
    assert not any(path.exists() for path in outputs)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12), min_size=1, max_size=6))
def test_files_stay_aligned_whatever_the_texts(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("aligned")
    path = write(folder / "pools.jsonl", decided([f"source {t}" for t in texts], [[t or "leer"] for t in texts]))
    rules = ("empty", "unicode", "html", "length", "word-length", "ratio", "copy", "repeated")
    distill([path], [folder / "en", folder / "de"], Selection(skip=rules))
    assert lines(folder / "en") == [f"source {t}" for t in texts]
    assert lines(folder / "de") == [t or "leer" for t in texts]


@pytest.mark.parametrize(
    "row, message",
    [
        ({"hypotheses": ["x"]}, "line 1: field translation is missing"),
        ({"hypotheses": ["x"], "translation": "x"}, "line 1: field source is missing"),
        ({"hypotheses": ["x"], "translation": "x\ny", "source": "s"}, "holds a line break"),
        ({"hypotheses": ["x"], "translation": "x", "source": "s"}, "no expected utilities"),
    ],
)
def test_records_that_cannot_teach(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "pools.jsonl", [row])
    with pytest.raises(UserError, match=message):
        distill([path], [tmp_path / "en", tmp_path / "de"], Selection(drop_lowest=0.1 if "expected" in message else 0))
    assert not (tmp_path / "en").exists() and not (tmp_path / "de").exists()


def test_nothing_left(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(records, decided(["copied"], [["copied"]]))
    assert main(["distill-data", str(records), "--out", str(tmp_path / "en"), str(tmp_path / "de")]) == 1
    assert "none of 1 decisions is left (copy 1)" in capsys.readouterr().err
    with pytest.raises(UserError, match="--drop-lowest must be in"):
        Selection(drop_lowest=1.0)


def test_records_are_never_overwritten(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = records.read_bytes()
    assert main(["distill-data", str(records), "--out", str(tmp_path / "en"), str(records)]) == 1
    assert "would overwrite the input" in capsys.readouterr().err
    assert records.read_bytes() == before and not (tmp_path / "en").exists()
