"""scripts/lib/download.sh against servers on this machine: transfers that go on, and archives that are none."""

import gzip
import http.server
import io
import os
import re
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from official_data import distinct_pairs, write_wmt16, write_wmt20
from pipeline_scripts import lib, script


class Publisher(http.server.BaseHTTPRequestHandler):
    """Serves ``server.files``; knows ranges unless ``server.ranges`` is False."""

    def do_GET(self) -> None:
        content = self.server.files.get(self.path.lstrip("/"))  # type: ignore[attr-defined]
        self.server.asked.append(self.headers.get("Range"))  # type: ignore[attr-defined]
        if content is None:
            self.answer(404, b"<html>no such file</html>")
            return
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked is None or not self.server.ranges:  # type: ignore[attr-defined]
            self.answer(200, content)
        elif int(asked[1]) >= len(content):
            self.answer(416, b"", f"bytes */{len(content)}")
        else:
            start = int(asked[1])
            self.answer(206, content[start:], f"bytes {start}-{len(content) - 1}/{len(content)}")

    def answer(self, status: int, body: bytes, span: str | None = None) -> None:
        self.send_response(status)
        if span is not None:
            self.send_header("Content-Range", span)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@pytest.fixture
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as found:
        found.files, found.ranges, found.asked = {}, True, []  # type: ignore[attr-defined]
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def url(server: http.server.ThreadingHTTPServer, name: str) -> str:
    return f"http://127.0.0.1:{server.server_port}/{name}"


def archive(kind: str) -> bytes:
    """A small archive that does not shrink."""
    text, out = os.urandom(60_000), io.BytesIO()
    if kind == "gz":
        return gzip.compress(text, mtime=0)
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as packed:
            packed.writestr("text", text)
    else:
        with tarfile.open(fileobj=out, mode="w:gz" if kind == "tgz" else "w") as packed:
            info = tarfile.TarInfo("text")
            info.size = len(text)
            packed.addfile(info, io.BytesIO(text))
    return out.getvalue()


KINDS = {"gz": "gzip file", "tgz": "gzipped tar archive", "tar": "tar archive", "zip": "zip archive"}


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("have", ["nothing", "a part", "the whole", "more"])
def test_a_transfer_goes_on_from_whatever_is_there(server, tmp_path: Path, have: str, ranges: bool) -> None:
    content = archive("gz")
    server.files, server.ranges = {"a.gz": content}, ranges
    there = {"a part": content[:20_000], "the whole": content, "more": content + b"left over"}
    if have != "nothing":
        (tmp_path / "a.gz.incoming").write_bytes(there[have])
    done = lib(f"download {url(server, 'a.gz')} a.gz", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.gz").read_bytes() == content and os.listdir(tmp_path) == ["a.gz"]
    if ranges and have == "a part":
        assert server.asked == ["bytes=20000-"]  # and nothing came twice


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_whole_archive_is_refused_and_the_next_run_gets_it(server, tmp_path: Path, kind: str) -> None:
    whole, name = archive(kind), f"corpus.{kind}"
    page = b"<!DOCTYPE html><html>sorry</html>"
    for wrong, says in ((page, "is no {} but a web page"), (whole[:30_000], "is no whole {}")):
        server.files = {name: wrong}
        done = lib(f"download {url(server, name)} {name}", tmp_path)
        assert done.returncode == 1 and says.format(KINDS[kind]) in done.stderr.splitlines()[-1]
        assert url(server, name) in done.stderr and os.listdir(tmp_path) == []
    server.files = {name: whole}
    assert lib(f"download {url(server, name)} {name}", tmp_path).returncode == 0
    assert (tmp_path / name).read_bytes() == whole


def test_a_damaged_archive_is_refused(server, tmp_path: Path) -> None:
    for kind in ("gz", "tgz", "zip"):  # a tar knows no sums of what is in it
        content = bytearray(archive(kind))
        content[30_000] ^= 255
        server.files = {f"a.{kind}": bytes(content)}
        done = lib(f"download {url(server, f'a.{kind}')} a.{kind}", tmp_path)
        assert done.returncode == 1 and f"is no whole {KINDS[kind]}" in done.stderr


def test_a_wrong_checksum_and_an_absent_file_are_named(server, tmp_path: Path) -> None:
    server.files = {"a.gz": archive("gz")}
    wrong = lib(f"download {url(server, 'a.gz')} a.gz {'0' * 64}", tmp_path)
    assert wrong.returncode == 1 and f"does not have the expected SHA-256 {'0' * 64}" in wrong.stderr
    absent = lib(f"download {url(server, 'b.gz')} b.gz", tmp_path)
    assert absent.returncode == 1 and f"could not download {url(server, 'b.gz')}: run this again" in absent.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("data_set", "pair", "name"),
    [
        ("wmt16", "en-ro", "en-ro.txt.zip"),
        ("wmt16", "en-ro", "ro-en.tgz"),
        ("wmt20", "en-de", "en-de.txt.gz"),
    ],
)
def test_broken_local_corpora_are_named(data_set: str, pair: str, name: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (write_wmt16 if data_set == "wmt16" else write_wmt20)(data, distinct_pairs(40, pair[-2:], seed=1))
    (data / name).write_bytes((data / name).read_bytes()[:-30])
    done = script(f"{data_set}/prepare.sh", pair, check=False, DATA=data, WORK=tmp_path / "work")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: {data / name} is no whole ")


def test_a_broken_local_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.en.gz").write_bytes(archive("gz")[:-100])
    done = lib("read_text train.en.gz >text; echo went on", tmp_path)
    assert done.returncode == 1 and "train.en.gz is no whole gzip file: fetch it again" in done.stderr
    assert "went on" not in done.stdout
