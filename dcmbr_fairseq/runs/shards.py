"""Which sentences each process decodes, and in which order: the same length for all, and the same from begin to end.

fairseq sorts all sentences by length, makes batches, and deals these out in turn. With few batches the last rank gets
the longest of each round. Here sentences are dealt before batches are made, there and back, so that all ranks have
the same lengths to a hair; and they are taken in windows of the test set, each sorted by length by itself: a window is
like the next, so that the time that is left can be told from the time that is past.
"""

from collections.abc import Iterator

import numpy as np

#: Sentences of one window for each rank: enough for batches of one length.
WINDOW = 4096


def windows(by_length: np.ndarray, rank: int, count: int, window: int = WINDOW) -> Iterator[np.ndarray]:
    """Yield the sentences of a rank, window by window, short ones first.

    Args:
        by_length: ``(B,)`` all sentences, in ascending order of length.
        rank: which process, from 0.
        count: of how many.
        window: sentences of a window for each rank.
    """
    numbers = by_length // (window * count)
    for number in range(int(numbers.max(initial=-1)) + 1):
        yield dealt(by_length[numbers == number], rank, count)


def dealt(items: np.ndarray, rank: int, count: int) -> np.ndarray:
    """The items of a rank when they are dealt to 0, 1, ..., n - 1, n - 1, ..., 1, 0, 0, 1, ..."""
    places = np.arange(len(items)) % (2 * count)
    return items[np.where(places < count, places, 2 * count - 1 - places) == rank]
