"""Uniform numbers keyed by the sentence, so that draws never depend on batch, shard, order or command.

The number ``u[step, draw]`` is a function of (seed, source tokens, stream, step, draw) alone: a counter-based generator
(Philox, Salmon et al. 2011) is keyed by the first three and addressed by the last two.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

#: Steps that one block of the generator covers; part of the definition of the draws, as is the order within a block.
STEPS_PER_BLOCK = 64


def sentence_key(seed: int, source_tokens: Sequence[int], stream: int) -> np.ndarray:
    """The 128-bit Philox key of one source sentence and stream, as two uint64.

    Args:
        seed: fairseq's ``--seed``.
        source_tokens: the source token ids as the model reads them, padding removed.
        stream: 0 for the hypothesis (or shared) pool, 1 for the reference pool.
    """
    words = np.array([seed, stream, *source_tokens], dtype="<i8")
    return np.frombuffer(hashlib.blake2b(words.tobytes(), digest_size=16).digest(), dtype="<u8")


class KeyedUniforms:
    """The uniforms of one pool for a batch of sentences, made block by block as sampling reaches them.

    Args:
        keys: one key for each of B sentences, from :func:`sentence_key`.
        first_draw: index of the first draw wanted (a large pool may be sampled in parts).
        draws: number of draws D wanted for each sentence.
    """

    def __init__(self, keys: Sequence[np.ndarray], draws: int, first_draw: int = 0) -> None:
        self._keys = list(keys)
        self._range = slice(first_draw, first_draw + draws)
        self._blocks: list[np.ndarray] = []

    def step(self, step: int) -> np.ndarray:
        """``(B, D)`` float64 in [0, 1) for one target position."""
        block, offset = divmod(step, STEPS_PER_BLOCK)
        if len(self._blocks) <= block:
            self._blocks.append(np.stack([self._draw_block(key, block) for key in self._keys]))
        return self._blocks[block][:, :, offset]

    def _draw_block(self, key: np.ndarray, block: int) -> np.ndarray:
        # Draw-major within the block: the first k draws do not depend on how many are asked for.
        generator = np.random.Generator(np.random.Philox(key=key, counter=[0, block, 0, 0]))
        return generator.random((self._range.stop, STEPS_PER_BLOCK))[self._range]
