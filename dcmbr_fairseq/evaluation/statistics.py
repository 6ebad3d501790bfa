"""The metrics of significance tests: Moses' BLEU and NIST on its own tokens, and by name all metrics of evaluation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dcmbr_fairseq.evaluation.metrics import (
    CORPUS_METRICS,
    MeanMetric,
    Metric,
    MetricOptions,
    SacreMetric,
    Texts,
    unknown_metric,
)
from dcmbr_fairseq.evaluation.nist import (
    MOSES,
    MTEVAL,
    NistVariant,
    ngram_counts,
    ngram_information,
    nist_score,
    segment_sums,
)
from dcmbr_fairseq.utilities import UTILITIES
from dcmbr_fairseq.utilities.tokens import check_moses_language

BLEU_ORDER = 4
#: The metrics that Moses' script computes, or NIST's.
MOSES_METRICS = ("bleu", "nist", "nist-mteval")
SEGMENTS = "sentence-"


@dataclass(frozen=True)
class Tokenisation:
    """From a text to its tokens.

    Texts are lower-cased first, so that case changes no token: "Mr." and "mr." are tokenised alike.

    Attributes:
        split: the tokens of a text.
        name: stands in signatures.
        lowercase: ignore case.
    """

    split: Callable[[str], list[str]]
    name: str
    lowercase: bool = False

    def __call__(self, text: str) -> list[str]:
        """The tokens of ``text``."""
        return self.split(text.lower() if self.lowercase else text)

    def signature(self) -> tuple[str, str]:
        """The tokeniser, and whether case counts."""
        return f"tok:{self.name}", "case:lc" if self.lowercase else "case:mixed"


def build_tokenisation(name: str, language: str, lowercase: bool = False) -> Tokenisation:
    """``moses`` (sacremoses, which follows tokenizer.perl) or ``none`` (the text is tokenised: split at spaces).

    Raises:
        UserError: Moses has no rules for the language.
    """
    if name == "none":
        return Tokenisation(str.split, name, lowercase)
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(lang=check_moses_language("--language", language))
    return Tokenisation(lambda text: moses.tokenize(text), f"moses-{language}", lowercase)


class MosesBleu(Metric):
    """BLEU-4 as Moses' significance script computes it: given tokens, no smoothing, on the scale 0..100."""

    label = "BLEU"

    def __init__(self, tokens: Tokenisation) -> None:
        self._tokens = tokens

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None = None) -> np.ndarray:
        """Rows of hypothesis length, reference length, then matches and n-grams for each order, ``(B, 10)``."""
        rows = [self._row(self._tokens(h), self._tokens(r)) for h, r in zip(hypotheses, references, strict=True)]
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
        tokens, case = self._tokens.signature()
        return f"BLEU|{tokens}|smooth:none|{case}|as:moses-bootstrap"


class Nist(Metric):
    """NIST, as Moses' significance script or NIST's mteval computes it; see :mod:`dcmbr_fairseq.evaluation.nist`."""

    def __init__(self, variant: NistVariant, tokens: Tokenisation) -> None:
        self.label = "NIST" if variant is MOSES else f"NIST-{variant.name}"
        self._variant, self._tokens = variant, tokens

    def segments(self, hypotheses: Texts, references: Texts, sources: Texts | None = None) -> np.ndarray:
        """Rows of lengths, information and n-grams; the information comes from all ``references``."""
        tokens = [self._tokens(reference) for reference in references]
        information = ngram_information(tokens, self._variant.order)
        rows = [
            segment_sums(self._tokens(h), r, information, self._variant)
            for h, r in zip(hypotheses, tokens, strict=True)
        ]
        return np.array(rows, dtype=np.float64)

    def score(self, sums: np.ndarray) -> np.ndarray:
        """See :func:`~dcmbr_fairseq.evaluation.nist.nist_score`."""
        return nist_score(sums)

    def signature(self) -> str:
        """The variant and the tokeniser."""
        return "|".join(["NIST", f"order:{self._variant.order}", *self._tokens.signature(), f"as:{self._variant.name}"])


def build_statistic(name: str, tokenizer: str, language: str, options: MetricOptions) -> Metric:
    """The metric called ``name``, as significance tests call them.

    Args:
        name: ``bleu`` and ``nist`` as Moses' script, ``nist-mteval``, ``sacrebleu``, ``chrf``, ``chrf++``, ``ter`` as
            sacreBLEU, or any utility as a mean over segments: its name, ``sentence-bleu``, ``sentence-chrf``, or
            ``module:Class``.
        tokenizer: ``moses`` or ``none``, for the first three.
        language: the language of the Moses tokeniser's rules.
        options: what all metrics depend on.

    Raises:
        UserError: the name is unknown, or something the metric needs is missing.
    """
    if name in MOSES_METRICS:
        tokens = build_tokenisation(tokenizer, language, options.lowercase)
        return MosesBleu(tokens) if name == "bleu" else Nist(MOSES if name == "nist" else MTEVAL, tokens)
    if name == "sacrebleu" or name in CORPUS_METRICS:
        metric = SacreMetric(arguments_name(name), options)
        metric.label = f"sacreBLEU {metric.label}"
        return metric
    utility = name.removeprefix(SEGMENTS)
    if utility not in UTILITIES and ":" not in utility:
        known = [*MOSES_METRICS, "sacrebleu", *UTILITIES, *(SEGMENTS + metric for metric in CORPUS_METRICS)]
        raise unknown_metric(name, known)
    return MeanMetric(utility, options)


def arguments_name(name: str) -> str:
    """Under which name the arguments of a metric of :func:`build_statistic` are filed; Moses' metrics take none."""
    if name in MOSES_METRICS:
        return ""
    return "bleu" if name == "sacrebleu" else name.removeprefix(SEGMENTS)
