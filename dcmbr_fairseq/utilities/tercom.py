"""Edits and shifts of TER as Tercom and sacrebleu's ``lib_ter`` count them, for many pairs of texts at once.

Tercom moves blocks of the hypothesis greedily, each time the one that lowers the edit distance most, until none does.
Here all pairs take a step together: alignments, candidate shifts and their distances are arrays. Pure numbers of words;
nothing here knows about utilities. Axes: K pairs, C candidates, N words of a hypothesis, M of a reference.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

MAX_SIZE = 10  # words of a shifted block
MAX_DISTANCE = 50  # between a block's places in hypothesis and reference
MAX_CANDIDATES = 1000  # of a pair: a step that reaches it is the last, and is not made
BEAM = 25  # columns of a distance matrix that are computed on either side of its diagonal
CELLS = 1 << 20  # of the matrices that are held at once
UNREACHED = 1 << 28  # more than any distance


class Words(NamedTuple):
    """Texts as numbers of words ``(N, K)``, padded with a number that equals no word, and their lengths ``(K,)``."""

    ids: np.ndarray
    lengths: np.ndarray

    def take(self, which: np.ndarray) -> "Words":
        """Some of the texts, without padding that all of them have."""
        lengths = self.lengths[which]
        return Words(self.ids[: lengths.max(initial=0), which], lengths)


class Shifts(NamedTuple):
    """Candidates ``(C,)``: of which pair, where the block starts, how long it is, before which word it shall stand."""

    pair: np.ndarray
    start: np.ndarray
    size: np.ndarray
    target: np.ndarray

    def take(self, which: "np.ndarray | slice") -> "Shifts":
        """Some of the candidates."""
        return Shifts(*(part[which] for part in self))


class Alignment(NamedTuple):
    """What an optimal edit of hypotheses into references tells.

    Attributes:
        targets: ``(M + 1, K)`` how many words of the hypothesis have been used when m of the reference have.
        hyp_errors: ``(N + 1, K)`` how many of the first n words of the hypothesis are not matched.
        ref_errors: ``(M + 1, K)`` how many of the first m words of the reference are not matched.
    """

    targets: np.ndarray
    hyp_errors: np.ndarray
    ref_errors: np.ndarray


def edit_counts(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> np.ndarray:
    """``(H, R)`` how many edits and shifts turn each hypothesis into each reference; both are lists of words."""
    numbers: dict[str, int] = {}
    hyps, refs = _numbered(hypotheses, numbers, -1), _numbered(references, numbers, -2)
    found = np.where(refs.lengths > 0, refs.lengths, hyps.lengths[:, None])  # with an empty side all words of the other
    h, r = np.nonzero((hyps.lengths[:, None] > 0) & (refs.lengths > 0))
    order = np.lexsort((refs.lengths[r], hyps.lengths[h]))  # texts of like lengths share their padding
    h, r = h[order], r[order]
    for part in _parts((hyps.lengths[h] + 1) * (refs.lengths[r] + 1)):
        found[h[part], r[part]] = _counts_of_pairs(hyps.take(h[part]), refs.take(r[part]))
    return found


def _numbered(texts: Sequence[Sequence[str]], numbers: dict[str, int], padding: int) -> Words:
    lengths = np.array([len(words) for words in texts], dtype=np.intp)
    ids = np.full((lengths.max(initial=0), len(texts)), padding, dtype=np.int32)
    for k, words in enumerate(texts):
        ids[: len(words), k] = [numbers.setdefault(word, len(numbers)) for word in words]
    return Words(ids, lengths)


def _parts(cells: np.ndarray) -> Iterator[slice]:
    """Consecutive parts of items with these ``cells``, of about ``CELLS`` each."""
    ends = np.cumsum(cells)
    start = 0
    while start < len(ends):
        before = ends[start] - cells[start]
        end = max(start + 1, int(np.searchsorted(ends, before + CELLS)))
        yield slice(start, end)
        start = end


def _counts_of_pairs(hyps: Words, refs: Words) -> np.ndarray:
    """``(K,)`` edits and shifts of pairs without an empty side."""
    counts = np.zeros(len(hyps.lengths), dtype=np.intp)
    tried = np.zeros_like(counts)  # candidates of each pair
    running = np.arange(len(counts))
    shifts = 0
    while len(running):
        rows = np.stack(list(excess_rows(hyps, refs)))  # (N + 1, M + 1, K)
        distances = rows[hyps.lengths, refs.lengths, np.arange(len(running))] + refs.lengths
        counts[running] = shifts + distances
        candidates, seen = candidate_shifts(hyps, refs, align(rows, hyps, refs), tried[running])
        tried[running] += seen
        best = best_shifts(candidates, distances[candidates.pair] - distances_after(candidates, hyps, refs))
        best = best[tried[running[candidates.pair[best]]] < MAX_CANDIDATES]
        chosen = candidates.take(best)
        hyps, refs, running = shifted(hyps, chosen), refs.take(chosen.pair), running[chosen.pair]
        shifts += 1
    return counts


# --- edit distance -------------------------------------------------------------------------------------------------


def excess_rows(hyps: Words, refs: Words) -> Iterator[np.ndarray]:
    """Rows n = 0 ... N of the edit distances between the first n words of hypotheses and the first m of references.

    Each row is ``(M + 1, K)`` and holds distance - m. Cells outside the beam are ``UNREACHED``, cells beyond a text's
    length mean nothing.
    """
    columns = np.arange(len(refs.ids) + 1)[:, None]
    narrow = len(refs.ids) >= BEAM  # otherwise the beam holds all columns
    row = np.zeros((len(columns), len(hyps.lengths)), dtype=np.int32)  # m insertions
    yield row
    for n, words in enumerate(hyps.ids, 1):  # (K,) the n-th word of each
        before = row
        row = before + 1  # the word is deleted
        np.minimum(row[1:], before[:-1] - (words == refs.ids), out=row[1:])  # or substituted, or kept
        outside = _outside_beam(n, columns, hyps, refs) if narrow else None
        if outside is not None:
            row[outside] = UNREACHED
        np.minimum.accumulate(row, axis=0, out=row)  # or words of the reference are inserted, which costs no excess
        if outside is not None:
            row[outside] = UNREACHED
        yield row


def _outside_beam(n: int, columns: np.ndarray, hyps: Words, refs: Words) -> np.ndarray:
    """``(M + 1, K)`` the cells of row ``n`` that sacrebleu does not look at; the last row is computed to its end."""
    ratio = refs.lengths / hyps.lengths
    width = np.where(ratio / 2 > BEAM, np.ceil(ratio / 2 + BEAM), BEAM)
    diagonal = np.floor(n * ratio)
    return (columns < diagonal - width) | ((columns >= diagonal + width) & (n != hyps.lengths))


def align(rows: np.ndarray, hyps: Words, refs: Words) -> Alignment:
    """The optimal edits that sacrebleu finds: from the end, it prefers keeping and substituting, then deleting.

    Args:
        rows: ``(N + 1, M + 1, K)`` of :func:`excess_rows`.
        hyps: the hypotheses.
        refs: the references.
    """
    targets = np.zeros(rows.shape[1:], dtype=np.intp)
    hyp_errors, ref_errors = np.ones_like(hyps.ids, dtype=np.intp), np.ones_like(refs.ids, dtype=np.intp)
    pair, n, m = np.arange(len(hyps.lengths)), hyps.lengths, refs.lengths
    while len(pair):
        cell = rows[n, m, pair]
        equal = hyps.ids[n - 1, pair] == refs.ids[m - 1, pair]
        both = (n > 0) & (m > 0) & (rows[n - 1, m - 1, pair] - equal == cell)
        deleted = ~both & (n > 0) & ((m == 0) | (rows[n - 1, m, pair] + 1 == cell))
        used = ~deleted  # a word of the reference
        targets[m[used], pair[used]] = n[used]
        kept = both & equal
        hyp_errors[n[kept] - 1, pair[kept]] = ref_errors[m[kept] - 1, pair[kept]] = 0
        n, m = n - (both | deleted), m - used
        going = (n > 0) | (m > 0)
        pair, n, m = pair[going], n[going], m[going]
    return Alignment(targets, _counted_before(hyp_errors), _counted_before(ref_errors))


def _counted_before(flags: np.ndarray) -> np.ndarray:
    """Cumulative sums along the first axis, from 0 on: one more row than ``flags``."""
    return np.concatenate([np.zeros_like(flags[:1]), np.cumsum(flags, axis=0)])


# --- shifts --------------------------------------------------------------------------------------------------------
def candidate_shifts(hyps: Words, refs: Words, alignment: Alignment, tried: np.ndarray) -> tuple[Shifts, np.ndarray]:
    """The shifts that Tercom would try, in its order, and how many it tries of each pair.

    Args:
        hyps: the hypotheses.
        refs: the references.
        alignment: of the hypotheses as they are.
        tried: ``(K,)`` how many candidates each pair has had in earlier steps.
    """
    pair, start, place, size = _wrong_blocks(hyps, refs, alignment)
    # one candidate for each word of the block and one before it: where the reference has what stands before that word
    block = np.repeat(np.arange(len(pair)), size + 1)
    offset = _ranges(size + 1)
    target = alignment.targets[place[block] + offset, pair[block]]
    new = np.ones(len(target), dtype=bool)
    new[1:] = (offset[1:] == 0) | (target[1:] != target[:-1])
    tried_before = np.cumsum(new) - new  # of all pairs
    first = np.searchsorted(pair[block], np.arange(len(tried)))  # candidate of each pair
    of_block = tried_before[np.searchsorted(block, block)] - np.append(tried_before, 0)[first][pair[block]]
    new &= of_block + tried[pair[block]] < MAX_CANDIDATES
    block, target = block[new], target[new]
    return Shifts(pair[block], start[block], size[block], target), np.bincount(pair[block], minlength=len(tried))


def _wrong_blocks(
    hyps: Words, refs: Words, alignment: Alignment
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Blocks that stand in both texts with an error in either, and are not aligned to themselves.

    Returns:
        pair, first word in the hypothesis, first word in the reference, size; by pair, then by the others.
    """
    runs = _matching_runs(hyps, refs)
    n, m = np.ogrid[: len(hyps.ids), : len(refs.ids)]
    runs[(alignment.targets[1:] - 1 == n[..., None]) | (np.abs(n - m) > MAX_DISTANCE)[..., None]] = 0
    start, place, pair = np.nonzero(runs)
    order = np.argsort(pair, kind="stable")
    start, place, pair = start[order], place[order], pair[order]
    runs = runs[start, place, pair]
    pair, start, place = (np.repeat(part, runs) for part in (pair, start, place))
    size = _ranges(runs) + 1
    aligned = alignment.targets[place + 1, pair] - 1
    wrong = (
        (alignment.hyp_errors[start + size, pair] > alignment.hyp_errors[start, pair])
        & (alignment.ref_errors[place + size, pair] > alignment.ref_errors[place, pair])
        & ((aligned < start) | (aligned >= start + size))
    )
    return pair[wrong], start[wrong], place[wrong], size[wrong]


def _matching_runs(hyps: Words, refs: Words) -> np.ndarray:
    """``(N, M, K)`` how many words from the n-th of a hypothesis and the m-th of its reference on are the same."""
    runs = np.zeros((len(hyps.ids) + 1, len(refs.ids) + 1, len(hyps.lengths)), dtype=np.int32)
    for n in reversed(range(len(hyps.ids))):
        np.multiply(runs[n + 1, 1:] + 1, hyps.ids[n] == refs.ids, out=runs[n, :-1])
    return np.minimum(runs[:-1, :-1], MAX_SIZE)


def _ranges(sizes: np.ndarray) -> np.ndarray:
    """0 ... size - 1 for each size, one after the other."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def distances_after(candidates: Shifts, hyps: Words, refs: Words) -> np.ndarray:
    """``(C,)`` edit distances once each candidate has been made."""
    found = refs.lengths[candidates.pair]
    for part in _parts((hyps.lengths[candidates.pair] + 1) * (found + 1)):
        some = candidates.take(part)
        moved, references = shifted(hyps, some), refs.take(some.pair)
        for n, row in enumerate(excess_rows(moved, references)):
            ended = np.flatnonzero(moved.lengths == n)
            found[part][ended] += row[references.lengths[ended], ended]
    return found


def shifted(hyps: Words, shifts: Shifts) -> Words:
    """The hypotheses of the shifts' pairs after each has made its shift."""
    lengths = hyps.lengths[shifts.pair]
    place = np.arange(lengths.max(initial=0))[:, None]
    pair, start, size, target = shifts
    first = np.where(target > start + size, target - size, np.minimum(target, lengths - size))  # of the block, then
    first = np.where(target < start, target, first)
    rest = place - size * (place >= first)  # where each word that is not moved stands among those
    source = np.where((place >= first) & (place < first + size), place - first + start, rest + size * (rest >= start))
    return Words(hyps.ids[np.minimum(source, len(hyps.ids) - 1), pair], lengths)


def best_shifts(candidates: Shifts, gains: np.ndarray) -> np.ndarray:
    """Indices of the best candidate of each pair that has one with a gain: then the longest, earliest, least far."""
    pair, start, size, target = candidates
    order = np.lexsort((target, start, -size, -gains, pair))
    first = np.ones(len(order), dtype=bool)
    first[1:] = pair[order[1:]] != pair[order[:-1]]
    best = order[first]
    return best[gains[best] > 0]
