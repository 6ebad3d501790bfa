"""Phrases: templates with slots, and their realisations as sentence pairs. Knows both languages only as text.

A phrase lists several English and several German templates; every English one is a correct translation of every German
one. ``(a|b)`` writes two templates as one, ``{slot:specification}`` is filled by the entry that stands in the slot.
"""

import itertools
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Pair = tuple[str, str]
_POLITE = re.compile(r"\b(Sie|Ihnen|Ihre?[mnrs]?)\b")
_GROUP = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True, eq=False)
class Entry:
    """One filler of a slot: interchangeable English and German sides (nouns, adjectives, plain text).

    Attributes:
        en: the English sides, the commonest first; anything that ``format`` understands.
        de: the German sides, each a correct translation of each English one.
        weight: how often it is drawn, relative to the other entries of the slot.
    """

    en: tuple[object, ...]
    de: tuple[object, ...]
    weight: int = 1


@dataclass(frozen=True)
class Count:
    """A number in a slot of its own: ``{cup:{n}.acc}`` hands it to a noun, ``{n:fehlt/fehlen}`` chooses a verb."""

    number: int

    def __format__(self, spec: str) -> str:
        return spec.split("/")[self.number != 1] if "/" in spec else str(self.number)


@dataclass(frozen=True)
class Addressee:
    """Who is spoken to: ``{you}`` calls them by their name, if any; ``{you:Sie/du}`` chooses the form of address."""

    name: str
    formal: bool

    def __format__(self, spec: str) -> str:
        if "/" in spec:
            return spec.split("/")[not self.formal]
        return f"{self.name}, " if self.name else ""


@dataclass(frozen=True)
class Sentence:
    """A sentence in both languages; ``formal`` says whether the German one says Sie (True), du (False) or neither."""

    pair: Pair
    formal: bool | None


@dataclass(frozen=True, eq=False)
class Phrase:
    """Templates in both languages, with the entries that each slot may hold.

    Whoever may be addressed as Sie or as du stands in the slot ``you``.
    """

    en: tuple[str, ...]
    de: tuple[str, ...]
    slots: Mapping[str, Sequence[Entry]]

    @property
    def combinations(self) -> int:
        """How many ways there are to fill the slots, counting those that fill two slots alike."""
        return math.prod(len(entries) for entries in self.slots.values())

    def draw(self, rng: random.Random) -> tuple[Entry, ...]:
        """One entry for each slot, drawn by weight."""
        return tuple(rng.choices(entries, [entry.weight for entry in entries])[0] for entries in self.slots.values())

    def realise(self, filled: Sequence[Entry], rng: random.Random) -> Sentence:
        """One sentence for these entries; each choice among variants prefers the earlier ones."""
        fillers = dict(zip(self.slots, filled, strict=True))
        english = {name: choose(entry.en, rng) for name, entry in fillers.items()}
        german = {name: choose(entry.de, rng) for name, entry in fillers.items()}
        pair = render(choose(self.en, rng), english), render(choose(self.de, rng), german)
        you = german.get("you")
        formal = you.formal if isinstance(you, Addressee) else True if _POLITE.search(pair[1]) else None
        return Sentence(pair, formal)

    def all_pairs(self, filled: Sequence[Entry]) -> set[Pair]:
        """Every sentence pair for these entries."""
        english = self._all_texts(self.en, [entry.en for entry in filled])
        german = self._all_texts(self.de, [entry.de for entry in filled])
        return set(itertools.product(english, german))

    def _all_texts(self, templates: Sequence[str], sides: Sequence[Sequence[object]]) -> list[str]:
        fillings = [dict(zip(self.slots, filling, strict=True)) for filling in itertools.product(*sides)]
        return [render(template, filling) for template in templates for filling in fillings]


def phrase(en: str | Sequence[str], de: str | Sequence[str], **slots: Sequence[Entry]) -> Phrase:
    """A phrase from its templates, with their ``(a|b)`` written out."""
    return Phrase(_expand_all(en), _expand_all(de), slots)


def expand(template: str) -> list[str]:
    """All templates that ``(a|b)`` abbreviates: "(Wo|Wohin) geht (er|sie)?" is four, in reading order."""
    group = _GROUP.search(template)
    if group is None:
        return [template]
    before, after = template[: group.start()], template[group.end() :]
    return [text for choice in group[1].split("|") for text in expand(before + choice + after)]


def _expand_all(templates: str | Sequence[str]) -> tuple[str, ...]:
    listed = [templates] if isinstance(templates, str) else templates
    return tuple(text for template in listed for text in expand(template))


def choose(variants: Sequence, rng: random.Random):
    """One variant; the k-th (from 1) with probability proportional to 1/k, as in language some ways are commoner."""
    return rng.choices(variants, [1 / rank for rank in range(1, len(variants) + 1)])[0]


def render(template: str, fillers: dict[str, object]) -> str:
    """The template filled, with single spaces and capital letters where sentences begin."""
    text = " ".join(template.format_map(fillers).split())
    text = re.sub(r",? ?([,.?!])", r"\1", text)
    return re.sub(r"(?:^|(?<=[^\W\d][.?!] ))\w", lambda start: start[0].upper(), text)
