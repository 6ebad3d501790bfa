"""The bench of int8 and bfloat16 weights: layers that are put in place of the decoder's draw what the decoder draws."""

import sys

import numpy as np
import pytest
import torch
from fairseq.models.transformer import tiny_architecture
from fairseq_commands import REPOSITORY
from torch import nn

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import reduced
from decoding import World, random_world


@pytest.fixture(scope="module")
def world() -> World:
    return random_world(60, 3, 5, tiny_architecture)


def drawn(world: World) -> list[list[bytes]]:
    """The token sequences of the first 40 draws of each sentence."""
    return [[pool.tokens[i].tobytes() for i in pool.draws] for (pool,) in world.sample_pool(40, 0.7, 6).pools]


def test_other_layers_stand_in_the_decoder_s_place(world: World) -> None:
    used: list[nn.Linear] = []

    def plain(joined: nn.Linear) -> tuple[reduced.Product, int]:
        used.append(joined)
        return joined, 0

    exact = drawn(world)
    with reduced.reduced(plain, {}):
        assert drawn(world) == exact
    layers = len(world.model.decoder.layers)
    assert len(used) == 6 * layers + 1 and used[-1].out_features == 60  # queries, keys and values are one


@pytest.mark.parametrize("kind", list(reduced.KINDS))
def test_products_are_close_to_exact_ones(kind: str) -> None:
    torch.manual_seed(3)
    layer, x = nn.Linear(64, 48), torch.randn(20, 64)
    product, count = reduced.KINDS[kind](layer)
    expected, found = layer(x).detach().numpy(), product(x).detach().numpy()
    assert 0 < np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
    assert count == 64 * 48 * {"int8": 1, "bfloat16": 2}[kind]


def test_the_report_compares_draws_with_those_of_float32(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduced, "KINDS", {"the same": lambda joined: (joined, 4 * joined.weight.numel())})
    found = reduced.draws(["the same"], world, 20, 0.5)["the same"]
    assert found["same_draws"] == found["same_choices"] == 1 and found["log_prob_moves_by"] == 0
