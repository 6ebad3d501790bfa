"""Ancestral sampling of several pools in one decoding pass, with shared prefixes (exact, not an approximation).

Each draw takes, at every step, the token at which the cumulative distribution passes its own uniform number. Draws
with the same prefix share one decoder row. Rows only split, never merge, and leave when their draws have ended.

Support: padding is never drawn; the end of sentence is not drawn before ``min_len`` tokens and is the only token after
``max_len``; forced prefix tokens are taken by all draws. `log_prob` is the model's own at temperature 1 over the whole
vocabulary, as teacher forcing gives it; `sampling_log_prob` is that of the cooled, truncated, renormalised support.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from dcmbr_fairseq.decoders.incremental import IncrementalDecoder, PrefixRows
from dcmbr_fairseq.pools.draws import PoolSpec, TokenPool
from dcmbr_fairseq.pools.settings import SETTINGS
from dcmbr_fairseq.sampling.codes import SPENT, arithmetic_codes
from dcmbr_fairseq.sampling.next_token import Draws, NextToken
from dcmbr_fairseq.sampling.randomness import KeyedUniforms, sentence_key
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.sampling.trace import Trace
from dcmbr_fairseq.sampling.truncation import Truncation


@dataclass(frozen=True)
class SamplingBatch:
    """What is sampled for: B source sentences.

    Attributes:
        sources: B lists of source token ids without padding; with the seed, they key the draws.
        max_lens: ``(B,)`` the most tokens before the end of sentence.
        bos: first target token of every prefix.
        prefixes: ``(B, L)`` forced first tokens, padded with -1; None for none.
    """

    sources: Sequence[Sequence[int]]
    max_lens: np.ndarray
    bos: int
    prefixes: np.ndarray | None = None

    def select(self, sentences: np.ndarray) -> "SamplingBatch":
        """The batch of some of the sentences."""
        prefixes = None if self.prefixes is None else self.prefixes[sentences]
        return SamplingBatch([self.sources[i] for i in sentences], self.max_lens[sentences], self.bos, prefixes)


class Sampled(NamedTuple):
    """For each sentence its pools, one for each :class:`PoolSpec`; and the cost: decoder rows, tokens drawn."""

    pools: list[list[TokenPool]]
    rows: int
    tokens: int


@dataclass(frozen=True)
class PrefixSampler:
    """Samples pools; see the module's docstring.

    Attributes:
        support: which tokens may be drawn.
        truncation: top-k, top-p or epsilon truncation of the cooled distribution.
        seed: keys the draws together with the source sentence.
        max_rows: most draws that are decoded at once; bounds memory. Larger batches are decoded in turn.
        draws: independent, or arithmetic (`codes.py`): each an exact sample, and together spread evenly.

    Raises:
        UserError: there are no such draws.
    """

    support: Support
    truncation: Truncation = Truncation()
    seed: int = 1
    max_rows: int = 4096
    draws: str = "independent"

    def __post_init__(self) -> None:
        SETTINGS["draws"].value(self.draws)

    @torch.inference_mode()
    def sample(
        self,
        make_decoder: Callable[[np.ndarray], IncrementalDecoder],
        batch: SamplingBatch,
        specs: Sequence[PoolSpec],
    ) -> Sampled:
        """Sample all pools of all sentences.

        Args:
            make_decoder: gives a fresh decoder for the sentences with the given indices.
            batch: the sentences.
            specs: the pools wanted for each.
        """
        count = len(batch.sources)
        draws = sum(spec.size for spec in specs)
        per_pass = max(1, self.max_rows // draws)  # sentences decoded together
        pools: list[list[TokenPool]] = []
        rows = tokens = 0
        for start in range(0, count, per_pass):
            sentences = np.arange(start, min(start + per_pass, count))
            parts: list[list[list[TokenPool]]] = [[[] for _ in specs] for _ in sentences]
            for pass_ in _passes(specs, self.max_rows):
                run = _Pass(self, batch.select(sentences), [part for _, part in pass_])
                run.decode(make_decoder(sentences))
                rows, tokens = rows + run.rows_forwarded, tokens + run.tokens_drawn
                for sentence, found in enumerate(run.collect()):
                    for (pool, _), piece in zip(pass_, found, strict=True):
                        parts[sentence][pool].append(piece)
            pools += [[_join(pieces) for pieces in sentence] for sentence in parts]
        return Sampled(pools, rows, tokens)


class _Part(NamedTuple):
    """Some consecutive draws of a pool."""

    spec: PoolSpec
    first: int
    size: int


def _passes(specs: Sequence[PoolSpec], max_rows: int) -> list[list[tuple[int, _Part]]]:
    """How one sentence's draws are decoded: all pools in one pass, or, if these are too many rows, piece by piece."""
    if sum(spec.size for spec in specs) <= max_rows:
        return [[(pool, _Part(spec, 0, spec.size)) for pool, spec in enumerate(specs)]]
    return [
        [(pool, _Part(spec, first, min(max_rows, spec.size - first)))]
        for pool, spec in enumerate(specs)
        for first in range(0, spec.size, max_rows)
    ]


def _join(pieces: Sequence[TokenPool]) -> TokenPool:
    """One pool from the pieces of its draws."""
    if len(pieces) == 1:
        return pieces[0]
    index: dict[bytes, int] = {}
    joined = TokenPool([], [], np.empty(0), np.empty(0, dtype=np.int64))
    log_probs: list[float] = []
    draws = []
    for piece in pieces:
        sequences = zip(piece.tokens, piece.positional_log_probs, piece.sampling_log_prob, strict=True)
        for tokens, scores, log_prob in sequences:
            if index.setdefault(tokens.tobytes(), len(index)) == len(joined.tokens):
                joined.tokens.append(tokens)
                joined.positional_log_probs.append(scores)
                log_probs.append(float(log_prob))
        places = np.array([index[tokens.tobytes()] for tokens in piece.tokens], dtype=np.int64)
        draws.append(places[piece.draws])
    return TokenPool(joined.tokens, joined.positional_log_probs, np.array(log_probs), np.concatenate(draws))


class _Pass:
    """One decoding pass: its live draws, the rows they stand on, and the trace of all rows so far."""

    def __init__(self, sampler: PrefixSampler, batch: SamplingBatch, parts: Sequence[_Part]) -> None:
        self.batch, self.parts = batch, parts
        self.next_token = NextToken(sampler.support, sampler.truncation)
        self.shortest_limit = batch.max_lens.min()
        count = len(batch.sources)
        sizes = [part.size for part in parts]
        self.width = sum(sizes)  # draws of one sentence, all pools
        keys = {
            stream: [sentence_key(sampler.seed, source, stream) for source in batch.sources]
            for stream in {part.spec.stream for part in parts}
        }
        self.uniforms = [KeyedUniforms(keys[part.spec.stream], part.size, part.first) for part in parts]
        self.codes: np.ndarray | None = None  # (count * width,) what is left of each draw's code
        if sampler.draws == "arithmetic":
            parts_codes = [arithmetic_codes(keys[part.spec.stream], part.size, part.first) for part in parts]
            self.codes = np.concatenate(parts_codes, axis=1).reshape(-1)
        # Draw d of sentence b stands at b * width + d; only live draws are kept in the arrays below.
        self.live = np.arange(count * self.width)
        self.row = np.repeat(np.arange(count), self.width)
        temperatures = np.repeat([part.spec.temperature for part in parts], sizes)
        self.temperature = np.tile(temperatures, count)  # (count * width,)
        self.temperatures = tuple(sorted({part.spec.temperature for part in parts}))
        self.sampling_log_prob = np.zeros(count * self.width)
        self.ended_as = np.full(count * self.width, -1)  # which finished sequence of the trace
        self.rows = PrefixRows(np.full(count, batch.bos), None, np.arange(count))
        self.trace = Trace(sampler.support.eos)
        self.rows_forwarded = self.tokens_drawn = 0

    def decode(self, decoder: IncrementalDecoder) -> None:
        """Sample until every draw has ended."""
        while len(self.live):
            step = self.trace.steps
            logits = decoder.step(self.rows)
            self.rows_forwarded += len(self.rows.tokens)
            self.tokens_drawn += len(self.live)
            temperatures = self.temperature[self.live]
            draws = Draws(self.row, self._uniforms(step), temperatures, self.temperatures, self._forced(step))
            chosen = self.next_token.draw(logits, step, draws)
            self.sampling_log_prob[self.live] += chosen.sampling_log_probs
            if self.codes is not None:
                self.codes[self.live] = chosen.remainders
            self._advance(chosen.tokens, chosen.log_probs, logits.size(1))
            del logits  # freed before the next are made
        decoder.release()

    def _uniforms(self, step: int) -> np.ndarray:
        """``(D,)`` the numbers by which the live draws choose: their codes until these are spent, or keyed uniforms."""
        if self.codes is None:
            return self._keyed_uniforms(step)
        numbers = self.codes[self.live]
        spent = self.sampling_log_prob[self.live] < SPENT
        if spent.any():
            numbers[spent] = self._keyed_uniforms(step)[spent]
        return numbers

    def _keyed_uniforms(self, step: int) -> np.ndarray:
        return np.concatenate([pool.step(step) for pool in self.uniforms], axis=1).reshape(-1)[self.live]

    def _forced(self, step: int) -> np.ndarray | None:
        """``(D,)`` the token that a live draw must take, -1 where it is free; None if all are free."""
        prefixes = self.batch.prefixes
        if prefixes is not None and step >= prefixes.shape[1]:
            prefixes = None
        if prefixes is None and step < self.shortest_limit:
            return None
        sentences = self.rows.sentences[self.row]
        forced = np.full(len(self.live), -1) if prefixes is None else prefixes[sentences, step]
        forced[step >= self.batch.max_lens[sentences]] = self.next_token.support.eos
        return forced

    def _advance(self, tokens: np.ndarray, log_probs: np.ndarray, vocabulary: int) -> None:
        """End the draws that drew the end of sentence, and split the rows of the others."""
        children, first, child = np.unique(self.row * vocabulary + tokens, return_index=True, return_inverse=True)
        parents, child_tokens = children // vocabulary, children % vocabulary
        ends = child_tokens == self.next_token.support.eos
        new_place = np.empty(len(children), dtype=np.int64)
        new_place[ends] = self.trace.end(parents[ends], log_probs[first[ends]])
        new_place[~ends], order = _keep_places(parents[~ends])
        ended = ends[child]
        self.ended_as[self.live[ended]] = new_place[child[ended]]
        self.live, self.row = self.live[~ended], new_place[child[~ended]]
        growing = np.flatnonzero(~ends)[order]
        self.trace.grow(parents[growing], child_tokens[growing], log_probs[first[growing]])
        sentences = self.rows.sentences[parents[growing]]
        self.rows = PrefixRows(child_tokens[growing], parents[growing], sentences)

    def collect(self) -> list[list[TokenPool]]:
        """The pools of every sentence, one for each part."""
        sequences, scores = self.trace.sequences()
        offsets = np.cumsum([0] + [part.size for part in self.parts])
        pools = []
        for start in range(0, len(self.ended_as), self.width):
            ranges = [slice(start + a, start + b) for a, b in itertools.pairwise(offsets)]
            pools.append([self._pool(r, sequences, scores) for r in ranges])
        return pools

    def _pool(self, draws: slice, sequences: list[np.ndarray], scores: list[np.ndarray]) -> TokenPool:
        distinct, first, index = np.unique(self.ended_as[draws], return_index=True, return_inverse=True)
        order = np.argsort(first)  # distinct sequences in the order of their first draw
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        chosen = distinct[order]
        return TokenPool(
            [sequences[i] for i in chosen],
            [scores[i] for i in chosen],
            self.sampling_log_prob[draws][first[order]],
            place[index],
        )


def _keep_places(parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of new rows: the first child of a row takes its place if it can, so that its history need not move.

    Args:
        parents: ``(P,)`` parent row of each new row, sorted.

    Returns:
        ``(P,)`` the place of each new row, and its inverse: the new row that stands at each place.
    """
    count = len(parents)
    stays = parents < count
    stays[1:] &= parents[1:] != parents[:-1]
    kept = parents[stays]
    places = np.empty(count, dtype=np.int64)
    places[stays] = kept
    taken = np.zeros(count, dtype=bool)
    taken[kept] = True
    places[~stays] = np.flatnonzero(~taken)
    order = np.empty(count, dtype=np.int64)
    order[places] = np.arange(count)
    return places, order
