"""Translations by id: whatever the ids are, all are there and no others, or one sentence says which."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.translations import in_order, read_segments, read_translations
from dcmbr_fairseq.pools.order import ids_of


@given(st.dictionaries(st.integers(-2, 6) | st.integers(), st.just("text"), max_size=6), st.none() | st.integers(0, 6))
def test_ids_count_from_0_without_gaps_or_the_file_is_refused(texts: dict[int, str], expected: int | None) -> None:
    whole = sorted(texts) == list(range(len(texts))) and expected in (None, len(texts))
    if whole:
        assert in_order(texts, "file", expected) == [texts[number] for number in range(len(texts))]
        return
    with pytest.raises(UserError, match="^file (has|lacks) .*(id|translations)"):
        in_order(texts, "file", expected)


@pytest.mark.parametrize("number", [10**18 - 1, 10**19, 10**30, "9" * 5000])
def test_an_id_of_any_size_costs_no_memory(tmp_path: Path, number: object) -> None:
    (tmp_path / "records").write_text(json.dumps({"id": 0, "translation": ""}).replace("0", str(number), 1) + "\n")
    (tmp_path / "log").write_text(f"D-0\t0\tone\nD-{number}\t0\ttwo\n")
    with pytest.raises(UserError, match="lacks|digits"):
        read_translations(tmp_path / "records")
    try:
        assert read_translations(tmp_path / "log") == ["one"]  # what is no id of fairseq's is no line of its
    except UserError as error:
        assert "lacks" in str(error)


@pytest.mark.parametrize("line", ["9" * 5000, "[" * 5000, '{"a": 1e9' + "9" * 5000 + "}", "NaN", "1e999"])
def test_a_first_line_that_python_cannot_read_is_a_text(tmp_path: Path, line: str) -> None:
    (tmp_path / "text").write_text(f"{line}\nsecond\n")
    try:
        assert read_translations(tmp_path / "text") == [line, "second"]
    except UserError as error:
        assert line.startswith("{") and "line 1: not a JSON object" in str(error) and len(str(error)) < 500


@pytest.mark.parametrize("first", ['["a", "b"]', '[{"translation": "a"}]', "{", "[", '{"a": 1}', "[[]]"])
def test_json_of_any_kind_is_no_plain_text(tmp_path: Path, first: str) -> None:
    (tmp_path / "text").write_text(f"{first}\nsecond\n")
    with pytest.raises(UserError, match="line 1"):
        read_translations(tmp_path / "text")
    with pytest.raises(UserError, match="--references .* holds JSON, but plain text is needed"):
        read_segments(tmp_path / "text", "--references")
    assert read_translations(tmp_path / "text", "plain") == [first, "second"]


@pytest.mark.parametrize("first", ["[1]", "[Music]", "[]", '"a"', "{ a }", "1"])
def test_what_may_be_a_sentence_is_one(tmp_path: Path, first: str) -> None:
    (tmp_path / "text").write_text(f"{first}\nsecond\n")
    assert read_translations(tmp_path / "text") == read_segments(tmp_path / "text", "--references") == [first, "second"]


@given(st.permutations(range(5)), st.booleans())
def test_numbers_in_quotation_marks_are_ids_too(order: list[int], quoted: bool) -> None:
    assert ids_of([{"id": str(one) if quoted else one} for one in order], "file") == order
    assert ids_of([{}] * 5, "file") == list(range(5))
    others = [f"doc-{one}" for one in order]
    assert ids_of([{"id": one} for one in others], "file") == others
    assert ids_of([{"id": f"0{one}"} for one in order], "file") == [f"0{one}" for one in order]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, None], "line 2, has no id, the first line a number as id"),
        ([None, 0], "line 2, has a number as id, the first line no id"),
        (["0", 1], "line 2, has a number as id, the first line a text as id"),
        ([1.0, 0.0], "line 1: field id must be an integer or a string, got 1.0"),
        ([0, True], "line 2: field id must be an integer or a string, got true"),
    ],
)
def test_ids_of_several_kinds_are_refused(tmp_path: Path, ids: list[object], message: str) -> None:
    rows = [{"translation": "a", **({} if one is None else {"id": one})} for one in ids]
    (tmp_path / "records").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(UserError, match=message):
        read_translations(tmp_path / "records")
