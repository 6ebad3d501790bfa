"""Everything that touches tensors in decoding, on the rehearsal device: the CPU's own results, nothing refused."""

import copy
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from fairseq.models.fconv import FConvModel
from fairseq.models.fconv import base_architecture as fconv_architecture
from fairseq.models.lstm import LSTMModel
from fairseq.models.lstm import base_architecture as lstm_architecture
from rehearsed import assert_same, on_both, rehearsal
from toy_model import EOS, PAD, net_input, toy_dictionary, toy_transformer

from dcmbr_fairseq.decoders.encoding import encode
from dcmbr_fairseq.decoding.generator import MBRSequenceGenerator, TextSide
from dcmbr_fairseq.decoding.options import DecodingConfig, decoding_options
from dcmbr_fairseq.decoding.texts import Detokenizer
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.preflight.languages import LanguageTokens
from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler, SamplingBatch
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.search.exact_search import ExactSearch, Target
from dcmbr_fairseq.utilities import build_utility

WORDS = 30
SOURCES = [[6, 6, 5, 4, 12, 8, EOS], [5, 4, 6, 9, EOS], [4, EOS], [EOS]]
#: Ways to decode: the task's options, and the generator's.
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "sample": ({"decoding": "sample"}, {}),
    "mbr": ({"decoding": "mbr"}, {}),
    "dcmbr": ({}, {}),
    "two pools": ({"num_ref": 5, "temp_ref": "0.8"}, {}),
    "three passes": ({"max_rows": 10}, {}),
    "a pool in parts": ({"max_rows": 3}, {}),
    "top-k": ({"sampling_topk": 4}, {}),
    "top-p": ({"sampling_topp": 0.7, "temp_hyp": "0.9"}, {}),
    "epsilon": ({"sampling_epsilon": 0.05, "temp_hyp": "1.5"}, {}),
    "min-len": ({}, {"min_len": 3}),
    "no min-len": ({"temp_hyp": "1", "temp_ref": "1"}, {"min_len": 0}),
    "unkpen": ({"temp_hyp": "0.7"}, {"unk_penalty": 2.0}),
    "forced language": ({}, {"languages": LanguageTokens(frozenset({7}), forced=1, start=EOS)}),
}


def lstm() -> Any:
    torch.manual_seed(4)
    args = Namespace(encoder_embed_dim=16, decoder_embed_dim=16, decoder_out_embed_dim=16, criterion="")
    lstm_architecture(args)
    task = Namespace(source_dictionary=toy_dictionary(WORDS), target_dictionary=toy_dictionary(WORDS))
    model = LSTMModel.build_model(args, task).eval()
    encoder = copy.deepcopy(model.encoder)

    def on_the_host(given: dict[str, torch.Tensor]) -> Any:
        """The device cannot follow packed sequences: the encoder stays on the CPU, its output moves."""
        place = rehearsal.to_device if given["src_tokens"].device == rehearsal.DEVICE else lambda x: x
        return place(encoder(*(given[name].cpu() for name in ("src_tokens", "src_lengths"))))

    model.encoder.forward_torchscript = on_the_host
    return model


def fconv() -> Any:
    torch.manual_seed(4)
    sizes = {f"{side}_{name}": value for side in ("encoder", "decoder")
             for name, value in (("embed_dim", 16), ("layers", "[(16, 3)] * 2"))}  # fmt: skip
    args = Namespace(**sizes, max_source_positions=64, max_target_positions=64)
    fconv_architecture(args)
    task = Namespace(source_dictionary=toy_dictionary(WORDS), target_dictionary=toy_dictionary(WORDS))
    model = FConvModel.build_model(args, task).eval()
    model.make_generation_fast_()  # as fairseq-generate prepares it
    return model


MODELS: dict[str, Callable[[], list[Any]]] = {
    "transformer": lambda: [toy_transformer(WORDS)],
    "ensemble": lambda: [toy_transformer(WORDS), toy_transformer(WORDS, seed=5)],
    "post-norm, shared": lambda: [toy_transformer(WORDS, share_decoder_input_output_embed=True)],
    "any transformer": lambda: [toy_transformer(WORDS, decoder_learned_pos=True, adaptive_input=False)],
    "lstm": lambda: [lstm()],
    "fconv": lambda: [fconv()],
}


def decode(models: list[Any], sample: Any, values: dict[str, Any], settings: dict[str, Any], prefix: Any = None) -> Any:
    """fairseq's n-best lists of a generator of ours, as plain lists."""
    given = {name: value for name, value in vars(DecodingConfig()).items() if name != "_name"}
    truncation = [values.pop(name, -1) for name in ("sampling_topk", "sampling_topp")]
    given.update({"decoding": "dcmbr", "num_hyp": 5, **values})
    dictionary = toy_dictionary(WORDS)
    texts = TextSide(Detokenizer(dictionary), Detokenizer(dictionary))
    options = decoding_options(given, *truncation)
    generator = MBRSequenceGenerator(
        models, dictionary, options=options, make_texts=lambda _: texts, seed=3,
        utility=None if options.decoding == "sample" else build_utility("chrf", {}),
        **{"max_len_b": 5, "nbest": 3, **settings},
    )  # fmt: skip
    found = generator.generate(models, sample, prefix_tokens=prefix)
    return [
        [(hypothesis["tokens"].tolist(), hypothesis["positional_scores"].tolist()) for hypothesis in nbest]
        for nbest in found
    ]


CASES = [("transformer", way) for way in WAYS]
OTHERS = [kind for kind in MODELS if kind != "transformer"]
CASES += [(kind, way) for kind in OTHERS for way in ("two pools", "a pool in parts")]


@pytest.mark.parametrize("kind, way", CASES)
def test_decoding(kind: str, way: str) -> None:
    values, settings = WAYS[way]
    sample = {"id": torch.arange(4), "net_input": net_input(SOURCES)}
    prefix = torch.full((4, 1), 7) if "languages" in settings else None
    expected, found, counts = on_both(
        MODELS[kind](),
        lambda models, place: decode(
            models, place(sample), dict(values), settings, None if prefix is None else place(prefix)
        ),
    )
    assert_same(found, expected)
    assert counts.launches > 100


def test_prefixes_of_unequal_length_and_a_first_token_of_its_own() -> None:
    sample = {"id": torch.arange(4), "net_input": net_input(SOURCES)}
    prefix = torch.tensor([[7, 8], [9, PAD], [PAD, PAD], [5, 6]])
    expected, found, _ = on_both(
        [toy_transformer(WORDS)],
        lambda models, place: decode(models, place(sample), {"num_ref": 3}, {}, place(prefix)),
    )
    assert_same(found, expected)
    assert found[0][0][0][:2] == [7, 8]


@pytest.mark.parametrize("kind", ["transformer", "ensemble", "lstm"])
def test_exact_search(kind: str) -> None:
    def search(models: list[Any], place: Callable[[Any], Any]) -> Any:
        with torch.no_grad():
            make_decoder = encode(models, place(net_input(SOURCES[:1])), PAD)
        found = ExactSearch(Support(EOS, (PAD,), 1), size=6, width=4, max_expansions=60).search(
            lambda: make_decoder(np.array([0])), Target(EOS, 3)
        )
        return [[(sequence.tokens, [sequence.log_prob]) for sequence in found.sequences]]

    expected, found, _ = on_both(MODELS[kind](), search)
    assert_same(found, expected)


def test_a_step_has_one_wait_and_two_copies() -> None:
    """One copy for the decoder and one for the draws, one back; what else there is belongs to the batch."""
    decoder, support = rehearsal.to_device(toy_transformer(WORDS)), Support(EOS, (PAD,), 1)
    sources = SOURCES[:3]
    with rehearsal.rehearse() as counts:
        with torch.no_grad():
            make_decoder = encode([decoder], rehearsal.to_device(net_input(sources)), PAD)
        before = counts.waits
        sampled = PrefixSampler(support).sample(
            make_decoder, SamplingBatch(sources, np.full(3, 9), EOS), [PoolSpec(6, 0.5, 0), PoolSpec(5, 0.9, 1)]
        )
    steps = max(len(tokens) for pools in sampled.pools for pool in pools for tokens in pool.tokens)
    copies = sum(n for place, n in counts.places.items() if place.startswith("to_device") and "transfer.py" in place)
    assert counts.waits - before == counts.to_host == steps
    assert 2 * steps <= copies <= 3 * steps  # now and then the sources are laid out anew
