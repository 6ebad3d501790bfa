"""How many random inputs a property is tried on: a number in a test run, a hundred times as many in a long one."""

import os
from typing import Any

from hypothesis import settings

#: scripts/fuzz.sh: so many inputs where a test run has 100, hypothesis' own number.
LONG = int(os.environ.get("DCMBR_FUZZ_INPUTS", 100))


def inputs(number: int, **options: Any) -> settings:
    """Settings of a property that is tried on ``number`` inputs, fewer or more than 100 as each costs time."""
    return settings(max_examples=max(1, number * LONG // 100), **options)
