"""Truncated sampling: which next tokens may be drawn at all. What remains is renormalised by the sampler."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.numeric import whole_number


@dataclass(frozen=True)
class Truncation:
    """At most one of three rules, applied to the cooled distribution; the default keeps every token.

    Attributes:
        top_k: keep the k most probable tokens (Fan et al. 2018); 0 or -1 for off.
        top_p: keep the smallest set of most probable tokens whose mass reaches p (Holtzman et al. 2020); 0 or -1 for
            off.
        epsilon: keep tokens of probability at least epsilon, and always the most probable one (Hewitt et al. 2022);
            0 for off.

    Raises:
        UserError: a value is out of range, or more than one rule is on.
    """

    top_k: int = 0
    top_p: float = 0.0
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        if self.top_k != -1:
            whole_number("--sampling-topk", self.top_k, 0)
        if not 0 <= self.top_p <= 1 and self.top_p != -1:  # written so that nan is refused too
            raise UserError(f"--sampling-topp must be in (0, 1], got {self.top_p}: a probability mass (0: off)")
        if not 0 <= self.epsilon < 1:
            raise UserError(f"--sampling-epsilon must be in [0, 1), got {self.epsilon}: a token probability (0: off)")
        chosen = {
            "--sampling-topk": self.top_k > 0,
            "--sampling-topp": self.top_p > 0,
            "--sampling-epsilon": self.epsilon > 0,
        }
        if sum(chosen.values()) > 1:
            names = " and ".join(name for name, on in chosen.items() if on)
            raise UserError(f"{names} cannot be combined: give only one of them")

    def __call__(self, weights: Tensor) -> Tensor:
        """Set what is cut off to zero.

        Args:
            weights: ``(P, V)`` non-negative, not normalised.

        Returns:
            ``(P, V)``, the same tensor where nothing is cut off.
        """
        if self.top_k > 0:
            return _keep_top_k(weights, self.top_k)
        if self.top_p > 0:
            return _keep_top_p(weights, self.top_p)
        if self.epsilon > 0:
            return _keep_above(weights, self.epsilon)
        return weights


def _keep_top_k(weights: Tensor, k: int) -> Tensor:
    values, indices = weights.topk(min(k, weights.size(-1)), dim=-1)
    return torch.zeros_like(weights).scatter_(-1, indices, values)


def _keep_top_p(weights: Tensor, p: float) -> Tensor:
    values, indices = weights.sort(dim=-1, descending=True)
    mass = values.cumsum(dim=-1, dtype=torch.float64)
    before = mass - values  # a token stays if the mass of the more probable ones has not reached p yet
    values = values.masked_fill(before >= p * mass[:, -1:], 0.0)
    values[:, 0] = weights.amax(dim=-1)  # p below rounding error must not empty the set
    return torch.zeros_like(weights).scatter_(-1, indices, values)


def _keep_above(weights: Tensor, epsilon: float) -> Tensor:
    threshold = epsilon * weights.sum(dim=-1, keepdim=True, dtype=torch.float64)
    largest = weights.amax(dim=-1, keepdim=True)
    return weights.masked_fill((weights < threshold) & (weights < largest), 0.0)
