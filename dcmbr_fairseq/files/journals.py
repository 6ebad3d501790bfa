"""Journals: files ``OUTPUT.partial`` with which a later run goes on, and which one program at a time may write."""

import contextlib
import fcntl
import os
from typing import BinaryIO

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike, writing


def open_journal(path: PathLike) -> BinaryIO:
    """A journal, new or as an earlier run left it, for reading and for appending; it is ours until it is closed.

    Raises:
        UserError: another program writes it, or it cannot be written.
    """
    with writing(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        file = open(path, "a+b")
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.exists(path) and os.path.samestat(os.stat(path), os.fstat(file.fileno())):
            return file
    file.close()  # or whoever had it has just finished
    raise UserError(f"{path} is being written by another program: wait for its end")
