"""What int8 or bfloat16 weights would give the decoder on a CPU: time, memory of the weights, and what draws do.

    python scripts/bench/reduced.py CHECKPOINT DATA TEXT BPE_CODES [--sentences 64] [--runs 3]

The linear layers of our decoder are replaced: by torch's dynamic quantisation (``quantize_dynamic``: int8 weights, the
activations quantised at each call), or by products in bfloat16. Time and memory at Transformer-base dimensions with
random weights, ``--draws`` of 4 sentences; draws and choices of the checkpoint, beside those in float32 with the same
random numbers. Prints one JSON object.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy is imported

import argparse  # noqa: E402
import contextlib  # noqa: E402
import functools  # noqa: E402
import json  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402
from unittest.mock import patch  # noqa: E402

import decoding  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from decoding import World  # noqa: E402
from timing import medians, ratio  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from dcmbr_fairseq.decoders import transformer  # noqa: E402
from dcmbr_fairseq.decoding.texts import text_pool  # noqa: E402
from dcmbr_fairseq.measure.grid import Sizes  # noqa: E402
from dcmbr_fairseq.measure.sweep import choose  # noqa: E402
from dcmbr_fairseq.pools.draws import TextPool  # noqa: E402
from dcmbr_fairseq.pools.sentence import Pools  # noqa: E402
from dcmbr_fairseq.utilities.chrf import ChrfUtility  # noqa: E402

Product = Callable[[Tensor], Tensor]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    decoding.add_world_arguments(parser, sentences=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--draws", type=int, default=50, help="of a sentence at base dimensions (default: 50)")
    parser.add_argument("--length", type=int, default=16, help="tokens of a translation at base dimensions")
    args = parser.parse_args()
    torch.set_num_threads(1)
    world = decoding.given_world(args)
    report = {"speed at base dimensions": speed(args.kinds, args.runs, args.draws, args.length)}
    report["draws of the checkpoint"] = draws(args.kinds, world)
    print(json.dumps(report, indent=2))


def int8(joined: nn.Linear) -> tuple[Product, int]:
    """The layer by dynamic quantisation, and the bytes of its weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.ao moves to torchao, which has nothing for such CPUs yet
        quantised = torch.ao.quantization.quantize_dynamic(nn.Sequential(joined), {nn.Linear}, dtype=torch.qint8)[0]
    return quantised, joined.weight.numel()


def bfloat16(joined: nn.Linear) -> tuple[Product, int]:
    """The layer with weights and products in bfloat16, and the bytes of its weights."""
    weight, bias = joined.weight.t().bfloat16().contiguous(), joined.bias

    def product(x: Tensor) -> Tensor:
        found = torch.mm(x.bfloat16(), weight).float()
        return found if bias is None else found + bias

    return product, 2 * weight.numel()


KINDS = {"int8": int8, "bfloat16": bfloat16}


@contextlib.contextmanager
def reduced(make: Callable[[nn.Linear], tuple[Product, int]], made: dict[Any, tuple[Product, int]]) -> Iterator[None]:
    """The decoder's linear layers are of this kind inside the block; ``made`` keeps them, for other blocks too."""

    class Reduced:
        """Stands for the decoder's own."""

        def __init__(self, *layers: nn.Linear, copied: bool) -> None:
            if layers not in made:  # once, not for every batch
                made[layers] = make(_joined(layers))
            self._product = made[layers][0]
            self.weight = torch.empty(layers[0].in_features, sum(x.out_features for x in layers), device="meta")

        def __call__(self, x: Tensor, out: Tensor | None = None) -> Tensor:
            found = self._product(x)
            return found if out is None else out.copy_(found)

    with patch.object(transformer, "_Linear", Reduced):
        yield


def _joined(layers: tuple[nn.Linear, ...]) -> nn.Linear:
    """One layer that gives what these give, side by side."""
    joined = nn.Linear(layers[0].in_features, sum(x.out_features for x in layers), bias=layers[0].bias is not None)
    joined.weight.data = torch.cat([layer.weight.detach() for layer in layers])
    if joined.bias is not None:
        joined.bias.data = torch.cat([layer.bias.detach() for layer in layers])
    return joined


def speed(kinds: Sequence[str], runs: int, size: int = 50, max_len: int = 16) -> dict[str, Any]:
    """Milliseconds of a pool with each kind of weights, how many times faster than float32, and MiB of weights."""
    world = decoding.base_world()
    made: dict[str, dict[Any, tuple[Product, int]]] = {kind: {} for kind in kinds}

    def run(kind: str) -> Any:
        with reduced(KINDS[kind], made[kind]):
            return world.sample_pool(size, 0.5, max_len)

    contestants = {"float32": lambda: world.sample_pool(size, 0.5, max_len)}
    contestants |= {kind: functools.partial(run, kind) for kind in kinds}
    times = medians(contestants, runs)  # the runs that are not timed make the layers
    report: dict[str, Any] = {"rows": world.sample_pool(size, 0.5, max_len).rows}
    for kind, found in times.items():
        faster = ratio(times["float32"], found).rounded(2)
        report[kind] = {"ms": found.rounded(0), "times_as_fast_as_float32": faster}
    for kind, layers in made.items():
        report[kind]["weights_mib"] = round(sum(count for _, count in layers.values()) / 2**20, 1)
    replaced = {layer for layers in made.values() for joined in layers for layer in joined}
    report["float32"]["weights_mib"] = round(sum(4 * layer.weight.numel() for layer in replaced) / 2**20, 1)
    return report


def draws(kinds: Sequence[str], world: World, size: int = 50, temperature: float = 0.5) -> dict[str, Any]:
    """How many draws are those of float32, how far the model's log-probabilities move, how often choices are the same,
    and what the other choices are worth by the pool in float32."""
    exact = _pools(world, size, temperature)
    report = {}
    for kind in kinds:
        with reduced(KINDS[kind], {}):
            found = _pools(world, size, temperature)
        pairs = list(zip(exact, found, strict=True))
        same = [a == b for one, other in pairs for a, b in zip(one.by_draw(), other.by_draw(), strict=True)]
        moved = [abs(one.log_probs[tokens] - other.log_probs[tokens]) for one, other in pairs
                 for tokens in one.log_probs.keys() & other.log_probs.keys()]  # fmt: skip
        choices = list(zip(*(choose([Pools.of([pool.texts]) for pool in pools], ChrfUtility(), [Sizes(size, size)])[0]
                             for pools in (exact, found)), strict=True))  # fmt: skip
        worth = [ChrfUtility().pairwise(list(pair), one.texts.texts) @ one.texts.weights()
                 for pair, one in zip(choices, exact, strict=True)]  # fmt: skip
        report[kind] = {
            "same_draws": round(float(np.mean(same)), 3), "log_prob_moves_by": round(float(np.mean(moved)), 4),
            "same_choices": round(float(np.mean([a == b for a, b in choices])), 3),
            "expected_utility": [round(float(value), 2) for value in np.mean(worth, axis=0)],
        }  # fmt: skip
    return report


class _Pool(NamedTuple):
    """The draws of one sentence as texts, and the log-probability of each token sequence."""

    texts: TextPool
    log_probs: dict[bytes, float]

    def by_draw(self) -> list[str]:
        return [self.texts.texts[draw] for draw in self.texts.draws]


def _pools(world: World, size: int, temperature: float) -> list[_Pool]:
    detokenize, found = world.texts().target, []
    for (pool,) in world.sample_pool(size, temperature).pools:
        log_probs = {t.tobytes(): float(p) for t, p in zip(pool.tokens, pool.log_prob, strict=True)}
        found.append(_Pool(text_pool(pool, detokenize), log_probs))
    return found


if __name__ == "__main__":
    main()
