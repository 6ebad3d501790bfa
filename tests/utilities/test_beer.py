"""BEER's protocol against a stand-in that speaks it as BEER 2.0 does, its failure on an empty text included."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities import Comparison, build_utility
from dcmbr_fairseq.utilities import beer as beer_module
from dcmbr_fairseq.utilities.beer import PROBE, REFERENCES_PER_LINE, BeerUtility
from dcmbr_fairseq.utilities.tokens import moses_tokenizer

# As InteractiveApp.scala: fields are split at " ||| " and trailing empty ones are dropped (Java's split), tokens are
# split at spaces only, an empty text breaks the feature extraction, scores of all references come on one line.
STAND_IN = """#!{python}
import pathlib, sys

def score(hypothesis, reference):
    left, right = (set(text.split(" ")) for text in (hypothesis, reference))
    if "" in left | right:
        raise ValueError("empty text")
    return 0.949 * 2 * len(left & right) / (len(left) + len(right))

log = open(pathlib.Path(__file__).with_name("log"), "ab")
for line in sys.stdin.buffer:
    log.write(line)
    log.flush()
    fields = line.decode().rstrip("\\n").split(" ||| ")
    while fields and not fields[-1]:
        fields.pop()
    if fields[0] == "EVAL":
        print(" ||| ".join(str(score(fields[1], reference)) for reference in fields[2:]), flush=True)
    elif fields[0] == "EXIT":
        break
    else:
        print("Non existing command", file=sys.stderr)
"""

TEXTS = ["Ein Mann, der lacht.", "Ein Mann lacht .", "", "Das kostet 3 ||| 4 €", "Zwei\u00a0Frauen\tund\nein Kind", "!"]


def shared_tokens(hypothesis: str, reference: str) -> float:
    """The stand-in's score, from scratch."""
    left, right = (set(moses_tokenizer("de")(text).replace("|||", "| | |").split()) for text in (hypothesis, reference))
    return 0.949 * 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "beer_2.0" / "scripts" / "interactive"
    program.parent.mkdir(parents=True)
    (tmp_path / "beer_2.0" / "models" / "default").mkdir(parents=True)
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setattr(beer_module, "find_java", lambda name: "java")  # the stand-in needs none
    monkeypatch.setenv("BEER_HOME", str(tmp_path / "beer_2.0"))
    return tmp_path / "beer_2.0"


@pytest.fixture
def utility(home: Path) -> Iterator[BeerUtility]:
    beer = BeerUtility(language="de")
    yield beer
    beer.close()


def sent_lines(home: Path) -> list[str]:
    lines = (home / "scripts" / "log").read_text("utf-8").splitlines()
    return [line for line in lines if line != PROBE]


def test_scores_are_those_of_the_tokenised_texts(utility: BeerUtility) -> None:
    matrix = utility.pairwise(TEXTS, TEXTS[::-1])
    expected = [[shared_tokens(h, r) for r in TEXTS[::-1]] for h in TEXTS]
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)
    assert matrix.dtype == np.float64


def test_an_empty_side_is_never_sent_and_scores_zero(utility: BeerUtility, home: Path) -> None:
    matrix = utility.pairwise(["", "a b", " \u3000"], ["", "a", "\n"])
    assert utility._process.starts == 1
    assert matrix.tolist() == [[0, 0, 0], [0, pytest.approx(0.949 * 2 / 3), 0], [0, 0, 0]]
    assert sent_lines(home) == ["EVAL ||| a b ||| a"]


def test_only_empty_texts_need_no_answer(utility: BeerUtility) -> None:
    assert utility.pairwise([""], ["", " "]).tolist() == [[0, 0]]


def test_one_line_scores_a_hypothesis_against_its_pool(utility: BeerUtility, home: Path) -> None:
    references = [f"ref {i}" for i in range(REFERENCES_PER_LINE + 10)]
    matrix = utility.pairwise(["ref 3", "x"], references)
    assert matrix.shape == (2, len(references))
    assert matrix[0].argmax() == 3 and matrix[0, 3] == pytest.approx(0.949)
    assert len(sent_lines(home)) == 4  # two lines of references each


def test_batches_equal_single_sentences_and_repeat_no_pair(utility: BeerUtility, home: Path) -> None:
    batch = [Comparison(TEXTS, TEXTS), Comparison(TEXTS[:2], TEXTS[3:]), Comparison(TEXTS, TEXTS)]
    matrices = utility.pairwise_batch(batch)
    pairs = [(line.split(" ||| ")[1], r) for line in sent_lines(home) for r in line.split(" ||| ")[2:]]
    assert len(pairs) == len(set(pairs)) == 5 * 5  # of the six texts one is empty
    for comparison, matrix in zip(batch, matrices, strict=True):
        np.testing.assert_array_equal(matrix, utility.pairwise(*comparison))


def test_a_wrong_answer_is_one_sentence(home: Path) -> None:
    program = home / "scripts" / "interactive"
    program.write_text(program.read_text().replace('" ||| ".join(', '", ".join('))
    beer = BeerUtility(language="de")
    with pytest.raises(UserError, match="BEER answered '.*' where 2 scores were due"):
        beer.pairwise(["a"], ["a", "b"])
    beer.close()


def test_a_program_that_answers_twice_gives_no_shifted_scores(home: Path) -> None:
    program = home / "scripts" / "interactive"
    program.write_text(program.read_text().replace("        print(", "        for _ in range(2): print(", 1))
    beer = BeerUtility(language="de")
    with pytest.raises(UserError, match=r"BEER (answered|said) .* its answers are out of step, twice"):
        beer.pairwise(["a b", "a c", "a d"], ["a"])
    beer.close()


def test_signature(utility: BeerUtility) -> None:
    assert utility.signature() == "BEER|model:default|tok:moses-de|version:2.0"


def test_what_is_missing_is_one_sentence(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="needs the target language"):
        build_utility("beer", {})
    with pytest.raises(UserError, match="model 'other' is not in .*models"):
        build_utility("beer", {"language": "de", "model": "other"})
    with pytest.raises(UserError, match="threads must be a whole number from 1 to 1024, got 0"):
        build_utility("beer", {"language": "de", "threads": 0})
    with pytest.raises(UserError, match="has no executable scripts/interactive"):
        build_utility("beer", {"language": "de", "home": str(tmp_path)})
    spaced = tmp_path / "a folder"
    home.rename(spaced)
    with pytest.raises(UserError, match="'.*a folder' has a space, which BEER's own scripts cannot handle"):
        build_utility("beer", {"language": "de", "home": str(spaced)})
    monkeypatch.delenv("BEER_HOME")
    with pytest.raises(UserError, match="unpack BEER 2.0 and set BEER_HOME"):
        build_utility("beer", {"language": "de"})
