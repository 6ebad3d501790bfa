"""The line process against a small child program: order, deaths, silence, odd paths, and what is sent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.line_process import LineProcess, field

ECHO = """
import pathlib, sys, time
number = -1
for line in sys.stdin.buffer:
    text = line.decode().rstrip("\\n")
    if text == "probe":
        print(text, flush=True)
        continue
    number += 1
    if text == "die":
        print("at some.Frame(Source)", file=sys.stderr)
        print("no memory left", file=sys.stderr)
        sys.exit(3)
    marker = pathlib.Path(sys.argv[1])
    if text == "stumble" and not marker.exists():  # dies the first time only
        marker.touch()
        sys.exit(3)
    if text == "sleep":
        time.sleep(600)
    print(f"{number} {text}", flush=number % 7 == 0)  # answers come in bursts, as from a buffered program
sys.stdout.flush()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder with 'quotes' and spaces"
    folder.mkdir()
    path = folder / "echo program.py"
    path.write_text(ECHO)
    return path


def process(program: Path, timeout: float = 60) -> LineProcess:
    return LineProcess("ECHO", [sys.executable, "-u", str(program), str(program.parent / "marker")], timeout, "probe")


def test_answers_come_in_order_and_more_is_sent_than_the_pipes_hold(program: Path) -> None:
    lines = [f"{i} {'x' * 500}" for i in range(2000)]  # 1 MB each way: a writer that did not read would hang
    echo = process(program)
    assert echo.ask(lines, len(lines)) == [f"{i} {line}" for i, line in enumerate(lines)]
    assert echo.ask(["more", "and more"], 2) == ["2000 more", "2001 and more"]
    assert echo.starts == 1
    echo.close()


def test_a_child_that_dies_is_started_again_and_the_whole_request_repeated(program: Path) -> None:
    echo = process(program)
    assert echo.ask(["a", "stumble", "b"], 3) == ["0 a", "1 stumble", "2 b"]
    assert echo.starts == 2
    echo.close()


def test_a_request_that_kills_twice_is_an_error_that_quotes_the_last_words(program: Path) -> None:
    echo = process(program)
    with pytest.raises(UserError, match=r"ECHO ended with exit status 3 \(stderr: no memory left\), twice: check"):
        echo.ask(["a", "die", "b"], 3)
    assert echo.starts == 2
    assert echo.ask(["c"], 1) == ["0 c"]  # the next request gets a fresh child
    echo.close()


def test_a_silent_child_is_killed_after_the_time_out(program: Path) -> None:
    echo = process(program, timeout=0.5)
    start = time.monotonic()
    with pytest.raises(UserError, match=r"ECHO did not answer within 0.5 seconds, twice"):
        echo.ask(["a", "sleep", *("x" * 1000 for _ in range(1000))], 1002)  # the writer is stuck meanwhile
    assert time.monotonic() - start < 30


def test_the_time_that_a_process_is_suspended_does_not_count(tmp_path: Path) -> None:
    child = (
        "import sys, time\nfor line in sys.stdin: "
        "[time.sleep(0.1) for _ in range(15 * (line[0] == 'x'))]; print('done', flush=True)"
    )
    parent = (
        "import os, sys; from dcmbr_fairseq.utilities.line_process import LineProcess; "
        "slow = LineProcess('SLOW', [sys.executable, '-c', sys.argv[1]], 4, 'probe'); slow.start(); "
        "print(slow._child.process.pid, flush=True); print(slow.ask(['x'], 1), slow.starts); slow.close()"
    )
    asking = subprocess.Popen([sys.executable, "-c", parent, child], stdout=subprocess.PIPE, text=True)
    assert asking.stdout is not None
    both = [asking.pid, int(asking.stdout.readline())]
    for signal_number, seconds in ((signal.SIGSTOP, 4.5), (signal.SIGCONT, 0)):
        for pid in both:
            os.kill(pid, signal_number)
        time.sleep(seconds)
    assert asking.communicate(timeout=60)[0] == "['done'] 1\n"


STUTTERER = """
import sys
which = sys.argv[1]
if which == "greets":
    print("hello", flush=True)
for number, line in enumerate(sys.stdin):
    print(line, end="", flush=True)
    if which == "always" or which == "once" and number == 1 or which == "last" and line.startswith("c"):
        print(line, end="", flush=True)
"""


@pytest.mark.parametrize("which", ["always", "once", "last", "greets"])
@pytest.mark.parametrize("lines", [["c"], ["a", "b", "c"], [f"{i}" for i in range(50)] + ["c"]])
def test_a_child_that_says_more_than_one_answer_never_shifts_the_others(which: str, lines: list[str]) -> None:
    child = LineProcess("STUTTERER", [sys.executable, "-c", STUTTERER, which], 60, "probe")
    with pytest.raises(UserError, match="STUTTERER (answered|said) '.*out of step, twice"):
        child.ask(lines, len(lines))
    child.close()


def test_a_probe_changes_no_answers(program: Path) -> None:
    child = LineProcess("ECHO", [sys.executable, "-c", STUTTERER, "never"], 60, "probe")
    assert child.ask(["a", "b"], 2) == ["a", "b"] and child.ask([], 0) == [] and child.ask(["c"], 1) == ["c"]
    assert child.starts == 1
    child.close()


def test_closing_ends_the_child(program: Path) -> None:
    echo = process(program)
    echo.ask(["a"], 1)
    assert echo._child is not None
    pid = echo._child.process.pid
    echo.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_program_that_does_not_exist_is_one_sentence() -> None:
    with pytest.raises(UserError, match="NOTHING cannot be started: .*no-such-program"):
        LineProcess("NOTHING", ["/no-such-program"], 1, "probe").start()


@pytest.mark.parametrize("text", ["", "ordinary text, with | and ||.", "Ünïcode \u2028 \u3000 😀"])
def test_ordinary_texts_are_fields_as_they_are(text: str) -> None:
    assert field(text) == text


@pytest.mark.parametrize("text", ["a ||| b", "|||", "a|||||||b", "a\nb\r\nc", "\r", "||||"])
def test_fields_hold_no_separator_and_no_line_break(text: str) -> None:
    cleaned = field(text)
    assert "|||" not in cleaned and not set("\r\n") & set(cleaned)
    assert cleaned.replace(" ", "") == text.replace(" ", "").replace("\n", "").replace("\r", "")
