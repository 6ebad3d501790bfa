"""The programs in a test's ``VENV/bin``: each asks the server of tests/fork_server.py to run it, and stands in for it.

It passes on what a process inherits, then the signals that come, and ends as the program has ended. Where the server
declines, and for other command lines than a file, ``-m`` or ``-c`` with at most ``-P`` before it, it becomes the real
program. Started with ``python -IS``: it imports only what comes in milliseconds.
"""

import array
import json
import os
import resource
import signal
import socket
import sys

PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main(server: str, real: str) -> None:
    """Run the program that this process is called like.

    Args:
        server: the path of the server's socket.
        real: the folder of the programs themselves.
    """
    program = os.path.join(real, os.path.basename(sys.argv[0]))
    words = sys.argv[1:]
    safe = words[:1] == ["-P"]
    asked = words[safe:] if os.path.basename(program).startswith("python") else [program, *words]
    if not asked or asked[0].startswith("-") and asked[0] not in ("-c", "-m") or not _standard_files_are_open():
        os.execv(program, [program, *words])
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(server)
    ignored = [number for number in PASSED_ON if signal.getsignal(number) is signal.SIG_IGN]
    for number in set(PASSED_ON).difference(ignored):
        signal.signal(number, lambda number, _: connection.sendall(bytes([number])))
    _send(connection, {"program": asked, "safe": safe, "ignored": [int(number) for number in ignored], **_inherited()})
    answer = b""
    while not answer.endswith(b"\n"):
        part = connection.recv(64)
        if not part:
            sys.exit("the server of tests/fork_server.py has gone")
        answer += part
    if answer.startswith(b"start"):
        os.execv(program, [program, *words])
    _end_as(int(answer))


def _standard_files_are_open() -> bool:
    try:
        return all(os.fstat(number) for number in range(3))
    except OSError:
        return False


def _inherited() -> dict:
    umask = os.umask(0)
    os.umask(umask)
    limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    return {
        "folder": os.getcwd(),
        "umask": umask,
        "environment": dict(os.environ),
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in limits},
    }


def _send(connection: socket.socket, request: dict) -> None:
    text = json.dumps(request).encode() + b"\n"
    standard = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
    rest = text[connection.sendmsg([text], [standard]) :]
    if rest:  # or we would write to a server that has answered and gone
        connection.sendall(rest)


def _end_as(status: int) -> None:
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)
