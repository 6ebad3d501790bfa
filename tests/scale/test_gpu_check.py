"""The check of a GPU, on the CPU with tiny sizes: it runs to its end, and finds what is the same and what is not."""

import sys

import pytest
import torch
from fairseq_commands import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import decoding
import gpu

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def world():
    return decoding.random_world(40, 3, 6, gpu.tiny_architecture)


def test_all_of_it_runs_and_a_device_agrees_with_itself(world, monkeypatch):
    monkeypatch.setattr(gpu.World, "sample_pool", lambda self, n, t, most=6: SAMPLE(self, n, t, min(most, 6)))
    report = gpu.check(world, CPU, 8, tiny=True)
    assert report["left_out"] == [] and report["agreement, fp32"] == {"draws": "9 of 9", "sentences": "3 of 3"}
    for precision in ("fp16", "bf16"):
        assert report[f"agreement, {precision}"]["draws"].endswith(" of 9")
    for size in (2, 3):
        speeds = report[f"speed, tiny, N = {size}"]
        assert set(speeds) == {"ours", "fairseq_sampling", "fairseq_beam_5"}
        assert all(each["sentences_a_second"] > 0 for each in speeds.values())
    assert 0 < report["overlap, fp32"]["pools"]
    row = gpu.ledger_row(report)
    assert report["device"] in row and "fp32 9 of 9" in row and "N = 3" in row


SAMPLE = gpu.World.sample_pool


def test_where_draws_differ_the_difference_of_the_logits_is_told(world):
    """bfloat16 keeps three digits: with many draws some fall within what it rounds."""
    found = gpu.agreement(world, gpu.Place(CPU, "bf16"), 40)
    gaps = found["largest_difference_of_log_probs_at_first_other_draw"]
    assert 0 < gaps["median"] <= gaps["most"] < 0.5
    assert int(found["draws"].split()[0]) < 120


def test_what_there_is_no_time_for_is_named(world):
    report = gpu.check(world, CPU, 0.0, tiny=True)
    assert len(report["left_out"]) >= 6 and "speed, tiny, N = 2" in report["left_out"]
