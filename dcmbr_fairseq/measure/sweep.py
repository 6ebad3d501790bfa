"""Quality over a grid of N, T_h, T_r, utilities and seeds, from one sampling run a model (Figures 1, 5, 6 and 7).

Cells that differ in N alone share their utility matrices: the first k draws of a pool are the pool of size k, so that
its matrix is a corner of the large one.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from dcmbr_fairseq.batches import in_batches
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import Metric, MetricOptions, build_metric, total_score
from dcmbr_fairseq.evaluation.uncertainty import Score, contributions, standard_error
from dcmbr_fairseq.measure.cells import STATISTICS, stored
from dcmbr_fairseq.measure.entropy import mean_token_entropies
from dcmbr_fairseq.measure.experiment import Experiment
from dcmbr_fairseq.measure.grid import COLUMNS, Group, Plan, Sizes
from dcmbr_fairseq.measure.models import Corpus, Model, Workspace
from dcmbr_fairseq.measure.sampling import PoolKey, PoolStore
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.pools.settings import signature_of
from dcmbr_fairseq.present.tidy import Journal, Key, Row, missing
from dcmbr_fairseq.rules.expected_utility import decide_exactly
from dcmbr_fairseq.utilities import Comparison, Utility, build_utility

logger = logging.getLogger(__name__)

#: Group of the rows of beam search.
BEAM = "beam"


class Swept(NamedTuple):
    """A grid that has been filled.

    Attributes:
        keys: of the journal, in the order of the table.
        scores: the metrics by their labels, from sums of statistics to scores.
    """

    keys: list[Key]
    scores: Mapping[str, Score]


def sweep(experiment: Experiment, plan: Plan, folder: Path, journal: Journal) -> Swept:
    """Fill the grid for every model, and file a row for each cell and metric.

    Columns: those of docs/analysis.md (the experiment's, then decoding, num_hyp, num_ref, temp_hyp, temp_ref, utility,
    seed, metric, score), ref_pool, draws, standard_error (over sentences and their draws), utility_signature,
    signature; entropy if asked for; and the sentences' statistics (:mod:`~dcmbr_fairseq.measure.cells`).

    Args:
        experiment: models and sentences.
        plan: the grid.
        folder: where pools are kept.
        journal: gets the rows; groups of cells that it has are not computed again.
    """
    keys: list[Key] = []
    judge = Judge(plan, experiment.corpus)
    try:
        for model in experiment.models:
            keys += sweep_model(experiment, model, plan, judge, folder, journal)
    finally:
        judge.close()
    return Swept(keys, judge.scores)


def sweep_model(
    experiment: Experiment, model: Model, plan: Plan, judge: "Judge", folder: Path, journal: Journal
) -> list[Key]:
    """Fill the grid for one model; see :func:`sweep`."""
    groups = [*([BEAM] if plan.beam else []), *plan.groups()]
    own: dict[Key, Any] = {(model.name, *([BEAM] if group == BEAM else group)): group for group in groups}
    todo = missing(journal, list(own))
    workspace, columns = experiment.workspace, experiment.columns(model)
    if plan.entropy and todo:
        columns["entropy"] = mean_token_entropies(workspace, model, [1.0])[0].nats
    store = PoolStore(folder, workspace, model, plan.size, plan.draws)
    pools = _SampledPools(store, [own[key] for key in todo if own[key] != BEAM])
    for key in tqdm(todo, desc=f"cells of {model.name}", unit=" groups"):
        group = own[key]
        rows = beam_rows(workspace, model, judge) if group == BEAM else group_rows(group, plan, pools, judge)
        journal.add(key, [{**columns, **row} for row in rows])
    return list(own)


class _SampledPools:
    """The pools of one model: sampled where missing, read when first needed, dropped when no group needs them."""

    def __init__(self, store: PoolStore, groups: Sequence[Group]) -> None:
        self._store = store
        self._uses = [key for group in groups for key in group.pools]
        self._read: dict[PoolKey, list[TextPool]] = {}
        store.sample(self._uses)

    def take(self, key: PoolKey) -> list[TextPool]:
        """The pools of all sentences, for one use."""
        pools = self._read.pop(key, None) or self._store.read(key)
        self._uses.remove(key)
        if key in self._uses:
            self._read[key] = pools
        return pools


class Judge:
    """Utilities and metrics, built once, and the texts that they compare with."""

    def __init__(self, plan: Plan, corpus: Corpus) -> None:
        self.sources, self.references = list(corpus.sources.values()), list(corpus.references.values())
        self.utilities: dict[str, Utility] = {u: build_utility(u, plan.utility_args.get(u, {})) for u in plan.utilities}
        self._metrics: list[Metric] = [build_metric(m, MetricOptions(arguments=plan.metric_args)) for m in plan.metrics]
        labels = [metric.label for metric in self._metrics]
        for label in labels:
            if labels.count(label) > 1:  # rows are told apart by it
                raise UserError(f"--metrics {','.join(plan.metrics)} are both called {label}: leave out one of them")

    def rows(self, translations: Sequence[str]) -> Iterator[Row]:
        """The score of a translated test set by each metric."""
        for metric in self._metrics:
            rows = metric.segments(translations, self.references, self.sources)
            yield {
                "metric": metric.label, "score": total_score(metric, rows),
                "standard_error": standard_error(contributions(rows, metric.score)),
                "signature": metric.signature(), STATISTICS: stored(rows),
            }  # fmt: skip

    @property
    def scores(self) -> Mapping[str, Score]:
        """The metrics by their labels, from sums of statistics to scores."""
        return {metric.label: metric.score for metric in self._metrics}

    def close(self) -> None:
        """Release what utilities and metrics hold."""
        for utility in self.utilities.values():
            utility.close()
        for metric in self._metrics:
            metric.close()


def beam_rows(workspace: Workspace, model: Model, judge: Judge) -> Iterator[Row]:
    """The rows of fairseq's own beam search."""
    found = workspace.translations(model)
    for row in judge.rows([found[sentence][0].text for sentence in workspace.ids]):
        yield {**dict.fromkeys(COLUMNS), "decoding": "beam", "utility_signature": None, **row}


def group_rows(group: Group, plan: Plan, pools: _SampledPools, judge: Judge) -> Iterator[Row]:
    """The rows of a group of cells: for all sizes and metrics."""
    utility = judge.utilities[group.utility]
    parts = [pools.take(key) for key in group.pools]
    sentences = [Pools.of(own, source) for *own, source in zip(*parts, judge.sources, strict=True)]
    signature = signature_of(utility.signature(), plan.draws)
    chosen = choose(sentences, utility, plan.sizes_of(group))
    for cell, translations in zip(plan.cells_of(group), chosen, strict=True):
        for row in judge.rows(translations):
            yield {**cell, "utility_signature": signature, **row}


def choose(sentences: Sequence[Pools], utility: Utility, sizes: Sequence[Sizes]) -> list[list[str]]:
    """The translations that the exact rule chooses for each pair of sizes: one list of B texts for each pair.

    Args:
        sentences: the pools of B sentences, each of at least the largest size.
        utility: decides.
        sizes: pairs of pool sizes; a pool of size k is the first k draws.
    """
    largest = Sizes(max(s.num_hyp for s in sizes), max(s.num_ref for s in sizes))
    chosen: list[list[str]] = [[] for _ in sizes]
    for batch in in_batches(pools.first(*largest) for pools in sentences):
        matrices = utility.pairwise_batch(
            [Comparison(pools.hypotheses.texts, pools.references.texts, pools.source) for pools in batch]
        )
        for pools, matrix in zip(batch, matrices, strict=True):
            for size, texts in zip(sizes, chosen, strict=True):
                texts.append(_choice(pools.first(*size), matrix))
    return chosen


def _choice(pools: Pools, matrix: np.ndarray) -> str:
    """The exact rule on the corner of a matrix that belongs to these smaller pools."""
    candidates = pools.candidates()
    corner = matrix[: len(candidates.hypotheses), : len(candidates.references)]
    return candidates.hypotheses[int(decide_exactly(candidates, corner).order[0])]
