"""Tidy tables as TSV and JSON lines, and the journal of long measurements."""

import json
import os
from pathlib import Path

import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.tables import read_table
from dcmbr_fairseq.present.tidy import Journal, format_rows, refuse_existing, write_rows

ROWS = [
    {"model": "a", "score": 1 / 3, "text": 'with "quotes" and\ttab', "count": 3, "signature": "x|y"},
    {"model": "b", "score": None, "text": "", "count": 4, "signature": "x|z", "more": True},
]


@pytest.mark.parametrize("name", ["table.tsv", "table.jsonl", "table.tsv.gz", "table.jsonl.gz"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    write_rows(ROWS, tmp_path / name)
    first, second = read_table(tmp_path / name)
    assert first["score"] == "0.333333" and first["text"] == 'with "quotes" and\ttab' and first["count"] == "3"
    assert second["score"] in ("-", "") and second["more"] == "True"


def test_tables_for_people_have_their_signatures_below() -> None:
    text = format_rows(ROWS, "text")
    assert text.splitlines()[0].split() == ["model", "score", "text", "count", "more"]
    assert text.endswith("\n\nx|y\nx|z\n") and "0.33333" in text
    assert format_rows(ROWS, "latex").endswith("% x|z\n")


def test_a_journal_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    output, settings = tmp_path / "out.tsv", {"size": 3}
    journal = Journal(output, settings)
    journal.add(("a", 1), [{"x": 1}, {"x": 2}])
    journal.add(("a", 0.5, True), [{"x": 3}])
    with journal.path.open("a") as file:
        file.write('{"key": ["a", 2], "ro')  # the power went off here
    journal.close()
    again = Journal(output, settings)
    assert ("a", 1) in again and ("a", 0.5, True) in again and ("a", 2) not in again
    again.add(("a", 2), [{"x": 4}])
    again.finish(again.rows([("a", 2), ("a", 1)]))
    assert [row["x"] for row in read_table(output)] == ["4", "1", "2"]
    assert not journal.path.exists()


def test_even_its_first_line_may_be_cut_off(tmp_path: Path) -> None:
    (tmp_path / "out.tsv.partial").write_text('{"setti')
    journal = Journal(tmp_path / "out.tsv", {"size": 3})
    assert json.loads(journal.path.read_text()) == {"settings": {"size": 3}}


def test_a_journal_of_something_else_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path / "out.tsv", {"size": 3}).close()
    with pytest.raises(UserError, match="was begun with other settings .*3.*now .*4"):
        Journal(tmp_path / "out.tsv", {"size": 4})


def test_two_runs_cannot_write_one_journal(tmp_path: Path) -> None:
    """Nor does the second harm what the first has written, and it may go on when the first has ended."""
    one = Journal(tmp_path / "out.tsv", {"size": 3})
    one.add(("a",), [{"x": 1}])
    for settings in ({"size": 3}, {"size": 4}):
        with pytest.raises(UserError, match=r"out.tsv.partial is being written by another program: wait for its end"):
            Journal(tmp_path / "out.tsv", settings)
    one.add(("b",), [{"x": 2}])
    one.close()
    other = Journal(tmp_path / "out.tsv", {"size": 3})
    assert ("a",) in other and ("b",) in other
    other.finish(other.rows([("a",), ("b",)]))
    assert [row["x"] for row in read_table(tmp_path / "out.tsv")] == ["1", "2"]


def test_an_output_that_exists_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "out.tsv").write_text("precious")
    with pytest.raises(UserError, match="--output .* exists already"):
        Journal(tmp_path / "out.tsv", {})
    assert (tmp_path / "out.tsv").read_text() == "precious"


def test_a_pipe_cannot_hold_a_journal_but_a_table_can_go_there(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refuse_existing(tmp_path / "pipe")
    with pytest.raises(UserError, match="--output .*pipe is a pipe or a device, .*: give the name of a file"):
        Journal(tmp_path / "pipe", {})
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("output", ["file/out.tsv", "x" * 252])
def test_a_journal_where_none_can_be_is_one_sentence(tmp_path: Path, output: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be written: .*(not a folder|too long); give a"):
        Journal(tmp_path / output, {})
    assert os.listdir(tmp_path) == ["file"]
