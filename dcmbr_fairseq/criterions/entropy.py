"""Entropies of token distributions: pure tensor functions under the criterion and the task. No fairseq here.

The vocabulary V is the whole last axis, as in fairseq's label smoothing: every row of the output projection counts,
the special symbols and the padding of the dictionary included. Everything is in nats.
"""

import math

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

#: log(p / u) is cut off here: e^-64 is far below the rounding of 1 - alpha for every alpha < 1, and e^64 fits float32
SMALLEST_LOG_RATIO = -64.0

#: a smaller alpha counts as 0, which changes J by about alpha V at most; float32 would underflow
SMALLEST_ALPHA = 1e-30


def token_entropy(log_probs: Tensor) -> Tensor:
    """Shannon entropy of each token's distribution: H(p) = -sum_v p_v log p_v.

    Args:
        log_probs: normalised natural log-probabilities, (..., V); -inf is probability zero.
    Returns:
        nats, (...), float32 for half-precision input. The paper's measure of autoregressive over-smoothness is its
        mean over the tokens of teacher-forced references (there printed without the minus sign).
    """
    return torch.special.entr(_at_least_float32(log_probs).exp()).sum(dim=-1)


def generalized_entropy(log_probs: Tensor, alpha: float) -> Tensor:
    """J_alpha(u, p), the skew Jensen divergence of the uniform distribution u and p (Meister et al. 2020).

    With G(q) = sum q log q and m = alpha p + (1 - alpha) u::

        J_alpha(u, p) = [(1 - alpha) G(u) + alpha G(p) - G(m)] / (alpha (1 - alpha))
                      = KL(p || m) / (1 - alpha) + KL(u || m) / alpha

    alpha = 0 is KL(p || u), the confidence penalty; alpha = 1 is KL(u || p), label smoothing. It is zero at p = u
    and positive elsewhere. Accurate in float32 for every alpha (the formula read literally loses all digits near 0
    and 1), differentiable once, and it keeps nothing but ``log_probs`` for the backward pass.

    Args:
        log_probs: normalised natural log-probabilities, (..., V). Half precision is computed in float32.
        alpha: in [0, 1].
    Returns:
        nats, (...).
    """
    return _GeneralizedEntropy.apply(_at_least_float32(log_probs), alpha if alpha >= SMALLEST_ALPHA else 0.0)


class _GeneralizedEntropy(torch.autograd.Function):
    """Written out because autograd would keep five more (..., V) tensors, and divide 0 by 0 where p underflows."""

    @staticmethod
    def forward(ctx: FunctionCtx, log_probs: Tensor, alpha: float) -> Tensor:
        ctx.save_for_backward(log_probs)
        ctx.alpha = alpha  # type: ignore[attr-defined]
        return _per_word(log_probs, alpha).sum(dim=-1)  # (..., V) -> (...)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad_output: Tensor):
        (log_probs,) = ctx.saved_tensors  # type: ignore[attr-defined]
        slope = _slope(log_probs, ctx.alpha)  # type: ignore[attr-defined]
        return slope.mul_(grad_output.unsqueeze(-1)), None  # (..., V) * (..., 1)


def _per_word(log_probs: Tensor, alpha: float) -> Tensor:
    """Each word's share of J_alpha, (..., V). Every share is >= 0, because x log x is convex."""
    log_ratio, mixture_over_p, mixture_over_u = _log_ratios(log_probs, alpha)
    p_over_u = log_ratio.exp()
    if alpha == 0:
        shares = p_over_u * log_ratio - torch.expm1(log_ratio)  # KL(p || u); the last term sums to 0
    elif alpha == 1:
        shares = torch.expm1(log_ratio) - log_ratio  # KL(u || p); the first term sums to 0
    else:
        shares = -p_over_u * mixture_over_p / (1 - alpha) - mixture_over_u / alpha
    return shares / log_probs.size(-1)  # u = 1 / V stands before everything


def _slope(log_probs: Tensor, alpha: float) -> Tensor:
    """dJ_alpha / d log p_v = p_v log(p_v / m_v) / (1 - alpha), (..., V)."""
    if alpha == 1:
        return log_probs.exp() - 1 / log_probs.size(-1)  # the limit: p - u
    _, mixture_over_p, _ = _log_ratios(log_probs, alpha)
    return log_probs.exp() * mixture_over_p / (alpha - 1)


def _log_ratios(log_probs: Tensor, alpha: float) -> tuple[Tensor, Tensor, Tensor]:
    """log(p / u), log(m / p), log(m / u), each (..., V): log1p of the smaller weight, so that no digit is lost."""
    log_ratio = log_probs + math.log(log_probs.size(-1))
    if alpha < 1:  # at 1 the divergence really is infinite where p = 0
        log_ratio = log_ratio.clamp(min=SMALLEST_LOG_RATIO)
    if alpha <= 0.5:
        mixture_over_u = torch.log1p(alpha * torch.expm1(log_ratio))  # m / u = 1 + alpha (p / u - 1)
        return log_ratio, mixture_over_u - log_ratio, mixture_over_u
    mixture_over_p = torch.log1p((1 - alpha) * torch.expm1(-log_ratio))  # m / p = 1 + (1 - alpha) (u / p - 1)
    return log_ratio, mixture_over_p, mixture_over_p + log_ratio


def _at_least_float32(log_probs: Tensor) -> Tensor:
    return log_probs.float() if log_probs.dtype in (torch.float16, torch.bfloat16) else log_probs
