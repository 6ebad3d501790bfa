"""The kernel under BLEU and chrF: clipped n-gram matches of all pairs of texts, for many sentences at once.

The clipped match of a pair is ``sum over n-grams of min(count in h, count in r)``. With one row of counts for each
n-gram it is ``sum over k of [counts >= k].T @ [counts >= k]``: one matrix product, exact in float32 below 2**24.
What precedes the product is kept cheap in three ways. One sort serves all orders: the windows of N units that start
at each position are sorted, and the occurrences of every shorter n-gram then stand side by side. N-grams that no pair
of texts shares get no row. And all sentences of a batch share every step but the product itself. Numpy alone.

Axes: B sentences, T texts of all sentences, P pairs of all sentences, N orders, V n-grams, W distinct windows,
O occurrences of windows.
"""

import abc
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dcmbr_fairseq.utilities.base import Comparison, Utility

#: Largest table that is addressed directly; a wider range of keys is sorted instead (many different characters).
TABLE_LIMIT = 1 << 22
#: Bits of a sort key: non-negative int64.
KEY_BITS = 63
#: Largest number of cells of a count matrix (float32: 32 MB); more n-grams are multiplied in turn.
CELL_LIMIT = 1 << 23
#: Characters that are worth handling in one group of sentences: their arrays stay in the cache.
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

    texts: list[str]
    hyp_end: int
    ref_start: int
    hyp_rows: np.ndarray
    ref_rows: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
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

    def by_pair(self, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``(P,)`` the lengths of the hypothesis and of the reference of each pair, given those of the texts (T,)."""
        sides = []
        for start, offset, (h, r) in zip(self.starts[:-1].tolist(), self.ref_offsets, self.shapes, strict=True):
            reference = start + offset
            sides.append((np.repeat(lengths[start : start + h], r), np.tile(lengths[reference : reference + r], h)))
        hyp_lengths, ref_lengths = zip(*sides, strict=True)
        return np.concatenate(hyp_lengths), np.concatenate(ref_lengths)


class _Windows(NamedTuple):
    """Windows of N units in sorted order, sentence after sentence; a text that ends sooner is continued with zeros.

    Attributes:
        first: ``(W,)`` the first occurrence of each distinct window.
        start: ``(W,)`` where that occurrence starts in the padded units.
        local: ``(O,)`` the text of each occurrence, as a number within its sentence.
        sentence: ``(O,)`` its sentence.
        hyps: ``(O + 1,)`` how many of the preceding occurrences are in hypotheses.
        refs: ``(O + 1,)`` how many are in references.
    """

    first: np.ndarray
    start: np.ndarray
    local: np.ndarray
    sentence: np.ndarray
    hyps: np.ndarray
    refs: np.ndarray


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
        _add_all_matches(units, lengths, group, matches)
    _match_texts_with_themselves(matches, lengths, group)
    return Matches(matches, *group.by_pair(lengths.astype(np.float64)))


def _add_all_matches(units: np.ndarray, lengths: np.ndarray, group: _Group, matches: np.ndarray) -> None:
    """Add the matches between different texts to ``matches`` (N, P), which is zero."""
    padded, starts = _pad(units, lengths, group, len(matches))
    windows = _sort_windows(padded, starts, lengths, group, len(matches))
    new = _differs(windows.sentence.take(windows.first))  # (W,) whether it starts with another n-gram than the last one
    for n, matches_of_order in enumerate(matches):
        unit = padded.take(windows.start + n)
        new |= _differs(unit)
        begin = np.flatnonzero(new)
        first = windows.first.take(begin)
        sizes = _sizes(first, len(windows.local))
        shared = _shared(windows, first, sizes) & (unit.take(begin) > 0)
        _add_matches(windows, first, sizes, np.flatnonzero(shared), group, matches_of_order)


def _shared(windows: _Windows, first: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Which n-grams, given the first and the number of their occurrences, some pair of texts may share."""
    hyps = _sizes(windows.hyps.take(first), windows.hyps[-1])
    refs = _sizes(windows.refs.take(first), windows.refs[-1])
    return (hyps > 0) & (refs > 0) & (sizes > 1)  # one occurrence in a text on both sides is no match of a pair


def _pad(units: np.ndarray, lengths: np.ndarray, group: _Group, max_order: int) -> tuple[np.ndarray, np.ndarray]:
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


def _number(keys: np.ndarray, space: int) -> tuple[np.ndarray, np.ndarray]:
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
    """Sort the windows that start at ``starts``."""
    sentence = np.repeat(group.sentence, lengths)
    order, keys = _sorted_order(*_window_keys(padded, starts, sentence, max_order))
    first = np.flatnonzero(_differs(keys))
    text = np.repeat(np.arange(len(lengths)), lengths).take(order)
    sides = (_running_total(side.astype(np.intp).take(text)) for side in (group.is_hyp, group.is_ref))
    return _Windows(first, starts.take(order.take(first)), group.local.take(text), sentence, *sides)


def _window_keys(
    padded: np.ndarray, starts: np.ndarray, sentence: np.ndarray, max_order: int
) -> tuple[np.ndarray, int]:
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


def _sorted_order(keys: np.ndarray, used: int) -> tuple[np.ndarray, np.ndarray]:
    """An order that sorts keys of ``used`` bits, and the sorted keys."""
    bits = len(keys).bit_length()
    if used + bits > KEY_BITS:
        order = np.argsort(keys)
        return order, keys.take(order)
    both = np.sort((keys << bits) | np.arange(len(keys)))  # several times faster than argsort
    return both & ((1 << bits) - 1), both >> bits


def _add_matches(
    windows: _Windows, first: np.ndarray, sizes: np.ndarray, kept: np.ndarray, group: _Group, matches: np.ndarray
) -> None:
    """Add the matches of one order to ``matches`` (P,), some n-grams at a time if there are very many.

    Args:
        windows: the occurrences.
        first: the first occurrence of each n-gram; others follow it.
        sizes: the number of its occurrences.
        kept: which n-grams to count.
        group: the sentences.
        matches: where to add.
    """
    most = int(group.sizes.max())
    step = max(1, CELL_LIMIT // most)
    for low in range(0, len(kept), step):
        chosen = kept[low : low + step]
        counts = _scratch.zeros(len(chosen) + 1, most)  # (V, T of the largest sentence), and a row for what is not kept
        row = np.full(len(first), len(chosen) * most)
        row[chosen] = np.arange(0, len(chosen) * most, most)
        cell = np.repeat(row, sizes)
        cell += windows.local
        np.add.at(counts.reshape(-1), cell, np.float32(1))
        _multiply(counts[:-1], windows.sentence.take(first.take(chosen)), group, matches)


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


def _unary(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``[counts >= k]`` for k from 1 to a row's largest count: rows of 0 and 1, and ``(V + 1,)`` where each starts."""
    levels = counts.max(axis=1).astype(np.intp)
    firsts = _running_total(levels)
    if firsts[-1] == len(counts):
        return counts, firsts
    source = np.repeat(np.arange(len(counts)), levels)
    k = np.arange(1, len(source) + 1) - firsts.take(source)
    return (counts.take(source, axis=0) >= k.astype(np.float32)[:, None]).astype(np.float32), firsts


def _match_texts_with_themselves(matches: np.ndarray, lengths: np.ndarray, group: _Group) -> None:
    """A text on both sides shares all its n-grams with itself, those that no other text has included."""
    both = np.flatnonzero(group.is_hyp & group.is_ref)
    sentence = group.sentence.take(both)
    row = group.local.take(both)
    references = np.array([r for _, r in group.shapes], dtype=np.intp).take(sentence)
    column = row - np.array(group.ref_offsets, dtype=np.intp).take(sentence)
    pairs = group.pair_starts.take(sentence) + row * references + column
    matches[:, pairs] = np.maximum(lengths.take(both) - np.arange(len(matches))[:, None], 0)


def _differs(values: np.ndarray) -> np.ndarray:
    """Whether each value differs from its predecessor; the first does."""
    differs = np.empty(len(values), dtype=bool)
    differs[:1] = True
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


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


class OverlapUtility(Utility):
    """A utility that is a function of the clipped n-gram matches of a pair of texts."""

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> np.ndarray:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise`; scores from 0 to 100."""
        return self.pairwise_batch([Comparison(hypotheses, references)])[0]

    def pairwise_batch(self, batch: Sequence[Comparison]) -> list[np.ndarray]:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise_batch`."""
        arrangements = [arrange(comparison.hypotheses, comparison.references) for comparison in batch]
        scores: list[np.ndarray] = []
        for part in _groups(arrangements):
            scores += _by_sentence(self._scores(arrangements[part]), arrangements[part])
        return scores

    @abc.abstractmethod
    def _scores(self, arrangements: Sequence[Arrangement]) -> np.ndarray:
        """``(P,)`` the scores of all pairs of distinct texts of each sentence, one sentence after the other."""


def _by_sentence(scores: np.ndarray, arrangements: Sequence[Arrangement]) -> list[np.ndarray]:
    """Cut the scores ``(P,)`` of a group into ``(H, R)``, one for each sentence, in the caller's order of texts."""
    matrices, start = [], 0
    for a in arrangements:
        h, r = a.shape
        matrix = scores[start : start + h * r].reshape(h, r)
        matrices.append(matrix[a.hyp_rows[:, None], a.ref_rows])
        start += h * r
    return matrices


def _groups(arrangements: Sequence[Arrangement]) -> Iterator[slice]:
    """Slices of sentences to handle together: at most about ``GROUP_UNITS`` characters, at least one sentence."""
    start, total = 0, 0
    for end, a in enumerate(arrangements):
        size = sum(map(len, a.texts))
        if end > start and total + size > GROUP_UNITS:
            yield slice(start, end)
            start, total = end, 0
        total += size
    if start < len(arrangements):
        yield slice(start, len(arrangements))
