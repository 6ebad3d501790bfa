"""Paired significance tests: bootstrap (Koehn 2004, Riezler & Maxwell 2005) and approximate randomisation.

Pure arrays: systems come as sufficient statistics ``(B, K)`` (:mod:`dcmbr_fairseq.evaluation.statistics`) and a
function from sums to scores. Each resample is a row of weights, so that all sums are one matrix product:
``(S, B) @ (B, K) -> (S, K)``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.numeric import LARGEST_SEED, whole_number

#: More samples tell no more (10000 tell 0.0001 from 0.0002), and would not end.
MOST_SAMPLES = 1_000_000
Score = Callable[[np.ndarray], np.ndarray]
#: Differences this close to the observed one count as equal to it: sums in another order round otherwise.
TOLERANCE = 1e-9
#: Weights held at once: 2**24 float64 are 128 MiB.
_BLOCK = 2**24


@dataclass(frozen=True)
class Interval:
    """A 95% interval by percentiles of the resamples.

    Attributes:
        low: value at rank S/40.
        high: value at rank S - S/40 - 1.
    """

    low: float
    high: float

    @classmethod
    def of(cls, scores: np.ndarray) -> "Interval":
        """The interval of ``(S,)`` resampled values."""
        ordered, cut = np.sort(scores), len(scores) // 40
        return cls(float(ordered[cut]), float(ordered[len(scores) - cut - 1]))


@dataclass(frozen=True)
class PairedResult:
    """Two systems compared on one test set.

    Attributes:
        baseline: the score of the first system.
        system: the score of the second.
        extreme: in how many of the samples the difference was at least as extreme as the observed one.
        samples: S, the number of samples.
        baseline_interval: of the first score (bootstrap only).
        system_interval: of the second score (bootstrap only).
        difference_interval: of second minus first (bootstrap only).
    """

    baseline: float
    system: float
    extreme: int
    samples: int
    baseline_interval: "Interval | None" = None
    system_interval: "Interval | None" = None
    difference_interval: "Interval | None" = None

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.system - self.baseline

    @property
    def p_value(self) -> float:
        """The fraction of extreme samples, as Moses' script gives it; 0 means less than 1 / S."""
        return self.extreme / self.samples

    @property
    def corrected_p_value(self) -> float:
        """(extreme + 1) / (S + 1), sacreBLEU's convention: never 0, and valid for however few samples.

        Of :func:`approximate_randomisation` it rejects a true null hypothesis at most as often as it says. Of
        :func:`paired_bootstrap` it does not: see there.
        """
        return (self.extreme + 1) / (self.samples + 1)


@dataclass(frozen=True)
class Resamples:
    """Bootstrap resamples of segments, for intervals of single systems (Koehn 2004).

    Attributes:
        samples: S.
        seed: numpy's default generator; the same draws as :func:`paired_bootstrap`.

    Raises:
        UserError: ``samples`` or ``seed`` is out of range.
    """

    samples: int = 1000
    seed: int = 12345

    def __post_init__(self) -> None:
        check_samples(self.samples, self.seed)

    def interval(self, rows: np.ndarray, score: Score) -> Interval:
        """The 95% interval of a corpus score, given the statistics ``(B, K)`` of the segments."""
        sums = np.concatenate([weights @ rows for weights in bootstrap_weights(len(rows), self.samples, self.seed)])
        return Interval.of(score(sums))


def paired_bootstrap(
    baseline: np.ndarray, system: np.ndarray, score: Score, samples: int = 1000, seed: int = 12345
) -> PairedResult:
    """Paired bootstrap: resample segments with replacement, the same ones for both systems.

    p = P(|d*| - mean |d*| >= |d|), as in Moses' script and sacreBLEU's paired-bs (Riezler & Maxwell 2005). Where the
    difference d is large against its spread, |d*| - mean |d*| is d* - d, of which one tail alone is counted: the p is
    one-sided in effect, about half of a two-sided one. Of 400 comparisons of systems that do not differ it rejects
    about 10% at 0.05, :func:`approximate_randomisation` about 5%: believe the latter where they disagree.

    Args:
        baseline: ``(B, K)`` sufficient statistics of the first system.
        system: ``(B, K)`` those of the second.
        score: ``(S, K) -> (S,)``.
        samples: S.
        seed: numpy's default generator; the same draws as sacreBLEU's with its SACREBLEU_SEED.

    Raises:
        UserError: the systems have different numbers of segments or none, or ``samples`` < 1.
    """
    _check(baseline, system, samples, seed)
    both = np.concatenate([baseline, system], axis=1)  # (B, 2 K): one product serves both systems
    sums = np.concatenate([weights @ both for weights in bootstrap_weights(len(both), samples, seed)])
    width = baseline.shape[1]
    first, second = score(sums[:, :width]), score(sums[:, width:])
    observed = _observed(baseline, system, score)
    spread = np.abs(second - first)
    extreme = spread - spread.mean() >= abs(observed[1] - observed[0]) - TOLERANCE
    intervals = Interval.of(first), Interval.of(second), Interval.of(second - first)
    return PairedResult(*observed, int(extreme.sum()), samples, *intervals)


def bootstrap_weights(segments: int, samples: int, seed: int) -> Iterator[np.ndarray]:
    """How often each segment was drawn, in blocks ``(s, B)`` whose rows add up to B."""
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // segments)
    for start in range(0, samples, rows):
        size = min(rows, samples - start)
        drawn = generator.choice(segments, size=(size, segments), replace=True)
        offsets = segments * np.arange(size)[:, None]  # one bincount counts all rows
        counts = np.bincount((drawn + offsets).ravel(), minlength=size * segments)
        yield counts.reshape(size, segments).astype(np.float64)


def approximate_randomisation(
    baseline: np.ndarray, system: np.ndarray, score: Score, samples: int = 10000, seed: int = 12345
) -> PairedResult:
    """Paired approximate randomisation (Noreen 1989): swap the two outputs of each segment with probability 1/2.

    p = P(|d*| >= |d|) over the swaps, which are exchangeable under the null hypothesis: a two-sided test that is valid
    for whatever score. Arguments and errors are those of :func:`paired_bootstrap`.
    """
    _check(baseline, system, samples, seed)
    total = (baseline + system).sum(axis=0)
    sums = np.concatenate([swapped_sums(keep, baseline, system) for keep in swaps(len(baseline), samples, seed)])
    observed = _observed(baseline, system, score)
    spread = np.abs(score(sums) - score(total - sums))
    extreme = spread >= abs(observed[1] - observed[0]) - TOLERANCE
    return PairedResult(*observed, int(extreme.sum()), samples)


def swaps(segments: int, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Which segments keep their places, in blocks ``(s, B)`` of booleans."""
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // segments)
    for start in range(0, samples, rows):
        yield generator.integers(2, size=(min(rows, samples - start), segments), dtype=bool)


def swapped_sums(keep: np.ndarray, baseline: np.ndarray, system: np.ndarray) -> np.ndarray:
    """The sums of the first pseudo-system, ``(s, K)``; the second has what remains of the total."""
    return system.sum(axis=0) + keep.astype(np.float64) @ (baseline - system)


def _observed(baseline: np.ndarray, system: np.ndarray, score: Score) -> tuple[float, float]:
    scores = score(np.stack([baseline.sum(axis=0), system.sum(axis=0)]))
    return float(scores[0]), float(scores[1])


def _check(baseline: np.ndarray, system: np.ndarray, samples: int, seed: int) -> None:
    if baseline.shape != system.shape or len(baseline) == 0:
        raise UserError(
            f"the systems have {len(baseline)} and {len(system)} segments: give outputs of one test set, not empty"
        )
    check_samples(samples, seed)


def check_samples(samples: int, seed: int) -> None:
    """Refuse numbers that no test can be made with.

    Raises:
        UserError: names the flag.
    """
    whole_number("--samples", samples, 1, MOST_SAMPLES)
    whole_number("--seed", seed, 0, LARGEST_SEED)
