"""configs/: both training commands read them, agree on what they say, and train from every one of them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import programs
import pytest
from fairseq_commands import REPOSITORY, run_fairseq
from toy_world import Toy

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.training.flags import CHOICES, compose, to_flags

CONFIGS = REPOSITORY / "configs"
GER = ["recipe=ger_finetuning", "criterion.ger_alpha=0.3", "criterion.ger_beta=0.2"]


class Case(NamedTuple):
    """A config with what its head tells to give, and what the trained model must then have been trained with."""

    config: str
    languages: tuple[str, str]
    overrides: list[str]
    criterion: dict[str, Any]


CASES = {
    "wmt20-en-de": Case("wmt20/en-de", ("en", "de"), ["criterion.label_smoothing=0.2"], {"label_smoothing": 0.2}),
    "wmt20-de-en": Case("wmt20/de-en", ("de", "en"), ["criterion.label_smoothing=0.0"], {"label_smoothing": 0.0}),
    "wmt16-en-ro": Case("wmt16/en-ro", ("en", "ro"), [], {"label_smoothing": 0.1}),
    "multi30k": Case("multi30k/small", ("en", "de"), ["criterion.label_smoothing=0.3"], {"label_smoothing": 0.3}),
    "wmt20-en-de-ger": Case("wmt20/en-de", ("en", "de"), GER, {"ger_alpha": 0.3, "ger_beta": 0.2}),
    "wmt16-en-ro-ger": Case("wmt16/en-ro", ("en", "ro"), GER, {"ger_alpha": 0.3, "ger_beta": 0.2}),
}
BASE_OF = {"wmt20-en-de-ger": "wmt20-en-de", "wmt16-en-ro-ger": "wmt16-en-ro"}

#: what makes a run small enough for a test: one layer of 16 dimensions, three updates, on the CPU
TINY = [
    *[f"model.{side}_{key}" for side in ("encoder", "decoder") for key in
      ("layers=1", "embed_dim=16", "ffn_embed_dim=16", "attention_heads=2")],
    "dataset.max_tokens=200", "dataset.num_workers=0", "dataset.max_valid_steps=1", "optimization.max_update=3",
    "common.cpu=true", "common.fp16=false",
]  # fmt: skip


def overrides(name: str, data: Path, runs: Path) -> list[str]:
    """All overrides of a tiny run of a case, which leaves its checkpoint in runs/NAME."""
    case = CASES[name]
    language = "ro" if "ro" in case.languages else "de"
    base = [f"checkpoint.finetune_from_model={runs / BASE_OF[name] / 'checkpoint_last.pt'}"] if name in BASE_OF else []
    places = [f"task.data={data / language}", f"checkpoint.save_dir={runs / name}", *base]
    return [*places, *case.overrides, *TINY]


@pytest.fixture(scope="module")
def data(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders de and ro: the toy world binarised with one dictionary, as en-de and under the name of en-ro."""
    folder = tmp_path_factory.mktemp("data")
    prefixes = [f"--{split}pref={toy.folder / 'text' / split}" for split in ("train", "valid", "test")]
    run_fairseq("preprocess", "-s", "en", "-t", "de", "--joined-dictionary", *prefixes, "--destdir", folder / "de")
    (folder / "ro").mkdir()
    for path in (folder / "de").iterdir():
        shutil.copy(path, folder / "ro" / path.name.replace("en-de", "en-ro").replace(".de.", ".ro."))
    return folder


RUN_ALL = """
import json, sys
from importlib import import_module
command = import_module("fairseq_cli." + sys.argv[1])
for arguments in json.load(sys.stdin):
    sys.argv = ["fairseq-train", *arguments]
    command.cli_main()
"""


def train_all(command: str, arguments: list[list[str]]) -> None:
    """Run a training command several times in one process, from the top of the repository as the configs ask."""
    line = [sys.executable, "-c", RUN_ALL, command]
    done = subprocess.run(
        line, cwd=REPOSITORY, input=json.dumps(arguments), capture_output=True, text=True, timeout=900
    )  # six runs: patience on a busy machine
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="module")
def hydra_runs(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what fairseq-hydra-train made of each case."""
    runs = tmp_path_factory.mktemp("hydra")

    def arguments(name: str) -> list[str]:
        folder, config = CASES[name].config.split("/")
        given = [word if word.split("=")[0] == "recipe" else f"++{word}" for word in overrides(name, data, runs)]
        return ["--config-dir", f"configs/{folder}", "--config-name", config, *given]

    train_all("hydra_train", [arguments(name) for name in CASES])
    return runs


@pytest.fixture(scope="module")
def flag_runs(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what fairseq-train made of each case's flags."""
    runs = tmp_path_factory.mktemp("flags")
    train_all("train", [flags_of(name, data, runs) for name in CASES])
    return runs


def flags_of(name: str, data: Path, runs: Path) -> list[str]:
    """What ``dcmbr flags`` prints for a tiny run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        return to_flags(compose(str(CONFIGS / CASES[name].config), overrides(name, data, runs)))


def trained(checkpoint: Path) -> tuple[dict[str, Any], int]:
    """The configuration in a checkpoint as nested dictionaries, and its number of updates."""
    import torch
    from fairseq import checkpoint_utils
    from omegaconf import OmegaConf

    state = checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint))
    assert all(torch.isfinite(value).all() for value in state["model"].values())
    config = state["cfg"]
    as_dict = OmegaConf.to_container(config) if OmegaConf.is_config(config) else config
    as_dict = {key: vars(value) if hasattr(value, "__dict__") else value for key, value in as_dict.items()}
    return as_dict, state["optimizer_history"][-1]["num_updates"]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("command", ["hydra_runs", "flag_runs"])
def test_trains_what_the_config_says(command: str, name: str, request: pytest.FixtureRequest) -> None:
    runs: Path = request.getfixturevalue(command)
    case = CASES[name]
    config, updates = trained(runs / name / "checkpoint_last.pt")
    assert updates == 3
    assert (config["task"]["source_lang"], config["task"]["target_lang"]) == case.languages
    for key, value in case.criterion.items():
        assert config["criterion"][key] == pytest.approx(value)
    assert config["common"]["seed"] == 1


def test_both_commands_train_the_same_model(hydra_runs: Path, flag_runs: Path) -> None:
    """Same seed, same data: the flags leave nothing of the config out that the result depends on."""
    import torch

    for name in CASES:
        models = [
            torch.load(runs / name / "checkpoint_last.pt", weights_only=False)["model"]
            for runs in (hydra_runs, flag_runs)
        ]
        assert models[0].keys() == models[1].keys()
        for key, value in models[0].items():
            assert torch.equal(value, models[1][key]), (name, key)


def leaves(config: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(section, key, value) of everything a config sets."""
    for section, values in config.items():
        for key, value in values.items():
            yield section, key, value


@pytest.mark.parametrize("name", CASES)
def test_flags_say_what_the_config_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsed by fairseq's own parser, the flags give each value that the YAML file sets."""
    from fairseq import options

    monkeypatch.chdir(REPOSITORY)
    case = CASES[name]
    given = [f"task.data={tmp_path}", f"checkpoint.save_dir={tmp_path}", *case.overrides]
    config = compose(f"configs/{case.config}", given)
    parser = options.get_training_parser()
    words = to_flags(config)
    args = options.parse_args_and_arch(parser, input_args=words)
    for section, key, value in leaves(config):
        parsed = getattr(args, CHOICES[section].strip("-").replace("-", "_") if key == "_name" else key)
        assert parsed == value or (not value and not parsed) or str(parsed) == str(value), (section, key)


def test_batches_are_the_papers() -> None:
    """32k tokens for En-De and De-En, 16k for En-Ro: tokens x GPUs x update_freq, as in the config's head."""
    for config, gpus, total in (("wmt20/en-de", 8, 32768), ("wmt20/de-en", 8, 32768), ("wmt16/en-ro", 4, 16384)):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(REPOSITORY)
            values = compose(f"configs/{config}", ["task.data=x", "checkpoint.save_dir=x"])
        assert values["dataset"]["max_tokens"] * gpus * values["optimization"]["update_freq"][0] == total
        assert values["optimization"]["max_update"] == 300_000
        assert f"x {gpus} GPUs" in (CONFIGS / f"{config}.yaml").read_text("utf-8")


def test_each_config_says_what_it_is_for() -> None:
    for path in [*CONFIGS.glob("wmt*/*.yaml"), *CONFIGS.glob("multi30k/*.yaml")]:
        head = path.read_text("utf-8").split("hydra:")[0]
        for word in ("# Needs", "# Run", "# Expect", "# Batch", "fairseq-hydra-train", "scripts/"):
            assert word in head, (path, word)


@pytest.mark.parametrize(
    ("config", "given", "says"),
    [
        ("configs/wmt20/fr-en", [], "is not a config"),
        ("configs/wmt20/en-de", ["task.data=x"], "checkpoint.save_dir=VALUE"),
        ("configs/wmt20/en-de", ["recipe=none"], "ger_finetuning"),
        ("configs/wmt20/en-de", ["criterion.label_smoothing"], "EQUAL"),
    ],
)
def test_bad_configs_are_refused(config: str, given: list[str], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    with pytest.raises(UserError, match=says):
        compose(config, given)


def test_nested_values_have_no_flag() -> None:
    with pytest.raises(UserError, match="model.encoder is nested"):
        to_flags({"model": {"_name": "transformer", "encoder": {"layers": 3}}})


def test_flags_of_each_kind_of_value() -> None:
    sections = {
        "task": {"_name": "translation", "data": "bin", "source_lang": None},
        "optimization": {"lr": [0.1, 0.2], "clip_norm": 0.0},
        "common": {"cpu": True, "fp16": False},
    }
    assert to_flags(sections) == ["bin", "--task", "translation", "--lr", "0.1,0.2", "--clip-norm", "0.0", "--cpu"]


def test_train_script_prints_its_command(data: Path, tmp_path: Path) -> None:
    line = [
        "bash",
        "scripts/train.sh",
        "--print-flags",
        "multi30k/small",
        str(data / "de"),
        str(tmp_path / "run"),
        "optimization.lr=[0.002]",
    ]
    environment = {"PATH": "/usr/bin:/bin", "VENV": str(programs.REAL), "DCMBR_USE_VENV_AS_IS": "1"}
    printed = subprocess.run(line, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True).stdout
    assert printed.startswith(f"fairseq-train {data / 'de'} ")
    assert "--lr 0.002" in printed
    assert "--label-smoothing 0.1" in printed
    assert not (tmp_path / "run").exists()


def test_two_processes_train_the_model_of_one_with_twice_the_batch(data: Path, tmp_path: Path) -> None:
    """The launch line of docs/training.md for several machines, with scripts/train.sh and gloo on one."""
    import torch

    environment = {**os.environ, "VENV": str(programs.venv()), "DCMBR_USE_VENV_AS_IS": "1"}
    same = [*TINY, "model.dropout=0.0", "dataset.batch_size=8", "dataset.max_tokens=2000"]
    meeting = f"distributed_init_method=file://{tmp_path / 'meeting'}"
    gloo = ["distributed_backend=gloo", "ddp_backend=legacy_ddp", "distributed_no_spawn=true", meeting]
    ranks = [["distributed_world_size=2", f"distributed_rank={rank}", *gloo] for rank in (0, 1)]

    def start(name: str, *given: str) -> "subprocess.Popen[str]":
        line = ["bash", "scripts/train.sh", "multi30k/small", str(data / "de"), str(tmp_path / name), *same, *given]
        return subprocess.Popen(line, cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE, text=True)

    two = [start("two", *[f"distributed_training.{key}" for key in keys]) for keys in ranks]
    for process in [*two, start("one", "optimization.update_freq=[2]")]:
        errors = process.communicate(timeout=900)[1]
        assert process.returncode == 0, errors[-4000:]
    weights = [
        torch.load(tmp_path / name / "checkpoint_last.pt", weights_only=False)["model"] for name in ("one", "two")
    ]
    for key, value in weights[0].items():
        torch.testing.assert_close(value, weights[1][key], rtol=0, atol=1e-5)
