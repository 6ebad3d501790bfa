"""Entropies of token distributions: pure tensor functions under the criterion and the task. No fairseq here.

The vocabulary V is the whole last axis, as in fairseq's label smoothing: every row of the output projection counts,
the special symbols and the padding of the dictionary included. Everything is in nats.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

#: log(p / u) is cut off here: e^-64 is far below the rounding of 1 - alpha for every alpha < 1, and e^64 fits float32
SMALLEST_LOG_RATIO = -64.0

#: the functions take so many log-probabilities at a time (16 MB in float32): a batch of 4,000 tokens over 32,000 words
#: would need 0.5 GB for each of half a dozen temporaries, just when a training step needs most
ELEMENTS_AT_ONCE = 1 << 22

#: a smaller alpha counts as 0, which changes J by about alpha V at most; float32 would underflow
SMALLEST_ALPHA = 1e-30


@torch.no_grad()
def token_entropy(log_probs: Tensor) -> Tensor:
    """Shannon entropy of each token's distribution: H(p) = -sum_v p_v log p_v.

    Args:
        log_probs: normalised natural log-probabilities, (..., V); -inf is probability zero.
    Returns:
        nats, (...), without gradient; float32 for half-precision input. Its mean over the tokens of teacher-forced
        references is the paper's measure of autoregressive over-smoothness (printed there without the minus sign).
    """
    entropy = _at_least_float32(log_probs.new_empty(log_probs.shape[:-1]))
    return _by_rows(lambda rows: torch.special.entr(_at_least_float32(rows).exp()).sum(dim=-1), log_probs, entropy)


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
        divergence = log_probs.new_empty(log_probs.shape[:-1])
        return _by_rows(lambda rows: _per_word(rows, alpha).sum(dim=-1), log_probs, divergence)  # (..., V) -> (...)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad_output: Tensor):
        (log_probs,) = ctx.saved_tensors  # type: ignore[attr-defined]
        slope = torch.empty_like(log_probs)
        _by_rows(lambda rows: _slope(rows, ctx.alpha), log_probs, slope)  # type: ignore[attr-defined]
        return slope.mul_(grad_output.unsqueeze(-1)), None  # (..., V) * (..., 1)


def _by_rows(function: Callable[[Tensor], Tensor], log_probs: Tensor, out: Tensor) -> Tensor:
    """Fill ``out``, (...) or (..., V), with ``function`` of the rows of ``log_probs``, (..., V), some at a time."""
    words = log_probs.size(-1)
    rows = log_probs.reshape(-1, words)  # (N, V)
    results = out.view(rows.size(0), *out.shape[log_probs.dim() - 1 :])  # (N,) or (N, V)
    some = max(1, ELEMENTS_AT_ONCE // words)
    for part, result in zip(rows.split(some), results.split(some), strict=True):
        result.copy_(function(part))
    return out


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
