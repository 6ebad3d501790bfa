"""Sentence BLEU (Papineni et al., 2002) of all pairs at once, equal to sacrebleu's sentence scores."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.arguments import check_choice, check_flag, check_number, check_order
from dcmbr_fairseq.utilities.base import Comparison, Utility
from dcmbr_fairseq.utilities.overlap import Arrangement, Matches, arrange, grouped, ngram_matches, scores_by_sentence
from dcmbr_fairseq.utilities.words import WordTokens

#: Precisions are multiplied before their logarithm is taken, but not so many that the product could vanish.
ORDERS_A_LOGARITHM = 4
#: smoothing method -> its parameter's default, None where it has none (Chen & Cherry, 2014)
SMOOTHING_DEFAULTS: Dict[str, Optional[float]] = {"none": None, "floor": 0.1, "add-k": 1, "exp": None}


class BleuUtility(Utility):
    """Sentence BLEU.

    Args:
        tokenize: one of sacrebleu's tokenizers.
        smooth_method: what to do about orders without a match: none, floor, add-k or exp.
        smooth_value: the value of floor (default 0.1) and add-k (default 1).
        effective_order: leave out orders for which the hypothesis is too short. Unlike in sacrebleu it is on by
            default, since single sentences are compared.
        lowercase: compare lower-cased texts.
        max_ngram_order: longest n-gram.

    Raises:
        UserError: an argument is out of range, or the tokenizer lacks what it needs.
    """

    def __init__(
        self,
        *,
        tokenize: str = "13a",
        smooth_method: str = "exp",
        smooth_value: Optional[float] = None,
        effective_order: bool = True,
        lowercase: bool = False,
        max_ngram_order: int = 4,
    ):
        self.smooth_method = check_choice("smooth_method", smooth_method, SMOOTHING_DEFAULTS)
        self.smooth_value = _check_smooth_value(smooth_method, smooth_value)
        self.effective_order = check_flag("effective_order", effective_order)
        self.lowercase = check_flag("lowercase", lowercase)
        self.max_ngram_order = check_order("max_ngram_order", max_ngram_order, 1)
        self._metric = _sacrebleu_metric(
            tokenize=tokenize,
            smooth_method=smooth_method,
            smooth_value=smooth_value,
            effective_order=effective_order,
            lowercase=lowercase,
            max_ngram_order=max_ngram_order,
        )
        self._tokenize: Callable[[str], str] = self._metric.tokenizer
        self._words = WordTokens(lambda word: self._tokenize(word).split())
        self._tokens = WordTokens(lambda token: [token])
        self._by_word = tokenize == "13a"  # its rules see nothing beyond white space

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: Optional[str] = None
    ) -> np.ndarray:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise`; scores from 0 to 100."""
        return self.pairwise_batch([Comparison(hypotheses, references)])[0]

    def pairwise_batch(self, batch: Sequence[Comparison]) -> List[np.ndarray]:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise_batch`."""
        arrangements = [arrange(comparison.hypotheses, comparison.references) for comparison in batch]
        scores: List[np.ndarray] = []
        for part in grouped(arrangements, [sum(map(len, a.texts)) for a in arrangements]):
            scores += scores_by_sentence(self._scores(arrangements[part]), arrangements[part])
        return scores

    def signature(self) -> str:
        """Sacrebleu's name and signature, with its version; ``ngram`` is added where it is not sacrebleu's 4."""
        self._metric.num_refs = 1
        signature = self._metric.get_signature()
        if self.max_ngram_order != 4:
            signature._abbr["ngram"] = "n"
            signature.update("ngram", self.max_ngram_order)
        return f"BLEU|{signature.format()}"

    def _scores(self, arrangements: Sequence[Arrangement]) -> np.ndarray:
        """``(P,)`` the scores of all pairs of all sentences."""
        units, lengths = self._units([text for a in arrangements for text in a.texts])
        counts = ngram_matches(units, lengths, arrangements, self.max_ngram_order)
        scores = brevity_penalty(counts.hyp_lengths, counts.ref_lengths) * self._mean_precision(counts)
        return np.where(counts.matches[0] > 0, scores, 0.0)  # without a common word nothing is smoothed

    def _units(self, texts: Sequence[str]) -> Tuple[np.ndarray, np.ndarray]:
        """Token ids of all texts, one after the other, and the number of tokens of each text."""
        lines = [(text.lower() if self.lowercase else text).rstrip() for text in texts]
        if self._by_word and not any("\n" in line for line in lines):
            return self._words.units(lines)
        return self._tokens.units([self._tokenize(line) for line in lines])

    def _mean_precision(self, counts: Matches) -> np.ndarray:
        """``(P,)`` geometric mean of the smoothed precisions, in percent."""
        lengths, orders = counts.hyp_lengths, len(counts.matches)
        added = self.smooth_value or 0.0 if self.smooth_method == "add-k" else 0.0
        smoothing = np.full(len(lengths), self.smooth_value if self.smooth_method == "floor" else 1.0)
        log_sum, product = np.zeros(len(lengths)), np.ones(len(lengths))
        for n, matches in enumerate(counts.matches):
            exists = lengths > n if not (n and added) else lengths > 0  # with something added every order exists
            missed = matches == 0
            if self.smooth_method == "exp":
                smoothing = np.where(missed, smoothing / 2, smoothing)
            if self.smooth_method in ("exp", "floor"):
                matches = np.where(missed, smoothing, matches)
            k = added if n else 0.0  # unigrams are not smoothed
            precision = (matches + k) / np.where(exists, np.maximum(lengths - n, 0) + k, 1)
            product *= np.where(exists, precision, 1.0 if self.effective_order else 0.0)
            if n % ORDERS_A_LOGARITHM == ORDERS_A_LOGARITHM - 1 or n == orders - 1:
                with np.errstate(divide="ignore"):
                    log_sum += np.log(product)
                product = np.ones(len(lengths))
        counted = np.clip(lengths, 1, orders) if self.effective_order and not added else orders
        return 100 * np.exp(log_sum / counted)


def brevity_penalty(hyp_lengths: np.ndarray, ref_lengths: np.ndarray) -> np.ndarray:
    """``exp(1 - r / h)`` where the hypothesis is shorter than the reference, else 1."""
    ratio = ref_lengths / np.maximum(hyp_lengths, 1)
    return np.exp(np.minimum(1 - ratio, 0))


def _check_smooth_value(smooth_method: str, smooth_value: Any) -> Optional[float]:
    default = SMOOTHING_DEFAULTS[smooth_method]
    if smooth_value is None:
        return default
    if default is None:
        given = f"got {smooth_value!r} with {smooth_method}"
        raise UserError(f"--utility-args: smooth_value is for smooth_method floor or add-k, {given}")
    return check_number("smooth_value", smooth_value)


def _sacrebleu_metric(tokenize: str, **arguments: Any) -> Any:
    """Sacrebleu's own metric object, for its tokenizer and its signature."""
    from sacrebleu.metrics.bleu import BLEU

    check_choice("tokenize", tokenize, BLEU.TOKENIZERS)
    try:
        return BLEU(tokenize=tokenize, **arguments)
    except (ImportError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"--utility-args: tokenize {tokenize} is not ready: {reason}") from error
