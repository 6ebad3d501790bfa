"""Figures: what is drawn is what the tables hold, series stay apart without colour, and files appear whole."""

import itertools
import math
import struct

import numpy as np
import pytest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError

pytest.importorskip("matplotlib", reason="needs matplotlib (the extra [plots])")

from matplotlib.colors import to_rgb

from dcmbr_fairseq.present.figures import draw, plot
from dcmbr_fairseq.present.provenance import BARS
from dcmbr_fairseq.present.results import with_draws
from dcmbr_fairseq.present.series import direction_styles, ordered_styles, styles
from dcmbr_fairseq.present.tables import read_table


def rows(header, *lines):
    return [dict(zip(header.split(), map(str, line), strict=True)) for line in lines]


def lines_of(axes):
    """label -> its points."""
    handles, labels = axes.get_legend_handles_labels()
    data = {}
    for handle, label in zip(handles, labels, strict=True):
        data[label] = [tuple(map(float, point)) for point in handle[0].get_xydata()]
    return data


DECODINGS = rows(
    "label_smoothing decoding num_hyp temp_hyp temp_ref metric seed score",
    (0.1, "beam", "-", "-", "-", "BLEURT", 1, 64), (0, "beam", "-", "-", "-", "BLEURT", 1, 65),
    (0, "mbr", 10, 1, 1, "BLEURT", 1, 60), (0, "mbr", 10, 1, 1, "BLEURT", 2, 62),
    (0.1, "dcmbr", 10, 0.5, 0.5, "BLEURT", 1, 70), (0.1, "dcmbr", 10, 0.7, 0.7, "BLEURT", 1, 99),
)  # fmt: skip


def test_figure_1_draws_means_over_seeds():
    (axes,) = draw("1", DECODINGS).axes
    assert lines_of(axes) == {
        "beam search": [(0, 65), (0.1, 64)], "MBR": [(0, 61)], "DC-MBR, T = 0.5": [(0.1, 70)],
    }  # fmt: skip
    assert axes.get_ylabel() == "BLEURT"
    assert "DC-MBR, T = 0.7" in lines_of(draw("1", DECODINGS, temperature=0.7).axes[0])


def test_bars_reach_from_the_least_to_the_greatest():
    (axes,) = draw("1", DECODINGS).axes
    segments = [tuple(y for _, y in path) for c in axes.collections for path in c.get_segments()]
    assert (60.0, 62.0) in segments


def test_figure_2_draws_shares_of_each_model():
    table = rows("label_smoothing bucket count", (0, "0-5", 90), (0, "5-|V|", 10), (0.1, "0-5", 4), (0.1, "5-|V|", 1))
    (axes,) = draw("2", table).axes
    heights = [[bar.get_height() for bar in container] for container in axes.containers]
    assert heights == [[90, 10], [80, 20]]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0-5", "5-|V|"]
    assert len({bar.patches[0].get_hatch() for bar in axes.containers}) == 2


def test_figure_3_counts_every_sequence():
    scores = {0: [90, 80, 70, 95], 0.1: [10, 0, 100, 55]}
    table = rows(
        "label_smoothing sentence rank metric score",
        *((ls, i // 2, i % 2 + 1, "chrF", s) for ls, values in scores.items() for i, s in enumerate(values)),
    )
    left, right = draw("3", table).axes
    for container in left.containers:
        assert sum(bar.get_height() for bar in container) == pytest.approx(100)
    points = [tuple(map(tuple, line.get_xydata())) for line in right.lines if len(line.get_xydata()) == 2]
    assert ((1, 80), (2, 87.5)) in points and ((1, 55), (2, 27.5)) in points


def test_figure_4_draws_each_model_and_the_coefficients():
    table = rows(
        "alpha beta entropy metric score", *((a, b, a + b, "chrF", -2 * (a + b)) for a in (1, 2) for b in (3, 5))
    )
    (axes,) = draw("4", table).axes
    points = np.concatenate([collection.get_offsets() for collection in axes.collections])
    assert sorted(map(tuple, points.tolist())) == [(4, -8), (5, -10), (6, -12), (7, -14)]
    assert "Kendall τ = −1.00" in axes.texts[0].get_text() and "4 models" in axes.texts[0].get_text()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["β = 3", "β = 5"]


def test_figure_4_averages_seeds_and_counts_models():
    table = rows(
        "model beta seed entropy metric score",
        *((f"m{e}", "-" if e == 1 else 0.5, seed, e, "chrF", 10 - e * e + seed) for e in (1, 2, 3) for seed in (1, 3)),
    )
    (axes,) = draw("4", table).axes
    points = np.concatenate([collection.get_offsets() for collection in axes.collections])
    assert sorted(map(tuple, points.tolist())) == [(1, 11), (2, 8), (3, 3)]
    assert "3 models" in axes.texts[0].get_text()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["β = 0.5", "no GER"]


RANKS = "label_smoothing model bucket count"


def test_models_with_the_same_smoothing_are_told_apart_by_name():
    table = rows(RANKS, *((0.1, m, b, c) for m, b, c in (("a", "0-5", 3), ("a", "5-|V|", 1), ("b", "0-5", 1))))
    (axes,) = draw("2", table).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert [[bar.get_height() for bar in container] for container in axes.containers] == [[75, 25], [100, 0]]
    table = rows(RANKS, ("-", "ger", "0-5", 3), (0.1, "ls", "0-5", 1))  # GER has no label smoothing
    assert [text.get_text() for text in draw("2", table).axes[0].get_legend().get_texts()] == ["ger", "ls"]


def test_figure_1_leaves_out_models_without_label_smoothing():
    ger = rows("label_smoothing decoding metric score", ("-", "beam", "BLEURT", 1))
    assert lines_of(draw("1", DECODINGS + ger).axes[0]) == lines_of(draw("1", DECODINGS).axes[0])


SWEEP = rows(
    "label_smoothing decoding num_hyp temp_hyp temp_ref metric score",
    *((ls, "mbr", n, th, tr, "chrF", n + 10 * th + 100 * tr + 1000 * ls)
      for ls, n, th, tr in itertools.product((0, 0.1), (5, 50), (0.5, 1.0), (0.5, 1.0))),
)  # fmt: skip


def test_figure_5_has_a_panel_for_each_model_and_equal_temperatures_only():
    left, right = draw("5", SWEEP).axes
    assert (left.get_title(), right.get_title()) == ("λ = 0", "λ = 0.1")
    assert lines_of(right) == {"T = 0.5": [(5, 160), (50, 205)], "T = 1": [(5, 215), (50, 260)]}
    assert [text.get_text() for text in left.get_xticklabels()] == ["5", "50"]


def test_figure_6_has_a_line_for_each_direction():
    table = rows(
        "task temp_hyp temp_ref score", *((d, t, t, t) for d in ("wmt16-en-de", "wmt16-de-en") for t in (0.5, 1))
    )
    (axes,) = draw("6", table).axes
    assert lines_of(axes) == {d: [(0.5, 0.5), (1, 1)] for d in ("wmt16-en-de", "wmt16-de-en")}


def test_figure_7_separates_the_sweeps():
    pools = rows("temperature metric quality diversity", (0.5, "chrF", 60, 80), (1, "chrF", 40, 30))
    table = [row for row in SWEEP if row["label_smoothing"] == "0" and row["num_hyp"] == "5"] + pools
    left, middle, right, other = draw("7", table).axes
    assert list(map(tuple, left.lines[0].get_xydata())) == [(0.5, 110), (1, 115)]
    assert list(map(tuple, middle.lines[0].get_xydata())) == [(0.5, 60), (1, 110)]
    assert list(map(tuple, right.lines[0].get_xydata())) == [(0.5, 60), (1, 40)]
    assert list(map(tuple, other.lines[0].get_xydata())) == [(0.5, 80), (1, 30)]


@pytest.mark.parametrize(
    ("figure", "table", "message"),
    [
        ("1", rows("score", (1,)), "Figure 1 needs the columns label_smoothing, decoding"),
        ("1", DECODINGS + rows("label_smoothing decoding metric score", (0, "beam", "BLEU", 1)), "values of metric"),
        ("5", DECODINGS[:2], "Figure 5 needs rows of MBR"),
        ("7", SWEEP, "Figure 7, right, needs the columns temperature"),
        ("6", rows("task temp_hyp temp_ref score", ("a", 1, 1, "x")), "column score must hold finite numbers, got 'x'"),
        ("4", rows("entropy score", (1, 2)), "at least 3 pairs"),
        ("4", rows("entropy score num_hyp", (1, 2, 10), (2, 1, 50)), "several values of num_hyp .10, 50."),
        (
            "1",
            [*DECODINGS, {**DECODINGS[2], "ref_pool": "shared"}, {**DECODINGS[2], "ref_pool": "separate"}],
            "several values of ref_pool .shared, separate.",
        ),
        ("1", rows("label_smoothing decoding score", ("-", "beam", 1)), "Figure 1 needs rows of beam search, MBR"),
        ("5", [{**row, "task": task} for row in SWEEP for task in "ab"], "several values of task .a, b."),
        ("6", [{**row, "task": "a"} for row in SWEEP if row["num_hyp"] == "5"], "values of label_smoothing .0, 0.1."),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_one_sentence(figure, table, message):
    with pytest.raises(UserError, match=message):
        draw(figure, table)


def mixed(table, column):
    """A table of two test sets or models that differ in one column: each row twice."""
    known = {"task": "en-de", "subset": "test", "sentences": "5", "model": "m"}
    values = ("a", "b") if column != "sentences" else ("5", "6")
    return [{**known, **row, column: value} for row in table for value in values]


SHARES = rows("label_smoothing bucket count", (0, "0-5", 90), (0.1, "0-5", 4))
TOP = rows("label_smoothing sentence rank metric score", *((0, s, r, "chrF", s + r) for s in (0, 1) for r in (1, 2)))
ENTROPIES = rows("alpha beta entropy metric score", *((e, 1, e, "chrF", 9 - e) for e in (1, 2, 3)))
PLAIN_SWEEP = [row for row in SWEEP if row["label_smoothing"] == "0" and row["num_hyp"] == "5"]
POOLS = rows("temperature metric quality diversity", (0.5, "chrF", 60, 80), (1, "chrF", 40, 30))
DIRECTIONS = rows("task temp_hyp temp_ref score", ("x-en-de", 1, 1, 3), ("x-de-en", 1, 1, 3))
ALL_FIGURES = {
    "1": DECODINGS, "2": SHARES, "3": TOP, "4": ENTROPIES, "5": SWEEP, "6": DIRECTIONS, "7": PLAIN_SWEEP + POOLS,
}  # fmt: skip


@pytest.mark.parametrize("column", ["task", "subset", "sentences", "model"])
@pytest.mark.parametrize("figure", list(ALL_FIGURES))
def test_no_figure_mixes_test_sets_or_models(figure, column):
    if (figure, column) in {("6", "task"), ("2", "model"), ("3", "model"), ("4", "model"), ("5", "model")}:
        pytest.skip("the figure tells them apart")
    with pytest.raises(UserError, match=f"several values of {column} ") as refusal:
        draw(figure, mixed(ALL_FIGURES[figure], column))
    assert "choose with --where" in str(refusal.value)


@pytest.mark.parametrize("column", ["signature", "utility_signature"])
@pytest.mark.parametrize("figure", ["1", "3", "4", "5", "6", "7"])
def test_no_figure_mixes_what_goes_by_one_name(figure, column):
    """chrF with another beta, BLEU with another tokeniser: the columns metric and utility do not tell them apart."""
    if (figure, column) == ("3", "utility_signature"):
        pytest.skip("sequences are found, not decided")
    with pytest.raises(UserError, match=f"several values of {column} "):
        draw(figure, mixed(ALL_FIGURES[figure], column))


@pytest.mark.parametrize("figure", list(ALL_FIGURES))
def test_no_figure_mixes_kinds_of_draws(figure):
    table = [{**row, "draws": kind} for row in ALL_FIGURES[figure] for kind in ("independent", "arithmetic")]
    with pytest.raises(UserError, match="several values of draws .independent, arithmetic.: choose with --where"):
        draw(figure, table)


@pytest.mark.parametrize("figure", ["1", "5", "6", "7"])
def test_tables_that_do_not_name_their_draws_are_of_independent_ones(figure):
    table = ALL_FIGURES[figure]
    half = len(table) // 2
    named = [{**row, "draws": "independent"} for row in table[half:]]
    assert "draws: independent" in " ".join(draw(figure, [*table[:half], *named]).get_supxlabel().split())
    other = [{**row, "draws": "arithmetic"} for row in table[half:]]
    with pytest.raises(UserError, match="several values of draws .independent, arithmetic."):
        draw(figure, [*table[:half], *other])


@pytest.mark.parametrize("figure", list(ALL_FIGURES))
def test_tables_that_do_not_say_their_test_set_are_drawn_with_a_warning(figure, caplog):
    draw(figure, ALL_FIGURES[figure])
    (said,) = [record.getMessage() for record in caplog.records if "do not say their" in record.getMessage()]
    assert "subset, sentences" in said
    caplog.clear()
    task = {} if figure == "6" else {"task": "en-de"}
    known = {"subset": "test", "sentences": "5", "model": "m"}
    with_model = [{**row, **known, **task, **_model(row, figure)} for row in ALL_FIGURES[figure]]
    draw(figure, with_model)
    assert not caplog.records


def _model(row, figure):
    return {"model": f"m{row.get('label_smoothing', row.get('alpha', ''))}"} if figure != "7" else {}


def test_figure_2_refuses_a_bucket_twice():
    with pytest.raises(UserError, match="several rows for a bucket"):
        draw("2", SHARES + SHARES)


def test_figure_3_says_that_searches_were_given_up(caplog):
    table = [{**row, "exact": "expansions" if row["sentence"] == "1" else "yes", "all_exact": "no"} for row in TOP]
    draw("3", table)
    assert any("of 4 sequences 2 are of searches that were given up" in r.getMessage() for r in caplog.records)


def test_figure_3_compares_models_on_the_sentences_that_all_have(caplog):
    """Models that were searched one by one have other sentences that are exact."""
    both = [{**row, "model": model} for model in ("a", "b") for row in TOP]
    lacking = [row for row in both if (row["model"], row["sentence"]) != ("b", "1")]
    assert len(lacking) < len(both)
    same = [row for row in both if row["sentence"] != "1"]
    lines = [
        [line.get_ydata().tolist() for line in draw("3", rows).axes[1].get_lines()] for rows in (lacking, same, both)
    ]
    assert lines[0] == lines[1] != lines[2]
    assert any("1 sentences that not every model has" in record.getMessage() for record in caplog.records)
    assert "means over 1 sentences" in " ".join(draw("3", lacking).get_supxlabel().split())
    with pytest.raises(UserError, match="no sentence is there of every model"):
        draw("3", [row for row in both if (row["model"] == "a") == (row["sentence"] == "1")])


def test_figure_7_says_what_a_high_div_means():
    assert "high: alike" in draw("7", PLAIN_SWEEP + POOLS).axes[3].get_ylabel()


def lightness(color: str) -> float:
    """CIE L*, 0 to 100: what a greyscale printer keeps of a colour."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    luminance = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
    return 116 * math.cbrt(luminance) - 16


@pytest.mark.parametrize("make", [styles, ordered_styles])
def test_series_stay_apart_without_colour(make):
    chosen = make(6)
    assert len({style.marker for style in chosen}) == 6
    for first, second in itertools.pairwise(chosen):
        assert first.dashes != second.dashes
        assert abs(lightness(first.color) - lightness(second.color)) > 8


def test_ten_directions_stay_apart_without_colour():
    tasks = [f"{a}-{b}" for other in ("de", "cs", "ro", "ru", "fi") for a, b in (("en", other), (other, "en"))]
    assert len({(style.marker, style.filled) for style in direction_styles(tasks)}) == 10


def test_command_writes_png_and_pdf_again_the_same(tmp_path, caplog):
    table = tmp_path / "results.tsv"
    header = list(DECODINGS[0])
    table.write_text("".join("\t".join(cells) + "\n" for cells in [header, *([*row.values()] for row in DECODINGS)]))
    for name in ("one", "two"):
        assert main(["plot", "1", str(table), "--output", str(tmp_path / "figures" / name), "--title", "A title"]) == 0
    for form, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        one, two = (tmp_path / "figures" / f"{name}.{form}" for name in ("one", "two"))
        assert one.read_bytes().startswith(magic) and one.read_bytes() == two.read_bytes()
    written = {path.name for path in (tmp_path / "figures").iterdir()}
    assert written == {f"{name}.{form}" for name in ("one", "two") for form in ("png", "pdf", "txt")}


def test_the_text_beside_a_figure_is_its_data_and_what_they_are(tmp_path):
    table = tmp_path / "results.tsv"
    known = {"task": "x-en-de", "subset": "valid", "sentences": "40", "model": "a", "signature": "BLEURT|v:1"}
    lines = [{**row, **known, "model": f"m{row['label_smoothing']}"} for row in DECODINGS]
    header = list(lines[0])
    table.write_text("".join("\t".join(cells) + "\n" for cells in [header, *([*row.values()] for row in lines)]))
    assert main(["plot", "1", str(table), "--output", str(tmp_path / "one"), "--where", "task=x-en-de"]) == 0
    text = (tmp_path / "one.txt").read_text()
    remarks = [line for line in text.splitlines() if line.startswith("#")]
    for said in (
        "# test set: x-en-de, valid, 40 sentences", "# models: m0.1, m0", "# N = 10; T = 0.5, 1; draws: independent",
        "# seeds: 1, 2", f"# {BARS}", "# judged by: BLEURT|v:1", "# --where: task=x-en-de", f"# tables: {table}",
    ):  # fmt: skip
        assert said in remarks, said
    # the figure leaves 0.7 out
    drawn = [with_draws({"draws": "-", **row}) for row in lines if row["temp_hyp"] != "0.7"]
    key = lambda row: sorted(row.items())  # noqa: E731
    assert sorted(read_table(tmp_path / "one.txt"), key=key) == sorted(drawn, key=key)
    assert lines_of(draw("1", read_table(tmp_path / "one.txt")).axes[0]) == lines_of(draw("1", DECODINGS).axes[0])
    caption = plot("1", lines).figure.get_supxlabel()
    assert "x-en-de, valid, 40 sentences" in caption and "from the least to the greatest seed" in caption


def test_resolution(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("label_smoothing\tbucket\tcount\n0\t0-5\t3\n")
    sizes = []
    for dpi in ("50", "100"):
        arguments = ["--output", str(tmp_path / dpi), "--formats", "png", "--dpi", dpi]
        assert main(["plot", "2", str(table), *arguments]) == 0
        sizes.append(struct.unpack(">II", (tmp_path / f"{dpi}.png").read_bytes()[16:24]))  # width, height
    (small, _), (large, height) = sizes
    assert (small, large) == (300, 600) and height >= 300  # and the small print
    assert main(["plot", "2", str(table), "--output", str(tmp_path / "none"), "--dpi", "0"]) == 1


def test_unknown_form_is_refused(tmp_path, capsys):
    (tmp_path / "t.tsv").write_text("a\n1\n")
    assert main(["plot", "1", str(tmp_path / "t.tsv"), "--output", str(tmp_path / "f"), "--formats", "gif"]) == 1
    assert "'gif' is unknown, choose from png, pdf, svg" in capsys.readouterr().err
