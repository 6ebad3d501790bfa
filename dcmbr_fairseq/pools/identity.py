"""What pools were made from, as fingerprints: one model's or one test set's results are never taken for another's.

Names and sizes do not tell: a checkpoint is overwritten by the next, a test set by another of the same folder. Files
may be moved and renamed, though: what counts is what they hold. Records carry an identity in the field ``identity``;
the pools and journals of the analyses are used again only where it agrees.
"""

import functools
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike, reading
from dcmbr_fairseq.files.json_lines import shown_json

#: Hexadecimal digits of a fingerprint: 64 bits of SHA-256.
LENGTH = 16

#: The parts of an identity, and what a sentence calls them.
PARTS = {
    "checkpoint": "checkpoint",
    "sources": "test set",
    "dictionaries": "pair of dictionaries",
    "languages": "direction",
    "text": "text processing",
}


@dataclass(frozen=True)
class Part:
    """One thing that pools depend on.

    Attributes:
        fingerprint: of what it holds; None where that is not known (the sources of fairseq-interactive, the checkpoint
            of the hub).
        shown: by what a reader knows it: names, numbers. Not compared.
    """

    fingerprint: str | None
    shown: Mapping[str, Any]

    def __str__(self) -> str:
        words = [shown_json(value) if isinstance(value, (list, dict)) else str(value) for value in self.shown.values()]
        return ", ".join([*words, self.fingerprint or "unknown"])


@dataclass(frozen=True)
class Identity:
    """The parts by the names of :data:`PARTS`."""

    parts: Mapping[str, Part]

    def fields(self) -> dict[str, Any]:
        """As a record has it."""
        return {name: {**part.shown, "fingerprint": part.fingerprint} for name, part in self.parts.items()}

    def fingerprints(self) -> dict[str, str | None]:
        """What is compared alone."""
        return {name: part.fingerprint for name, part in self.parts.items()}

    def difference(self, other: "Identity") -> str | None:
        """The first part that is not the same here and there; None where all are that both know."""
        for name in PARTS:
            one, two = (identity.parts.get(name, UNKNOWN).fingerprint for identity in (self, other))
            if one != two and None not in (one, two):
                return name
        return None

    @property
    def model(self) -> str:
        """The names of the checkpoints, joined by colons as in ``--path``; empty where they are not known."""
        return ":".join(map(str, self.parts.get("checkpoint", UNKNOWN).shown.get("files", [])))

    @property
    def direction(self) -> str | None:
        """From which language to which, as ``en-de``; None where it is not known."""
        sides = [self.parts.get("languages", UNKNOWN).shown.get(side) for side in ("source", "target")]
        return "-".join(map(str, sides)) if all(sides) else None

    def facts(self) -> dict[str, Any]:
        """What a reader wants to know first: model and fingerprint, data, subset, direction; None if not known."""
        checkpoint, sources = (self.parts.get(name, UNKNOWN) for name in ("checkpoint", "sources"))
        model = f"{self.model} ({checkpoint.fingerprint})" if checkpoint.fingerprint is not None else None
        data, subset = (sources.shown.get(name) for name in ("data", "subset"))
        return {"model": model, "data": data, "subset": subset, "direction": self.direction}


UNKNOWN = Part(None, {})


def identity_in(row: Mapping[str, Any]) -> Identity | None:
    """The identity that a record carries; None where it has none, as those of version 0.1 and of others."""
    fields = row.get("identity")
    if not isinstance(fields, dict) or not all(isinstance(part, dict) for part in fields.values()):
        return None
    found = {}
    for name, part in fields.items():
        fingerprint = part.get("fingerprint")
        if not (fingerprint is None or isinstance(fingerprint, str)):
            return None
        found[name] = Part(fingerprint, {key: value for key, value in part.items() if key != "fingerprint"})
    return Identity(found)


def refuse_other(what: str, row: Mapping[str, Any], wanted: Identity, remedy: str) -> None:
    """Refuse a row that was made from something else, or does not say from what.

    Args:
        what: holds the row: a file's name.
        row: a record.
        wanted: what is at hand.
        remedy: what to do then.

    Raises:
        UserError: names the part, and what it is here and there.
    """
    found = identity_in(row)
    if found is None:
        raise UserError(f"{what} does not say from which checkpoint and test set (as in version 0.1.0): {remedy}")
    name = found.difference(wanted)
    if name is not None:
        here, there = wanted.parts[name], found.parts[name]
        raise UserError(f"{what} was made from another {PARTS[name]} ({there}; now {here}): {remedy}")


def fingerprint(chunks: Iterable[bytes]) -> str:
    """The fingerprint of several pieces; where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(len(chunk).to_bytes(8, "little") + chunk)
    return digest.hexdigest()[:LENGTH]


def text_fingerprint(texts: Iterable[str]) -> str:
    """The fingerprint of several texts; lone surrogates count like any other character."""
    return fingerprint(text.encode("utf-8", "surrogatepass") for text in texts)


def file_fingerprint(path: PathLike) -> str:
    """The beginning of what ``sha256sum`` prints. A file that stays as it is is read once in a process.

    Raises:
        UserError: it cannot be read.
    """
    with reading(path):
        state = os.stat(path)
        return _hashed(os.path.realpath(path), state.st_mtime_ns, state.st_size)


@functools.cache
def _hashed(path: str, modified: int, size: int) -> str:
    """``modified`` and ``size`` stand for the state of the file: another is read anew."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def files_part(paths: Iterable[PathLike], **shown_too: Any) -> Part:
    """Files, in their order, by what they hold."""
    paths = list(paths)
    prints = [file_fingerprint(path) for path in paths]
    return Part("+".join(prints) or None, {"files": [Path(path).name for path in paths], **shown_too})
