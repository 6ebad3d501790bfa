"""The kernel under BLEU and chrF: clipped n-gram matches of all pairs of texts, for many sentences at once. Numpy alone.

The clipped match of a pair is ``sum over n-grams of min(count in h, count in r)``. With one row of counts for each
n-gram it is ``sum over k of [counts >= k].T @ [counts >= k]``: one matrix product, exact in float32 below 2**24.
What precedes the product is kept small in three ways. One sort serves all orders: the windows of ``max_order`` units
that start at each position are sorted, and the occurrences of every shorter n-gram then stand side by side. An n-gram
is dropped, with all longer ones that start with it, as soon as no pair of texts shares it. And all sentences of a
batch share every step but the product itself.

Axes: B sentences, T texts of all sentences, P pairs of all sentences, N orders, V n-grams, W distinct windows,
O occurrences of windows.
"""

import threading
from itertools import chain
from typing import Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np

#: Largest table that is addressed directly; a wider range of keys is sorted instead (many different characters).
TABLE_LIMIT = 1 << 22
#: Bits of a sort key: non-negative int64.
KEY_BITS = 63
#: Largest number of cells of a count matrix (float32: 32 MB); more n-grams are multiplied in turn.
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

    A text of ``length`` units has ``max(length - n + 1, 0)`` n-grams.

    Attributes:
        matches: ``(N, P)`` float32, clipped matches of each pair for n = 1 to N.
        hyp_lengths: ``(P,)`` float64, units of the pair's hypothesis.
        ref_lengths: ``(P,)`` float64, units of the pair's reference.
    """

    matches: np.ndarray
    hyp_lengths: np.ndarray
    ref_lengths: np.ndarray


class _Group:
    """Where the texts and pairs of a group of sentences lie."""

    def __init__(self, arrangements: Sequence[Arrangement]):
        self.sizes = np.array([len(a.texts) for a in arrangements], dtype=np.intp)  # (B,) texts of each sentence
        self.starts = _running_total(self.sizes)  # (B + 1,) first text of each sentence
        self.sentence = np.repeat(np.arange(len(self.sizes)), self.sizes)  # (T,)
        self.shapes = [a.shape for a in arrangements]
        self.ref_offsets = [a.ref_start for a in arrangements]
        self.local = np.arange(len(self.sentence)) - self.starts[self.sentence]  # (T,) number within the sentence
        self.is_hyp = self.local < np.array([a.hyp_end for a in arrangements], dtype=np.intp)[self.sentence]
        self.is_ref = self.local >= np.array(self.ref_offsets, dtype=np.intp)[self.sentence]
        self.pair_starts = _running_total(np.array([h * r for h, r in self.shapes], dtype=np.intp))  # (B + 1,)

    def by_pair(self, lengths: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """``(P,)`` the lengths of the hypothesis and of the reference of each pair, given those of the texts (T,)."""
        sides = []
        for start, offset, (h, r) in zip(self.starts[:-1].tolist(), self.ref_offsets, self.shapes, strict=True):
            reference = start + offset
            sides.append((np.repeat(lengths[start : start + h], r), np.tile(lengths[reference : reference + r], h)))
        hyp_lengths, ref_lengths = zip(*sides, strict=True)
        return np.concatenate(hyp_lengths), np.concatenate(ref_lengths)


class _Windows(NamedTuple):
    """Distinct windows of N units, sorted by sentence and then by their units, and the texts in which they occur."""

    start: np.ndarray  # (W,) where an occurrence of the window starts in the padded units
    first: np.ndarray  # (W,) first text in which it occurs
    last: np.ndarray  # (W,) last text
    sizes: np.ndarray  # (W,) number of occurrences
    local: np.ndarray  # (O,) the text of each occurrence, numbered within its sentence, window after window


class _Ngrams(NamedTuple):
    """N-grams that some pair of different texts shares, order after order, in the order of the windows."""

    sentence: np.ndarray  # (V,)
    bounds: List[int]  # (N + 1,) where the n-grams of each order start
    of_window: np.ndarray  # (N, W) with which n-gram of an order a window starts, counted from the order's first, or -1


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

    def zeros(self, rows: int, columns: int) -> np.ndarray:
        """``(rows, columns)`` float32 zeros."""
        size = rows * columns
        if len(self._cells) < size:
            self._cells = np.empty(max(size, min(2 * size, CELL_LIMIT)), dtype=np.float32)
        zeros = self._cells[:size]
        zeros.fill(0)
        return zeros.reshape(rows, columns)


_scratch = _Scratch()


def ngram_matches(
    units: np.ndarray, lengths: np.ndarray, arrangements: Sequence[Arrangement], max_order: int
) -> Matches:
    """Matches of all (hypothesis, reference) pairs of each sentence, for n-grams of 1 to ``max_order`` units.

    Args:
        units: the units of all texts of all sentences, one after the other; any non-negative integers.
        lengths: ``(T,)`` number of units of each text.
        arrangements: the sentences.
        max_order: N, the longest n-gram.
    """
    group = _Group(arrangements)
    matches = np.zeros((max_order, group.pair_starts[-1]), dtype=np.float32)
    if len(units):
        padded, starts = _pad(units, lengths, group, max_order)
        windows = _sort_windows(padded, starts, lengths, group, max_order)
        ngrams = _shared_ngrams(windows, padded, group, max_order)
        for n in range(max_order):
            _add_matches(windows, ngrams, n, group, matches[n])
    _match_texts_with_themselves(matches, lengths, group)
    return Matches(matches, *group.by_pair(lengths.astype(np.float64)))


def _pad(units: np.ndarray, lengths: np.ndarray, group: _Group, max_order: int) -> Tuple[np.ndarray, np.ndarray]:
    """Number the units of each sentence from 1 and put N - 1 zeros after each text.

    Returns:
        The padded units, and where each unit stands in them.
    """
    space = int(units.max()) + 1
    if space * len(group.sizes) > TABLE_LIMIT:
        values, units = np.unique(units, return_inverse=True)
        space = len(values)
    ids, witnesses = _number(units + np.repeat(group.sentence * space, lengths), space * len(group.sizes))
    ends = _running_total(lengths).take(group.starts)  # (B + 1,) first unit of each sentence
    lowest = np.searchsorted(witnesses, ends[:-1])  # first id of each sentence
    starts = np.arange(len(units)) + np.repeat(np.arange(len(lengths)) * (max_order - 1), lengths)
    padded = np.zeros(len(units) + len(lengths) * (max_order - 1), dtype=np.intp)
    padded[starts] = ids - np.repeat(lowest - 1, np.diff(ends))
    return padded, starts


def _number(keys: np.ndarray, space: int) -> Tuple[np.ndarray, np.ndarray]:
    """Consecutive numbers for keys from ``range(space)``, in the order of their last occurrences, which come second."""
    table = _scratch.table(space)
    here = np.arange(len(keys))
    table[keys] = here  # of several values written to one place the last one stays
    witnesses = np.flatnonzero(table.take(keys) == here)
    table[keys.take(witnesses)] = here[: len(witnesses)]
    return table.take(keys), witnesses


def _sort_windows(
    padded: np.ndarray, starts: np.ndarray, lengths: np.ndarray, group: _Group, max_order: int
) -> _Windows:
    """Sort the windows that start at ``starts``; equal ones stay in the order of the texts."""
    order, keys = _sorted_order(*_window_keys(padded, starts, np.repeat(group.sentence, lengths), max_order))
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    sizes = _sizes(first, len(keys))
    text = np.repeat(np.arange(len(lengths)), lengths).take(order)
    start = starts.take(order.take(first))
    return _Windows(start, text.take(first), text.take(first + sizes - 1), sizes, group.local.take(text))


def _window_keys(
    padded: np.ndarray, starts: np.ndarray, sentence: np.ndarray, max_order: int
) -> Tuple[np.ndarray, int]:
    """``(O,)`` integers that sort like (sentence, window), and their number of bits."""
    bits = int(padded.max()).bit_length()
    used, room = bits, KEY_BITS - int(sentence[-1]).bit_length()
    keys = padded[: len(padded) - max_order + 1].copy()
    for n in range(1, max_order):
        if used + bits > room:  # too many different units: go on with ranks
            values, keys = np.unique(keys, return_inverse=True)
            used = len(values).bit_length()
        keys <<= bits
        keys |= padded[n : len(keys) + n]
        used += bits
    return keys.take(starts) | (sentence << used), used + KEY_BITS - room


def _sorted_order(keys: np.ndarray, used: int) -> Tuple[np.ndarray, np.ndarray]:
    """The stable order that sorts keys of ``used`` bits, and the sorted keys."""
    bits = len(keys).bit_length()
    if used + bits > KEY_BITS:
        order = np.argsort(keys, kind="stable")
        return order, keys.take(order)
    both = np.sort((keys << bits) | np.arange(len(keys)))  # several times faster than argsort
    return both & ((1 << bits) - 1), both >> bits


def _shared_ngrams(windows: _Windows, padded: np.ndarray, group: _Group, max_order: int) -> _Ngrams:
    """The n-grams with which the windows start, as far as some pair of different texts shares them."""
    width = len(windows.start)
    unit = padded.take(windows.start + np.arange(max_order)[:, None])  # (N, W)
    new = np.empty((max_order, width), dtype=bool)  # whether the n-gram differs from that of the preceding window
    new[:, 0] = True
    np.not_equal(unit[:, 1:], unit[:, :-1], out=new[:, 1:])
    sentence = group.sentence.take(windows.first)
    new[0, 1:] |= sentence[1:] != sentence[:-1]
    np.logical_or.accumulate(new, axis=0, out=new)
    begin = np.flatnonzero(new)  # all orders, one after the other
    first = np.minimum.reduceat(np.tile(windows.first, max_order), begin)
    last = np.maximum.reduceat(np.tile(windows.last, max_order), begin)
    shared = group.is_hyp.take(first) & group.is_ref.take(last) & (first != last) & (unit.take(begin) > 0)
    kept = np.flatnonzero(shared)
    bounds = np.searchsorted(begin.take(kept), np.arange(max_order + 1) * width)
    number = np.full(len(begin), -1)
    number[kept] = np.arange(len(kept)) - np.repeat(bounds[:-1], np.diff(bounds))
    of_window = np.repeat(number, _sizes(begin, new.size)).reshape(max_order, width)
    return _Ngrams(group.sentence.take(first.take(kept)), bounds.tolist(), of_window)


def _add_matches(windows: _Windows, ngrams: _Ngrams, n: int, group: _Group, matches: np.ndarray) -> None:
    """Add the matches of order ``n`` (from 0) to ``matches`` (P,), some n-grams at a time if there are very many."""
    most = int(group.sizes.max())
    step = max(1, CELL_LIMIT // most - 1)
    first, end = ngrams.bounds[n], ngrams.bounds[n + 1]
    for low in range(0, end - first, step):
        height = min(step, end - first - low)
        row = ngrams.of_window[n] - low
        if height < end - first:
            row[row >= height] = -1
        row[row < 0] = height  # what is not looked at now is counted in a row of its own
        counts = _scratch.zeros(height + 1, most)  # (V, T of the largest sentence)
        cell = np.repeat(row * most, windows.sizes)
        cell += windows.local
        np.add.at(counts.reshape(-1), cell, np.float32(1))
        _multiply(counts[:height], ngrams.sentence[first + low : first + low + height], group, matches)


def _multiply(counts: np.ndarray, sentence: np.ndarray, group: _Group, matches: np.ndarray) -> None:
    """Add hypotheses.T @ references of each sentence to its pairs, the counts in unary: a row for each k."""
    indicators, firsts = _unary(counts)
    bounds = firsts.take(np.searchsorted(sentence, np.arange(len(group.sizes) + 1))).tolist()
    pair_starts = group.pair_starts.tolist()
    for b, (h, r) in enumerate(group.shapes):
        if bounds[b] < bounds[b + 1]:
            rows = indicators[bounds[b] : bounds[b + 1]]
            offset = group.ref_offsets[b]
            out = matches[pair_starts[b] : pair_starts[b + 1]].reshape(h, r)
            out += rows[:, :h].T @ rows[:, offset : offset + r]  # sum_k [c >= k].T @ [c >= k]


def _unary(counts: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """``[counts >= k]`` for k from 1 to the largest count of each row: rows of 0 and 1, and ``(V + 1,)`` their firsts."""
    large = np.flatnonzero(counts > 1)
    if not len(large):
        return counts, np.arange(len(counts) + 1)
    row = large // counts.shape[1]
    begin = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    levels = np.ones(len(counts), dtype=np.intp)
    levels[row.take(begin)] = np.maximum.reduceat(counts.take(large), begin)
    firsts = _running_total(levels)
    source = np.repeat(np.arange(len(counts)), levels)
    indicators = counts.take(source, axis=0)
    several = np.flatnonzero(levels.take(source) > 1)
    below = (several - firsts.take(source.take(several))).astype(np.float32)  # k - 1
    indicators[several] = np.clip(indicators.take(several, axis=0) - below[:, None], 0, 1)
    return indicators, firsts


def _match_texts_with_themselves(matches: np.ndarray, lengths: np.ndarray, group: _Group) -> None:
    """A text on both sides shares all its n-grams with itself, those that no other text has included."""
    both = np.flatnonzero(group.is_hyp & group.is_ref)
    sentence = group.sentence.take(both)
    row = group.local.take(both)
    references = np.array([r for _, r in group.shapes], dtype=np.intp).take(sentence)
    column = row - np.array(group.ref_offsets, dtype=np.intp).take(sentence)
    pairs = group.pair_starts.take(sentence) + row * references + column
    matches[:, pairs] = np.maximum(lengths.take(both) - np.arange(len(matches))[:, None], 0)


def _sizes(begin: np.ndarray, end: int) -> np.ndarray:
    """The sizes of consecutive pieces that begin at ``begin``, the last of which ends at ``end``."""
    sizes = np.empty_like(begin)
    np.subtract(begin[1:], begin[:-1], out=sizes[:-1])
    sizes[-1:] = end - begin[-1:]
    return sizes


def _running_total(sizes: np.ndarray) -> np.ndarray:
    """``(len + 1,)`` sums of all preceding sizes."""
    total = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=total[1:])
    return total


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

    #: Forget all words when there are this many.
    LIMIT = 1 << 17

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
