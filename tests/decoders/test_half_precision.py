"""Weights and caches in half precision, on the CPU: near to float32, and near to fairseq's own forward pass."""

import copy

import numpy as np
import pytest
import torch
from toy_model import EOS, PAD, UNK, net_input, teacher_forced, toy_transformer

from dcmbr_fairseq.decoders.encoding import encode
from dcmbr_fairseq.decoders.incremental import PrefixRows
from dcmbr_fairseq.decoders.transformer import TransformerDecoder
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler, SamplingBatch
from dcmbr_fairseq.sampling.support import Support

SOURCES = [[6, 6, 5, 4, 12, 8, EOS], [5, 4, 6, 9, EOS], [4, EOS]]
#: Type -> largest difference of a log-probability: some units of its last place, through two layers.
TYPES = {torch.float16: 0.02, torch.bfloat16: 0.15}


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_histories_are_kept_in_the_models_own_type_and_logits_in_float32(kind: torch.dtype) -> None:
    model = toy_transformer(30).to(kind)
    with torch.inference_mode():
        decoder = encode([model], net_input(SOURCES), PAD)(np.arange(3))
        assert isinstance(decoder, TransformerDecoder)
        logits = decoder.step(PrefixRows(np.full(3, EOS), None, np.arange(3)))
    assert logits.dtype == torch.float32 and logits.isfinite().all()
    stores = (decoder.cache._store, decoder.sources.store, decoder.sources._block_store)
    assert {store.dtype for store in stores} == {kind}


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_draws_have_the_log_probabilities_of_fairseqs_forward_pass(kind: torch.dtype) -> None:
    model = toy_transformer(30)
    pools = {}
    for dtype in (torch.float32, kind):
        own = copy.deepcopy(model).to(dtype)
        with torch.no_grad():
            make_decoder = encode([own], net_input(SOURCES), PAD)
        batch, specs = SamplingBatch(SOURCES, np.full(3, 8), EOS), [PoolSpec(40, 0.5, 0)]
        pools[dtype] = PrefixSampler(Support(EOS, (PAD,), 1, UNK)).sample(make_decoder, batch, specs).pools
    equal = total = 0
    for source, (half,), (whole,) in zip(SOURCES, pools[kind], pools[torch.float32], strict=True):
        truth = teacher_forced([copy.deepcopy(model).to(kind).float()], source, [t.tolist() for t in half.tokens])
        for tokens, scores, expected in zip(half.tokens, half.positional_log_probs, truth, strict=True):
            np.testing.assert_allclose(scores, expected[np.arange(len(tokens)), tokens], atol=TYPES[kind])
        texts = [[tuple(pool.tokens[i]) for i in pool.draws] for pool in (half, whole)]
        equal += sum(a == b for a, b in zip(*texts, strict=True))
        total += len(half.draws)
    assert equal >= (0.95 if kind is torch.float16 else 0.6) * total  # the others fell within the rounding
