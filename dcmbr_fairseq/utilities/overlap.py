"""The kernel under BLEU and chrF: clipped n-gram matches of all pairs of texts, for many sentences at once. Numpy alone.

The clipped match of a pair is ``sum over n-grams of min(count in h, count in r)``. Calling the k-th occurrence of an
n-gram in a text an item of its own makes every count 0 or 1, and the matches a matrix product of indicator matrices
``(H, items) @ (items, R)``, exact in float32 below 2**24. Three things keep the product small and the bookkeeping
cheap: an n-gram is dropped as soon as no pair shares it, and with it every longer one that contains it; n-grams get
consecutive ids by writing to a table and reading back who wrote last, without sorting; and all sentences of a batch
share every step but the product itself.
"""

import threading
from itertools import chain
from typing import Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np

#: Largest table that is addressed directly; a wider range of keys is sorted first (many different characters).
TABLE_LIMIT = 1 << 22
#: Largest number of cells of the indicator matrices at one time (float32: 32 MB); more columns are multiplied in turn.
CELL_LIMIT = 1 << 23
#: Units (characters or tokens) that are worth handling in one group of sentences: their arrays stay in the cache.
GROUP_UNITS = 1 << 16


class Arrangement(NamedTuple):
    """The distinct texts of one comparison, ordered so that hypotheses and references are slices that may overlap.

    Attributes:
        texts: T texts: those that are only hypotheses, then those that are both, then those that are only references.
        hyp_end: hypotheses are ``texts[:hyp_end]``.
        ref_start: references are ``texts[ref_start:]``.
        hyp_rows: ``(H,)`` where each hypothesis stands in ``texts[:hyp_end]``.
        ref_rows: ``(R,)`` where each reference stands in ``texts[ref_start:]``.
    """

    texts: List[str]
    hyp_end: int
    ref_start: int
    hyp_rows: np.ndarray
    ref_rows: np.ndarray

    @property
    def shape(self) -> Tuple[int, int]:
        """Numbers of distinct hypotheses and references."""
        return self.hyp_end, len(self.texts) - self.ref_start


def arrange(hypotheses: Sequence[str], references: Sequence[str]) -> Arrangement:
    """Order the texts of one comparison; a text on both sides (all of them in a shared pool) is kept once."""
    left, right = dict.fromkeys(hypotheses), dict.fromkeys(references)
    only_left = [text for text in left if text not in right]
    both = [text for text in left if text in right]
    texts = only_left + both + [text for text in right if text not in left]
    row = {text: i for i, text in enumerate(texts)}
    hyp_rows = np.array([row[text] for text in hypotheses], dtype=np.intp)
    ref_rows = np.array([row[text] for text in references], dtype=np.intp) - len(only_left)
    return Arrangement(texts, len(left), len(only_left), hyp_rows, ref_rows)


class Matches(NamedTuple):
    """Clipped n-gram matches of a group of sentences, pairs of all sentences one after the other (P in all).

    Attributes:
        matches: ``(orders, P)`` float64, clipped matches of each pair.
        hyp_totals: ``(orders, P)`` float64, n-grams of the pair's hypothesis.
        ref_totals: ``(orders, P)`` float64, n-grams of the pair's reference.
    """

    matches: np.ndarray
    hyp_totals: np.ndarray
    ref_totals: np.ndarray


class _Group:
    """Where the texts and pairs of a group of sentences lie."""

    def __init__(self, arrangements: Sequence[Arrangement]):
        sizes = [len(a.texts) for a in arrangements]
        self.starts = np.concatenate([[0], np.cumsum(sizes)])  # (B + 1,) first text of each sentence
        self.sentence = np.repeat(np.arange(len(sizes)), sizes)  # (T,)
        self.hyp_ends = [start + a.hyp_end for start, a in zip(self.starts.tolist(), arrangements)]
        self.ref_starts = [start + a.ref_start for start, a in zip(self.starts.tolist(), arrangements)]
        texts = np.arange(self.starts[-1])
        self.is_hyp = texts < np.repeat(self.hyp_ends, sizes)  # (T,)
        self.is_ref = texts >= np.repeat(self.ref_starts, sizes)
        self.shapes = [a.shape for a in arrangements]
        self.pair_starts = np.concatenate([[0], np.cumsum([h * r for h, r in self.shapes])])  # (B + 1,)

    def pair_texts(self) -> Tuple[np.ndarray, np.ndarray]:
        """``(P,)`` the texts of each pair: hypothesis and reference."""
        hyps = [np.repeat(np.arange(h), r) + start for (h, r), start in zip(self.shapes, self.starts)]
        refs = [np.tile(np.arange(r), h) + start for (h, r), start in zip(self.shapes, self.ref_starts)]
        return np.concatenate(hyps), np.concatenate(refs)


class _Scratch(threading.local):
    """Memory that is used again from call to call, a set for each thread."""

    def __init__(self) -> None:
        self._table = np.empty(0, dtype=np.intp)
        self._cells = np.empty(0, dtype=np.float32)

    def table(self, size: int) -> np.ndarray:
        """``(size,)`` of arbitrary content: only what was just written may be read."""
        if len(self._table) < size:
            self._table = np.empty(max(size, min(2 * size, TABLE_LIMIT)), dtype=np.intp)
        return self._table[:size]

    def cells(self, size: int) -> np.ndarray:
        """``(size,)`` zeros."""
        if len(self._cells) < size:
            self._cells = np.empty(max(size, min(2 * size, CELL_LIMIT)), dtype=np.float32)
        zeros = self._cells[:size]
        zeros.fill(0)
        return zeros


_scratch = _Scratch()


class _Items(NamedTuple):
    """Occurrences of n-grams in the order of the texts: one entry for each."""

    position: np.ndarray  # where it starts; texts are one position apart
    text: np.ndarray
    id: np.ndarray
    last: np.ndarray  # the id of its last unit


def ngram_matches(
    units: np.ndarray, lengths: np.ndarray, arrangements: Sequence[Arrangement], max_order: int
) -> Matches:
    """Matches of all (hypothesis, reference) pairs of each sentence, for n-grams of 1 to ``max_order`` units.

    Args:
        units: the units of all texts of all sentences, one after the other; any non-negative integers.
        lengths: number of units of each text.
        arrangements: the sentences.
        max_order: longest n-gram.
    """
    group = _Group(arrangements)
    products = np.zeros((max_order, group.pair_starts[-1]), dtype=np.float32)
    for n, items in enumerate(_ngrams(units, lengths, group, max_order)):
        _add_matches(items, group, products[n])
    matches = products.astype(np.float64)
    totals = np.maximum(lengths - np.arange(max_order)[:, None], 0).astype(np.float64)  # (orders, T)
    _match_texts_with_themselves(matches, totals, group)
    hyp, ref = group.pair_texts()
    return Matches(matches, totals[:, hyp], totals[:, ref])


def _ngrams(units: np.ndarray, lengths: np.ndarray, group: _Group, max_order: int) -> Iterator[_Items]:
    """For each order, the occurrences of n-grams that some pair of different texts shares."""
    text = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(units)) + text
    ids, count = _dense(units, int(units.max(initial=0)) + 1)
    keys, space = group.sentence[text] * count + ids, count * len(group.shapes)  # sentences share no n-grams
    items, base = _keep_shared(_Items(position, text, ids, ids), keys, space, group)
    items = items._replace(last=items.id)
    yield items
    count = base
    for _ in range(1, max_order):
        follows = np.flatnonzero(np.diff(items.position) == 1)  # an n-gram is two shared (n-1)-grams, one unit apart
        last = items.last[follows + 1]
        keys = items.id[follows] * base + last
        items = _Items(items.position[follows], items.text[follows], items.id, last)
        items, count = _keep_shared(items, keys, count * base, group)
        yield items


def _keep_shared(items: _Items, keys: np.ndarray, space: int, group: _Group) -> Tuple[_Items, int]:
    """Drop n-grams that no pair of different texts shares; give the others consecutive ids in the order of sentences."""
    if space > TABLE_LIMIT:
        keys = np.unique(keys, return_inverse=True)[1]
        space = len(keys)
    table = _scratch.table(space)
    table[keys] = items.text  # of several values written to one place the last one stays
    last_text = table[keys]
    table[keys[::-1]] = items.text[::-1]
    first_text = table[keys]
    shared = group.is_hyp[first_text] & group.is_ref[last_text] & (first_text != last_text)
    kept = np.flatnonzero(shared)
    ids, count = _dense(keys[kept], space)
    return _Items(items.position[kept], items.text[kept], ids, items.last[kept]), count


def _dense(keys: np.ndarray, space: int) -> Tuple[np.ndarray, int]:
    """Consecutive ids for keys from ``range(space)``: equal keys, equal ids. Returns the ids and their number."""
    if space > TABLE_LIMIT:
        values, inverse = np.unique(keys, return_inverse=True)
        return inverse, len(values)
    table = _scratch.table(space)
    here = np.arange(len(keys))
    table[keys] = here
    witness = table[keys]  # the same occurrence for all equal keys
    ids = np.cumsum(witness == here)
    return ids[witness] - 1, int(ids[-1]) if len(ids) else 0


def _add_matches(items: _Items, group: _Group, products: np.ndarray) -> None:
    """Add the clipped matches of one order to ``products`` (P,)."""
    again = _add_products(items.text, items.id, group, products)
    if not len(again):
        return
    text, keys, space = _further_occurrences(items.text[again], items.id[again], group)
    further = _Items(text, text, keys, keys)
    further, _ = _keep_shared(further, keys, space, group)
    _add_products(further.text, further.id, group, products)


def _add_products(text: np.ndarray, ids: np.ndarray, group: _Group, products: np.ndarray) -> np.ndarray:
    """Add the products of indicator matrices; returns which entries repeat an item of the same text."""
    edges = np.searchsorted(text, group.starts)
    bounds = _id_bounds(ids, edges)
    sizes = np.diff(group.starts)
    width = np.diff(bounds)
    if int((sizes * width).sum()) <= CELL_LIMIT:
        return _multiply(text, ids, bounds, group, products)
    step = max(1, CELL_LIMIT // int(sizes.max()))
    again = []
    for low in range(0, int(bounds[-1]), step):
        chosen = np.flatnonzero((ids >= low) & (ids < low + step))
        part = _multiply(text[chosen], ids[chosen], np.clip(bounds, low, low + step), group, products)
        again.append(chosen[part])
    return np.sort(np.concatenate(again))


def _id_bounds(ids: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """``(B + 1,)`` the ids of sentence b are those from ``bounds[b]`` up to ``bounds[b + 1]``."""
    highest = np.maximum.accumulate(ids) + 1 if len(ids) else ids
    return np.concatenate([[0], highest])[edges]


def _multiply(
    text: np.ndarray, ids: np.ndarray, bounds: np.ndarray, group: _Group, products: np.ndarray
) -> np.ndarray:
    """Fill the indicator matrix (T_b, items) of each sentence and add hypotheses @ references.T to its pairs."""
    sizes, width = np.diff(group.starts), np.diff(bounds)
    offsets = np.concatenate([[0], np.cumsum(sizes * width)])
    row_start = np.repeat(offsets[:-1] - bounds[:-1], sizes)
    row_start += (np.arange(len(group.sentence)) - group.starts[group.sentence]) * width[group.sentence]
    cell = row_start[text] + ids
    cells = _scratch.cells(int(offsets[-1]))
    owner, here = cells.view(np.int32), np.arange(len(cell), dtype=np.int32)
    owner[cell] = here
    again = np.flatnonzero(owner[cell] != here)
    cells[cell] = 1
    for b, (h, r) in enumerate(group.shapes):
        if width[b]:
            block = cells[offsets[b] : offsets[b + 1]].reshape(-1, width[b])
            out = products[group.pair_starts[b] : group.pair_starts[b + 1]].reshape(h, r)
            out += block[:h] @ block[len(block) - r :].T
    return again


def _further_occurrences(text: np.ndarray, ids: np.ndarray, group: _Group) -> Tuple[np.ndarray, np.ndarray, int]:
    """Number the second, third ... occurrences of n-grams in a text: texts, keys and the range of the keys."""
    ids, count = _dense(ids, int(ids.max()) + 1)
    cell, repeats = np.unique(text * count + ids, return_counts=True)
    most = int(repeats.max())
    starts = np.repeat(np.cumsum(repeats) - repeats, repeats)
    nth = np.arange(len(starts)) - starts
    cell = np.repeat(cell, repeats)
    return cell // count, (cell % count) * most + nth, count * most


def _match_texts_with_themselves(matches: np.ndarray, totals: np.ndarray, group: _Group) -> None:
    """A text on both sides shares all its n-grams with itself, those that no other text has included."""
    for b, (_, r) in enumerate(group.shapes):
        both = np.arange(group.ref_starts[b], group.hyp_ends[b])
        pairs = group.pair_starts[b] + (both - group.starts[b]) * r + (both - group.ref_starts[b])
        matches[:, pairs] = totals[:, both]


def scores_by_sentence(scores: np.ndarray, arrangements: Sequence[Arrangement]) -> List[np.ndarray]:
    """Cut the scores ``(P,)`` of a group into one ``(H, R)`` matrix for each sentence, in the caller's order of texts."""
    matrices, start = [], 0
    for a in arrangements:
        h, r = a.shape
        matrix = scores[start : start + h * r].reshape(h, r)
        matrices.append(matrix[a.hyp_rows[:, None], a.ref_rows])
        start += h * r
    return matrices


def grouped(arrangements: Sequence[Arrangement], sizes: Sequence[int]) -> Iterator[slice]:
    """Slices of sentences to handle together: at most about ``GROUP_UNITS`` units, at least one sentence."""
    start, units = 0, 0
    for end, size in enumerate(sizes):
        if end > start and units + size > GROUP_UNITS:
            yield slice(start, end)
            start, units = end, 0
        units += size
    if start < len(sizes):
        yield slice(start, len(sizes))


class WordIds(Dict[str, Tuple[int, ...]]):
    """The ids of a word's tokens, for tokenizers that see one word at a time. Words that were seen are remembered."""

    #: Forget all words when there are this many (about 200 MB).
    LIMIT = 1 << 20

    def __init__(self, tokenize: Callable[[str], Sequence[str]]):
        super().__init__()
        self._tokenize = tokenize
        self._tokens: Dict[str, int] = {}

    def __missing__(self, word: str) -> Tuple[int, ...]:
        tokens = self._tokens
        ids = tuple([tokens.setdefault(token, len(tokens)) for token in self._tokenize(word)])
        self[word] = ids
        return ids

    def limit(self) -> None:
        """Forget all words if there are too many; ids given out before and after must not be mixed."""
        if len(self) > self.LIMIT:
            self.clear()
            self._tokens.clear()


def word_units(texts: Sequence[str], word_ids: WordIds) -> Tuple[np.ndarray, np.ndarray]:
    """The ids of the tokens of all texts, one after the other, and the number of tokens of each text."""
    word_ids.limit()
    ids = [list(chain.from_iterable(map(word_ids.__getitem__, text.split()))) for text in texts]
    lengths = np.fromiter(map(len, ids), dtype=np.intp, count=len(ids))
    return np.fromiter(chain.from_iterable(ids), dtype=np.intp, count=int(lengths.sum())), lengths
