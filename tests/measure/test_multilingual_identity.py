"""What pools of a multilingual model say that they were made from: one set of weights has many directions."""

from pathlib import Path
from typing import Any

import pytest
from in_process import Fairseq
from multilingual_world import LANGUAGES, World

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.pools.identity import PARTS, Identity, identity_in, refuse_other
from dcmbr_fairseq.pools.rows import read_records


def flags(world: World, *more: object) -> list[str]:
    """Decoding from English to German by mBART-50; of options that are given twice the last counts."""
    pieces = [] if "--post-process" in more else ["--bpe", "sentencepiece", "--sentencepiece-model", world.pieces]
    line = [world.data_bin, *world.options("mbart50"), "-s", "en_XX", "-t", "de_DE", *pieces, *more]
    return [*map(str, line), "--cpu", "--num-workers", "0", "--batch-size", "12"]


def identity(world: World, *more: object) -> Identity:
    """The identity of the pools that an analysis would sample."""
    workspace = Workspace(flags(world, *more))
    return workspace.identity(workspace.load(str(world.checkpoint("mbart50"))))


@pytest.fixture(scope="module")
def base(world: World) -> Identity:
    return identity(world)


#: Other options for the same weights, and the parts that say so; "sources" is said where their tokens are others.
OTHERS: list[tuple[str, set[str]]] = [
    ("-t cs_CZ", {"languages"}),  # the same English sentences
    ("-s de_DE -t en_XX", {"languages", "sources"}),
    ("--lang-dict {folder}/other-order.txt", {"dictionaries", "sources"}),
    ("--lang-tok-style multilingual", {"dictionaries", "languages"}),
    ("--gen-subset valid", {"sources"}),
    ("--post-process sentencepiece", {"text"}),
]


@pytest.mark.parametrize("options, parts", OTHERS, ids=[options for options, _ in OTHERS])
def test_the_same_weights_otherwise_asked_are_known_as_different(
    world: World, base: Identity, tmp_path: Path, options: str, parts: set[str]
) -> None:
    (tmp_path / "other-order.txt").write_text("".join(f"{language}\n" for language in LANGUAGES[::-1]))
    other = identity(world, *options.format(folder=tmp_path).split())
    here, there = base.fingerprints(), other.fingerprints()
    assert {name for name in PARTS if here[name] != there[name]} == parts
    with pytest.raises(UserError, match=f"was made from another ({'|'.join(PARTS[name] for name in parts)}) "):
        refuse_other("pools.gz", {"identity": base.fields()}, other, "give another folder")


def test_the_same_asked_again_is_the_same(world: World, base: Identity, tmp_path: Path) -> None:
    (tmp_path / "renamed.txt").write_bytes((world.release / "ML50_langs.txt").read_bytes())
    assert identity(world, "--lang-dict", tmp_path / "renamed.txt").fingerprints() == base.fingerprints()
    assert base.direction == "en_XX-de_DE"


def test_records_of_fairseq_generate_carry_the_identity_of_the_analyses(
    world: World, base: Identity, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    path = tmp_path / "pools.jsonl"
    run = ["--path", world.checkpoint("mbart50"), "--decoding", "dcmbr", "--num-hyp", 2, "--max-len-b", 3]
    Fairseq(monkeypatch, capsys).generate(*flags(world, *run, "--pools-out", path))
    found = [identity_in(record.fields) for record in read_records(path)]
    assert len(found) == 12
    for one in found:
        assert one is not None and one.fingerprints() == base.fingerprints()
