"""chrF and chrF++ (Popović 2015, 2017) of all pairs at once, equal to sacrebleu's sentence scores."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.arguments import check_flag, check_number, check_order
from dcmbr_fairseq.utilities.overlap import Arrangement, Matches, OverlapUtility, ngram_matches
from dcmbr_fairseq.utilities.words import WordTokens

PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
AT_AN_END = re.compile(r"\A[!-/:-@\[-`{-~]|[!-/:-@\[-`{-~]\Z")  # one of them
EPSILON = 1e-16  # sacrebleu's, for eps_smoothing
#: Whether a character is one of those that ``str.split()`` splits at; there are none above U+3000.
WHITESPACE = np.array([chr(code).isspace() for code in range(0x3001)] + [False])


class ChrfUtility(OverlapUtility):
    """chrF: F-score of character n-grams, averaged over the orders that both sides have.

    Args:
        char_order: longest character n-gram.
        word_order: longest word n-gram; 2 makes it chrF++.
        beta: recall counts beta times as much as precision.
        lowercase: compare lower-cased texts.
        whitespace: keep white space in character n-grams.
        eps_smoothing: average the F-scores of all orders, as chrF++.py, NLTK and Moses do.

    Raises:
        UserError: an argument is out of range.
    """

    label = "chrF"
    default_word_order: ClassVar[int] = 0

    def __init__(
        self,
        *,
        char_order: int = 6,
        word_order: int | None = None,
        beta: float = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ):
        self.char_order = check_order("char_order", char_order, 0)
        self.word_order = check_order(
            "word_order", self.default_word_order if word_order is None else word_order, 0
        )
        if self.char_order + self.word_order == 0:
            raise UserError("--utility-args: char_order and word_order are both 0: give one of them at least 1")
        self.beta = check_number("beta", beta)
        self.lowercase = check_flag("lowercase", lowercase)
        self.whitespace = check_flag("whitespace", whitespace)
        self.eps_smoothing = check_flag("eps_smoothing", eps_smoothing)
        self._words = WordTokens(AT_AN_END, split_punctuation)

    def sacrebleu_metric(self) -> Any:
        """Sacrebleu's own metric object with these arguments."""
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(**self._arguments())

    def signature(self) -> str:
        """Sacrebleu's name and signature, with its version."""
        metric = self.sacrebleu_metric()
        metric.num_refs = 1
        name = f"chrF{self.beta}" + "+" * self.word_order
        return f"{name}|{metric.get_signature().format()}"

    def _arguments(self) -> dict[str, Any]:
        names = ("char_order", "word_order", "beta", "lowercase", "whitespace", "eps_smoothing")
        return {name: getattr(self, name) for name in names}

    def _scores(self, arrangements: Sequence[Arrangement]) -> np.ndarray:
        """``(P,)`` the scores of all pairs of all sentences."""
        texts = [text.lower() if self.lowercase else text for a in arrangements for text in a.texts]
        counts: list[Matches] = []
        if self.char_order:
            counts.append(ngram_matches(*characters(texts, self.whitespace), arrangements, self.char_order))
        if self.word_order:
            counts.append(ngram_matches(*self._words.units(texts), arrangements, self.word_order))
        return (mean_of_f_scores if self.eps_smoothing else f_score_of_means)(counts, self.beta)


class ChrfPlusPlusUtility(ChrfUtility):
    """chrF++: chrF with word n-grams up to length 2 besides. Takes the same arguments."""

    label = "chrF++"
    default_word_order = 2


def characters(texts: Sequence[str], whitespace: bool) -> tuple[np.ndarray, np.ndarray]:
    """Code points of all texts, one after the other, and the number of each text's; lone surrogates are characters."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.intp)
    lengths = np.fromiter(map(len, texts), dtype=np.intp, count=len(texts))
    if whitespace:
        return codes, lengths
    visible = ~WHITESPACE[np.minimum(codes, len(WHITESPACE) - 1)]
    upto = np.concatenate([[0], np.cumsum(visible)])
    return codes[visible], np.diff(upto[np.concatenate([[0], np.cumsum(lengths)])])


def split_punctuation(word: str) -> list[str]:
    """One punctuation mark at the end of a word, or else at its start, stands alone (sacrebleu's rule for chrF++)."""
    if len(word) == 1:
        return [word]
    if word[-1] in PUNCTUATION:
        return [word[:-1], word[-1]]
    if word[0] in PUNCTUATION:
        return [word[0], word[1:]]
    return [word]


def f_score_of_means(counts: Sequence[Matches], beta: float) -> np.ndarray:
    """``(P,)`` F-score of the mean precision and mean recall over the orders that both sides have."""
    precision, recall, orders = 0.0, 0.0, 0.0
    for matches, hyp_lengths, ref_lengths in counts:
        for n, matches_of_order in enumerate(matches):  # where there is no n-gram there is no match: 0 / 1
            precision = precision + matches_of_order / np.maximum(hyp_lengths - n, 1)
            recall = recall + matches_of_order / np.maximum(ref_lengths - n, 1)
        orders = orders + np.minimum(np.minimum(hyp_lengths, ref_lengths), len(matches))
    orders = np.maximum(orders, 1)
    precision, recall = precision / orders, recall / orders
    factor = beta**2
    denominator = factor * precision + recall
    f_score = (1 + factor) * precision * recall / np.where(denominator > 0, denominator, 1)
    return 100 * f_score


def mean_of_f_scores(counts: Sequence[Matches], beta: float) -> np.ndarray:
    """``(P,)`` mean of the F-scores of all orders; undefined ones are a small number (sacrebleu's eps_smoothing)."""
    factor = beta**2
    total = np.zeros(len(counts[0].hyp_lengths))
    for matches, hyp_lengths, ref_lengths in counts:
        for n, matches_of_order in enumerate(matches):
            both = np.minimum(hyp_lengths, ref_lengths) > n
            precision = np.where(both, matches_of_order / np.maximum(hyp_lengths - n, 1), EPSILON)
            recall = np.where(ref_lengths > n, matches_of_order / np.maximum(ref_lengths - n, 1), EPSILON)
            denominator = factor * precision + recall
            defined = denominator > 0
            f_score = (1 + factor) * precision * recall / np.where(defined, denominator, 1)
            total += np.where(defined, f_score, EPSILON)
    return 100 * total / sum(len(c.matches) for c in counts)
