"""Writing files so that nothing is lost: outputs appear whole or not at all.

What an output's path names decides how it is written. A regular file, or nothing yet, is replaced whole; a link is
followed; all else, such as a pipe, a device, ``/dev/stdout`` or the shell's ``>(command)``, is written to as it stands.
"""

import contextlib
import gzip
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, BinaryIO

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike, writing
from dcmbr_fairseq.files.places import check_output, is_stream, open_descriptor
from dcmbr_fairseq.files.temporary import Temporary, umask


@contextlib.contextmanager
def atomic_writer(path: PathLike) -> Iterator[IO[str]]:
    """Write a UTF-8 file (plain or ``.gz``) that appears under ``path`` whole, or not at all.

    The text goes to a temporary name in the same folder, is flushed to disk and renamed when the block ends; an
    exception (Ctrl-C and a full disk included) removes it. Missing parent folders are made. Pipes, devices and their
    like get the text as it comes.

    Raises:
        UserError: it cannot be written, or the disk is full.
    """
    with atomic_writers(path) as (out,):
        yield out


@contextlib.contextmanager
def atomic_writers(*paths: PathLike) -> Iterator[tuple[IO[str], ...]]:
    """Write several files that appear all together, or not at all; see :func:`atomic_writer`."""
    with _outputs(paths) as outputs:
        yield tuple(output.text() for output in outputs)


@contextlib.contextmanager
def atomic_bytes_writer(path: PathLike) -> Iterator[BinaryIO]:
    """Write bytes that appear whole, or not at all; see :func:`atomic_writer`."""
    with _outputs([path]) as (output,):
        yield output.file


def new_file(path: PathLike, text: str) -> bool:
    """Make a file that is there whole at once, unless there is one; whether it was made here. For many processes.

    Raises:
        UserError: it cannot be written.
    """
    target = Path(path)
    with writing(path):
        if target.exists():
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Temporary(target)
        try:
            os.write(temporary.descriptor, text.encode("utf-8"))
            os.fchmod(temporary.descriptor, 0o666 & ~umask())
            os.link(temporary.path, target)
        except FileExistsError:
            return False
        finally:
            temporary.close()
    return True


@contextlib.contextmanager
def _outputs(paths: Sequence[PathLike]) -> Iterator[list["_Output"]]:
    """Outputs that are published together when the block ends, and abandoned when it fails."""
    with contextlib.ExitStack() as opened:
        outputs = [opened.enter_context(contextlib.closing(_Output(path))) for path in paths]
        targets = [output.target for output in outputs if output.target is not None]
        if len(set(targets)) < len(targets):
            raise UserError(f"{' and '.join(map(str, paths))} are one and the same file: the outputs need two")
        try:
            yield outputs
            for output in outputs:
                output.finish()
        except Exception as error:  # what stands between, such as torch.save, may have made another of it
            failure = next((output.failure for output in outputs if output.failure is not None), error)
            if failure is error:
                raise
            raise failure from error
        for output in outputs:
            output.publish()


class _Output:
    """One output: opened at once, and published, or else abandoned, at the end.

    Attributes:
        target: the regular file that it replaces; None for a stream.
        file: its bytes.
    """

    def __init__(self, path: PathLike) -> None:
        check_output(path)
        self.path = path
        self.target: Path | None = None
        self._temporary: Temporary | None = None
        self._text: io.TextIOWrapper | None = None
        with writing(path):
            if is_stream(path):
                self.file = NamedBuffer(_open_stream(path), path, closefd=True)
            else:
                self.target = Path(os.path.realpath(path))
                self.target.parent.mkdir(parents=True, exist_ok=True)
                self._temporary = Temporary(self.target)
                self.file = NamedBuffer(self._temporary.descriptor, path, closefd=False)

    def text(self) -> IO[str]:
        """Its text; packed where the path ends in ``.gz``."""
        # no name and no time in the header: the same text gives the same bytes
        packed = gzip.GzipFile("", "wb", fileobj=self.file, mtime=0) if str(self.path).endswith(".gz") else self.file
        self._text = io.TextIOWrapper(packed, encoding="utf-8", newline="\n")
        return self._text

    def finish(self) -> None:
        """Bring everything to the disk."""
        if self._text is not None:
            self._text.close()
        if not self.file.closed:
            self.file.flush()
        if self._temporary is not None:
            with writing(self.path):
                os.fsync(self._temporary.descriptor)

    @property
    def failure(self) -> UserError | None:
        """Why something could not be written, if so."""
        return self.file.failure

    def publish(self) -> None:
        """Let it appear under its name.

        Raises:
            UserError: something else has got this name meanwhile, which must not be replaced.
        """
        if self._temporary is not None and self.target is not None:
            if is_stream(self.path) or Path(os.path.realpath(self.path)) != self.target:
                raise UserError(f"{self.path} has become something else while it was written: give another name")
            with writing(self.path):
                self._temporary.become(self.target)

    def close(self) -> None:
        """Let go of everything; what has not been published is lost."""
        self.file.abandoned = True
        if self._text is not None:
            self._text.close()
        self.file.close()
        if self._temporary is not None:
            self._temporary.close()


class NamedBuffer(io.BufferedWriter):
    """An open file whose failures are sentences that name the output, whoever writes through it.

    They are told here, above the buffer, and not below it: a signal whose handler raises just after the system has
    written would let the buffer write the same bytes once more.

    Attributes:
        abandoned: what is still in the buffer, and all that comes, goes nowhere.
        failure: why something could not be written, if so.
    """

    def __init__(self, descriptor: int, name: object, closefd: bool) -> None:
        super().__init__(io.FileIO(descriptor, "wb", closefd=closefd))
        self.output = name
        self.abandoned = False
        self.failure: UserError | None = None

    def write(self, data: Any) -> int:
        with self._telling():
            return memoryview(data).nbytes if self.abandoned else super().write(data)

    def flush(self) -> None:
        with self._telling():
            if not self.abandoned:
                super().flush()

    def close(self) -> None:
        if self.abandoned:
            self.raw.close()
        else:
            super().close()

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            with writing(self.output):
                yield
        except UserError as error:
            self.failure = error
            raise


def _open_stream(path: PathLike) -> int:
    """A new descriptor of a stream; it shares its place with the one that ``/dev/stdout`` and its like stand for."""
    descriptor = open_descriptor(path)
    if descriptor is None:
        return os.open(path, os.O_WRONLY | os.O_NOCTTY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # what has been printed before comes first
    return os.dup(descriptor)
