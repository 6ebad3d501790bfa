"""Pieces are put together once, by ``--bpe`` or by ``--post-process``."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from fairseq.data.data_utils import post_process
from fairseq.data.encoders import BPE_REGISTRY, build_bpe
from omegaconf import OmegaConf

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.preflight.segmentation import check_pieces, check_symbol, refuse_pieces, refuse_twice

SYMBOLS = ["sentencepiece", "wordpiece", "letter", "silence", "_EOW", "subword_nmt", "@@ ", "@@", "none", None]


def refused(bpe: str | None, symbol: str | None) -> bool:
    try:
        refuse_twice(Namespace(bpe=bpe), symbol)
    except UserError as error:
        assert f"--bpe {bpe} and --post-process {str(symbol).strip()} " in str(error)
        return True
    return False


@pytest.mark.parametrize("symbol", SYMBOLS)
@pytest.mark.parametrize("bpe", sorted(BPE_REGISTRY))
def test_every_pair_that_undoes_the_same_segmentation_is_refused(bpe: str, symbol: str | None) -> None:
    joining = post_process("a b", symbol) == "ab"  # nothing is left that --bpe could put together
    same = "@@" not in post_process("a@@ b", symbol) and bpe in ("subword_nmt", "fastbpe")
    assert refused(bpe, symbol) == (joining or same)


def test_what_runs_words_together_is_refused(world: Any) -> None:
    """The kind by its consequence: where the two decoders in turn lose the words, they may not be combined."""
    options = Namespace(bpe="sentencepiece", sentencepiece_model=str(world.pieces))
    pieces = build_bpe(options)
    text = world.lines("de_DE")[0]
    for symbol in SYMBOLS:
        if pieces.decode(post_process(pieces.encode(text), symbol)) != text:
            assert refused("sentencepiece", symbol)
    assert refused("sentencepiece", "sentencepiece") and not refused(None, "sentencepiece")


def test_a_section_says_it_as_a_namespace_does() -> None:
    with pytest.raises(UserError, match="--bpe fastbpe and --post-process @@ "):
        refuse_twice(OmegaConf.create({"_name": "fastbpe"}), "@@ ")


def test_the_pieces_model_must_be_one(world: Any, tmp_path: Path) -> None:
    check_pieces(Namespace(bpe="sentencepiece", sentencepiece_model=str(world.pieces)))
    check_pieces(Namespace(bpe="subword_nmt"))
    check_pieces(None)
    (tmp_path / "text.model").write_text("not a model\n")
    (tmp_path / "empty.model").write_text("")
    for name in ("text.model", "empty.model"):
        with pytest.raises(UserError, match=f"--sentencepiece-model {tmp_path / name} is not a model of sentencepiece"):
            check_pieces(OmegaConf.create({"_name": "sentencepiece", "sentencepiece_model": str(tmp_path / name)}))
    for missing in (str(tmp_path / "nix"), str(tmp_path), None, ""):
        with pytest.raises(UserError, match="is not a file: give the model that the text was segmented with"):
            check_pieces(Namespace(bpe="sentencepiece", sentencepiece_model=missing))


def test_a_utility_is_not_shown_pieces() -> None:
    with pytest.raises(UserError, match="would see pieces of words"):
        refuse_pieces(None, None)
    refuse_pieces(None, "sentencepiece")
    refuse_pieces(Namespace(bpe="sentencepiece"), None)


def test_what_fairseq_does_not_know_is_refused_with_the_nearest() -> None:
    for symbol in SYMBOLS:
        check_symbol(symbol)
    for symbol, nearest in (("sentencepeice", "sentencepiece"), ("@ @", "@@"), ("subword-nmt", "subword_nmt")):
        with pytest.raises(UserError, match=f"--post-process {symbol} is not known to fairseq: did you mean {nearest}"):
            check_symbol(symbol)
    with pytest.raises(UserError, match="choose one of sentencepiece, wordpiece, letter, _EOW, subword_nmt"):
        check_symbol("bytes")
