"""The limits of the filter rules, for the commands that filter text: their options, and what these come to."""

import argparse
import dataclasses
from collections.abc import Collection, Sequence

from dcmbr_fairseq.commands.shared import add_whole_number, refuse_idle
from dcmbr_fairseq.corpus.filters import Limits
from dcmbr_fairseq.numeric import number
from dcmbr_fairseq.pools.settings import flag

#: rule -> (the field of its limit, which the flag has with dashes, and what it says)
_LIMITS = {
    "length": ("max_words", "words of a sentence"),
    "word-length": ("max_word_length", "characters of a word"),
    "ratio": ("max_ratio", "words of the longer side for each word of the shorter"),
}


def add_limit_arguments(parser: argparse.ArgumentParser, rules: Sequence[str], usual: Limits) -> None:
    """Declare the limits of ``rules``; those of ``usual`` hold where none is given."""
    for rule in rules:
        name, meaning = _LIMITS[rule]
        text = f"{rule}: {meaning} (default: {getattr(usual, name)})"
        if rule == "ratio":
            parser.add_argument(flag(name), type=float, metavar="R", help=text)
        else:
            add_whole_number(parser, flag(name), help=text)


def given_limits(args: argparse.Namespace, usual: Limits, skipped: Collection[str]) -> Limits:
    """The limits as given, and ``usual`` elsewhere.

    Raises:
        UserError: one is out of range, or belongs to a rule that is ``skipped``.
    """
    given = {rule: getattr(args, name, None) for rule, (name, _) in _LIMITS.items()}
    for rule in skipped:
        if rule in given:
            refuse_idle({flag(_LIMITS[rule][0]): given[rule]}, f"with --skip {rule}", "leave one of them out")
    if given["ratio"] is not None:
        number("--max-ratio", given["ratio"], 1)
    return dataclasses.replace(usual, **{_LIMITS[rule][0]: v for rule, v in given.items() if v is not None})
