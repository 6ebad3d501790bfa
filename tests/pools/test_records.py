"""Records: pools survive a round trip, bad rows are refused by name, and files appear whole or not at all."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools import records
from dcmbr_fairseq.pools.pools import TextPool
from dcmbr_fairseq.pools.records import Pools, RecordWriter, format_row, make_row, parse_row, read_pools
from dcmbr_fairseq.rules import Decision

# A high surrogate before a low one is one character in JSON; either alone survives.
AWKWARD = ["", "\ud800", "\udcff x", "\u2028", "\r", "\x1c", "\n", "\x00", "😀", "日本"]
texts = st.text(max_size=8) | st.sampled_from(AWKWARD)
log_probs = st.floats(-1e4, 0).map(lambda x: round(x, 6))


@st.composite
def text_pools(draw):
    size = draw(st.integers(1, 6))
    several = [draw(st.lists(items, min_size=size, max_size=size)) for items in (texts, log_probs, log_probs)]
    return TextPool.from_draws(*several)


def assert_same(one: TextPool, other: TextPool):
    assert one.texts == other.texts
    for field in ("draws", "log_prob", "sampling_log_prob"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@settings(deadline=None)
@given(text_pools(), st.none() | text_pools(), texts)
def test_rows_survive_a_round_trip(hypotheses, references, source):
    expected = np.linspace(0, 1, len(hypotheses.texts))
    decision = Decision(expected, np.argsort(-expected), 7)
    row = make_row(3, source, hypotheses, references, 0, decision, seed=1, settings={"temp_hyp": 0.5}, signature="s")
    line = format_row(row)
    assert line.isascii() and "\n" not in line
    pools = parse_row(line, 0)
    assert (pools.id, pools.source, pools.weights) == (3, source, None)
    assert pools.row == row
    assert_same(pools.hypotheses, hypotheses)
    assert (pools.references is None) == (references is None)
    assert_same(pools.reference_pool, references or hypotheses)


def test_numbers_are_rounded_to_keep_files_small():
    pool = TextPool.from_draws(["a"], [-1 / 3], [-2 / 3])
    row = make_row(0, "", pool, None, 0, Decision(np.array([1 / 3]), np.array([0]), 1))
    assert row["hypothesis_log_probs"] == [-0.333333] and row["expected_utilities"] == [0.333333]


def test_a_number_that_is_not_finite_is_refused():
    pool = TextPool.from_draws(["a"], [-1.0], [-1.0])
    row = make_row(5, "", pool, None, 0, Decision(np.array([np.nan]), np.array([0]), 1))
    with pytest.raises(UserError, match="record of sentence 5 holds a number that is not finite"):
        format_row(row)


def test_pools_made_by_anyone_are_read(tmp_path):
    path = tmp_path / "pools.jsonl"
    path.write_text(
        '{"hypotheses": ["b", "a", "b"]}\n{"id": "x", "hypotheses": ["a"], "references": ["c", "d", "c"], '
        '"weights": [1, 2, 5], "source": "s"}\n'
    )
    first, second = read_pools(path)
    assert (first.id, first.source, first.references) == (0, None, None)
    assert first.hypotheses.texts == ["b", "a"] and first.hypotheses.draws.tolist() == [0, 1, 0]
    candidates = second.candidates()
    assert (second.id, candidates.source, candidates.references) == ("x", "s", ["c", "d"])
    np.testing.assert_allclose(candidates.weights, [6 / 8, 2 / 8])


def test_the_first_draws_of_a_shared_pool_play_each_part():
    pool = TextPool.from_draws(list("abcab"), np.log([0.3, 0.2, 0.1, 0.4, 0.2]), np.zeros(5))
    candidates = Pools(0, pool).first(2, 5).candidates()
    assert candidates.hypotheses == ["a", "b"] and candidates.references == ["a", "b", "c"]
    np.testing.assert_allclose(candidates.weights, [0.4, 0.4, 0.2])
    np.testing.assert_allclose(candidates.log_prob, np.log([0.3, 0.2]))  # only what the first two draws have shown


def test_weights_of_the_first_references_sum_to_one():
    pools = parse_row('{"hypotheses": ["a"], "references": ["c", "d", "c"], "weights": [1, 3, 9]}', 0)
    np.testing.assert_allclose(pools.first(None, 2).candidates().weights, [0.25, 0.75])


@pytest.mark.parametrize(
    "row, message",
    [
        ("", "not a JSON object"),
        ("{", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("[]", "a JSON object is needed, with a field hypotheses, got []"),
        ("{}", "field hypotheses is missing"),
        ('{"hypotheses": []}', "field hypotheses must be a list of at least one string, got []"),
        ('{"hypotheses": "a"}', 'field hypotheses must be a list of at least one string, got "a"'),
        ('{"hypotheses": ["a", 1]}', 'field hypotheses must be a list of at least one string, got ["a", 1]'),
        ('{"hypotheses": ["a"], "references": [null]}', "field references must be a list of at least one string"),
        ('{"hypotheses": ["a"], "id": 1.5}', "field id must be an integer or a string, got 1.5"),
        ('{"hypotheses": ["a"], "id": true}', "field id must be an integer or a string, got true"),
        ('{"hypotheses": ["a"], "source": 3}', "field source must be a string, got 3"),
        ('{"hypotheses": ["a"], "hypothesis_draws": [1]}', "list of indices into hypotheses, 0 to 0, got [1]"),
        ('{"hypotheses": ["a"], "hypothesis_draws": [true]}', "hypothesis_draws must be a list of indices"),
        ('{"hypotheses": ["a", "b"], "hypothesis_draws": [1, 0]}', "distinct texts in the order of their first draw"),
        ('{"hypotheses": ["a", "b"], "hypothesis_draws": [0]}', "distinct texts in the order of their first draw"),
        ('{"hypotheses": ["a", "a"], "hypothesis_draws": [0, 1]}', "must hold distinct texts"),
        ('{"hypotheses": ["a"], "hypothesis_log_probs": [1, 2]}', "hypothesis_log_probs must hold 1 finite numbers"),
        ('{"hypotheses": ["a"], "hypothesis_log_probs": ["1"]}', "hypothesis_log_probs must be a list of numbers"),
        ('{"hypotheses": ["a"], "hypothesis_log_probs": [NaN]}', "hypothesis_log_probs must hold 1 finite numbers"),
        ('{"hypotheses": ["a"], "weights": [1, 1]}', "field weights must hold 1 finite numbers, one for each draw"),
        ('{"hypotheses": ["a"], "weights": [0]}', "field weights must be positive, got [0]"),
        ('{"hypotheses": ["a"], "weights": [1e999]}', "field weights must hold 1 finite numbers"),
        ('{"hypotheses": ["a"], "weights": [1' + "0" * 400 + "]}", "field weights must hold 1 finite numbers"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_by_file_line_and_field(tmp_path, row, message):
    path = tmp_path / "pools.jsonl"
    path.write_text('{"hypotheses": ["a"]}\n' + row + "\n")
    with pytest.raises(UserError) as caught:
        list(read_pools(path))
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert message in str(caught.value) and len(str(caught.value)) < 400


# --- the writer --------------------------------------------------------------------------------------------------


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rows_appear_sorted_when_all_expected_ids_are_there(tmp_path):
    path = tmp_path / "new" / "pools.jsonl"
    writer = RecordWriter(path)
    writer.expect([0, 1, 2, 10])
    for row_id in (10, 1, 2):
        writer.write({"id": row_id, "text": "é\ud800" * row_id})
    assert not path.exists()
    writer.write({"id": 0, "text": ""})
    assert lines(path) == [{"id": i, "text": "é\ud800" * i} for i in (0, 1, 2, 10)]
    assert os.listdir(path.parent) == ["pools.jsonl"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~records_umask()


def records_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_compressed_file_may_be_asked_for(tmp_path):
    path = tmp_path / "pools.jsonl.gz"
    writer = RecordWriter(path)
    for row_id in (1, 0):
        writer.write({"id": row_id, "hypotheses": [f"text {row_id}"]})
    writer.finish()
    assert [pools.hypotheses.texts for pools in read_pools(path)] == [["text 0"], ["text 1"]]


def test_rows_are_not_kept_in_memory(tmp_path):
    import tracemalloc

    writer = RecordWriter(tmp_path / "pools.jsonl")
    tracemalloc.start()
    for row_id in range(200):
        writer.write({"id": row_id, "text": "x" * 50_000})
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    writer.finish()
    assert used < 500_000 and (tmp_path / "pools.jsonl").stat().st_size > 10_000_000


def test_finish_and_discard_may_be_repeated(tmp_path):
    writer = RecordWriter(tmp_path / "a.jsonl")
    writer.write({"id": 4})
    writer.finish()
    writer.finish()
    writer.discard()
    assert lines(tmp_path / "a.jsonl") == [{"id": 4}]
    other = RecordWriter(tmp_path / "b.jsonl")
    other.discard()
    other.finish()
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_an_existing_file_is_refused_at_once(tmp_path):
    path = tmp_path / "pools.jsonl"
    path.write_text("precious")
    with pytest.raises(UserError, match=f"--pools-out {path} exists already: "):
        RecordWriter(path)
    assert path.read_text() == "precious" and os.listdir(tmp_path) == ["pools.jsonl"]


def test_a_file_made_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "pools.jsonl"
    writer = RecordWriter(path)
    path.write_text("precious")
    with pytest.raises(UserError, match="was made by another program meanwhile"):
        writer.finish()
    assert path.read_text() == "precious"


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="--pools-out .* cannot be written: "):
        RecordWriter(tmp_path / "file" / "pools.jsonl")


@pytest.mark.parametrize("row_id, message", [(1, "id 1 is repeated"), (7, "id 7 is unexpected")])
def test_repeated_and_unexpected_ids_are_errors_of_the_caller(tmp_path, row_id, message):
    writer = RecordWriter(tmp_path / "pools.jsonl")
    writer.expect([1, 2])
    writer.write({"id": 1})
    with pytest.raises(ValueError, match=message):
        writer.write({"id": row_id})
    writer.discard()


class FullDisk:
    """A file on a disk without space."""

    def __init__(self, file):
        self._file = file

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_nothing(tmp_path):
    writer = RecordWriter(tmp_path / "pools.jsonl")
    writer.write({"id": 0})
    writer._file = FullDisk(writer._file)
    with pytest.raises(UserError, match="pools.jsonl cannot be written: No space left on device; nothing was kept"):
        writer.write({"id": 1})
    assert os.listdir(tmp_path) == []


def test_a_disk_that_fills_up_at_the_end_leaves_nothing(tmp_path, monkeypatch):
    writer = RecordWriter(tmp_path / "pools.jsonl")
    writer.write({"id": 0})

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(records.os, "fsync", fail)  # the last step before the final name
    with pytest.raises(UserError, match="No space left on device"):
        writer.finish()
    assert os.listdir(tmp_path) == []


RUN = """
import os, sys, time
from dcmbr_fairseq.pools.records import RecordWriter
writer = RecordWriter("pools.jsonl")
for row_id in (1, 0):
    writer.write({"id": row_id})
"""


def start(tmp_path, ending):
    return subprocess.Popen(
        [sys.executable, "-c", RUN + ending], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
    )  # fmt: skip


@pytest.mark.parametrize(
    "ending, kept, message",
    [
        ("", True, ""),
        ("sys.exit(0)", True, ""),
        ("if os.fork() == 0: sys.exit(0)\nos.wait()\nassert not os.path.exists('pools.jsonl')", True, ""),
        ("raise RuntimeError('boom')", False, "pools.jsonl was not written: the run ended with an error"),
        ("writer.expect([0, 1, 2, 3])", False, "pools.jsonl was not written: 2 sentences are missing"),
        ("sys.ps1 = '>>> '; sys.last_type = ValueError  # an error in an interactive session", True, ""),
    ],
)  # fmt: skip
def test_the_end_of_the_interpreter_ends_the_run(tmp_path, ending, kept, message):
    _, errors = start(tmp_path, ending).communicate(timeout=60)
    assert message in errors
    assert os.listdir(tmp_path) == (["pools.jsonl"] if kept else [])
    if kept:
        assert lines(tmp_path / "pools.jsonl") == [{"id": 0}, {"id": 1}]


def test_ctrl_c_leaves_nothing(tmp_path):
    process = start(tmp_path, "print('ready', flush=True)\ntime.sleep(60)")
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0 and os.listdir(tmp_path) == []
