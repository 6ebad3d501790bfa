"""The records of a run appear whole, sorted, or not at all, however the run ends."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools import record_writer
from dcmbr_fairseq.pools.record_writer import RecordWriter
from dcmbr_fairseq.pools.rows import read_records


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
    assert [record.pools.hypotheses.texts for record in read_records(path)] == [["text 0"], ["text 1"]]


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
    writer.write({"id": 1})
    with pytest.raises(UserError, match="meanwhile: this run.s records are in .*pools.2.jsonl"):
        writer.finish()
    assert path.read_text() == "precious" and lines(tmp_path / "pools.2.jsonl") == [{"id": 1}]
    assert writer.closed and len(os.listdir(tmp_path)) == 2


@pytest.mark.parametrize(
    "name, other", [("p.jsonl.gz", "p.2.jsonl.gz"), ("pools", "pools.2"), (".pools", ".pools.2"), ("a.b.c", "a.b.2.c")]
)
def test_the_other_name_is_of_the_same_kind_and_free(tmp_path, name, other):
    for _ in range(2):
        writer = RecordWriter(tmp_path / name)
        writer.write({"id": 1, "hypotheses": ["a"]})
        (tmp_path / name).write_text("precious")
        with pytest.raises(UserError, match="meanwhile"):
            writer.finish()
        (tmp_path / name).unlink()
    assert sorted(os.listdir(tmp_path)) == sorted([other, other.replace("2", "3")])
    assert len(list(read_records(tmp_path / other))) == 1


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="pools.jsonl cannot be written: a part of the path is a file"):
        RecordWriter(tmp_path / "file" / "pools.jsonl")


def test_records_go_to_a_pipe_and_leave_it_there(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    writer = RecordWriter(tmp_path / "pipe")
    for row_id in (1, 0):
        writer.write({"id": row_id})
    writer.finish()
    assert os.read(reading, 100) == b'{"id": 0}\n{"id": 1}\n'
    os.close(reading)
    assert (tmp_path / "pipe").is_fifo() and os.listdir(tmp_path) == ["pipe"]


def test_what_a_killed_run_left_goes_with_the_next(tmp_path):
    child = os.fork()
    if child == 0:
        RecordWriter(tmp_path / "pools.jsonl").write({"id": 0})
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = os.listdir(tmp_path)
    writer = RecordWriter(tmp_path / "pools.jsonl")
    (ours,) = os.listdir(tmp_path)
    assert ours != left
    writer.discard()
    assert os.listdir(tmp_path) == []


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
    writer._rows.file = FullDisk(writer._rows.file)
    with pytest.raises(UserError, match="the disk is full: --pools-out .*pools.jsonl could not be written"):
        writer.write({"id": 1})
    assert os.listdir(tmp_path) == []


def test_a_disk_that_fills_up_at_the_end_leaves_nothing(tmp_path, monkeypatch):
    writer = RecordWriter(tmp_path / "pools.jsonl")
    writer.write({"id": 0})

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(record_writer.os, "fsync", fail)  # the last step before the final name
    with pytest.raises(UserError, match="No space left on device"):
        writer.finish()
    assert os.listdir(tmp_path) == []


RUN = """
import os, sys, time
from dcmbr_fairseq.pools.record_writer import RecordWriter
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
    "ending, kept, status, message",
    [
        ("", "pools.jsonl", 0, ""),
        ("sys.exit(0)", "pools.jsonl", 0, ""),
        ("sys.exit(3)", "pools.jsonl", 3, ""),
        ("if os.fork() == 0: sys.exit(0)\nos.wait()\nassert not os.path.exists('pools.jsonl')", "pools.jsonl", 0, ""),
        ("raise RuntimeError('boom')", None, 1, "pools.jsonl was not written: the run ended with an error"),
        ("writer.expect([0, 1, 2, 3])", None, 1, "pools.jsonl was not written: 2 sentences are missing"),
        ("sys.ps1 = '>>> '; sys.last_type = ValueError  # an error in an interactive session", "pools.jsonl", 0, ""),
        ("open('pools.jsonl', 'w').write('precious')", "pools.2.jsonl", 1, "this run's records are in pools.2"),
        ("import shutil; shutil.rmtree('../' + os.path.basename(os.getcwd()))", None, 1, "--pools-out pools.jsonl"),
    ],
)  # fmt: skip
def test_the_end_of_the_interpreter_ends_the_run(tmp_path, ending, kept, status, message):
    """Rows are where they should be, or the exit status and a sentence tell; other handlers have run, output is out."""
    folder = tmp_path / "run"
    folder.mkdir()
    process = start(folder, "import atexit; atexit.register(print, 'end'); print('begin')\n" + ending)
    out, errors = process.communicate(timeout=60)
    assert message in errors and "Traceback" not in errors.replace("RuntimeError", "") or "boom" in errors
    assert (process.returncode, set(out.split())) == (status, {"begin", "end"})
    if kept:
        assert lines(folder / kept) == [{"id": 0}, {"id": 1}]
    there = set(os.listdir(folder)) if folder.exists() else set()
    assert there == ({kept} if kept else set()) | ({"pools.jsonl"} if "precious" in ending else set())


def test_ctrl_c_leaves_nothing(tmp_path):
    process = start(tmp_path, "print('ready', flush=True)\ntime.sleep(60)")
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0 and os.listdir(tmp_path) == []
