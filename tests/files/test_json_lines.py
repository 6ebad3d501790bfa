"""Lines of strict JSON: what Python's own module would let through is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.json_lines import format_object, parse_object

texts = st.text() | st.sampled_from(["\ud800", "\udc00\ud800", "\u2028", "\r\n", "\x00"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(texts, values, max_size=4), st.booleans())
def test_objects_survive_a_round_trip(row, readable):
    line = format_object(row, readable)
    assert "\n" not in line and (readable or line.isascii())
    line.encode()
    # a high surrogate before a low one is one character in JSON
    assert parse_object(line) == json.loads(json.dumps(row))


@pytest.mark.parametrize(
    "line, message",
    [
        ("", "not a JSON object"),
        ("{", "not a JSON object"),
        ('{"a": [1, 2', "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("[]", r"not a JSON object but \[\]"),
        ('"text"', 'not a JSON object but "text"'),
        ('{"a": NaN}', "NaN is no number of JSON"),
        ('{"a": {"b": [-Infinity]}}', "-Infinity is no number of JSON"),
        ('{"a": 1e999}', "1e999 is too large for a number"),
        ('{"a": ' + "1" * 5000 + "}", "not a JSON object"),
    ],
)
def test_what_is_no_strict_json_is_refused(line, message):
    with pytest.raises(UserError, match=message):
        parse_object(line)


def test_numbers_that_are_not_finite_are_not_written():
    with pytest.raises(ValueError):
        format_object({"a": [float("nan")]})
