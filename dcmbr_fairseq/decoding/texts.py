"""From target tokens to the text that the utility sees, which is the text of fairseq's D- lines."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from fairseq.data import Dictionary
from fairseq.data.data_utils import post_process

from dcmbr_fairseq.pools.draws import TextPool, TokenPool


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


def text_pool(pool: TokenPool, detokenize: Callable[[Sequence[int]], str]) -> TextPool:
    """The pool as texts; different token sequences may give the same text."""
    texts = [detokenize(tokens.tolist()) for tokens in pool.tokens]
    log_prob = pool.log_prob
    return TextPool.from_draws(
        [texts[draw] for draw in pool.draws],
        log_prob[pool.draws].tolist(),
        pool.sampling_log_prob[pool.draws].tolist(),
    )
