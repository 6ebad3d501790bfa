"""Corpus metrics of final translations: sacreBLEU, chrF and TER, and the means of segment-level utilities.

A utility decides between hypotheses; a metric judges what was decided. Whatever is implemented as a utility can also
be a metric here, as the mean of u(translation, reference) over the segments, but never judge by the metric that
decided alone.
"""

import abc
import contextlib
import inspect
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError, nearest
from dcmbr_fairseq.evaluation.corpus_scores import corpus_bleu, corpus_chrf
from dcmbr_fairseq.evaluation.segments import SegmentMetric, refuse_unused
from dcmbr_fairseq.evaluation.significance import Interval, Resamples
from dcmbr_fairseq.utilities import UTILITIES, build_utility
from dcmbr_fairseq.utilities.arguments import ARGUMENTS

logger = logging.getLogger(__name__)

Texts = Sequence[str]
CORPUS_METRICS = ("bleu", "chrf", "chrf++", "ter")
#: Classes of sacreBLEU whose scores of many sums are computed together.
_AT_ONCE = {"BLEU": corpus_bleu, "CHRF": corpus_chrf}
#: Metrics where less is better.
ERROR_RATES = ("TER", "seconds")


@dataclass(frozen=True)
class MetricOptions:
    """What the metrics depend on besides the texts.

    Attributes:
        lowercase: compare without case, whatever the metric.
        tokenize: sacreBLEU's tokeniser for BLEU; None takes its default, 13a.
        arguments: metric name -> keyword arguments of sacreBLEU's class, or of the utility (METEOR's language, ...).
    """

    lowercase: bool = False
    tokenize: str | None = None
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Metric(abc.ABC):
    """A quality of a whole translated test set, as a function of sums over segments.

    A row of K numbers stands for a segment, ``(B, K)``; the score of any selection of segments follows from the sum of
    their rows, ``(..., K) -> (...)``, so that resampling costs a matrix product.
    """

    label: str

    @abc.abstractmethod
    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None) -> np.ndarray:
        """The rows of all segments, ``(B, K)`` float64; three lists of the same length, one text a segment.

        Raises:
            UserError: the metric needs the sources and there are none.
        """

    @abc.abstractmethod
    def score(self, sums: np.ndarray) -> np.ndarray:
        """The scores of summed rows, ``(S, K) -> (S,)``."""

    @abc.abstractmethod
    def signature(self) -> str:
        """All that the score depends on."""

    def corpus_score(self, hypotheses: Texts, references: Texts, sources: Texts | None) -> float:
        """The score of one system."""
        return total_score(self, self.segments(hypotheses, references, sources))

    def close(self) -> None:
        """Release what the metric holds."""


def total_score(metric: Metric, rows: np.ndarray) -> float:
    """The score of all segments, given their rows ``(B, K)``."""
    return float(metric.score(rows.sum(axis=0)[None])[0])


class SacreMetric(Metric):
    """BLEU, chrF, chrF++ or TER as sacreBLEU computes them, with its signature.

    Arguments are those of the utility of the same name, which are sacreBLEU's, and are checked as there.

    Raises:
        UserError: an argument is unknown or out of range, or the tokeniser lacks what it needs.
    """

    def __init__(self, name: str, options: MetricOptions) -> None:
        defaults: dict[str, dict[str, Any]] = {
            "bleu": {"effective_order": False, "lowercase": options.lowercase, "tokenize": options.tokenize or "13a"},
            "ter": {},
        }
        given = options.arguments.get(name, {})
        arguments = {**defaults.get(name, {"lowercase": options.lowercase}), **given}
        self.label = UTILITIES.find(name).label
        with _metric_errors(name, None if "tokenize" in given else options.tokenize):
            utility: Any = build_utility(name, arguments)
        self.implementation: Any = utility.sacrebleu_metric()
        self.implementation.num_refs = 1

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None = None) -> np.ndarray:
        """sacreBLEU's rows of counts, those that its own significance tests use."""
        rows = self.implementation._extract_corpus_statistics(list(hypotheses), [list(references)])
        return np.array(rows, dtype=np.float64)

    def score(self, sums: np.ndarray) -> np.ndarray:
        """sacreBLEU's score of each row."""
        kind = type(self.implementation).__name__
        if kind in _AT_ONCE and len(sums) > 1:
            return _AT_ONCE[kind](sums, self.implementation)
        compute = self.implementation._compute_score_from_stats
        return np.array([compute(row).score for row in sums.tolist()])  # lists: add-k changes what it is given

    def signature(self) -> str:
        """sacreBLEU's own signature."""
        return f"{self.label}|{self.implementation.get_signature()}"


class MeanMetric(Metric):
    """The mean over segments of a utility; on the scale 0..100 where papers print it so.

    Raises:
        UserError: the utility is unknown, or something that it needs is missing.
    """

    def __init__(self, name: str, options: MetricOptions) -> None:
        arguments = dict(options.arguments.get(name, {}))
        with _metric_errors(name):
            own_way = "lowercase" in inspect.signature(UTILITIES.find(name)).parameters
            if options.lowercase and own_way:
                arguments.setdefault("lowercase", True)
            self._metric = SegmentMetric(name, arguments)
        self._lower_texts = options.lowercase and not own_way
        self.label = self._metric.label

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None = None) -> np.ndarray:
        """Rows of the utility and 1, ``(B, 2)``."""
        if self._lower_texts:
            hypotheses, references = ([text.lower() for text in texts] for texts in (hypotheses, references))
        values = self._metric.segments(hypotheses, references, sources)
        return np.stack([values, np.ones_like(values)], axis=1)

    def score(self, sums: np.ndarray) -> np.ndarray:
        """The mean: sum / count."""
        return sums[..., 0] / sums[..., 1]

    def signature(self) -> str:
        """The utility's signature, whether texts were lower-cased, that segments were averaged, and the scale."""
        return self._metric.signature("|case:lc|mean" if self._lower_texts else "|mean")

    def close(self) -> None:
        """Release what the utility holds."""
        self._metric.close()


@contextlib.contextmanager
def _metric_errors(name: str, tokenize: str | None = None) -> Iterator[None]:
    """Say which metric is meant, and which flag, where an error speaks of decoding's."""
    try:
        yield
    except UserError as error:
        reason = str(error).removeprefix(f"{ARGUMENTS}: ")
        if tokenize is not None and reason.startswith("tokenize "):
            raise UserError(f"--tokenize {tokenize}: {reason}") from error
        raise UserError(f"--metrics {name}: {reason} (here: --metric-args '{{\"{name}\": {{...}}}}')") from error


def build_metric(name: str, options: MetricOptions) -> Metric:
    """The metric called ``name``: one of :data:`CORPUS_METRICS`, a utility's name, or ``module:Class``.

    Raises:
        UserError: it is unknown, or something it needs (Java, a checkpoint) is missing.
    """
    if name in CORPUS_METRICS:
        return SacreMetric(name, options)
    if name not in UTILITIES and ":" not in name:
        raise unknown_metric(name, [*CORPUS_METRICS, *UTILITIES])
    return MeanMetric(name, options)


def unknown_metric(name: str, known: Iterable[str]) -> UserError:
    """The sentence about a metric that is none of those ``known``."""
    names = list(dict.fromkeys(known))
    likely = nearest(name, names)
    hint = f"did you mean {likely}? " if likely else ""
    return UserError(
        f"--metrics {name} is unknown: {hint}choose from {', '.join(names)}, or give your own utility as module:Class"
    )


def check_options(options: MetricOptions, takers: Sequence[str]) -> None:
    """Refuse what no metric that is asked for would see.

    Args:
        options: of all metrics.
        takers: the names under which the metrics look for arguments.

    Raises:
        UserError: arguments of another metric, or a tokeniser for BLEU where there is no BLEU.
    """
    refuse_unused("--metric-args", options.arguments, takers)
    if options.tokenize is not None and "bleu" not in takers:
        raise UserError(f"--tokenize {options.tokenize} is for BLEU, which --metrics does not ask for: leave it out")


@dataclass(frozen=True)
class Evaluation:
    """The scores of several systems on one test set.

    Attributes:
        systems: their names.
        scores: metric label -> a score for each system.
        signatures: metric label -> signature.
        segments: how many segments the test set has.
        intervals: metric label -> a 95% interval for each system, if they were asked for.
    """

    systems: list[str]
    scores: dict[str, list[float]]
    signatures: dict[str, str]
    segments: int
    intervals: dict[str, list[Interval]] = field(default_factory=dict)


def evaluate(
    systems: Mapping[str, Texts],
    references: Texts,
    sources: Texts | None = None,
    metrics: Sequence[str] = ("bleu", "chrf", "ter"),
    options: MetricOptions | None = None,
    confidence: Resamples | None = None,
) -> Evaluation:
    """Score each system's translations against the references by each metric.

    Args:
        systems: name -> translations.
        references: one a segment.
        sources: for metrics that need them.
        metrics: their names.
        options: what they depend on.
        confidence: add bootstrap intervals over segments (Koehn 2004), the same resamples for all systems.

    Raises:
        UserError: a metric is unknown or cannot be had, an argument belongs to none, or a list differs in length.
    """
    for name, texts in [*systems.items(), *([("--source", sources)] if sources is not None else [])]:
        if len(texts) != len(references):
            raise UserError(f"{name} has {len(texts)} segments but --references has {len(references)}: align the files")
    options = options or MetricOptions()
    # All are built before any is computed: what is missing is found at once.
    built = [build_metric(name, options) for name in metrics]
    check_options(options, metrics)
    result = Evaluation(list(systems), {}, {}, len(references))
    for metric in built:
        logger.info("%s of %d systems, %d segments", metric.label, len(systems), len(references))
        rows = [metric.segments(texts, references, sources) for texts in systems.values()]
        result.scores[metric.label] = [total_score(metric, own) for own in rows]
        result.signatures[metric.label] = metric.signature()
        if confidence is not None:
            result.intervals[metric.label] = [confidence.interval(own, metric.score) for own in rows]
        metric.close()
    return result
