"""The records of one run, row by row, in a file that appears whole or not at all."""

import atexit
import contextlib
import itertools
import logging
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import signals
from dcmbr_fairseq.files.errors import PathLike, unwritable, writing
from dcmbr_fairseq.files.places import check_output, is_stream
from dcmbr_fairseq.files.temporary import Temporary
from dcmbr_fairseq.pools.row_file import RowFile

logger = logging.getLogger(__name__)


class RecordWriter:
    """Collects the rows of a run and puts them under ``path`` sorted by id when the run is complete, or not at all.

    Rows go to a temporary file in the same folder as they come; only ids and byte offsets stay in memory. The file
    gets its final name

    - as soon as all ids given to :meth:`expect` have been written (fairseq-generate knows its data set), or
    - by :meth:`finish`, which runs at the interpreter's exit if the run is open-ended (interactive, hub) and did not
      end with an unhandled exception. ``sys.exit`` counts as an ordinary end.

    Where another program has made a file of that name meanwhile, the rows are kept under the next free name, and the
    run fails; a run that cannot keep its rows when Python ends, ends with exit status 1.

    Ids must be unique in a file. fairseq-interactive and the hub start again at 0 with every buffer: their rows are
    to be numbered by the caller.
    """

    def __init__(self, path: PathLike, common: Mapping[str, Any] | None = None):
        """Open the temporary file.

        Args:
            path: the file.
            common: fields that every row gets.

        Raises:
            UserError: ``path`` is a file already, or cannot be written to.
        """
        signals.end_as_if_interrupted()  # before our own atexit: the exit is cleaned up first
        self.path, self.common = Path(path), common or {}
        self._name = f"--pools-out {path}"
        check_output(path, self._name)
        if _is_taken(self.path):
            raise UserError(f"{self._name} exists already: delete it, or give another name")
        with writing(self._name):
            folder = Path(tempfile.gettempdir()) if is_stream(path) else self.path.parent
            folder.mkdir(parents=True, exist_ok=True)
            self._temporary = Temporary(self.path, folder)
        self._rows = RowFile(open(self._temporary.descriptor, "w+b", closefd=False), self.path.name.endswith(".gz"))
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
        if self.closed:
            raise ValueError(f"{self.path} is closed: row {row_id} comes too late")
        if row_id in self._rows or (self._missing is not None and row_id not in self._missing):
            raise ValueError(f"{self.path}: the id {row_id} is {'repeated' if row_id in self._rows else 'unexpected'}")
        with self._leaving_nothing_behind():
            self._rows.append({**row, **self.common})
        if self._missing is not None:
            self._missing.remove(row_id)
        self._finish_if_complete()

    @property
    def closed(self) -> bool:
        """Whether the file has been finished or discarded, so that no row can follow."""
        return self._rows.file.closed

    def finish(self) -> None:
        """Give the file its final name. Further calls do nothing.

        Raises:
            UserError: it cannot be written; or another program has made a file of this name meanwhile, and the rows are
                under another.
        """
        if self.closed:
            return
        target = self._free_name()
        with self._leaving_nothing_behind():
            self._rows.publish(target)
        self.discard()
        if target != self.path:
            raise UserError(f"{self._name} was made by another program meanwhile: this run's records are in {target}")

    def _free_name(self) -> Path:
        """The final name, or else the first of ``pools.2.jsonl``, ``pools.3.jsonl`` ... that is free."""
        name, suffix = self.path.name.removesuffix(".gz"), ".gz" if self.path.name.endswith(".gz") else ""
        stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
        others = (self.path.with_name(f"{stem}.{n}{dot}{ending}{suffix}") for n in itertools.count(2))
        return next(path for path in itertools.chain([self.path], others) if not _is_taken(path))

    def discard(self) -> None:
        """Remove the temporary file; nothing appears under the final name. Further calls do nothing."""
        atexit.unregister(self._at_exit)
        if self.closed:
            return
        with contextlib.suppress(OSError):  # a full disk refuses what is still in the buffer
            self._rows.file.close()
        self._temporary.close()

    @contextlib.contextmanager
    def _leaving_nothing_behind(self) -> Iterator[None]:
        """Discard everything if the block fails; failures of the disk become one clear sentence."""
        try:
            yield
        except OSError as error:
            self.discard()
            raise unwritable(self._name, error) from error
        except BaseException:
            self.discard()
            raise

    def _finish_if_complete(self) -> None:
        if self._missing is not None and not self._missing:
            self.finish()

    def _at_exit(self) -> None:
        """The run ends: an open-ended one is complete unless an exception ended it."""
        if self.closed or os.getpid() != self._process:  # a forked child must not touch its parent's file
            return
        if self._missing is not None:
            _fail(f"{self._name} was not written: {len(self._missing)} sentences are missing")
            self.discard()
        elif _ended_by_exception():
            logger.warning("--pools-out %s was not written: the run ended with an error", self.path)
            self.discard()
        else:
            try:
                self.finish()
            except UserError as error:
                _fail(str(error))


_failures: list[str] = []


def _fail(message: str) -> None:
    """Say at the end of Python that rows are not where they should be, and let it end with exit status 1."""
    logger.error(message)
    _failures.append(message)


def _exit_status() -> None:
    """What runs after all that has registered later; an exception here would be printed, and forgotten."""
    if _failures:
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # its reader is gone, or it is closed
                stream.flush()
        os._exit(1)


atexit.register(_exit_status)


def _is_taken(path: Path) -> bool:
    """Whether there is a file of this name; a pipe or a device is there to be written to."""
    return path.exists() and not is_stream(path)


def _ended_by_exception() -> bool:
    """Whether an unhandled exception ends the interpreter; in an interactive session they end nothing."""
    return not hasattr(sys, "ps1") and getattr(sys, "last_type", None) is not None
