"""Rows that survive the end of a run, and files that hold something else."""

import pytest

from dcmbr_fairseq.errors import UserError
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
