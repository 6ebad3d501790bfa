"""Tab-separated tables: what is written is read again, whatever the cells hold.

Lines that begin with ``#`` are comments, and empty lines mean nothing. A cell is quoted where it would be taken for
something else: it holds a tab, a quotation mark or the end of a line, or is the first of a line and looks like a
comment, like JSON, or like nothing. Quotation marks inside quotes are doubled. Tables of others that quote nothing are
read as they stand.
"""

import re
from collections.abc import Iterator, Sequence

_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"(?=[\t\n]|\r\n|\r?\Z)')
_PLAIN = re.compile(r"[^\t\n]*")
_SPECIAL = re.compile('["\t\n\r]')
#: What the first cell of a line must not begin with.
_BEGINNINGS = ("#", "{", "\ufeff")


def format_tsv(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as text, each row ending in a newline."""
    return "".join("\t".join(_cell(cell, i == 0) for i, cell in enumerate(row)) + "\n" for row in rows)


def _cell(text: str, first: bool) -> str:
    if _SPECIAL.search(text) or (first and (not text or text.startswith(_BEGINNINGS))):
        return '"' + text.replace('"', '""') + '"'
    return text


def parse_tsv(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows, each with the number, from 1, of the line where it begins."""
    place, line = 0, 1
    while place < len(text):
        end = text.find("\n", place) + 1 or len(text)
        if text[place] == "#" or not text[place:end].strip("\r\n"):
            place, line = end, line + 1
            continue
        row, after = _row(text, place)
        yield line, row
        place, line = after, line + text.count("\n", place, after)


def _row(text: str, place: int) -> tuple[list[str], int]:
    """The row that begins at ``place``, and where the next one does."""
    row: list[str] = []
    while True:
        quoted = _QUOTED.match(text, place)
        match = quoted or _PLAIN.match(text, place)
        assert match is not None  # the second pattern matches anything
        row.append(quoted[1].replace('""', '"') if quoted else match[0])
        place = match.end()
        if text[place : place + 1] == "\t":
            place += 1
            continue
        if quoted:
            place += text[place : place + 1] == "\r"
        else:
            row[-1] = row[-1].removesuffix("\r")  # of a file with Windows' line ends
        return row, place + 1
