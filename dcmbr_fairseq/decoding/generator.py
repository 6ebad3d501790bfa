"""The generator: from a fairseq batch to fairseq's n-best lists, by sampling pools and comparing them.

``sample["net_input"]`` -> encoder, once -> pools of draws -> texts -> expected utilities -> n-best lists.
"""

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from dcmbr_fairseq.decoders.choice import refuse_without_prefixes
from dcmbr_fairseq.decoders.encoding import encode, source_sentences
from dcmbr_fairseq.decoding.options import DecodingOptions
from dcmbr_fairseq.decoding.texts import TextSide, text_pool
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import TextPool, TokenPool
from dcmbr_fairseq.pools.record_writer import RecordWriter
from dcmbr_fairseq.pools.rows import make_row
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.pools.settings import signature_of
from dcmbr_fairseq.preflight.languages import BILINGUAL, LanguageTokens
from dcmbr_fairseq.rules import Decision, build_rule, check_decisions
from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler, SamplingBatch
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.utilities import Utility

logger = logging.getLogger(__name__)

Hypotheses = list[dict[str, Any]]


class Sampled(NamedTuple):
    """One source sentence: its pools as the sampler gives them, one where it is shared; and as texts."""

    tokens: list[TokenPool]
    pools: Pools


class MBRSequenceGenerator(SequenceGenerator):
    """Sampling-based minimum Bayes risk decoding with cooled pools (Sec. 5.2), as a fairseq generator.

    Args:
        models, tgt_dict: as fairseq's.
        options: validated options.
        utility: the utility; not needed for ``--decoding sample``.
        make_texts: gives the text side; called at the first batch, since fairseq builds tokenizers after generators.
        seed: keys the draws.
        nbest: number of distinct hypotheses that must survive the decision rule.
        recorder: where pools and decisions are written, or None.
        languages: the language tokens of a multilingual model.
        others: fairseq's own arguments (``max_len_a``, ``min_len``, ``unk_penalty``, ...).
    """

    def __init__(
        self,
        models: Sequence[torch.nn.Module],
        tgt_dict: Any,
        *,
        options: DecodingOptions,
        utility: Utility | None,
        make_texts: Callable[["MBRSequenceGenerator"], TextSide],
        seed: int,
        nbest: int = 1,
        recorder: RecordWriter | None = None,
        languages: LanguageTokens = BILINGUAL,
        **others: Any,
    ) -> None:
        refuse_without_prefixes(models)
        others.update(beam_size=1)
        super().__init__(models, tgt_dict, **others)
        for model in self.model.models:
            if hasattr(model, "set_beam_size"):
                model.set_beam_size(1)  # a beam search may have left its own, which teacher forcing would stumble over
        self.options, self.utility, self.nbest, self.recorder = options, utility, nbest, recorder
        self.rule = build_rule(options.selection, options.selection_args)
        self.languages = languages
        self.symbols_to_strip_from_output |= languages.ids  # by fairseq's commands, from what they print
        banned = (self.pad, *sorted(languages.ids), *self._suppressed())
        support = Support(self.eos, banned, self.min_len + languages.forced, self.unk, self.unk_penalty)
        self.sampler = PrefixSampler(support, options.truncation, seed, options.max_rows, options.draws)
        self._make_texts = make_texts
        self._texts: TextSide | None = None
        self._told: set[str] = set()

    @property
    def texts(self) -> TextSide:
        """The text side, made when first needed."""
        if self._texts is None:
            self._texts = self._make_texts(self)
        return self._texts

    @torch.no_grad()
    def _generate(
        self,
        sample: dict[str, Any],
        prefix_tokens: Tensor | None = None,
        constraints: Tensor | None = None,
        bos_token: int | None = None,
    ) -> list[Hypotheses]:
        if constraints is not None:
            raise UserError("--constraints cannot be used with sampled pools: use --decoding beam")
        batch = self._sampling_batch(sample["net_input"], prefix_tokens, bos_token)
        make_decoder = encode(self.model.models, sample["net_input"], self.pad)
        sampled = self.sampler.sample(make_decoder, batch, self.options.specs)
        pools = [[self.languages.strip(pool) for pool in pools] for pools in sampled.pools]
        sentences = [self._to_texts(source, pools) for source, pools in zip(batch.sources, pools, strict=True)]
        decisions = self._decide(sentences)
        self._record(sample, sentences, decisions)
        return [self._hypotheses(sentence, decision) for sentence, decision in zip(sentences, decisions, strict=True)]

    def _sampling_batch(
        self, net_input: dict[str, Any], prefix_tokens: Tensor | None, bos_token: int | None
    ) -> SamplingBatch:
        if "src_tokens" not in net_input:
            raise UserError(f"--decoding {self.options.decoding} needs text input: use --decoding beam for this model")
        sources = source_sentences(net_input["src_tokens"], self.pad)
        limits = [self._limit(source) for source in sources]
        if min(limits) < self.sampler.support.min_len:
            given = min(limits) - self.languages.forced
            raise UserError(f"--min-len {self.min_len} exceeds the {given} tokens that the model can write: lower it")
        prefixes = None
        if prefix_tokens is not None:
            prefixes = prefix_tokens.masked_fill(prefix_tokens.eq(self.pad), -1).cpu().numpy()
        start = self.languages.start if bos_token is None else bos_token
        return SamplingBatch(sources, np.array(limits), self.eos if start is None else start, prefixes)

    def _limit(self, source: Sequence[int]) -> int:
        """The most tokens of a translation by its own source's length; fairseq takes the longest of the batch.

        A source so short that they would be fewer than ``--min-len`` gets these.
        """
        limit = int(self.max_len_a * self.languages.source_length(source, self.eos) + self.max_len_b)
        if limit < self.min_len:
            self._tell("--max-len-a/-b give a short source %d tokens: --min-len %d holds", limit, self.min_len)
        return min(max(limit, self.min_len) + self.languages.forced, self.max_len - 1)

    def _to_texts(self, source: Sequence[int], pools: list[TokenPool]) -> Sampled:
        texts = [text_pool(pool, self.texts.target) for pool in pools]
        return Sampled(pools, Pools.of(texts, self.texts.source(source)))

    def _decide(self, sentences: Sequence[Sampled]) -> Sequence[Decision | None]:
        if self.utility is None:
            return [None] * len(sentences)
        candidates = [sentence.pools.candidates(self.options.reference_weights) for sentence in sentences]
        decisions = self.rule.decide(candidates, self.utility, self.nbest)
        check_decisions(candidates, decisions, self.utility)
        return decisions

    def _record(
        self, sample: dict[str, Any], sentences: Sequence[Sampled], decisions: Sequence[Decision | None]
    ) -> None:
        if self.recorder is None:
            return
        for sentence_id, sentence, decision in zip(sample["id"].tolist(), sentences, decisions, strict=True):
            choice = 0 if decision is None else int(decision.order[0])
            self.recorder.write(
                make_row(
                    sentence_id,
                    sentence.pools,
                    choice,
                    decision,
                    seed=self.sampler.seed,
                    settings=self.options.describe(),
                    signature=self.signature,
                )
            )

    def _hypotheses(self, sentence: Sampled, decision: Decision | None) -> Hypotheses:
        """fairseq's n-best list: distinct texts by expected utility, or, for ``sample``, the draws in their order.

        fairseq's commands print ``score / ln 2``: the utility is compensated for that, so that they show it.
        """
        pool = sentence.tokens[0]
        if decision is None:
            sequences = pool.draws[: self.nbest]
            lengths = [len(pool.tokens[i]) ** self.len_penalty if self.normalize_scores else 1.0 for i in sequences]
            scores = torch.from_numpy(pool.log_prob[sequences] / np.array(lengths)).float()
        else:
            best = decision.order[: self.nbest]
            sequences = most_probable_sequences(pool, sentence.pools.hypotheses)[best]
            scores = torch.from_numpy(decision.expected[best] * math.log(2))
        if len(sequences) < self.nbest:
            self._tell("--nbest %d is more than the %d hypotheses of a sentence, which are all that is given: a larger "
                       "--num-hyp or --temp-hyp draws more", self.nbest, len(sequences))  # fmt: skip
        sizes = [len(pool.tokens[i]) for i in sequences]
        tokens = torch.from_numpy(np.concatenate([pool.tokens[i] for i in sequences])).split(sizes)
        log_probs = np.concatenate([pool.positional_log_probs[i] for i in sequences]).astype(np.float32)
        parts = zip(tokens, scores.unbind(), torch.from_numpy(log_probs).split(sizes), strict=True)
        nothing = torch.empty(0)
        return [
            {
                "tokens": own_tokens,
                "score": score,
                "attention": nothing,
                "alignment": nothing,
                "positional_scores": own_log_probs,  # a copy: fairseq's commands divide it in place
            }
            for own_tokens, score, own_log_probs in parts
        ]

    @property
    def signature(self) -> str | None:
        """What the expected utilities depend on; None where nothing is compared."""
        return None if self.utility is None else signature_of(self.utility.signature(), self.options.draws)

    def _tell(self, message: str, *values: object) -> None:
        """Warn of something at its first sentence alone."""
        if message not in self._told:
            logger.warning(message, *values)
            self._told.add(message)

    def _suppressed(self) -> tuple[int, ...]:
        return () if self.token_indices_to_suppress is None else tuple(self.token_indices_to_suppress.tolist())


def most_probable_sequences(pool: TokenPool, texts: TextPool) -> np.ndarray:
    """``(H,)`` for each distinct text the index of its most probable drawn token sequence."""
    best = np.full(len(texts.texts), -1)
    log_prob = pool.log_prob
    for text, sequence in zip(texts.draws, pool.draws, strict=True):
        if best[text] < 0 or log_prob[sequence] > log_prob[best[text]]:
            best[text] = sequence
    return best
