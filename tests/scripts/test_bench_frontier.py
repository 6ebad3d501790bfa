"""The bench of quality against cost: its scores are those of a sweep, its rows those that decoders forward."""

import logging
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from fairseq.models.transformer import tiny_architecture
from fairseq_commands import REPOSITORY
from toy_world import Toy

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import frontier
from decoding import random_world
from whole import Pool, whole_decodes

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.present.results import read_results

FIRST = 6
ARITHMETIC = "DC-MBR, arithmetic draws"


def scores(table: Path, *where: str) -> dict[tuple[str, ...], str]:
    """The score of each N, seed and metric."""
    return {(r["num_hyp"], r["seed"], r["metric"]): r["score"] for r in read_results([table], where)}


def flags(toy: Toy) -> list[str]:
    """What both commands are given of data and task."""
    text = ["--user-dir", str(REPOSITORY / "dcmbr_fairseq"), "--task", "translation_dcmbr", "--tokenizer", "moses"]
    return [str(toy.data_bin), "-s", "en", "-t", "de", "--gen-subset", "test", *text]


@pytest.fixture(scope="module")
def table(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All systems, the distilled model being another one."""
    output = tmp_path_factory.mktemp("frontier") / "cost.tsv"
    chosen = Namespace(
        output=output, path=str(toy.checkpoint), distilled=str(toy.other), name="toy", test_set="tests", first=FIRST,
        temperatures=(0.5, 0.3), beams=(1, 3), num_hyp=(4, 9), fairseq_to=4, saving_from=9, seeds=(1, 2),
        metrics="chrf,bleu", metric_args={},
    )  # fmt: skip
    frontier.measure(chosen, [*flags(toy), "--cpu"])
    return output


def test_scores_are_those_of_a_sweep(toy: Toy, table: Path, tmp_path: Path) -> None:
    systems = {
        "independent": {("mbr", "1"): "MBR", ("dcmbr", "0.5"): "DC-MBR"},
        "arithmetic": {("dcmbr", "0.5"): ARITHMETIC, ("dcmbr", "0.3"): f"{ARITHMETIC}, T = 0.3"},
    }
    for draws, names in systems.items():
        swept = tmp_path / f"{draws}.tsv"
        arguments = ["--path", str(toy.checkpoint), "--first", str(FIRST), "--num-hyp", "4,9", "--seeds", "1,2"]
        arguments += ["--temp-hyp", "0.3,0.5,1", "--draws", draws, "--metrics", "chrf,bleu"]
        assert main(["sweep", *flags(toy), *arguments, "--with-beam", "--beam", "3", "--output", str(swept)]) == 0
        for (decoding, temperature), name in names.items():
            found = scores(table, f"system={name}")
            assert found == scores(swept, f"decoding={decoding}", f"temp_hyp={temperature}") and len(found) == 8
        beam = {r["metric"]: r["score"] for r in read_results([swept], ["decoding=beam"])}
        ours = read_results([table], ["system=beam search", "num_hyp=3"])
        assert all(row["score"] == beam[row["metric"]] for row in ours) and len(ours) == 4


def test_rows_and_seconds(table: Path) -> None:
    rows = {(row["system"], row["num_hyp"], row["seed"]): row for row in read_results([table], ["metric=chrF"])}
    counted = {key: float(row["rows"]) for key, row in rows.items()}
    assert all(float(row["seconds"]) > 0 for row in rows.values())
    assert {key[0] for key in rows} >= {"beam search, distilled", "DC-MBR, coarse selection", "DC-MBR, pruning"}
    for seed in ("1", "2"):
        assert counted["beam search", "1", seed] < counted["beam search", "3", seed]
        assert counted["DC-MBR", "4", seed] < counted["fairseq's samples, cooled", "4", seed]  # prefixes are shared
        assert counted["DC-MBR", "9", seed] == counted["DC-MBR, pruning", "9", seed]
        for cooled in ("DC-MBR", ARITHMETIC, f"{ARITHMETIC}, T = 0.3"):
            assert counted[cooled, "9", seed] < counted["MBR", "9", seed]  # fewer distinct texts


def test_whole_decodes_say_how_much_work_they_are() -> None:
    pools = [Pool("independent", 6, 0.7), Pool("arithmetic", 3, 0.3)]
    report = whole_decodes(random_world(30, 2, 4, tiny_architecture), 1, 1, pools, max_len=4)
    assert list(report) == ["beam", "independent 6, T = 0.7", "arithmetic 3, T = 0.3"]
    assert 0 < report["arithmetic 3, T = 0.3"]["rows"] < report["independent 6, T = 0.7"]["rows"] <= 2 * 6 * 5
    assert all(part["times_as_fast_as_beam"]["cpu"] > 0 for name, part in report.items() if name != "beam")


def test_a_cut_off_run_goes_on(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = Namespace(
        output=tmp_path / "cost.tsv", path=str(toy.checkpoint), distilled=None, name=None, test_set=None, first=2,
        temperatures=(0.5,),
        beams=(1,), num_hyp=(3,), fairseq_to=0, saving_from=9, seeds=(1,), metrics="chrf", metric_args={},
    )  # fmt: skip
    decoded: list[str] = []
    decode = frontier.decode

    def counting(experiment: Any, system: Any, *others: Any, **named: Any) -> Any:
        decoded.append(system.name)
        if decoded == ["beam search", "beam search", "MBR"]:
            raise KeyboardInterrupt
        return decode(experiment, system, *others, **named)

    monkeypatch.setattr(frontier, "decode", counting)
    with pytest.raises(KeyboardInterrupt):
        frontier.measure(chosen, [*flags(toy), "--cpu"])
    assert not chosen.output.exists()
    frontier.measure(chosen, [*flags(toy), "--cpu"])
    assert decoded[3:] == ["beam search", "MBR", "DC-MBR", "DC-MBR, arithmetic draws"]  # the first is not filed
    assert len(read_results([chosen.output])) == 4


def test_the_figure(table: Path, tmp_path: Path, caplog: Any) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib (the extra [plots])")
    caplog.set_level(logging.INFO, "dcmbr_fairseq")
    assert main(["plot", "cost", str(table), "--where", "metric=BLEU", "--output", str(tmp_path / "cost")]) == 0
    assert (tmp_path / "cost.png").stat().st_size > 10_000
    said = (tmp_path / "cost.txt").read_text("utf-8")
    assert "# test set: tests, test, 6 sentences" in said and "# model: toy" in said
    assert "# N = 1, 3, 4, 9; draws: none, independent, arithmetic" in said and "# seeds: 1, 2" in said
    assert main(["plot", "cost", str(table), "--output", str(tmp_path / "both")]) == 1  # two metrics
