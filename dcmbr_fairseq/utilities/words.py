"""From texts to numbered tokens, for n-grams of words: a word that was seen before is not tokenised again."""

import re
from array import array
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np


class WordTokens:
    """Numbers the tokens of texts, and remembers texts and words, given a tokenizer that sees one word at a time.

    A word is a piece between white space. One thread at a time may use an object.

    Args:
        special: words in which this is not found are one token.
        tokenize: the tokens of one of the other words, none or several.
        prepare: applied to texts first, all those that are new at once.
    """

    #: Forget everything when there are more texts, or more words, than this.
    TEXTS, WORDS = 1 << 15, 1 << 17

    def __init__(
        self,
        special: "re.Pattern[str]",
        tokenize: Callable[[str], Sequence[str]],
        prepare: Callable[[Sequence[str]], Sequence[str]] = list,
    ):
        self._special = special
        self._tokenize = tokenize
        self._prepare = prepare
        self._forget()

    def units(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the tokens of all texts, one after the other, and ``(T,)`` how many each text has.

        Numbers are equal where tokens are, within one call.
        """
        if len(self._texts) > self.TEXTS or len(self._words) > self.WORDS:
            self._forget()
        unknown = [text for text in texts if text not in self._texts]
        if unknown:
            self._read(list(dict.fromkeys(unknown)))
        found = [self._texts[text] for text in texts]
        lengths = np.fromiter(map(len, found), dtype=np.intp, count=len(found))
        return np.frombuffer(b"".join(found), dtype=np.int32).astype(np.intp), lengths // 4

    def _read(self, texts: Sequence[str]) -> None:
        """Number the tokens of new texts."""
        texts_words = list(map(str.split, self._prepare(texts)))
        flat = list(chain.from_iterable(texts_words))
        self._learn(set(flat).difference(self._words))
        words = np.fromiter(map(self._words.__getitem__, flat), dtype=np.intp, count=len(flat))
        bounds, tokens = (np.frombuffer(numbers, dtype=np.int32) for numbers in (self._bounds, self._tokens))
        first = bounds.take(words)
        sizes = bounds.take(words + 1) - first
        total = np.concatenate([[0], np.cumsum(sizes)])  # tokens before each word
        units = tokens.take(np.repeat(first - total[:-1], sizes) + np.arange(total[-1])).tobytes()
        counts = np.fromiter(map(len, texts_words), dtype=np.intp, count=len(texts))
        ends = (total.take(np.cumsum(counts)) * 4).tolist()
        self._texts.update((text, units[a:b]) for text, a, b in zip(texts, [0, *ends[:-1]], ends, strict=True))

    def _learn(self, words: "set[str]") -> None:
        """Number words that are new, and their tokens."""
        find, numbers = self._special.search, self._numbers
        plain = [word for word in words if not find(word)]
        start, first = len(self._words), len(self._tokens)
        self._words.update(zip(plain, range(start, start + len(plain)), strict=True))
        self._tokens.extend([numbers.setdefault(word, len(numbers)) for word in plain])
        self._bounds.extend(range(first + 1, first + len(plain) + 1))
        for word in words.difference(plain):
            self._words[word] = len(self._words)
            self._tokens.extend([numbers.setdefault(token, len(numbers)) for token in self._tokenize(word)])
            self._bounds.append(len(self._tokens))

    def _forget(self) -> None:
        self._texts: dict[str, bytes] = {}  # text -> the numbers of its tokens, int32
        self._words: dict[str, int] = {}  # word -> its number among all words
        self._numbers: dict[str, int] = {}  # token -> its number among all tokens
        self._tokens = array("i", [0])  # tokens of all words, one after the other, after one that is not used
        self._bounds = array("i", [1])  # where the tokens of each word start, and where those of the last one end
