"""Moses tokenisation for the utilities that expect tokenised text; sacremoses is loaded when it is asked for."""

from collections.abc import Callable


def moses_tokenizer(language: str) -> Callable[[str], str]:
    """A function from a text to its tokens separated by single spaces, without escaping special characters."""
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=language)
    return lambda text: " ".join(tokenizer.tokenize(text, escape=False))
