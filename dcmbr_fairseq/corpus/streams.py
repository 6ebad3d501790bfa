"""Aligned files as streams of chunks of raw lines, and chunks over several processes, in order and in little memory."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from itertools import islice
from typing import IO, NamedTuple, TypeVar

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike, reading
from dcmbr_fairseq.files.reading import open_bytes

LINES_PER_CHUNK = 4000
BLOCK = 1 << 20  # bytes

Item = TypeVar("Item")
Result = TypeVar("Result")


class Chunk(NamedTuple):
    """Some consecutive lines of one or more aligned files.

    Attributes:
        first: the number of its first line, from 1.
        columns: for each file its lines as bytes, all equally many, each without the ``\\n`` or ``\\r\\n`` at its end.
    """

    first: int
    columns: tuple[list[bytes], ...]


def count_lines(path: PathLike) -> int:
    """The number of lines of a file, plain or ``.gz``; the last need not end with a ``\\n``.

    Raises:
        UserError: the file is missing, cannot be read, or its ``.gz`` is cut off or damaged.
    """
    lines, last = 0, b"\n"
    with open_bytes(path) as file, reading(path):
        while block := file.read(BLOCK):
            lines += block.count(b"\n")
            last = block[-1:]
    return lines + (last != b"\n")


def aligned_length(paths: Sequence[PathLike]) -> int:
    """How many lines each of some aligned files has. It reads all of them, which is cheap, before anything is done.

    Raises:
        UserError: they differ; the sentence names them all with their counts.
    """
    with ThreadPoolExecutor(len(paths)) as threads:  # unpacking and counting need no interpreter lock
        counts = list(threads.map(count_lines, paths))
    if len(set(counts)) > 1:
        listed = ", ".join(f"{path} has {count} lines" for path, count in zip(paths, counts, strict=True))
        raise UserError(f"the files are not aligned line by line: {listed}; give files made from the same corpus")
    return counts[0]


def aligned_chunks(paths: Sequence[PathLike]) -> Iterator[Chunk]:
    """The files' lines, up to ``LINES_PER_CHUNK`` of each at a time.

    Raises:
        UserError: one file ends before the others (see :func:`aligned_length`, which finds it earlier), or cannot be
            read.
    """
    with ExitStack() as opened:
        files = [opened.enter_context(open_bytes(path)) for path in paths]
        first = 1
        while True:
            columns = tuple(map(_next_lines, files, paths))
            if len({len(column) for column in columns}) > 1:
                raise UserError(f"{paths[0]} and the files beside it changed while they were read: start again")
            if not columns[0]:
                return
            yield Chunk(first, columns)
            first += len(columns[0])


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int
) -> Generator[tuple[Item, Result], None, None]:
    """Each item with what ``function`` makes of it, in the order of the items, computed in ``processes`` processes.

    At most two items for each process are under way, however fast the items come and however slowly the results are
    taken. With one process everything happens here. Close the iterator to end the processes early.

    Raises:
        UserError: a process was killed. Whatever ``function`` raises.
    """
    if processes == 1:
        yield from ((item, function(item)) for item in items)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_end_with_parent)
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for item in items:
            with _signals_held():
                future = pool.submit(function, item)
            waiting.append((item, future))
            if len(waiting) > 2 * processes:
                yield _finished(*waiting.popleft())
        while waiting:
            yield _finished(*waiting.popleft())
    except BrokenProcessPool as error:
        raise UserError("a worker process was killed, perhaps for want of memory: try a smaller --processes") from error
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """INT and HUP wait meanwhile, and a process that is started here begins with them blocked: one that came before
    :func:`_end_with_parent` would end Python's own start with a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _finished(item: Item, future: "Future[Result]") -> tuple[Item, Result]:
    return item, future.result()


def _end_with_parent() -> None:
    """In a worker: what a terminal sends to all is left to the parent, and the parent's death, of whatever, is ours."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_await_parent, daemon=True).start()


def _await_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _next_lines(file: IO[bytes], path: PathLike) -> list[bytes]:
    with reading(path):
        return [_without_end(line) for line in islice(file, LINES_PER_CHUNK)]


def _without_end(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")
