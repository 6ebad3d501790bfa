"""Codes and orders of tokens that arithmetic draws could have, for draws.py: measured beside the product's own.

A variant stands in for what the sampler takes its codes from (:func:`~dcmbr_fairseq.sampling.codes.arithmetic_codes`)
and for what lays the tokens along the interval (:func:`~dcmbr_fairseq.sampling.categorical.draw_tokens`, which does so
by their ids). Every one gives draws that are exact samples by themselves.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from scipy.stats import qmc
from torch import Tensor

from dcmbr_fairseq.sampling import prefix_sampler, step_distribution
from dcmbr_fairseq.sampling.categorical import Drawn, draw_tokens
from dcmbr_fairseq.sampling.codes import arithmetic_codes, van_der_corput

#: (keys of B sentences, D, first draw) -> (B, D) codes.
Codes = Callable[[Sequence[np.ndarray], int, int], np.ndarray]
#: (model, weights (P, V)) -> the tokens in their order along the interval, (V,) or (P, V).
Order = Callable[[Any, Tensor], Tensor]


class Variant(NamedTuple):
    """Draws of one kind.

    Attributes:
        draws: what the sampler is told: ``independent`` or ``arithmetic``.
        codes: codes instead of the product's.
        order: order of the tokens instead of that of their ids.
        prefixes: whether the first k draws of a pool are the pool of k.
    """

    draws: str = "arithmetic"
    codes: Codes | None = None
    order: Order | None = None
    prefixes: bool = True


def _generator(key: np.ndarray) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 1, 0]))  # no block of the keyed uniforms


def lattice(keys: Sequence[np.ndarray], draws: int, first_draw: int = 0) -> np.ndarray:
    """``(B, D)``: D points at equal distances plus one shift: another pool for every D."""
    shifts = np.array([_generator(key).random() for key in keys])
    return (np.arange(first_draw, first_draw + draws) / draws + shifts[:, None]) % 1.0


def digital_shift(keys: Sequence[np.ndarray], draws: int, first_draw: int = 0) -> np.ndarray:
    """``(B, D)``: van der Corput's sequence with the binary digits of one random number added without carrying."""
    shifts = np.array([_generator(key).integers(2**53, dtype=np.uint64) for key in keys])
    digits = (van_der_corput(first_draw, draws) * 2**53).astype(np.uint64)
    return np.bitwise_xor(digits, shifts[:, None]) / 2**53


def sobol(keys: Sequence[np.ndarray], draws: int, first_draw: int = 0) -> np.ndarray:
    """``(B, D)``: Sobol's sequence in one dimension, scrambled as scipy does (a random matrix and a digital shift)."""
    seeds = [_generator(key).integers(2**32) for key in keys]
    count = _power_of_two(first_draw + draws)  # scipy warns of other numbers
    whole = [qmc.Sobol(1, scramble=True, bits=53, rng=seed).random(count) for seed in seeds]
    return np.stack([points[first_draw : first_draw + draws, 0] for points in whole])


def _power_of_two(number: int) -> int:
    return 2 ** int(np.ceil(np.log2(number)))


def antithetic(keys: Sequence[np.ndarray], draws: int, first_draw: int = 0) -> np.ndarray:
    """``(B, D)``: independent codes in pairs u, 1 - u."""
    pairs = np.stack([_generator(key).random((first_draw + draws + 1) // 2) for key in keys])  # (B, pairs)
    codes = np.stack([pairs, 1 - pairs], axis=2).reshape(len(keys), -1)
    return np.minimum(codes, 1 - 2**-53)[:, first_draw : first_draw + draws]


def by_probability(model: Any, weights: Tensor) -> Tensor:
    """``(P, V)``: the most probable first."""
    return weights.argsort(dim=1, descending=True)


def by_embedding(model: Any, weights: Tensor) -> Tensor:
    """``(V,)``: along the first principal component of the output embedding, so that neighbours are alike."""
    table = model.decoder.output_projection.weight.detach().double()  # (V, C)
    component = torch.linalg.svd(table - table.mean(dim=0), full_matrices=False).Vh[0]
    return (table @ component).argsort()


VARIANTS = {
    "independent": Variant("independent"),
    "arithmetic": Variant(),
    "lattice": Variant(codes=lattice, prefixes=False),
    "digital shift": Variant(codes=digital_shift),
    "sobol": Variant(codes=sobol),
    "antithetic": Variant(codes=antithetic),
    "by probability": Variant(order=by_probability),
    "by embedding": Variant(order=by_embedding),
}


@contextlib.contextmanager
def in_place(variant: Variant, model: Any) -> Iterator[None]:
    """The sampler draws in this way inside the block; ``model`` is fairseq's."""
    with contextlib.ExitStack() as stack:
        codes = variant.codes or arithmetic_codes
        stack.enter_context(patch.object(prefix_sampler, "arithmetic_codes", codes))
        if variant.order is not None:
            stack.enter_context(patch.object(step_distribution, "draw_tokens", _ordered(variant.order, model)))
        yield


def _ordered(order: Order, model: Any) -> Callable[[Tensor, int, Tensor, Tensor], Drawn]:
    """:func:`draw_tokens` with the tokens in another order along the interval."""
    fixed: list[Tensor] = []  # an order for all rows is found once

    def draw(weights: Tensor, power: int, rows: Tensor, uniforms: Tensor) -> Drawn:
        tokens = fixed[0] if fixed else order(model, weights)
        if tokens.dim() == 1:
            fixed[:] = [tokens]
            drawn = draw_tokens(weights[:, tokens].contiguous(), power, rows, uniforms)
            return drawn._replace(tokens=tokens[drawn.tokens])
        drawn = draw_tokens(weights.gather(1, tokens), power, rows, uniforms)
        return drawn._replace(tokens=tokens[rows, drawn.tokens])

    return draw
