"""Reading and writing text so that nothing is lost: lines end at \\n alone, and outputs appear whole or not at all."""

import contextlib
import gzip
import os
import tempfile
from pathlib import Path
from typing import IO, Iterator, List, Union

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
            for number, line in enumerate(lines, 1):
                yield line[:-1] if line.endswith("\n") else line
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path} is not UTF-8 after line {number} ({error.reason}): convert it with iconv, or drop those lines"
            ) from error


def read_lines(path: PathLike) -> List[str]:
    """The lines of a file as a list; see :func:`iter_lines`."""
    return list(iter_lines(path))


@contextlib.contextmanager
def atomic_writer(path: PathLike) -> Iterator[IO[str]]:
    """Write a UTF-8 file that appears under ``path`` whole, or not at all.

    The text goes to a temporary name in the same folder, is flushed to disk and renamed when the block ends; an
    exception (Ctrl-C and a full disk included) removes it. Missing parent folders are made.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, 0o666 & ~_umask())  # mkstemp makes files private; an output follows the user's umask
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
