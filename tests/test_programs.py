"""Programs forked from a process that has imported everything: what they do is what the real ones do."""

import json
import logging
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import programs
import pytest

REAL = str(programs.REAL / "bin" / "python")

#: What a program sees of how it was started.
SEEN = """
import json, os, resource, signal, sys
for seen in (
    sys.argv, sys.path, os.getcwd(), dict(os.environ), os.umask(0), resource.getrlimit(resource.RLIMIT_FSIZE),
    [str(signal.getsignal(number)) for number in (2, 1, 15, 13)], sys.stdin.read(), sys.stdout.encoding,
    sys.stdout.line_buffering, __name__, sorted(vars(sys.modules["__main__"])), "dcmbr_fairseq" in sys.modules,
    "fairseq" in sys.modules,
):
    print(json.dumps(seen))
print("said", file=sys.stderr)
"""


def both(*words: str, **given: Any) -> "list[subprocess.CompletedProcess[str]]":
    """A Python program as forked, and as it starts by itself."""
    given = {"input": "", **given}
    return [subprocess.run([python, *words], capture_output=True, text=True, **given)
            for python in (programs.python(), REAL)]  # fmt: skip


def same(*words: str, **given: Any) -> "subprocess.CompletedProcess[str]":
    """Both say the same and end in the same way; what they said."""
    forked, real = both(*words, **given)
    assert forked.stdout.splitlines() == real.stdout.splitlines()
    assert (forked.returncode, forked.stderr) == (real.returncode, real.stderr)
    return forked


@pytest.mark.parametrize("words", [["-c"], ["-P", "-c"], ["-m"], ["-P", "-m"], ["file"], ["-P", "file"]], ids=" ".join)
def test_a_program_sees_what_the_real_one_sees(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "seen.py").write_text(SEEN)
    last = {"-c": SEEN, "-m": "seen", "file": "seen.py"}[words[-1]]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}relative", "ANSWER": "42 \n\xe9"}
    program = words[:-1] if words[-1] == "file" else words

    def confine() -> None:
        os.umask(0o27)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 21))
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    done = same(*program, last, "an argument", "-P", cwd=tmp_path, env=environment, input="text", preexec_fn=confine)
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert seen[0][-2:] == ["an argument", "-P"] and seen[-2:] == [False, False] and seen[3]["ANSWER"] == "42 \n\xe9"


ENDINGS = {
    "status": "import sys; sys.exit(3)",
    "sentence": "import sys; sys.exit('a sentence')",
    "exit handlers": "import atexit; atexit.register(print, 'last'); print('first')",
    "threads": "import threading, time; threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()",
    "signal": "import os; print('lost'); os.kill(os.getpid(), 9)",
    "exception hook": "import sys; sys.excepthook = lambda *error: print(error[1], file=sys.stderr); 1 / 0",
    "lost output": "import os; print('lost'); os.close(1)",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_ends_as_the_real_one_ends(ending: str) -> None:
    forked, real = both("-c", ENDINGS[ending])
    assert (forked.returncode, forked.stdout) == (real.returncode, real.stdout)
    assert forked.stderr.splitlines()[-1:] == real.stderr.splitlines()[-1:]


WAITS = """
import os, signal, time
def told(number, frame):
    print(number, flush=True)
    os._exit(7)
signal.signal(signal.SIGTERM, told)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number, status, said", [(signal.SIGTERM, 7, "15\n"), (signal.SIGUSR1, -10, "")])
@pytest.mark.parametrize("group", [False, True])
def test_signals_reach_it_once(number: int, status: int, said: str, group: bool) -> None:
    line = [programs.python(), "-c", WAITS]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None and process.stdout.readline()
        process.send_signal(signal.SIGHUP)  # which it ignores
        os.killpg(process.pid, number) if group else process.send_signal(number)
        assert process.wait(timeout=60) == status and process.stdout.read() == said


def test_it_dies_with_its_client() -> None:
    with subprocess.Popen([programs.python(), "-c", WAITS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        program = Path(f"/proc/{int(process.stdout.readline())}")
        process.kill()
        deadline = time.monotonic() + 30
        while program.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_variables_that_are_read_at_the_start_make_a_real_start() -> None:
    """And so does a closed standard input, and an option of Python's that a child could not follow."""
    code = "import sys; print('torch' in sys.modules, sys.flags.utf8_mode, sys.flags.optimize, sys.stdin)"
    forked = subprocess.run([programs.python(), "-c", code], capture_output=True, text=True)
    assert forked.stdout.startswith("True 0 0 <")
    assert same("-c", code, env={**os.environ, "PYTHONUTF8": "1"}).stdout.startswith("False 1 0 <")
    assert same("-O", "-c", code).stdout.startswith("False 0 1 <")
    closed = subprocess.run(f'"{programs.python()}" -c "{code}" <&-', shell=True, capture_output=True, text=True)
    assert closed.stdout == "False 0 0 None\n"


@pytest.mark.parametrize("time", ["first", "second"])
def test_what_a_test_leaves_in_the_environment_and_the_log_ends_with_it(time: str) -> None:
    assert "PYTHONWARNINGS" not in os.environ
    assert not any(type(handler) is logging.StreamHandler for handler in logging.root.handlers)
    os.environ["PYTHONWARNINGS"] = f"ignore:{time}"
    logging.root.addHandler(logging.StreamHandler())


def test_unseeded_random_numbers_differ() -> None:
    code = "import random, numpy; print(random.random(), numpy.random.rand())"
    one, other = (subprocess.run([programs.python(), "-c", code], capture_output=True, text=True) for _ in range(2))
    assert not set(one.stdout.split()) & set(other.stdout.split())


def test_the_package_registers_when_fairseq_is_imported() -> None:
    code = """
import sys
import dcmbr_fairseq
assert not any(name.partition(".")[0] == "fairseq" for name in sys.modules)
from fairseq.tasks import TASK_REGISTRY
import fairseq
assert "translation_dcmbr" in TASK_REGISTRY and fairseq.tasks.TASK_REGISTRY is TASK_REGISTRY
"""
    environment = {**os.environ, "PYTHONPATH": str(programs.TESTS.parent)}
    done = subprocess.run([programs.python(), "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
