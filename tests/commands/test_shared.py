"""What commands share: lists and objects in options."""

from argparse import Namespace
from pathlib import Path

import pytest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.commands.shared import parse_names, parse_numbers, parse_seeds
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


ENDLESS = [
    "significance a b --references a --samples 99999999999999999999",
    "significance a b --references a --seed -1",
    "plot 2 a --output figure --dpi 1000000000",
    "select --hypotheses a --lines-per-source 99999999999999999999",
]


@pytest.mark.parametrize("line", ENDLESS)
def test_numbers_that_would_never_end_are_refused_at_once(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / name).write_text("x\n")
    assert main(line.split()) == 1
    assert line.split()[-2] in capsys.readouterr().err
    with pytest.raises(UserError, match="--num-hyp 10000001 is too large: give at most 10000000"):
        parse_numbers("--num-hyp", "5,10000001", whole=True)
