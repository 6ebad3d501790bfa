"""The phrasebook's grammar: inflection against written-out paradigms, and the whole corpus against an agreement checker
that was written from the grammar's tables alone."""

import datetime
import re

import pytest
from german_agreement import COLUMNS, Checker, NounForm
from phrasebook import build_phrasebook, german, measures
from phrasebook.english import EnglishNoun
from phrasebook.german import GermanAdjective, GermanNoun
from phrasebook.lines import nouns
from phrasebook.phrase import expand, phrase, render
from phrasebook.topics import TOPICS

TRAIN = GermanNoun("Zug", "m", "Zuges", "Züge")
TOWN = GermanNoun("Stadt", "f", "Stadt", "Städte")
ROOM = GermanNoun("Zimmer", "n", "Zimmers", "Zimmer")
COLLEAGUE = GermanNoun("Kollege", "m", "Kollegen", "Kollegen")
PARENTS = GermanNoun("", "pl", "", "Eltern")

PARADIGMS = [
    (TRAIN, "der klein", "der kleine Zug", "den kleinen Zug", "dem kleinen Zug", "des kleinen Zuges"),
    (TOWN, "der klein", "die kleine Stadt", "die kleine Stadt", "der kleinen Stadt", "der kleinen Stadt"),
    (ROOM, "der klein", "das kleine Zimmer", "das kleine Zimmer", "dem kleinen Zimmer", "des kleinen Zimmers"),
    (PARENTS, "der klein", "die kleinen Eltern", "die kleinen Eltern", "den kleinen Eltern", "der kleinen Eltern"),
    (TRAIN, "ein klein", "ein kleiner Zug", "einen kleinen Zug", "einem kleinen Zug", "eines kleinen Zuges"),
    (TOWN, "ein klein", "eine kleine Stadt", "eine kleine Stadt", "einer kleinen Stadt", "einer kleinen Stadt"),
    (ROOM, "ein klein", "ein kleines Zimmer", "ein kleines Zimmer", "einem kleinen Zimmer", "eines kleinen Zimmers"),
    (PARENTS, "mein alt", "meine alten Eltern", "meine alten Eltern", "meinen alten Eltern", "meiner alten Eltern"),
    (TRAIN, "dies", "dieser Zug", "diesen Zug", "diesem Zug", "dieses Zuges"),
    (COLLEAGUE, "unser", "unser Kollege", "unseren Kollegen", "unserem Kollegen", "unseres Kollegen"),
    (TRAIN, "0 schnell", "schneller Zug", "schnellen Zug", "schnellem Zug", "schnellen Zuges"),
    (TOWN, "0 schön", "schöne Stadt", "schöne Stadt", "schöner Stadt", "schöner Stadt"),
    (ROOM, "3 klein", "drei kleine Zimmer", "drei kleine Zimmer", "drei kleinen Zimmern", "drei kleiner Zimmer"),
    (TOWN, "1", "eine Stadt", "eine Stadt", "einer Stadt", "einer Stadt"),
    (TRAIN, "rel", "der", "den", "dem", "dessen"),
    (PARENTS, "rel", "die", "die", "denen", "deren"),
]


@pytest.mark.parametrize("noun, words, nom, acc, dat, gen", PARADIGMS)
def test_paradigm(noun: GermanNoun, words: str, nom: str, acc: str, dat: str, gen: str) -> None:
    assert [format(noun, f"{words}.{case}") for case in german.CASES] == [nom, acc, dat, gen]


@pytest.mark.parametrize(
    "noun, spec, expected",
    [
        (TRAIN, "zum", "zum Zug"),
        (TOWN, "zum", "zur Stadt"),
        (TOWN, "im", "in der Stadt"),
        (TRAIN, "ins", "in den Zug"),
        (ROOM, "ins", "ins Zimmer"),
        (TRAIN, "am nächst", "am nächsten Zug"),
        (ROOM, "vom.pl", "von den Zimmern"),
        (GermanNoun("Markt", "m", "Marktes", "Märkte", at="auf"), "at", "auf dem Markt"),
        (TRAIN, "der nächst ~.acc", "den nächsten"),
        (TRAIN, "pron.acc", "ihn"),
        (TRAIN, "ist/sind", "ist"),
        (PARENTS, "ist/sind", "sind"),
        (GermanNoun("Flasche", "f", "Flasche", "Flaschen", tail="Wasser"), "2.dat", "zwei Flaschen Wasser"),
        (GermanNoun("Bier", "n", "Biers", "Bier", "Bier"), "2.dat", "zwei Bier"),
        (GermanNoun("Herr", "m", "Herrn", tail="Weber"), "0.dat", "Herrn Weber"),
    ],
)
def test_german_specification(noun: GermanNoun, spec: str, expected: str) -> None:
    assert format(noun, spec) == expected


@pytest.mark.parametrize(
    "noun, spec, expected",
    [
        (EnglishNoun("apple", "apples"), "a", "an apple"),
        (EnglishNoun("apple", "apples"), "a red", "a red apple"),
        (EnglishNoun("university", "universities"), "a", "a university"),
        (EnglishNoun("hour", "hours"), "a", "an hour"),
        (EnglishNoun("knife", "knives"), "21", "twenty-one knives"),
        (EnglishNoun("knife", "knives"), "1", "one knife"),
        (EnglishNoun("", "trousers"), "a blue", "blue trousers"),
        (EnglishNoun("", "trousers"), "this", "these trousers"),
        (EnglishNoun("", "trousers"), "is/are", "are"),
        (EnglishNoun("stamp", "stamps"), ".pl", "stamps"),
    ],
)
def test_english_specification(noun: EnglishNoun, spec: str, expected: str) -> None:
    assert format(noun, spec) == expected


@pytest.mark.parametrize("noun, spec", [(TRAIN, "jener.acc"), (PARENTS, "der.nom"), (TRAIN, "der.akk")])
def test_a_mistake_in_a_template_is_noticed(noun: GermanNoun, spec: str) -> None:
    if noun is PARENTS:
        with pytest.raises(ValueError, match="has no singular"):
            noun.form("nom", plural=False)
    else:
        with pytest.raises((ValueError, KeyError)):
            format(noun, spec)


@pytest.mark.parametrize(
    "hour, minute, en, de",
    [
        (1, 0, "one o'clock", "ein Uhr"),
        (2, 30, "half past two", "halb drei"),
        (12, 30, "half past twelve", "halb eins"),
        (7, 45, "quarter to eight", "Viertel vor acht"),
        (4, 25, "twenty-five past four", "fünf vor halb fünf"),
        (12, 50, "ten to one", "zehn vor eins"),
    ],
)
def test_spoken_times(hour: int, minute: int, en: str, de: str) -> None:
    entry = measures.spoken_time(hour, minute)
    assert (entry.en[0], entry.de[0]) == (en, de)


def test_written_times_and_prices() -> None:
    assert measures.written_time(14, 30).en == ("14:30", "2:30 pm")
    assert measures.written_time(14, 30).de == ("14:30 Uhr", "14.30 Uhr")
    assert measures.written_price(17, 50).en == ("€17.50",)
    assert measures.written_price(17, 50).de == ("17,50 €", "17,50 Euro")
    assert measures.spelled_price(21, 50).en == ("twenty-one euros fifty",)
    assert measures.spelled_price(21, 50).de == ("einundzwanzig Euro fünfzig",)


def test_dates() -> None:
    day = datetime.date(2026, 5, 3)
    assert measures.written_date(day).en == ("3 May", "May 3")
    spoken = measures.spoken_date(day)
    assert spoken.en == ("the third of May",)
    assert (format(spoken.de[0], "nom"), format(spoken.de[0])) == ("dritte Mai", "dritten Mai")
    assert measures.full_date(day).en == ("on Sunday, 3 May",)  # a calendar says so
    assert measures.full_date(day).de == ("am Sonntag, dem 3. Mai,", "am Sonntag, den 3. Mai,")
    assert measures.WEEKDAYS[0] == ("Monday", "Montag")


def test_templates_expand_in_reading_order() -> None:
    assert expand("(Wo|Wohin) geht (er|sie)?") == [
        "Wo geht er?", "Wo geht sie?", "Wohin geht er?", "Wohin geht sie?"
    ]  # fmt: skip
    assert phrase("(|oh, )yes.", ("ja.", "doch.")).en == ("yes.", "oh, yes.")


def test_render_tidies_spaces_commas_and_capitals() -> None:
    fillers: dict[str, object] = {"day": "am Montag, dem 4. Mai,"}
    assert render("ich komme {day}. wann  kommt ihr?", fillers) == "Ich komme am Montag, dem 4. Mai. Wann kommt ihr?"
    assert render("es ist der 4. mai.", {}) == "Es ist der 4. mai."  # an ordinal's point ends no sentence


@pytest.mark.parametrize("line", ["x, xs = der Zug, der Zuges, die Züge", "x, xs = die Stadt, der Stadt, das Städte"])
def test_contradictory_articles_in_the_lexicon_are_noticed(line: str) -> None:
    with pytest.raises(ValueError, match="nominative, genitive, plural"):
        nouns(line)


# --- The lexicon and the corpus ---------------------------------------------------------------------------------------
ALL_PHRASES = [each for phrases in TOPICS for each in phrases]


def all_german_sides() -> list[object]:
    entries = {id(e): e for each in ALL_PHRASES for slot in each.slots.values() for e in slot}
    return [side for entry in entries.values() for side in entry.de]


NOUNS = [side for side in all_german_sides() if isinstance(side, GermanNoun)]
#: What a word's end says about its gender, with hardly an exception in German.
SUFFIXES = {**dict.fromkeys(("ung", "keit", "tion", "schaft", "tät", "erei"), "f"), "hnchen": "n", "tchen": "n"}


def test_genders_follow_suffixes() -> None:
    checked = [noun for noun in NOUNS for suffix in SUFFIXES if noun.singular.endswith(suffix)]
    assert len(checked) > 20
    for noun in checked:
        assert all(noun.gender == gender for suffix, gender in SUFFIXES.items() if noun.singular.endswith(suffix)), noun


def test_every_noun_has_a_regular_table() -> None:
    assert len(NOUNS) > 400
    for noun in NOUNS:
        if noun.gender == "f":
            assert noun.genitive == noun.singular, noun
        elif noun.gender != "pl":
            assert re.fullmatch(re.escape(noun.singular) + "(s|s?es|n|en)", noun.genitive), noun
        if noun.plural and not noun.dative_plural:
            assert noun.form("dat", plural=True).endswith(("n", "s")), noun
        assert noun.singular[:1].isupper() or noun.plural[:1].isupper(), noun


def noun_forms() -> dict[str, set[NounForm]]:
    """What each form of a noun may be, from the dictionary's principal parts."""
    forms: dict[str, set[NounForm]] = {}

    def add(word: str, column: str, cases: str) -> None:
        forms.setdefault(word, set()).update(NounForm(column, case) for case in cases.split() if word)

    for noun in NOUNS:
        weak = noun.gender == "m" and noun.genitive.endswith("n")
        if noun.singular:
            add(noun.singular, noun.gender, "nom" if weak else "nom acc dat")
            add(noun.genitive, noun.gender, "acc dat gen" if weak else "gen")
        if noun.plural:
            ends = noun.plural + ("n" if re.search("(e|er|el)$", noun.plural) else "")
            add(noun.plural, "p", "nom acc gen")
            add(noun.dative_plural or ends, "p", "dat")
    return forms


@pytest.fixture(scope="module")
def checker() -> Checker:
    stems = {side.stem for side in all_german_sides() if isinstance(side, GermanAdjective)}
    stems |= {stem for each in ALL_PHRASES for text in each.de for stem in re.findall(r":\w+ (\w+)[ .}]", text)}
    numbers = [german.number_word(number) for number in range(2, 100)]
    return Checker(noun_forms(), stems, numbers)


@pytest.mark.parametrize(
    "wrong",
    [
        "Ich hätte gern ein Flasche Wasser.",
        "Wir suchen ein großer Zimmer.",
        "Ich komme mit das Auto.",
        "Der nächster Zug fährt um drei.",
        "Ich brauche drei kleinen Löffel.",
        "Das ist für meinem Mann.",
        "Ich warte seit zwei Jahre.",
        "Ich habe einer Kollegen gesehen.",
        "Er ist zum Apotheke gegangen.",
        "In meine Suppe ist der Haar.",
    ],
)
def test_the_checker_finds_mistakes(checker: Checker, wrong: str) -> None:
    assert checker.problems(wrong)


def test_agreement_in_the_whole_corpus(checker: Checker) -> None:
    book = build_phrasebook()
    sentences = {text for pairs in (book.train, book.valid, book.test) for _, text in pairs}
    problems = [problem for sentence in sorted(sentences) for problem in checker.problems(sentence)]
    assert not problems, problems[:10]
    assert set(COLUMNS) == {form.column for forms in checker.nouns.values() for form in forms}
