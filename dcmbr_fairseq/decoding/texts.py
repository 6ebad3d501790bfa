"""From target tokens to the text that the utility sees, which is the text of fairseq's D- lines."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from fairseq.data import Dictionary
from fairseq.data.data_utils import post_process

from dcmbr_fairseq.pools.draws import TextPool, TokenPool
from dcmbr_fairseq.preflight.languages import language_tokens


class Detokenizer:
    """Token ids to detokenised text: symbols, then ``--post-process``, then the BPE's and the tokenizer's decoders.

    Args:
        dictionary: target dictionary.
        post_process: fairseq's ``--post-process`` / ``--remove-bpe`` symbol, or None.
        bpe: object with ``decode`` (``--bpe``), or None.
        tokenizer: object with ``decode`` (``--tokenizer``), or None.
        ignore: token ids that are no part of the text (the end of sentence; language tokens).
    """

    def __init__(
        self,
        dictionary: Dictionary,
        post_process: str | None = None,
        bpe: Any = None,
        tokenizer: Any = None,
        ignore: Collection[int] = (),
    ) -> None:
        self.dictionary, self.post_process = dictionary, post_process
        self.decoders: Sequence[Callable[[str], str]] = [part.decode for part in (bpe, tokenizer) if part is not None]
        self.ignore = {*ignore, dictionary.eos(), dictionary.bos()}
        self._known: dict[str, str] = {}  # detokenising is slow, and pools of one sentence share most of their texts

    def __call__(self, tokens: Sequence[int]) -> str:
        """The text of one sequence of token ids."""
        symbols = self.dictionary.symbols  # as Dictionary.string, which takes three times as long
        text = post_process(
            " ".join([symbols[token] for token in tokens if token not in self.ignore]), self.post_process
        )
        if not self.decoders:
            return text
        if text not in self._known:
            if len(self._known) > 100_000:
                self._known.clear()
            decoded = text
            for decode in self.decoders:
                decoded = decode(decoded)
            self._known[text] = decoded
        return self._known[text]


class TextSide(NamedTuple):
    """How token ids become texts: the target's, and the source's (for utilities that need it, and for records)."""

    target: Detokenizer
    source: Detokenizer


def text_side(task: Any, generator: Any, post_process: str | None, bpe: Any, tokenizer: Any) -> TextSide:
    """Detokenisers of both sides, for the text of fairseq-generate's S- and D- lines, without language tokens.

    Args:
        task: has both dictionaries, and may have language tokens.
        generator: knows which tokens fairseq strips from what it prints.
        post_process, bpe, tokenizer: as for :class:`Detokenizer`.
    """
    target = Detokenizer(task.target_dictionary, post_process, bpe, tokenizer, generator.symbols_to_strip_from_output)
    source_ids = language_tokens(task).source_ids
    return TextSide(target, Detokenizer(task.source_dictionary, post_process, bpe, tokenizer, source_ids))


def text_pool(pool: TokenPool, detokenize: Callable[[Sequence[int]], str]) -> TextPool:
    """The pool as texts; different token sequences may give the same text."""
    texts = [detokenize(tokens.tolist()) for tokens in pool.tokens]
    log_prob = pool.log_prob
    return TextPool.from_draws(
        [texts[draw] for draw in pool.draws],
        log_prob[pool.draws].tolist(),
        pool.sampling_log_prob[pool.draws].tolist(),
    )
