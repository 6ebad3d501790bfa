"""Weights of the distinct references in the expectation (Eq. 13). Pure arrays; nothing here knows about fairseq."""

import numpy as np

from dcmbr_fairseq.errors import UserError


def reference_weights(kind: str, counts: np.ndarray, log_prob: np.ndarray) -> np.ndarray:
    """``(R,)`` weights that sum to 1.

    Args:
        kind: ``counts``, the Monte Carlo estimate: multiplicity / N; or ``model``, the model-based estimate: each
            distinct reference weighs its model probability, renormalised over the pool (Jinnai et al. 2024).
        counts: ``(R,)`` how often each distinct reference was drawn.
        log_prob: ``(R,)`` its natural log-probability at temperature 1.

    Raises:
        UserError: another kind.
    """
    if kind == "counts":
        return counts / counts.sum()
    if kind == "model":
        weights = np.exp(log_prob - log_prob.max())
        return weights / weights.sum()
    raise UserError(f"--reference-weights must be counts or model, got {kind}")
