"""From texts to numbered tokens, for n-grams of words: a word that was seen before is not tokenised again."""

from array import array
from itertools import chain
from typing import Callable, Dict, Sequence, Tuple

import numpy as np


class WordTokens(Dict[str, int]):
    """Numbers the tokens of texts, given a tokenizer that sees one word, a piece between white space, at a time.

    As a dict it maps each word to its number among all words seen.

    Args:
        tokenize: the tokens of a word, none or several.
    """

    #: Forget all words when there are more than this.
    LIMIT = 1 << 17

    def __init__(self, tokenize: Callable[[str], Sequence[str]]):
        super().__init__()
        self._tokenize = tokenize
        self._forget()

    def __missing__(self, word: str) -> int:
        numbers = self._numbers
        self._tokens.extend([numbers.setdefault(token, len(numbers)) for token in self._tokenize(word)])
        self._bounds.append(len(self._tokens))
        self[word] = number = len(self)
        return number

    def units(self, texts: Sequence[str]) -> Tuple[np.ndarray, np.ndarray]:
        """The numbers of the tokens of all texts, one after the other, and ``(T,)`` how many each text has.

        The numbers of different calls must not be mixed.
        """
        if len(self) > self.LIMIT:
            self._forget()
        texts_words = [text.split() for text in texts]
        counts = np.fromiter(map(len, texts_words), dtype=np.intp, count=len(texts))
        words = np.fromiter(map(self.__getitem__, chain.from_iterable(texts_words)), dtype=np.intp, count=counts.sum())
        bounds, tokens = (np.frombuffer(numbers, dtype=np.int64) for numbers in (self._bounds, self._tokens))
        first = bounds.take(words)
        sizes = bounds.take(words + 1) - first
        total = np.concatenate([[0], np.cumsum(sizes)])  # tokens before each word
        here = np.repeat(first - total[:-1], sizes) + np.arange(total[-1])
        lengths = np.diff(total.take(np.concatenate([[0], np.cumsum(counts)])))
        return tokens.take(here), lengths

    def _forget(self) -> None:
        self.clear()
        self._numbers: Dict[str, int] = {}  # token -> its number
        self._tokens = array("q", [0])  # the tokens of all words, one after the other, after one that is not used
        self._bounds = array("q", [1])  # where the tokens of each word start, and where the last ones end
