"""The page: views packed into compressed blocks inside one HTML file that needs nothing else.

Opening must be quick, so that only the index (source and choices of each sentence) is unpacked then; pools and heat
maps come in blocks of :data:`BLOCK` sentences that are unpacked when one of them is looked at. A block is deflated and
written in base64; unpacked it is

    length of the JSON text (uint32, little-endian) | JSON list of details | one byte for each cell of the heat maps

A cell is the utility between the sentence's least (0) and greatest (255). Rows are the hypotheses in their ranking,
columns the same hypotheses where one pool plays both parts, else the references by how often they were drawn; no more
than ``size`` of each, so that pools of hundreds stay small enough.
"""

import base64
import html
import json
import math
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np

from dcmbr_fairseq.batches import in_batches
from dcmbr_fairseq.present.report.collect import Setting, View
from dcmbr_fairseq.rules.expected_utility import rank

BLOCK = 25
_LEVELS = 255
#: Decimals of the numbers on the page.
DIGITS = 3


def index_entry(view: View) -> dict[str, Any]:
    """What the list of sentences needs: texts, and the numbers to sort by."""
    pool, (main, *further) = view.record.pools.hypotheses, view.measured
    entry: dict[str, Any] = {
        "id": view.record.id,
        "source": view.record.pools.source or "",
        "texts": view.texts,
        "expected": _rounded(main.text_expected),
        "draws": len(pool.draws),
        "distinct": len(pool.texts),
        "margin": None if view.margin is None else round(view.margin, 2 * DIGITS),
    }
    if view.reference is not None and main.text_quality is not None:
        entry.update(reference=view.reference, quality=_rounded(main.text_quality))
    if further:
        entry["further"] = [_numbers(measured.text_expected, measured.text_quality) for measured in further]
    return entry


def detail(view: View, size: int) -> tuple[dict[str, Any], bytes]:
    """The pools of a sentence, and the cells of its heat map, at most ``size`` by ``size``."""
    pools, (main, *further) = view.record.pools, view.measured
    pool = pools.hypotheses
    order = rank(main.expected, pool.text_log_prob())
    columns = (order if pools.shared else np.argsort(-pools.references.counts(), kind="stable"))[:size]
    low, high = float(main.utilities.min()), float(main.utilities.max())
    entry: dict[str, Any] = {
        "hypotheses": pool.texts,
        "counts": pool.counts().tolist(),
        "logProb": _rounded(pool.text_log_prob()),
        **_numbers(main.expected, main.quality),
        "order": order.tolist(),
        "columns": columns.tolist(),
        "rows": min(size, len(order)),
        "low": round(low, 4),
        "high": round(high, 4),
    }
    if not pools.shared:
        entry.update(references=pools.references.texts, referenceCounts=pools.references.counts().tolist())
    if view.recorded is not None:
        entry["recorded"] = _rounded(view.recorded)
    if further:
        entry["further"] = [_numbers(measured.expected, measured.quality) for measured in further]
    return entry, quantise(main.utilities[np.ix_(order[:size], columns)], low, high)


def _numbers(expected: np.ndarray, quality: np.ndarray | None) -> dict[str, list[float]]:
    found = {"expected": _rounded(expected)}
    return found if quality is None else {**found, "quality": _rounded(quality)}


def as_json(value: Any) -> bytes:
    """Strict JSON in ASCII: lone surrogates survive as escapes, and no browser has to read NaN.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def quantise(utilities: np.ndarray, low: float, high: float) -> bytes:
    """One byte for each cell: 0 at ``low``, 255 at ``high``."""
    if high <= low:
        return bytes(utilities.size)
    return np.rint((utilities - low) / (high - low) * _LEVELS).astype(np.uint8).tobytes()


def _rounded(values: np.ndarray) -> list[float]:
    return np.round(values, DIGITS).tolist()


def pack(data: bytes) -> str:
    """Deflate (zlib's format, which browsers call "deflate") in base64."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def pack_block(details: Iterable[tuple[dict[str, Any], bytes]]) -> str:
    """The details of some sentences as a packed block."""
    entries, cells = zip(*details, strict=True)
    text = as_json(entries)
    return pack(struct.pack("<I", len(text)) + text + b"".join(cells))


@dataclass
class Index:
    """What is known of all sentences once their blocks are written: list entries, and the range of utilities."""

    sentences: list[dict[str, Any]] = field(default_factory=list)
    low: float = math.inf
    high: float = -math.inf

    def add(self, view: View) -> None:
        """Take a sentence in."""
        self.sentences.append(index_entry(view))
        utilities = view.measured[0].utilities
        self.low, self.high = min(self.low, float(utilities.min())), max(self.high, float(utilities.max()))


def blocks(views: Iterable[View], index: Index, size: int) -> Iterator[str]:
    """Pack the views block by block; they are added to ``index``."""
    for batch in in_batches(views, BLOCK):
        for view in batch:
            index.add(view)
        yield pack_block([detail(view, size) for view in batch])


def render_page(views: Iterable[View], setting: Setting, title: str, size: int = 100) -> Iterator[str]:
    """Yield the parts of the page in their order; at no time is more than a block of views held.

    Args:
        views: one for each sentence.
        setting: what they share.
        title: heading of the page.
        size: most rows and columns of a heat map.
    """
    head, tail = asset("page.html").split("<!-- data -->")
    yield fill(head, {"title": html.escape(title), "style": asset("page.css")})
    index = Index()
    for number, block in enumerate(blocks(views, index, size)):
        yield f'<script type="text/plain" id="block-{number}">{block}</script>\n'
    meta = {
        "systems": setting.systems, "utilities": [name for name, _ in setting.utilities],
        "signatures": [signature for _, signature in setting.utilities], "decidedBy": setting.decided_by,
        "facts": setting.facts, "block": BLOCK, "levels": _LEVELS, "sentences": index.sentences,
        "low": round(index.low, DIGITS), "high": round(index.high, DIGITS),
    }  # fmt: skip
    yield f'<script type="text/plain" id="index">{pack(as_json(meta))}</script>\n'
    yield fill(tail, {"script": asset("page.js")})


def asset(name: str) -> str:
    """A file that lies beside this module."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def fill(template: str, values: dict[str, str]) -> str:
    """Replace ``{{ name }}`` by its value; values are not looked at again."""
    parts = template.split("{{ ")
    out = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition(" }}")
        out += [values[name], rest]
    return "".join(out)
