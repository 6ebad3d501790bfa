"""``dcmbr sweep`` and ``diversity``: cells against fairseq-generate, pools against the plain formulas, resuming."""

import contextlib
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from analyses import read_tsv, toy_flags
from fairseq_commands import generated
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from sacrebleu.metrics import CHRF

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.segments import SegmentMetric
from dcmbr_fairseq.measure import sampling as sampling_module
from dcmbr_fairseq.measure import sweep as sweep_module
from dcmbr_fairseq.measure.diversity import measure_pools
from dcmbr_fairseq.measure.entropy import mean_token_entropies
from dcmbr_fairseq.measure.grid import Group, Plan, Sizes
from dcmbr_fairseq.measure.models import Corpus, Workspace
from dcmbr_fairseq.measure.sampling import PoolKey, PoolStore
from dcmbr_fairseq.measure.sweep import Judge, choose
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.resumable_writer import ResumableWriter
from dcmbr_fairseq.pools.rows import read_records
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.rules import Candidates
from dcmbr_fairseq.rules.expected_utility import ExactRule
from dcmbr_fairseq.utilities import build_utility
from dcmbr_fairseq.utilities.chrf import ChrfUtility

GRID = ["--num-hyp", "3,8", "--temp-hyp", "0.5,1", "--temp-ref", "0.5,1", "--seeds", "1,5", "--draws", "independent"]


@pytest.fixture(scope="module")
def table(toy: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over the whole grid, with beam search and entropy."""
    output = tmp_path_factory.mktemp("sweep") / "sweep.tsv"
    arguments = ["--path", str(toy.checkpoint), *GRID, "--with-beam", "--beam", "3", "--entropy"]
    assert main(["sweep", *toy_flags(toy), *arguments, "--output", str(output)]) == 0
    return output


def cell(table: Path, **wanted: object) -> float:
    """The score of the one row with these values."""
    (row,) = [r for r in read_tsv(table) if all(r[column] == str(value) for column, value in wanted.items())]
    return float(row["score"])


def test_there_is_a_row_for_each_cell_and_metric(table: Path) -> None:
    rows = read_tsv(table)
    names = ("decoding", "num_hyp", "num_ref", "temp_hyp", "temp_ref", "seed", "metric")
    cells = [tuple(row[name] for name in names) for row in rows]
    assert len(set(cells)) == len(cells) == (1 + 2 * 4 * 2) * 2
    assert {row["decoding"] for row in rows if row["temp_hyp"] == row["temp_ref"] == "1.0"} == {"mbr"}
    assert {row["ref_pool"] for row in rows if row["temp_hyp"] != row["temp_ref"]} == {"separate"}
    assert {row["ref_pool"] for row in rows if row["temp_hyp"] == row["temp_ref"] != "-"} == {"shared"}
    assert {row["label_smoothing"] for row in rows} == {"0.1"} and {row["task"] for row in rows} == {"data-bin-en-de"}


def test_a_cell_is_what_fairseq_generate_decodes(toy: Any, table: Path, fairseq: Any) -> None:
    done = fairseq(
        "generate", *toy_flags(toy), "--path", toy.checkpoint, "--task", "translation_dcmbr", "--decoding", "dcmbr",
        "--temp-hyp", 0.5, "--temp-ref", 1, "--num-hyp", 8, "--draws", "independent", "--seed", 5, "--batch-size", 5,
    )  # fmt: skip
    translations = [text for _, text in sorted(generated(done.stdout))]
    expected = sacrebleu.corpus_chrf(translations, [toy.lines("de")]).score
    found = cell(table, temp_hyp=0.5, temp_ref=1.0, num_hyp=8, seed=5, metric="chrF")
    assert found == pytest.approx(expected, abs=1e-6)
    without = [
        [text for j, text in enumerate(part) if j != i] for i in range(23) for part in (translations, toy.lines("de"))
    ]
    left_out = [sacrebleu.corpus_chrf(h, [r]).score for h, r in zip(without[::2], without[1::2], strict=True)]
    error = np.sqrt(22 / 23 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))  # the jackknife, plainly
    (row,) = [r for r in read_tsv(table) if (r["temp_hyp"], r["temp_ref"], r["num_hyp"], r["seed"], r["metric"])
              == ("0.5", "1.0", "8", "5", "chrF")]  # fmt: skip
    assert float(row["standard_error"]) == pytest.approx(error, abs=1e-5)
    assert (row["task"], row["subset"], row["sentences"]) == ("data-bin-en-de", "test", "23")


@pytest.mark.parametrize("temp_hyp, temp_ref", [(0.5, 0.5), (1.0, 0.5)])
def test_cells_of_small_pools_are_what_the_task_decodes(
    toy: Any, table: Path, temp_hyp: float, temp_ref: float
) -> None:
    """Small pools were never sampled by themselves in the sweep: they are the first draws of the large ones."""
    workspace = Workspace([*toy_flags(toy), "--task", "translation_dcmbr", "--batch-size", "7"])
    model = workspace.load(str(toy.checkpoint))
    pools = {"temp_hyp": str(temp_hyp), "temp_ref": str(temp_ref), "num_hyp": 3, "draws": "independent"}
    options = Namespace(decoding="dcmbr", seed=5, **pools)
    generator = workspace.task.build_generator(model.members, options)
    found = {}
    for sample in workspace.batches(model):
        decoded = workspace.task.inference_step(generator, model.members, sample)
        texts = [generator.texts.target(nbest[0]["tokens"].tolist()) for nbest in decoded]
        found.update(zip(sample["id"].tolist(), texts, strict=True))
    expected = sacrebleu.corpus_chrf([found[i] for i in range(23)], [toy.lines("de")]).score
    score = cell(table, temp_hyp=temp_hyp, temp_ref=temp_ref, num_hyp=3, seed=5, metric="chrF")
    assert score == pytest.approx(expected, abs=1e-6)


def test_the_rows_of_beam_search(toy: Any, table: Path, fairseq: Any) -> None:
    done = fairseq("generate", *toy_flags(toy), "--path", toy.checkpoint, "--beam", 3)
    translations = [text for _, text in sorted(generated(done.stdout))]
    expected = sacrebleu.corpus_bleu(translations, [toy.lines("de")]).score
    assert cell(table, decoding="beam", metric="BLEU") == pytest.approx(expected, abs=1e-6)


def test_the_column_of_entropy(toy: Any, table: Path) -> None:
    workspace = Workspace(toy_flags(toy))
    model = workspace.load(str(toy.checkpoint))
    (expected,) = mean_token_entropies(workspace, model, [1.0])
    (found,) = {float(row["entropy"]) for row in read_tsv(table)}
    assert found == pytest.approx(expected.nats, abs=1e-6)


def test_it_goes_on_cell_by_cell(toy: Any, table: Path, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    output = tmp_path / "sweep.tsv"
    arguments = ["sweep", *toy_flags(toy), "--path", str(toy.checkpoint), "--with-beam", "--beam", "3", "--entropy"]
    arguments += ["--output", str(output), "--pools", f"{table}.pools"]
    original, done = sweep_module.group_rows, []

    def interrupted(group: Group, *others: Any) -> Any:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(group)
        return original(group, *others)

    monkeypatch.setattr(sweep_module, "group_rows", interrupted)
    assert main([*arguments, *GRID]) == 130 and not output.exists()
    monkeypatch.setattr(
        sweep_module, "group_rows", lambda group, *others: done.append(group) or original(group, *others)
    )
    tests, baselines = tmp_path / "tests.tsv", ["temp_hyp=1,temp_ref=1", "decoding=beam"]
    compared = [word for baseline in baselines for word in ("--baseline", baseline)]
    assert main([*arguments, *GRID, *compared, "--tests", str(tests)]) == 0
    assert len(done) == len(set(done)) == 8  # no group twice
    assert read_tsv(output) == read_tsv(table)
    shown = capsys.readouterr().out
    assert shown.count("\n") >= 2 * 2 * (1 + 8) and "data-bin-en-de, test, 23 sentences" in shown
    assert_tests_are_of_the_table(tests, table, baselines)
    assert main([*arguments, *GRID, *compared, "--tests", str(tests)]) == 1  # nothing that is there is written over


def assert_tests_are_of_the_table(tests: Path, table: Path, baselines: list[str]) -> None:
    """Each cell of the table once for each baseline, with its mean, and the difference from the baseline's."""
    rows = read_tsv(tests)
    columns = ("decoding", "num_hyp", "num_ref", "temp_hyp", "temp_ref", "metric")
    scores: dict[tuple[str, ...], list[float]] = {}
    for row in read_tsv(table):
        scores.setdefault(tuple(row[column] for column in columns), []).append(float(row["score"]))
    for baseline in baselines:
        mine = {tuple(row[column] for column in columns): row for row in rows if row["baseline"] == baseline}
        assert mine.keys() == scores.keys()
        for key, row in mine.items():
            assert float(row["score"]) == pytest.approx(np.mean(scores[key]), abs=2e-6)
            assert row["seeds"] == ("-" if row["decoding"] == "beam" else "1, 5") and row["signature"] != "-"
    for row in rows:
        if row["baseline"] == "decoding=beam" and row["decoding"] != "beam":
            (beam,) = scores["beam", "-", "-", "-", "-", row["metric"]]
            assert float(row["difference"]) == pytest.approx(float(row["score"]) - beam, abs=2e-6)
            assert 0 < float(row["p"]) <= 1


@pytest.mark.parametrize(
    ("baseline", "says"),
    [
        ("decoding=beam", "--baseline decoding=beam fits no cell of the grid: add it to the grid (--with-beam)"),
        ("temp_hyp=0.7", "--baseline temp_hyp=0.7 fits no cell of the grid: add it to the grid, or name another"),
        ("num_hyp=8,model=other", "--baseline num_hyp=8.0,model=other fits no cell"),
    ],
)
def test_a_baseline_that_is_not_in_the_grid_is_refused_before_anything_is_drawn(
    toy: Any, tmp_path: Path, capsys: Any, baseline: str, says: str
) -> None:
    output = tmp_path / "sweep.tsv"
    words = ["sweep", *toy_flags(toy), "--path", str(toy.checkpoint), *GRID, "--output", str(output)]
    assert main([*words, "--baseline", "temp_hyp=1,temp_ref=1", "--baseline", baseline]) == 1
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_tests_need_a_baseline_and_a_name_of_their_own(tmp_path: Path, capsys: Any) -> None:
    words = ["sweep", "data", "--path", "model.pt", "--output", str(tmp_path / "o.tsv")]
    assert main([*words, "--tests", str(tmp_path / "t.tsv")]) == 1
    assert "has no tests to hold: give a --baseline, such as decoding=beam" in capsys.readouterr().err
    assert main([*words, "--tests", str(tmp_path / "o.tsv"), "--baseline", "decoding=beam"]) == 1
    assert "the outputs need different names" in capsys.readouterr().err
    (tmp_path / "t.tsv").write_text("mine")
    assert main([*words, "--tests", str(tmp_path / "t.tsv"), "--baseline", "decoding=beam"]) == 1
    assert f"--tests {tmp_path / 't.tsv'} exists already" in capsys.readouterr().err


def test_pools_on_disk_are_used_again_and_grow(toy: Any, tmp_path: Path, monkeypatch: Any) -> None:
    workspace = Workspace(toy_flags(toy), first=4)
    model = workspace.load(str(toy.checkpoint))
    key, other = PoolKey(1, 0, 0.5), PoolKey(1, 1, 1.0)
    small = PoolStore(tmp_path, workspace, model, 3)
    small.sample([key, other, key])
    before = small.path(key).stat().st_mtime_ns, [pool.texts for pool in small.read(key)]
    small.sample([key])
    assert small.path(key).stat().st_mtime_ns == before[0]
    large = PoolStore(tmp_path, workspace, model, 9)
    large.sample([key])
    assert [pool.first(3).texts for pool in large.read(key)] == before[1] == [pool.texts for pool in small.read(key)]
    assert [len(record.pools.hypotheses.draws) for record in read_records(large.path(key))] == [9] * 4
    assert [record.pools.source for record in read_records(large.path(key))] == toy.lines("en")[:4]


def test_pools_of_something_else_are_refused(toy: Any, tmp_path: Path) -> None:
    workspace = Workspace(toy_flags(toy), first=4)
    key = PoolKey(1, 0, 0.5)
    PoolStore(tmp_path, workspace, workspace.load(str(toy.checkpoint), "name"), 3).sample([key])
    other = workspace.load(str(toy.other), "name")
    with pytest.raises(UserError, match="was made from another checkpoint .*: delete it, or give another --pools"):
        PoolStore(tmp_path, workspace, other, 3).sample([key])


def test_sampling_goes_on_with_the_next_batch(toy: Any, tmp_path: Path, monkeypatch: Any) -> None:
    keys = [PoolKey(1, 0, 0.5), PoolKey(1, 1, 1.0)]
    workspace = Workspace([*toy_flags(toy), "--batch-size", "4"], first=12)
    model = workspace.load(str(toy.checkpoint))
    whole = PoolStore(tmp_path / "whole", workspace, model, 5)
    whole.sample(keys)
    cut = PoolStore(tmp_path / "cut", workspace, model, 5)
    original, batches = sampling_module.sampled, []

    def interrupted(prepared: Any, *others: Any) -> Any:
        if len(batches) == 2:
            raise KeyboardInterrupt
        batches.append(prepared.ids)
        return original(prepared, *others)

    monkeypatch.setattr(sampling_module, "sampled", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cut.sample(keys)
    partial = [Path(f"{cut.path(key)}.partial") for key in keys]
    assert sorted(cut.folder.iterdir()) == sorted(partial)
    partial[0].write_bytes(partial[0].read_bytes()[:-9])  # the machine went down while it was written
    with pytest.raises(UserError, match="partial was sampled with another num_hyp .5, now 6.: delete it"):
        PoolStore(cut.folder, workspace, model, 6).sample(keys)
    batches.clear()
    monkeypatch.setattr(sampling_module, "sampled", lambda p, *o: batches.append(p.ids) or original(p, *o))
    cut.sample(keys)
    assert len(batches) == 2  # the last, and the one whose row was cut off
    for key in keys:
        assert cut.path(key).read_bytes() == whole.path(key).read_bytes()
    assert sorted(cut.folder.iterdir()) == sorted(cut.path(key) for key in keys)


def test_two_runs_do_not_write_the_same_pool(tmp_path: Path) -> None:
    with contextlib.closing(ResumableWriter(tmp_path / "pool.jsonl", lambda row: None)):
        with pytest.raises(UserError, match="is being written by another program"):
            ResumableWriter(tmp_path / "pool.jsonl", lambda row: None)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_run_leaves_no_pools(toy: Any, tmp_path: Path) -> None:
    workspace = Workspace(toy_flags(toy), first=4)
    model = workspace.load(str(toy.checkpoint))
    model.members[0].decoder.output_projection.weight.data.fill_(float("nan"))
    with pytest.raises(UserError, match="not finite"):
        PoolStore(tmp_path, workspace, model, 3).sample([PoolKey(1, 0, 0.5)])
    assert list(tmp_path.iterdir()) == []


texts = st.text("abc ", max_size=6)
pools = st.lists(st.tuples(texts, st.floats(-5, 0)), min_size=8, max_size=8)


@inputs(30)
@given(st.lists(st.tuples(pools, pools), min_size=1, max_size=3), st.booleans())
def test_corners_of_a_matrix_decide_as_the_rule_does(sentences: list[Any], shared: bool) -> None:
    both = [[TextPool.from_draws(*zip(*side, strict=True), [0.0] * 8) for side in pair] for pair in sentences]
    all_pools = [Pools.of(pools[:1] if shared else pools) for pools in both]
    utility, sizes = build_utility("chrf", {}), [Sizes(8, 8), Sizes(3, 5), Sizes(1, 1)]
    found = choose(all_pools, utility, sizes)
    for size, chosen in zip(sizes, found, strict=True):
        for pools, text in zip(all_pools, chosen, strict=True):
            h, r = pools.hypotheses.first(size.num_hyp), pools.references.first(size.num_ref)
            (decision,) = ExactRule().decide([Candidates(h.texts, r.texts, r.weights(), h.text_log_prob())], utility)
            assert text == h.texts[decision.order[0]]


def test_div_and_quality_are_the_paper_s() -> None:
    """Div = 1 / N^2 sum_a sum_b chrF(a, b) over draws, and the mean score of a draw."""
    draws = ["ein Hund", "der Hund", "ein Hund", "", "ein Kater schläft"]
    pool = TextPool.from_draws(draws, [0.0] * 5, [0.0] * 5)
    corpus = Corpus({0: "a dog", 1: "a cat"}, {0: "ein Hund schläft", 1: "ein Kater"})
    chrf = CHRF()
    found = measure_pools([pool, pool], corpus, [SegmentMetric("chrf", {})], [5, 2], build_utility("chrf", {}))
    for size, measure in zip([5, 2], found, strict=True):
        first = draws[:size]
        div = np.mean([chrf.sentence_score(a, [b]).score for a in first for b in first])
        quality = np.mean([chrf.sentence_score(a, [r]).score for a in first for r in corpus.references.values()])
        assert measure.diversity == pytest.approx(div) and measure.quality == [pytest.approx(quality)]
        assert measure.distinct == len(set(first))


def test_diversity_falls_with_temperature_and_makes_figure_7(toy: Any, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "diversity.jsonl"
    arguments = [
        "--path",
        str(toy.checkpoint),
        "--temperatures",
        "0.5,1",
        "--num-hyp",
        "3",
        "--pools",
        f"{table}.pools",
    ]
    assert main(["diversity", *toy_flags(toy), *arguments, "--output", str(output)]) == 0
    cold, warm = map(json.loads, output.read_text().splitlines())
    assert (cold["temperature"], warm["temperature"]) == (0.5, 1.0)
    assert cold["diversity"] > warm["diversity"] and cold["distinct"] < warm["distinct"]
    pytest.importorskip("matplotlib")
    where = ["--where", "metric=chrF", "--where", "num_hyp=3", "--output", str(tmp_path / "figure7")]
    assert main(["plot", "7", str(table), str(output), *where]) == 0
    assert (tmp_path / "figure7.png").stat().st_size > 1000


@pytest.mark.parametrize("figure, extra", [("1", ["--where", "num_hyp=8"]), ("5", []), ("6", ["--where", "num_hyp=8"])])
def test_other_figures(table: Path, tmp_path: Path, figure: str, extra: list[str]) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["plot", figure, str(table), "--where", "metric=chrF", *extra, "--output", str(tmp_path / "figure")]
    assert main(arguments) == 0
    assert (tmp_path / "figure.png").stat().st_size > 1000


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--num-hyp", "0"], "--num-hyp must be whole numbers from 1 to 1000000"),
        (["--temp-ref", "hot"], "--temp-ref must be numbers above 0"),
        (["--ref-pool", "shared", "--temp-ref", "1"], "--ref-pool shared needs --temp-ref same"),
        (["--utilities", "nix"], "nix is unknown"),
        (["--utility-args", "[]"], "--utility-args must be a JSON object"),
        (["--sampling-topk", "2", "--sampling-topp", "0.5"], "cannot be combined"),
    ],
)
def test_bad_input(
    toy: Any, tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--output", str(tmp_path / "out.tsv")]
    assert main(["sweep", *toy_flags(toy), "--path", str(toy.checkpoint), *arguments, *output]) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_sizes_and_pools_of_a_plan() -> None:
    plan = Plan([Sizes(5, 5), Sizes(5, 10)], [(0.5, 0.5), (0.5, 1.0)], seeds=[1, 2])
    groups = plan.groups()
    assert [group[1:] for group in groups if group.seed == 1] == [
        (0.5, 0.5, "chrf", True), (0.5, 0.5, "chrf", False), (0.5, 1.0, "chrf", False),
    ]  # fmt: skip
    assert plan.sizes_of(groups[0]) == [Sizes(5, 5)] and plan.sizes_of(groups[1]) == [Sizes(5, 10)]
    assert plan.sizes_of(groups[2]) == [Sizes(5, 5), Sizes(5, 10)]
    assert set(plan.pools()) == {PoolKey(s, *k) for s in (1, 2) for k in ((0, 0.5), (1, 0.5), (1, 1.0))}
    assert plan.size == 10


class Twin(ChrfUtility):
    """A user's own, which is called as ours."""

    label = "chrF"


def test_metrics_of_one_name_are_not_taken_for_one() -> None:
    plan = Plan([Sizes(3, 3)], [(1.0, 1.0)], metrics=["chrf", f"{__name__}:Twin"])
    with pytest.raises(UserError, match="--metrics chrf,.*:Twin are both called chrF: leave out one of them"):
        Judge(plan, Corpus({}, {}))
