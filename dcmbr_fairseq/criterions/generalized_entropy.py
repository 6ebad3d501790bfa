"""Training criterion with generalised entropy regularisation, GER (Meister et al. 2020): unpacks, adds up, logs.

The loss of a token is -log p(y) + beta * J_alpha(u, p); see ``entropy.generalized_entropy``. The likelihood is not
weighted down. Label smoothing epsilon over V words is alpha = 1 with beta = e / (1 - e), e = epsilon V / (V - 1), up
to the factor (1 - e) on the whole loss and a constant: beta 0.111, 0.25, 0.429 for epsilon 0.1, 0.2, 0.3.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from fairseq import utils
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from omegaconf import II
from torch import Tensor

from dcmbr_fairseq.criterions.entropy import generalized_entropy, token_entropy
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.numeric import whole_number

#: key of the summed token entropy (nats) in a criterion's logging output, and the metric's name in the log (bits)
TOKEN_ENTROPY = "token_entropy"


@dataclass
class GeneralizedEntropyCriterionConfig(FairseqDataclass):
    """Flags of the criterion."""

    ger_alpha: float = field(
        default=1.0,
        metadata={
            "help": "skew alpha in [0, 1] of the regulariser J_alpha: 0 is the confidence penalty, 1 is label "
            "smoothing (paper: 0.1 to 0.9; the default with the default --ger-beta equals label smoothing 0.1)"
        },
    )
    ger_beta: float = field(
        default=0.111,
        metadata={"help": "weight beta >= 0 of the regulariser; 0 is plain likelihood training (paper: 0.1 to 0.5)"},
    )
    report_accuracy: bool = field(default=False, metadata={"help": "report the share of tokens ranked first"})
    ignore_prefix_size: int = field(
        default=0,
        metadata={"help": "leave out the first N target tokens, as in label smoothing: 1 where a language token leads"},
    )
    sentence_avg: bool = II("optimization.sentence_avg")


@register_criterion("generalized_entropy_regularization", dataclass=GeneralizedEntropyCriterionConfig)
class GeneralizedEntropyCriterion(LabelSmoothedCrossEntropyCriterion):
    """Cross entropy + beta * J_alpha, summed over the tokens that are not padding.

    The base class lends its unpacking of the model's output and its accuracy; no label smoothing is left in it.
    """

    def __init__(self, task, sentence_avg, ger_alpha, ger_beta, report_accuracy=False, ignore_prefix_size=0):
        whole_number("--ignore-prefix-size", ignore_prefix_size, 0)
        super().__init__(task, sentence_avg, 0.0, ignore_prefix_size, report_accuracy)
        self.alpha, self.beta = validated(ger_alpha, ger_beta)

    def forward(self, model, sample, reduce=True):
        """The loss (a sum, or (B * T,) without ``reduce``), the sample size that fairseq divides by, and the log."""
        net_output = model(**sample["net_input"])
        log_probs, target = self.get_lprobs_and_target(model, net_output, sample)  # (B * T, V), (B * T,)
        nll, regularizer, entropy = regularized_terms(log_probs, target, self.alpha, self.padding_idx)
        loss = nll + self.beta * regularizer
        sample_size = sample["target"].size(0) if self.sentence_avg else sample["ntokens"]
        log = {
            "loss": loss.sum().detach(),
            "nll_loss": nll.sum().detach(),
            "regularizer": regularizer.sum().detach(),
            TOKEN_ENTROPY: entropy.sum(),
            "ntokens": sample["ntokens"],
            "nsentences": sample["target"].size(0),
            "sample_size": sample_size,
        }
        if self.report_accuracy:
            correct, total = self.compute_accuracy(model, net_output, sample)
            log.update(n_correct=utils.item(correct), total=utils.item(total))
        return loss.sum() if reduce else loss, sample_size, log

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """Log loss, nll_loss, ppl, regularizer and token_entropy; all but ppl in bits, as fairseq logs losses."""
        super().reduce_metrics(logging_outputs)
        log_bits_per_token("regularizer", "regularizer", logging_outputs)
        log_bits_per_token(TOKEN_ENTROPY, TOKEN_ENTROPY, logging_outputs)


def validated(alpha: float, beta: float) -> tuple[float, float]:
    """alpha and beta as given. Raises UserError where they make no regulariser (NaN included)."""
    if not 0 <= alpha <= 1:
        raise UserError(f"--ger-alpha must be in [0, 1], got {alpha}: 0 is confidence penalty, 1 label smoothing")
    if not 0 <= beta < math.inf:
        raise UserError(f"--ger-beta must be a finite number >= 0, got {beta}: 0 switches the regulariser off")
    return float(alpha), float(beta)


def regularized_terms(log_probs: Tensor, target: Tensor, alpha: float, padding_idx: int) -> tuple[Tensor, ...]:
    """-log p(y), J_alpha(u, p) and H(p) of each token, zero where the target is padding.

    Args:
        log_probs: (N, V), normalised. target: (N,), word indices. padding_idx: the target that is left out.
    Returns:
        three tensors (N,) in nats; the entropy carries no gradient.
    """
    padding = target.eq(padding_idx)  # (N,)
    nll = -log_probs.gather(dim=-1, index=target.unsqueeze(-1)).squeeze(-1)
    regularizer = generalized_entropy(log_probs, alpha)
    entropy = token_entropy(log_probs)
    return tuple(term.masked_fill(padding, 0.0) for term in (nll, regularizer, entropy))


def log_bits_per_token(metric: str, key: str, logging_outputs: list[dict[str, Any]]) -> None:
    """Log a metric in bits per token, fairseq's unit for losses, from its sums in nats under ``key``."""
    total = sum(log.get(key, 0) for log in logging_outputs)
    tokens = sum(log.get("ntokens", 0) for log in logging_outputs)
    metrics.log_scalar(metric, total / tokens / math.log(2), tokens, round=3)
