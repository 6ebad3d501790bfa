"""What is given over a checkpoint's settings is read by somebody, in commands, analyses and the hub."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from fairseq.models.transformer import TransformerModel
from in_process import Fairseq
from toy_world import Toy

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.preflight.checkpoints import inspect_checkpoint
from dcmbr_fairseq.preflight.overrides import check_overrides, options_of_task

OURS = "translation_dcmbr"


def check(toy: Toy, **overrides: Any) -> None:
    check_overrides("--model-overrides", overrides, inspect_checkpoint(str(toy.checkpoint)), options_of_task(OURS))


@pytest.mark.parametrize(
    "overrides",
    [{"dropout": 0.3}, {"data": "x"}, {"source_lang": "en"}, {"encoder_layerdrop": 0.0}, {"bpe": "subword_nmt"},
     {"bpe_codes": "codes"}, {"sentencepiece_model": "m"}, {"moses_no_escape": True}, {"fp16": True}, {"beam": 3},
     {"label_smoothing": 0.1}, {"task": {"_name": OURS, "data": "x", "temp_hyp": 0.5}}, {"langs": ["a"]}, {}],
)  # fmt: skip
def test_what_somebody_reads_may_be_given(toy: Toy, overrides: dict[str, Any]) -> None:
    if "langs" in overrides:  # of another task
        with pytest.raises(UserError, match="has langs, which nothing reads"):
            check(toy, **overrides)
        assert "langs" in options_of_task("translation_multi_simple_epoch_dcmbr")
    else:
        check(toy, **overrides)


def test_every_setting_of_a_checkpoint_may_be_given(toy: Toy) -> None:
    cfg = torch.load(toy.checkpoint)["cfg"]
    sections = [section if isinstance(section, dict) else vars(section) for section in cfg.values() if section]
    names = {name for section in sections for name in section}
    assert len(names) > 200
    check(toy, **dict.fromkeys(names - {"task"}), model=None)


@pytest.mark.parametrize(
    "overrides, message",
    [
        ({"dropuot": 0.3}, r"has dropuot, which nothing reads: did you mean dropout\?"),
        ({"encoder_layer_drop": 0}, r"did you mean encoder_layerdrop\?"),
        ({"qqq": 1}, "has qqq, which nothing reads: leave it out"),
        ({"task": {"_name": OURS, "num_hypp": 3}}, r"num_hypp for the task, which .*: did you mean num_hyp\?"),
        ({"task": {"_name": OURS, "dropout": 0.3}}, "has dropout for the task, which does not read it"),
    ],
)  # fmt: skip
def test_what_nobody_reads_is_refused_with_the_nearest(toy: Toy, overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        check(toy, **overrides)


def test_commands_and_analyses_refuse_it(toy: Toy, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    given = ["--model-overrides", "{'dropuot': 0.3}"]
    flags = [str(toy.data_bin), "-s", "en", "-t", "de", "--gen-subset", "test", "--cpu", *given]
    with pytest.raises(UserError, match=r"--model-overrides has dropuot.*did you mean dropout"):
        Workspace(flags).load(str(toy.checkpoint))
    command = [toy.data_bin, "--path", toy.checkpoint, "--task", OURS, "--num-hyp", 2, "--decoding", "dcmbr", *given]
    with pytest.raises(UserError, match=r"--model-overrides has dropuot.*did you mean dropout"):
        Fairseq(monkeypatch, capsys).generate(*command)


def hub(toy: Toy, **given: Any) -> Any:
    return TransformerModel.from_pretrained(str(toy.folder), "model.pt", str(toy.data_bin), **given)


@pytest.mark.parametrize(
    "given, message",
    [
        (lambda ours: {"decoding": "dcmbr"}, "has decoding, but the checkpoint keeps the task of its training: give"),
        (lambda ours: {"task": OURS}, "has task='translation_dcmbr', but the checkpoint keeps the task"),
        (lambda ours: {"task": ours, "num_hypp": 3}, r"has num_hypp, which nothing reads: did you mean num_hyp\?"),
        (lambda ours: {"task": {**ours, "decodin": "dcmbr"}}, "has decodin for the task"),
        (lambda ours: {"task": ours, "source_lang": "de"}, "has source_lang='de', but its task has 'en': give it in"),
        (lambda ours: {"task": ours, "num_hyp": 3}, "has num_hyp=3, but its task has 50: give it in task="),
    ],
)  # fmt: skip
def test_the_hub_loses_nothing(toy: Toy, given: Callable[[dict[str, Any]], dict[str, Any]], message: str) -> None:
    with pytest.raises(UserError, match=f"^from_pretrained {message}"):
        hub(toy, **given({"_name": OURS, "data": str(toy.data_bin)}))


def test_the_hub_takes_what_the_readme_gives(toy: Toy) -> None:
    ours = {"_name": OURS, "data": str(toy.data_bin)}
    hub(toy, task=ours, tokenizer="moses", source_lang="en", target_lang="de")
    hub(toy)  # fairseq's own task


def test_the_hub_warns_of_another_direction(toy: Toy, tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    state = torch.load(toy.checkpoint)
    state["cfg"]["task"].update(source_lang="de", target_lang="en")  # as if trained so, with these dictionaries
    torch.save(state, tmp_path / "model.pt")
    ours = {"_name": OURS, "data": str(toy.data_bin), "source_lang": "en", "target_lang": "de"}
    TransformerModel.from_pretrained(str(tmp_path), "model.pt", str(toy.data_bin), task=ours)
    assert "model.pt was trained from de to en, and is asked to translate from en to de" in caplog.text
