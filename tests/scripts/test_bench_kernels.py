"""The benchmark of the kernels: what it reports, on a small comparison."""

import sys

import pytest
from fairseq_commands import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import kernels

from dcmbr_fairseq.utilities import Comparison


@pytest.mark.parametrize("name", ["chrf", "bleu"])
def test_medians_ratios_and_differences_are_reported(name):
    (pool,) = kernels.distinct_pools(None, 1)
    report = kernels.compared(kernels.implementations(name), [Comparison(pool[:4], pool[2:8])], runs=3)
    assert report["largest_difference_from_sacrebleu"] < 1e-10
    for ours in ("ours", "ours_new"):
        assert report[ours]["clock"] > 0
        ratio = report["sacrebleu"]["clock"] / report[ours]["clock"]
        assert report[f"{ours}_times_faster_than_sacrebleu"]["clock"] == pytest.approx(ratio, rel=0.1)


def test_text_comes_from_a_file_or_is_made_up(tmp_path):
    made_up = kernels.long_sentences(None, 3)
    assert made_up == kernels.long_sentences(None, 3) and len(set(made_up)) == 3
    assert all(28 <= len(sentence.split()) <= 34 for sentence in made_up)
    lines = ["too short", " ".join("abc" * 10), " ".join("xyz" * 10), " ".join("abc" * 10)]
    (tmp_path / "text").write_text("\n".join(lines))
    assert kernels.long_sentences(tmp_path / "text", 2) == lines[1:3]
    with pytest.raises(SystemExit, match="has 2 sentences of 28 to 34 words, not 3"):
        kernels.long_sentences(tmp_path / "text", 3)
    (tmp_path / "pools.jsonl").write_text('{"hypotheses": ["a", "b", "a"]}\n{"hypotheses": ["c"]}\n')
    assert kernels.distinct_pools(tmp_path / "pools.jsonl", 1) == [["a", "b"]]
