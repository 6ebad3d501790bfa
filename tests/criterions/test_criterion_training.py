"""GER inside fairseq-train: two processes, accumulated batches, and the switch from a label-smoothing checkpoint."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq_commands import run_fairseq

import dcmbr_fairseq  # noqa: F401  (so that current torch reads the checkpoints)

GER = ("--criterion", "generalized_entropy_regularization", "--ger-alpha", 0.3, "--ger-beta", 0.2)
SIZE = ("embed-dim=32", "ffn-embed-dim=64", "layers=1", "attention-heads=2")


def train(toy, save_dir, *arguments, check=True):
    """Three updates of at least 16 sentences of the toy, without dropout, so that runs can be compared."""
    model = [f"--{side}-{option}" for side in ("encoder", "decoder") for option in SIZE]
    return run_fairseq(
        "train", toy.data_bin, "--task", "translation_dcmbr", "--arch", "transformer", *model, "--dropout", 0,
        "--optimizer", "adam", "--lr", 0.001, "--max-sentences", 8, "--max-update", 3, "--num-workers", 0,
        "--no-epoch-checkpoints", "--log-format", "json", "--log-interval", 1, "--save-dir", save_dir, *arguments,
        check=check,
    )  # fmt: skip


def logged(result, key):
    """The values of ``key`` in the JSON lines of a training log."""
    lines = (result.stdout + result.stderr).splitlines()
    rows = [json.loads(line[line.index("{") :]) for line in lines if '"num_updates"' in line or '_num_updates"' in line]
    return [float(row[key]) for row in rows if key in row]


def weights(save_dir):
    state = checkpoint_utils.load_checkpoint_to_cpu(str(save_dir / "checkpoint_last.pt"))["model"]
    return torch.cat([tensor.flatten() for tensor in state.values() if tensor.is_floating_point()])


@pytest.fixture(scope="module")
def smoothed(toy, tmp_path_factory):
    """A checkpoint that label smoothing has trained, with the state of its optimizer."""
    folder = tmp_path_factory.mktemp("smoothed")
    smoothing = ("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.1)
    done = train(toy, folder, *smoothing, "--finetune-from-model", toy.checkpoint)
    (entropy,) = logged(done, "valid_token_entropy")  # the task reports it for a criterion that knows nothing of it
    assert 0 < entropy < 6  # bits, of about 40 words
    return folder / "checkpoint_last.pt"


def test_two_processes_are_one_with_twice_the_batch(toy, smoothed, tmp_path):
    one = train(toy, tmp_path / "one", *GER, "--finetune-from-model", smoothed, "--update-freq", 2)
    distributed = [
        "--distributed-world-size", 2, "--distributed-backend", "gloo", "--ddp-backend", "legacy_ddp",
        "--distributed-no-spawn", "--distributed-init-method", f"file://{tmp_path / 'meeting'}",
    ]  # fmt: skip

    def process(rank):
        ours = ("--finetune-from-model", smoothed, "--distributed-rank", rank)
        return train(toy, tmp_path / "two", *GER, *distributed, *ours)

    with ThreadPoolExecutor(2) as pool:
        two, _ = pool.map(process, range(2))  # the first rank writes the log
    torch.testing.assert_close(weights(tmp_path / "two"), weights(tmp_path / "one"), rtol=0, atol=1e-6)
    assert (weights(tmp_path / "one") - weights(smoothed.parent)).abs().max() > 1e-3  # it did learn
    for prefix in ("train", "valid"):
        for name in ("loss", "nll_loss", "regularizer", "token_entropy", "ppl"):
            key = f"{prefix}_{name}"
            assert logged(two, key) == pytest.approx(logged(one, key), abs=2e-3) and len(logged(one, key)) == 1


def test_the_criterion_changes_with_reset_optimizer(toy, smoothed, tmp_path):
    done = train(toy, tmp_path / "switched", *GER, "--restore-file", smoothed, "--reset-optimizer")
    assert len(logged(done, "regularizer")) == 3
    assert logged(done, "nll_loss")[0] < 1 < logged(done, "regularizer")[0]  # bits: it starts where the other ended


def test_an_impossible_alpha_ends_training_with_one_sentence(toy, tmp_path):
    done = train(toy, tmp_path, "--criterion", "generalized_entropy_regularization", "--ger-alpha", 1.5, check=False)
    assert done.returncode != 0
    assert (
        done.stderr.rstrip()
        .splitlines()[-1]
        .endswith("--ger-alpha must be in [0, 1], got 1.5: 0 is confidence penalty, 1 label smoothing")
    )
    assert "Traceback" not in done.stderr
