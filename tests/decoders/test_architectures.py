"""Every translation architecture of fairseq that can be built here, tiny and with random weights: what the sampler and
the exact search report for a sequence is what teacher forcing and the model's own `get_normalized_probs` give it."""

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from fairseq import models, options
from fairseq.examples.pointer_generator.pointer_generator_src.transformer_pg import TransformerPointerGeneratorModel
from fairseq.models.transformer import TransformerModel
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase
from toy_model import EOS, PAD, net_input, sample_toy, toy_dictionary, toy_transformer

from dcmbr_fairseq.decoders.encoding import encode
from dcmbr_fairseq.decoders.fairseq_decoder import gives_logits
from dcmbr_fairseq.decoders.transformer import is_standard_transformer
from dcmbr_fairseq.decoding.generator import MBRSequenceGenerator
from dcmbr_fairseq.decoding.options import decoding_options
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.pools.settings import defaults
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.search.exact_search import ExactSearch, Target

WORDS = 12
#: The longest first, as fairseq's batches are and its LSTM needs them.
SOURCES = [[6, 6, 5, 4, 5, 9, EOS], [5, 4, 6, EOS], [9, 4, 7, EOS], [4, EOS]]

DIMENSIONS = ["--encoder-embed-dim", "16", "--decoder-embed-dim", "16"]
TRANSFORMER = [*DIMENSIONS, "--encoder-ffn-embed-dim", "16", "--decoder-ffn-embed-dim", "16", "--encoder-layers", "2",
               "--decoder-layers", "2", "--encoder-attention-heads", "2", "--decoder-attention-heads", "2"]  # fmt: skip
LIGHT = [*TRANSFORMER, "--encoder-kernel-size-list", "[3,7]", "--decoder-kernel-size-list", "[3,7]"]
CONVOLUTIONS = [*DIMENSIONS, "--encoder-layers", "[(16, 3)] * 2", "--decoder-layers", "[(16, 3)] * 3"]
LSTM = [*DIMENSIONS, "--encoder-hidden-size", "16", "--encoder-layers", "2", "--decoder-hidden-size", "16",
        "--decoder-layers", "2", "--decoder-out-embed-dim", "16"]  # fmt: skip
ADAPTIVE = ["--criterion", "adaptive_loss", "--adaptive-softmax-cutoff", "6,11"]
#: What has no flag.
NORMFORMER = {"scale_attn": True, "scale_fc": True, "scale_heads": True, "scale_resids": True}

ARCHITECTURES: dict[str, list[str]] = {
    "transformer": TRANSFORMER,
    "transformer (pre-norm)": [*TRANSFORMER, "--encoder-normalize-before", "--decoder-normalize-before"],
    "transformer (adaptive softmax)": [*TRANSFORMER, *ADAPTIVE],
    "transformer (normformer)": TRANSFORMER,
    "transformer (cross-self-attention)": [*TRANSFORMER, "--cross-self-attention", "--no-cross-attention"],
    "transformer (quantisation noise)": [*TRANSFORMER, "--quant-noise-pq", "0.1"],
    "transformer_align": [*TRANSFORMER, "--alignment-layer", "1", "--alignment-heads", "1"],
    "transformer_vaswani_wmt_en_de_big": TRANSFORMER,
    "bart_base": TRANSFORMER,
    "mbart_large": TRANSFORMER,
    "lstm": LSTM,
    "lstm (two ways, no attention)": [*LSTM, "--encoder-bidirectional", "--decoder-attention", "0"],
    "lstm (adaptive softmax)": [*LSTM, *ADAPTIVE],
    "fconv": CONVOLUTIONS,
    "fconv_self_att": [*CONVOLUTIONS, "--decoder-out-embed-dim", "8"],
    "lightconv (lightweight)": [*LIGHT, "--encoder-conv-type", "lightweight", "--decoder-conv-type", "lightweight"],
    "lightconv (dynamic)": [*LIGHT, "--encoder-conv-type", "dynamic", "--decoder-conv-type", "dynamic"],
    "transformer_pointer_generator": [*TRANSFORMER, "--alignment-layer", "1", "--source-position-markers", "5",
                                      "--share-decoder-input-output-embed"],
}  # fmt: skip
NON_AUTOREGRESSIVE = ["nonautoregressive_transformer", "iterative_nonautoregressive_transformer", "cmlm_transformer",
                      "levenshtein_transformer", "insertion_transformer", "nacrf_transformer"]  # fmt: skip


assert TransformerPointerGeneratorModel in models.MODEL_REGISTRY.values()  # registered by being imported


def build(name: str, flags: list[str]) -> Any:
    """A model of an architecture with random weights, in evaluation mode."""
    torch.manual_seed(3)
    arch = name.split(" ")[0]
    parser = options.get_training_parser(default_task="translation")
    args = options.parse_args_and_arch(parser, ["nowhere", "--arch", arch, "--max-source-positions", "64",
                                                "--max-target-positions", "64", *flags])  # fmt: skip
    vars(args).update(NORMFORMER if "normformer" in name else {})
    dictionary = toy_dictionary(WORDS)
    task = SimpleNamespace(source_dictionary=dictionary, target_dictionary=dictionary)
    return models.ARCH_MODEL_REGISTRY[arch].build_model(args, task).eval()


def prepared(name: str) -> Any:
    """The same model as fairseq's commands prepare it before they decode."""
    model = build(name, ARCHITECTURES[name])
    generation = SimpleNamespace(no_beamable_mm=False, beam=5, print_alignment=None)
    model.prepare_for_inference_(SimpleNamespace(generation=generation))
    return model


def forced(members: list[Any], sources: list[list[int]], sentence: int, targets: list[list[int]]) -> list[np.ndarray]:
    """Of each target the log-probabilities of its tokens, of several models the mean of probabilities: by a full
    forward pass, with the source padded as in the batch."""
    given = net_input(sources)
    # and one of the longest source, for its width; as long as the kernels, since short rows are another matter
    rows = torch.full((len(targets) + 1, max(8, *map(len, targets))), PAD)
    for row, target in zip(rows[1:], targets, strict=True):
        row[: len(target)] = torch.tensor(target)
    previous = torch.cat([torch.full((len(rows), 1), EOS), rows[:, :-1]], dim=1)
    source, length = (given[name][[0] + [sentence] * len(targets)] for name in ("src_tokens", "src_lengths"))
    logs = []
    with torch.no_grad():
        for model in members:
            probabilities = model.get_normalized_probs(model(source, length, previous), log_probs=True, sample=None)
            logs.append(probabilities[1:].double())
    log_probs = torch.logsumexp(torch.stack(logs), dim=0) - np.log(len(logs))
    return [log[range(len(target)), target].numpy() for log, target in zip(log_probs, targets, strict=True)]


SPECS = {
    "one pool": [PoolSpec(9, 1.0, 0)],
    "two pools": [PoolSpec(9, 0.5, 0), PoolSpec(6, 1.6, 1)],
}


@pytest.fixture(scope="module", params=ARCHITECTURES)
def built(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """A model, and the same prepared for inference."""
    return build(request.param, ARCHITECTURES[request.param]), prepared(request.param)


@pytest.mark.parametrize("max_rows", [4, 20, 4096], ids=["passes in a sentence", "sentences in turn", "all at once"])
@pytest.mark.parametrize("pools", SPECS)
def test_log_probs_are_those_of_teacher_forcing(built: tuple[Any, Any], pools: str, max_rows: int) -> None:
    model, ready = built
    sampled = sample_toy([ready], SOURCES, SPECS[pools], max_len=7, max_rows=max_rows)
    for sentence, found in enumerate(sampled.pools):
        for pool in found:
            targets = [tokens.tolist() for tokens in pool.tokens]
            truth = forced([model], SOURCES, sentence, targets)
            for scores, expected in zip(pool.positional_log_probs, truth, strict=True):
                np.testing.assert_allclose(scores, expected, atol=5e-5)


def test_an_exact_search_comes_back_to_its_prefixes(built: tuple[Any, Any]) -> None:
    model, ready = built
    with torch.no_grad():
        make_decoder = encode([ready], net_input(SOURCES), PAD)
    search = ExactSearch(Support(EOS, (PAD,)), size=5, max_expansions=60, width=4)
    found = search.search(lambda: make_decoder(np.array([1])), Target(EOS, 4)).sequences
    truth = forced([model], SOURCES, 1, [list(sequence.tokens) for sequence in found])
    np.testing.assert_allclose([sequence.log_prob for sequence in found], [x.sum() for x in truth], atol=5e-5)


def test_an_ensemble_of_different_architectures() -> None:
    names = ("fconv", "transformer", "lstm")
    members = [build(name, ARCHITECTURES[name]) for name in names]
    sampled = sample_toy([prepared(name) for name in names], SOURCES, SPECS["two pools"], max_len=7, max_rows=10)
    for sentence, found in enumerate(sampled.pools):
        for pool in found:
            targets = [tokens.tolist() for tokens in pool.tokens]
            truth = forced(members, SOURCES, sentence, targets)
            for scores, expected in zip(pool.positional_log_probs, truth, strict=True):
                np.testing.assert_allclose(scores, expected, atol=5e-5)


def test_a_beam_search_finds_the_model_as_it_was() -> None:
    """A model may decode by beam search before and after: what it was told about beams is not forgotten."""
    model = prepared("fconv")
    sizes = [module.beam_size for module in model.modules() if hasattr(module, "beam_size")]
    assert 5 in sizes
    sample_toy([model], SOURCES, SPECS["one pool"], max_len=7)
    assert [module.beam_size for module in model.modules() if hasattr(module, "beam_size")] == sizes


class Halved(TransformerDecoderLayerBase):
    """A layer of a user's own, as in fairseq's latent depth: not all that `forward` calls is fairseq's."""

    def residual_connection(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return residual + x / 2


class OwnProbabilities(TransformerModel):
    """A model that gives probabilities of its own, by fairseq's decoder."""

    def get_normalized_probs(self, net_output: Any, log_probs: bool, sample: Any = None) -> torch.Tensor:
        probabilities = 0.5 * torch.softmax(net_output[0], dim=-1) + 0.5 / net_output[0].size(-1)
        return probabilities.log() if log_probs else probabilities


def weight_normalised(model: Any) -> None:
    layer = torch.nn.utils.weight_norm(model.decoder.layers[0].fc1)
    layer.weight_g.data *= 3  # as when a checkpoint is loaded: the weight follows in the next forward pass


def changed_output(model: Any) -> None:
    model.decoder.layers[0].register_forward_hook(lambda module, given, output: (output[0] * 2, *output[1:]))


UNUSUAL = {
    "layers of another class": lambda model: [setattr(layer, "__class__", Halved) for layer in model.decoder.layers],
    "a model of another class": lambda model: setattr(model, "__class__", OwnProbabilities),
    "weight normalisation": weight_normalised,
    "a hook": changed_output,
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_differs_from_the_standard_is_not_decoded_as_if_it_did_not(name: str) -> None:
    model = toy_transformer(words=WORDS)
    plain = sample_toy([model], SOURCES, SPECS["one pool"], max_len=5).pools
    UNUSUAL[name](model)
    assert not is_standard_transformer(model) or not gives_logits(model)
    found = sample_toy([model], SOURCES, SPECS["one pool"], max_len=5).pools
    for sentence, (pool,) in enumerate(found):
        truth = forced([model], SOURCES, sentence, [tokens.tolist() for tokens in pool.tokens])
        for scores, expected in zip(pool.positional_log_probs, truth, strict=True):
            np.testing.assert_allclose(scores, expected, atol=5e-5)
    assert any(not np.array_equal(a.log_prob, b.log_prob) for (a,), (b,) in zip(plain, found, strict=True))


def test_the_standard_transformer_has_the_fast_decoder() -> None:
    for name in ("transformer", "transformer (pre-norm)", "transformer_align", "bart_base", "mbart_large"):
        model = prepared(name)
        assert is_standard_transformer(model) and gives_logits(model), name


@pytest.mark.parametrize("name", ["transformer (adaptive softmax)", "transformer", "lstm (adaptive softmax)"])
def test_half_precision(name: str) -> None:
    model = build(name, ARCHITECTURES[name])
    half = copy.deepcopy(model).to(torch.bfloat16)
    for sentence, (pool,) in enumerate(sample_toy([half], SOURCES, SPECS["one pool"], max_len=5).pools):
        truth = forced([model], SOURCES, sentence, [tokens.tolist() for tokens in pool.tokens])
        for scores, expected in zip(pool.positional_log_probs, truth, strict=True):
            np.testing.assert_allclose(scores, expected, atol=0.2)


@pytest.mark.parametrize("arch", NON_AUTOREGRESSIVE)
def test_non_autoregressive_models_are_refused(arch: str) -> None:
    model = build(arch, [*TRANSFORMER, "--encoder-learned-pos", "--decoder-learned-pos"])
    with pytest.raises(UserError, match="non-autoregressive"):
        encode([model], net_input(SOURCES), PAD)
    settings, dictionary = decoding_options({**defaults(), "decoding": "dcmbr"}), toy_dictionary(WORDS)
    with pytest.raises(UserError, match="non-autoregressive"):  # when it is made, before the first batch
        MBRSequenceGenerator([model], dictionary, options=settings, utility=None, make_texts=lambda _: None, seed=1)


def test_models_without_encoder_and_decoder_are_refused() -> None:
    model = models.FairseqLanguageModel(toy_transformer().decoder)
    with pytest.raises(UserError, match="encoder and a decoder"):
        encode([model], net_input(SOURCES), PAD)
