"""Records of several processes as one file: in order, and nothing missing, twice or foreign."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs

from dcmbr_fairseq import cli
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.merge import Merge


def row(number, sentences=6, **changes):
    sources = {"fingerprint": "s", "data": "bin", "subset": "test", "sentences": sentences}
    identity = {"checkpoint": {"fingerprint": "c", "files": ["model.pt"]}, "sources": sources}
    fields = {"id": number, "translation": f"text {number}", "seed": 1, "settings": {"num_hyp": 5}, "signature": "u"}
    return {**fields, "identity": identity, **changes}


def shard(path, rows):
    opened = gzip.open(path, "wt") if path.name.endswith(".gz") else path.open("w")
    with opened as out:
        out.writelines(json.dumps(each) + "\n" for each in rows)
    return str(path)


@inputs(50)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_rows_come_out_as_they_went_in(tmp_path_factory, owners):
    folder = tmp_path_factory.mktemp("shards")
    rows = [row(number, len(owners)) for number in range(len(owners))]
    paths = [
        shard(folder / f"records.{rank}-of-4.jsonl", [each for each in rows if owners[each["id"]] == rank])
        for rank in (2, 0, 3, 1)
    ]
    assert [each.line for each in Merge(paths).rows()] == [json.dumps(each) for each in rows]


@pytest.fixture
def two(tmp_path):
    return [
        shard(tmp_path / f"records.{rank}-of-2.jsonl.gz", [row(number) for number in range(rank, 6, 2)])
        for rank in (0, 1)
    ]


def merge(capsys, tmp_path, *arguments):
    """The command's last words; nothing is left of an output that is refused."""
    capsys.readouterr()
    status = cli.main(["merge", *arguments, "--output", str(tmp_path / "all.jsonl")])
    assert status == 0 or not (tmp_path / "all.jsonl").exists()
    return status, (capsys.readouterr().err.splitlines() or [""])[-1]


def test_the_command_writes_records_and_text(capsys, tmp_path, two):
    status, said = merge(capsys, tmp_path, *two, "--translations", str(tmp_path / "all.txt"))
    assert status == 0
    assert [json.loads(line) for line in (tmp_path / "all.jsonl").open()] == [row(number) for number in range(6)]
    assert (tmp_path / "all.txt").read_text().splitlines() == [f"text {number}" for number in range(6)]


def test_what_is_missing_is_named_with_its_file(capsys, tmp_path, two):
    status, said = merge(capsys, tmp_path, two[0])
    assert status == 1
    assert said.endswith(f"sentences 1, 3, 5 (3 in all) are missing: give {two[1]} too")
    (tmp_path / "records.1-of-2.jsonl.gz").rename(tmp_path / "records.1-of-2.jsonl.gz.partial")
    status, said = merge(capsys, tmp_path, two[0])
    assert f"{two[1]} is not there: run its process again, which has begun it" in said
    unknown = shard(tmp_path / "mine.jsonl", [{"id": 0}, {"id": 2}])
    assert "sentence 1 (1 in all) is missing: give all files" in merge(capsys, tmp_path, unknown)[1]
    assert "sentence 3 (1 in all)" not in merge(capsys, tmp_path, unknown, "--sentences", "3")[1]
    assert "sentences 1, 3 (2 in all)" in merge(capsys, tmp_path, unknown, "--sentences", "4")[1]


FOREIGN = [
    ({"seed": 2}, r"sentence 3, was made with another seed \(2, not 1\)"),
    ({"settings": {"num_hyp": 6}}, r"another settings \(num_hyp 6, not 5\)"),
    ({"signature": "v"}, "another signature"),
    ({"identity": {"checkpoint": {"fingerprint": "d"}}}, "was made from another checkpoint than"),
    ({"identity": None}, "something that it does not name"),
]


@pytest.mark.parametrize("change, sentence", FOREIGN)
def test_a_foreign_row_is_named(tmp_path, two, change, sentence):
    shard(tmp_path / "records.1-of-2.jsonl.gz", [row(1), row(3, **change), row(5)])
    with pytest.raises(UserError, match=f"records.1-of-2.jsonl.gz, {sentence}" if "3" in sentence else sentence):
        list(Merge(two).rows())


def test_names_of_files_do_not_make_a_row_foreign(tmp_path, two):
    moved = {"checkpoint": {"fingerprint": "c", "files": ["moved.pt"]}, "sources": row(0)["identity"]["sources"]}
    shard(tmp_path / "records.1-of-2.jsonl.gz", [row(number, identity=moved) for number in (1, 3, 5)])
    assert len(list(Merge(two).rows())) == 6


@pytest.mark.parametrize(
    "rows, sentence",
    [
        ([1, 2, 3, 5], "sentence 2 comes twice, the second time in .*records"),
        ([1, 5, 3], "line 3: the id 3 comes after 5"),
        ([1, 3, 3], "line 3: the id 3 comes twice"),
        ([1, 3, 5, 7], r"sentence 7 of 6 sentences"),
        ([1, 3, "5"], "line 3: field id must be a whole number"),
        ([1, 3, -5], "line 3: field id must be a whole number"),
    ],
)
def test_rows_that_are_wrong_are_named(tmp_path, two, rows, sentence):
    shard(tmp_path / "records.1-of-2.jsonl.gz", map(row, rows))
    with pytest.raises(UserError, match=sentence):
        list(Merge(two).rows())


def test_damaged_files_and_files_given_twice_are_named(tmp_path, two):
    with pytest.raises(UserError, match="is given twice"):
        list(Merge([*two, str(tmp_path / "." / "records.0-of-2.jsonl.gz")]).rows())
    packed = (tmp_path / "records.1-of-2.jsonl.gz").read_bytes()
    (tmp_path / "records.1-of-2.jsonl.gz").write_bytes(packed[:-20])
    with pytest.raises(UserError, match="records.1-of-2.jsonl.gz, after line .* is cut off or damaged"):
        list(Merge(two).rows())
    with pytest.raises(UserError, match="nowhere.jsonl is not a file"):
        list(Merge([str(tmp_path / "nowhere.jsonl")]).rows())


def test_the_output_is_none_of_the_files(capsys, tmp_path, two):
    assert cli.main(["merge", *two, "--output", two[0]]) == 1
    assert "would overwrite the input" in capsys.readouterr().err
