"""Mean token entropy in every validation, whatever the criterion: a mixin for fairseq tasks.

The name starts with an underscore because fairseq imports every other file of ``tasks/`` as a task of its own.
"""

from typing import Any

import torch
from torch import Tensor, nn

from dcmbr_fairseq.criterions.entropy import token_entropy
from dcmbr_fairseq.criterions.generalized_entropy import TOKEN_ENTROPY, log_bits_per_token

#: the task's own key: a criterion that reports TOKEN_ENTROPY logs it by itself, and must not be counted twice
TASK_KEY = "_token_entropy"


class ValidationEntropyMixin:
    """Adds ``token_entropy`` (bits per reference token, teacher forced) to the validation log.

    It stands before the task class: ``class MyTask(ValidationEntropyMixin, TranslationTask)``. The distribution is
    the one that the criterion computed, caught on its way, so validation costs no second forward pass. With several
    processes the sums are reduced as the criterion's own.
    """

    def valid_step(self, sample, model, criterion):
        """One validation batch: the task's own step, with the summed entropy added to its logging output."""
        outputs: list[Any] = []
        hook = model.register_forward_hook(lambda _model, _inputs, output: outputs.append(output))
        try:
            loss, sample_size, log = super().valid_step(sample, model, criterion)  # type: ignore[misc]
        finally:
            hook.remove()
        if TOKEN_ENTROPY not in log:
            # a criterion may work on parts of the model and never call the whole: then one forward pass is due
            net_output = outputs[0] if outputs else _forward(model, sample)
            log[TASK_KEY] = summed_entropy(model, net_output, sample, self.target_dictionary.pad())  # type: ignore[attr-defined]
        return loss, sample_size, log

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion) -> None:
        """The task's own metrics, and the token entropy where this class has added it."""
        super().reduce_metrics(logging_outputs, criterion)  # type: ignore[misc]
        if any(TASK_KEY in log for log in logging_outputs):
            log_bits_per_token(TOKEN_ENTROPY, TASK_KEY, logging_outputs)


@torch.no_grad()
def summed_entropy(model: nn.Module, net_output: Any, sample: dict[str, Any], padding_idx: int) -> Tensor:
    """Sum of H(p) in nats over the target tokens of a batch that are not padding: a scalar tensor."""
    log_probs = model.get_normalized_probs(net_output, log_probs=True)  # type: ignore[operator]  # (B, L, V)
    target = model.get_targets(sample, net_output)  # type: ignore[operator]  # (B, L)
    return token_entropy(log_probs).masked_fill(target.eq(padding_idx), 0.0).sum()


@torch.no_grad()
def _forward(model: nn.Module, sample: dict[str, Any]) -> Any:
    return model(**sample["net_input"])
