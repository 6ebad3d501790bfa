"""What commands share: lists and objects in options."""

import pytest

from dcmbr_fairseq.commands.shared import parse_names, parse_numbers
from dcmbr_fairseq.errors import UserError


def test_lists_of_options() -> None:
    assert parse_numbers("--t", "0.5,1,0.50") == [0.5, 1.0]
    assert parse_numbers("--n", "10,50", whole=True) == [10, 50]
    assert parse_names("--m", "chrf, bleu,chrf") == ["chrf", "bleu"]


@pytest.mark.parametrize("text", ["", "0", "-1,2", "nan", "inf", "1;2", "0.5,"])
def test_bad_lists(text: str) -> None:
    with pytest.raises(UserError, match="--temps must be numbers above 0"):
        parse_numbers("--temps", text)
    with pytest.raises(UserError, match="--size must be whole numbers above 0"):
        parse_numbers("--size", text + "1.5", whole=True)


def test_no_names() -> None:
    with pytest.raises(UserError, match="--metrics ' ,' names nothing"):
        parse_names("--metrics", " ,")
