"""What models say of the references: log-probabilities at every position, teacher forced, in one pass with progress."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from tqdm import tqdm

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.models import Model, Workspace


class Forced(NamedTuple):
    """A batch of references as a model sees them.

    Attributes:
        log_probs: ``(B, L, V)`` natural log-probabilities at temperature 1; the caller may change them.
        target: ``(B, L)`` the references' tokens.
        counted: ``(B, L)`` bool, which of them count: no padding, and no language token that decoding forces.
    """

    log_probs: Tensor
    target: Tensor
    counted: Tensor


def forced_references(workspace: Workspace, model: Model, what: str) -> Iterator[Forced]:
    """Yield the references in batches, short ones first.

    Args:
        workspace: the sentences in use.
        model: the model or ensemble.
        what: what is measured of it, for the progress bar and messages, such as ``"ranks"``.

    Raises:
        UserError: a sentence is too long for the model, or there is no reference.
    """
    with tqdm(total=len(workspace.ids), desc=f"{what} of {model.name}", unit=" sentences", leave=False) as bar:
        for sample in workspace.batches(model, decode=False):
            target = sample.get("target")
            if target is None:
                raise UserError(f"{what}: references are needed, give a split with a target side")
            yield Forced(teacher_forced(model, sample), target, workspace.counted(target))
            bar.update(len(target))


@torch.no_grad()
def teacher_forced(model: Model, sample: Any) -> Tensor:
    """``(B, L, V)`` natural log-probabilities at temperature 1 at every position of the references.

    An ensemble's are those of the mean of its members' probabilities, as in decoding.
    """
    log_probs = []  # one for each member
    for member in model.members:
        output = member(**sample["net_input"])
        log_probs.append(member.get_normalized_probs(output, log_probs=True, sample=sample).float())
    if len(log_probs) == 1:
        return log_probs[0]
    return torch.logsumexp(torch.stack(log_probs), dim=0) - math.log(len(log_probs))
