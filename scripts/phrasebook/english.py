"""English noun phrases of the phrasebook: articles, plurals and number words. Pure text, like its twin german.py."""

import functools
from dataclasses import dataclass

from num2words import num2words

#: Written with a vowel, spoken with a consonant, and the reverse.
_CONSONANT_SOUND = ("uni", "use", "eu", "one")
_VOWEL_SOUND = ("hour", "honest")


@functools.cache
def number_word(number: int) -> str:
    """A cardinal in words: 21 is "twenty-one"."""
    return str(num2words(number, lang="en"))


def ordinal_word(number: int) -> str:
    """An ordinal in words: 3 is "third"."""
    return str(num2words(number, lang="en", to="ordinal"))


def indefinite_article(word: str) -> str:
    """``a`` or ``an``, whichever the following word asks for."""
    lower = word.lower()
    vowel = lower.startswith(_VOWEL_SOUND) or (lower[0] in "aeiou" and not lower.startswith(_CONSONANT_SOUND))
    return "an" if vowel else "a"


@dataclass(frozen=True)
class EnglishNoun:
    """A noun; ``singular`` is empty for one that has only a plural ("trousers"), ``plural`` for one that has none."""

    singular: str
    plural: str = ""

    def form(self, plural: bool) -> str:
        """The noun in a number.

        Raises:
            ValueError: the noun does not have this number.
        """
        word = self.plural if plural else self.singular
        if not word:
            raise ValueError(f"{self.singular or self.plural} has no {'plural' if plural else 'singular'}")
        return word

    def __format__(self, spec: str) -> str:
        """A noun phrase: ``WORD...[.pl]``: the words stand before the noun.

        ``a`` becomes an before a vowel and vanishes in the plural, ``this`` has the plural these, digits become words
        and bring the plural; ``is/are`` chooses by the noun's own number.
        """
        if "/" in spec:
            return spec.split("/")[not self.singular]
        head, _, number = spec.partition(".")
        words = head.split()
        first = words[0] if words else ""
        several = first.isdigit() and int(first) != 1
        plural = several or number == "pl" or not self.singular
        words.append(self.form(plural))
        if first.isdigit():
            words[0] = number_word(int(first))
        elif first == "a":
            words[:1] = [] if plural else [indefinite_article(words[1])]
        elif first == "this" and plural:
            words[0] = "these"
        return " ".join(words)
