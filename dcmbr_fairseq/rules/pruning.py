"""Confidence-based pruning (Cheng & Vlachos, 2023): who will hardly win is dropped after few references."""

import hashlib
from collections.abc import Sequence

import numpy as np

from dcmbr_fairseq.errors import UserError, shown
from dcmbr_fairseq.numeric import LARGEST_SEED
from dcmbr_fairseq.rules.arguments import check_whole
from dcmbr_fairseq.rules.calls import CallCount
from dcmbr_fairseq.rules.decision import Candidates, Decision
from dcmbr_fairseq.rules.expected_utility import expected_utilities, rank, utility_matrices
from dcmbr_fairseq.rules.survivors import comparison_of, survivors_first
from dcmbr_fairseq.utilities.base import Comparison, Utility

SCHEDULE = (8, 16, 32, 64, 128, 256)
MOST_RESAMPLES = 100_000  # of up to some hundred references: beyond, memory and time do not suffice


class PruningRule:
    """Compares with a growing sample of references, and drops hypotheses on the way (``--selection prune``).

    After each round the references seen so far are resampled; a hypothesis stays if it beats the current best (with
    ``nbest`` above 1: the nbest-th best) in at least a share of ``1 - alpha`` of the resamples. The ``nbest`` best
    always stay, and all that stay to the end are compared with every reference: their expected utilities are exact.

    In the paper references are a list of draws. Here they are distinct texts with weights: they are taken in the order
    in which draws from those weights would first bring them up, whatever order they are given in, and are resampled
    with their weights. What is estimated is thus the expected utility under the pool as it is, from a random part of
    it: however the pool was drawn, its draws need not be independent.

    Args:
        alpha: confidence; 1 drops nothing.
        schedule: how many distinct references have been compared after each round, increasing; all after the last.
        bootstrap: number of resamples.
        seed: of the resampling, which depends on it and on the sentence's texts alone.

    Raises:
        UserError: an argument is out of range.
    """

    def __init__(
        self, *, alpha: float = 0.99, schedule: Sequence[int] = SCHEDULE, bootstrap: int = 500, seed: int = 0
    ) -> None:
        self.alpha = _check_alpha(alpha)
        self.schedule = _check_schedule(schedule)
        self.bootstrap = check_whole("bootstrap", bootstrap, 1, MOST_RESAMPLES)
        self.seed = check_whole("seed", seed, 0, LARGEST_SEED)
        self._calls = CallCount(self, "prune")

    def decide(self, batch: Sequence[Candidates], utility: Utility, nbest: int = 1) -> list[Decision]:
        """See :class:`~dcmbr_fairseq.rules.decision.DecisionRule`; one round of all sentences is one utility batch."""
        races = [_Race(candidates, _keyed_generator(self.seed, candidates)) for candidates in batch]
        while running := [race for race in races if not race.finished]:
            targets = [self._next_size(race, nbest) for race in running]
            comparisons = [race.comparison(target) for race, target in zip(running, targets, strict=True)]
            matrices = utility_matrices(utility, comparisons)
            for race, target, matrix in zip(running, targets, matrices, strict=True):
                race.add(target, matrix)
                if not race.finished:
                    race.keep(self._winners(race, nbest))
        return self._calls.counted(batch, [race.decision() for race in races])

    def _next_size(self, race: "_Race", nbest: int) -> int:
        """How many references are to be compared after the next round; all at once when there is nobody to drop."""
        later = [size for size in self.schedule if race.seen < size < len(race.order)]
        return later[0] if later and len(race.alive) > nbest else len(race.order)

    def _winners(self, race: "_Race", nbest: int) -> np.ndarray:
        """``(A,)`` which of the A hypotheses alive stay."""
        ranking = rank(race.expected[race.alive], race.candidates.log_prob[race.alive])
        means = race.resampled_means(self.bootstrap)  # (bootstrap, A)
        rival = means[:, ranking[min(nbest, len(ranking)) - 1], None]
        stays = (means >= rival).mean(axis=0) >= 1 - self.alpha
        stays[ranking[:nbest]] = True
        return stays


class _Race:
    """The state of one sentence: which hypotheses are alive, and their utilities with the references seen so far."""

    def __init__(self, candidates: Candidates, generator: np.random.Generator) -> None:
        self.candidates = candidates
        self.generator = generator
        self.order = order_of_appearance(candidates.weights, generator)  # of the references
        self.seen = 0
        self.alive = np.arange(len(candidates.hypotheses))
        self.utilities = np.zeros((len(self.alive), 0))  # (A, seen)
        self.expected = np.zeros(len(self.alive))
        self.rounds = np.zeros(len(self.alive), dtype=np.intp)
        self.calls = 0

    @property
    def finished(self) -> bool:
        """Whether all references have been compared."""
        return self.seen == len(self.order)

    def comparison(self, target: int) -> Comparison:
        """The hypotheses alive and the next references, up to ``target`` in all."""
        return comparison_of(self.candidates, self.alive, self.order[self.seen : target])

    def add(self, target: int, matrix: np.ndarray) -> None:
        """Take in the utilities ``(A, new references)`` and estimate the expected utilities again."""
        self.calls += matrix.size
        self.seen = target
        self.rounds[self.alive] += 1
        self.utilities = np.concatenate([self.utilities, matrix], axis=1)
        weights = self.candidates.weights[self.order[:target]]
        self.expected[self.alive] = expected_utilities(self.utilities, weights / weights.sum())

    def keep(self, stays: np.ndarray) -> None:
        """Drop the hypotheses alive that do not stay."""
        self.alive = self.alive[stays]
        self.utilities = self.utilities[stays]

    def resampled_means(self, count: int) -> np.ndarray:
        """``(count, A)`` weighted mean utilities over references drawn with replacement from those seen."""
        times = self.generator.multinomial(self.seen, np.full(self.seen, 1 / self.seen), size=count)  # (count, seen)
        weights = times * self.candidates.weights[self.order[: self.seen]]
        return weights @ self.utilities.T / weights.sum(axis=1, keepdims=True)

    def decision(self) -> Decision:
        """The ranking once the race is finished."""
        order = survivors_first(self.expected, self.candidates.log_prob, self.rounds)
        return Decision(self.expected, order, self.calls)


def order_of_appearance(weights: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Indices ``(R,)`` in the order in which independent draws with these weights would first bring each of them up.

    Those without weight never come up and are left out. Each waits an exponential time with its weight as rate: the
    first to arrive is i with probability ``weights[i]``, and so on among the rest (Efraimidis & Spirakis, 2006).
    """
    possible = np.flatnonzero(weights > 0)
    return possible[np.argsort(generator.exponential(size=len(possible)) / weights[possible], kind="stable")]


def _keyed_generator(seed: int, candidates: Candidates) -> np.random.Generator:
    """Random numbers that depend on the seed and the sentence's texts, not on what stands beside it in the batch."""
    digest = hashlib.blake2b(digest_size=16)
    for text in (str(seed), *candidates.hypotheses, "", *candidates.references):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest.digest(), "little")))


def _check_alpha(alpha: float) -> float:
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0 < alpha <= 1:
        raise UserError(f"--selection-args: alpha must be above 0 and at most 1, got {shown(alpha)}")
    return alpha


def _check_schedule(schedule: Sequence[int]) -> list[int]:
    sizes = list(schedule) if isinstance(schedule, (list, tuple)) else []
    whole = all(isinstance(size, int) and not isinstance(size, bool) for size in sizes)
    if not sizes or not whole or sizes[0] < 1 or any(b <= a for a, b in zip(sizes, sizes[1:], strict=False)):
        raise UserError(
            f"--selection-args: schedule must be a list of increasing sizes, such as [8, 16], got {shown(schedule)}"
        )
    return sizes
