"""Draws the phrasebook's sentences, splits them by combination and joins them to what a traveller says in one breath.

The unit of the split is a combination: a phrase with its slots filled, together with all its paraphrases. Held-out
combinations never occur in training, but each of their words does: to translate them, a model must put together what it
knows. Knows phrases only as something that can be drawn from.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcmbr_fairseq.errors import UserError
from phrasebook.phrase import Entry, Pair, Phrase, Sentence

PARAPHRASES = 3  # realisations drawn of each combination: what makes the model's distribution genuinely spread
MIN_OCCURRENCES = 2  # times that each word of a held-out sentence occurs in training, at least
HELD_OUT_SHARE = 0.25  # of a phrase's combinations, at most
TRIES = 300  # draws in a row without anything new after which a phrase counts as exhausted
TURN_LENGTHS = (1, 2, 3)  # sentences in one pair, drawn evenly


@dataclass(frozen=True)
class Combination:
    """A phrase (its topic, and its number there) with its slots filled, and the distinct sentences drawn of it."""

    phrase: tuple[int, int]
    sentences: tuple[Sentence, ...]


Spoken = tuple[int, Sentence]  # topic, sentence


@dataclass(frozen=True)
class Phrasebook:
    """The parallel corpus: (English, German) pairs of one to three sentences, all distinct."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]


def build(topics: Sequence[Sequence[Phrase]], pairs: int, valid: int, test: int, seed: int) -> Phrasebook:
    """Make a corpus of ``pairs`` pairs altogether.

    Args:
        topics: what to draw from; sentences are joined within a topic only.
        pairs: pairs in train, valid and test together.
        valid: pairs in valid, made of as many combinations that occur nowhere else.
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
    trained, held_out = hold_out(draw(topics, pairs - valid - test, rng), valid + test, rng)
    return Phrasebook(
        join(trained, pairs - valid - test, rng),
        join(held_out[:valid], valid, rng),
        join(held_out[valid:], test, rng),
    )


def draw(topics: Sequence[Sequence[Phrase]], sentences: int, rng: random.Random) -> list[Combination]:
    """Combinations of all phrases in turn, until the next might bring the sentence pairs to more than ``sentences``.

    Each English sentence belongs to one combination only, so that no source is both held out and trained on.

    Raises:
        UserError: there are not so many.
    """
    sources: set[str] = set()
    drawn: list[Combination] = []
    room = sentences
    streams = {
        (topic, number): combinations(phrase, rng)
        for topic, phrases in enumerate(topics)
        for number, phrase in enumerate(phrases)
    }
    while room >= PARAPHRASES:
        if not streams:
            raise UserError(f"--pairs must be lower: these phrases give {sentences - room} sentences, not {sentences}")
        for phrase in list(streams):
            found = next(streams[phrase], None)
            if found is None:
                del streams[phrase]
            elif room >= PARAPHRASES and sources.isdisjoint(sentence.pair[0] for sentence in found):
                sources.update(sentence.pair[0] for sentence in found)
                drawn.append(Combination(phrase, found))
                room -= len(found)
    return drawn


def combinations(phrase: Phrase, rng: random.Random) -> Iterator[tuple[Sentence, ...]]:
    """The sentences of one new combination after the other, until the phrase is exhausted."""
    seen: set[tuple[Entry, ...]] = set()
    failures = 0
    while len(seen) < phrase.combinations and failures < TRIES:
        filled = phrase.draw(rng)
        if filled in seen or len(set(filled)) < len(filled):  # nobody travels from Berlin to Berlin
            failures += 1
            continue
        failures = 0
        seen.add(filled)
        yield tuple(dict.fromkeys(phrase.realise(filled, rng) for _ in range(PARAPHRASES)))


def hold_out(drawn: list[Combination], count: int, rng: random.Random) -> tuple[list[Spoken], list[Spoken]]:
    """Take ``count`` combinations out of training.

    Returns:
        all sentences of the others, and one sentence of each combination taken out; both in random order.

    Raises:
        UserError: too few combinations can be spared.
    """
    left = Counter(word for combination in drawn for word in words_of(combination.sentences))
    spare = {phrase: int(n * HELD_OUT_SHARE) for phrase, n in Counter(each.phrase for each in drawn).items()}
    trained: list[Spoken] = []
    held_out: list[Spoken] = []
    for combination in rng.sample(drawn, len(drawn)):
        topic = combination.phrase[0]
        own = Counter(words_of(combination.sentences))
        sentence = rng.choice(combination.sentences)
        spared = all(left[word] - own[word] >= MIN_OCCURRENCES for word in words_of([sentence]))
        if len(held_out) < count and spare[combination.phrase] and spared:
            spare[combination.phrase] -= 1
            left.subtract(own)
            held_out.append((topic, sentence))
        else:
            trained.extend((topic, each) for each in combination.sentences)
    if len(held_out) < count:
        raise UserError(f"--valid plus --test must be at most {len(held_out)} for so few pairs: raise --pairs")
    rng.shuffle(trained)
    return trained, held_out


def words_of(sentences: Sequence[Sentence]) -> Iterator[str]:
    """The words without the punctuation at their end, each marked with its language; each once for a sentence."""
    for sentence in sentences:
        for language, text in zip(("en", "de"), sentence.pair, strict=True):
            yield from dict.fromkeys(f"{language} {word.rstrip(',.?!')}" for word in text.split())


def join(sentences: Sequence[Spoken], count: int, rng: random.Random) -> list[Pair]:
    """``count`` distinct pairs, each of one to three sentences of a topic; every sentence is in one of them at least.

    Raises:
        UserError: the sentences are too few for so many distinct pairs.
    """
    by_topic: dict[int, list[Sentence]] = {}
    for topic, sentence in sentences:
        by_topic.setdefault(topic, []).append(sentence)
    joined: dict[Pair, None] = {}
    for topic, first in itertools.islice(itertools.cycle(sentences), TRIES * count):
        if len(joined) == count:
            break
        turn = take_turn(first, by_topic[topic], rng)
        joined[" ".join(each.pair[0] for each in turn), " ".join(each.pair[1] for each in turn)] = None
    if len(joined) < count:
        raise UserError(f"--pairs must be lower: {len(sentences)} sentences give {len(joined)} pairs, not {count}")
    return list(joined)


def take_turn(first: Sentence, fellows: Sequence[Sentence], rng: random.Random) -> list[Sentence]:
    """``first`` and up to two others that do not change between Sie and du."""
    turn = [first]
    length = rng.choice(TURN_LENGTHS)
    for other in rng.sample(fellows, min(2 * length, len(fellows))):
        forms = {each.formal for each in (*turn, other)} - {None}
        if len(turn) < length and len(forms) < 2 and other is not first:
            turn.append(other)
    return turn
