"""Draws the phrasebook's pairs and splits them by combination. Knows phrases only as something that can be drawn from.

The unit is a combination: a phrase with its slots filled, together with all its paraphrases. Held-out combinations
never occur in training, but each of their words does: to translate them, a model must put together what it knows.
"""

import random
from collections import Counter
from dataclasses import dataclass
from typing import Dict, Iterator, List, Sequence, Set, Tuple

from dcmbr_fairseq.corpus.phrasebook.phrase import Entry, Pair, Phrase
from dcmbr_fairseq.errors import UserError

PARAPHRASES = 3  # realisations drawn of each combination: what makes the model's distribution genuinely spread
MIN_OCCURRENCES = 2  # times that each word of a held-out pair occurs in training, at least
HELD_OUT_SHARE = 0.25  # of a phrase's combinations, at most
TRIES = 300  # draws in a row without anything new after which a phrase counts as exhausted


@dataclass(frozen=True)
class Combination:
    """A phrase with its slots filled, and the distinct pairs drawn of it."""

    phrase: int
    pairs: Tuple[Pair, ...]


@dataclass(frozen=True)
class Phrasebook:
    """The parallel corpus: (English, German) pairs, all distinct; valid and test have one pair for each source."""

    train: List[Pair]
    valid: List[Pair]
    test: List[Pair]


def words_of(text: str) -> Set[str]:
    """The words of a sentence, without the punctuation at their end."""
    return {word.rstrip(",.?!") for word in text.split()}


def build(phrases: Sequence[Phrase], pairs: int, valid: int, test: int, seed: int) -> Phrasebook:
    """Make a corpus of ``pairs`` pairs altogether.

    Args:
        phrases: what to draw from.
        pairs: pairs in train, valid and test together.
        valid: pairs, each of another combination, in valid.
        test: the same for test.
        seed: the same seed gives the same corpus.

    Raises:
        UserError: fewer than 10 training pairs for each held-out pair are asked for, or more than can be made.
    """
    if min(valid, test, seed) < 0 or pairs < 11 * (valid + test) or pairs < 1:
        raise UserError(
            f"--pairs must be at least 11 times --valid plus --test, and none may be negative: got --pairs {pairs}, "
            f"--valid {valid}, --test {test}, --seed {seed}"
        )
    rng = random.Random(seed)
    drawn = draw(phrases, pairs + (PARAPHRASES - 1) * (valid + test), rng)
    train, held_out = hold_out(drawn, valid + test, rng)
    return Phrasebook(trim(train, pairs - valid - test), held_out[:valid], held_out[valid:])


def draw(phrases: Sequence[Phrase], pairs: int, rng: random.Random) -> List[Combination]:
    """Combinations of all phrases in turn until they hold at least ``pairs`` pairs.

    Each English sentence belongs to one combination only, so that no source is both held out and trained on.

    Raises:
        UserError: there are not so many.
    """
    sources: Set[str] = set()
    drawn: List[Combination] = []
    missing = pairs
    streams = {number: combinations(phrase, rng) for number, phrase in enumerate(phrases)}
    while missing > 0:
        if not streams:
            raise UserError(f"--pairs must be at most {pairs - missing} with these phrases, got {pairs}: ask for fewer")
        for number in list(streams):
            found = next(streams[number], None)
            if found is None:
                del streams[number]
            elif sources.isdisjoint(english for english, _ in found):
                sources.update(english for english, _ in found)
                drawn.append(Combination(number, found))
                missing -= len(found)
    return drawn


def combinations(phrase: Phrase, rng: random.Random) -> Iterator[Tuple[Pair, ...]]:
    """The pairs of one new combination after the other, until the phrase is exhausted."""
    seen: Set[Tuple[Entry, ...]] = set()
    failures = 0
    while len(seen) < phrase.combinations and failures < TRIES:
        filled = phrase.draw(rng)
        if filled in seen or len(set(filled)) < len(filled):  # nobody travels from Berlin to Berlin
            failures += 1
            continue
        failures = 0
        seen.add(filled)
        yield tuple(dict.fromkeys(phrase.realise(filled, rng) for _ in range(PARAPHRASES)))


def count_words(pairs: Sequence[Pair]) -> "Counter[str]":
    """In how many of the pairs each word occurs; English and German words are kept apart."""
    return Counter(word for pair in pairs for word in _marked_words(pair))


def _marked_words(pair: Pair) -> Iterator[str]:
    for language, text in zip(("en", "de"), pair, strict=True):
        yield from (f"{language} {word}" for word in sorted(words_of(text)))


def hold_out(drawn: List[Combination], count: int, rng: random.Random) -> Tuple[List[Pair], List[Pair]]:
    """Take ``count`` combinations out of training.

    Returns:
        the training pairs in random order, and one pair of each combination taken out.

    Raises:
        UserError: too few combinations can be spared.
    """
    left = count_words([pair for combination in drawn for pair in combination.pairs])
    spare = {phrase: int(n * HELD_OUT_SHARE) for phrase, n in Counter(each.phrase for each in drawn).items()}
    train: List[Pair] = []
    held_out: List[Pair] = []
    for combination in rng.sample(drawn, len(drawn)):
        own = count_words(combination.pairs)
        pair = rng.choice(combination.pairs)
        spared = all(left[word] - own[word] >= MIN_OCCURRENCES for word in _marked_words(pair))
        if len(held_out) < count and spare[combination.phrase] and spared:
            spare[combination.phrase] -= 1
            left -= own
            held_out.append(pair)
        else:
            train.extend(combination.pairs)
    if len(held_out) < count:
        raise UserError(f"--valid plus --test must be at most {len(held_out)} for so few pairs: raise --pairs")
    rng.shuffle(train)
    return train, held_out


def trim(train: List[Pair], size: int) -> List[Pair]:
    """Leave out pairs from the end until ``size`` remain; none whose words would become too rare."""
    left = count_words(train)
    kept: Dict[Pair, None] = dict.fromkeys(train)
    for pair in reversed(train):
        if len(kept) <= size:
            break
        if all(left[word] > MIN_OCCURRENCES for word in _marked_words(pair)):
            left.subtract(_marked_words(pair))
            del kept[pair]
    return list(kept)
