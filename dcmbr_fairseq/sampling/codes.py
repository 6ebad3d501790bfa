"""Arithmetic draws: codes that spread the draws of a sentence evenly over the tree of its translations.

Draw d has a code in [0, 1). At each step it takes the token in whose interval of the cumulative distribution the code
lies, and goes on with the code's place inside that interval, stretched to [0, 1) (Vilnis et al., ICML 2023). A code is
uniform, so that each draw alone is an exact sample of the same distribution as an independent one; together the codes
are evenly spaced, so that draws that share a prefix are spread evenly over what may follow it. Means over a pool stay
unbiased, with less variance, and there are more distinct texts.

The codes are the van der Corput sequence plus one shift, keyed by sentence and stream, modulo 1: the first k of them
are evenly spaced for every k, so that the first 10 draws of a pool of 50 are the pool of 10.

A code loses as many of its 53 bits as its prefix is improbable, and as much as it is stretched, so is what rounding has
put into the probabilities of its prefix: where the logits' last bits depend on the batch, as on a GPU, codes that were
followed to the end would turn with them. Once its own prefix has, in the distribution that is drawn from, less than
:data:`SPENT`, a draw goes on by its keyed uniforms: equal in law, for what is left of the code is uniform given the
prefix; and by then, in pools of up to some hundreds, it is nearly always alone: there is nothing left to spread. Until
then at least 42 bits are left, and rounding counts a thousandfold at most. The rule looks at the draw alone. (Whether
it is alone on its row depends on the others: a pool of 10 would not be the beginning of a pool of 50.)
"""

import math
from collections.abc import Sequence

import numpy as np

#: Log-probability of a prefix below which its code is spent; part of the definition of the draws.
SPENT = -10 * math.log(2)

#: Block of the Philox counter that the shift is taken from; the keyed uniforms are those of block 0.
_SHIFT_BLOCK = 1


def van_der_corput(first: int, count: int) -> np.ndarray:
    """``(count,)`` float64: elements ``first``, ``first + 1``, ... of 0, 1/2, 1/4, 3/4, 1/8, ...: the binary digits of
    0, 1, 2, ... mirrored at the point. Exact for numbers below 2^53."""
    numbers = np.arange(first, first + count, dtype=np.uint64)
    codes, place = np.zeros(count), 0.5
    while numbers.any():
        codes += place * (numbers & np.uint64(1))
        numbers, place = numbers >> np.uint64(1), place / 2
    return codes


def arithmetic_codes(keys: Sequence[np.ndarray], draws: int, first_draw: int = 0) -> np.ndarray:
    """``(B, D)`` float64 in [0, 1): the codes of draws ``first_draw``, ``first_draw + 1``, ... of B sentences.

    Args:
        keys: one key for each sentence, from :func:`~dcmbr_fairseq.sampling.randomness.sentence_key`.
        draws: D.
        first_draw: index of the first draw wanted (a large pool may be sampled in parts).
    """
    shifts = np.array([_shift(key) for key in keys])
    codes = van_der_corput(first_draw, draws) + shifts[:, None]
    return np.where(codes < 1, codes, codes - 1)


def _shift(key: np.ndarray) -> float:
    return float(np.random.Generator(np.random.Philox(key=key, counter=[0, 0, _SHIFT_BLOCK, 0])).random())
