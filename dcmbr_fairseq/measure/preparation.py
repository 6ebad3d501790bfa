"""From a batch of fairseq to what sampling and search need: the source encoded, the support, limits, prefixes.

A task hands its generator more than a batch (language tokens, a first token of its own), and tells it the limits. To
get these whatever the task, the preparation stands where the generator does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from omegaconf import DictConfig
from torch import Tensor

from dcmbr_fairseq.decoders.encoding import encode
from dcmbr_fairseq.decoders.incremental import IncrementalDecoder
from dcmbr_fairseq.decoding.generation_options import without_sampling
from dcmbr_fairseq.decoding.generator import MBRSequenceGenerator
from dcmbr_fairseq.decoding.options import DecodingOptions, decoding_options, decoding_values
from dcmbr_fairseq.decoding.texts import TextSide
from dcmbr_fairseq.pools.settings import defaults
from dcmbr_fairseq.preflight.languages import LanguageTokens, language_tokens
from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler, SamplingBatch


class Prepared(NamedTuple):
    """A batch of B sentences, encoded, ready for sampling and search.

    Attributes:
        ids: their numbers in the data.
        batch: what is to be decoded.
        make_decoder: gives a fresh decoder for the sentences with the given indices.
        sampler: draws within the support; its seed is fairseq's ``--seed``.
        texts: from token ids to texts.
        languages: the language tokens; those that are forced stand in front of every sequence.
    """

    ids: list[int]
    batch: SamplingBatch
    make_decoder: Callable[[np.ndarray], IncrementalDecoder]
    sampler: PrefixSampler
    texts: TextSide
    languages: LanguageTokens

    def decoder(self, sentence: int) -> IncrementalDecoder:
        """A fresh decoder of one sentence."""
        return self.make_decoder(np.array([sentence]))


class Preparation(MBRSequenceGenerator):
    """A generator that encodes a batch and hands out what sampling and search need, instead of decoding.

    It stands where fairseq's generator does, so that each task passes it what belongs to it (language tokens, say), and
    it takes its limits and its support from fairseq's generator.
    """

    @classmethod
    def of(cls, cfg: DictConfig, task: Any, models: Any, make_texts: Callable[[Any], TextSide]) -> "Preparation":
        """The preparation for one model.

        Args:
            cfg: fairseq's configuration.
            task: the task that reads the data.
            models: the members of the ensemble.
            make_texts: gives the text side of a generator.
        """
        theirs = task.build_generator(models, without_sampling(cfg.generation))
        return cls(
            models, task.target_dictionary, options=sampling_options(cfg), utility=None, make_texts=make_texts,
            seed=cfg.common.seed, eos=theirs.eos, min_len=theirs.min_len, max_len_a=theirs.max_len_a,
            max_len_b=theirs.max_len_b, unk_penalty=theirs.unk_penalty,
            symbols_to_strip_from_output=theirs.symbols_to_strip_from_output, languages=language_tokens(task),
        )  # fmt: skip

    @torch.no_grad()
    def _generate(  # type: ignore[override]
        self,
        sample: dict[str, Any],
        prefix_tokens: Tensor | None = None,
        constraints: Tensor | None = None,
        bos_token: int | None = None,
    ) -> Prepared:
        batch = self._sampling_batch(sample["net_input"], prefix_tokens, bos_token)
        make_decoder = encode(self.model.models, sample["net_input"], self.pad)
        return Prepared(sample["id"].tolist(), batch, make_decoder, self.sampler, self.texts, self.languages)


def sampling_options(cfg: DictConfig) -> DecodingOptions:
    """How pools are sampled beside their size and temperature (truncation, memory), by the flags."""
    own = decoding_values(cfg.task)
    kept = {name: own[name] for name in ("sampling_epsilon", "max_rows")}
    values = {**defaults(), **kept, "decoding": "sample"}
    return decoding_options(values, cfg.generation.sampling_topk, cfg.generation.sampling_topp)
