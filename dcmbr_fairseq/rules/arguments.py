"""Checks of ``--selection-args`` that rules share: each refusal names the argument, its value and what is allowed."""

from typing import Any

from dcmbr_fairseq.numeric import MOST, whole_number


def check_whole(name: str, value: Any, least: int, most: int = MOST) -> int:
    """``value`` if it is a whole number from ``least`` to ``most``.

    Raises:
        UserError: it is not.
    """
    return whole_number(f"--selection-args: {name}", value, least, most)
