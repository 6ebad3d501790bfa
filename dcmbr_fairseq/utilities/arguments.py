"""Checks of ``--utility-args`` that several utilities share: each refusal names the argument, its value, a remedy."""

from collections.abc import Iterable
from typing import Any

from dcmbr_fairseq.errors import UserError, nearest, shown
from dcmbr_fairseq.numeric import MOST, number, whole_number

#: What gives the arguments; every refusal begins with it.
ARGUMENTS = "--utility-args"
#: No text has n-grams so long that more would count; every order costs as much as the first.
LONGEST_NGRAM = 100
#: Larger numbers (of weights, seconds, beta) mean nothing more, and their squares and sums would overflow.
LARGEST = 1e9


def check_flag(name: str, value: Any) -> bool:
    """``value`` if it is true or false.

    Raises:
        UserError: it is something else.
    """
    if not isinstance(value, bool):
        raise UserError(f"{ARGUMENTS}: {name} must be true or false, got {shown(value)}")
    return value


def check_whole(name: str, value: Any, least: int, most: int = MOST, arguments: str = ARGUMENTS) -> int:
    """``value`` if it is a whole number from ``least`` to ``most``.

    Raises:
        UserError: it is not; begins with what gives the ``arguments``.
    """
    return whole_number(f"{arguments}: {name}", value, least, most)


def check_order(name: str, value: Any, least: int) -> int:
    """``value`` if it is an n-gram order of at least ``least`` that costs no more than any text is worth.

    Raises:
        UserError: it is not.
    """
    return check_whole(name, value, least, LONGEST_NGRAM)


def check_number(name: str, value: Any) -> float:
    """``value`` if it is a number from 0 to :data:`LARGEST`.

    Raises:
        UserError: it is not.
    """
    return number(f"{ARGUMENTS}: {name}", value, 0, LARGEST)


def check_text(name: str, value: Any) -> str:
    """``value`` if it is a string that can name something: not empty, without control characters.

    Raises:
        UserError: it is not.
    """
    if not isinstance(value, str) or not value or not value.isprintable():
        raise UserError(f"{ARGUMENTS}: {name} must be a text in quotes, got {shown(value)}")
    return value


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """``value`` if it is one of ``choices``.

    Raises:
        UserError: it is not; names the nearest.
    """
    known = list(choices)
    if value not in known:
        likely = nearest(value, known) if isinstance(value, str) else ""
        hint = f": did you mean {likely}?" if likely else ""
        raise UserError(f"{ARGUMENTS}: {name} must be one of {', '.join(known)}, got {shown(value)}{hint}")
    return value
