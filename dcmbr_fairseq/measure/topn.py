"""The most probable translations of a model and how good they are (Sec. 4.2, Figure 3); sentence by sentence."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from dcmbr_fairseq.evaluation.segments import Judged, SegmentMetric
from dcmbr_fairseq.measure.experiment import Experiment
from dcmbr_fairseq.measure.models import Corpus, Model, Workspace
from dcmbr_fairseq.measure.preparation import Prepared
from dcmbr_fairseq.present.tidy import Journal, Key, Row
from dcmbr_fairseq.search.exact_search import ExactSearch, Target, TopN

logger = logging.getLogger(__name__)


class Budget(NamedTuple):
    """N, and when to give a sentence up; see :class:`~dcmbr_fairseq.search.exact_search.ExactSearch`."""

    size: int
    max_expansions: int
    max_seconds: float


class SentenceTopN(NamedTuple):
    """The most probable translations of one sentence: its number, source tokens, texts best first, and the search."""

    sentence: int
    source_tokens: int
    texts: list[str]
    found: TopN


def search_sentences(workspace: Workspace, model: Model, budget: Budget, only: Sequence[int]) -> Iterator[SentenceTopN]:
    """Yield the top N of the sentences ``only``, as they are found.

    Raises:
        UserError: the budget makes no sense, or ``--unkpen`` is set.
    """
    ExactSearch(workspace.support(model), *budget)  # refuses bad values before anything is encoded
    for prepared in workspace.prepared(model, only):
        for index, sentence in enumerate(prepared.ids):
            found = search_one(prepared, index, budget)
            texts = [prepared.texts.target(sequence.tokens) for sequence in found.sequences]
            yield SentenceTopN(sentence, len(prepared.batch.sources[index]), texts, found)


def search_one(prepared: Prepared, index: int, budget: Budget) -> TopN:
    """The top N of one sentence of a batch."""
    batch = prepared.batch
    prefix = () if batch.prefixes is None else [token for token in batch.prefixes[index].tolist() if token >= 0]
    target = Target(batch.bos, int(batch.max_lens[index]), prefix, prepared.languages.forced)
    return ExactSearch(prepared.sampler.support, *budget).search(lambda: prepared.decoder(index), target)


def measure_topn(
    experiment: Experiment, budget: Budget, qualities: Sequence[SegmentMetric], journal: Journal
) -> list[Key]:
    """Search every sentence with every model, and file a row for each sequence and quality.

    Columns: those of the experiment, then sentence, source_tokens, rank (from 1), text, log_prob (natural,
    temperature 1), exact (``yes``, or the reason why not), expansions, seconds, metric, score, signature.

    Returns:
        the journal's keys in the order of the table.
    """
    workspace, corpus = experiment.workspace, experiment.corpus
    for model in experiment.models:
        todo = [sentence for sentence in workspace.ids if (model.name, sentence) not in journal]
        bar = tqdm(total=len(workspace.ids), initial=len(workspace.ids) - len(todo), unit=" sentences")
        bar.set_description(f"top {budget.size} of {model.name}")
        with bar:
            for found in search_sentences(workspace, model, budget, todo) if todo else ():
                rows = sentence_rows(found, corpus, qualities)
                columns = experiment.columns(model)
                journal.add((model.name, found.sentence), [{**columns, **row} for row in rows])
                bar.update()
    return [(model.name, sentence) for model in experiment.models for sentence in workspace.ids]


def sentence_rows(found: SentenceTopN, corpus: Corpus, qualities: Sequence[SegmentMetric]) -> Iterator[Row]:
    """The rows of one sentence: one for each sequence and quality."""
    judged = Judged(found.texts, corpus.references[found.sentence], corpus.sources[found.sentence])
    for quality in qualities:
        (scores,) = quality.scores([judged])
        for rank, (text, sequence, score) in enumerate(zip(found.texts, found.found.sequences, scores, strict=True), 1):
            yield {
                "sentence": found.sentence,
                "source_tokens": found.source_tokens,
                "rank": rank,
                "text": text,
                "log_prob": sequence.log_prob,
                "exact": found.found.stopped_by or "yes",
                "expansions": found.found.expansions,
                "seconds": found.found.seconds,
                "metric": quality.label,
                "score": float(score),
                "signature": quality.signature(),
            }


def mark_comparable(rows: Sequence[Row]) -> list[Row]:
    """The rows with a column ``all_exact``: ``yes`` for sentences whose top N was found exactly with every model.

    Long sentences are given up more often, and more often with some models: means over different sentences mislead.
    """
    given_up = {row["sentence"] for row in rows if row["exact"] != "yes"}
    return [{**row, "all_exact": "no" if row["sentence"] in given_up else "yes"} for row in rows]


def summary(rows: Sequence[Row]) -> list[Row]:
    """One row for each model: how many searches were exact, their cost, and how good the sequences are.

    Args:
        rows: marked by :func:`mark_comparable`; quality is the mean over the sentences that are exact with every model,
            None if there are none.
    """
    found = []
    for (model,), group in _grouped(rows, ("model",)).items():
        empty = {row["sentence"] for row in group if row["rank"] == 1 and not row["text"]}
        exact = [row for row in group if row["all_exact"] == "yes"]
        quality = {
            f"{metric} (all exact)": float(np.mean([r["score"] for r in exact if r["metric"] == metric]))
            if exact else None
            for metric in dict.fromkeys(row["metric"] for row in group)
        }  # fmt: skip
        found.append({**_test_set(group), "model": model, **_cost(group), "empty first": len(empty), **quality})
    return found


def cost_by_length(rows: Sequence[Row], width: int = 10) -> list[Row]:
    """The cost of the searches for sources of 1 to ``width`` tokens, of ``width`` + 1 to 2 ``width``, and so on."""
    rows = sorted(({**row, "length": (row["source_tokens"] - 1) // width} for row in rows), key=lambda r: r["length"])
    return [
        {
            **_test_set(group),
            "model": model,
            "source tokens": f"{length * width + 1}-{(length + 1) * width}",
            **_cost(group),
        }
        for (model, length), group in sorted(_grouped(rows, ("model", "length")).items(), key=lambda item: item[0][0])
    ]


def _test_set(rows: Sequence[Row]) -> Row:
    return {column: rows[0][column] for column in ("task", "subset") if column in rows[0]}


def _grouped(rows: Iterable[Row], columns: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    return groups


def _cost(rows: Sequence[Row]) -> Row:
    """Over the sentences of ``rows``: how many were exact, expansions and seconds a sentence."""
    searches = {row["sentence"]: row for row in rows if row["rank"] == 1}.values()
    expansions, seconds = (np.array([row[name] for row in searches]) for name in ("expansions", "seconds"))
    return {
        "sentences": len(searches),
        "exact": sum(row["exact"] == "yes" for row in searches),
        "expansions (median)": float(np.median(expansions)),
        "(mean)": float(expansions.mean()),
        "seconds (median)": float(np.median(seconds)),
        "(mean) ": float(seconds.mean()),
    }
