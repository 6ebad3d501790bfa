"""A tiny Transformer whose translations can all be enumerated: the truth for samplers and searches."""

import itertools
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel, base_architecture

EOS, PAD, UNK, BOS = 2, 1, 3, 0


def toy_dictionary(words: int) -> Dictionary:
    """A dictionary of the four special symbols and ``words`` words, not padded."""
    dictionary = Dictionary()
    for index in range(words):
        dictionary.add_symbol(f"w{index}")
    return dictionary


def toy_transformer(words: int = 3, seed: int = 4, spread: float = 1.5, **settings: Any) -> TransformerModel:
    """A one-layer Transformer with random weights, in evaluation mode.

    Args:
        words: target vocabulary beside the special symbols; the source has at least three.
        spread: scale of the output embeddings: the larger, the more peaked its distributions.
        settings: architecture options of fairseq's Transformer.
    """
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {}
    for side in ("encoder", "decoder"):
        sizes.update({f"{side}_embed_dim": 16, f"{side}_ffn_embed_dim": 16, f"{side}_layers": 2})
        sizes[f"{side}_attention_heads"] = 2
    args = Namespace(**{**sizes, "share_decoder_input_output_embed": False, **settings})
    base_architecture(args)
    task = Namespace(source_dictionary=toy_dictionary(max(3, words)), target_dictionary=toy_dictionary(words))
    model = TransformerModel.build_model(args, task)
    model.decoder.output_projection.weight.data.mul_(spread)
    return model.eval()


def teacher_forced(
    models: Sequence[torch.nn.Module], source: Sequence[int], targets: Sequence[Sequence[int]], bos: int = EOS
) -> np.ndarray:
    """``(N, T, V)`` log-probabilities at temperature 1 by fairseq's own full forward pass; mean of probabilities."""
    width = max(map(len, targets))
    rows = torch.full((len(targets), width), PAD)
    for row, target in zip(rows, targets, strict=True):
        row[: len(target)] = torch.tensor(target)
    previous = torch.cat([torch.full((len(targets), 1), bos), rows[:, :-1]], dim=1)
    src = torch.tensor([source]).expand(len(targets), -1)
    with torch.no_grad():
        logs = [
            model.get_normalized_probs(model(src, torch.full((len(targets),), len(source)), previous), log_probs=True)
            for model in models
        ]
    return (torch.logsumexp(torch.stack(logs).double(), dim=0) - np.log(len(logs))).numpy()


def all_targets(words: int, max_len: int, min_len: int = 0) -> Iterator[tuple[int, ...]]:
    """All translations of at most ``max_len`` tokens, end of sentence included: every symbol but padding may occur."""
    symbols = [token for token in range(4 + words) if token not in (PAD, EOS)]
    for length in range(min_len, max_len + 1):
        for target in itertools.product(symbols, repeat=length):
            yield (*target, EOS)


def cooled(
    logs: np.ndarray, temperature: float, step: int, min_len: int, max_len: int, truncate: Any = None
) -> np.ndarray:
    """``(V,)`` the distribution that is to be sampled from at one step, computed the plain way."""
    if step >= max_len:
        return np.eye(len(logs))[EOS]
    weights = np.exp(logs / temperature)
    weights[PAD] = 0.0
    if step < min_len:
        weights[EOS] = 0.0
    probabilities = weights / weights.sum()
    if truncate is not None:
        probabilities = np.where(truncate(probabilities), probabilities, 0.0)
        probabilities /= probabilities.sum()
    return probabilities


def exact_distribution(
    models: Sequence[torch.nn.Module],
    source: Sequence[int],
    words: int,
    max_len: int,
    temperature: float = 1.0,
    min_len: int = 1,
    truncate: Any = None,
) -> dict[tuple[int, ...], float]:
    """The probability of every translation under the cooled, truncated model."""
    targets = list(all_targets(words, max_len, min_len))
    logs = teacher_forced(models, source, targets)
    result = {}
    for target, rows in zip(targets, logs, strict=True):
        probability = 1.0
        for step, token in enumerate(target):
            probability *= cooled(rows[step], temperature, step, min_len, max_len, truncate)[token]
        result[target] = probability
    return result


def net_input(sources: list[list[int]], left_pad: bool = True) -> dict[str, torch.Tensor]:
    """fairseq's batch of these source sentences."""
    width = max(map(len, sources))
    rows = torch.full((len(sources), width), PAD)
    for row, source in zip(rows, sources, strict=True):
        row[width - len(source) if left_pad else 0 : width if left_pad else len(source)] = torch.tensor(source)
    return {"src_tokens": rows, "src_lengths": torch.tensor([len(source) for source in sources])}


def sample_toy(
    models: Sequence[torch.nn.Module], sources: list[list[int]], specs: Sequence[Any], max_len: int = 3,
    prefixes: np.ndarray | None = None, bos: int = EOS, min_len: int = 1, unk_penalty: float = 0.0, **settings: Any,
) -> Any:  # fmt: skip
    """Run the sampler on the toy model; ``settings`` go to PrefixSampler."""
    from dcmbr_fairseq.decoders.encoding import encode
    from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler, SamplingBatch
    from dcmbr_fairseq.sampling.support import Support

    support = Support(EOS, (PAD,), min_len, UNK, unk_penalty)
    with torch.no_grad():
        make_decoder = encode(models, net_input(sources), PAD)
        batch = SamplingBatch(sources, np.full(len(sources), max_len), bos, prefixes)
        return PrefixSampler(support, **settings).sample(make_decoder, batch, specs)


def drawn(pool: Any) -> list[tuple[int, ...]]:
    """Every draw of a pool as a tuple of tokens, in draw order."""
    return [tuple(pool.tokens[draw].tolist()) for draw in pool.draws]
