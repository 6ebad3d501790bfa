"""Speed of the pairwise BLEU and chrF against sacrebleu and fastchrf, on one thread; prints one JSON object.

    python scripts/bench/kernels.py [--text FILE] [--pools FILE.jsonl] [--runs 5]

``50x50`` compares 50 sentences with 50 others, 28 to 34 words each: ``--text`` names a file of sentences (plain or
.gz, such as WMT's newstest2019), without it they are made up. ``batch`` compares the distinct hypotheses of each of 16
sentences with themselves, as decoding with a shared pool does: ``--pools`` names records of ``--pools-out``, without
it pools are made up. sacrebleu scores with one metric object; fastchrf is left out where it is not installed
(``pip install fastchrf``). Runs alternate and the medians are shown, with the largest difference from sacrebleu. Each
implementation keeps its objects between runs, and with them the tokens of the texts (sacrebleu's tokenizers remember
lines as well); ``ours_new`` is ours with new objects in each run. On a machine with other work look at the processor's
time (``cpu``).
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy is imported

import argparse  # noqa: E402
import contextlib  # noqa: E402
import json  # noqa: E402
import random  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from sacrebleu.metrics import BLEU, CHRF  # noqa: E402
from timing import medians, ratio  # noqa: E402

from dcmbr_fairseq.files.reading import iter_lines  # noqa: E402
from dcmbr_fairseq.pools.rows import read_records  # noqa: E402
from dcmbr_fairseq.utilities import Comparison, build_utility  # noqa: E402

WORDS = range(28, 35)  # words of a sentence in the 50x50 comparison
SENTENCES = 16  # sentences of a batch
Batch = Sequence[Comparison]
Matrices = list[np.ndarray]
Scorer = Callable[[Batch], Matrices]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, help="sentences, one a line")
    parser.add_argument("--pools", type=Path, help="records of --pools-out")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    print(json.dumps(kernel_benchmarks(args.text, args.pools, args.runs), indent=2))


def kernel_benchmarks(text: Path | None = None, pools: Path | None = None, runs: int = 5) -> dict[str, Any]:
    """Median milliseconds, on the clock and of the processor, and ratios of each comparison.

    Args:
        text: sentences for ``50x50``, made up if None.
        pools: records for ``batch``, made up if None.
        runs: timed runs of each implementation, after one that is not timed.
    """
    sentences = long_sentences(text, 100)
    batch = [Comparison(pool, pool) for pool in distinct_pools(pools, SENTENCES)]
    report: dict[str, Any] = {"runs": runs, "distinct_texts_of_batch": [len(comparison[0]) for comparison in batch]}
    for name in ("chrf", "bleu"):
        square = [Comparison(sentences[:50], sentences[50:])]
        report[f"{name} 50x50"] = compared(implementations(name), square, runs)
        report[f"{name} batch"] = compared(implementations(name), batch, runs)
    return report


def implementations(name: str) -> dict[str, Scorer]:
    """What to compare: a function of a batch for each implementation."""
    utility = build_utility(name, {})
    found: dict[str, Scorer] = {
        "ours": utility.pairwise_batch,
        "ours_new": lambda batch: build_utility(name, {}).pairwise_batch(batch),
        "sacrebleu": sacrebleu_scorer(CHRF() if name == "chrf" else BLEU(effective_order=True)),
    }
    if name == "chrf":
        with contextlib.suppress(ImportError):
            from fastchrf import pairwise_chrf

            found["fastchrf"] = lambda batch: [
                np.array(pairwise_chrf([list(c.hypotheses)], [list(c.references)])[0]) for c in batch
            ]
    return found


def sacrebleu_scorer(metric: Any) -> Scorer:
    """Sentence scores of all pairs with one metric object."""

    def score(batch: Batch) -> Matrices:
        return [
            np.array([[metric.sentence_score(h, [r]).score for r in c.references] for h in c.hypotheses]) for c in batch
        ]

    return score


def compared(scorers: dict[str, Scorer], batch: Batch, runs: int) -> dict[str, Any]:
    """Medians of alternating runs, and how many times faster ours is than each of the others."""
    scores = {name: score(batch) for name, score in scorers.items()}
    found = medians({name: lambda score=score: score(batch) for name, score in scorers.items()}, runs)
    report: dict[str, Any] = {name: times.rounded(3) for name, times in found.items()}
    for ours in ("ours", "ours_new"):
        for other in found.keys() - {"ours", "ours_new"}:
            report[f"{ours}_times_faster_than_{other}"] = ratio(found[other], found[ours]).rounded(1)
    pairs = zip(scores["ours"], scores["sacrebleu"], strict=True)
    report["largest_difference_from_sacrebleu"] = float(max(abs(ours - truth).max() for ours, truth in pairs))
    return report


def long_sentences(text: Path | None, count: int) -> list[str]:
    """``count`` distinct sentences of 28 to 34 words from a file, or made up."""
    if text is None:
        return [made_up_sentence(random.Random(seed), WORDS) for seed in range(count)]
    found = list(dict.fromkeys(line for line in iter_lines(text) if len(line.split()) in WORDS))
    if len(found) < count:
        raise SystemExit(f"--text {text} has {len(found)} sentences of 28 to 34 words, not {count}: give a longer file")
    return found[:count]


def distinct_pools(pools: Path | None, count: int) -> list[list[str]]:
    """Distinct hypotheses of ``count`` sentences from records, or made up: 50 draws that differ in a few words."""
    if pools is not None:
        return [record.pools.hypotheses.texts for _, record in zip(range(count), read_records(pools), strict=False)]
    found = []
    for seed in range(count):
        generator = random.Random(seed)
        base = made_up_sentence(generator, range(8, 17)).split()
        chance = generator.choice([0.02, 0.05, 0.1])  # sharp and flat distributions
        changed = ((w if generator.random() > chance else made_up_word(generator) for w in base) for _ in range(50))
        found.append(list(dict.fromkeys(map(" ".join, changed))))
    return found


def made_up_sentence(generator: random.Random, lengths: range) -> str:
    """Words by a Zipf law, so that sentences share the common ones."""
    return " ".join(made_up_word(generator) for _ in range(generator.choice(lengths))) + "."


def made_up_word(generator: random.Random) -> str:
    """One of about 50,000 words; common ones are short."""
    rank = int(generator.paretovariate(0.7))
    word = random.Random(rank)
    return "".join(word.choice("eeetaoinsrhldcumfpgwyb") for _ in range(2 + min(9, rank.bit_length() // 2)))


if __name__ == "__main__":
    main()
