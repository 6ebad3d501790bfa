"""Throw-away files: written beside an output until it is complete, locked while their owner lives.

They are called ``.OUTPUT.xxxxxxxx.tmp``. What a killed run has left is known by its lock, which the system takes back
from the dead, and removed when the same output is written again. (Files called ``OUTPUT.partial`` are something else:
journals, with which a later run goes on.)
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

SUFFIX = ".tmp"

_LONGEST = 200  # bytes of an output's name that are repeated in ours; file systems allow 255 for a name
#: What flock says on a file system that knows no locks. Nothing is locked there, and leftovers stay.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


class Temporary:
    """A new empty file that is private to its owner and locked; gone after :meth:`close`, unless it has become another.

    Args:
        output: what it is made for. Leftovers of dead runs of the same output are removed.
        folder: where to make it; default: beside the output.

    Raises:
        OSError: no file can be made there.
    """

    def __init__(self, output: Path, folder: Path | None = None) -> None:
        folder = output.parent if folder is None else folder
        remove_leftovers(output, folder)
        self.descriptor, self.path = _locked(output.name, folder)

    def become(self, target: Path) -> None:
        """Put what has been written under a final name.

        A file that is there is replaced and hands on its permissions and owner; a new one follows the user's umask.
        """
        try:
            before = os.stat(target)
        except FileNotFoundError:
            os.fchmod(self.descriptor, 0o666 & ~umask())
        else:
            with contextlib.suppress(PermissionError):  # only root may give files away
                os.fchown(self.descriptor, before.st_uid, before.st_gid)
            os.fchmod(self.descriptor, before.st_mode & 0o777)
        os.replace(self.path, target)

    def close(self) -> None:
        """Give up the lock, and remove the file where it has not got another name. Further calls do nothing."""
        if self.descriptor >= 0:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
            os.close(self.descriptor)
            self.descriptor = -1


def remove_leftovers(output: Path, folder: Path) -> None:
    """Remove the throw-away files of an output whose owners are dead."""
    for path in leftovers(output, folder):
        with contextlib.suppress(OSError):  # it is in use, not ours, or gone
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


def leftovers(output: Path, folder: Path) -> Iterator[Path]:
    """The throw-away files of an output, whoever owns them."""
    ours = re.compile(re.escape(_prefix(output.name)) + r"[a-z0-9_]{8}" + re.escape(SUFFIX))
    with contextlib.suppress(OSError):
        yield from (folder / name for name in os.listdir(folder) if ours.fullmatch(name))


def _locked(name: str, folder: Path) -> tuple[int, Path]:
    """A new file and its descriptor, locked. Between its birth and its lock another run may take it for a leftover."""
    while True:
        descriptor, path = tempfile.mkstemp(dir=folder, prefix=_prefix(name), suffix=SUFFIX)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:
                return descriptor, Path(path)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return descriptor, Path(path)
            if error.errno != errno.EWOULDBLOCK:
                os.unlink(path)
                os.close(descriptor)
                raise
        os.close(descriptor)


def _prefix(name: str) -> str:
    """The beginning of the names of an output's throw-away files."""
    raw = os.fsencode(name)
    return f".{name}." if len(raw) <= _LONGEST else f".{hashlib.sha256(raw).hexdigest()}."


def umask() -> int:
    """The permissions that the user wants new files not to have."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
