"""Reading and writing text so that nothing is lost: lines end at \\n alone, and outputs appear whole or not at all."""

import contextlib
import errno
import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Union

from dcmbr_fairseq.errors import UserError

PathLike = Union[str, "os.PathLike[str]"]


def open_text(path: PathLike) -> IO[str]:
    """Open UTF-8 text for reading, ``.gz`` or plain. Only ``\\n`` ends a line: ``\\r`` and U+2028 stay inside it."""
    if str(path).endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return open(path, encoding="utf-8", newline="\n")


def iter_lines(path: PathLike) -> Iterator[str]:
    """Yield the lines of a UTF-8 file (plain or ``.gz``) without their ``\\n``.

    Raises:
        UserError: the file is missing, or a line is not UTF-8.
    """
    if not Path(path).is_file():
        raise UserError(f"{path} is not a file: give the path of an existing text file")
    number = 0
    with open_text(path) as lines:
        try:
            for line in lines:
                yield line[:-1] if line.endswith("\n") else line
                number += 1
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path} is not UTF-8 after line {number} ({error.reason}): convert it with iconv, or drop those lines"
            ) from error


def read_lines(path: PathLike) -> list[str]:
    """The lines of a file as a list; see :func:`iter_lines`."""
    return list(iter_lines(path))


@contextlib.contextmanager
def atomic_writer(path: PathLike) -> Iterator[IO[str]]:
    """Write a UTF-8 file (plain or ``.gz``) that appears under ``path`` whole, or not at all.

    The text goes to a temporary name in the same folder, is flushed to disk and renamed when the block ends; an
    exception (Ctrl-C and a full disk included) removes it. Missing parent folders are made.

    Raises:
        UserError: the disk is full.
    """
    with atomic_writers(path) as (out,):
        yield out


@contextlib.contextmanager
def atomic_writers(*paths: PathLike) -> Iterator[tuple[IO[str], ...]]:
    """Write several files that appear all together, or not at all; see :func:`atomic_writer`."""
    names: list[str] = []
    try:
        with contextlib.ExitStack() as opened:
            outs = tuple(opened.enter_context(_temporary(Path(path), names)) for path in paths)
            yield outs
        for name, path in zip(names, paths, strict=True):
            os.replace(name, path)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        listed = " and ".join(map(str, paths))
        raise UserError(
            f"the disk is full: {listed} could not be written ({error.strerror}) and nothing was kept under that name; "
            "free some space, or write elsewhere"
        ) from error
    finally:
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)


@contextlib.contextmanager
def _temporary(target: Path, names: list[str]) -> Iterator[IO[str]]:
    """A new file beside ``target``, its name added to ``names``; on disk, complete, when the block ends."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial")
    names.append(name)
    with open(descriptor, "wb") as raw:
        # no name and no time in the header: the same text gives the same bytes
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if target.suffix == ".gz" else raw
        with io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as out:
            yield out
            out.flush()
            if packed is not raw:
                packed.close()
            raw.flush()
            os.fsync(raw.fileno())
    os.chmod(name, 0o666 & ~_umask())  # mkstemp makes files private; an output follows the user's umask


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
