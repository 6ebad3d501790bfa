"""Which exceptions are a user's mistake, and the one sentence for each; all others are faults, with their traceback.

`dcmbr` and the hook in fairseq's commands ask here, once, about what nobody nearer has put into words. An exception is
a mistake where its origin is known to be an input or an output: a file that the command line names, standard input or
output, or what fairseq says of an option at a known place (``sayings``). Neither the kind of an exception nor its text
is enough: an ``OSError`` or an ``AssertionError`` from elsewhere is a fault of a program.
"""

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from dcmbr_fairseq.errors import UserError, lone_surrogate
from dcmbr_fairseq.files.errors import unusable
from dcmbr_fairseq.messages.sayings import SAYINGS, CommandLine, Scene

#: Where fairseq writes unless told otherwise: known to be outputs though no command line names them.
DEFAULT_OUTPUTS = ("checkpoints", "multirun", "outputs")


def sentence_of(error: BaseException, arguments: Sequence[str]) -> str | None:
    """What a user is told of an exception, in one sentence; None where it is no mistake of theirs.

    Args:
        error: as it was caught, with its traceback.
        arguments: the command line, without the command's name.
    """
    if isinstance(error, UserError):
        return str(error)
    line, frames = CommandLine(arguments), list(frames_of(error))
    kinds = {kind.__name__ for kind in type(error).__mro__}
    places = set(map(module_of, frames))
    for saying in SAYINGS:
        if saying.kind in kinds and saying.places <= places and (found := saying.pattern.search(str(error))):
            return saying.means(Scene(line, found, frames))
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        return f"the output holds {lone_surrogate(error)}: mend that text or name"
    return _about_a_file(error, line) if isinstance(error, OSError) else None


def sentence_of_uncaught(error: BaseException) -> str | None:
    """:func:`sentence_of` for the command that this process is."""
    return sentence_of(error, sys.argv[1:])


def module_of(frame: FrameType) -> str:
    """The full name of the module that a frame is in, of ``python -m`` too."""
    spec = frame.f_globals.get("__spec__")
    return str(spec.name if spec is not None else frame.f_globals.get("__name__"))


def frames_of(error: BaseException) -> Iterator[FrameType]:
    """The places that an exception, and what it came from, has passed through."""
    for each in (error, error.__cause__):
        if each is not None:
            yield from (frame for frame, _ in traceback.walk_tb(each.__traceback__))


def _about_a_file(error: OSError, line: CommandLine) -> str | None:
    """The sentence about a file or folder that the command line names."""
    if not isinstance(error.filename, str) or error.errno is None:
        return None
    folder, name = os.path.split(error.filename)
    dictionary = re.fullmatch(r"dict\.(\w+)\.txt", name)
    if dictionary and error.errno == errno.ENOENT and os.path.isdir(folder):
        known = sorted(path.name.split(".")[1] for path in Path(folder).glob("dict.*.txt"))
        has = f"it has those of {', '.join(known)}" if known else "it has none"
        return f"{folder} has no dictionary of the language {dictionary[1]} ({has}): check -s and -t"
    given = _named(line, error.filename)
    if given is None:
        return None
    another = os.path.abspath(given) != os.path.abspath(error.filename)  # below the named folder, or with an ending
    if another and error.errno == errno.ENOENT and os.path.isdir(folder or "."):
        return f"{line.with_flag(given)}: {error.filename} is not there: give another, or make that file"
    return str(unusable(line.with_flag(given), error))


def _named(line: CommandLine, path: str) -> str | None:
    """What the command line calls the file, the folder above it, or the file beside which it stands (as parts do)."""
    wanted, found = Path(os.path.abspath(path)), []
    for word in [*line.arguments, *DEFAULT_OUTPUTS]:
        for part in dict.fromkeys([word, *re.split(r"[=:,]", word)]):
            given = Path(os.path.abspath(part))
            beside = given.parent == wanted.parent and wanted.name.lstrip(".").startswith(given.name)
            if part and not part.startswith("--") and (given in (wanted, *wanted.parents) or beside):
                found.append(part)
    return max(found, key=lambda part: len(os.path.abspath(part)), default=None)  # the nearest
