"""Rows of the fast decoder: what a row gets does not depend on the others, and is what plain attention gives."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from toy_model import EOS, PAD, net_input, toy_transformer

from dcmbr_fairseq.decoders import transformer
from dcmbr_fairseq.decoders.attention import SharedSources
from dcmbr_fairseq.decoders.encoding import encode
from dcmbr_fairseq.decoders.incremental import ROW_MULTIPLE, PrefixRows
from dcmbr_fairseq.decoders.memory import Memory, Scratch

SIZES = {f"{side}_{name}": value for side in ("encoder", "decoder")
         for name, value in (("embed_dim", 64), ("ffn_embed_dim", 128), ("attention_heads", 4))}  # fmt: skip


@given(st.integers(1, 50), st.integers(1, 13), st.integers(0, 2**32 - 1))
def test_further_rows_make_a_multiple_and_continue_rows_that_exist(count: int, groups: int, seed: int) -> None:
    before = groups * ROW_MULTIPLE
    dice = np.random.default_rng(seed)
    rows = PrefixRows(dice.integers(0, 9, count), dice.integers(0, before, count), dice.integers(0, 3, count))
    padded = rows.padded(before)
    assert len(padded.tokens) % ROW_MULTIPLE == 0 and len(padded.tokens) - count < ROW_MULTIPLE
    assert padded.parents is not None and padded.parents.max() < before
    for whole, part in zip(padded, rows, strict=True):
        assert len(whole) == len(padded.tokens) and np.array_equal(whole[:count], part)
    kept = np.arange(count, min(len(padded.tokens), before))
    assert not np.isin(kept, padded.moves()[0]).any()  # nothing is copied for rows that nobody reads


@pytest.fixture(scope="module")
def model() -> Any:
    return toy_transformer(words=1000, **SIZES)


@contextlib.contextmanager
def computing_on(threads: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def logits_of(model: Any, sources: list[list[int]], tokens: np.ndarray, sentences: np.ndarray) -> torch.Tensor:
    """``(P, V)`` after two tokens, the start and ``tokens``, the same start rows for every call."""
    with torch.inference_mode():
        decoder = encode([model], net_input(sources), PAD)(np.arange(len(sources)))
        decoder.step(PrefixRows(np.full(len(sources), EOS), None, np.arange(len(sources))))
        logits = decoder.step(PrefixRows(tokens, sentences, sentences)).clone()
        decoder.release()
    return logits


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("small", [True, False], ids=["copied weights", "weights as they lie"])
def test_the_logits_of_a_row_are_the_same_bits_among_any_others(
    model: Any, threads: int, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(transformer, "SMALL_DECODER", 0)
    sources = [[5, 6, 7, EOS], [9, 4, EOS]]
    tokens, sentences = np.arange(4, 44), np.arange(40) % 2
    alone = torch.cat([logits_of(model, sources, tokens[i : i + 1], sentences[i : i + 1]) for i in range(40)])
    with computing_on(threads):
        for first, count in ((0, 40), (0, 39), (3, 37), (5, 18), (7, 17), (2, 6), (1, 3), (30, 2)):
            part = slice(first, first + count)
            assert torch.equal(logits_of(model, sources, tokens[part], sentences[part]), alone[part])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=70), st.lists(st.integers(0, 3), min_size=1, max_size=70))
@inputs(30)
def test_shared_sources_give_every_row_attention_to_its_own(model: Any, first: list[int], second: list[int]) -> None:
    """Against softmax(q k / sqrt(d)) v, computed for one row and head at a time; twice, since layouts are kept."""
    layers, heads, width = model.decoder.layers, 4, 16
    torch.manual_seed(1)
    states = torch.randn(16, 4, 64)
    lengths = [16, 3, 9, 1]
    mask = torch.arange(16) >= torch.tensor(lengths)[:, None]
    with torch.no_grad():
        sources = SharedSources(layers, states, mask)
        for sentences in (first, second):
            sources.use(*map(torch.from_numpy, sources.assign(np.array(sentences))))
            for index, layer in enumerate(layers):
                query = torch.randn(len(sentences), 64)
                found = sources.attend(index, query)
                for row, sentence in enumerate(sentences):
                    seen = states[: lengths[sentence], sentence]
                    keys, values = layer.encoder_attn.k_proj(seen), layer.encoder_attn.v_proj(seen)
                    for head in range(heads):
                        part = slice(head * width, (head + 1) * width)
                        scores = keys[:, part] @ query[row, part] * width**-0.5
                        expected = torch.softmax(scores, 0) @ values[:, part]
                        torch.testing.assert_close(found[row, part], expected, atol=1e-5, rtol=1e-5)


def test_scratch_memory_goes_from_one_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "_spare", {})
    like = torch.zeros(())
    scratch = Scratch(like)
    table = scratch.table(8, 10)
    assert table.shape == (8, 10) and table.is_contiguous()
    assert scratch.table(3, 10).data_ptr() == table.data_ptr()  # smaller: the same memory
    assert scratch.table(80, 10).shape == (80, 10)
    largest = scratch.table(80, 10).data_ptr()
    other = Scratch(like).table(1, 10)
    assert other.data_ptr() != largest  # still in use
    scratch.release()
    assert Scratch(like).table(1, 10).data_ptr() == largest
    with torch.inference_mode():
        Scratch(like).table(2, 2).fill_(1.0)  # memory of its own, which may be written to in this mode


def first_logits(model: Any, sources: list[list[int]], sentences: list[int]) -> torch.Tensor:
    """``(P, V)`` logits of the first token for some sentences of a batch."""
    with torch.inference_mode():
        chosen = np.array(sentences)
        decoder = encode([model], net_input(sources), PAD)(chosen)
        places = np.arange(len(chosen))
        return decoder.step(PrefixRows(np.full(len(chosen), EOS), None, places)).clone()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("length", [5, 17, 24, 40, 110, 130, 184, 190, 250])
def test_a_sentence_is_the_same_bits_in_any_batch(length: int, threads: int) -> None:
    """Alone, with one other, with long ones, at another place, in a part of its batch; wide enough that sums of
    products are split (which depends on the width of the source and on whether a batch has one sentence)."""
    sizes = {name: 4 * size if name.endswith("dim") else size for name, size in SIZES.items()}
    model = toy_transformer(words=30, **sizes)
    dice = np.random.default_rng(length)
    sentence, *others = [[*dice.integers(4, 30, size).tolist(), EOS] for size in (length - 1, 3, 130, 207, 300, 420)]
    with computing_on(threads):
        alone = first_logits(model, [sentence], [0])
        for batch in ([0], [1], [2], [3], [4], [0, 1, 2, 3]):
            sources = [*(others[i] for i in batch), sentence]
            place = len(sources) - 1
            assert torch.equal(first_logits(model, sources, list(range(place + 1)))[place:], alone)
            assert torch.equal(first_logits(model, sources, [place]), alone)
            assert torch.equal(first_logits(model, sources, [place, 0])[:1], alone)
