"""Truncation on four tokens, against sets computed by hand, and what is no truncation."""

import pytest
import torch

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.sampling.truncation import Truncation

#: Exact in binary, and in no order.
FOUR = [0.125, 0.5, 0.0625, 0.3125]


@pytest.mark.parametrize(
    "rule, kept",
    [
        (Truncation(), [0, 1, 2, 3]),
        (Truncation(top_k=-1, top_p=-1.0), [0, 1, 2, 3]),  # fairseq's defaults
        (Truncation(top_k=1), [1]),
        (Truncation(top_k=2), [1, 3]),
        (Truncation(top_k=3), [0, 1, 3]),
        (Truncation(top_k=9), [0, 1, 2, 3]),
        (Truncation(top_p=1e-9), [1]),
        (Truncation(top_p=0.5), [1]),  # the mass of {1} reaches 0.5
        (Truncation(top_p=0.51), [1, 3]),  # the token that crosses the threshold stays
        (Truncation(top_p=0.8125), [1, 3]),
        (Truncation(top_p=0.82), [0, 1, 3]),
        (Truncation(top_p=0.94), [0, 1, 2, 3]),
        (Truncation(top_p=1.0), [0, 1, 2, 3]),
        (Truncation(epsilon=0.0625), [0, 1, 2, 3]),  # at least epsilon
        (Truncation(epsilon=0.07), [0, 1, 3]),
        (Truncation(epsilon=0.125), [0, 1, 3]),
        (Truncation(epsilon=0.2), [1, 3]),
        (Truncation(epsilon=0.9), [1]),  # the most probable always stays
    ],
)
@pytest.mark.parametrize("scale", [1, 8])
def test_four_tokens(rule: Truncation, kept: list[int], scale: int) -> None:
    weights = torch.tensor([FOUR, FOUR[::-1]]) * scale  # not normalised; rows do not influence each other
    result = rule(weights.clone())
    expected = torch.zeros(4)
    expected[kept] = weights[0, kept]
    assert result.tolist() == [expected.tolist(), expected.tolist()[::-1]]


def test_of_tied_tokens_as_many_are_kept_as_asked_for() -> None:
    tied = torch.full((1, 8), 0.125)
    assert (Truncation(top_k=3)(tied.clone()) > 0).sum() == 3
    assert (Truncation(top_p=0.5)(tied.clone()) > 0).sum() == 4
    assert (Truncation(epsilon=0.5)(tied.clone()) > 0).sum() == 8  # all are the most probable


def test_banned_tokens_stay_banned() -> None:
    weights = torch.tensor([[0.0, 0.75, 0.0, 0.25]])
    for rule in (Truncation(top_k=3), Truncation(top_p=0.99), Truncation(epsilon=1e-6)):
        assert rule(weights.clone()).tolist() == weights.tolist()


@pytest.mark.parametrize(
    "values, flags",
    [
        ({"top_k": -2}, "--sampling-topk"),
        ({"top_p": 1.5}, "--sampling-topp"),
        ({"top_p": float("nan")}, "--sampling-topp"),
        ({"epsilon": 1.0}, "--sampling-epsilon"),
        ({"epsilon": float("nan")}, "--sampling-epsilon"),
        ({"top_k": 3, "epsilon": 0.1}, "--sampling-topk and --sampling-epsilon cannot be combined"),
    ],
)
def test_what_is_no_truncation_is_refused(values: dict[str, float], flags: str) -> None:
    with pytest.raises(UserError, match=flags):
        Truncation(**values)  # type: ignore[arg-type]
