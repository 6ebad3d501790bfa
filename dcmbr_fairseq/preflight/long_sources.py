"""Sources that are longer than the model allows: cut, with a warning, so that no sentence is lost."""

import copy
import logging
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from fairseq import utils
from fairseq.data import (
    ConcatDataset,
    FairseqDataset,
    LanguagePairDataset,
    SampledMultiDataset,
    TransformEosLangPairDataset,
)
from fairseq.tasks.translation import TranslationConfig
from torch import Tensor

logger = logging.getLogger(__name__)

#: --max-source-positions and --max-target-positions of fairseq's translation tasks where nobody gives them.
DEFAULT_POSITIONS = (TranslationConfig.max_source_positions, TranslationConfig.max_target_positions)


class _CutSources:
    """Source sentences of at most ``limit`` tokens; the last ``tail`` are the sentence's own: its end of sentence."""

    def __init__(self, sources: Any, limit: int, tail: int) -> None:
        self.sources, self.limit, self.tail = sources, limit, tail

    def __getitem__(self, index: int) -> Tensor:
        tokens = self.sources[index]
        if len(tokens) <= self.limit:
            return tokens
        return torch.cat([tokens[: self.limit - self.tail], tokens[-self.tail :]])

    def __len__(self) -> int:
        return len(self.sources)

    def prefetch(self, indices: Sequence[int]) -> None:
        """As the data set underneath."""
        self.sources.prefetch(indices)

    @property
    def supports_prefetch(self) -> bool:
        """As the data set underneath."""
        return getattr(self.sources, "supports_prefetch", False)


def given_limits(limits: Any) -> Any:
    """A task's limits on the tokens of source and target, as far as the user gave them; None for the rest.

    fairseq's tasks have defaults, which say nothing of the model: they would cut the sources of a model that has learnt
    longer ones.

    Args:
        limits: the task's ``max_positions()``.
    """
    if not isinstance(limits, (tuple, list)):
        return limits
    return tuple(None if limit == default else limit for limit, default in zip(limits, DEFAULT_POSITIONS, strict=True))


def length_limits(task: Any, models: Sequence[Any]) -> Any:
    """The most tokens of a source and of a target: the models' own limits, unless the user gave the task others."""
    return utils.resolve_max_positions(given_limits(task.max_positions()), *[model.max_positions() for model in models])


def fit_sources(task: Any, dataset: FairseqDataset, limits: Any) -> tuple[FairseqDataset, Any]:
    """Cut sources that are longer than the model allows, so that each sentence has its row in the output.

    Args:
        task: the task that has made the data; its ``source_tail`` says how many tokens end a source (one, if missing).
        dataset: its sentences.
        limits: the most tokens of a source, or of a source and a target; None for no limit.

    Returns:
        The data, and limits that leave targets alone: a reference is only printed and scored, never decoded.
    """
    limit = limits[0] if isinstance(limits, (tuple, list)) else limits
    if limit is None:
        return dataset, None
    return cut_long_sources(dataset, int(limit), getattr(task, "source_tail", 1)), (limit, sys.maxsize)


def cut_long_sources(dataset: FairseqDataset, limit: int, tail: int = 1) -> FairseqDataset:
    """The data set with sources cut to ``limit`` tokens, end of sentence included; itself where none is longer.

    Data sets of unknown kinds are returned as they are: fairseq then names the sentences that are too long.

    Args:
        dataset: sentence pairs, or what fairseq's multilingual task wraps them in.
        limit: the most tokens of a source.
        tail: how many tokens at a source's end are kept whatever its length.
    """
    if isinstance(dataset, LanguagePairDataset):
        return _cut_pairs(dataset, limit, tail)
    if isinstance(dataset, TransformEosLangPairDataset):
        part = cut_long_sources(dataset.dataset, limit, tail)
        return dataset if part is dataset.dataset else _copy(dataset, dataset=part)
    if isinstance(dataset, (ConcatDataset, SampledMultiDataset)):
        parts = [cut_long_sources(part, limit, tail) for part in dataset.datasets]
        unchanged = all(part is before for part, before in zip(parts, dataset.datasets, strict=True))
        return dataset if unchanged else _copy(dataset, datasets=parts, _sizes=None)
    return dataset


def _cut_pairs(dataset: LanguagePairDataset, limit: int, tail: int) -> LanguagePairDataset:
    sizes = np.asarray(dataset.src_sizes)
    # the multilingual task puts language tokens on sources without counting them, hence the second look
    too_long = [i for i in np.flatnonzero(sizes >= limit) if len(dataset.src[i]) > limit]
    if not too_long:
        return dataset
    logger.warning(
        "%d source sentences are longer than the %d tokens that the model or --max-source-positions allows and were "
        "cut, the first is number %d",
        len(too_long), limit, too_long[0],
    )  # fmt: skip
    cut = _copy(dataset, src=_CutSources(dataset.src, limit, tail), src_sizes=np.minimum(sizes, limit))
    cut.sizes = cut.src_sizes if dataset.tgt_sizes is None else np.vstack((cut.src_sizes, dataset.tgt_sizes)).T
    return cut


def _copy(original: Any, **changes: Any) -> Any:
    """A data set with some attributes changed."""
    copied = copy.copy(original)
    vars(copied).update(changes)
    return copied
