"""Where an output goes: a regular file that is replaced whole, or a stream that is written to as it stands."""

import contextlib
import errno
import os
import re
import stat
from pathlib import Path

from dcmbr_fairseq.files.errors import PathLike, writing


def is_stream(path: PathLike, name: object = None) -> bool:
    """Whether an output is written to as it stands: a pipe, a device, a socket, an open file of this process.

    Raises:
        UserError: the system does not tell.
    """
    if open_descriptor(path) is not None:
        return True
    with writing(name or path), contextlib.suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def open_descriptor(path: PathLike) -> int | None:
    """The number of the open file of this process that ``/dev/stdout``, ``/dev/fd/N`` and their like stand for."""
    place = Path(path)
    for _ in range(40):  # as many links as the system follows
        folder = os.path.realpath(place.parent)
        if re.fullmatch(rf"/proc/{os.getpid()}(/task/\d+)?/fd", folder) and place.name.isdecimal():
            return int(place.name)
        if not os.path.islink(place):
            return None
        place = Path(folder) / os.readlink(place)
    return None


def check_output(path: PathLike, name: object = None) -> None:
    """Find out before work starts whether an output could be written, as far as that can be known.

    Args:
        path: the output.
        name: how it is called: flag and path (default: the path alone).

    Raises:
        UserError: it is a folder, or below a file; its name is too long; or there is no permission to write it.
    """
    if is_stream(path, name):
        return
    with writing(name or path):
        target = os.path.realpath(path)
        if os.path.isdir(target) or str(path).endswith("/"):
            raise _system_error(errno.EISDIR)
        if os.path.lexists(target):
            _check_access(target, os.W_OK)
        folder, parts = os.path.split(target)
        missing = [parts]
        while not os.path.lexists(folder):
            folder, name = os.path.split(folder)
            missing.append(name)
        if not os.path.isdir(folder):
            raise _system_error(errno.ENOTDIR)
        _check_access(folder, os.W_OK | os.X_OK)
        if any(len(os.fsencode(name)) > os.pathconf(folder, "PC_NAME_MAX") for name in missing):
            raise _system_error(errno.ENAMETOOLONG)


def _check_access(path: str, mode: int) -> None:
    if not os.access(path, mode, effective_ids=True):
        raise _system_error(errno.EROFS if os.statvfs(path).f_flag & os.ST_RDONLY else errno.EACCES)


def _system_error(code: int) -> OSError:
    return OSError(code, os.strerror(code))
