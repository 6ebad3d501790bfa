"""Each rule of the corpus filter on pairs at both sides of its limit, and the memory of duplicates against a set."""

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.corpus.duplicates import SeenFingerprints, fingerprint
from dcmbr_fairseq.corpus.filters import RULES, Limits, Pair, first_offence, has_invalid_unicode, pair_of


def drops(rule, source, target, score=None, **limits):
    return RULES[rule](pair_of(source, target, score), Limits(**limits))


WORDS_100 = " ".join(["w"] * 100)
AT_THE_LIMITS = [  # rule, a pair that stays, a pair that goes
    ("empty", ("a", "b"), ("a", "")),
    ("empty", ("a", "b"), ("\u00a0 \u3000", "b")),
    ("unicode", ("tab\tand ü and 漢 and 👍🏽 and \u200d", "x"), ("x", "a\x07b")),
    ("unicode", ("soft\u00adhyphen", "x"), ("lost \ufffd", "x")),
    ("unicode", ("no-break\u00a0space", "x"), ("inner\rreturn", "x")),
    ("unicode", ("x", "y"), ("x", "next\x85line")),
    ("unicode", ("x", "y"), ("x", "paragraph\u2029separator")),
    ("unicode", ("x", "y"), ("private \ue000", "y")),
    ("unicode", ("x", "y"), ("no character \U0001fffe", "y")),
    ("html", ("1 < 2 > 0, I <3 you", "a<b"), ("x", "<p>Absatz</p>")),
    ("html", ("if a < b and c > d", "x"), ('<a href="http://x.y">link</a>', "x")),
    ("html", ("x", "y"), ("x<br/>y", "x")),
    ("html", ("x", "y"), ("x", "<!-- comment")),
    ("length", (WORDS_100, WORDS_100), (WORDS_100, WORDS_100 + " w")),
    ("length", (WORDS_100, "x"), (WORDS_100 + " w", "x")),
    ("word-length", ("ü" * 40, "x"), ("x", "ein " + "ü" * 41)),
    ("ratio", ("a b c d", "x"), ("a b c d e", "x")),
    ("ratio", ("x y", "a b c d e f g h"), ("x y", "a b c d e f g h i")),
    ("copy", ("Bonn", "Bonn."), ("Bonn", "Bonn")),
]


@pytest.mark.parametrize("rule, stays, goes", AT_THE_LIMITS)
def test_a_rule_drops_what_is_beyond_its_limit_and_nothing_else(rule, stays, goes):
    assert not drops(rule, *stays) and not drops(rule, *reversed(stays))
    assert drops(rule, *goes) and drops(rule, *reversed(goes))
    assert first_offence(pair_of(*stays), Limits(), {rule: RULES[rule]}) is None
    assert first_offence(pair_of(*goes), Limits(), {rule: RULES[rule]}) == rule


def test_the_limits_can_be_moved():
    assert drops("length", "a b c", "x", max_words=2) and not drops("length", "a b c", "x", max_words=3)
    assert drops("word-length", "abc", "x", max_word_length=2) and not drops(
        "word-length", "abc", "x", max_word_length=3
    )
    assert drops("ratio", "a b c", "x y", max_ratio=1.4) and not drops("ratio", "a b c", "x y", max_ratio=1.5)


@pytest.mark.parametrize(
    "score, per_word, dropped", [(-6.0, False, False), (-6.1, False, True), (-11.9, True, False), (-12.1, True, True),
                                 (math.nan, False, True), (None, False, False)],
)  # fmt: skip
def test_alignment_scores_are_compared_as_sums_or_per_word(score, per_word, dropped):
    limit = -3.0 if per_word else -6.0
    assert drops("score", "x", "one two three four", score, min_score=limit, score_per_word=per_word) == dropped


def test_a_pair_falls_to_the_first_rule_that_applies():
    html_and_long = pair_of("<p>" + " w" * 200, "x")
    assert first_offence(html_and_long, Limits(), RULES) == "html"
    without = {name: rule for name, rule in RULES.items() if name != "html"}
    assert first_offence(html_and_long, Limits(), without) == "length"


def test_invalid_unicode_is_what_its_categories_say():
    limits = Limits()
    for code in [*range(0x30000), *range(0xE0000, 0x110000)]:
        character = chr(code)
        if 0xD800 <= code < 0xE000:
            continue  # surrogates cannot come out of UTF-8
        category = unicodedata.category(character)
        no_character = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
        invalid = no_character or category in ("Cc", "Co", "Zl", "Zp") and character != "\t" or character == "\ufffd"
        assert has_invalid_unicode(Pair(character, "", [], []), limits) == invalid, hex(code)


@given(st.lists(st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 1), max_size=30), max_size=12))
def test_what_was_seen_before_is_known_as_to_a_set(batches):
    seen, truth = SeenFingerprints(), set()
    for batch in batches:
        expected = []
        for number in batch:
            expected.append(number not in truth)
            truth.add(number)
        assert seen.first_seen(np.array(batch, dtype=np.uint64)).tolist() == expected
        assert len(seen) == len(truth)


def test_duplicates_cost_8_bytes_each():
    dice = np.random.default_rng(1)
    seen = SeenFingerprints()
    for _ in range(100):
        numbers = dice.integers(0, 2**64, size=1000, dtype=np.uint64)
        assert seen.first_seen(numbers).all() and not seen.first_seen(numbers).any()
    assert sum(run.nbytes for run in seen._runs) == 8 * len(seen) == 800_000
    assert len(seen._runs) <= 7  # few arrays to search: lengths at least halve


def test_fingerprints_tell_the_sides_apart():
    pairs = [(b"a", b"b"), (b"b", b"a"), (b"ab", b""), (b"", b"ab"), (b"a b", b""), (b"a", b" b")]
    assert len({fingerprint(*pair) for pair in pairs}) == len(pairs)
    assert len(fingerprint(b"a", b"b")) == 8
