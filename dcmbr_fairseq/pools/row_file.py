"""Rows in a file as they come, and sorted by id in the end: what the writers of records share."""

import io
from array import array
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.members import members, pack, unpack
from dcmbr_fairseq.files.writing import atomic_writer
from dcmbr_fairseq.pools.rows import format_row

#: Bytes of rows that are packed together where nobody asks for it earlier.
PACKED_AT_ONCE = 2**20
#: Bytes of unpacked rows that are kept while rows are sorted: those of a few thousand sentences.
KEPT_UNPACKED = 2**26


class _Place(NamedTuple):
    """Where a row stands: its piece (packed files), its first byte there or in the file, its length."""

    piece: int
    first: int
    length: int


class _Places:
    """Where the rows of millions of sentences stand: 32 bytes for each, where a dictionary takes some 250."""

    def __init__(self) -> None:
        self._ids, self._places = array("q"), [array("q") for _ in _Place._fields]
        self._known: defaultdict[int, int] = defaultdict(int)  # which of 4,096 ids in a row there are: a bit for each

    def add(self, row_id: int, place: _Place) -> None:
        """Remember the place of a row; of one that comes twice the last place."""
        self._ids.append(row_id)
        for column, value in zip(self._places, place, strict=True):
            column.append(value)
        self._known[row_id >> 12] |= 1 << (row_id & 4095)

    def __contains__(self, row_id: int) -> bool:
        return bool(self._known.get(row_id >> 12, 0) >> (row_id & 4095) & 1)

    def ids(self) -> set[int]:
        return set(self._ids)

    def sorted_by_id(self) -> Iterator[_Place]:
        ids = np.array(self._ids)
        order = np.argsort(ids, kind="stable")
        last = np.append(ids[order][1:] != ids[order][:-1], True)[: len(order)]
        for index in order[last]:
            yield _Place(*(column[index] for column in self._places))


class RowFile:
    """Rows in an open binary file, in the order in which they came; only ids and places stay in memory.

    Args:
        file: open for reading and for appending, and empty or not yet looked at.
        packed: rows are packed by gzip, piece by piece (``files/members.py``).
    """

    def __init__(self, file: BinaryIO, packed: bool = False) -> None:
        self.file, self.packed = file, packed
        self._places = _Places()
        self._end = 0  # of the rows that are known, in the file
        self._pieces: list[tuple[int, int]] = []  # first byte and length of each piece
        self._waiting: list[bytes] = []  # lines of the piece to come
        self._waiting_bytes = 0

    @property
    def ids(self) -> set[int]:
        """The sentences whose rows are here."""
        return self._places.ids()

    def __contains__(self, row_id: int) -> bool:
        return row_id in self._places

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row; it may stay in memory until :meth:`flush`.

        Raises:
            UserError: a number in it is not finite.
        """
        line = format_row(row).encode("ascii") + b"\n"
        if not self.packed:
            self.file.write(line)
            self.note(row["id"], line)
            return
        self._places.add(row["id"], _Place(len(self._pieces), self._waiting_bytes, len(line)))
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        if self._waiting_bytes >= PACKED_AT_ONCE:
            self._pack()

    def flush(self) -> None:
        """Hand all rows to the system: they survive the end of this program."""
        self._pack()
        self.file.flush()

    def _pack(self) -> None:
        if self._waiting:
            piece = pack(b"".join(self._waiting))
            self._waiting, self._waiting_bytes = [], 0
            self.file.write(piece)
            self._pieces.append((self._end, len(piece)))
            self._end += len(piece)

    def whole_lines(self, name: object) -> Iterator[bytes]:
        """The lines that an earlier run left, each to be :meth:`note`d; one that was cut off ends them.

        Args:
            name: what the file is called.

        Raises:
            UserError: it is damaged.
        """
        if self.packed:
            for piece in members(self.file, name):
                self._pieces.append((piece.first, piece.length))
                self._waiting_bytes = 0
                yield from io.BytesIO(piece.content)
                self._end = piece.first + piece.length
            self._waiting_bytes = 0
            return
        self.file.seek(0)
        for line in self.file:
            if not line.endswith(b"\n"):
                return
            yield line

    def note(self, row_id: int, line: bytes) -> None:
        """Remember that the next line of the file is this row."""
        if self.packed:
            self._places.add(row_id, _Place(len(self._pieces) - 1, self._waiting_bytes, len(line)))
            self._waiting_bytes += len(line)
        else:
            self._places.add(row_id, _Place(0, self._end, len(line)))
            self._end += len(line)

    def forget_the_rest(self) -> None:
        """Cut the file after the last row that is known."""
        self.file.truncate(self._end)
        self.file.seek(self._end)

    def publish(self, path: PathLike) -> None:
        """Write the rows to ``path``, sorted by id; it appears whole or not at all."""
        self.flush()
        unpacked: OrderedDict[int, bytes] = OrderedDict()
        with atomic_writer(path) as out:
            for place in self._places.sorted_by_id():
                out.write(self._read(place, unpacked).decode("ascii"))

    def _read(self, place: _Place, unpacked: "OrderedDict[int, bytes]") -> bytes:
        if not self.packed:
            self.file.seek(place.first)
            return self.file.read(place.length)
        if place.piece not in unpacked:
            first, length = self._pieces[place.piece]
            self.file.seek(first)
            unpacked[place.piece] = unpack(self.file.read(length))
            while len(unpacked) > 1 and sum(map(len, unpacked.values())) > KEPT_UNPACKED:
                unpacked.popitem(last=False)
        unpacked.move_to_end(place.piece)
        return unpacked[place.piece][place.first : place.first + place.length]
