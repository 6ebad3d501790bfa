"""Starts Python programs for tests from a process that has imported torch and fairseq already.

Most of a pipeline's time on toy data would be spent on imports: each of its twenty programs takes four to six seconds
for torch and fairseq before its own first line. This process imports them once. For every request it forks, and the
child becomes the program that was asked for: its command line, working directory, environment, open files, limits and
ignored signals, ``sys.path`` as Python makes it, then the very file or module. It ends with its exit handlers, its hook
for exceptions, its status or signal as any interpreter does; only after a status of its own it does not take torch's
thousand modules apart (:class:`_Leaving`). The package itself is not imported here: each child imports it, from where
its own path and ``--user-dir`` say, and when it says so (:class:`_Kept`).

What such a start cannot show, and tests with real starts do (tests/test_imports.py, tests/tasks/test_user_dir.py,
tests/test_packaging.py, tests/scripts/test_demo.py with a whole pipeline): the imports of torch and fairseq themselves
and what they say, another hash seed for each process, and the variables that are read when Python or a library starts;
a request in which one of these differs is declined (:data:`READ_AT_START`), and the client starts the program itself.

    python -P tests/fork_server.py SOCKET LIFE     LIFE: a descriptor; when its other end closes, the server ends

The client is tests/fork_client.py; tests/programs.py starts the server.
"""

import array
import atexit
import builtins
import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import logging
import os
import random
import resource
import runpy
import select
import signal
import socket
import sys
import tempfile
from types import ModuleType
from typing import Any, NoReturn

IMPORTED = ("torch", "fairseq", "sacrebleu", "sacremoses", "subword_nmt.apply_bpe", "scipy.stats", "tqdm", "omegaconf")
#: How the names of variables begin that are read while Python starts or a library is imported.
READ_AT_START = (
    "PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "OMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "KMP_", "GOMP_", "TORCH",
    "PYTORCH", "CUDA_", "SACREBLEU", "HF_", "TRANSFORMERS_", "HOME", "LOGLEVEL", "TZ",
)  # fmt: skip
DECLINED = b"start it yourself\n"


def read_at_start(environment: dict[str, str]) -> dict[str, str]:
    """The variables that a child could not follow any more; the path it can."""
    return {k: value for k, value in environment.items() if k.startswith(READ_AT_START) and k != "PYTHONPATH"}


# --- the server -------------------------------------------------------------------------------------------------------


def serve(listener: socket.socket, life: int, started_with: dict[str, str]) -> "tuple[dict[str, Any], list[int]]":
    """Answer requests until ``life`` ends. Returns in children alone: the program that each is to become, its files."""
    while True:
        ready, _, _ = select.select([listener, life], [], [], 1.0)
        _reap()
        if life in ready:
            sys.exit()
        if listener not in ready:
            continue
        connection, _ = listener.accept()
        request, files = receive(connection)
        if read_at_start(request["environment"]) != started_with:
            connection.sendall(DECLINED)
        elif os.fork() == 0:
            listener.close()
            child = os.fork()
            if child == 0:
                connection.close()
                os.close(life)
                return request, files
            close_all(files)
            watch(child, connection, life)
        connection.close()
        close_all(files)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def close_all(files: list[int]) -> None:
    for file in files:
        os.close(file)


def receive(connection: socket.socket) -> "tuple[dict[str, Any], list[int]]":
    """A request, which ends with a line end, and the three files that come with it."""
    text, files = b"", array.array("i")
    while not text.endswith(b"\n"):
        part, more, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(3 * files.itemsize))
        for _, _, data in more:
            files.frombytes(data)
        assert part, "the client has gone"
        text += part
    return json.loads(text), list(files)


def watch(child: int, connection: socket.socket, life: int) -> NoReturn:
    """In a program's parent: hand signals from the client on to the program, and the program's end back."""
    end = os.pidfd_open(child)
    while True:
        ready, _, _ = select.select([connection, end, life], [], [])
        if end in ready:
            break
        asked = connection.recv(1) if connection in ready else b""
        with contextlib.suppress(ProcessLookupError):
            # with no signal the client has been killed, or the tests have ended
            os.kill(child, asked[0] if asked else signal.SIGKILL)
    with contextlib.suppress(OSError):  # nobody may be left to be told
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)


# --- the child --------------------------------------------------------------------------------------------------------


def become(request: dict[str, Any], files: list[int]) -> None:
    """Take on everything that a process inherits from the one that starts it.

    A group of its own: a signal to the client's group then comes once, from the client.
    """
    os.setpgid(0, 0)
    for number, file in enumerate(files):
        os.dup2(file, number)
    close_all(files)
    os.chdir(request["folder"])
    os.umask(request["umask"])
    for name, limits in request["limits"].items():
        kind = getattr(resource, name)
        if list(resource.getrlimit(kind)) != limits:
            resource.setrlimit(kind, tuple(limits))
    os.environ.clear()
    os.environ.update(request["environment"])
    for number in request["ignored"]:
        signal.signal(number, signal.SIG_IGN)


def forget_imports() -> None:
    """Undo what the imports of this process have done for good, and what must not be the same in every process."""
    tempfile.tempdir = None
    logging.root.handlers.clear()  # fairseq's commands set one up before they import fairseq
    logging.root.setLevel(logging.WARNING)
    random.seed()
    importlib.import_module("numpy").random.seed()
    sys.meta_path.insert(0, _Kept("fairseq"))


class _Kept(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Takes a package's modules out of sight until it is imported, and then gives those that were there.

    What waits for the import of fairseq, as this package's own registration does, happens at that import.
    """

    def __init__(self, name: str) -> None:
        names = [each for each in sys.modules if each == name or each.startswith(f"{name}.")]
        self.modules = {each: sys.modules.pop(each) for each in names}
        self.name, self.spec = name, self.modules[name].__spec__

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, self) if fullname == self.name else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.modules[self.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
        module.__loader__ = self.spec and self.spec.loader
        sys.modules.update(self.modules)


def run_program(words: list[str], safe: bool, plain_path: list[str]) -> None:
    """What the interpreter does with its command line: ``-c CODE``, ``-m MODULE`` or a file, and arguments.

    Args:
        words: the command line from there on.
        safe: as with ``-P``, neither the current folder nor the file's is searched for modules.
        plain_path: ``sys.path`` without these, and without PYTHONPATH.
    """
    kind, *rest = words
    own = {"-c": "", "-m": os.getcwd()}.get(kind, os.path.dirname(os.path.realpath(kind)))
    given = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = [*([] if safe else [own]), *given, *plain_path]
    sys.path_importer_cache.clear()
    main: Any = ModuleType("__main__")
    main.__builtins__, main.__annotations__ = builtins, {}
    sys.modules["__main__"] = main
    sys.argv = ["-m", *rest[1:]] if kind == "-m" else ["-c", *rest[1:]] if kind == "-c" else [kind, *rest]
    if kind == "-m":
        runpy._run_module_as_main(rest[0])  # type: ignore[attr-defined]  # which the interpreter itself calls
    elif kind == "-c":
        exec(compile(rest[0], "<string>", "exec"), main.__dict__)
    else:
        main.__file__, main.__cached__ = kind, None
        with open(kind, "rb") as file:
            code = compile(file.read(), kind, "exec")
        exec(code, main.__dict__)


class _Leaving:
    """The last exit handler: where the exit status is known, the process ends here."""

    def __init__(self) -> None:
        self.status: int | None = None
        atexit.register(self)  # the first to be registered is called last

    def __call__(self) -> None:
        if self.status is not None:
            logging.shutdown()
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(self.status)

    def run(self, words: list[str], safe: bool, plain_path: list[str]) -> None:
        """Run a program, and learn the status that it ends with if it ends well or says one."""
        try:
            run_program(words, safe, plain_path)
        except SystemExit as end:
            self.status = 0 if end.code is None else end.code if isinstance(end.code, int) else None
            raise
        self.status = 0


if __name__ == "__main__":
    leaving = _Leaving()
    start = read_at_start(dict(os.environ))  # imports add to it
    own_main = sys.modules["__main__"]  # its functions run on while another has its name
    given_path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    plain = [entry for entry in sys.path if entry not in given_path]
    for name in IMPORTED:
        importlib.import_module(name)
    assert "dcmbr_fairseq" not in sys.modules
    assert len(os.listdir("/proc/self/task")) == 1, "a process with threads cannot be forked"
    gc.collect()
    gc.freeze()  # or each child would copy what the collector touches
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen(64)
    print("ready", flush=True)
    asked, opened = serve(server, int(sys.argv[2]), start)
    become(asked, opened)
    forget_imports()
    leaving.run(asked["program"], asked["safe"], plain)
