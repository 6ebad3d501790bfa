"""Ranks of reference tokens within the token-level distribution, teacher forced (Sec. 4.2, Figure 2).

Rank 0 is the most probable token; tokens that are as probable as the reference's do not count against it. Ranked are
the tokens of the sampler's support: no padding, and no end of sentence before ``--min-len`` tokens.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.experiment import Experiment
from dcmbr_fairseq.measure.models import Model, Workspace
from dcmbr_fairseq.measure.teacher_forcing import forced_references
from dcmbr_fairseq.numeric import LARGEST_RANK, whole_number
from dcmbr_fairseq.present.tidy import Row
from dcmbr_fairseq.sampling.support import Support


def reference_ranks(log_probs: Tensor, target: Tensor, support: Support) -> Tensor:
    """The rank of each reference token: how many tokens that may follow are more probable.

    Args:
        log_probs: ``(B, L, V)``; changed in place where a token is outside the support.
        target: ``(B, L)`` reference tokens.
        support: which tokens may follow a prefix.

    Returns:
        ``(B, L)`` ranks from 0.
    """
    for step in range(log_probs.size(1)):
        support.restrict(log_probs[:, step], step)
    gold = log_probs.gather(2, target.unsqueeze(2))  # (B, L, 1)
    return (log_probs > gold).sum(dim=2)


def rank_counts(workspace: Workspace, model: Model) -> np.ndarray:
    """``(V,)`` how many reference tokens, end of sentence included and forced language tokens not, have each rank.

    Raises:
        UserError: a sentence is too long for the model, or there is no reference.
    """
    size = len(workspace.task.target_dictionary)
    support = workspace.support(model)
    counts = torch.zeros(size, dtype=torch.int64)
    for log_probs, target, counted in forced_references(workspace, model, "ranks"):
        ranks = reference_ranks(log_probs, target, support)
        counts += torch.bincount(ranks[counted], minlength=size).cpu()
    return counts.numpy()


def rank_rows(experiment: Experiment, width: int = 5, last: int = 45) -> list[Row]:
    """A row for each model and bucket: the experiment's columns, then bucket, count and share; see :func:`in_buckets`.

    Raises:
        UserError: see :func:`rank_counts` and :func:`in_buckets`.
    """
    in_buckets(np.zeros(1, dtype=np.int64), width, last)  # refuses bad buckets before anything is counted
    return [
        {**experiment.columns(model), **row}
        for model in experiment.models
        for row in in_buckets(rank_counts(experiment.workspace, model), width, last)
    ]


def in_buckets(counts: np.ndarray, width: int = 5, last: int = 45) -> list[Row]:
    """The counts in buckets ``0-5``, ``5-10``, ... and ``45-|V|``: the first bucket holds the ranks 0 to 4.

    Args:
        counts: ``(V,)`` from :func:`rank_counts`.
        width: ranks of a bucket.
        last: where the last bucket, of all further ranks, begins; a multiple of ``width``.

    Raises:
        UserError: ``last`` is no positive multiple of ``width``.
    """
    whole_number("--bucket", width, 1, LARGEST_RANK)
    if whole_number("--last", last, 1, LARGEST_RANK) % width:
        raise UserError(f"--last {last} must be a multiple of --bucket {width}")
    edges: Sequence[int] = range(0, last + 1, width)
    total = int(counts.sum())
    rows = []
    for start in edges:
        end = None if start == last else start + width
        count = int(counts[start:end].sum())
        name = f"{start}-{'|V|' if end is None else end}"
        rows.append({"bucket": name, "count": count, "share": count / total if total else 0.0})
    return rows
