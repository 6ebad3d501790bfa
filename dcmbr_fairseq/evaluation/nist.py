"""NIST (Doddington 2002) as sums over segments: n-grams weighted by the information they carry.

info(w1 .. wn) = log2(count(w1 .. wn-1) / count(w1 .. wn)), counted over all references; for n = 1 the numerator is the
number of reference words. Two variants are in use and differ by several per cent:

- ``moses``: bootstrap-hypothesis-difference-significance.pl, which the paper used. Orders 1-4; the information of a
  matched n-gram counts once for each segment and n-gram type; divided by the number of n-gram types of the segments.
- ``mteval``: NIST's own mteval script. Orders 1-5; the information counts as often as the n-gram matches (clipped);
  divided by the number of n-grams.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

Tokens = Sequence[str]
NGram = tuple[str, ...]


@dataclass(frozen=True)
class NistVariant:
    """How n-grams are counted.

    Attributes:
        name: stands in the signature.
        order: the longest n-grams.
        by_type: count an n-gram once for each segment, whatever its frequency there.
    """

    name: str
    order: int
    by_type: bool


MOSES = NistVariant("moses", 4, True)
MTEVAL = NistVariant("mteval", 5, False)


def ngram_counts(tokens: Tokens, order: int) -> Counter:
    """How often each n-gram of exactly ``order`` tokens occurs."""
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def ngram_information(references: Sequence[Tokens], order: int) -> dict[NGram, float]:
    """Bits of information of every reference n-gram up to ``order``."""
    counts: Counter = Counter({(): sum(len(reference) for reference in references)})
    for reference in references:
        for n in range(1, order + 1):
            counts.update(ngram_counts(reference, n))
    return {ngram: log2(counts[ngram[:-1]] / count) for ngram, count in counts.items() if ngram}


def segment_sums(
    hypothesis: Tokens, reference: Tokens, information: dict[NGram, float], variant: NistVariant
) -> list[float]:
    """What a segment adds: hypothesis length, reference length, then information and n-grams for each order."""
    sums: list[float] = [len(hypothesis), len(reference)]
    for n in range(1, variant.order + 1):
        ours, theirs = ngram_counts(hypothesis, n), ngram_counts(reference, n)
        matched = ours & theirs  # clipped counts
        times = dict.fromkeys(matched, 1) if variant.by_type else matched
        sums.append(sum(information[ngram] * count for ngram, count in times.items()))
        sums.append(len(ours) if variant.by_type else sum(ours.values()))
    return sums


def nist_score(sums: np.ndarray) -> np.ndarray:
    """NIST of summed segments: ``(..., 2 + 2 N) -> (...)``.

    sum_n info_n / count_n, times exp(log(1/2) (log(ratio) / log(2/3))^2) where the output is shorter than the
    references: a ratio of 2/3 costs half the score. An empty output scores 0.
    """
    length, reference_length = sums[..., 0], sums[..., 1]
    information, counts = sums[..., 2::2], sums[..., 3::2]
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(counts > 0, information / counts, 0.0).sum(axis=-1)
        shortness = np.log(np.minimum(length / reference_length, 1.0)) / np.log(2 / 3)
        penalty = np.exp(np.log(0.5) * shortness**2)
    return np.where(length > 0, gain * penalty, 0.0)
