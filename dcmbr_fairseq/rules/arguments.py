"""Checks of ``--selection-args`` that rules share: each refusal names the argument, its value and a remedy."""

from typing import Any

from dcmbr_fairseq.errors import UserError, shown


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """``value`` if it is a whole number of at least ``least`` and at most ``most``.

    Raises:
        UserError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UserError(f"--selection-args: {name} must be a whole number of at least {least}, got {shown(value)}")
    if most is not None and value > most:
        raise UserError(f"--selection-args: {name} must be at most {most}, got {shown(value)}")
    return value
