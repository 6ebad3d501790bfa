"""Corpus BLEU and chrF of many sums of statistics at once, equal to sacreBLEU's scores of each.

Pure arrays, for resampling: sacreBLEU scores one sum at a time, 20 to 40 microseconds each.
"""

from typing import Any

import numpy as np

#: chrF's stand-in for an order that one side has not (sacreBLEU's, as in chrF++.py).
EPSILON = 1e-16


def corpus_bleu(sums: np.ndarray, metric: Any) -> np.ndarray:
    """``(S,)`` BLEU of sums ``(S, 2 + 2 N)``: lengths of both sides, matches of each order, n-grams of each order.

    Args:
        sums: of sacreBLEU's statistics.
        metric: sacreBLEU's BLEU, which says the smoothing and N.
    """
    orders, method = metric.max_ngram_order, metric.smooth_method
    lengths, ref_lengths = sums[:, 0], sums[:, 1]
    matches, totals = sums[:, 2 : 2 + orders], sums[:, 2 + orders :]
    value = metric.SMOOTH_DEFAULTS[method] if metric.smooth_value is None else metric.smooth_value
    log_sum, counted = np.zeros(len(sums)), np.full(len(sums), orders)
    there, smoothing = np.ones(len(sums), dtype=bool), np.ones(len(sums))
    for n in range(orders):
        added = value if method == "add-k" and n else 0.0  # unigrams are not smoothed
        matched, total = matches[:, n] + added, totals[:, n] + added
        there = there & (total > 0)  # after the first order without n-grams nothing counts
        if metric.effective_order:
            counted = np.where(there, n + 1, counted)
        missed = there & (matched == 0)
        if method == "exp":
            smoothing = np.where(missed, smoothing / 2, smoothing)
        if method in ("exp", "floor"):
            matched = np.where(missed, smoothing if method == "exp" else value, matched)
        with np.errstate(divide="ignore"):
            logarithm = np.log(np.where(there, matched, 0) / np.where(there, total, 1))
        log_sum += np.where(n < counted, logarithm, 0) if metric.effective_order else logarithm
    penalty = np.exp(np.minimum(1 - ref_lengths / np.maximum(lengths, 1), 0)) * (lengths > 0)
    scores = 100 * penalty * np.exp(log_sum / counted)
    return np.where(matches.any(axis=1), scores, 0.0)


def corpus_chrf(sums: np.ndarray, metric: Any) -> np.ndarray:
    """``(S,)`` chrF of sums ``(S, 3 N)``: n-grams of the hypotheses, of the references, and matches, for each order.

    Args:
        sums: of sacreBLEU's statistics.
        metric: sacreBLEU's CHRF, which says beta and whether orders are averaged as F-scores.
    """
    hyp, ref, matches = np.moveaxis(sums.reshape(len(sums), -1, 3), 2, 0)  # each (S, N)
    precision = np.where(hyp > 0, matches / np.maximum(hyp, 1), EPSILON)
    recall = np.where(ref > 0, matches / np.maximum(ref, 1), EPSILON)
    factor = metric.beta**2
    if metric.eps_smoothing:
        return 100 * _f_score(precision, recall, factor, EPSILON).mean(axis=1)
    both = (hyp > 0) & (ref > 0)
    orders = np.maximum(both.sum(axis=1), 1)
    precision, recall = (np.where(both, part, 0).sum(axis=1) / orders for part in (precision, recall))
    return 100 * _f_score(precision, recall, factor, 0.0)


def _f_score(precision: np.ndarray, recall: np.ndarray, factor: float, otherwise: float) -> np.ndarray:
    denominator = factor * precision + recall
    found = (1 + factor) * precision * recall / np.where(denominator > 0, denominator, 1)
    return np.where(denominator > 0, found, otherwise)
