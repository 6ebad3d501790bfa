"""Identities: what is compared is what files hold; what is shown is their names."""

import hashlib

import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.identity import (
    PARTS,
    UNKNOWN,
    Identity,
    Part,
    file_fingerprint,
    files_part,
    fingerprint,
    identity_in,
    refuse_other,
)


def identity(**changes):
    parts = {name: Part(name, {"name": f"the {name}"}) for name in PARTS}
    return Identity({**parts, **changes})


def test_a_record_carries_it():
    one = identity()
    assert identity_in({"identity": one.fields()}) == one
    assert identity_in({"hypotheses": ["a"]}) is None


@pytest.mark.parametrize("name", PARTS)
def test_any_part_that_differs_is_named(name):
    other = identity(**{name: Part("0123", {"name": "another"})})
    assert identity().difference(other) == name
    message = f"p.gz was made from another {PARTS[name]} .another, 0123; now the {name}, .*: x"
    with pytest.raises(UserError, match=message):
        refuse_other("p.gz", {"identity": other.fields()}, identity(), "x")


def test_names_do_not_count_and_what_is_unknown_agrees_with_all():
    moved = identity(checkpoint=Part("checkpoint", {"files": ["b.pt"]}))
    assert identity().difference(moved) is None and moved.model == "b.pt"
    assert identity().difference(identity(sources=UNKNOWN)) is None
    refuse_other("p.gz", {"identity": moved.fields()}, identity(), "x")


def test_rows_without_identity_are_refused_where_one_is_needed():
    with pytest.raises(UserError, match="p.gz does not say from which checkpoint"):
        refuse_other("p.gz", {"settings": {}}, identity(), "x")


@pytest.mark.parametrize("fields", ["text", [1], {"checkpoint": "abc"}, {"checkpoint": {"fingerprint": 3}}])
def test_what_others_call_so_is_none(fields):
    assert identity_in({"identity": fields}) is None


def test_facts_for_readers():
    one = identity(
        checkpoint=Part("ab12", {"files": ["a.pt", "b.pt"]}), sources=Part("cd", {"data": "bin", "subset": "test"})
    )
    assert one.facts() == {"model": "a.pt:b.pt (ab12)", "data": "bin", "subset": "test", "direction": None}
    assert set(Identity({}).facts().values()) == {None}
    there = identity(languages=Part("ef", {"source": "en_XX", "target": "de_DE"}))
    assert there.facts()["direction"] == there.direction == "en_XX-de_DE"


def test_where_one_piece_ends_and_the_next_begins_counts():
    assert fingerprint([b"ab", b"c"]) != fingerprint([b"a", b"bc"]) != fingerprint([b"abc"])
    assert fingerprint([b"ab", b"c"]) == fingerprint([b"ab", b"c"])


def test_files_count_by_what_they_hold(tmp_path):
    one, other = tmp_path / "one.pt", tmp_path / "other.pt"
    one.write_bytes(b"weights 1")
    other.write_bytes(b"weights 1")
    assert file_fingerprint(one) == file_fingerprint(other) == hashlib.sha256(b"weights 1").hexdigest()[:16]
    one.write_bytes(b"weights 2")  # of the same size
    assert file_fingerprint(one) != file_fingerprint(other)
    both = files_part([one, other])
    assert both.shown == {"files": ["one.pt", "other.pt"]} and both.fingerprint.count("+") == 1
    assert files_part([]).fingerprint is None
    with pytest.raises(UserError, match="gone.pt is not a file"):
        file_fingerprint(tmp_path / "gone.pt")


def test_a_file_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "model.pt"
    path.write_bytes(b"weights")
    first = file_fingerprint(path)
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("it is read again"))
    assert file_fingerprint(path) == first
