"""TERM and HUP end a command as Ctrl-C does, and nobody else's handlers are touched."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcmbr_fairseq.files import signals

ENDINGS = [signal.SIGTERM, signal.SIGHUP]

#: A command of ours in the middle of its output, as cli.main runs it.
COMMAND = """
import signal, sys, time, types
from dcmbr_fairseq import cli
from dcmbr_fairseq.files.writing import atomic_writer

def run(args):
    try:
        with atomic_writer("out") as out:
            out.write("half")
            out.flush()
            print("ready", flush=True)
            time.sleep(60)
    finally:
        print("cleaned up")

sys.modules["try_command"] = types.ModuleType("try_command")
sys.modules["try_command"].run, sys.modules["try_command"].add_arguments = run, lambda parser: None
cli.COMMANDS["try"] = ("try_command", "a command of this test")
"""


@contextlib.contextmanager
def running(folder: Path, code: str, **options: object) -> Iterator[subprocess.Popen]:
    """A program that has said that it is ready."""
    line = [sys.executable, "-c", code]
    with subprocess.Popen(
        line,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    ) as process:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        yield process
        process.kill()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_command_cleans_up_and_dies_of_the_signal(tmp_path, ending):
    with running(tmp_path, f"{COMMAND}\ncli.main(['try'])") as process:
        assert len(os.listdir(tmp_path)) == 1
        process.send_signal(ending)
        out, errors = process.communicate(timeout=30)
    assert process.returncode == -ending and out == "cleaned up\n" and os.listdir(tmp_path) == []
    assert errors == f"dcmbr try: ended by {ending.name}; nothing was written under a final name\n"


def test_earlier_handlers_have_the_last_word(tmp_path):
    code = f"{COMMAND}\nsignal.signal(signal.SIGTERM, lambda *_: print('theirs'))\nprint(cli.main(['try']))"
    with running(tmp_path, code) as process:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and out == "cleaned up\ntheirs\n130\n" and os.listdir(tmp_path) == []


def test_nohup_stays_in_force(tmp_path):
    code = f"signal = __import__('signal')\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n{COMMAND}\ncli.main(['try'])"
    with running(tmp_path, code) as process:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM


def test_a_second_signal_ends_it_at_once(tmp_path):
    code = COMMAND.replace('print("cleaned up")', 'print("cleaning", flush=True); time.sleep(60)')
    with running(tmp_path, f"{code}\ncli.main(['try'])") as process:
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "cleaning\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM


def test_a_forked_child_cleans_up_nothing(tmp_path):
    code = COMMAND.replace("time.sleep(60)", "import os; os.fork() or time.sleep(60); os.wait()")
    with running(tmp_path, f"{code}\ncli.main(['try'])") as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not children.read_text():
            time.sleep(0.01)
        os.kill(int(children.read_text()), signal.SIGTERM)
        process.wait(30)
    assert process.returncode == 0 and os.listdir(tmp_path) == ["out"]


def test_handlers_are_as_before_afterwards():
    before = [signal.getsignal(number) for number in ENDINGS]
    with signals.ending_as_if_interrupted():
        assert [signal.getsignal(number) for number in ENDINGS] != before
    assert [signal.getsignal(number) for number in ENDINGS] == before


def test_a_program_that_uses_the_package_keeps_its_handlers():
    before, hook = [signal.getsignal(number) for number in ENDINGS], sys.excepthook
    signals.end_as_if_interrupted()
    assert [signal.getsignal(number) for number in ENDINGS] == before and sys.excepthook is hook


#: A stand-in for fairseq-interactive by its file's name; what ends it is fairseq's, what cleans up is ours.
INTERACTIVE = """
import sys, time
from dcmbr_fairseq.pools.record_writer import RecordWriter
writer = RecordWriter("pools.jsonl")
writer.write({"id": 0})
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_records_of_a_fairseq_command_leave_nothing(tmp_path, ending):
    code = f"import sys; sys.modules['__main__'].__file__ = '/somewhere/bin/fairseq-interactive'\n{INTERACTIVE}"
    with running(tmp_path, code) as process:
        assert len(os.listdir(tmp_path)) == 1
        process.send_signal(ending)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == -ending and os.listdir(tmp_path) == []
    assert f"dcmbr_fairseq: ended by {ending.name}\n" in errors and "Traceback" not in errors
    assert "--pools-out pools.jsonl was not written: the run ended with an error" in errors
