"""Numbers that a user gives: the rule itself, and every option of every command that takes one."""

import argparse
import math
from collections.abc import Iterator

import numpy as np
import pytest

from dcmbr_fairseq.cli import COMMANDS, build_parser, main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.numeric import (
    LARGEST_SEED,
    number,
    read_positive_numbers,
    read_whole_number,
    read_whole_numbers,
    whole_number,
    whole_range,
)
from dcmbr_fairseq.pools.settings import LARGEST_POOL, OWN

# --- the rule ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given, value", [(1, 1), (7, 7), (3.0, 3), (np.int64(5), 5), (np.float32(2), 2)])
def test_whole_numbers(given: object, value: int) -> None:
    found = whole_number("--n", given, 1, 7)
    assert found == value and type(found) is int


NO_WHOLE_NUMBERS = [0, 8, -1, 1.5, 10**30, 10**5000, math.inf, math.nan, True, None, "3", [3], {}, 3j]


@pytest.mark.parametrize("given", NO_WHOLE_NUMBERS, ids=lambda value: repr(value)[:20] if value != 10**5000 else "huge")
def test_what_is_no_whole_number_is_refused_in_one_form(given: object) -> None:
    with pytest.raises(UserError) as caught:
        whole_number("--n", given, 1, 7)
    assert str(caught.value).startswith("--n must be a whole number from 1 to 7, got ") and len(str(caught.value)) < 100


@pytest.mark.parametrize("text, numbers", [("10,50", [10, 50]), ("3,3,2", [3, 2]), ("0", [0])])
def test_lists_of_whole_numbers(text: str, numbers: list[int]) -> None:
    assert read_whole_numbers("--n", text, 0) == numbers


@pytest.mark.parametrize("text", ["", "8", "1,", "1;2", "1.5", "nan", "a", "1,8", "1," + "9" * 5000])
def test_bad_lists_of_whole_numbers(text: str) -> None:
    with pytest.raises(UserError, match="--n must be whole numbers from 1 to 7, separated by commas, got '") as caught:
        read_whole_numbers("--n", text, 1, 7)
    assert len(str(caught.value)) < 300


def test_lists_of_positive_numbers() -> None:
    assert read_positive_numbers("--t", "0.5,1,0.50") == [0.5, 1.0]


@pytest.mark.parametrize("text", ["", "0", "-1,2", "nan", "inf", "1;2", "0.5,", "1e999"])
def test_bad_lists_of_positive_numbers(text: str) -> None:
    with pytest.raises(UserError, match="--t must be numbers above 0, separated by commas"):
        read_positive_numbers("--t", text)


@pytest.mark.parametrize("given", [-1, 5.5, math.nan, math.inf, True, "1", None, 10**400])
def test_numbers_in_a_range(given: object) -> None:
    assert number("--x", 5, 1, 5) == 5 and number("--x", math.inf) == math.inf
    with pytest.raises(UserError, match="--x must be a number from 0 to 5, got"):
        number("--x", given, 0, 5)


# --- every option ------------------------------------------------------------------------------------------------


def parsers(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list]]:
    """The options of a command, and of its tools, each with the words that lead to it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for tool, below in action.choices.items():
                yield from parsers(below, (*words, tool))
    yield words, [action for action in parser._actions if action.option_strings]


OPTIONS: dict[str, tuple[tuple[str, ...], argparse.Action]] = {}
for _command in COMMANDS:
    (_subparsers,) = [a for a in build_parser(_command)._actions if isinstance(a, argparse._SubParsersAction)]
    for _words, _actions in parsers(_subparsers.choices[_command], (_command,)):
        OPTIONS.update({" ".join([*_words, a.option_strings[-1]]): (_words, a) for a in _actions})
WHOLE = {name: option for name, option in OPTIONS.items() if hasattr(option[1], "most")}


def test_every_option_that_takes_a_whole_number_is_declared_as_one() -> None:
    """So that its limits are checked: ``type=int`` has none."""
    unchecked = [name for name, (_, action) in OPTIONS.items() if action.type is int or type(action.default) is int]
    assert set(unchecked) <= set(WHOLE) and len(WHOLE) > 20
    assert {"plot --dpi", "select --num-hyp", "corpus filter --processes", "distill-data --max-words"} <= set(WHOLE)


@pytest.mark.parametrize("name", WHOLE)
def test_a_number_that_would_never_end_is_refused_as_soon_as_the_line_is_read(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, action = WHOLE[name]
    flag, least, most = action.option_strings[-1], action.least, action.most  # type: ignore[attr-defined]
    for value in (least - 1, most + 1, 10**20, "9" * 5000, "1.5", "nan", "", "x", "1e3", "0x10"):
        assert main([*words, f"{flag}={value}"]) == 1
        (line,) = capsys.readouterr().err.strip().split("\n")
        assert line.startswith(f"dcmbr {words[0]}: error: {flag} must be {whole_range(least, most)}, got ")
        assert len(line) < 400
    for value in (least, most):
        assert read_whole_number(flag, str(value), least, most) == value


LISTS = ["sweep --num-hyp", "sweep --num-ref", "sweep --seeds", "diversity --num-hyp", "diversity --seeds"]
LISTS += ["temperature --num-hyp", "temperature --num-ref", "temperature --seeds"]


def test_the_lists_of_whole_numbers_are_known() -> None:
    """They are read by ``read_whole_numbers``, as tests/commands/test_shared.py and tests/measure show."""
    assert {name for name, (_, action) in OPTIONS.items() if action.metavar in ("N,N,...", "S,S,...", "N,N,...|same")
            and not name.startswith("evaluate")} == set(LISTS)  # fmt: skip


@pytest.mark.parametrize("name, most", [("num_hyp", LARGEST_POOL), ("num_ref", LARGEST_POOL), ("max_rows", 10**7)])
def test_fairseqs_commands_and_the_hub_follow_the_same_rule(name: str, most: int) -> None:
    (setting,) = [one for one in OWN if one.name == name]
    for value in (0, most + 1, 10**20, 1.5, math.nan, True, "many"):
        with pytest.raises(UserError, match=f"{setting.flag} must be a whole number from 1 to {most}, got "):
            setting.value(value)
    assert setting.value(most) == most


def test_whole_number_settings_are_all_tried() -> None:
    assert {one.name for one in OWN if one.kind is int} == {"num_hyp", "num_ref", "max_rows"}
    assert LARGEST_SEED == 4294967295
