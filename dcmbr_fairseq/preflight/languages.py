"""Language tokens: what of a target belongs to a multilingual model's convention and not to the translation.

Three conventions are known. mBART-50, M2M-100 and NLLB: the first target token, after the end of sentence that starts
every target, is the language's; it is forced. fairseq's ``--lang-tok-replacing-bos-eos``: the language's token starts
the target in place of the end of sentence. mBART-25: it does so too, and follows the end of sentence as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairseq.data import Dictionary
from fairseq.data.multilingual.multilingual_utils import get_lang_tok

from dcmbr_fairseq.pools.draws import TokenPool

MASK = "<mask>"
#: What training leaves in vocabularies beside the languages' tokens: mBART's mask, NLLB's marks of a source's origin.
SPECIAL = (MASK, "<MINED_DATA>", "<MMT_BT_DATA>", "<SMT_BT_DATA>")


@dataclass(frozen=True)
class LanguageTokens:
    """The language tokens of a target dictionary; the defaults are those of a bilingual model.

    Attributes:
        ids: tokens that are never drawn and stand in no text: those of all languages, and :data:`SPECIAL`.
        forced: how many tokens before the translation are forced as a prefix.
        start: the token that starts every target; None for the end of sentence, or for what the task says.
        source_ids: the same of the source dictionary.
    """

    ids: frozenset[int] = frozenset()
    forced: int = 0
    start: int | None = None
    source_ids: frozenset[int] = frozenset()

    def source_length(self, source: Sequence[int], eos: int) -> int:
        """Length of a source by which the target's is limited: its words and one end of sentence, as without tokens."""
        return 1 + sum(token != eos and token not in self.source_ids for token in source)

    def strip(self, pool: TokenPool) -> TokenPool:
        """The pool without the forced tokens, which then count in no text, no score and no length."""
        if not self.forced:
            return pool
        return TokenPool(
            [tokens[self.forced :] for tokens in pool.tokens],
            [log_probs[self.forced :] for log_probs in pool.positional_log_probs],
            pool.sampling_log_prob,  # what is forced has probability one there
            pool.draws,
        )


BILINGUAL = LanguageTokens()


def language_tokens(task: Any) -> LanguageTokens:
    """The language tokens of a task: none where it knows of none."""
    return task.language_tokens() if hasattr(task, "language_tokens") else BILINGUAL


def language_symbols(languages: Sequence[str], style: str, specs: Sequence[str] = ("main",)) -> list[str]:
    """The symbols of languages that fairseq's multilingual task adds to a dictionary.

    Args:
        languages: the codes in their order.
        style: ``--lang-tok-style``, multilingual (``__xx__``) or mbart (``[xx]``).
        specs: ``--langtoks-specs``.
    """
    return [get_lang_tok(language, style, spec) for spec in specs for language in languages]


def known_ids(dictionary: Dictionary, symbols: Sequence[str]) -> frozenset[int]:
    """The ids of those symbols that a dictionary has."""
    return frozenset(dictionary.index(symbol) for symbol in symbols if symbol in dictionary)
