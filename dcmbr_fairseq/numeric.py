"""Numbers that a user gives: one rule and one form of sentence, whatever the flag or argument that they stand in."""

from numbers import Real
from typing import Any

from dcmbr_fairseq.errors import UserError, shown

#: The largest whole number where nothing smaller is known to be enough: of more things no command would come to an end.
MOST = 10_000_000
#: The largest seed: fairseq's, which numpy's generators take.
LARGEST_SEED = 2**32 - 1
#: Of a token: more than any dictionary has; each bucket of ranks is a row.
LARGEST_RANK = 1_000_000
#: Found by exact search, whose beam is as large.
MOST_TRANSLATIONS = 10_000


def whole_number(name: str, given: Any, least: int = 1, most: int = MOST) -> int:
    """The whole number that was given, as an int: 5 and 5.0 are one, true and false are none.

    Args:
        name: what the sentence calls it: a flag, or an argument with its flag.
        given: any object.
        least: the smallest that is allowed.
        most: the largest.

    Raises:
        UserError: it is none, too small, or so large that the work would not end.
    """
    if not _is_number(given) or not least <= given <= most or given % 1:  # written so that nan is refused too
        raise UserError(f"{name} must be {whole_range(least, most)}, got {shown(given)}")
    return int(given)


def whole_range(least: int = 1, most: int = MOST) -> str:
    """What is allowed, as part of a sentence."""
    return f"a whole number from {least} to {most}"


def read_whole_number(name: str, text: str, least: int = 1, most: int = MOST) -> int:
    """:func:`whole_number` of a text, such as a word of the command line."""
    return whole_number(name, _read(text, int), least, most)


def read_whole_numbers(name: str, text: str, least: int = 1, most: int = MOST) -> list[int]:
    """The whole numbers of a list such as ``10,50``, each once, in their order.

    Raises:
        UserError: there is none, or one is no number from ``least`` to ``most``.
    """
    numbers = [_read(part, int) for part in text.split(",")]
    if not all(isinstance(number, int) and least <= number <= most for number in numbers):
        allowed = f"whole numbers from {least} to {most}, separated by commas"
        raise UserError(f"{name} must be {allowed}, got {shown(text)}")
    return list(dict.fromkeys(numbers))


def read_positive_numbers(name: str, text: str) -> list[float]:
    """The numbers above 0 of a list such as ``0.5,1``, each once, in their order.

    Raises:
        UserError: there is none, or one is no finite number above 0.
    """
    numbers = [_read(part, float) for part in text.split(",")]
    if not all(isinstance(number, float) and 0 < number < float("inf") for number in numbers):
        raise UserError(f"{name} must be numbers above 0, separated by commas, got {shown(text)}")
    return list(dict.fromkeys(numbers))


def number(name: str, given: Any, least: float = 0.0, most: float = float("inf")) -> float:
    """The number that was given; true and false are none.

    Raises:
        UserError: it is none from ``least`` to ``most``.
    """
    if not _is_number(given) or not least <= given <= most:
        allowed = f"from {least:g} to {most:g}" if most < float("inf") else f"from {least:g}"
        raise UserError(f"{name} must be a number {allowed}, got {shown(given)}")
    return given  # as it is: 1 stays 1 in signatures


def _is_number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


def _read(text: str, kind: type) -> Any:
    """The number that a text stands for, or the text."""
    try:
        return kind(text)
    except ValueError:
        return text
