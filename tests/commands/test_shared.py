"""What commands share: lists and objects in options."""

from argparse import Namespace

import pytest

from dcmbr_fairseq.commands.shared import parse_names, parse_seeds
from dcmbr_fairseq.errors import UserError


def test_lists_of_names() -> None:
    assert parse_names("--m", "chrf, bleu,chrf") == ["chrf", "bleu"]


def test_no_names() -> None:
    with pytest.raises(UserError, match="--metrics ' ,' names nothing"):
        parse_names("--metrics", " ,")


class Workspace:
    """What ``parse_seeds`` looks at: fairseq's seed."""

    cfg = Namespace(common=Namespace(seed=7))


@pytest.mark.parametrize("text, seeds", [(None, [7]), ("0,1", [0, 1]), ("3,3,2", [3, 2]), ("4294967295", [2**32 - 1])])
def test_seeds(text: str | None, seeds: list[int]) -> None:
    assert parse_seeds(Namespace(seeds=text), Workspace()) == seeds  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["-1", "0,-1", "4294967296", "1.5", "", "a", "9" * 5000])
def test_what_is_no_seed(text: str) -> None:
    with pytest.raises(UserError, match="--seeds must be whole numbers from 0 to 4294967295") as caught:
        parse_seeds(Namespace(seeds=text), Workspace())  # type: ignore[arg-type]
    assert len(str(caught.value)) < 400
