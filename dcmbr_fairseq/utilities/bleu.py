"""Sentence BLEU (Papineni et al., 2002) of all pairs at once, equal to sacrebleu's sentence scores."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError, shown
from dcmbr_fairseq.utilities.arguments import check_choice, check_flag, check_number, check_order
from dcmbr_fairseq.utilities.overlap import Arrangement, Matches, OverlapUtility, ngram_matches
from dcmbr_fairseq.utilities.words import WordTokens

#: Precisions are multiplied before their logarithm is taken, but not so many that the product could vanish.
ORDERS_A_LOGARITHM = 4
#: smoothing method -> its parameter's default, None where it has none (Chen & Cherry, 2014)
SMOOTHING_DEFAULTS: dict[str, float | None] = {"none": None, "floor": 0.1, "add-k": 1, "exp": None}
#: 13a separates these wherever they are ...
SEPARATED_BY_13A = "{|}~[\\]^_`!\"#$%&()*+:;<=>?@/"
#: ... and these depending on their neighbours. White space is a neighbour like any other: words are independent.
SPECIAL_IN_13A = re.compile(r"[.,]|[0-9]-")
NOTHING = re.compile(r"(?!)")


class BleuUtility(OverlapUtility):
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

    label = "BLEU"

    def __init__(
        self,
        *,
        tokenize: str = "13a",
        smooth_method: str = "exp",
        smooth_value: float | None = None,
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
        self._by_word = tokenize == "13a"
        self._words = WordTokens(SPECIAL_IN_13A if self._by_word else NOTHING, self._split_word, self._prepare)

    def sacrebleu_metric(self) -> Any:
        """Sacrebleu's own metric object with these arguments."""
        return self._metric

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
        units, lengths = self._words.units([text for a in arrangements for text in a.texts])
        counts = ngram_matches(units, lengths, arrangements, self.max_ngram_order)
        scores = brevity_penalty(counts.hyp_lengths, counts.ref_lengths) * self._mean_precision(counts)
        return np.where(counts.matches[0] > 0, scores, 0.0)  # without a common word nothing is smoothed

    def _prepare(self, texts: Sequence[str]) -> list[str]:
        """Texts of which only single words remain to be tokenised."""
        lines = [(text.lower() if self.lowercase else text).rstrip() for text in texts]
        return separate_13a(lines) if self._by_word else list(map(self._tokenize, lines))

    def _split_word(self, word: str) -> list[str]:
        """Tokens of a word in which there is a full stop, a comma, or a dash after a digit (13a)."""
        if len(word) > 1 and word[-1] in ".," and not SPECIAL_IN_13A.search(word[:-1]):
            return [word[:-1], word[-1]]  # the common case: at the end of a word they always stand alone
        return self._tokenize(word).split()

    def _mean_precision(self, counts: Matches) -> np.ndarray:
        """``(P,)`` geometric mean of the smoothed precisions, in percent."""
        lengths, orders = counts.hyp_lengths, len(counts.matches)
        added = (self.smooth_value or 0.0) if self.smooth_method == "add-k" else 0.0
        smoothing: Any = self.smooth_value if self.smooth_method == "floor" else 1.0
        log_sum, product = np.zeros(len(lengths)), np.ones(len(lengths))
        for n, matches in enumerate(counts.matches.astype(np.float64)):
            missed = matches == 0
            if self.smooth_method == "exp" and missed.any():
                smoothing = np.where(missed, smoothing / 2, smoothing)
            if self.smooth_method in ("exp", "floor"):
                matches = np.where(missed, smoothing, matches)
            k = added if n else 0.0  # unigrams are not smoothed
            totals = np.maximum(lengths - n, 0) + k
            exists = totals > 0
            precision = (matches + k) / np.where(exists, totals, 1)
            product *= np.where(exists, precision, 1.0 if self.effective_order else 0.0)
            if n % ORDERS_A_LOGARITHM == ORDERS_A_LOGARITHM - 1 or n == orders - 1:
                with np.errstate(divide="ignore"):
                    log_sum += np.log(product)
                product = np.ones(len(lengths))
        counted = np.clip(lengths, 1, orders) if self.effective_order and not added else orders
        return 100 * np.exp(log_sum / counted)


def separate_13a(lines: Sequence[str]) -> list[str]:
    """The lines after those rules of the tokenizer 13a that look at one character; all at once, since this is fast.

    What is left to do concerns words for which :data:`SPECIAL_IN_13A` is found. No line may end with white space.
    """
    lines = [line.replace("<skipped>", "") for line in lines]
    joined = "\n".join(line.replace("-\n", "").replace("\n", " ") if "\n" in line else line for line in lines)
    for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        joined = joined.replace(entity, character)
    for character in SEPARATED_BY_13A:
        if character in joined:
            joined = joined.replace(character, f" {character} ")
    return joined.split("\n") if lines else []


def brevity_penalty(hyp_lengths: np.ndarray, ref_lengths: np.ndarray) -> np.ndarray:
    """``exp(1 - r / h)`` where the hypothesis is shorter than the reference, else 1."""
    ratio = ref_lengths / np.maximum(hyp_lengths, 1)
    return np.exp(np.minimum(1 - ratio, 0))


def _check_smooth_value(smooth_method: str, smooth_value: Any) -> float | None:
    default = SMOOTHING_DEFAULTS[smooth_method]
    if smooth_value is None:
        return default
    if default is None:
        given = f"got {shown(smooth_value)} with {smooth_method}"
        raise UserError(f"--utility-args: smooth_value is for smooth_method floor or add-k, {given}")
    return check_number("smooth_value", smooth_value)


def _sacrebleu_metric(tokenize: str, **arguments: Any) -> Any:
    """Sacrebleu's own metric object, for its tokenizer and its signature."""
    from sacrebleu.metrics.bleu import BLEU

    check_choice("tokenize", tokenize, BLEU.TOKENIZERS)
    try:
        return BLEU(tokenize=tokenize, **arguments)
    except (ImportError, RuntimeError) as error:  # its package is missing; sacrebleu says how to install it
        reason = " ".join(str(error).split())
        raise UserError(f"--utility-args: tokenize {tokenize} is not ready: {reason}") from error
    except OSError as error:
        remedy = "sacrebleu downloads its model when it is first used: connect to the network, or choose another"
        raise UserError(f"--utility-args: tokenize {tokenize} is not ready ({error}); {remedy}") from error
