"""How words are put together again from pieces: ``--bpe`` and ``--post-process``, of which one is enough."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from fairseq.data.data_utils import post_process

from dcmbr_fairseq.errors import UserError, suggestion

#: Values of --post-process that take away every space between pieces: no --bpe can read what they leave.
JOINING = ("sentencepiece", "wordpiece", "letter", "_EOW")
#: Values that undo the segmentation whose pieces end in ``@@``, and the kinds of --bpe that undo it too.
CONTINUED = ("subword_nmt", "@@ ", "@@")
CONTINUED_BPE = ("subword_nmt", "fastbpe")
#: Values that do something else, or nothing.
OTHERS = ("silence", "none")


def bpe_name(bpe: Any) -> str | None:
    """The kind of ``--bpe``, given its options: a section, or a namespace of all options; None for no BPE."""
    return getattr(bpe, "bpe" if isinstance(bpe, Namespace) else "_name", None)


def refuse_twice(bpe: Any, symbol: str | None) -> None:
    """Refuse ``--bpe`` and ``--post-process`` that undo the same segmentation: words would run together.

    Doing it once instead would give another text than that of fairseq's D- lines.

    Args:
        bpe: the options of ``--bpe``.
        symbol: ``--post-process`` or ``--remove-bpe``.

    Raises:
        UserError: both are given for one segmentation.
    """
    name = bpe_name(bpe)
    twice = symbol in JOINING or (symbol in CONTINUED and name in CONTINUED_BPE)
    if name is not None and twice:
        raise UserError(
            f"--bpe {name} and --post-process {str(symbol).strip()} (--remove-bpe) put the same pieces together "
            "twice: leave out --post-process where the input is plain text, or --bpe where the data are binarised"
        )


def check_symbol(symbol: str | None) -> None:
    """Check that fairseq knows the value of ``--post-process``; it would find out at the first sentence.

    Raises:
        UserError: it does not.
    """
    try:
        post_process("", symbol)
    except NotImplementedError as error:
        known = [*JOINING, *dict.fromkeys(map(str.strip, CONTINUED)), *OTHERS]
        raise UserError(f"--post-process {symbol} is not known to fairseq: {suggestion(str(symbol), known)}") from error


def check_pieces(bpe: Any) -> None:
    """Check that the model of ``--bpe sentencepiece`` is there, and is one.

    Raises:
        UserError: it is not.
    """
    if bpe_name(bpe) != "sentencepiece":
        return
    model = getattr(bpe, "sentencepiece_model", None)
    if not (model and Path(model).is_file()):
        raise UserError(
            f"--sentencepiece-model {model} is not a file: give the model that the text was segmented with "
            "(sentence.bpe.model of mBART-50)"
        )
    import sentencepiece

    try:
        sentencepiece.SentencePieceProcessor(model_file=str(model))
    except (RuntimeError, OSError) as error:
        raise UserError(
            f"--sentencepiece-model {model} is not a model of sentencepiece, or is damaged: give the .model file that "
            "the text was segmented with"
        ) from error


def refuse_pieces(bpe: Any, symbol: str | None) -> None:
    """Refuse that a utility sees pieces of words, for models whose text is always segmented.

    Raises:
        UserError: neither ``--bpe`` nor ``--post-process`` is given.
    """
    if bpe_name(bpe) is None and symbol is None:
        raise UserError(
            "without --bpe the utility would see pieces of words: give --bpe sentencepiece --sentencepiece-model FILE, "
            "or --post-process sentencepiece where the data are binarised"
        )
