"""The records of one run, row by row, in a file that appears whole or not at all."""

import atexit
import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import PathLike
from dcmbr_fairseq.pools.row_file import RowFile

logger = logging.getLogger(__name__)


class RecordWriter:
    """Collects the rows of a run and puts them under ``path`` sorted by id when the run is complete, or not at all.

    Rows go to a temporary file in the same folder as they come; only ids and byte offsets stay in memory. The file
    gets its final name

    - as soon as all ids given to :meth:`expect` have been written (fairseq-generate knows its data set), or
    - by :meth:`finish`, which runs at the interpreter's exit if the run is open-ended (interactive, hub) and did not
      end with an unhandled exception. ``sys.exit`` counts as an ordinary end.

    Ids must be unique in a file. fairseq-interactive and the hub start again at 0 with every buffer: their rows are
    to be numbered by the caller.
    """

    def __init__(self, path: PathLike, common: Mapping[str, Any] | None = None):
        """Open the temporary file.

        Args:
            path: the file.
            common: fields that every row gets.

        Raises:
            UserError: ``path`` exists already, or its folder cannot be written to.
        """
        self.path, self.common = Path(path), common or {}
        if self.path.exists():
            raise UserError(f"--pools-out {path} exists already: delete it, or give another name")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.", suffix=".partial")
        except OSError as error:
            raise UserError(f"--pools-out {path} cannot be written: {error.strerror}") from error
        self._temporary = Path(name)
        self._rows = RowFile(os.fdopen(descriptor, "w+b"))
        self._missing: set[int] | None = None  # None: the run is open-ended
        self._process = os.getpid()
        atexit.register(self._at_exit)

    def expect(self, ids: Iterable[int]) -> None:
        """Tell all ids of the run; the file is finished with the last of them."""
        self._missing = set(ids) - self._rows.ids
        self._finish_if_complete()

    def write(self, row: Mapping[str, Any]) -> None:
        """Append one row.

        Raises:
            ValueError: its id has been written already, is not expected, or the file is finished.
            UserError: it cannot be written; nothing is left of the file.
        """
        row_id = row["id"]
        if self._rows.file.closed:
            raise ValueError(f"{self.path} is closed: row {row_id} comes too late")
        if row_id in self._rows or (self._missing is not None and row_id not in self._missing):
            raise ValueError(f"{self.path}: the id {row_id} is {'repeated' if row_id in self._rows else 'unexpected'}")
        with self._leaving_nothing_behind():
            self._rows.append({**row, **self.common})
        if self._missing is not None:
            self._missing.remove(row_id)
        self._finish_if_complete()

    def finish(self) -> None:
        """Give the file its final name. Further calls do nothing.

        Raises:
            UserError: it cannot be written, or another program has made a file of this name meanwhile.
        """
        if self._rows.file.closed:
            return
        with self._leaving_nothing_behind():
            if self.path.exists():
                raise UserError(f"--pools-out {self.path} was made by another program meanwhile: give another name")
            self._rows.publish(self.path)
        self.discard()

    def discard(self) -> None:
        """Remove the temporary file; nothing appears under the final name. Further calls do nothing."""
        atexit.unregister(self._at_exit)
        if self._rows.file.closed:
            return
        with contextlib.suppress(OSError):  # a full disk refuses what is still in the buffer
            self._rows.file.close()
        with contextlib.suppress(FileNotFoundError):
            self._temporary.unlink()

    @contextlib.contextmanager
    def _leaving_nothing_behind(self) -> Iterator[None]:
        """Discard everything if the block fails; failures of the disk become one clear sentence."""
        try:
            yield
        except OSError as error:
            self.discard()
            raise UserError(
                f"--pools-out {self.path} cannot be written: {error.strerror}; nothing was kept: free some "
                "space, or write elsewhere"
            ) from error
        except BaseException:
            self.discard()
            raise

    def _finish_if_complete(self) -> None:
        if self._missing is not None and not self._missing:
            self.finish()

    def _at_exit(self) -> None:
        """The run ends: an open-ended one is complete unless an exception ended it."""
        if self._rows.file.closed or os.getpid() != self._process:  # a forked child must not touch its parent's file
            return
        if self._missing is not None:
            logger.warning("--pools-out %s was not written: %d sentences are missing", self.path, len(self._missing))
            self.discard()
        elif _ended_by_exception():
            logger.warning("--pools-out %s was not written: the run ended with an error", self.path)
            self.discard()
        else:
            self.finish()


def _ended_by_exception() -> bool:
    """Whether an unhandled exception ends the interpreter; in an interactive session they end nothing."""
    return not hasattr(sys, "ps1") and getattr(sys, "last_type", None) is not None
