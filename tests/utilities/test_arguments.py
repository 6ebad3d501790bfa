"""Every argument of every utility and rule, given nonsense: it is taken, or refused in one sentence, at once."""

import inspect
import json
from typing import Any

import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.rules import RULES, build_rule
from dcmbr_fairseq.utilities import UTILITIES, build_utility, parse_utility_args
from dcmbr_fairseq.utilities.arguments import LARGEST, LONGEST_NGRAM
from dcmbr_fairseq.utilities.line_process import LineProcess
from dcmbr_fairseq.utilities.tokens import check_moses_language

NONSENSE: list[Any] = [
    None, True, -1, 0.5, 10**9, 10**30, 10**5000, 1e300, float("inf"), float("nan"), "", "x", "\0", "de\n", [], [1], {},
    {"x": {}},
]  # fmt: skip
#: What each needs to get as far as its other arguments; those whose package is not here stop before.
NEEDED: dict[str, dict[str, Any]] = {
    "meteor": {"language": "de"}, "beer": {"language": "de"}, "bleurt": {"checkpoint": "nowhere/at/all"},
    "mean": {"of": {"chrf": {}}},
}  # fmt: skip


def parameters(kind: type) -> list[str]:
    """The names of the keyword arguments of a class."""
    return [p.name for p in inspect.signature(kind).parameters.values() if p.kind == p.KEYWORD_ONLY]


UTILITY_ARGUMENTS = [(name, argument) for name in UTILITIES for argument in parameters(UTILITIES.find(name))]
RULE_ARGUMENTS = [(name, argument) for name in RULES for argument in parameters(RULES.find(name))]


@pytest.mark.parametrize(("name", "argument"), UTILITY_ARGUMENTS)
def test_nonsense_for_utilities_is_one_sentence(
    name: str, argument: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "interactive").touch(0o755)
    (tmp_path / "models" / "default").mkdir(parents=True)
    (tmp_path / "meteor.jar").touch()
    monkeypatch.setenv("BEER_HOME", str(tmp_path))
    monkeypatch.setenv("METEOR_JAR", str(tmp_path / "meteor.jar"))
    for module in ("meteor", "beer"):
        monkeypatch.setattr(f"dcmbr_fairseq.utilities.{module}.find_java", lambda needed_by: "java")
    monkeypatch.setattr(LineProcess, "start", lambda self: None)
    build_or_refuse(lambda given: build_utility(name, given).signature(), {**NEEDED.get(name, {})}, argument)


@pytest.mark.parametrize(("name", "argument"), RULE_ARGUMENTS)
def test_nonsense_for_rules_is_one_sentence(name: str, argument: str) -> None:
    build_or_refuse(lambda given: build_rule(name, given), {}, argument)


def build_or_refuse(build: Any, needed: dict[str, Any], argument: str) -> None:
    """Build with each piece of nonsense; an error must be one line, not too long, and say a remedy."""
    refused = 0
    for value in NONSENSE:
        try:
            build({**needed, argument: value})
        except UserError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 700, str(error)[:900]
    assert refused


@pytest.mark.parametrize("name", sorted(UTILITIES))
def test_an_unknown_argument_is_answered_with_the_nearest(name: str) -> None:
    known = parameters(UTILITIES.find(name))
    for argument in known:
        with pytest.raises(UserError, match=f"do not fit --utility .*did you mean {argument}"):
            build_utility(name, {**NEEDED.get(name, {}), f"{argument}x": 1})


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("chrf", {"char_order": 10**9}, f"char_order must be a whole number from 0 to {LONGEST_NGRAM}, got 1000000000"),
        ("chrf", {"word_order": 101}, f"word_order must be a whole number from 0 to {LONGEST_NGRAM}, got 101"),
        ("chrf", {"beta": 1e200}, f"beta must be a number from 0 to {LARGEST:g}, got 1e+200".replace("+", r"\+")),
        ("bleu", {"max_ngram_order": 10**9}, f"max_ngram_order must be a whole number from 1 to {LONGEST_NGRAM}"),
        ("bleu", {"tokenize": "zhh"}, "tokenize must be one of .*got 'zhh': did you mean zh?"),
        ("mean", {"of": {"chrf": {}, "bleu": {}}, "weights": {"chrf": 1e308, "bleu": 1e308}}, "weights must be a num"),
    ],
)
def test_what_would_never_end_or_overflow_is_refused(name: str, arguments: dict, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        build_utility(name, arguments)


def test_the_largest_orders_and_weights_that_are_taken_give_numbers() -> None:
    of = {"chrf": {"char_order": LONGEST_NGRAM}, "bleu": {"max_ngram_order": LONGEST_NGRAM}}
    mean = build_utility("mean", {"of": of, "weights": {"chrf": LARGEST, "bleu": LARGEST}})
    (score,) = mean.pairwise(["ein Mann lacht"], ["ein Mann lacht"])[0]
    assert score == pytest.approx(100)


def test_resamples_without_end_are_refused() -> None:
    with pytest.raises(UserError, match="--selection-args: bootstrap must be a whole number from 1 to 100000"):
        build_rule("prune", {"bootstrap": 10**9})


@pytest.mark.parametrize("text", ['{"a":' * 100_000, '{"a": ' + "9" * 5000 + "}", "[]", "{", "nan"])
def test_json_that_python_cannot_read_is_one_sentence(text: str) -> None:
    with pytest.raises(UserError, match="--utility-args must be a JSON object"):
        parse_utility_args(text)


def test_means_of_means_without_end_are_refused() -> None:
    nested: dict[str, Any] = {"chrf": {}}
    for _ in range(300):
        nested = {"mean": {"of": nested}}
    assert len(json.dumps(nested)) > 4000
    with pytest.raises(UserError, match="means of means"):
        build_utility("mean", {"of": nested})


def test_languages_without_rules_are_not_signed_as_if_they_had_some() -> None:
    assert check_moses_language("--language", "ro") == "ro"
    with pytest.raises(UserError, match="--language xx: Moses' tokeniser has no rules for it: give one of as, bn"):
        check_moses_language("--language", "xx")
