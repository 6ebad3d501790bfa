"""Rows: pools survive a round trip, and bad rows are refused by file, line and field."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.rows import SCHEMA_VERSION, format_row, make_row, parse_row, read_records
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.rules import Decision

# A high surrogate before a low one is one character in JSON; either alone survives.
AWKWARD = ["", "\ud800", "\udcff x", "\u2028", "\r", "\x1c", "\n", "\x00", "😀", "日本"]
texts = st.text(max_size=8) | st.sampled_from(AWKWARD)
log_probs = st.floats(-1e4, 0).map(lambda x: round(x, 6))


@st.composite
def text_pools(draw):
    size = draw(st.integers(1, 6))
    several = [draw(st.lists(items, min_size=size, max_size=size)) for items in (texts, log_probs, log_probs)]
    return TextPool.from_draws(*several)


def assert_same(one: TextPool, other: TextPool):
    assert one.texts == other.texts
    for field in ("draws", "log_prob", "sampling_log_prob"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@given(text_pools(), st.none() | text_pools(), texts)
def test_rows_survive_a_round_trip(hypotheses, references, source):
    expected = np.linspace(0, 1, len(hypotheses.texts))
    decision = Decision(expected, np.argsort(-expected), 7)
    pools = Pools.of([pool for pool in (hypotheses, references) if pool is not None], source)
    row = make_row(3, pools, 0, decision, seed=1, settings={"temp_hyp": 0.5}, signature="s")
    line = format_row(row)
    assert line.isascii() and "\n" not in line
    record = parse_row(line, 0)
    assert record.id == 3 and record.fields == row and record.has_reference_log_probs
    assert (record.pools.source, record.pools.weights, record.pools.shared) == (source, None, references is None)
    assert_same(record.pools.hypotheses, hypotheses)
    assert_same(record.pools.references, references or hypotheses)


def test_numbers_are_rounded_to_keep_files_small():
    pool = TextPool.from_draws(["a"], [-1 / 3], [-2 / 3])
    row = make_row(0, Pools.of([pool], ""), 0, Decision(np.array([1 / 3]), np.array([0]), 1))
    assert row["hypothesis_log_probs"] == [-0.333333] and row["expected_utilities"] == [0.333333]


def test_a_number_that_is_not_finite_is_refused():
    pool = TextPool.from_draws(["a"], [-1.0], [-1.0])
    row = make_row(5, Pools.of([pool], ""), 0, Decision(np.array([np.nan]), np.array([0]), 1))
    with pytest.raises(UserError, match="record of sentence 5 holds a number that is not finite"):
        format_row(row)


def test_pools_made_by_anyone_are_read(tmp_path):
    path = tmp_path / "pools.jsonl"
    path.write_text(
        '{"hypotheses": ["b", "a", "b"]}\n{"id": "x", "hypotheses": ["a"], "references": ["c", "d", "c"], '
        '"weights": [1, 2, 5], "source": "s"}\n'
    )
    first, second = read_records(path)
    assert (first.id, first.pools.source, first.pools.shared) == (0, None, True)
    assert first.pools.hypotheses.texts == ["b", "a"] and first.pools.hypotheses.draws.tolist() == [0, 1, 0]
    candidates = second.pools.candidates()
    assert (second.id, candidates.source, candidates.references) == ("x", "s", ["c", "d"])
    np.testing.assert_allclose(candidates.weights, [6 / 8, 2 / 8])


def test_the_first_draws_of_a_shared_pool_play_each_part():
    pool = TextPool.from_draws(list("abcab"), np.log([0.3, 0.2, 0.1, 0.4, 0.2]), np.zeros(5))
    candidates = Pools.of([pool]).first(2, 5).candidates()
    assert candidates.hypotheses == ["a", "b"] and candidates.references == ["a", "b", "c"]
    np.testing.assert_allclose(candidates.weights, [0.4, 0.4, 0.2])
    np.testing.assert_allclose(candidates.log_prob, np.log([0.3, 0.2]))  # only what the first two draws have shown


def test_rows_of_version_0_1_are_read():
    pool = TextPool.from_draws(["a", "b", "a"], [-1.0] * 3, [-2.0] * 3)
    row = make_row(4, Pools.of([pool], "s"), 0, seed=1)
    assert row["schema_version"] == SCHEMA_VERSION
    del row["schema_version"]
    assert_same(parse_row(format_row(row), 0).pools.hypotheses, pool)


def test_weights_of_the_first_references_sum_to_one():
    record = parse_row('{"hypotheses": ["a"], "references": ["c", "d", "c"], "weights": [1, 3, 9]}', 0)
    np.testing.assert_allclose(record.pools.first(None, 2).candidates().weights, [0.25, 0.75])


@pytest.mark.parametrize(
    "row, message",
    [
        ("", "not a JSON object"),
        ("{", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("[]", "not a JSON object but []"),
        ("{}", "field hypotheses is missing"),
        ('{"hypotheses": ["a"], "schema_version": "1"}', 'field schema_version must be a whole number from 1, got "1"'),
        ('{"hypotheses": ["a"], "schema_version": true}', "field schema_version must be a whole number"),
        ('{"hypotheses": ["a"], "schema_version": 2}', "field schema_version is 2, but this version of dcmbr_fairseq "),
        ('{"hypotheses": []}', "field hypotheses must be a list of at least one string, got []"),
        ('{"hypotheses": "a"}', 'field hypotheses must be a list of at least one string, got "a"'),
        ('{"hypotheses": ["a", 1]}', 'field hypotheses must be a list of at least one string, got ["a", 1]'),
        ('{"hypotheses": ["a"], "references": [null]}', "field references must be a list of at least one string"),
        ('{"hypotheses": ["a"], "id": 1.5}', "field id must be an integer or a string, got 1.5"),
        ('{"hypotheses": ["a"], "id": true}', "field id must be an integer or a string, got true"),
        ('{"hypotheses": ["a"], "source": 3}', "field source must be a string, got 3"),
        ('{"hypotheses": ["a"], "hypothesis_draws": [1]}', "list of indices into hypotheses, 0 to 0, got [1]"),
        ('{"hypotheses": ["a"], "hypothesis_draws": [true]}', "hypothesis_draws must be a list of indices"),
        ('{"hypotheses": ["a", "b"], "hypothesis_draws": [1, 0]}', "distinct texts in the order of their first draw"),
        ('{"hypotheses": ["a", "b"], "hypothesis_draws": [0]}', "distinct texts in the order of their first draw"),
        ('{"hypotheses": ["a", "a"], "hypothesis_draws": [0, 1]}', "must hold distinct texts"),
        ('{"hypotheses": ["a"], "hypothesis_log_probs": [1, 2]}', "hypothesis_log_probs must hold 1 finite numbers"),
        ('{"hypotheses": ["a"], "hypothesis_log_probs": ["1"]}', "hypothesis_log_probs must be a list of numbers"),
        ('{"hypotheses": ["a"], "hypothesis_log_probs": [NaN]}', "NaN is no number of JSON"),
        ('{"hypotheses": ["a"], "weights": [1, 1]}', "field weights must hold 1 finite numbers, one for each draw"),
        ('{"hypotheses": ["a"], "expected_utilities": [NaN]}', "NaN is no number of JSON"),
        ('{"hypotheses": ["a"], "weights": [0]}', "field weights must be positive, got [0]"),
        ('{"hypotheses": ["a"], "weights": [1e999]}', "1e999 is too large for a number"),
        ('{"hypotheses": ["a"], "weights": [1' + "0" * 400 + "]}", "field weights must hold 1 finite numbers"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_by_file_line_and_field(tmp_path, row, message):
    path = tmp_path / "pools.jsonl"
    path.write_text('{"hypotheses": ["a"]}\n' + row + "\n")
    with pytest.raises(UserError) as caught:
        list(read_records(path))
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert message in str(caught.value) and len(str(caught.value)) < 400
