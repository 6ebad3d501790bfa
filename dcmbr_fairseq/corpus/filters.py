"""Rules that drop sentence pairs from a training corpus: pure functions of one pair, each with its name and limit.

The paper filters WMT 2020 as Zeng et al. (2021) do. Theirs are length, word-length, ratio, unicode, html, score and
duplicates, with these limits; empty and copy are ours, score needs alignment scores, and how exactly a rule judges is
our reading. Duplicates stand in duplicates.py, since it takes more than one pair to see one. Words are separated by
white space.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

#: what no clean text holds: control characters, the line separators that other tools would split a line at, the mark of
#: bytes lost in an earlier conversion (U+FFFD), private use, and the code points that are no characters at all
INVALID_UNICODE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ufffd\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff"
    + "".join(chr(plane << 16 | last) for plane in range(1, 15) for last in (0xFFFE, 0xFFFF))
    + "]"
)

#: <p>, </div>, <br/>, <a href="...">, <!-- ...: but not 1 < 2 or <3
HTML_TAG = re.compile(r"<(/?[A-Za-z][A-Za-z0-9]*(\s[^<>]*)?/?>|!--)")


@dataclass(frozen=True)
class Limits:
    """The limits of the rules.

    Attributes:
        max_words: the longest sentence allowed, on either side.
        max_word_length: the longest word allowed, in characters.
        max_ratio: how many times as many words as the other side a side may have.
        min_score: the lowest alignment score allowed; None where there are no scores.
        score_per_word: divide the score by the number of target words first: an aligner's log-probability is a sum.
    """

    max_words: int = 100
    max_word_length: int = 40
    max_ratio: float = 4.0
    min_score: float | None = None
    score_per_word: bool = False


class Pair(NamedTuple):
    """One sentence pair, its words, and its alignment score if there is one."""

    source: str
    target: str
    source_words: list[str]
    target_words: list[str]
    score: float | None = None


def pair_of(source: str, target: str, score: float | None = None) -> Pair:
    """The pair of two sentences, split into words."""
    return Pair(source, target, source.split(), target.split(), score)


def is_empty(pair: Pair, limits: Limits) -> bool:
    """A side without a word."""
    return not pair.source_words or not pair.target_words


def has_invalid_unicode(pair: Pair, limits: Limits) -> bool:
    """A side with a character of ``INVALID_UNICODE``."""
    return _is_invalid(pair.source) or _is_invalid(pair.target)


def _is_invalid(text: str) -> bool:
    # of the invalid characters only U+FFFD counts as printable: nearly every line is done after two fast passes
    return "\ufffd" in text or (not text.isprintable() and INVALID_UNICODE.search(text) is not None)


def has_html(pair: Pair, limits: Limits) -> bool:
    """A side with an HTML tag."""
    return any("<" in text and HTML_TAG.search(text) is not None for text in (pair.source, pair.target))


def is_too_long(pair: Pair, limits: Limits) -> bool:
    """A side with too many words."""
    return max(len(pair.source_words), len(pair.target_words)) > limits.max_words


def has_long_word(pair: Pair, limits: Limits) -> bool:
    """A word that is too long: an address, or text that has lost its spaces."""
    return max(map(len, pair.source_words + pair.target_words), default=0) > limits.max_word_length


def is_out_of_proportion(pair: Pair, limits: Limits) -> bool:
    """One side with many times the words of the other."""
    shorter, longer = sorted((len(pair.source_words), len(pair.target_words)))
    return longer > limits.max_ratio * shorter


def is_copy(pair: Pair, limits: Limits) -> bool:
    """A source that is its own translation."""
    return pair.source == pair.target


def is_badly_aligned(pair: Pair, limits: Limits) -> bool:
    """An alignment score below the limit, or one that is not a number (NaN)."""
    if pair.score is None or limits.min_score is None:
        return False
    score = pair.score / max(1, len(pair.target_words)) if limits.score_per_word else pair.score
    return not score >= limits.min_score


Rule = Callable[[Pair, Limits], bool]

#: name -> rule; a pair is dropped by the first rule that applies, and counted there
RULES: dict[str, Rule] = {
    "empty": is_empty,
    "unicode": has_invalid_unicode,
    "html": has_html,
    "length": is_too_long,
    "word-length": has_long_word,
    "ratio": is_out_of_proportion,
    "copy": is_copy,
    "score": is_badly_aligned,
}


def first_offence(pair: Pair, limits: Limits, rules: dict[str, Rule]) -> str | None:
    """The name of the first rule that drops the pair; None if it may stay."""
    return next((name for name, drops in rules.items() if drops(pair, limits)), None)
