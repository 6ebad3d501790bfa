"""Checks of ``--utility-args`` that several utilities share: each refusal names the argument, its value, a remedy."""

import math
from collections.abc import Iterable
from typing import Any

from dcmbr_fairseq.errors import UserError


def check_flag(name: str, value: Any) -> bool:
    """``value`` if it is true or false.

    Raises:
        UserError: it is something else.
    """
    if not isinstance(value, bool):
        raise UserError(f"--utility-args: {name} must be true or false, got {value!r}")
    return value


def check_order(name: str, value: Any, least: int) -> int:
    """``value`` if it is an integer of at least ``least``.

    Raises:
        UserError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UserError(f"--utility-args: {name} must be an integer >= {least}, got {value!r}")
    return value


def check_number(name: str, value: Any) -> float:
    """``value`` if it is a finite number of at least 0.

    Raises:
        UserError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise UserError(f"--utility-args: {name} must be a number >= 0, got {value!r}")
    return value


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """``value`` if it is one of ``choices``.

    Raises:
        UserError: it is not.
    """
    known = list(choices)
    if value not in known:
        raise UserError(f"--utility-args: {name} must be one of {', '.join(known)}, got {value!r}")
    return value
