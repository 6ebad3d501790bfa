"""The text that the utility sees is the text that fairseq prints."""

from hypothesis import given
from hypothesis import strategies as st
from toy_model import toy_dictionary

from dcmbr_fairseq.decoding.texts import Detokenizer

DICTIONARY = toy_dictionary(5)
for piece in ("le@@", "nt", "\u2581the", "\u2581d", "og"):
    DICTIONARY.add_symbol(piece)


@given(st.lists(st.integers(0, len(DICTIONARY) - 1)), st.sampled_from([None, "@@ ", "subword_nmt", "sentencepiece"]))
def test_equals_the_dictionarys_own_string(tokens: "list[int]", post_process: "str | None") -> None:
    ignore = {6}
    ours = Detokenizer(DICTIONARY, post_process, ignore=ignore)(tokens)
    assert ours == DICTIONARY.string(tokens, post_process, extra_symbols_to_ignore=ignore)
