"""Moses tokenisation for what expects tokenised text; sacremoses is loaded when it is asked for."""

from collections.abc import Callable

from dcmbr_fairseq.errors import UserError


def moses_tokenizer(language: str) -> Callable[[str], str]:
    """A function from a text to its tokens separated by single spaces, without escaping special characters."""
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=language)
    return lambda text: " ".join(tokenizer.tokenize(text, escape=False))


def check_moses_language(flag: str, language: str) -> str:
    """``language`` if Moses' tokeniser has rules for it; others would be tokenised as English, whatever is signed.

    Raises:
        UserError: it has none; names the ``flag``.
    """
    from sacremoses.corpus import NonbreakingPrefixes

    known = sorted({*NonbreakingPrefixes().available_langs.values(), "ja", "ko"})
    if language not in known:
        raise UserError(f"{flag} {language}: Moses' tokeniser has no rules for it: give one of {', '.join(known)}")
    return language
