"""Sources that are longer than the model allows: cut, with a warning, so that no sentence is lost."""

import copy
import logging
from typing import Any, Sequence

import numpy as np
import torch
from fairseq.data import FairseqDataset, LanguagePairDataset
from torch import Tensor

logger = logging.getLogger(__name__)


class _CutSources:
    """Source sentences of at most ``limit`` tokens; the last one kept is the sentence's own end of sentence."""

    def __init__(self, sources: Any, limit: int) -> None:
        self.sources, self.limit = sources, limit

    def __getitem__(self, index: int) -> Tensor:
        tokens = self.sources[index]
        if len(tokens) <= self.limit:
            return tokens
        return torch.cat([tokens[: self.limit - 1], tokens[-1:]])

    def __len__(self) -> int:
        return len(self.sources)

    def prefetch(self, indices: Sequence[int]) -> None:
        """As the data set underneath."""
        self.sources.prefetch(indices)

    @property
    def supports_prefetch(self) -> bool:
        """As the data set underneath."""
        return getattr(self.sources, "supports_prefetch", False)


def cut_long_sources(dataset: FairseqDataset, limit: int) -> FairseqDataset:
    """The data set with sources cut to ``limit`` tokens, end of sentence included; itself where none is longer.

    Data sets of other kinds are returned as they are: fairseq then names the sentences that are too long.
    """
    if not isinstance(dataset, LanguagePairDataset):
        return dataset
    too_long = np.flatnonzero(np.asarray(dataset.src_sizes) > limit)
    if not len(too_long):
        return dataset
    logger.warning(
        "%d source sentences are longer than the model's %d tokens and were cut, the first is number %d",
        len(too_long), limit, too_long[0],
    )  # fmt: skip
    cut = copy.copy(dataset)
    cut.src = _CutSources(dataset.src, limit)
    cut.src_sizes = np.minimum(np.asarray(dataset.src_sizes), limit)
    cut.sizes = cut.src_sizes if dataset.tgt_sizes is None else np.vstack((cut.src_sizes, dataset.tgt_sizes)).T
    return cut
