"""What reference aggregation would save of exact chrF, and how often it would choose otherwise.

    python scripts/bench/aggregation.py POOLS.jsonl [--sentences 20] [--runs 3]

Reference aggregation (DeNero et al., 2009; Vamvas & Sennrich, 2024) scores each hypothesis against the mean n-gram
counts of the reference pool, in time that grows with the texts and not with their pairs. It is written here on top of
the kernel's own sorted windows: both sides are equally well made. ``POOLS.jsonl`` are records of ``--pools-out``
with shared pools. Prints one JSON object: milliseconds a sentence, of the processor, and how the choices compare.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy is imported

import argparse  # noqa: E402
import itertools  # noqa: E402
import json  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import timing  # noqa: E402

from dcmbr_fairseq.pools.draws import TextPool  # noqa: E402
from dcmbr_fairseq.pools.rows import read_records  # noqa: E402
from dcmbr_fairseq.rules.expected_utility import expected_utilities  # noqa: E402
from dcmbr_fairseq.utilities import overlap  # noqa: E402
from dcmbr_fairseq.utilities.chrf import ChrfUtility, characters  # noqa: E402

ORDERS, BETA = 6, 2


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", type=Path, help="records of --pools-out")
    parser.add_argument("--sentences", type=int, default=20, help="the first so many (default: 20)")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    records = itertools.islice(read_records(args.pools), args.sentences)
    pools = [record.pools.hypotheses for record in records]
    print(json.dumps(benchmark(pools, args.runs), indent=2))


def benchmark(pools: Sequence[TextPool], runs: int = 3) -> dict[str, Any]:
    """Times of both, and how often and by how much the aggregated choice is worse by the exact expected utility."""
    utility = ChrfUtility()
    contestants = {
        "exact": lambda: [utility.pairwise(pool.texts, pool.texts) for pool in pools],
        "aggregated": lambda: [aggregated_chrf(pool.texts, pool.weights()) for pool in pools],
    }
    times = timing.medians(contestants, runs)
    losses: list[float] = []
    for pool in pools:
        exact = expected_utilities(utility.pairwise(pool.texts, pool.texts), pool.weights())
        chosen = exact[aggregated_chrf(pool.texts, pool.weights()).argmax()]
        losses.append((exact.max() - chosen) / max(exact.max() - exact.mean(), 1e-12))
    return {
        "sentences": len(pools),
        "distinct_texts": float(np.mean([len(pool.texts) for pool in pools])),
        "cpu_ms_a_sentence": {name: round(found.cpu / len(pools), 2) for name, found in times.items()},
        "same_choice": float(np.mean(np.array(losses) < 1e-9)),
        "mean_loss": round(float(np.mean(losses)), 4),  # of the distance between the best hypothesis and the mean
    }


def aggregated_chrf(texts: Sequence[str], weights: np.ndarray) -> np.ndarray:
    """``(T,)`` chrF of each text of a shared pool against the weighted mean n-gram counts of all of them."""
    units, lengths = characters(texts, whitespace=False)
    group = overlap._Group([overlap.arrange(texts, texts)])
    padded, starts = overlap._pad(units, lengths, group, ORDERS)
    windows = overlap._sort_windows(padded, starts, lengths, group, ORDERS)
    grams = np.maximum(lengths[:, None] - np.arange(ORDERS), 0)  # (T, N) n-grams of each text
    mean_grams = weights @ grams  # (N,)
    new = overlap._differs(windows.sentence.take(windows.first))
    matches = np.zeros(grams.shape)
    for n in range(ORDERS):
        unit = padded.take(windows.start + n)
        new |= overlap._differs(unit)
        begin = np.flatnonzero(new)
        sizes = overlap._sizes(windows.first.take(begin), len(windows.local))
        gram = np.repeat(np.arange(len(begin)), sizes)  # (O,) the n-gram of each occurrence
        mean_count = np.bincount(gram, weights=weights[windows.local])  # of each n-gram
        whole = np.repeat(unit.take(begin) > 0, sizes)  # the text does not end within the window
        cells, counts = np.unique(gram[whole] * len(texts) + windows.local[whole], return_counts=True)
        clipped = np.minimum(counts, mean_count[cells // len(texts)])
        matches[:, n] = np.bincount(cells % len(texts), weights=clipped, minlength=len(texts))
    both = np.maximum(((grams > 0) & (mean_grams > 0)).sum(axis=1), 1)
    precision = (matches / np.maximum(grams, 1)).sum(axis=1) / both
    recall = (matches / np.where(mean_grams > 0, mean_grams, 1)).sum(axis=1) / both
    denominator = BETA**2 * precision + recall
    return 100 * (1 + BETA**2) * precision * recall / np.where(denominator > 0, denominator, 1)


if __name__ == "__main__":
    main()
