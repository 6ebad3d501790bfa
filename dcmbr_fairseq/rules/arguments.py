"""Checks of ``--selection-args`` that rules share: each refusal names the argument, its value and what is allowed."""

import functools

from dcmbr_fairseq.utilities.arguments import check_whole as _check_whole

check_whole = functools.partial(_check_whole, arguments="--selection-args")
