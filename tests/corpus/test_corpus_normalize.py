"""Normalisation of a line against sacremoses, and Romanian letters against their Unicode names."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from sacremoses import MosesPunctNormalizer

from dcmbr_fairseq.corpus.normalize import Normalization, normalize_line, punctuation, romanian

LANGUAGES = ["en", "de", "fr", "es", "cs", "ro", "ru"]
PIECES = st.sampled_from(
    list(" .,:;?!%()\"'`´‘’‚“”„«»–—…0129aZß\u00a0") + ["''", "nº\u00a0", "\u00a0cm", ',"', '."', "<"]
)
LINES = st.lists(PIECES | st.characters(exclude_categories=["Cs"]), max_size=30).map("".join)


@pytest.mark.parametrize("language", LANGUAGES)
def test_punctuation_is_exactly_sacremoses(language):
    truth = MosesPunctNormalizer(lang=language)

    @inputs(200)
    @given(LINES)
    def agree(line):
        assert punctuation(line, language) == truth.normalize(line)

    agree()


def test_languages_differ_where_moses_does():
    line = "Er sagte: „Ja“, und zahlte 1\u00a0000 € …"
    assert normalize_line(line, Normalization("de")) == 'Er sagte: "Ja", und zahlte 1,000 € ...'
    assert normalize_line(line, Normalization("en")) == 'Er sagte: "Ja," und zahlte 1.000 € ...'
    assert normalize_line(line, Normalization("de", punctuation=False)) == "Er sagte: „Ja“, und zahlte 1 000 € …"


@given(LINES, st.sampled_from(LANGUAGES), st.booleans())
def test_one_line_stays_one_line_for_every_tool(line, language, with_punctuation):
    normal = normalize_line(line, Normalization(language, with_punctuation))
    assert len(normal.splitlines()) <= 1 and "\ufeff" not in normal
    assert normal == " ".join(normal.split())


def test_words_on_both_sides_of_a_stray_line_end_stay_apart():
    for end in "\r\x0b\x0c\x1c\x85\u2028\u2029":
        assert normalize_line(f"one{end}two", Normalization("en")) == "one two"


def test_romanian_letters_get_their_comma():
    for letter in "sStT":
        case = "SMALL" if letter.islower() else "CAPITAL"
        comma = unicodedata.lookup(f"LATIN {case} LETTER {letter.upper()} WITH COMMA BELOW")
        cedilla = unicodedata.lookup(f"LATIN {case} LETTER {letter.upper()} WITH CEDILLA")
        for written in (cedilla, comma, f"{letter}\u0327", f"{letter}\u0326"):  # the last two: with a combining mark
            assert romanian(f"a{written}a") == f"a{comma}a"
            assert romanian(f"a{written}a", diacritics=False) == f"a{letter}a"


def test_romanian_without_marks_is_what_decomposition_leaves():
    sentence = "Țara și școala aşteaptă în câmp: „Învăţăm împreună”, 10 €, naïve, Ñandú"
    kept = normalize_line(sentence, Normalization("ro"))
    assert kept == 'Țara și școala așteaptă în câmp: "Învățăm împreună", 10 €, naïve, Ñandú'
    removed = normalize_line(sentence, Normalization("ro", diacritics=False))
    bare = "".join(c for c in unicodedata.normalize("NFD", kept) if not unicodedata.combining(c))
    assert removed == bare.replace("naive", "naïve").replace("Nandu", "Ñandú")  # only Romanian letters change
    assert normalize_line("şi", Normalization("en")) == "şi"  # Turkish text keeps its cedillas
