"""The phrasebook as a corpus: counts, splits, determinism, paraphrases, forms of address, the command."""

import itertools
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from fairseq_commands import REPOSITORY
from phrasebook import Phrasebook, build_phrasebook, make
from phrasebook.lines import words
from phrasebook.phrase import Pair, Phrase, phrase
from phrasebook.sampling import HELD_OUT_SHARE, MIN_OCCURRENCES, build, draw, hold_out, join
from phrasebook.topics import TOPICS

from dcmbr_fairseq.errors import UserError

SPLITS = ("train", "valid", "test")


@pytest.fixture(scope="module")
def book() -> Phrasebook:
    return build_phrasebook()


def tokens(text: str) -> set[str]:
    """Words and punctuation marks, found otherwise than the generator finds its words."""
    return set(re.findall(r"\w+|[^\w\s]", text))


def test_counts_are_as_promised(book: Phrasebook) -> None:
    assert [len(book.train), len(book.valid), len(book.test)] == [19000, 500, 500]
    assert len({*book.train, *book.valid, *book.test}) == 20000
    assert len({english for english, _ in book.valid + book.test}) == 1000


def test_no_held_out_sentence_is_in_training(book: Phrasebook) -> None:
    sources = {english for english, _ in book.train}
    assert sources.isdisjoint(english for english, _ in book.valid + book.test)


@pytest.mark.parametrize("side", [0, 1])
def test_every_held_out_token_occurs_in_training(book: Phrasebook, side: int) -> None:
    seen = Counter(token for pair in book.train for token in tokens(pair[side]))
    held_out = {token for pair in book.valid + book.test for token in tokens(pair[side])}
    assert len(held_out) > 500
    assert {token: seen[token] for token in held_out if seen[token] < MIN_OCCURRENCES} == {}


def test_many_sentences_have_several_translations() -> None:
    translations: dict[str, set[str]] = {}
    for combination in draw(TOPICS, 20000, random.Random(1)):
        for english, german in (sentence.pair for sentence in combination.sentences):
            translations.setdefault(english, set()).add(german)
    assert sum(len(found) > 1 for found in translations.values()) > 0.3 * len(translations)


FAMILIAR = re.compile(r"\b(du|dir|dich|dein\w*|geh|nimm|bieg|ruf|weck|sag|grüß|lass)\b", re.IGNORECASE)
POLITE = re.compile(r"(?<![.?!] )(?<!^)\b(Sie|Ihnen|Ihr\w*)\b")


def test_nobody_changes_between_the_forms_of_address(book: Phrasebook) -> None:
    texts = [german for _, german in book.train + book.valid + book.test]
    assert min(sum(bool(form.search(text)) for text in texts) for form in (FAMILIAR, POLITE)) > 1000
    assert not [text for text in texts if FAMILIAR.search(text) and POLITE.search(text)]


def test_a_name_decides_the_form_of_address(book: Phrasebook) -> None:
    forms: Counter[bool] = Counter()
    for english, german in book.train:
        called = re.match(r"(Mr \w+|Mrs \w+|\w+), (could|can|do|would|may|is|your|have|thank|give|how|say)\b", english)
        if called:
            formal = called[1].startswith("Mr")
            forms[formal] += 1
            assert not (FAMILIAR if formal else POLITE).search(german), (english, german)
    assert min(forms.values()) > 100


def test_every_template_renders_with_every_entry() -> None:
    for each in itertools.chain(*TOPICS):
        rounds = max([len(entries) for entries in each.slots.values()], default=1)
        for number in range(rounds):
            filled = [entries[number % len(entries)] for entries in each.slots.values()]
            pairs = each.all_pairs(filled)
            assert pairs
            for text in (text for pair in pairs for text in pair):
                assert text[0].isupper() or not text[0].isalpha(), text
                assert text[-1] in ".?!" and not re.search(r"[{}|()*]|  | [,.?!]|,[.?!]|/", text), text


def test_the_same_seed_gives_the_same_corpus_in_any_process(book: Phrasebook, tmp_path: Path) -> None:
    for hash_seed in ("1", "2"):
        line = [sys.executable, str(make.__file__), str(tmp_path / hash_seed), "--pairs", "3000"]
        line += ["--valid", "50", "--test", "60", "--seed", "7"]
        subprocess.run(line, check=True, cwd=REPOSITORY, env={**os.environ, "PYTHONHASHSEED": hash_seed})
    names = [f"{split}.{language}" for split in SPLITS for language in ("en", "de")]
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    lines = {name: (tmp_path / "1" / name).read_text("utf-8").split("\n")[:-1] for name in names}
    assert [len(lines[f"{split}.en"]) for split in SPLITS] == [2890, 50, 60]
    written = build_phrasebook(3000, 50, 60, seed=7)
    assert list(zip(lines["test.en"], lines["test.de"], strict=True)) == written.test
    assert written.test != build_phrasebook(3000, 50, 60, seed=8).test


# --- Sampling from phrases whose combinations can be read off the text -----------------------------------------------
NAMES = words("\n".join(f"person{i} = mensch{i}" for i in range(12)))
LIKES = phrase(["{a} likes {b}.", "{b} is liked by {a}."], ["{a} mag {b}.", "{a} hat {b} gern."], a=NAMES, b=NAMES)
KNOWS = phrase("{a} knows {b}.", ["{a} kennt {b}.", "{b} ist {a} bekannt."], a=NAMES, b=NAMES)
FIXED = phrase("Help!", "Hilfe!")


def combinations(pair: Pair) -> "list[tuple[str, ...]]":
    """(verb, subject, object) of each English sentence made by LIKES or KNOWS."""
    found = []
    for sentence in pair[0].split(".")[:-1]:
        first, second = re.findall(r"person\d+", sentence.lower())
        people = (second, first) if "liked by" in sentence else (first, second)
        found.append(("knows" if "knows" in sentence else "likes", *people))
    return found


@pytest.fixture(scope="module")
def small() -> Phrasebook:
    return build([[LIKES, KNOWS], [FIXED]], pairs=350, valid=15, test=15, seed=3)


def test_combinations_are_held_out_with_all_their_paraphrases(small: Phrasebook) -> None:
    trained = Counter(each for pair in small.train if "Help!" not in pair[0] for each in combinations(pair))
    valid = {each for pair in small.valid for each in combinations(pair)}
    test = {each for pair in small.test for each in combinations(pair)}
    assert len(valid) == len(test) == 15
    assert trained.keys().isdisjoint(valid | test) and valid.isdisjoint(test)
    assert max(trained.values()) > 1  # else the line above would say nothing about paraphrases


def test_both_sides_of_a_pair_say_the_same_in_the_same_order(small: Phrasebook) -> None:
    for english, german in small.train + small.test:
        if "Help!" not in english:
            for sentence, satz in zip(english.split(". "), german.split(". "), strict=True):
                assert sorted(re.findall(r"\d+", sentence)) == sorted(re.findall(r"\d+", satz))


def test_a_pair_has_one_to_three_sentences(book: Phrasebook) -> None:
    lengths = Counter(len(re.findall(r"[^\W\d][.?!]( |$)", english)) for english, _ in book.train)
    assert {1, 2, 3} <= lengths.keys() and sum(lengths[n] for n in (1, 2, 3)) > 0.95 * len(book.train)
    assert min(lengths[n] for n in (1, 2, 3)) > 0.2 * len(book.train)


def test_every_sentence_drawn_is_in_a_pair() -> None:
    trained, held_out = hold_out(draw([[LIKES, KNOWS]], 320, random.Random(1)), 20, random.Random(1))
    joined = join(trained, 320, random.Random(1))
    assert len(set(joined)) == 320
    for _, sentence in trained:
        assert any(sentence.pair[0] in english and sentence.pair[1] in german for english, german in joined)
    assert not any(sentence.pair[0] in english for _, sentence in held_out for english, _ in joined)


def test_a_phrase_without_slots_is_never_held_out(small: Phrasebook) -> None:
    assert ("Help!", "Hilfe!") in small.train


def test_no_entry_fills_two_slots(small: Phrasebook) -> None:
    pairs = [pair for pair in small.train + small.valid + small.test if "Help!" not in pair[0]]
    assert all(subject != other for pair in pairs for _, subject, other in combinations(pair))


def test_a_quarter_of_a_phrase_at_most_is_held_out() -> None:
    drawn = draw([[LIKES, KNOWS]], 330, random.Random(1))
    with pytest.raises(UserError, match="raise --pairs"):
        hold_out(drawn, int(len(drawn) * HELD_OUT_SHARE) + 1, random.Random(1))


@pytest.mark.parametrize("phrases, fewest, most", [([FIXED], 1, 1), ([LIKES], 132, 396)])
def test_more_than_there_is(phrases: list[Phrase], fewest: int, most: int) -> None:
    with pytest.raises(UserError, match=r"these phrases give (\d+) sentences, not 600") as error:
        draw([phrases], 600, random.Random(1))
    made = int(re.findall(r"give (\d+)", str(error.value))[0])
    assert fewest <= made <= most  # each of the 132 combinations gives one to three sentences
    with pytest.raises(UserError, match="1 sentences give 1 pairs, not 5"):
        join([(0, draw([[FIXED]], 3, random.Random(1))[0].sentences[0])], 5, random.Random(1))


# --- The command ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "flags, message",
    [
        (["--pairs", "500"], "--pairs must be at least 11 times --valid plus --test"),
        (["--seed", "-1"], "none may be negative"),
        (["--pairs", "0", "--valid", "0", "--test", "0"], "--pairs must be at least"),
    ],
)
def test_bad_numbers(flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make.main([str(tmp_path / "out"), *flags]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_out_dir_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("")
    assert make.main([str(tmp_path / "out")]) == 1
    assert "OUT_DIR must be a folder" in capsys.readouterr().err


def test_missing_package_is_named_with_the_remedy(tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY / 'scripts')!r}); sys.modules['num2words'] = None; "
        f"from phrasebook import make; sys.exit(make.main([{str(tmp_path / 'out')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 1
    assert "needs num2words" in done.stderr and "dcmbr_fairseq[demo]" in done.stderr
