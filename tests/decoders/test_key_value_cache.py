"""The key-value cache holds each row's own history, however rows split, move, leave and grow."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs

from dcmbr_fairseq.decoders import key_value_cache, memory
from dcmbr_fairseq.decoders.incremental import PrefixRows
from dcmbr_fairseq.decoders.key_value_cache import KeyValueCache, room_for
from dcmbr_fairseq.decoders.memory import Memory

LAYERS, HEADS, WIDTH = 2, 3, 4


def make_cache() -> KeyValueCache:
    return KeyValueCache(LAYERS, HEADS, WIDTH, torch.zeros(()))


def grow(cache: KeyValueCache, parents: np.ndarray, histories: list[torch.Tensor], step: int) -> list[torch.Tensor]:
    """One step of the cache and of what it should hold: a ``(2L, h, t, d)`` history for each row."""
    count = len(parents)
    rows = PrefixRows(np.zeros(count, dtype=np.int64), parents if step else None, np.zeros(count, dtype=np.int64))
    cache.follow(count, step, *map(torch.from_numpy, rows.moves()))
    new = torch.randn(LAYERS, count, 2, HEADS, WIDTH)
    kept = [histories[parent] for parent in parents] if step else [torch.empty(2 * LAYERS, HEADS, 0, WIDTH)] * count
    columns = new.transpose(1, 2).reshape(2 * LAYERS, count, HEADS, 1, WIDTH)
    histories = [torch.cat([history, columns[:, row]], dim=2) for row, history in enumerate(kept)]
    for layer in range(LAYERS):
        keys, values, mask = cache.append(layer, new[layer])
        assert mask.tolist() == [0.0] * (step + 1) + [-torch.inf] * (room_for(step + 1) - step - 1)
        for found, which in ((keys, 2 * layer), (values, 2 * layer + 1)):
            assert found.isfinite().all()  # positions not in use are multiplied by zero
            expected = torch.cat([history[which] for history in histories])
            assert torch.equal(found[:, : step + 1], expected)
    return histories


@pytest.fixture(autouse=True)
def no_spare_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "_spare", {})


@inputs(25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.booleans(), st.booleans())
def test_every_row_has_its_own_history(seed: int, steps: int, piecemeal: bool, forgetful: bool) -> None:
    torch.manual_seed(seed)
    dice = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        if piecemeal:
            patch.setattr(key_value_cache, "MOVED_AT_ONCE", 1)
        if forgetful:
            for module in (key_value_cache, memory):
                patch.setattr(module, "WORTH_KEEPING", 0)
        for _ in range(2):  # the second takes the memory of the first
            cache, histories = make_cache(), []
            for step in range(steps):
                count = int(dice.integers(1, 90))
                histories = grow(cache, dice.integers(0, max(1, len(histories)), count), histories, step)
            cache.release()


def test_a_fork_goes_its_own_way() -> None:
    cache = make_cache()
    histories = grow(cache, np.arange(3), [], 0)
    other = cache.fork()
    mine, theirs = histories, histories
    for step in range(1, 20):
        mine = grow(cache, np.array([2, 0, 1]), mine, step)
        theirs = grow(other, np.array([1, 1, 0, 2]) % len(theirs), theirs, step)


@given(st.integers(1, 5000))
def test_room(length: int) -> None:
    assert room_for(length) % 8 == 0
    assert max(16, length) <= room_for(length) < max(17, length + 8)


def test_only_small_memory_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a batch leaves behind when it is done is bounded, however large its histories were."""
    monkeypatch.setattr(memory, "WORTH_KEEPING", 2**16)
    sizes = []
    for rows in (3, 500, 3):
        cache = make_cache()
        histories: list[torch.Tensor] = []
        for step in range(20):
            histories = grow(cache, np.arange(rows) % max(1, len(histories)), histories, step)
        cache.release()
        sizes.append([piece.nbytes for pieces in Memory._spare.values() for piece in pieces])
    assert sizes[0] and sizes[2]  # small ones are
    assert all(size <= 2**16 for left in sizes for size in left)
