"""Sufficient statistics: corpus scores as functions of sums over segments, so that resampling costs a matrix product.

A statistic turns each segment into a row of K numbers, ``(B, K)``; the score of any selection of segments follows from
the sum of their rows, ``(..., K) -> (...)``.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from tqdm import tqdm

from dcmbr_fairseq.evaluation.metrics import CORPUS_METRICS, MeanMetric, MetricOptions, build_metric
from dcmbr_fairseq.evaluation.nist import (
    MOSES,
    MTEVAL,
    NistVariant,
    ngram_counts,
    ngram_information,
    nist_score,
    segment_sums,
)

Texts = Sequence[str]
Tokenizer = Callable[[str], list[str]]
BLEU_ORDER = 4


class Statistic(Protocol):
    """A corpus score by sufficient statistics."""

    label: str

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None) -> np.ndarray:
        """The rows of all segments, ``(B, K)`` float64."""

    def score(self, sums: np.ndarray) -> np.ndarray:
        """The scores of summed rows, ``(S, K) -> (S,)``."""

    def signature(self) -> str:
        """All that the score depends on."""


def build_tokenizer(name: str, language: str) -> Tokenizer:
    """``moses`` (sacremoses, which follows tokenizer.perl) or ``none`` (the text is tokenised: split at spaces)."""
    if name == "none":
        return str.split
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(lang=language)
    return lambda text: moses.tokenize(text)


class MosesBleu:
    """BLEU-4 as Moses' significance script computes it: given tokens, no smoothing, on the scale 0..100."""

    label = "BLEU"

    def __init__(self, tokenizer: Tokenizer, tokenizer_name: str) -> None:
        self._tokenizer, self._tokenizer_name = tokenizer, tokenizer_name

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None = None) -> np.ndarray:
        """Rows of hypothesis length, reference length, then matches and n-grams for each order, ``(B, 10)``."""
        rows = [self._row(self._tokenizer(h), self._tokenizer(r)) for h, r in zip(hypotheses, references, strict=True)]
        return np.array(rows, dtype=np.float64)

    def _row(self, hypothesis: list[str], reference: list[str]) -> list[int]:
        row = [len(hypothesis), len(reference)]
        for order in range(1, BLEU_ORDER + 1):
            ours = ngram_counts(hypothesis, order)
            row += [(ours & ngram_counts(reference, order)).total(), ours.total()]
        return row

    def score(self, sums: np.ndarray) -> np.ndarray:
        """100 times brevity penalty times the geometric mean of the precisions; 0 where one of them is 0."""
        length, reference_length = sums[..., 0], sums[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_precision = np.log(sums[..., 2::2] / sums[..., 3::2]).mean(axis=-1)
            penalty = np.exp(np.minimum(0.0, 1.0 - reference_length / length))
            score = 100 * penalty * np.exp(log_precision)
        return np.nan_to_num(score, nan=0.0)  # 0 / 0: no n-gram of some order at all

    def signature(self) -> str:
        """The tokeniser and the conventions."""
        return f"BLEU|tok:{self._tokenizer_name}|smooth:none|case:mixed|as:moses-bootstrap"


class Nist:
    """NIST, as Moses' significance script or NIST's mteval computes it; see :mod:`dcmbr_fairseq.evaluation.nist`."""

    def __init__(self, variant: NistVariant, tokenizer: Tokenizer, tokenizer_name: str) -> None:
        self.label = "NIST" if variant is MOSES else f"NIST-{variant.name}"
        self._variant, self._tokenizer, self._tokenizer_name = variant, tokenizer, tokenizer_name

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None = None) -> np.ndarray:
        """Rows of lengths, information and n-grams; the information comes from all ``references``."""
        tokens = [self._tokenizer(reference) for reference in references]
        information = ngram_information(tokens, self._variant.order)
        rows = [
            segment_sums(self._tokenizer(h), r, information, self._variant)
            for h, r in zip(hypotheses, tokens, strict=True)
        ]
        return np.array(rows, dtype=np.float64)

    def score(self, sums: np.ndarray) -> np.ndarray:
        """See :func:`~dcmbr_fairseq.evaluation.nist.nist_score`."""
        return nist_score(sums)

    def signature(self) -> str:
        """The variant and the tokeniser."""
        return f"NIST|order:{self._variant.order}|tok:{self._tokenizer_name}|case:mixed|as:{self._variant.name}"


class SacreStatistic:
    """sacreBLEU's BLEU, chrF or TER, from the statistics that its own significance tests use."""

    def __init__(self, name: str, options: MetricOptions) -> None:
        self._metric: Any = build_metric(name, options)
        self.label = f"sacreBLEU {self._metric.label}"

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None = None) -> np.ndarray:
        """sacreBLEU's rows of counts."""
        rows = self._metric.implementation._extract_corpus_statistics(list(hypotheses), [list(references)])
        return np.array(rows, dtype=np.float64)

    def score(self, sums: np.ndarray) -> np.ndarray:
        """sacreBLEU's score of each row."""
        compute = self._metric.implementation._compute_score_from_stats
        rows = tqdm(sums, desc=self.label, unit="sample", disable=len(sums) <= 2)  # 2: the observed scores
        return np.array([compute(row).score for row in rows])

    def signature(self) -> str:
        """sacreBLEU's own."""
        return self._metric.signature()


class SegmentMean:
    """Any segment-level metric: the mean of u(hypothesis, reference) over segments."""

    def __init__(self, name: str, options: MetricOptions) -> None:
        self._mean = MeanMetric(name, options)
        self.label = self._mean.label

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None = None) -> np.ndarray:
        """Rows of the utility and 1, ``(B, 2)``."""
        values = self._mean.by_segment.segments(hypotheses, references, sources)
        return np.stack([values, np.ones_like(values)], axis=1)

    def score(self, sums: np.ndarray) -> np.ndarray:
        """The mean: sum / count."""
        return sums[..., 0] / sums[..., 1]

    def signature(self) -> str:
        """The utility's."""
        return self._mean.signature()

    def close(self) -> None:
        """Release what the utility holds."""
        self._mean.close()


def build_statistic(name: str, tokenizer: str, language: str, options: MetricOptions) -> Statistic:
    """The statistic called ``name``.

    Args:
        name: ``bleu`` and ``nist`` as Moses' script, ``nist-mteval``, ``sacrebleu``, ``chrf``, ``chrf++``, ``ter`` as
            sacreBLEU, or any utility as a mean over segments: its name, ``sentence-bleu``, ``sentence-chrf``, or
            ``module:Class``.
        tokenizer: ``moses`` or ``none``, for the first three.
        language: the language of the Moses tokeniser's rules.

    Raises:
        UserError: the name is unknown, or something the metric needs is missing.
    """
    if name in ("bleu", "nist", "nist-mteval"):
        tokenize = build_tokenizer(tokenizer, language)
        shown = f"moses-{language}" if tokenizer == "moses" else tokenizer
        if name == "bleu":
            return MosesBleu(tokenize, shown)
        return Nist(MOSES if name == "nist" else MTEVAL, tokenize, shown)
    if name == "sacrebleu" or name in CORPUS_METRICS:
        return SacreStatistic("bleu" if name == "sacrebleu" else name, options)
    return SegmentMean(name.removeprefix("sentence-"), options)
