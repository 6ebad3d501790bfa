"""``dcmbr temperature --tune``: the best cell, and its flags given to fairseq-generate."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from analyses import read_tsv, toy_flags
from fairseq_commands import generated

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.measure.cells import STATISTICS
from dcmbr_fairseq.measure.grid import Plan, Sizes
from dcmbr_fairseq.measure.tuning import Cell, decoding_flags, surface_grid, surface_of, verdict
from dcmbr_fairseq.present.tables import as_text


def rows_of(scores: dict[tuple[float, float], list[list[float]]], metric: str = "chrF") -> list[dict[str, Any]]:
    """Rows of a sweep: for each pair of temperatures the sentences' scores under each seed."""
    return [
        {"temp_hyp": hyp, "temp_ref": ref, "seed": seed, "metric": metric, "score": float(np.mean(parts)),
         STATISTICS: [[part, 1.0] for part in parts]}
        for (hyp, ref), seeds in scores.items() for seed, parts in enumerate(seeds)
    ]  # fmt: skip


def mean(sums: np.ndarray) -> np.ndarray:
    return sums[:, 0] / sums[:, 1]


SCORES = {"chrF": mean, "TER": mean}
SURFACE = {
    (0.5, 0.5): [[50.0, 52.0] * 8, [58.0, 56.0] * 8], (0.5, 1.0): [[52.0, 54.0] * 8],
    (1.0, 0.5): [[40.0, 40.0] * 8], (1.0, 1.0): [[40.0, 42.0] * 8],
}  # fmt: skip


def test_seeds_are_averaged_and_the_best_is_chosen() -> None:
    surface = surface_of(rows_of(SURFACE), SCORES)
    assert [cell[:3] for cell in surface.cells] == [(0.5, 0.5, 54), (0.5, 1.0, 53), (1.0, 0.5, 40), (1.0, 1.0, 41)]
    assert surface.best[:3] == (0.5, 0.5, 54.0)
    assert surface_of(rows_of(SURFACE, "TER"), SCORES).best[:3] == (1.0, 0.5, 40.0)  # an error rate


def test_of_equal_cells_the_first_is_chosen() -> None:
    surface = surface_of(rows_of({(0.3, 0.5): [[1.0, 1.0]], (0.5, 0.5): [[1.0, 1.0]]}), SCORES)
    assert surface.best[:3] == (0.3, 0.5, 1.0) and [cell[:2] for cell in surface.close] == [(0.5, 0.5)]


def test_the_surface_is_shown_with_its_best_cell_marked() -> None:
    text = as_text(surface_grid(surface_of(rows_of(SURFACE), SCORES)))
    head, _, first, second = text.splitlines()
    assert head.split() == ["chrF:", "T_h", "\\", "T_r", "0.5", "1"]
    assert first.split() == ["0.5", "54.00*", "53.00"] and second.split() == ["1", "40.00", "41.00"]


def test_what_cannot_be_told_from_the_best_is_named() -> None:
    dice = np.random.default_rng(3)
    sentences = dice.normal(50, 10, 40)  # the same for all cells: pairing takes their spread away
    scores = {
        (0.5, 0.5): [(sentences + dice.normal(1.0, 1, 40)).tolist() for _ in range(3)],
        (0.5, 0.7): [(sentences + dice.normal(0.8, 1, 40)).tolist() for _ in range(3)],
        (1.0, 1.0): [(sentences + dice.normal(-2.0, 1, 40)).tolist() for _ in range(3)],
    }
    surface = surface_of(rows_of(scores), SCORES)
    assert {cell[:2] for cell in (surface.best, *surface.close)} == {(0.5, 0.5), (0.5, 0.7)}
    lines = verdict(surface)
    mean = np.mean(scores[surface.best[:2]], axis=0)
    assert surface.error == pytest.approx(np.std(mean, ddof=1) / np.sqrt(40))
    assert surface.seed_error == pytest.approx(np.std(np.mean(scores[surface.best[:2]], axis=1), ddof=1) / np.sqrt(3))
    assert f"standard error: {surface.error:.2f} over sentences and their draws, {surface.seed_error:.2f}" in lines[1]
    assert lines[2].startswith("(T_h, T_r) that cannot be told from it: (0.5, 0.")
    shown = as_text(surface_grid(surface))
    assert shown.count("~") == 1 and shown.count("*") == 1


def test_flags_keep_the_utility_s_arguments_in_one_word() -> None:
    plan = Plan([Sizes(10, 20)], [(0.5, 1.0)], ["chrf"], utility_args={"chrf": {"beta": 1, "word_order": 2}})
    words = decoding_flags(Cell(0.5, 1.0, 54.0), plan)
    assert words[words.index("--utility-args") + 1] == '{"beta":1,"word_order":2}'
    assert words[words.index("--num-ref") + 1] == "20" and words[words.index("--temp-ref") + 1] == "1"


def test_fairseq_generate_with_the_flags_scores_what_was_promised(
    toy: Any, tmp_path: Path, fairseq: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    best, surface = tmp_path / "best.flags", tmp_path / "surface.tsv"
    grid = ["--temp-hyp", "0.4,1.5", "--temp-ref", "0.7", "--num-hyp", "4", "--metric", "chrf"]
    arguments = ["--path", str(toy.checkpoint), *grid, "--output", str(best), "--surface", str(surface)]
    assert main(["temperature", "--tune", *toy_flags(toy, "valid"), *arguments]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split()[-1] == "0.7"
    (found,) = (line for line in shown if line.startswith("best: "))
    assert found.startswith("best: T_h = 0.4, T_r = 0.7, chrF ")
    pools = "N = 4; T_h = 0.4, 1.5; T_r = 0.7; reference pools: separate; draws: arithmetic"
    assert {"test set: data-bin-en-de, valid, 40 sentences", "seed: 1", pools} <= set(shown)
    assert sum(line.startswith(("decided by: chrF", "judged by: chrF")) for line in shown) == 2
    done = fairseq("generate", *toy_flags(toy, "valid"), "--path", toy.checkpoint, *best.read_text().split())
    translations = [text for _, text in sorted(generated(done.stdout))]
    score = sacrebleu.corpus_chrf(translations, [toy.lines("de", "valid")]).score
    rows = read_tsv(surface)
    assert {row["ref_pool"] for row in rows} == {"separate"} and STATISTICS not in rows[0]
    scores = {float(row["temp_hyp"]): float(row["score"]) for row in rows}
    assert scores[0.4] == pytest.approx(score, abs=1e-6) and scores[0.4] > scores[1.5]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--tune", "DATA"], "--tune needs the model as --path MODEL, once"),
        (["--tune", "DATA", "--path", "a.pt", "--path", "b.pt"], "--tune needs the model as --path MODEL, once"),
        (["--tune", "DATA", "--path", "MODEL", "--num-hyp", "5,10"], "--tune takes one pool size, got --num-hyp 5,10"),
        (["--from-ls", "0.1", "--to-ls", "0.01", "--path", "MODEL"], "with --tune only"),
        (["--from-ls", "0.1", "--to-ls", "0.01", "--gen-subset", "x"], "with --tune only"),
    ],
)
def test_bad_input(toy: Any, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(toy.checkpoint) if word == "MODEL" else word for word in arguments]
    index = given.index("DATA") if "DATA" in given else None
    if index is not None:
        given[index : index + 1] = toy_flags(toy, "valid")
    assert main(["temperature", *given]) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]
