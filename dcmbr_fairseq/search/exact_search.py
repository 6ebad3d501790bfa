"""Exact top-N search: a model's N most probable translations (Sec. 4.2; Yan et al. 2021, Stahlberg & Byrne 2019).

Depth first over prefixes with their log-probability s, which no continuation can exceed: a prefix is worth exploring
only while s is above the bound, the N-th best complete translation so far. Completed translations stand in a min-heap
of size N. A beam search comes first, so that there is a bound from the start. Prefixes are expanded some fifty at once,
all of the same length; each batch of children is searched before the next, best first, on an explicit stack.

Probabilities are the model's own at temperature 1, without length normalisation. The support is the sampler's: no
padding, no end of sentence before ``min_len`` tokens, nothing else after ``max_len``, forced prefixes taken.
"""

import heapq
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dcmbr_fairseq.decoders.incremental import IncrementalDecoder, PrefixRows
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.numeric import MOST_TRANSLATIONS, whole_number
from dcmbr_fairseq.sampling.support import Support

#: The first bound lies this far below the beam's N-th best, so that rounding cannot cut off the translation itself.
MARGIN = 1e-5


class Scored(NamedTuple):
    """A complete translation: its token ids, end of sentence included, and natural log-probability."""

    tokens: tuple[int, ...]
    log_prob: float


@dataclass(frozen=True)
class TopN:
    """What a search has found.

    Attributes:
        sequences: at most N translations, the most probable first.
        stopped_by: None if these are exactly the N most probable ones; else why that is not certain: ``expansions`` or
            ``time`` (the budget was spent), ``length`` (a longer translation might be among them).
        expansions: prefixes that the decoder was run on, those of the beam included.
        seconds: time taken.
    """

    sequences: list[Scored]
    stopped_by: str | None
    expansions: int
    seconds: float

    @property
    def exact(self) -> bool:
        """Whether the sequences are the N most probable ones for certain."""
        return self.stopped_by is None


@dataclass(frozen=True)
class Target:
    """What translations of a sentence look like.

    Attributes:
        bos: the token before the first.
        max_len: the most tokens before the end of sentence.
        prefix: forced first tokens.
        given: how many of these are no part of the translation and have no log-probability (language tokens).
    """

    bos: int
    max_len: int
    prefix: Sequence[int] = ()
    given: int = 0


@dataclass(frozen=True)
class ExactSearch:
    """Finds the N most probable translations of one sentence at a time.

    Attributes:
        support: which tokens may follow a prefix.
        size: N (paper: 20).
        max_expansions: give up after this many prefixes.
        max_seconds: give up after this time.
        width: prefixes expanded at once, and the beam's size if N is not larger.

    Raises:
        UserError: a value is out of range.
    """

    support: Support
    size: int = 20
    max_expansions: int = 100_000
    max_seconds: float = math.inf
    width: int = 50

    def __post_init__(self) -> None:
        whole_number("--size", self.size, 1, MOST_TRANSLATIONS)
        whole_number("--max-expansions", self.max_expansions)
        whole_number("--width", self.width)
        if not self.max_seconds > 0:
            raise UserError(f"--max-seconds must be > 0, got {self.max_seconds}")
        if self.support.unk_penalty:
            raise UserError("--unkpen changes scores, not what is probable: leave it out of exact search")

    @torch.no_grad()
    def search(self, make_decoder: Callable[[], IncrementalDecoder], target: Target) -> TopN:
        """Search one sentence.

        Args:
            make_decoder: gives a fresh decoder of the sentence.
            target: what its translations look like.
        """
        started = time.monotonic()
        beam = _Search(self, target, -math.inf)
        beam.beam(make_decoder())
        run = _Search(self, target, beam.best.least() - MARGIN)
        run.expansions = beam.expansions
        pending, stopped_by = run.depth_first(make_decoder(), started + self.max_seconds)
        best = run.best.merged(beam.best)
        # What was left out matters only if it could still be among the N best.
        if run.beyond >= best.least() and run.beyond > -math.inf:
            stopped_by = "length"
        elif pending < best.least():
            stopped_by = None
        return TopN(best.sorted(), stopped_by, run.expansions, time.monotonic() - started)


class _Best:
    """The best complete translations so far: a min-heap of at most ``size``."""

    def __init__(self, size: int, sequences: Iterable[Scored] = ()) -> None:
        self.size = size
        self._heap: list[tuple[float, tuple[int, ...]]] = []
        for sequence in sequences:
            self.offer(sequence)

    def offer(self, sequence: Scored) -> None:
        """Take a translation in if it is good enough."""
        item = (sequence.log_prob, sequence.tokens)
        if len(self._heap) < self.size:
            heapq.heappush(self._heap, item)
        elif item > self._heap[0]:
            heapq.heapreplace(self._heap, item)

    def least(self) -> float:
        """The log-probability that a translation must exceed to be taken in."""
        return self._heap[0][0] if len(self._heap) == self.size else -math.inf

    def sorted(self) -> list[Scored]:
        """All of them, the most probable first."""
        return [Scored(tokens, log_prob) for log_prob, tokens in sorted(self._heap, reverse=True)]

    def merged(self, other: "_Best") -> "_Best":
        """The best of both, each translation once: scores may differ in rounding, one's own count."""
        own = self.sorted()
        known = {sequence.tokens for sequence in own}
        return _Best(self.size, [*own, *(sequence for sequence in other.sorted() if sequence.tokens not in known)])


class _Block(NamedTuple):
    """P prefixes of t tokens each that are to be expanded together, the best first.

    Attributes:
        decoder: a decoder that has read the prefixes without their last tokens.
        sole: nobody else needs that decoder.
        rows: ``(P,)`` where the decoder has each prefix's parent; None at the root.
        prefixes: ``(P, t)`` tokens.
        scores: ``(P,)`` log-probability of each prefix.
    """

    decoder: IncrementalDecoder
    sole: bool
    rows: np.ndarray | None
    prefixes: np.ndarray
    scores: np.ndarray

    def above(self, bound: float) -> "_Block":
        """Without the prefixes that are not worth exploring any more."""
        count = int((self.scores > bound).sum())  # they are sorted
        rows = None if self.rows is None else self.rows[:count]
        return _Block(self.decoder, self.sole, rows, self.prefixes[:count], self.scores[:count])


class _Search:
    """One search, by beam or depth first: the best translations so far, and the cost."""

    def __init__(self, search: ExactSearch, target: Target, floor: float) -> None:
        self.search, self.target, self.floor = search, target, floor
        self.best = _Best(search.size)
        self.expansions = 0
        self.beyond = -math.inf  # the best prefix that was too long to be continued

    @property
    def bound(self) -> float:
        """The log-probability that anything must exceed to matter."""
        return max(self.floor, self.best.least())

    def beam(self, decoder: IncrementalDecoder) -> None:
        """Beam search, as wide as a batch of prefixes or N; scores are not divided by a length."""
        width = max(self.search.width, self.search.size)
        block = self._root(decoder)
        while len(block.scores):
            totals = self._expand(block, decoder)
            self._complete(block, totals)
            if totals.numel() > width:
                totals.masked_fill_(totals < totals.flatten().topk(width).values[-1], -math.inf)
            block = next(self._children(block, decoder, totals, width), block.above(math.inf))

    def depth_first(self, decoder: IncrementalDecoder, deadline: float) -> tuple[float, str | None]:
        """Depth-first search to its end, or until the budget is spent.

        Returns:
            the best log-probability of the prefixes that were not explored, and the budget that was spent, if any.
        """
        stack = [self._root(decoder)]
        while stack:
            block = stack.pop().above(self.bound)
            if not len(block.scores):
                continue
            stopped_by = self._spent(deadline)
            if stopped_by:
                return max(float(b.scores[0]) for b in (*stack, block)), stopped_by
            decoder = block.decoder if block.sole else block.decoder.fork()
            totals = self._expand(block, decoder)
            self._complete(block, totals)  # before the children: the bound may rise
            stack += reversed(list(self._children(block, decoder, totals, self.search.width)))
        return -math.inf, None

    def _spent(self, deadline: float) -> str | None:
        if self.expansions >= self.search.max_expansions:
            return "expansions"
        return "time" if time.monotonic() >= deadline else None

    def _root(self, decoder: IncrementalDecoder) -> _Block:
        return _Block(decoder, True, None, np.empty((1, 0), dtype=np.int64), np.zeros(1))

    def _expand(self, block: _Block, decoder: IncrementalDecoder) -> Tensor:
        """``(P, V)`` float64 log-probability of every prefix with each token appended; -inf outside the support."""
        count, step = block.prefixes.shape
        tokens = block.prefixes[:, -1] if step else np.array([self.target.bos])
        logits = decoder.step(PrefixRows(tokens, block.rows, np.zeros(count, dtype=np.int64)))
        log_probs = torch.log_softmax(logits, dim=1).double()
        if log_probs.isnan().any():
            raise UserError("the model's next-token distribution is not finite: search without --fp16, or check it")
        self.expansions += count
        scores = torch.from_numpy(block.scores).to(log_probs)
        totals = log_probs + scores[:, None]
        self.search.support.restrict(totals, step)
        if step < len(self.target.prefix):
            token = self.target.prefix[step]
            forced = scores if step < self.target.given else totals[:, token].clone()
            totals.fill_(-math.inf)[:, token] = forced
        return totals

    def _complete(self, block: _Block, totals: Tensor) -> None:
        """Take in the translations that end here, and close that way."""
        eos = self.search.support.eos
        for row, log_prob in enumerate(totals[:, eos].tolist()):
            if log_prob > self.bound:
                self.best.offer(Scored((*block.prefixes[row].tolist(), eos), log_prob))
        totals[:, eos] = -math.inf
        if block.prefixes.shape[1] >= self.target.max_len:
            self.beyond = max(self.beyond, float(totals.max()))
            totals.fill_(-math.inf)

    def _children(self, block: _Block, decoder: IncrementalDecoder, totals: Tensor, width: int) -> Iterator[_Block]:
        """The children worth exploring, in blocks of ``width``, the best first."""
        rows, tokens = (totals > self.bound).nonzero(as_tuple=True)
        scores, order = totals[rows, tokens].sort(descending=True, stable=True)
        parents, last, found = (x.cpu().numpy() for x in (rows[order], tokens[order], scores))
        for start in range(0, len(found), width):
            part = slice(start, start + width)
            prefixes = np.concatenate([block.prefixes[parents[part]], last[part, None]], axis=1)
            yield _Block(decoder, start + width >= len(found), parents[part], prefixes, found[part])
