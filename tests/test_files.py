"""Outputs appear whole and together, or not at all; .gz as plain."""

import errno
import gzip
import os
import subprocess
import sys

import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import atomic_writer, atomic_writers, read_lines

LINES = ["plain", "", "Straße \r inside", "line\u2028separator", "x" * 100_000]


@pytest.mark.parametrize("name", ["out.txt", "new/folder/out.txt", "out.txt.gz"])
def test_lines_come_back_as_they_were_written(tmp_path, name):
    with atomic_writer(tmp_path / name) as out:
        assert not (tmp_path / name).exists()
        out.writelines(f"{line}\n" for line in LINES)
    assert read_lines(tmp_path / name) == LINES
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert os.listdir((tmp_path / name).parent) == ["out.txt.gz" if name.endswith(".gz") else "out.txt"]


def test_the_same_text_gives_the_same_gz_bytes(tmp_path):
    for name in ("a.gz", "b.gz"):
        with atomic_writer(tmp_path / name) as out:
            out.write("text\n" * 1000)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, UserError])
@pytest.mark.parametrize("names", [["a", "b"], ["a.gz", "b"], ["a"]])
def test_what_fails_half_way_leaves_nothing_and_keeps_what_was_there(tmp_path, error, names):
    (tmp_path / names[0]).write_text("before")
    with pytest.raises(error), atomic_writers(*[tmp_path / name for name in names]) as outs:
        for out in outs:
            out.write("half\n")
        raise error
    assert os.listdir(tmp_path) == [names[0]] and (tmp_path / names[0]).read_text() == "before"


def test_several_files_appear_together(tmp_path):
    with atomic_writers(tmp_path / "a", tmp_path / "b.gz") as (a, b):
        a.write("1\n")
        b.write("2\n")
        a.flush()
        assert not {"a", "b.gz"} & set(os.listdir(tmp_path))
    assert read_lines(tmp_path / "a") == ["1"] and gzip.decompress((tmp_path / "b.gz").read_bytes()) == b"2\n"
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~umask


FULL = """
import random, resource, sys
from dcmbr_fairseq.files import atomic_writers
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # no file may grow beyond
with atomic_writers(*sys.argv[1:]) as outs:
    for _ in range(10_000):
        for out in outs:
            out.write(f"{random.random()}\\n")
"""


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["a", "b.gz"]])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path, names):
    done = subprocess.run([sys.executable, "-c", FULL, *names], cwd=tmp_path, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert f"UserError: the disk is full: {' and '.join(names)} could not be written" in last
    assert os.listdir(tmp_path) == []


def test_a_disk_that_fills_up_at_the_end_keeps_neither_file(tmp_path, monkeypatch):
    calls = []

    def second_fails(_):
        calls.append(1)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", second_fails)
    with pytest.raises(UserError, match="No space left on device"), atomic_writers(tmp_path / "a", tmp_path / "b"):
        pass
    assert os.listdir(tmp_path) == []


def test_other_failures_of_the_system_stay_what_they_are(tmp_path):
    with pytest.raises(PermissionError), atomic_writer(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "denied")
