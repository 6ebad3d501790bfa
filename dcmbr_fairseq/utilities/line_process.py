"""A child process that answers text lines, such as METEOR's and BEER's Java programs; it knows neither of them."""

import collections
import contextlib
import logging
import os
import queue
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.arguments import check_number

logger = logging.getLogger(__name__)

STDERR_LINES = 5  # of the child's last words, how many are quoted
PATIENCE_S = 0.5  # how long is waited at a time: a suspended process (Ctrl-Z) must not count the time it was away
LAST_WORDS_S = 5  # how long a child may take to end after its input was closed


class ChildFailed(Exception):
    """The child process ended, or did not answer in time. The message is the rest of a sentence about it."""


class LineProcess:
    """Sends lines to a child process while its answers are read, so that neither side ever waits for a round trip.

    A child that dies or falls silent is started again, once a request; a request that it fails twice is an error.
    So is one that does not give exactly one answer where one is due: all that follow would belong to other lines. To
    see that at once, ``probe`` is asked before and after each request: both times the answer must be the same.

    Args:
        name: what the child is called in messages.
        command: program and arguments. No shell is involved: paths may hold spaces and quotes.
        timeout: seconds without an answer after which the child counts as hung; its start is included.
        probe: a line with one answer, which differs from the answers to ordinary lines.
        folder: working folder of the child.

    Raises:
        UserError: the time-out is 0.
    """

    def __init__(
        self, name: str, command: Sequence[str], timeout: float, probe: str, folder: Path | None = None
    ) -> None:
        self.name = name
        self.command = list(command)
        self.timeout = check_number("timeout", timeout)
        if not self.timeout:
            raise UserError("--utility-args: timeout must be above 0 seconds, got 0")
        self.folder = folder
        self.probe = probe
        self.starts = 0
        self._child: _Child | None = None

    def start(self) -> None:
        """Start the child unless it runs; what it has to load is then loaded while others work.

        Raises:
            UserError: the program cannot be started.
        """
        if self._child is None:
            try:
                self._child = _Child(self.command, self.folder)
            except OSError as error:
                raise UserError(f"{self.name} cannot be started: {error} ({' '.join(self.command)})") from error
            self.starts += 1

    def ask(self, lines: Sequence[str], replies: int) -> list[str]:
        """Send ``lines`` and return the next ``replies`` lines of the child's answer.

        Raises:
            UserError: the child failed twice at this request; the sentence quotes the end of its stderr.
        """
        if not lines:
            return []
        try:
            return self._exchange(lines, replies)
        except ChildFailed as failure:
            logger.warning("%s %s; starting it again", self.name, failure)
        try:
            return self._exchange(lines, replies)
        except ChildFailed as failure:
            raise UserError(f"{self.name} {failure}, twice: check that `{' '.join(self.command)}` works") from failure

    def close(self) -> None:
        """End the child; the next request would start another."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def _exchange(self, lines: Sequence[str], replies: int) -> list[str]:
        self.start()
        assert self._child is not None
        try:
            before, *answers, after = self._child.exchange([self.probe, *lines, self.probe], replies + 2, self.timeout)
            if before != after:
                raise ChildFailed(f"answered {after[:80]!r} where {before[:80]!r} was due: its answers are out of step")
            return answers
        except BaseException:
            self.close()  # answers that were not fetched must not be taken for those of the next request
            raise


class _Child:
    """One running process with a thread that reads its answers and one that keeps the end of its stderr."""

    def __init__(self, command: Sequence[str], folder: Path | None) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a group of its own: a script's child ends with the script
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin: IO[bytes] = self.process.stdin
        self.answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.last_words: collections.deque[str] = collections.deque(maxlen=STDERR_LINES)
        _in_background(_read_answers, self.process.stdout, self.answers)
        self.stderr_reader = _in_background(_keep_last_lines, self.process.stderr, self.last_words)
        self.end = weakref.finalize(self, _end_process, self.process)  # also when the interpreter exits

    def exchange(self, lines: Sequence[str], replies: int, timeout: float) -> list[str]:
        """See :meth:`LineProcess.ask`.

        Raises:
            ChildFailed: it ended, was silent for ``timeout`` seconds, or said more than it was asked for.
        """
        self._refuse_leftovers()
        _in_background(_write_lines, self.stdin, lines)
        answers: list[str] = []
        while len(answers) < replies:
            answer = self._next_answer(timeout)
            if answer is None:
                raise ChildFailed(f"ended with exit status {self.process.wait()}{self._quote(ended=True)}")
            answers.append(answer)
        self._refuse_leftovers()
        return answers

    def _refuse_leftovers(self) -> None:
        with contextlib.suppress(queue.Empty):
            answer = self.answers.get_nowait()
            if answer is not None:
                raise ChildFailed(f"said {answer[:80]!r} unasked: its answers are out of step")
            self.answers.put(None)  # it has ended, which the next request will find

    def _next_answer(self, timeout: float) -> str | None:
        waited = 0.0
        while waited < timeout:
            patience = min(PATIENCE_S, timeout - waited)
            with contextlib.suppress(queue.Empty):
                return self.answers.get(timeout=patience)
            waited += patience
        raise ChildFailed(f"did not answer within {timeout:g} seconds{self._quote()}")

    def _quote(self, ended: bool = False) -> str:
        if ended:
            self.stderr_reader.join(LAST_WORDS_S)
        text = " / ".join(self.last_words)
        return f" (stderr: {text})" if text else ""


def field(text: str) -> str:
    """``text`` as a field of a line of fields separated by ``|||``: line breaks become spaces, separators come apart.

    Texts without line breaks and without three bars in a row are returned unchanged.
    """
    text = text.replace("\r", " ").replace("\n", " ")
    while "|||" in text:
        text = text.replace("|||", "| | |")
    return text


def _in_background(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _read_answers(stdout: IO[bytes], answers: "queue.SimpleQueue[str | None]") -> None:
    """Queue the child's lines; None says that there will be no more."""
    with contextlib.suppress(ValueError):  # the pipe was closed under us: the child was ended
        for line in stdout:
            answers.put(line.decode("utf-8", "replace").rstrip("\r\n"))
    answers.put(None)


def _keep_last_lines(stderr: IO[bytes], last: collections.deque[str]) -> None:
    with contextlib.suppress(ValueError):
        for line in stderr:
            text = line.decode("utf-8", "replace").strip()
            if text and not text.startswith("at "):  # Java's stack frames say nothing to a user
                last.append(text)


def _write_lines(stdin: IO[bytes], lines: Sequence[str]) -> None:
    with contextlib.suppress(BrokenPipeError, ValueError):  # the child is gone, which the reader has noticed
        for line in lines:
            stdin.write(line.encode("utf-8", "replace") + b"\n")  # lone surrogates become question marks
        stdin.flush()


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process and its children: all they do is answer, and a hung one would not end by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ValueError):
        process.stdin.close()  # after the kill: a writer that waits for a hung child would hold the lock for ever
