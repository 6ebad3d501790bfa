"""``dcmbr entropy``: against fairseq-validate, against the plain formula at other temperatures; and matching."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from analyses import toy_flags
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.logging import metrics

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.entropy import GRID, match_temperature, mean_token_entropies
from dcmbr_fairseq.measure.models import Workspace


@pytest.fixture(scope="module")
def workspace(toy: Any) -> Workspace:
    return Workspace(toy_flags(toy, "valid"))


@pytest.fixture(scope="module")
def model(toy: Any, workspace: Workspace) -> Any:
    return workspace.load(str(toy.checkpoint))


@pytest.fixture(scope="module")
def ensemble(toy: Any, workspace: Workspace) -> Any:
    return workspace.load(f"{toy.checkpoint}:{toy.other}")


def plainly(workspace: Workspace, model: Any, temperature: float) -> float:
    """The mean entropy a sentence and a token at a time, in float64."""
    entropies = []
    dataset = workspace.task.dataset("valid")
    for i in range(len(dataset)):
        sample = dataset.collater([dataset[i]])
        with torch.no_grad():
            members = [m.get_normalized_probs(m(**sample["net_input"]), log_probs=False) for m in model.members]
        p = (sum(members)[0] / len(members)).double().numpy() ** (1 / temperature)  # (T, V)
        p /= p.sum(axis=1, keepdims=True)
        entropies += [-sum(x * math.log(x) for x in row if x > 0) for row in p]
    return float(np.mean(entropies))


@pytest.mark.parametrize("kind", ["model", "ensemble"])
def test_the_plain_formula(workspace: Workspace, kind: str, request: pytest.FixtureRequest) -> None:
    chosen = request.getfixturevalue(kind)
    temperatures = [0.3, 0.5, 1.0, 2.0]
    for found in mean_token_entropies(workspace, chosen, temperatures):
        assert found.nats == pytest.approx(plainly(workspace, chosen, found.temperature), rel=1e-5)
        assert found.bits == pytest.approx(found.nats / math.log(2))


def test_at_temperature_1_it_is_the_entropy_of_validation(toy: Any) -> None:
    workspace = Workspace([*toy_flags(toy, "valid"), "--task", "translation_dcmbr"])
    model = workspace.load(str(toy.checkpoint))
    criterion = LabelSmoothedCrossEntropyCriterion(workspace.task, False, label_smoothing=0.1)
    with metrics.aggregate(new_root=True) as logged:
        for sample in workspace.batches(model, decode=False):
            *_, log = workspace.task.valid_step(sample, model.members[0], criterion)
            workspace.task.reduce_metrics([log], criterion)
    (found,) = mean_token_entropies(workspace, model, [1.0])
    assert found.bits == pytest.approx(float(logged["token_entropy"].avg), rel=1e-6)
    assert found.tokens == logged["token_entropy"].count


def test_a_match_is_found_and_has_the_entropy(workspace: Workspace, model: Any, ensemble: Any) -> None:
    (wanted,) = mean_token_entropies(workspace, ensemble, [1.0])
    found = match_temperature(workspace, model, wanted.nats)
    assert found.nats == pytest.approx(wanted.nats, rel=1e-3)
    (again,) = mean_token_entropies(workspace, model, [found.temperature])
    assert again.nats == pytest.approx(found.nats, rel=1e-9)


@pytest.mark.parametrize("temperature", [0.37, GRID[3], 1.0, 5.0])
def test_matching_inverts(workspace: Workspace, model: Any, temperature: float) -> None:
    (wanted,) = mean_token_entropies(workspace, model, [temperature])
    assert match_temperature(workspace, model, wanted.nats).temperature == pytest.approx(temperature, rel=1e-3)


def test_what_cannot_be_matched(workspace: Workspace, model: Any) -> None:
    with pytest.raises(UserError, match="--match 50: the token entropy of model can be .* give a value between"):
        match_temperature(workspace, model, 50.0)


def test_the_command(toy: Any, workspace: Workspace, model: Any, tmp_path: Path) -> None:
    output = tmp_path / "entropy.jsonl"
    arguments = ["--path", str(toy.checkpoint), "--path", f"{toy.checkpoint}:{toy.other}", "--names", "one,two"]
    arguments += ["--temperatures", "1,0.5", "--output", str(output)]
    assert main(["entropy", *toy_flags(toy, "valid"), *arguments]) == 0
    rows: list[dict[str, Any]] = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(row["model"], row["temperature"]) for row in rows] == [
        ("one", 1.0), ("one", 0.5), ("two", 1.0), ("two", 0.5),
    ]  # fmt: skip
    assert all(row["label_smoothing"] == 0.1 for row in rows)
    expected = [found.nats for found in mean_token_entropies(workspace, model, [1.0, 0.5])]
    assert [row["entropy"] for row in rows[:2]] == pytest.approx(expected, abs=1e-6)


def test_first_sentences_only(toy: Any) -> None:
    some = Workspace(toy_flags(toy, "valid"), first=7)
    model = some.load(str(toy.checkpoint))
    dataset = some.task.dataset("valid")
    (found,) = mean_token_entropies(some, model, [1.0])
    assert found.tokens == sum(len(dataset[i]["target"]) for i in range(7))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--temperatures", "0"], "--temperatures must be numbers above 0"),
        (["--temperatures", "1,x"], "--temperatures must be numbers above 0"),
        (["--match", "-1"], "--match must be an entropy above 0 in nats"),
        (["--match", "no/such.pt"], "no/such.pt is not a file"),
        (["--match", "1", "--temperatures", "2"], "leave out --temperatures"),
        (["--first", "0"], "--first must be a whole number from 1 to 10000000"),
        (["--gen-subset", "nix"], "has no subset nix of en-de"),
        (["--temperature", "0.5"], "--temperature 0.5 has no meaning here"),
        (["--no-such-flag"], "--no-such-flag"),
    ],
)
def test_bad_input(toy: Any, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["entropy", *toy_flags(toy, "valid"), "--path", str(toy.checkpoint), *arguments]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("dcmbr entropy: error: ") and message in error


def test_sentences_that_are_too_long_are_named(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*toy_flags(toy, "valid"), "--path", str(toy.checkpoint), "--max-source-positions"]
    assert main(["entropy", *arguments, "7"]) == 1
    assert "sentences are longer than the model's (7, 1024) tokens" in capsys.readouterr().err
    assert main(["entropy", *arguments, "7", "--skip-invalid-size-inputs-valid-test"]) == 0
    assert main(["entropy", *arguments, "6", "--skip-invalid-size-inputs-valid-test"]) == 1
    assert "40 sentences are longer" in capsys.readouterr().err


def test_flags_of_fairseq_are_refused_where_none_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["select", "--gen-subset", "test"])
    assert end.value.code == 2 and "unrecognized arguments: --gen-subset" in capsys.readouterr().err
