"""What a user sees when something is wrong: a sentence for bad input, a traceback for our own faults."""

import sys

import pytest

from dcmbr_fairseq.errors import UserError, nearest, print_user_errors_plainly, suggestion


@pytest.fixture(autouse=True)
def python_s_own_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start from, and go back to, an interpreter whose hook nobody has replaced."""
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)


def test_user_error_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    print_user_errors_plainly()
    sys.excepthook(UserError, UserError("--temp-ref must be > 0, got 0.0"), None)
    assert capsys.readouterr().err == "dcmbr_fairseq: error: --temp-ref must be > 0, got 0.0\n"


def test_other_errors_are_shown_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    print_user_errors_plainly()
    try:
        [].pop()
    except IndexError as error:
        sys.excepthook(IndexError, error, error.__traceback__)
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback") and "[].pop()" in shown and "IndexError: pop from empty list" in shown


def test_hook_is_set_once() -> None:
    print_user_errors_plainly()
    hook = sys.excepthook
    assert hook is not sys.__excepthook__
    print_user_errors_plainly()
    assert sys.excepthook is hook


@pytest.mark.parametrize(
    ("name", "likely"),
    [
        ("chrg", "chrf"), ("charorder", "char_order"), ("CHAR-ORDER", "char_order"), ("lower", "lowercase"),
        ("beta", "beta"), ("cha", "char_order"), ("colour", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_nearest_name_is_the_one_that_was_meant(name: str, likely: str) -> None:
    assert nearest(name, ["char_order", "lowercase", "beta", "chrf"]) == likely


def test_an_unknown_name_is_answered_with_the_nearest_or_with_all() -> None:
    assert suggestion("beat", ["beta", "order"]) == "did you mean beta?"
    assert suggestion("colour", ["beta", "order"]) == "choose one of beta, order"
    assert suggestion("beta", []) == "leave it out"
