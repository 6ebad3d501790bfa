"""Stored pools are used again for the same weights, sentences, direction and text, wherever files lie; else never."""

import gzip
import shutil
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.models.transformer import TransformerModel
from in_process import Fairseq
from omegaconf import OmegaConf

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.measure.sampling import PoolKey, PoolStore
from dcmbr_fairseq.pools.identity import file_fingerprint, identity_in
from dcmbr_fairseq.pools.rows import read_rows
from dcmbr_fairseq.preflight.identity import Processing, _text

KEY = PoolKey(1, 0, 0.5)


def store(folder: Path, *flags: str, model: Path | None = None, first: int = 4) -> PoolStore:
    """The store of a copy of the toy world in ``folder``."""
    data = [str(folder / "bin"), "-s", "en", "-t", "de", "--gen-subset", "test", "--num-workers", "0", "--cpu"]
    workspace = Workspace([*data, *flags], first)
    return PoolStore(folder / "pools", workspace, workspace.load(str(model or folder / "model.pt"), "name"), 3)


@pytest.fixture
def world(toy: Any, tmp_path: Path) -> Path:
    """A copy of the toy world in which pools have been sampled."""
    shutil.copytree(toy.data_bin, tmp_path / "bin")
    torch.save(torch.load(toy.checkpoint, weights_only=False), tmp_path / "model.pt")
    store(tmp_path).sample([KEY])
    return tmp_path


def test_moved_and_renamed_files_are_the_same(world: Path) -> None:
    (world / "model.pt").rename(world / "renamed.pt")
    (world / "elsewhere").mkdir()
    shutil.move(world / "bin", world / "elsewhere" / "bin")
    (world / "bin").symlink_to(world / "elsewhere" / "bin")
    assert store(world, model=world / "renamed.pt").has(KEY)
    assert store(world, "--max-tokens", "50", model=world / "renamed.pt").has(KEY)  # batches make no other pools


def test_other_weights_of_the_same_size(world: Path) -> None:
    size = (world / "model.pt").stat().st_size
    state = torch.load(world / "model.pt", weights_only=False)
    state["model"]["decoder.embed_tokens.weight"][5, 0] += 0.5
    torch.save(state, world / "model.pt")
    assert (world / "model.pt").stat().st_size == size
    with pytest.raises(UserError, match=r"was made from another checkpoint .*model.pt.*delete it, or give another --p"):
        store(world).has(KEY)


def test_an_ensemble_and_its_member(world: Path) -> None:
    with pytest.raises(UserError, match="another checkpoint"):
        store(world, model=Path(f"{world}/model.pt:{world}/model.pt")).has(KEY)


def test_settings_of_the_model_that_the_command_overrides(world: Path) -> None:
    with pytest.raises(UserError, match="another checkpoint .*dropout"):
        store(world, "--model-overrides", "{'dropout': 0.2}").has(KEY)


def test_another_test_set_under_the_same_name(world: Path) -> None:
    for side in ("en", "de"):
        for kind in ("bin", "idx"):
            shutil.copy(world / "bin" / f"valid.en-de.{side}.{kind}", world / "bin" / f"test.en-de.{side}.{kind}")
    with pytest.raises(UserError, match=r"another test set .bin, test, 4, \w+; now bin, test, 4, "):
        store(world).has(KEY)


def test_more_or_other_sentences_of_it(world: Path) -> None:
    with pytest.raises(UserError, match="another test set .*test, 4, .*test, 5, "):
        store(world, first=5).has(KEY)
    with pytest.raises(UserError, match="another test set .*valid"):
        store(world, "--gen-subset", "valid").has(KEY)


def test_another_dictionary_of_the_same_size(world: Path) -> None:
    path = world / "bin" / "dict.de.txt"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], *reversed(lines[2:4]), *lines[4:]]) + "\n")
    with pytest.raises(UserError, match="another pair of dictionaries"):
        store(world).has(KEY)


def test_other_text_processing(world: Path) -> None:
    with pytest.raises(UserError, match="another text processing .None, .*; now subword_nmt, "):
        store(world, "--remove-bpe").has(KEY)


@pytest.mark.parametrize("flags", [["--min-len", "2"], ["--unkpen", "1"], ["--max-source-positions", "20"], ["--fp16"]])
def test_other_settings_of_sampling(world: Path, flags: list[str]) -> None:
    with pytest.raises(UserError, match="was sampled with another"):
        store(world, *flags).has(KEY)


def test_pools_of_version_0_1_are_refused(world: Path) -> None:
    (path,) = (world / "pools").iterdir()


    text = gzip.open(path, "rt").read()
    with gzip.open(path, "wt") as file:
        file.write(text.replace('"identity"', '"unknown"'))
    with pytest.raises(UserError, match="does not say from which checkpoint and test set"):
        store(world).has(KEY)


def test_records_say_what_they_were_made_from(world: Path) -> None:
    (path,) = (world / "pools").iterdir()
    rows = list(read_rows(path))
    identity = identity_in(rows[0])
    assert identity is not None and all(row["identity"] == identity.fields() for row in rows)
    assert identity.model == "model.pt"
    assert identity.parts["checkpoint"].fingerprint == file_fingerprint(world / "model.pt")
    assert identity.parts["sources"].shown == {"data": "bin", "subset": "test", "sentences": 4}
    assert identity.parts["languages"].shown == {"source": "en", "target": "de"}


def test_decoding_and_analyses_tell_the_same(
    toy: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Records of fairseq-generate are of the same model and sentences as the pools of an analysis with these flags."""
    flags = [str(toy.data_bin), "-s", "en", "-t", "de", "--gen-subset", "test", "--num-workers", "0", "--cpu"]
    flags += ["--remove-bpe"]
    workspace = Workspace(flags)
    identity = workspace.identity(workspace.load(str(toy.checkpoint)))
    decoding = ["--task", "translation_dcmbr", "--path", str(toy.checkpoint), "--decoding", "sample", "--num-hyp", "2"]
    generate = Fairseq(monkeypatch, capsys).generate
    generate(*flags, *decoding, "--pools-out", tmp_path / "pools.jsonl", "--batch-size", 8)
    rows = list(read_rows(tmp_path / "pools.jsonl"))
    assert len(rows) == 23 and all(row["identity"] == identity.fields() for row in rows)
    shard = tmp_path / "shard.jsonl"
    generate(*flags, *decoding, "--pools-out", shard, "--num-shards", 2, "--shard-id", 1)
    assert all(row["identity"] == identity.fields() for row in read_rows(shard))  # shards may be joined


def test_what_is_not_known_is_said_to_be_unknown(toy: Any, tmp_path: Path) -> None:
    """The hub does not tell its task which checkpoint it has loaded, and sentences come one by one."""
    task = {"_name": "translation_dcmbr", "data": str(toy.data_bin)}
    model = TransformerModel.from_pretrained(str(toy.folder), "model.pt", task=task)
    path = tmp_path / "pools.jsonl"
    model.translate(["a dog sees the cat ."], decoding="sample", num_hyp=2, pools_out=str(path))
    model.task._recording.writer.finish()
    (row,) = read_rows(path)
    identity = identity_in(row)
    assert identity is not None and identity.model == ""
    assert identity.parts["checkpoint"].fingerprint is identity.parts["sources"].fingerprint is None
    workspace = Workspace([str(toy.data_bin), "-s", "en", "-t", "de", "--gen-subset", "test", "--cpu"])
    known = workspace.identity(workspace.load(str(toy.checkpoint)))
    assert identity.difference(known) is None and identity.parts["dictionaries"] == known.parts["dictionaries"]


def test_a_journal_of_another_checkpoint_is_refused(
    toy: Any, world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = [str(world / "bin"), "-s", "en", "-t", "de", "--gen-subset", "test", "--num-workers", "0", "--cpu"]
    output = world / "topn.tsv"
    command = ["topn", *flags, "--path", str(world / "model.pt"), "--first", "2", "--size", "1"]
    command += ["--output", str(output)]

    def cut_off(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dcmbr_fairseq.measure.topn.search_sentences", cut_off)
        assert main(command) == 130
    shutil.copy(toy.other, world / "model.pt")
    assert main(command) == 1
    assert "topn.tsv.partial was begun with other settings (models model checkpoint: " in capsys.readouterr().err


def test_files_that_options_name_count_by_what_they_hold(tmp_path: Path) -> None:
    for name in ("codes", "same", "other"):
        (tmp_path / name).write_text("a b" if name == "other" else "a c")

    def text(path: str, kind: Any = OmegaConf.create) -> Any:
        options = {"_name": "subword_nmt", "bpe_codes": str(tmp_path / path), "bpe_separator": "@@"}
        return _text(Processing("@@ ", None, kind(options)))

    assert text("codes") == text("same") != text("other")
    assert text("codes").shown == {"post_process": "@@ ", "tokenizer": None, "bpe": "subword_nmt"}
    old = [
        _text(Processing("@@ ", space, space))
        for space in (Namespace(bpe="subword_nmt", bpe_codes=str(tmp_path / name), bpe_separator="@@", seed=seed)
                      for name, seed in (("codes", 1), ("same", 2), ("other", 1)))
    ]  # fmt: skip
    assert old[0] == old[1] != old[2] and old[0] == text("codes")  # fairseq's older tasks have all in one namespace
