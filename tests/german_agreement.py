"""An agreement checker for German text, written from the grammar's tables alone: it shares nothing with the generator.

It knows nouns by their forms (what a dictionary gives) and determiners and adjective endings by the tables below, and
finds noun phrases in plain sentences: determiner, adjectives, noun.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

#: Rows: case; columns: masculine, feminine, neuter, plural; each cell: determiner, ending of an adjective after it.
AFTER_DER = """
nom der:e  die:e  das:e  die:en
acc den:en die:e  das:e  die:en
dat dem:en der:en dem:en den:en
gen des:en der:en des:en der:en
"""
AFTER_KEIN = """
nom kein:er   keine:e   kein:es   keine:en
acc keinen:en keine:e   kein:es   keine:en
dat keinem:en keiner:en keinem:en keinen:en
gen keines:en keiner:en keines:en keiner:en
"""
AFTER_DIESER = """
nom dieser:e  diese:e   dieses:e  diese:en
acc diesen:en diese:e   dieses:e  diese:en
dat diesem:en dieser:en diesem:en diesen:en
gen dieses:en dieser:en dieses:en dieser:en
"""
#: Without a determiner, and after a number.
ALONE = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("en", "er", "en", "er"),
}
COLUMNS = "mfnp"
#: preposition (contracted or not) -> its case; those that take two cases are left out
PREPOSITIONS = {
    **dict.fromkeys("mit zu von bei aus seit gegenüber".split(), "dat"),
    **dict.fromkeys("für ohne gegen um".split(), "acc"),
}
CONTRACTED = {
    "zum": "dat:mn", "zur": "dat:f", "vom": "dat:mn", "beim": "dat:mn", "im": "dat:mn", "am": "dat:mn", "ins": "acc:n",
}  # fmt: skip


class NounForm(NamedTuple):
    """What a noun's form may be: its column (gender or plural) and its case."""

    column: str
    case: str


class Problem(NamedTuple):
    """A noun phrase that no cell of the tables allows."""

    phrase: str
    sentence: str


def _cells(table: str, stem: str, replacement: str) -> Iterator[tuple[str, NounForm, str]]:
    for line in table.strip().split("\n"):
        case, *cells = line.split()
        for column, cell in zip(COLUMNS, cells, strict=True):
            determiner, ending = cell.split(":")
            yield determiner.replace(stem, replacement, 1), NounForm(column, case), ending


def determiners() -> dict[str, set[tuple[NounForm, str]]]:
    """determiner -> where it stands, and the ending of an adjective after it."""
    found: dict[str, set[tuple[NounForm, str]]] = {}
    tables = [("der", AFTER_DER, "", "")]
    tables += [(w, AFTER_KEIN, "kein", w) for w in "ein kein mein dein unser ihr".split()]
    tables += [(w, AFTER_DIESER, "dies", w) for w in ("dies", "welch", "jed")]
    for word, table, stem, replacement in tables:
        for determiner, form, ending in _cells(table, stem, replacement):
            if word == "ein" and form.column == "p":
                continue
            found.setdefault(determiner, set()).add((form, ending))
    for contracted, where in CONTRACTED.items():
        case, columns = where.split(":")
        found[contracted] = {(NounForm(column, case), "en" if case == "dat" else "e") for column in columns}
    return found


DETERMINERS = determiners()


class Checker:
    """Checks sentences against the forms of known nouns and the stems of known adjectives."""

    def __init__(self, nouns: dict[str, set[NounForm]], adjective_stems: Iterable[str], numbers: Iterable[str]):
        self.nouns = nouns
        self.stems = set(adjective_stems)
        self.numbers = set(numbers)

    def problems(self, sentence: str) -> list[Problem]:
        """The noun phrases of a sentence in which determiner, adjectives, noun and preposition do not agree."""
        words = re.findall(r"[\w-]+|[^\w\s]", sentence)
        found = []
        for end, word in enumerate(words):
            if word not in self.nouns or word == "Uhr" and words[end - 1] in {"ein", *self.numbers}:  # "um acht Uhr"
                continue
            start = end
            while start > 0 and self._ending(words[start - 1]) is not None:
                start -= 1
            before = words[start - 1] if start else ""
            preposition = words[start - 2] if start > 1 else ""
            if not self._agrees(preposition, before, words[start:end], self.nouns[word]):
                found.append(Problem(" ".join(words[max(0, start - 2) : end + 1]), sentence))
        return found

    def _ending(self, word: str) -> str | None:
        for length in (2, 1):
            if word[-length:] in ("e", "er", "en", "em", "es") and word[:-length].lower() in self.stems:
                return word[-length:]
        return None

    def _agrees(self, preposition: str, before: str, adjectives: list[str], forms: set[NounForm]) -> bool:
        endings = {self._ending(word) for word in adjectives}
        lower = before.lower()
        if lower in DETERMINERS:
            allowed = {form for form, ending in DETERMINERS[lower] if endings <= {ending}}
            case = PREPOSITIONS.get(preposition.lower())
        else:
            is_number = lower in self.numbers
            cells = {NounForm(column, case) for case in ALONE for column in (COLUMNS if not is_number else "p")}
            allowed = {form for form in cells if endings <= {ALONE[form.case][COLUMNS.index(form.column)]}}
            case = PREPOSITIONS.get(preposition.lower() if is_number else lower)
        return bool({form for form in allowed & forms if case in (None, form.case)})
