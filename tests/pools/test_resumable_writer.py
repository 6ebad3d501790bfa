"""Rows that survive the end of a run, and files that hold something else."""

import gzip
import json

import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools import row_file
from dcmbr_fairseq.pools.resumable_writer import ResumableWriter


def test_rows_of_an_earlier_run_are_kept_and_come_out_sorted(tmp_path):
    path = tmp_path / "pools.jsonl"
    first = ResumableWriter(path, lambda row: None, {"seed": 1})
    first.write([{"id": 2}, {"id": 0}])
    first.close()
    with first.partial.open("a") as file:
        file.write('{"id": 1, "see')  # cut off
    seen = []
    second = ResumableWriter(path, seen.append, {"seed": 1})
    assert second.ids == {0, 2} and seen == [{"id": 2, "seed": 1}, {"id": 0, "seed": 1}]
    second.write([{"id": 1}, {"id": 2}])
    second.finish()
    assert path.read_text() == "".join(f'{{"id": {i}, "seed": 1}}\n' for i in range(3))
    assert [file.name for file in tmp_path.iterdir()] == ["pools.jsonl"]


@pytest.mark.parametrize(
    "text, message",
    [
        (b'{"id": 0}\nrubbish\n', "pools.jsonl.partial, line 2: not a JSON object"),
        (b'{"id": 0}\n\xff\n', "pools.jsonl.partial, line 2: .*can't decode"),
        (b'{"id": 0, "schema_version": 9}\n', "line 1: field schema_version is 9"),
        (b"{}\n", "line 1: field id must be a whole number"),
    ],
)
def test_a_file_that_holds_something_else_is_refused_and_kept(tmp_path, text, message):
    (tmp_path / "pools.jsonl.partial").write_bytes(text)
    with pytest.raises(UserError, match=message):
        ResumableWriter(tmp_path / "pools.jsonl", lambda row: None)
    assert (tmp_path / "pools.jsonl.partial").read_bytes() == text


@pytest.mark.parametrize("cut", [0, 1, 7, 40])
def test_a_packed_file_goes_on_after_its_last_whole_piece(tmp_path, cut):
    """Cut off anywhere in its last piece, that piece alone is lost; what is written then is what one run writes."""
    path, whole = tmp_path / "pools.jsonl.gz", tmp_path / "whole.jsonl.gz"
    batches = [[{"id": 5, "text": "x" * 300}, {"id": 3}], [{"id": 4}], [{"id": 0}, {"id": 2, "text": "\r\u2028"}]]
    first = ResumableWriter(path, lambda row: None)
    for batch in batches:
        first.write(batch)
    first.close()
    packed = first.partial.read_bytes()
    first.partial.write_bytes(packed[: len(packed) - cut])
    seen = []
    second = ResumableWriter(path, lambda row: seen.append(row["id"]))
    assert second.ids == set(seen) == ({0, 2, 3, 4, 5} if not cut else {3, 4, 5})
    other = ResumableWriter(whole, lambda row: None)
    for writer in (second, other):
        writer.write([row for batch in batches for row in batch])
        writer.write([{"id": 1}])
        writer.finish()
    assert path.read_bytes() == whole.read_bytes()
    assert [json.loads(line)["id"] for line in gzip.open(path, "rt")] == list(range(6))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pools.jsonl.gz", "whole.jsonl.gz"]


def test_what_is_flushed_is_safe_whatever_comes(tmp_path):
    writer = ResumableWriter(tmp_path / "pools.jsonl.gz", lambda row: None)
    for number in range(3):
        writer.write([{"id": number, "text": "a" * 1000}])
        assert len(gzip.decompress(writer.partial.read_bytes()).splitlines()) == number + 1
    assert writer.partial.stat().st_size < 400
    writer.close()


def test_a_damaged_piece_is_named_and_kept(tmp_path):
    path = tmp_path / "pools.jsonl.gz"
    writer = ResumableWriter(path, lambda row: None)
    for number in range(2):
        writer.write([{"id": number, "text": "abc" * 100}])
    writer.close()
    damaged = bytearray(writer.partial.read_bytes())
    damaged[14:20] = b"rotten"
    writer.partial.write_bytes(damaged)
    with pytest.raises(UserError, match="pools.jsonl.gz.partial is damaged after byte 0 .*delete it"):
        ResumableWriter(path, lambda row: None)
    assert writer.partial.read_bytes() == damaged


def test_a_plain_file_of_an_earlier_version_is_gone_on_with(tmp_path):
    path = tmp_path / "pools.jsonl.gz"
    (tmp_path / "pools.jsonl.gz.partial").write_text('{"id": 1}\n')
    writer = ResumableWriter(path, lambda row: None)
    writer.write([{"id": 0}])
    writer.finish()
    assert gzip.open(path, "rt").read() == '{"id": 0}\n{"id": 1}\n'


def test_sorting_needs_little_memory(tmp_path, monkeypatch):
    """Pieces are unpacked again where they do not fit; the result is the same."""
    monkeypatch.setattr(row_file, "KEPT_UNPACKED", 1500)
    writer = ResumableWriter(tmp_path / "pools.jsonl.gz", lambda row: None)
    for number in range(20):
        writer.write([{"id": (7 * number) % 20, "text": "x" * 400}, {"id": 100 - number}])
    writer.finish()
    rows = [json.loads(line)["id"] for line in gzip.open(tmp_path / "pools.jsonl.gz", "rt")]
    assert rows == sorted(rows) and len(rows) == 40
