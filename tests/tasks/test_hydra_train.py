"""fairseq-hydra-train with ``common.user_dir``: the task, its repairs and its sentences, as in fairseq-train."""

import os
import pickle
import shutil
import signal
from pathlib import Path
from subprocess import CompletedProcess

import programs
import pytest
import torch
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_commands import PACKAGE, run
from toy_world import Toy

SIZE = {"layers": 1, "embed_dim": 8, "ffn_embed_dim": 8, "attention_heads": 2}
#: As docs/training.md says it: the groups that Hydra knows before the plugin is imported, and the names of ours.
SETTINGS = [
    f"common.user_dir={PACKAGE}", "common.cpu=true", "task=translation", "task._name=translation_dcmbr",
    "+model._name=transformer", *(f"+model.{s}_{k}={v}" for s in ("encoder", "decoder") for k, v in SIZE.items()),
    "criterion=cross_entropy", "criterion._name=generalized_entropy_regularization", "+criterion.ger_alpha=0.5",
    "+criterion.ger_beta=0.7", "optimizer=adam", "optimization.lr=[0.01]", "optimization.max_update=1",
    "dataset.num_workers=0", "dataset.max_tokens=800", "dataset.disable_validation=true",
    "checkpoint.no_epoch_checkpoints=true", "checkpoint.save_dir=saved", "hydra.run.dir=.",
]  # fmt: skip


@pytest.fixture
def folder(toy: Toy, tmp_path: Path) -> Path:
    """A folder with the toy's data as ``bin``, one dictionary for both languages, so that sizes fit either way."""
    shutil.copytree(toy.data_bin, tmp_path / "bin")
    shutil.copy(toy.data_bin / "dict.de.txt", tmp_path / "bin" / "dict.en.txt")
    return tmp_path


def hydra_train(folder: Path, *settings: str) -> "CompletedProcess[str]":
    """Run it there; with one update unless told otherwise."""
    line = [str(programs.venv() / "bin" / "fairseq-hydra-train"), f"task.data={folder}/bin", *SETTINGS, *settings]
    environment = {k: v for k, v in os.environ.items() if k not in ("HYDRA_FULL_ERROR", "DCMBR_TRACEBACK")}
    return run(line, check=False, cwd=folder, env=environment)


def test_it_trains_and_stores_the_direction_that_it_has_inferred(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    done = hydra_train(folder)
    # at its very end, when all is written, it aborts now and then, without this package too
    aborted = done.returncode == -signal.SIGABRT and "terminate called without an active exception" in done.stderr
    assert done.returncode == 0 or aborted, done.stderr
    stored = torch.load(folder / "saved" / "checkpoint_last.pt", weights_only=True)["cfg"]
    assert {name: stored["task"][name] for name in ("_name", "source_lang", "target_lang")} == {
        "_name": "translation_dcmbr", "source_lang": "en", "target_lang": "de"
    }  # fmt: skip
    assert stored["criterion"]["ger_beta"] == 0.7
    for direction, warned in ((("en", "de"), False), (("de", "en"), True)):
        set_up(folder, *direction)
        assert ("was trained from en to de, and is asked to translate from de to en" in caplog.text) == warned


def set_up(folder: Path, source: str, target: str) -> None:
    """The task of a decode, as far as before the model is loaded."""
    line = [str(folder / "bin"), "-s", source, "-t", target, "--task", "translation_dcmbr", "--user-dir", str(PACKAGE)]
    line += ["--path", str(folder / "saved" / "checkpoint_last.pt"), "--decoding", "dcmbr"]
    args = options.parse_args_and_arch(options.get_generation_parser(), line)
    tasks.setup_task(convert_namespace_to_omegaconf(args).task)


class Harmful:
    """A checkpoint that would run something when it is read."""

    def __reduce__(self) -> tuple:
        return os.mkdir, ("harmed",)


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (["task.data=nowhere"], "nowhere is not a folder: give the one that fairseq-preprocess has written"),
        (["common.seed=-1"], "--seed must be a whole number from 0 to 4294967295, got -1"),
        (["checkpoint.restore_file={folder}/harmful.pt"], "--restore-file {folder}/harmful.pt cannot be read as"),
    ],
)
def test_mistakes_are_one_sentence(folder: Path, settings: list[str], sentence: str) -> None:
    (folder / "harmful.pt").write_bytes(pickle.dumps({"model": Harmful()}))
    done = hydra_train(folder, *(text.format(folder=folder) for text in settings))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"dcmbr_fairseq: error: {sentence.format(folder=folder)}" in done.stderr.strip().split("\n")[-1]
    assert not (folder / "harmed").exists()
