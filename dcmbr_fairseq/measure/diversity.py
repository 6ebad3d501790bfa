"""Diversity and quality of sampled pools against temperature (Sec. 5.4, Figure 7, right).

Div is the paper's: the mean chrF of every candidate against every candidate, itself included, so that a *smaller* Div
means a more diverse pool. Repeated candidates count as often as they were drawn. Between N independent
draws its expectation is 1/N E u(h, h) + (1 - 1/N) E u(h, h'), a property of the model. Arithmetic draws are kept apart:
theirs is smaller, and says how spread the pool is.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from dcmbr_fairseq.batches import in_batches
from dcmbr_fairseq.decoding.options import HYPOTHESES
from dcmbr_fairseq.evaluation.segments import Judged, SegmentMetric
from dcmbr_fairseq.measure.experiment import Experiment
from dcmbr_fairseq.measure.models import Corpus
from dcmbr_fairseq.measure.sampling import PoolKey, PoolStore
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.present.tidy import Row
from dcmbr_fairseq.utilities import Comparison, Utility, build_utility


class Axes(NamedTuple):
    """Which pools are measured: each temperature with each seed, and of each pool the first draws in these sizes; how
    they are drawn."""

    temperatures: Sequence[float]
    seeds: Sequence[int]
    sizes: Sequence[int]
    draws: str = "independent"


class PoolMeasure(NamedTuple):
    """Measures of the pools of one temperature and size, averaged over sentences.

    Attributes:
        diversity: Div.
        distinct: distinct texts of a pool.
        quality: for each measure the mean score of a draw against the reference.
    """

    diversity: float
    distinct: float
    quality: list[float]


def diversity(utilities: np.ndarray, weights: np.ndarray) -> float:
    """Div of one pool: 1 / N^2 sum_a sum_b u(a, b).

    Args:
        utilities: ``(H, H)`` of the pool's distinct texts against each other.
        weights: ``(H,)`` multiplicity / N.
    """
    return float(weights @ utilities @ weights)  # (H,) @ (H, H) @ (H,)


def measure_pools(
    pools: Sequence[TextPool], corpus: Corpus, qualities: Sequence[SegmentMetric], sizes: Sequence[int], chrf: Utility
) -> list[PoolMeasure]:
    """Measure the pools of all sentences, for each size: the pool of size k is the first k draws.

    Args:
        pools: one for each sentence, in the order of the corpus.
        corpus: sources and references.
        qualities: what scores draws against references.
        sizes: pool sizes, none larger than the pools.
        chrf: the utility of Div.
    """
    sums = np.zeros((len(sizes), 2 + len(qualities)))
    sentences = list(zip(pools, corpus.references.values(), corpus.sources.values(), strict=True))
    for batch in in_batches(sentences):
        matrices = chrf.pairwise_batch([Comparison(pool.texts, pool.texts) for pool, _, _ in batch])
        judged = [Judged(pool.texts, reference, source) for pool, reference, source in batch]
        scores = [quality.scores(judged) for quality in qualities]
        for index, (pool, _, _) in enumerate(batch):
            for row, size in enumerate(sizes):
                part = pool.first(size)
                count, weights = len(part.texts), part.weights()
                means = [float(weights @ score[index][:count]) for score in scores]
                sums[row] += [diversity(matrices[index][:count, :count], weights), count, *means]
    return [PoolMeasure(float(row[0]), float(row[1]), row[2:].tolist()) for row in sums / len(sentences)]


def diversity_rows(
    experiment: Experiment, axes: Axes, qualities: Sequence[SegmentMetric], folder: Path
) -> Iterator[Row]:
    """Yield a row for each model, temperature, seed, size and measure of quality; pools that are missing are sampled.

    Columns: those of the experiment, then temperature, num_hyp, draws, seed, metric, quality, diversity, distinct,
    signature, diversity_signature.

    Args:
        experiment: models and sentences.
        axes: which pools.
        qualities: what scores draws against references.
        folder: where pools are kept.
    """
    chrf = build_utility("chrf", {})
    for model in experiment.models:
        store = PoolStore(folder, experiment.workspace, model, max(axes.sizes), axes.draws)
        grid = [PoolKey(seed, HYPOTHESES, temperature) for temperature in axes.temperatures for seed in axes.seeds]
        store.sample(grid)
        for key in tqdm(grid, desc=f"pools of {model.name}", unit=" pools"):
            measures = measure_pools(store.read(key), experiment.corpus, qualities, axes.sizes, chrf)
            for size, found in zip(axes.sizes, measures, strict=True):
                for quality, score in zip(qualities, found.quality, strict=True):
                    yield {
                        **experiment.columns(model), "temperature": key.temperature, "num_hyp": size,
                        "draws": axes.draws, "seed": key.seed, "metric": quality.label, "quality": score,
                        "diversity": found.diversity, "distinct": found.distinct, "signature": quality.signature(),
                        "diversity_signature": chrf.signature(),
                    }  # fmt: skip
