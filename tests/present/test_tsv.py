"""Tab-separated tables: whatever the cells hold, what was written is read again."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from random_inputs import inputs

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.tables import MISSING, Grid, as_cell, as_markdown, as_text, read_table
from dcmbr_fairseq.present.tidy import write_rows
from dcmbr_fairseq.present.tsv import format_tsv, parse_tsv

AWKWARD = [
    "", "-", "#", "# no comment", '"', '"a"', 'a "b" c', "a\tb", "a\nb", "\n", "\r", "a\r", "\r\n", "{", '{"a": 1}',
    "\ufeff", "\ufeffa", "\u2028", "\x00", " ", "\v", "日本",
]  # fmt: skip
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(AWKWARD)
texts = texts | st.lists(st.sampled_from('"\t\n\r#{a '), max_size=6).map("".join)
numbers = st.none() | st.integers() | st.booleans() | st.floats(-1e9, 1e9).map(lambda x: round(x, 6))


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(texts, min_size=n, max_size=n), max_size=5)))
def test_cells_survive_a_round_trip(rows: list[list[str]]) -> None:
    assert [row for _, row in parse_tsv(format_tsv(rows))] == rows


@inputs(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(texts, min_size=1, max_size=4, unique=True).flatmap(
        lambda columns: st.lists(
            st.fixed_dictionaries(dict.fromkeys(columns, texts | numbers)), min_size=1, max_size=4
        )
    ),
    st.sampled_from(["table.tsv", "table.jsonl", "table.tsv.gz"]),
)
def test_tables_survive_a_round_trip(tmp_path: Path, rows: list[dict[str, object]], name: str) -> None:
    """The same strings from TSV and from JSON lines, through a file."""
    write_rows(rows, tmp_path / name)
    assert read_table(tmp_path / name) == [{key: as_cell(value) for key, value in row.items()} for row in rows]


def test_columns_that_only_some_rows_have(tmp_path: Path) -> None:
    rows = [{"a": 1}, {"a": None, "b": float("nan")}]
    for name in ("table.tsv", "table.jsonl"):
        write_rows(rows, tmp_path / name)
        assert read_table(tmp_path / name) == [{"a": "1", "b": MISSING}, {"a": MISSING, "b": MISSING}]


@pytest.mark.parametrize(
    "text, rows",
    [
        ("a\tb\r\n1\t2\r\n", [["a", "b"], ["1", "2"]]),  # Windows' line ends
        ('a\tb\r\n"1\r\n2"\t"3"\r\n', [["a", "b"], ["1\r\n2", "3"]]),
        ("# a comment\n\na\tb\n\n# another\n1\t2", [["a", "b"], ["1", "2"]]),
        ('a\n5" nails\n"unclosed\n"half" quoted\n', [["a"], ['5" nails'], ['"unclosed'], ['"half" quoted']]),
        ("a\tb\n\t\n", [["a", "b"], ["", ""]]),  # no empty line: two empty cells
    ],
)
def test_tables_of_others(text: str, rows: list[list[str]]) -> None:
    assert [row for _, row in parse_tsv(text)] == rows


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("t.tsv", 'a\tb\n"1\n2"\t3\n4\n', "t.tsv, line 4, has 1 cells but the header has 2"),
        ("t.tsv", "a\tb\ta\n1\t2\t3\n", "has the column 'a' twice"),
        ("t.tsv", "", "t.tsv has no rows"),
        ("t.tsv", "a\tb\n", "t.tsv has no rows"),
        ("t.jsonl", '{"a": 1}\n\n{"a": NaN}\n', "t.jsonl, line 3: not a JSON object .NaN is no number of JSON"),
        ("t.jsonl", '{"a": 1}\n{"a": ', "t.jsonl, line 2: not a JSON object"),
        ("t.jsonl", '{"a": 1}\n[1]\n', "t.jsonl, line 2: not a JSON object but"),
    ],
)
def test_broken_tables_are_refused_with_the_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, newline="\n")
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / name)


def test_a_byte_order_mark_belongs_to_no_column(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(b"\xef\xbb\xbfa\tb\n1\t2\n")
    assert read_table(tmp_path / "t.tsv") == [{"a": "1", "b": "2"}]


def test_surrogates_go_to_json_alone(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lone surrogate \(U\+D800\).*give a name that ends in .jsonl"):
        write_rows([{"text": "\ud800"}], tmp_path / "t.tsv")
    write_rows([{"text": "\ud800"}], tmp_path / "t.jsonl")
    assert read_table(tmp_path / "t.jsonl") == [{"text": "\ud800"}]


def test_cells_of_tables_for_people_stay_in_their_line() -> None:
    grid = Grid(["a", "b"], [["x\ny", "1\r\n\u20282"]])
    assert len(as_text(grid).splitlines()) == 3 and len(as_markdown(grid).splitlines()) == 3
    assert "x y" in as_text(grid) and "1 2" in as_text(grid)
