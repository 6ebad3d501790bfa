"""German noun phrases of the phrasebook: articles, adjective endings and noun forms, each from its table.

A phrase's template asks for a noun in the words of a grammar book: ``{room:ein groß.acc}`` is the accusative "ein
großes Zimmer", ``{room:zum}`` the dative "zum Zimmer". The tables are those of any German grammar: strong, weak
and mixed declension. Pure text; nothing here knows about phrases or sampling.
"""

import functools
from dataclasses import dataclass

from num2words import num2words

CASES = ("nom", "acc", "dat", "gen")
#: Every table below has the columns masculine, feminine, neuter, plural.
COLUMNS = {"m": 0, "f": 1, "n": 2, "pl": 3}
Row = tuple[str, str, str, str]
Table = dict[str, Row]

DEFINITE: Table = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "den"),
    "gen": ("des", "der", "des", "der"),
}
#: What ein, kein and the possessives add to their stem.
EIN_ENDINGS: Table = {
    "nom": ("", "e", "", "e"),
    "acc": ("en", "e", "", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("es", "er", "es", "er"),
}
#: What dies-, welch- and jed- add to their stem.
DIES_ENDINGS: Table = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("es", "er", "es", "er"),
}
#: Adjectives without a determiner, or after a number.
STRONG: Table = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("en", "er", "en", "er"),
}
#: Adjectives after ein, kein and the possessives.
MIXED: Table = {
    "nom": ("er", "e", "es", "en"),
    "acc": ("en", "e", "es", "en"),
    "dat": ("en", "en", "en", "en"),
    "gen": ("en", "en", "en", "en"),
}
#: Adjectives after der, dieser, welcher.
WEAK: Table = {
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en", "en", "en", "en"),
    "gen": ("en", "en", "en", "en"),
}
PERSONAL: Table = {
    "nom": ("er", "sie", "es", "sie"),
    "acc": ("ihn", "sie", "es", "sie"),
    "dat": ("ihm", "ihr", "ihm", "ihnen"),
}
RELATIVE: Table = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "denen"),
    "gen": ("dessen", "deren", "dessen", "deren"),
}
EIN_WORDS = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "Ihr")
DIES_WORDS = ("dies", "welch", "jed")
PRONOUNS = {"pron": PERSONAL, "rel": RELATIVE}
#: A contracted preposition in a template stands for preposition, definite article and case.
PREPOSITIONS = {
    "zum": ("zu", "dat"),
    "vom": ("von", "dat"),
    "beim": ("bei", "dat"),
    "im": ("in", "dat"),
    "am": ("an", "dat"),
    "ins": ("in", "acc"),
    "ans": ("an", "acc"),
}
CONTRACTIONS = {
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("bei", "dem"): "beim",
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("in", "das"): "ins",
    ("an", "das"): "ans",
}


@functools.cache
def number_word(number: int) -> str:
    """A cardinal in words as German writes it before a noun in the plural: 21 is "einundzwanzig"."""
    return str(num2words(number, lang="de"))


def ordinal_stem(number: int) -> str:
    """An ordinal without its ending: 3 is "dritt"."""
    return str(num2words(number, lang="de", to="ordinal")).removesuffix("e")


def determine(determiner: str, case: str, column: int) -> tuple[str, Table]:
    """The inflected determiner, and the table of endings that an adjective takes after it.

    Args:
        determiner: ``der``, ``0`` (no article), one of EIN_WORDS or DIES_WORDS, or a number in digits.
        case: one of CASES.
        column: one of the values of COLUMNS.

    Raises:
        ValueError: the determiner is none of these.
    """
    plural = column == COLUMNS["pl"]
    if determiner == "der":
        return DEFINITE[case][column], WEAK
    if determiner == "0" or (determiner == "ein" and plural):  # "ein" has no plural: "eine Gabel", "Gabeln"
        return "", STRONG
    if determiner in EIN_WORDS:
        return determiner + EIN_ENDINGS[case][column], MIXED
    if determiner in DIES_WORDS:
        return determiner + DIES_ENDINGS[case][column], WEAK
    if determiner.isdigit():
        return number_word(int(determiner)), STRONG
    raise ValueError(f"unknown German determiner {determiner!r}")


@dataclass(frozen=True)
class GermanNoun:
    """A noun with the forms from which all others follow.

    Attributes:
        singular: nominative singular; empty for a noun that has only a plural ("Eltern").
        gender: ``m``, ``f`` or ``n``; ``pl`` for a noun that has only a plural.
        genitive: genitive singular; a masculine whose genitive ends in -n is weak (den Kollegen, dem Kollegen).
        plural: nominative plural; empty for a noun that has none ("Milch").
        dative_plural: dative plural where it does not follow from the plural ("mit zwei Bier").
        tail: what stands behind the noun unchanged ("Flasche" + "Wasser").
        at: the preposition that says "at this place": in, an or auf.
    """

    singular: str
    gender: str
    genitive: str
    plural: str = ""
    dative_plural: str = ""
    tail: str = ""
    at: str = "in"

    def form(self, case: str, plural: bool) -> str:
        """The noun itself in a case and number, without its tail.

        Raises:
            ValueError: the noun does not have this number.
        """
        if plural:
            if not self.plural:
                raise ValueError(f"{self.singular} has no plural")
            return self._dative_plural() if case == "dat" else self.plural
        if not self.singular:
            raise ValueError(f"{self.plural} has no singular")
        weak = self.gender == "m" and self.genitive.endswith("n")
        return self.genitive if case == "gen" or (weak and case != "nom") else self.singular

    def _dative_plural(self) -> str:
        adds_n = self.plural.endswith(("e", "er", "el"))
        return self.dative_plural or (self.plural + "n" if adds_n else self.plural)

    def __format__(self, spec: str) -> str:
        """A noun phrase: ``DETERMINER ADJECTIVE-STEM....CASE[.pl]``.

        Beside the determiners of :func:`determine`: a contracted preposition (``zum``, ``im``, ...) or ``at`` (this
        place's own preposition) brings its case; ``pron`` and ``rel`` are pronouns in place of the noun; ``~`` among
        the adjectives leaves the noun out ("ich nehme den roten"); ``ist/sind`` chooses by the noun's own number;
        ``gender`` is the noun's gender, for a :class:`GermanTrade`.
        """
        if spec == "gender":
            return self.gender
        if "/" in spec:
            return spec.split("/")[self.gender == "pl"]
        head, *features = spec.split(".")
        determiner, *stems = head.split()
        preposition = ""
        if determiner == "at" or determiner in PREPOSITIONS:
            preposition, case = (self.at, "dat") if determiner == "at" else PREPOSITIONS[determiner]
            determiner = "der"
        else:
            case = features.pop(0)
        several = determiner.isdigit() and determiner not in ("0", "1")
        plural = several or features == ["pl"] or self.gender == "pl"
        return self._phrase(preposition, "ein" if determiner == "1" else determiner, stems, case, plural)

    def _phrase(self, preposition: str, determiner: str, stems: list[str], case: str, plural: bool) -> str:
        column = COLUMNS["pl" if plural else self.gender]
        if determiner in PRONOUNS:
            return PRONOUNS[determiner][case][column]
        article, endings = determine(determiner, case, column)
        adjectives = [stem + endings[case][column] for stem in stems if stem != "~"]
        noun = [] if "~" in stems else [self.form(case, plural), self.tail]
        if preposition:
            article = CONTRACTIONS.get((preposition, article), f"{preposition} {article}")
        return " ".join(word for word in (article, *adjectives, *noun) if word)


@dataclass(frozen=True)
class GermanAdjective:
    """An adjective: ``{size}`` is the form of the predicate ("das ist teuer"), ``{size:stem}`` goes into a noun's
    specification ("teur", as in "ein teures Zimmer")."""

    word: str
    stem: str

    def __format__(self, spec: str) -> str:
        return self.stem if spec == "stem" else self.word


@dataclass(frozen=True)
class GermanTrade:
    """A trade in the predicate: ``{job:m}`` of a man, ``{job:f}`` of a woman, ``{job:{who:gender}}`` as ``who`` is."""

    man: str
    woman: str

    def __format__(self, spec: str) -> str:
        return {"m": self.man, "f": self.woman}[spec]


@dataclass(frozen=True)
class GermanVerbPhrase:
    """An infinitive with its objects; ``{do:bitte}`` puts a word where German has it, behind the pronouns."""

    before: str
    after: str

    def __format__(self, spec: str) -> str:
        return f"{self.before} {spec} {self.after}"
