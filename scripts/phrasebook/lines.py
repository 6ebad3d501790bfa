"""Reads the lexicon's lines: one entry a line, English before the equals sign, German after it."""

from collections.abc import Sequence

from phrasebook.english import EnglishNoun
from phrasebook.german import GermanAdjective, GermanNoun, GermanTrade, GermanVerbPhrase
from phrasebook.phrase import Entry

_GENDERS = {"der": "m", "die": "f", "das": "n"}


def words(text: str) -> list[Entry]:
    """Plain text on both sides: ``Munich = München``; ``/`` separates several translations."""
    return [Entry((english,), tuple(german.split(" / "))) for english, german in _sides(text)]


def adjectives(text: str) -> list[Entry]:
    """Adjectives: ``expensive = teuer:teur``, the stem behind the colon where it is not the word itself."""
    return [Entry((english,), tuple(map(_adjective, german.split(" / ")))) for english, german in _sides(text)]


def verb_phrases(text: str) -> list[Entry]:
    """Infinitives: ``help me = mir * helfen``, the asterisk where adverbs and "bitte" go."""
    return [
        Entry((english,), tuple(GermanVerbPhrase(*variant.split("*")) for variant in german.split(" / ")))
        for english, german in _sides(text)
    ]


def trades(text: str) -> list[Entry]:
    """Trades: ``a teacher = Lehrer / Lehrerin``, of a man and of a woman."""
    return [Entry((english,), (GermanTrade(*german.split(" / ")),)) for english, german in _sides(text)]


def nouns(text: str) -> list[Entry]:
    """Nouns with their forms, as the lexicon describes them.

    Raises:
        ValueError: a line's articles contradict each other or the order of the forms.
    """
    return [Entry((_english(english),), tuple(map(_german, german.split(" / ")))) for english, german in _sides(text)]


def named(entries: Sequence[Entry], *names: str) -> list[Entry]:
    """Those entries whose English side is one of ``names``.

    Raises:
        ValueError: there is no such entry.
    """
    by_name = {f"{entry.en[0]}": entry for entry in entries}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise ValueError(f"no entry is called {missing}")
    return [by_name[name] for name in names]


def _sides(text: str) -> list[tuple[str, str]]:
    lines = (line.partition(" = ") for line in text.strip().split("\n"))
    return [(english, german) for english, _, german in lines]


def _adjective(text: str) -> GermanAdjective:
    word, _, stem = text.partition(":")
    return GermanAdjective(word, stem or word)


def _english(text: str) -> EnglishNoun:
    singular, _, plural = text.partition(", ")
    return EnglishNoun(singular.replace("-", "") if singular == "-" else singular, "" if plural == "-" else plural)


def _german(text: str) -> GermanNoun:
    text, _, tail = text.partition(" | ")
    text, _, at = text.partition(" @")
    singular, genitive, plural, dative, *_ = [*map(_split_article, text.split(", ")), ("", "")]
    gender = _GENDERS[singular[0]] if singular[1] else "pl"
    expected = {"m": "des", "n": "des", "f": "der", "pl": ""}[gender]
    if genitive[0] != expected or plural[0] not in ("die", "") or dative[0] not in ("den", ""):
        raise ValueError(f"the forms must be nominative, genitive, plural (and dative plural): {text}")
    return GermanNoun(singular[1], gender, genitive[1], plural[1], dative[1], tail, at or "in")


def _split_article(text: str) -> tuple[str, str]:
    article, _, word = text.partition(" ")
    return ("", "") if article == "-" else (article, word)
