"""Sentences in batches, for work that is cheaper together."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

#: Sentences that are compared at once: enough to keep a neural utility busy, few enough to hold in memory.
BATCH_SENTENCES = 32


def in_batches(items: Iterable[Item], size: int = BATCH_SENTENCES) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items, the last one shorter; no more than one list is held."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
