"""Programs as tests start them: from ``VENV``, a folder like .venv whose Python programs start in milliseconds.

They are the real ones, forked from a process that has imported torch and fairseq (tests/fork_server.py, which says what
only a real start can show). ``REAL`` is the folder whose programs start by themselves.
"""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dcmbr_fairseq.hooks.matrix_products import keep_rows_apart

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread a worker: pytest-xdist already fills the cores
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the first program that needs a module compiles it for all
keep_rows_apart()  # also where this package is not imported: MKL reads the variable at its first product
START = dict(os.environ)  # before any test: the server declines what starts with other variables than its own
REAL = Path(sys.prefix)
TESTS = Path(__file__).parent
_CLIENT = """#!{python} -IS
import sys
sys.path.insert(0, {tests!r})
import fork_client
fork_client.main({server!r}, {real!r})
"""


def python() -> str:
    """An interpreter that has torch and fairseq imported, to start as ``sys.executable`` is."""
    return str(venv() / "bin" / "python")


@functools.cache
def venv() -> Path:
    """The folder to give as VENV; its server is started with the first use, and ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="dcmbr-programs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    socket = str(folder / "server")
    _start_server(socket)
    (folder / "bin").mkdir()
    for program in (REAL / "bin").iterdir():
        stands_in = folder / "bin" / program.name
        if _is_python(program):
            text = _CLIENT.format(python=sys.executable, tests=str(TESTS), server=socket, real=str(REAL / "bin"))
            stands_in.write_text(text)
            stands_in.chmod(0o755)
        else:
            stands_in.symlink_to(program)
    return folder


def _is_python(program: Path) -> bool:
    """Whether it is an interpreter, or is read by one."""
    with open(program, "rb") as file:
        return program.name in ("python", "python3") or file.readline() == f"#!{sys.executable}\n".encode()


_alive: list[int] = []  # the server reads the other end, which closes when this process ends, however it ends


def _start_server(socket: str) -> None:
    life, held = os.pipe()
    _alive.append(held)
    line = [sys.executable, "-P", str(TESTS / "fork_server.py"), socket, str(life)]
    server = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, pass_fds=[life], env=START)
    os.close(life)
    assert server.stdout is not None and server.stdout.readline() == b"ready\n"
    server.stdout.close()
