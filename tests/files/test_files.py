"""Outputs appear whole and together, or not at all; .gz as plain; what is no regular file is never replaced."""

import ast
import contextlib
import errno
import fcntl
import gzip
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import threading
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fairseq_commands import PACKAGE

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import temporary
from dcmbr_fairseq.files.places import check_output
from dcmbr_fairseq.files.reading import read_lines
from dcmbr_fairseq.files.writing import atomic_bytes_writer, atomic_writer, atomic_writers

LINES = ["plain", "", "Straße \r inside", "line\u2028separator", "x" * 100_000]


@pytest.mark.parametrize("name", ["out.txt", "new/folder/out.txt", "out.txt.gz"])
def test_lines_come_back_as_they_were_written(tmp_path, name):
    with atomic_writer(tmp_path / name) as out:
        assert not (tmp_path / name).exists()
        out.writelines(f"{line}\n" for line in LINES)
    assert read_lines(tmp_path / name) == LINES
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert os.listdir((tmp_path / name).parent) == ["out.txt.gz" if name.endswith(".gz") else "out.txt"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("name", ["text", "text.gz"])
def test_text_of_two_bytes_a_letter_is_refused(tmp_path, encoding, name):
    """Without a mark it would be read as UTF-8, a zero beside each letter, and scored so."""
    content = "ein Satz\nnoch einer".encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(UserError, match="is not UTF-8.*with iconv"):
        read_lines(tmp_path / name)


@pytest.mark.parametrize("line", ["\0", "a\0b", "\0ab\0"])
def test_zeros_in_a_line_are_kept(tmp_path, line):
    with atomic_writer(tmp_path / "out") as out:
        out.write(f"{line}\n")
    assert read_lines(tmp_path / "out") == [line]


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
from dcmbr_fairseq.files.writing import atomic_writers
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
    assert re.search(f"UserError: the disk is full: ({'|'.join(names)}) could not be written", last)
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


def test_failures_of_something_else_stay_what_they_are(tmp_path):
    with pytest.raises(PermissionError), atomic_writer(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "denied")


# ------------------------------------------------------------------------------------- where an output's path leads


def text_writer(path: object) -> None:
    with atomic_writer(str(path)) as out:
        out.write("one\n")
        out.write("two\n")


def bytes_writer(path: object) -> None:
    with atomic_bytes_writer(str(path)) as out:
        out.write(b"one\ntwo\n")


def two_writers(path: object) -> None:
    with atomic_writers(str(path), f"{path}.other") as (out, other):
        out.write("one\ntwo\n")
        other.write("other\n")
    os.unlink(f"{path}.other")


WRITERS = [text_writer, bytes_writer, two_writers]


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest) -> Callable[[object], None]:
    """Writes two lines to a path."""
    return request.param


@contextlib.contextmanager
def drained(descriptor: int) -> Iterator[list[bytes]]:
    """Reads a pipe or a terminal while the block runs: as many bytes as the writers write."""
    got: list[bytes] = []

    def read() -> None:
        while sum(map(len, got)) < len(b"one\ntwo\n"):
            got.append(os.read(descriptor, 100))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    yield got
    reader.join(10)
    assert not reader.is_alive()


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path, write):
    os.mkfifo(tmp_path / "pipe")
    with drained(os.open(tmp_path / "pipe", os.O_RDWR)) as got:
        write(tmp_path / "pipe")
    assert b"".join(got) == b"one\ntwo\n"
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode) and os.listdir(tmp_path) == ["pipe"]


def test_a_link_to_a_pipe_is_followed(tmp_path, write):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with drained(os.open(tmp_path / "pipe", os.O_RDWR)) as got:
        write(tmp_path / "link")
    assert b"".join(got) == b"one\ntwo\n" and sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_a_terminal_is_written_to(tmp_path, write):
    ours, theirs = pty.openpty()
    tty.setraw(theirs)  # else every newline gets a carriage return
    (tmp_path / "link").symlink_to(os.ttyname(theirs))
    before = os.stat(os.ttyname(theirs))
    with drained(ours) as got:
        write(tmp_path / "link")
    after = os.stat(os.ttyname(theirs))
    assert b"".join(got) == b"one\ntwo\n" and (before.st_ino, before.st_rdev) == (after.st_ino, after.st_rdev)


def test_a_device_stays_a_device(tmp_path, write):
    """A copy of the null device, which every test leaves alone."""
    try:
        os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.close(os.open(tmp_path / "null", os.O_WRONLY))
    except OSError:
        pytest.skip("needs root, and a folder where devices work")
    (tmp_path / "link").symlink_to("null")
    for name in ("null", "link"):
        write(tmp_path / name)
    assert stat.S_ISCHR(os.stat(tmp_path / "null").st_mode) and sorted(os.listdir(tmp_path)) == ["link", "null"]


@pytest.mark.parametrize("existing", [True, False])
def test_links_to_files_are_followed(tmp_path, write, existing):
    (tmp_path / "far").mkdir()
    if existing:
        (tmp_path / "far" / "file").write_text("before")
    (tmp_path / "near").symlink_to("far/file")
    (tmp_path / "nearer").symlink_to("near")
    write(tmp_path / "nearer")
    assert (tmp_path / "nearer").is_symlink() and (tmp_path / "near").is_symlink()
    assert (tmp_path / "far" / "file").read_bytes() == b"one\ntwo\n" and os.listdir(tmp_path / "far") == ["file"]


def test_open_descriptors_are_written_to_where_they_stand(tmp_path, write):
    """As with the shell's >(command) and { ...; } > file: what follows goes behind, and nothing is replaced."""
    with open(tmp_path / "file", "wb", buffering=0) as file:
        file.write(b"before\n")
        if write is not two_writers:  # it would make a neighbour in /dev
            write(f"/dev/fd/{file.fileno()}")
            file.write(b"after\n")
            assert (tmp_path / "file").read_bytes() == b"before\none\ntwo\nafter\n"
        assert os.stat(tmp_path / "file").st_ino == os.fstat(file.fileno()).st_ino
    receiving, sending = os.pipe()
    if write is not two_writers:
        write(f"/proc/self/fd/{sending}")
        assert os.read(receiving, 100) == b"one\ntwo\n"
    os.close(receiving), os.close(sending)


@pytest.mark.parametrize("redirection", ["> file", ">> file", "| cat > file"])
def test_standard_output_by_name_comes_between_what_is_printed(tmp_path, redirection):
    code = (
        "from dcmbr_fairseq.files.writing import atomic_writer\nprint('before')\n"
        "with atomic_writer('/dev/stdout') as out: out.write('text\\n')\nprint('after')"
    )
    (tmp_path / "file").write_text("first\n")
    line = f'{{ "{sys.executable}" -c "$CODE"; echo last; }} {redirection}'
    subprocess.run(["bash", "-c", line], cwd=tmp_path, env={**os.environ, "CODE": code}, check=True)
    first = ["first"] if ">>" in redirection else []
    assert (tmp_path / "file").read_text().splitlines() == [*first, "before", "text", "after", "last"]


def test_who_has_read_enough_is_no_mistake():
    receiving, sending = os.pipe()
    os.close(receiving)
    with pytest.raises(BrokenPipeError), atomic_writer(f"/dev/fd/{sending}") as out:
        out.write("text\n" * 100_000)
    os.close(sending)


def test_a_file_that_is_replaced_hands_on_its_permissions(tmp_path, write):
    (tmp_path / "private").write_text("before")
    os.chmod(tmp_path / "private", 0o640)
    write(tmp_path / "private")
    assert os.stat(tmp_path / "private").st_mode & 0o777 == 0o640


def test_what_has_become_a_pipe_meanwhile_is_not_replaced(tmp_path):
    with pytest.raises(UserError, match="has become something else"), atomic_writer(tmp_path / "out") as out:
        out.write("text\n")
        os.mkfifo(tmp_path / "out")
    assert stat.S_ISFIFO(os.stat(tmp_path / "out").st_mode) and os.listdir(tmp_path) == ["out"]


def test_one_file_by_two_names_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(UserError, match="one and the same file"), atomic_writers(tmp_path / "file", tmp_path / "link"):
        pass
    assert os.listdir(tmp_path) == ["link"]


# ----------------------------------------------------------------------------------- one sentence for what goes wrong


def folder(path: Path) -> str:
    (path / "folder").mkdir()
    return "folder"


def link_to_folder(path: Path) -> str:
    (path / "link").symlink_to(folder(path))
    return "link"


def below_a_file(path: Path) -> str:
    (path / "file").write_text("")
    return "file/new/out"


def circle(path: Path) -> str:
    (path / "a").symlink_to("b")
    (path / "b").symlink_to("a")
    return "a"


OUTPUTS = {
    folder: "it is a folder; give the name of a file in it",
    link_to_folder: "it is a folder",
    (lambda path: "new/"): "it is a folder",
    below_a_file: "a part of the path is a file, not a folder",
    circle: "links lead in a circle",
    (lambda path: "x" * 300): "the name is too long; give a shorter one",
    (lambda path: f"{'x' * 300}/out"): "the name is too long",
    (lambda path: f"new/{'x' * 300}"): "the name is too long",
    (lambda path: "/".join(["x" * 200] * 30)): "the name is too long",
}


@pytest.mark.parametrize(("place", "reason"), OUTPUTS.items(), ids=lambda value: getattr(value, "__name__", None))
def test_impossible_outputs_are_one_sentence_before_the_work(tmp_path, write, place, reason):
    output = f"{tmp_path}/{place(tmp_path)}"
    before = sorted(tmp_path.rglob("*"))
    for attempt in (check_output, write):
        with pytest.raises(UserError, match=f"^{re.escape(output)} cannot be written: .*{reason}"):
            attempt(output)
    assert sorted(tmp_path.rglob("*")) == before


def test_long_names_that_are_allowed_can_be_written(tmp_path, write):
    name = "x" * (255 - len(".other"))
    write(tmp_path / name)
    write(tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def as_nobody(action: Callable[[], None]) -> str:
    """What a :class:`UserError` says when someone without rights acts; runs in a child of its own."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            action()
        except UserError as error:
            os.write(sending, str(error).encode())
        except BaseException as error:
            os.write(sending, repr(error).encode())
        finally:
            os._exit(0)
    os.close(sending)
    os.waitpid(child, 0)
    with open(receiving) as said:
        return said.read()


def test_missing_permissions_are_one_sentence(tmp_path, write):
    for place in tmp_path.parents:
        if place != Path("/tmp") and place.stat().st_uid == os.getuid() and len(place.parts) > 2:
            os.chmod(place, 0o755)
    os.chmod(tmp_path, 0o777)
    (tmp_path / "closed").mkdir()
    (tmp_path / "protected").write_text("text")
    os.chmod(tmp_path / "protected", 0o444)
    os.chmod(tmp_path / "closed", 0o555)
    for name in ("closed/out", "closed/new/out", "protected"):
        for attempt in (check_output, write):
            said = as_nobody(lambda attempt=attempt, name=name: attempt(tmp_path / name))
            assert said.startswith(f"{tmp_path / name} cannot be written: permission denied; change the permissions")
    assert (tmp_path / "protected").read_text() == "text" and os.listdir(tmp_path / "closed") == []


@pytest.mark.parametrize("code", [errno.EIO, errno.EROFS, errno.ESTALE, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("function", ["fsync", "replace", "fchmod"])
def test_whatever_the_system_says_in_the_end_is_one_sentence(tmp_path, monkeypatch, write, code, function):
    def fails(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, function, fails)
    with pytest.raises(UserError, match=f"{re.escape(str(tmp_path / 'out'))} (cannot|could not) be written"):
        write(tmp_path / "out")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []


INPUTS = {
    folder: "is not a file but a folder",
    link_to_folder: "is not a file but a folder",
    below_a_file: "is not a file: give the path of an existing file",
    circle: "is not a file",
    (lambda path: "absent"): "is not a file",
    (lambda path: "x" * 300): "is not a file",
    (lambda path: os.mkfifo(path / "pipe") or "pipe"): "is not a file but a pipe or a device, which",
}


@pytest.mark.parametrize(("place", "reason"), INPUTS.items(), ids=lambda value: getattr(value, "__name__", None))
def test_impossible_inputs_are_one_sentence(tmp_path, place, reason):
    path = f"{tmp_path}/{place(tmp_path)}"
    with pytest.raises(UserError, match=f"^{re.escape(path)} {reason}"):
        read_lines(path)


def test_inputs_without_permission_are_one_sentence(tmp_path):
    (tmp_path / "mine").write_text("text\n")
    os.chmod(tmp_path / "mine", 0)
    for place in tmp_path.parents:
        if place != Path("/tmp") and place.stat().st_uid == os.getuid() and len(place.parts) > 2:
            os.chmod(place, 0o755)
    os.chmod(tmp_path, 0o755)
    said = as_nobody(lambda: read_lines(tmp_path / "mine"))
    assert said.startswith(f"{tmp_path / 'mine'} cannot be read: permission denied; change the permissions of it and")


PACKED = gzip.compress(b"".join(b"%d\n" % number for number in range(5000)), mtime=0)
DAMAGED = {
    "cut": PACKED[:-20],
    "cut head": PACKED[:5],
    "plain": b"no gzip at all\n",
    "flipped": PACKED[:3000] + bytes([PACKED[3000] ^ 255]) + PACKED[3001:],
    "wrong sum": PACKED[:-6] + b"\0\0" + PACKED[-4:],
    "rubbish behind": PACKED + b"rubbish",
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_damaged_archives_are_one_sentence_with_the_line(tmp_path, data):
    (tmp_path / "in.gz").write_bytes(data)
    with pytest.raises(UserError, match=r"in\.gz, after line \d+, is cut off or damaged \(.*\): fetch or make it"):
        read_lines(tmp_path / "in.gz")


def test_lines_that_are_not_utf_8_are_named(tmp_path):
    (tmp_path / "latin").write_bytes(b"a\n" * 5000 + "Stra\xdfe\n".encode("latin-1") + b"b\n")
    with pytest.raises(UserError, match=r"latin, line 5001, is not UTF-8 \(byte 5: invalid"):
        read_lines(tmp_path / "latin")
    (tmp_path / "utf16").write_bytes("a\n".encode("utf-16"))
    with pytest.raises(UserError, match="utf16, line 1, is not UTF-8"):
        read_lines(tmp_path / "utf16")


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert read_lines(tmp_path / "marked") == ["a", "\ufeffb"]  # only at the beginning
    (tmp_path / "marked.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf"))
    assert read_lines(tmp_path / "marked.gz") == [""]


# ---------------------------------------------------------------------------------------------------- every writer


#: Where files may be opened for writing, renamed or removed: the rule of outputs, and the journals that resume.
WRITING = {
    "files/writing.py",
    "files/standard_streams.py",
    "files/journals.py",
    "files/temporary.py",
    "present/tidy.py",
    "pools/resumable_writer.py",
    "pools/record_writer.py",
}
WRITERS_OF_OTHERS = {"write_text", "write_bytes", "rename", "unlink", "mkstemp", "NamedTemporaryFile", "savez", "touch"}


def writes(node: ast.AST) -> bool:
    """Whether a call opens a file for writing, or changes what is in a folder."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = [*node.args[1:2], *(keyword.value for keyword in node.keywords)]
    modes = [part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    opens = name in ("open", "fdopen") and any(set(mode) & set("wax+") for mode in modes if len(mode) < 5)
    of_os = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "os"
    return opens or name in WRITERS_OF_OTHERS or (of_os and name in ("replace", "remove", "open"))


def test_outputs_are_written_in_one_place() -> None:
    modules = {str(path.relative_to(PACKAGE)): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert {name for name, tree in modules.items() if any(map(writes, ast.walk(tree)))} == WRITING


# ------------------------------------------------------------------------------------------------------- leftovers


HOLD = """
import sys, time
from dcmbr_fairseq.files.writing import atomic_writer
with atomic_writer(sys.argv[1]) as out:
    out.write("half")
    out.flush()
    print("ready", flush=True)
    time.sleep(60)
"""


@contextlib.contextmanager
def another_writer(path: Path) -> Iterator[subprocess.Popen]:
    """Another program in the middle of writing an output."""
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_kept(tmp_path):
    output = tmp_path / "out [1].txt"
    with another_writer(output) as dead:
        dead.send_signal(signal.SIGKILL)
        dead.wait()
    (tmp_path / "out [1].txt.partial").write_text("a journal")
    (tmp_path / ".out [1].txt.bak.abcdefgh.tmp").write_text("of an output of another name")
    kept = {"out [1].txt.partial", ".out [1].txt.bak.abcdefgh.tmp"}
    (left,) = set(os.listdir(tmp_path)) - kept
    assert left.startswith(".out [1].txt.") and left.endswith(".tmp")
    with another_writer(output) as living:
        (theirs,) = set(os.listdir(tmp_path)) - kept
        assert theirs != left
        text_writer(output)
        assert set(os.listdir(tmp_path)) == kept | {theirs, output.name}
        assert living.poll() is None
    text_writer(output)
    assert set(os.listdir(tmp_path)) == kept | {output.name}


def test_a_new_file_that_is_taken_for_a_leftover_is_made_anew(tmp_path, monkeypatch):
    """Between its birth and its lock another run may lock and remove it."""
    lock, stolen = fcntl.flock, []

    def too_late(descriptor, operation):
        if len(stolen) < 2:
            (path,) = set(temporary.leftovers(tmp_path / "out", tmp_path)) - set(stolen)
            stolen.append(path)
            if len(stolen) == 1:
                path.unlink()
            else:
                raise BlockingIOError(errno.EWOULDBLOCK, "locked")
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", too_late)
    monkeypatch.setattr(temporary, "remove_leftovers", lambda *_: None)
    made = temporary.Temporary(tmp_path / "out")
    assert made.path.exists() and made.path not in stolen
    made.close()


def test_without_locks_files_are_written_all_the_same(tmp_path, monkeypatch):
    def unknown(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    (tmp_path / ".out.abcdefgh.tmp").write_text("whose?")
    monkeypatch.setattr(fcntl, "flock", unknown)
    text_writer(tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == [".out.abcdefgh.tmp", "out"]
