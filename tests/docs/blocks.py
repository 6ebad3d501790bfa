"""The fenced blocks of README and docs, and the commands in them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fairseq_commands import REPOSITORY

DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
#: What ends a command and begins another.
_BETWEEN = {"&&", "||", ";", "|", "do", "then", "done", "fi", "else"}


class Block(NamedTuple):
    """One fenced block: its document, its language, its text."""

    document: str
    language: str
    text: str

    @property
    def first(self) -> str:
        """Its first line: what the table of classes knows it by."""
        return self.text.split("\n")[0].strip()

    def commands(self) -> Iterator[list[str]]:
        """The words of each command; what a ``$`` command has printed is left out, as are comments and assignments."""
        prompted = any(line.startswith("$ ") for line in self.text.split("\n"))
        joined = self.text.replace("\\\n", " ").replace("$(cat best.flags)", "$FLAGS")
        joined = re.sub(r"\$\(for f in models.*?done\)", "$MODELS", joined)
        for line in joined.split("\n"):
            if prompted and not line.startswith("$ "):
                continue
            lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=";|&")
            lexer.whitespace_split = True
            command: list[str] = []
            for word in [*lexer, ";"]:
                if word in _BETWEEN:
                    if command:
                        yield command
                    command = []
                elif command or not re.fullmatch(r"\w+=.*", word, re.DOTALL):  # VARIABLE=value in front
                    command.append(word)


def blocks() -> list[Block]:
    """All blocks of all documents."""
    texts = [(path.name, path.read_text("utf-8")) for path in DOCUMENTS]
    return [Block(name, match[1], match[2]) for name, text in texts for match in _FENCED.finditer(text)]


def script(name: str) -> Path:
    """A script that a document names."""
    return REPOSITORY / name
