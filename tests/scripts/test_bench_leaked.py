"""The bench of leaked probability: closed forms on the optimum of label smoothing (Lemma 1), and a table of the toy."""

import math
import sys
from pathlib import Path

import pytest
import torch
from fairseq_commands import REPOSITORY
from toy_world import Toy

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import leaked
from leaked import Way

from dcmbr_fairseq.lemma import equivalent_smoothing
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.measure.teacher_forcing import teacher_forced
from dcmbr_fairseq.present.tables import read_table

SMOOTHING, VOCABULARY = 0.1, 1000
EACH = SMOOTHING / (VOCABULARY - 1)


@pytest.mark.parametrize(
    "way, left",
    [
        (Way(1.0, "none"), SMOOTHING),
        (Way(0.5, "none"), equivalent_smoothing(SMOOTHING, 0.5, VOCABULARY)),
        (Way(1.0, "top-k 10"), 9 * EACH / (1 - SMOOTHING + 9 * EACH)),
        (Way(1.0, "top-k 5"), 4 * EACH / (1 - SMOOTHING + 4 * EACH)),
        (Way(1.0, "top-p 0.7"), 0.0),
        (Way(1.0, "epsilon 0.02"), 0.0),
        (Way(0.5, "epsilon 0.05"), 0.0),
    ],
)
def test_what_is_left_of_label_smoothing(way: Way, left: float) -> None:
    probs = torch.full((1, VOCABULARY), EACH, dtype=torch.float64)
    probs[0, 3] = 1 - SMOOTHING
    mass, entropy = leaked.of_tokens(way, probs.log(), probs < 0.001)
    assert mass.item() == pytest.approx(left, rel=1e-5)
    alive = {"none": VOCABULARY - 1, "top-k 10": 9, "top-k 5": 4}.get(way.truncation, 0)
    expected = -(1 - left) * math.log(1 - left) - (left * math.log(left / alive) if left else 0)
    assert entropy.item() == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_shares_of_sentences_are_those_of_the_references(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sentence by sentence, by the definition."""
    flags = [str(toy.data_bin), "-s", "en", "-t", "de", "--gen-subset", "test", "--cpu"]
    flags += ["--user-dir", str(REPOSITORY / "dcmbr_fairseq"), "--task", "translation_dcmbr"]
    output, rare = tmp_path / "leaked.tsv", 0.02
    line = ["leaked.py", str(output), "--path", str(toy.checkpoint), "--first", "5", "--rare", str(rare)]
    monkeypatch.setattr(sys, "argv", [*line, "--temperatures", "0.7", *flags])
    leaked.main()
    rows = {row["truncation"]: row for row in read_table(output)}
    assert set(rows) == set(leaked.TRUNCATIONS)

    workspace = Workspace(flags, 5)
    model = workspace.load(str(toy.checkpoint))
    masses, shares = [], []
    for batch in workspace.batches(model, decode=False):
        with torch.no_grad():
            log_probs = teacher_forced(model, batch).double()
        for sentence, target in zip(log_probs, batch["target"], strict=True):
            none = 1.0
            for position in range(int(target.ne(workspace.task.target_dictionary.pad()).sum())):
                at_one = sentence[position].exp()
                cooled = at_one ** (1 / 0.7)
                masses.append(float(cooled[at_one < rare].sum() / cooled.sum()))
                none *= 1 - masses[-1]
            shares.append(1 - none)
    assert len(shares) == 5 and max(masses) > 0
    assert float(rows["none"]["mass"]) == pytest.approx(sum(masses) / len(masses), rel=1e-4)
    assert float(rows["none"]["share"]) == pytest.approx(sum(shares) / len(shares), rel=1e-4)
    assert float(rows["top-k 5"]["mass"]) < float(rows["none"]["mass"])
