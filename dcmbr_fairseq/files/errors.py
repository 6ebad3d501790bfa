"""What the system says about a file, as one sentence with a remedy; nowhere else is an OSError put into words."""

import contextlib
import errno
import os
import stat
import zlib
from collections.abc import Iterator
from typing import Union

from dcmbr_fairseq.errors import UserError

PathLike = Union[str, "os.PathLike[str]"]

#: What reading a file, plain or packed by gzip, may raise.
DAMAGE = (OSError, EOFError, zlib.error)

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM)
_ABSENT = "is not a file: give the path of an existing file"

#: errno -> what follows the name of an output.
_OF_OUTPUTS: dict[int | None, str] = {
    errno.EISDIR: "cannot be written: it is a folder; give the name of a file in it",
    errno.ENOTDIR: "cannot be written: a part of the path is a file, not a folder; give another path",
    errno.EEXIST: "cannot be written: a part of the path is a file, not a folder; give another path",  # as mkdir has it
    errno.ENOENT: "cannot be written: its folder cannot be made; give another path",
    errno.EROFS: "cannot be written: the file system is read-only; write elsewhere",
    errno.ENAMETOOLONG: "cannot be written: the name is too long; give a shorter one",
    errno.ELOOP: "cannot be written: its links lead in a circle; remove them, or write elsewhere",
    errno.EIO: "cannot be written: the disk reports an error (Input/output error); check it, or write elsewhere",
    **dict.fromkeys(_FORBIDDEN, "cannot be written: permission denied; change the permissions of it and of its folder, "
                                "or write elsewhere"),
}  # fmt: skip
#: errno -> what follows the name of an input.
_OF_INPUTS: dict[int | None, str] = {
    errno.EISDIR: "is not a file but a folder: give the path of a file in it",
    errno.EIO: "cannot be read: the disk reports an error (Input/output error); check it, or copy it from elsewhere",
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP), _ABSENT),
    **dict.fromkeys(_FORBIDDEN, "cannot be read: permission denied; change the permissions of it and of its folder"),
}

#: errno -> what follows the name of what is an input or an output.
_OF_EITHER: dict[int | None, str] = {
    errno.EISDIR: "it is a folder; give the path of a file",
    errno.ENAMETOOLONG: "the name is too long; give a shorter one",
    errno.ELOOP: "its links lead in a circle; remove them",
    **dict.fromkeys((errno.ENOTDIR, errno.EEXIST), "a part of the path is a file, not a folder; give another path"),
    **dict.fromkeys(_FORBIDDEN, "permission denied; change the permissions of it and of its folder"),
}


@contextlib.contextmanager
def writing(name: object) -> Iterator[None]:
    """Turn what the system says in this block, about an output, into a :class:`UserError` that names it.

    A broken pipe stays one: the reader of the output has seen enough, which is nobody's mistake.

    Args:
        name: how the output is called: its path, or flag and path.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(name, error) from error


def unwritable(name: object, error: OSError) -> UserError:
    """The sentence about an output."""
    if error.errno in _FULL:
        return UserError(
            f"the disk is full: {name} could not be written ({error.strerror}) and nothing was kept under that name; "
            "free some space, or write elsewhere"
        )
    reason = _OF_OUTPUTS.get(error.errno, f"cannot be written: {error.strerror or error}; write elsewhere")
    return UserError(f"{_shown(name)} {reason}")


def is_full(error: BaseException | None) -> bool:
    """Whether an exception says that a disk, or a quota, is full."""
    return isinstance(error, OSError) and error.errno in _FULL


@contextlib.contextmanager
def reading(name: object) -> Iterator[None]:
    """Turn what the system, or gzip, says in this block, about an input, into a :class:`UserError` that names it.

    Args:
        name: how the input is called: its path, or flag and path.
    """
    try:
        yield
    except DAMAGE as error:
        raise unreadable(name, error) from error


def unreadable(name: object, error: Exception) -> UserError:
    """The sentence about an input, of which one of :data:`DAMAGE` tells."""
    if not isinstance(error, OSError) or error.errno is None:  # gzip's own
        return UserError(f"{name} is cut off or damaged ({error}): fetch or make it again")
    reason = _OF_INPUTS.get(error.errno, f"cannot be read: {error.strerror or error}; give another file")
    return UserError(f"{_shown(name)} {reason}")


def unusable(name: object, error: OSError) -> UserError:
    """The sentence about a file or folder of which it is not known whether it was to be read or written."""
    if error.errno in (*_FULL, errno.EROFS):
        return unwritable(name, error)
    if error.errno == errno.ENOENT:
        return UserError(f"{_shown(name)} is not there: give the path of an existing file or folder")
    return UserError(f"{_shown(name)} cannot be used: {_OF_EITHER.get(error.errno, f'{error.strerror}; check it')}")


def check_input(path: PathLike) -> None:
    """Refuse what is no regular file: inputs are read more than once, which a pipe or a device cannot be.

    Raises:
        UserError: it is missing, a folder, a pipe or a device.
    """
    with reading(path):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise UserError(f"{path} is not a file but a pipe or a device, which cannot be read twice: write a file first")


def _shown(name: object) -> str:
    return str(name) or "the empty name"
