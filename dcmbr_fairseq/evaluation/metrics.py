"""Corpus metrics of final translations: sacreBLEU, chrF and TER, and the means of segment-level utilities.

A utility decides between hypotheses; a metric judges what was decided. Whatever is implemented as a utility can also
be a metric here, as the mean of u(translation, reference) over the segments, but never judge by the metric that
decided alone.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.segments import SegmentMetric
from dcmbr_fairseq.evaluation.uncertainty import contributions
from dcmbr_fairseq.utilities import UTILITIES

logger = logging.getLogger(__name__)

CORPUS_METRICS = ("bleu", "chrf", "chrf++", "ter")
#: Metrics where less is better.
ERROR_RATES = ("TER", "seconds")


@dataclass(frozen=True)
class MetricOptions:
    """What the metrics depend on besides the texts.

    Attributes:
        lowercase: compare without case (BLEU and chrF; TER does so by sacreBLEU's default).
        tokenize: sacreBLEU's tokeniser; None takes its default, 13a.
        arguments: metric name -> keyword arguments of sacreBLEU's class, or of the utility (METEOR's language, ...).
    """

    lowercase: bool = False
    tokenize: str | None = None
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Metric(Protocol):
    """A quality of a whole translated test set."""

    label: str

    def score(self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None) -> float:
        """The score of one system; three lists of the same length, one text a segment."""

    def contributions(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None
    ) -> tuple[float, np.ndarray]:
        """The score, and ``(B,)`` what each segment contributes; see :mod:`~dcmbr_fairseq.evaluation.uncertainty`."""

    def signature(self) -> str:
        """All that the score depends on; sacreBLEU's is complete only after a score was computed."""


class SacreMetric:
    """BLEU, chrF, chrF++ or TER as sacreBLEU computes them, with its signature.

    Raises:
        UserError: sacreBLEU does not know an argument.
    """

    def __init__(self, name: str, options: MetricOptions) -> None:
        from sacrebleu.metrics import BLEU, CHRF, TER

        self.label = UTILITIES.find(name).label
        classes: dict[str, tuple[Any, dict[str, Any]]] = {
            "bleu": (BLEU, {"lowercase": options.lowercase, "tokenize": options.tokenize}),
            "chrf": (CHRF, {"lowercase": options.lowercase}),
            "chrf++": (CHRF, {"lowercase": options.lowercase, "word_order": 2}),
            "ter": (TER, {}),
        }
        kind, arguments = classes[name]
        try:
            self.implementation: Any = kind(**{**arguments, **options.arguments.get(name, {})})
        except TypeError as error:
            raise UserError(
                f"--metric-args: sacreBLEU's {self.label} does not take {dict(options.arguments[name])} ({error}): "
                "give the arguments of its class"
            ) from error

    def score(self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None) -> float:
        """See :class:`Metric`."""
        return float(self.implementation.corpus_score(list(hypotheses), [list(references)]).score)

    def contributions(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None
    ) -> tuple[float, np.ndarray]:
        """See :class:`Metric`; by the statistics of sacreBLEU's own significance tests."""
        rows = np.array(self.implementation._extract_corpus_statistics(list(hypotheses), [list(references)]), float)

        def score(sums: np.ndarray) -> np.ndarray:
            return np.array([self.implementation._compute_score_from_stats(row.tolist()).score for row in sums])

        return float(score(rows.sum(axis=0)[None])[0]), contributions(rows, score)

    def signature(self) -> str:
        """sacreBLEU's own signature."""
        return f"{self.label}|{self.implementation.get_signature()}"


class MeanMetric:
    """The mean over segments of a utility; on the scale 0..100 where papers print it so.

    Attributes:
        by_segment: the scores of single segments.

    Raises:
        UserError: the utility is unknown, or something that it needs is missing.
    """

    def __init__(self, name: str, options: MetricOptions) -> None:
        try:
            self.by_segment = SegmentMetric(name, options.arguments.get(name, {}))
        except UserError as error:  # its remedy speaks of decoding's flags
            raise UserError(f"--metrics {name}: {error} (here: --metric-args '{{\"{name}\": {{...}}}}')") from error
        self.label = self.by_segment.label
        self.close = self.by_segment.close

    def score(self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None) -> float:
        """See :class:`Metric`."""
        return float(self.by_segment.segments(hypotheses, references, sources).mean())

    def contributions(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None
    ) -> tuple[float, np.ndarray]:
        """See :class:`Metric`: the segments' own scores."""
        values = self.by_segment.segments(hypotheses, references, sources)
        return float(values.mean()), values

    def signature(self) -> str:
        """The utility's signature, that segments were averaged, and the scale."""
        return self.by_segment.signature(averaged=True)


def build_metric(name: str, options: MetricOptions) -> Metric:
    """The metric called ``name``: one of :data:`CORPUS_METRICS`, a utility's name, or ``module:Class``.

    Raises:
        UserError: it is unknown, or something it needs (Java, a checkpoint) is missing.
    """
    if name in CORPUS_METRICS:
        return SacreMetric(name, options)
    if name not in UTILITIES and ":" not in name:
        known = ", ".join(dict.fromkeys([*CORPUS_METRICS, *sorted(UTILITIES)]))
        raise UserError(f"--metrics {name} is unknown: choose from {known}, or give your own utility as module:Class")
    return MeanMetric(name, options)


@dataclass(frozen=True)
class Evaluation:
    """The scores of several systems on one test set.

    Attributes:
        systems: their names.
        scores: metric label -> a score for each system.
        signatures: metric label -> signature.
        segments: how many segments the test set has.
    """

    systems: list[str]
    scores: dict[str, list[float]]
    signatures: dict[str, str]
    segments: int


def evaluate(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    sources: Sequence[str] | None = None,
    metrics: Sequence[str] = ("bleu", "chrf", "ter"),
    options: MetricOptions | None = None,
) -> Evaluation:
    """Score each system's translations against the references by each metric.

    Raises:
        UserError: a metric is unknown or cannot be had, or a list differs in length.
    """
    for name, texts in [*systems.items(), *([("--source", sources)] if sources is not None else [])]:
        if len(texts) != len(references):
            raise UserError(f"{name} has {len(texts)} segments but --references has {len(references)}: align the files")
    # All are built before any is computed: what is missing is found at once.
    built = [build_metric(name, options or MetricOptions()) for name in metrics]
    scores: dict[str, list[float]] = {}
    signatures: dict[str, str] = {}
    for metric in built:
        logger.info("%s of %d systems, %d segments", metric.label, len(systems), len(references))
        scores[metric.label] = [metric.score(texts, references, sources) for texts in systems.values()]
        signatures[metric.label] = metric.signature()
        if isinstance(metric, MeanMetric):
            metric.close()
    return Evaluation(list(systems), scores, signatures, len(references))
