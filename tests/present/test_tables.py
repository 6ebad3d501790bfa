"""Tables: every form shows the same numbers, each result lands in its cell, the paper's numbers are its own."""

import re
from itertools import product

import pytest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present import paper
from dcmbr_fairseq.present.layouts import LAYOUTS
from dcmbr_fairseq.present.results import means, number, read_results, refuse_mixture, require
from dcmbr_fairseq.present.tables import Grid, read_table, render

GRID = Grid(["name", "a_b", "Δ"], [["x|y", 1.26, None], ["50%", 10.0, 3]], bold=[[1], []], rules=[0, 1], caption="c")


def test_text():
    assert render(GRID, "text") == "name   a_b  Δ\n-------------\nx|y    1.3  -\n-------------\n50%   10.0  3\nc\n"


def test_markdown():
    expected = ["| name | a_b | Δ |", "| --- | ---: | ---: |", r"| x\|y | **1.3** | - |", "| 50% | 10.0 | 3 |", "", "c"]
    assert render(GRID, "markdown").splitlines() == expected


def test_latex():
    lines = render(GRID, "latex").splitlines()
    assert lines[:4] == [r"\begin{tabular}{lrr}", r"\toprule", r"name & a\_b & $\Delta$ \\", r"\midrule"]
    assert lines[4:] == [
        r"x|y & \textbf{1.3} & - \\", r"\midrule", r"50\% & 10.0 & 3 \\", r"\bottomrule", r"\end{tabular}", "% c",
    ]  # fmt: skip


def test_tsv_is_read_back(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("# a remark\n" + render(GRID, "tsv"), "utf-8")
    rows = read_table(path)
    assert rows == [{"name": "x|y", "a_b": "1.26", "Δ": "-"}, {"name": "50%", "a_b": "10.0", "Δ": "3"}]
    path.write_text('{"name": "x", "score": 0.5, "seed": null}\n', "utf-8")
    assert read_table(path) == [{"name": "x", "score": "0.5", "seed": "-"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n1\n", "line 2, has 1 cells but the header has 2"),
        ("a\n", "no rows"),
        ('{"a": 1}\n{', "line 2: not a JSON object"),
    ],
)
def test_broken_tables_are_refused(tmp_path, text, message):
    path = tmp_path / "table.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(UserError, match=message):
        read_table(path)


def results(tmp_path, lines, name="results.tsv"):
    path = tmp_path / name
    path.write_text("\n".join("\t".join(map(str, line)) for line in lines) + "\n", "utf-8")
    return str(path)


BILINGUAL = [
    ("label_smoothing", "decoding", "num_hyp", "temp_hyp", "temp_ref", "metric", "seed", "score"),
    (0.0, "beam", "-", "-", "-", "chrF", 1, 60.0),
    (0.1, "beam", "", "", "", "chrF", 1, 61.04),
    (0.1, "dcmbr", 10, 0.5, 0.5, "chrF", 1, 65.0),
    (0.1, "dcmbr", 10, "0.50", 0.5, "chrF", 2, 66.0),
    (0.1, "dcmbr", 10, 0.7, 0.7, "chrF", 2, 99.0),
    (0.1, "dcmbr", 10, 1, "1.0", "chrF", 1, 40.0),
    (0.1, "mbr", 50, 1.0, 1.0, "chrF", 1, 50.0),
    (0.1, "sample", 1, 1.0, 1.0, "chrF", 1, 20.0),
]


def test_table_1_puts_each_result_in_its_cell(tmp_path):
    rows = read_results([results(tmp_path, BILINGUAL)])
    grid = LAYOUTS["1"].build(rows, None, 0.5)
    assert list(grid.rows) == [
        ["N=10", "+ LS 0.1", "61.0", "40.0", "65.5", "+25.5"],
        ["N=50", "+ LS 0.1", "61.0", "50.0", None, None],
    ]
    assert grid.bold == [[4], []] and grid.caption == "chrF."
    assert list(LAYOUTS["1"].build(rows, None, 0.7).rows)[0][4] == "99.0"


@pytest.mark.parametrize("layout, better", [("1", 3), ("2", 2)])
def test_of_an_error_rate_the_lower_is_the_better(tmp_path, layout, better):
    header = ("task", "label_smoothing", "decoding", "num_hyp", "temp_hyp", "temp_ref", "metric", "score")
    cells = (("mbr", 1.0, 40.0), ("dcmbr", 0.5, 60.0))
    lines = [header, *(("en-de", 0.1, name, 10, t, t, "TER", score) for name, t, score in cells)]
    grid = LAYOUTS[layout].build(read_results([results(tmp_path, lines)]), None, 0.5)
    assert grid.bold[0] == [better] and grid.caption == "TER; lower is better."


def test_table_1_leaves_out_models_without_a_label_smoothing(tmp_path):
    ger = [("-", "beam", "-", "-", "-", "chrF", 1, 90.0), ("-", "mbr", 50, 1.0, 1.0, "chrF", 1, 90.0)]
    for task in (None, "en-de"):
        alone, both = (
            LAYOUTS["1"].build(read_results([results(tmp_path, BILINGUAL + more)]), task, 0.5) for more in ([], ger)
        )
        assert both == alone


def test_table_1_beside_the_papers(tmp_path):
    grid = LAYOUTS["1"].build(read_results([results(tmp_path, BILINGUAL)]), "en-de", 0.5)
    cells = {tuple(row[:2]): row[2:] for row in grid.rows}
    assert len(cells) == 8
    assert cells["N=10", "+ LS 0.1"] == ["61.0 (64.2)", "40.0 (41.0)", "65.5 (67.9)", "+25.5 (+26.9)"]
    assert cells["N=50", "Transformer"] == ["60.0 (65.0)", "- (68.7)", "- (70.1)", "- (+1.4)"]


def test_table_2_and_its_average(tmp_path):
    lines = [("task", "decoding", "num_hyp", "score")]
    for task, shift in (("wmt16-en-de", 0.0), ("wmt16-de-en", 2.0)):
        lines += [(task, "beam", "", 50 + shift)]
        lines += [(task, d, n, 50 + shift + n / 10 + (d == "dcmbr")) for d, n in product(("mbr", "dcmbr"), (10, 50))]
    rows = read_results([results(tmp_path, lines)])
    grid = LAYOUTS["2"].build(rows, None, 0.5)
    assert list(grid.rows) == [
        ["en-de", "50.0", "51.0", "52.0", "+1.0", "55.0", "56.0", "+1.0"],
        ["de-en", "52.0", "53.0", "54.0", "+1.0", "57.0", "58.0", "+1.0"],
        ["average", "51.0", "52.0", "53.0", "+1.0", "56.0", "57.0", "+1.0"],
    ]
    assert list(grid.bold) == [[3, 6]] * 3
    both = list(LAYOUTS["2"].build(rows, "wmt16", 0.5).rows)
    assert both[0][:2] == ["en-de", "50.0 (71.8)"] and both[2][:2] == ["en-cs", "- (73.0)"]
    assert both[-1][:3] == ["average", "- (72.8)", "- (71.5)"]


def test_utilities_against_metrics(tmp_path):
    lines = [("utility", "metric", "decoding", "score")]
    lines += [(u, m, d, s) for (u, m), s in {("bleu", "BLEU"): 30, ("chrf", "BLEU"): 20}.items() for d in ("dcmbr",)]
    grid = LAYOUTS["utilities"].build(read_results([results(tmp_path, lines)]), None, 0.5)
    assert list(grid.rows) == [["bleu", "30.0", None], ["chrf", "20.0", None]] and grid.bold == [[1], []]
    both = LAYOUTS["utilities"].build(read_results([results(tmp_path, lines)]), "utilities", 0.5)
    assert list(both.rows)[1][1:3] == ["20.0 (28.7)", "- (25.5)"]


def test_of_a_sweep_with_beam_search_the_utilities_are_those_of_mbr(tmp_path, capsys):
    lines = [("utility", "metric", "decoding", "num_hyp", "temp_hyp", "temp_ref", "score")]
    lines += [("-", "BLEU", "beam", "-", "-", "-", 9), ("bleu", "BLEU", "dcmbr", 10, 0.5, 0.5, 30)]
    lines += [("bleu", "BLEU", "mbr", 10, 1, 1, 20), ("bleu", "BLEU", "dcmbr", 50, 0.7, 0.7, 40)]
    path = results(tmp_path, lines)
    assert list(LAYOUTS["utilities"].build(read_results([path]), None, 0.5).rows) == [["bleu", "30.0", "20.0"]]
    assert main(["table", "utilities", "--where", "decoding=dcmbr", "--temperature", "0.9", path]) == 1
    assert "no row fits table utilities: decodings must be" in capsys.readouterr().err


def test_of_an_error_rate_the_lowest_is_best(tmp_path):
    lines = [("utility", "metric", "decoding", "score"), ("ter", "TER", "mbr", 40), ("chrf", "TER", "mbr", 50)]
    grid = LAYOUTS["utilities"].build(read_results([results(tmp_path, lines)]), None, 0.5)
    assert list(grid.rows) == [["ter", None, "40.0"], ["chrf", None, "50.0"]] and grid.bold == [[2], []]


def test_data(tmp_path):
    lines = [("task", "split", "segments"), ("wmt20-en-de", "valid", 1997), ("mine", "test", 5)]
    grid = LAYOUTS["data"].build(read_results([results(tmp_path, lines)]), "data")
    cells = {row[0]: row[1:] for row in grid.rows}
    assert cells["wmt20-en-de"] == ["- (37M)", "1997 (1997)", "- (1418)"] and cells["mine"][2] == "5 (-)"


def test_mixtures_and_missing_columns_are_refused(tmp_path):
    rows = read_results([results(tmp_path, [("metric", "score"), ("BLEU", 1), ("chrF", 2)])])
    with pytest.raises(UserError, match=r"several values of metric \(BLEU, chrF\): choose with --where"):
        refuse_mixture(rows, ("metric",))
    with pytest.raises(UserError, match="needs the columns decoding: see docs/analysis.md"):
        require(rows, ("metric", "decoding"), "this")
    with pytest.raises(UserError, match="must hold finite numbers, got 'BLEU'"):
        number(rows[0], "metric")
    with pytest.raises(UserError, match="choose with --where"):
        LAYOUTS["1"].build(
            [{**row, "decoding": "mbr", "label_smoothing": "0", "num_hyp": "1"} for row in rows], None, 1
        )


def test_where_compares_numbers_and_says_what_is_wrong(tmp_path):
    path = results(tmp_path, BILINGUAL)
    assert len(read_results([path], ["decoding=dcmbr", "temp_hyp=0.5"])) == 2
    for condition, message in (("size=1", "one of the columns label_smoothing"), ("score", "COLUMN=VALUE")):
        with pytest.raises(UserError, match=message):
            read_results([path], [condition])
    with pytest.raises(UserError, match="leaves no row: choose a value that the table has .beam, dcmbr, mbr, sample"):
        read_results([path], ["decoding=greedy"])
    given_up = results(tmp_path, [("all_exact", "score"), ("no", 1)], "topn.tsv")
    with pytest.raises(UserError, match="all_exact=yes leaves no row: no search was exact, so .* --max-expansions"):
        read_results([given_up], ["all_exact=yes"])


def test_conditions_on_pools_do_not_concern_beam_search(tmp_path):
    rows = read_results([results(tmp_path, BILINGUAL)], ["num_hyp=50"])
    assert [row["decoding"] for row in rows] == ["beam", "beam", "mbr"]
    assert [row["decoding"] for row in read_results([results(tmp_path, BILINGUAL)], ["label_smoothing=0"])] == ["beam"]


@pytest.mark.parametrize("column", ["task", "subset", "sentences", "model"])
@pytest.mark.parametrize("table", ["1", "2", "utilities"])
def test_no_table_mixes_test_sets_or_models(tmp_path, table, column):
    if (table, column) in {("2", "task"), ("utilities", "task")}:
        pytest.skip("a row for each, or the mean over them")
    known = {"task": "x-en-de", "subset": "test", "sentences": "5", "model": "m", "utility": "chrf"}
    rows = read_results([results(tmp_path, BILINGUAL[:4])])
    rows = [{**known, **row, "label_smoothing": "0.1", "num_hyp": "10"} for row in rows]
    with pytest.raises(UserError, match=f"several values of {column} .*: choose with --where"):
        LAYOUTS[table].build([{**row, column: value} for row in rows for value in "12"], None, 0.5)


def test_decodings_of_other_test_sets_do_not_stand_side_by_side(tmp_path):
    """Nothing is averaged here, but beam search and MBR would be compared on different sentences."""
    lines = [(*BILINGUAL[0], "subset"), (*BILINGUAL[2], "valid"), (*BILINGUAL[3], "test")]
    with pytest.raises(UserError, match="several values of subset .valid, test.: choose with --where"):
        LAYOUTS["1"].build(read_results([results(tmp_path, lines)]), None, 0.5)


def test_two_test_sets_of_a_direction_have_no_common_row(tmp_path):
    lines = [("task", "decoding", "score"), ("wmt16-en-de", "beam", 1), ("wmt20-en-de", "beam", 2)]
    with pytest.raises(UserError, match="wmt16-en-de and wmt20-en-de are of the same direction"):
        LAYOUTS["2"].build(read_results([results(tmp_path, lines)]), None, 0.5)


def test_utilities_are_compared_on_the_same_test_sets(tmp_path):
    lines = [("utility", "metric", "decoding", "task", "seed", "score"), ("bleu", "BLEU", "mbr", "en-de", 1, 10)]
    lines += [("bleu", "BLEU", "mbr", "de-en", 1, 20), ("bleu", "BLEU", "mbr", "de-en", 2, 40)]
    grid = LAYOUTS["utilities"].build(read_results([results(tmp_path, lines)]), None, 0.5)
    assert list(grid.rows) == [["bleu", None, "20.0"]]  # each test set counts once, however many seeds it has
    lines += [("chrf", "BLEU", "mbr", "en-de", 1, 30)]
    with pytest.raises(UserError, match="means over different test sets .* .bleu BLEU mbr: en-de, de-en; chrf"):
        LAYOUTS["utilities"].build(read_results([results(tmp_path, lines)]), None, 0.5)


@pytest.mark.parametrize("column", ["task", "num_ref", "ref_pool", "signature", "utility_signature"])
def test_settings_are_not_averaged(tmp_path, column):
    lines = [(*BILINGUAL[0], column), *((*BILINGUAL[3], value) for value in (10, 50))]
    with pytest.raises(UserError, match=f"several values of {column} .10, 50."):
        LAYOUTS["1"].build(read_results([results(tmp_path, lines)]), None, 0.5)


def test_a_metric_may_have_other_arguments_in_each_direction_but_not_in_one(tmp_path):
    """METEOR's language, say."""
    lines = [("task", "decoding", "metric", "signature", "score"), ("x-en-de", "beam", "METEOR", "METEOR|de", 1)]
    other = ("x-en-ro", "beam", "METEOR", "METEOR|ro", 2)
    assert len(LAYOUTS["2"].build(read_results([results(tmp_path, [*lines, other])]), None, 0.5).rows) == 3
    same = ("x-en-de", "beam", "METEOR", "METEOR|ro", 2)
    with pytest.raises(UserError, match="several values of signature"):
        LAYOUTS["2"].build(read_results([results(tmp_path, [*lines, same])]), None, 0.5)


def test_several_values_of_one_seed_are_no_repeated_measurement(tmp_path):
    rows = read_results([results(tmp_path, BILINGUAL)])
    once = LAYOUTS["1"].build(rows, None, 0.5).rows
    assert LAYOUTS["1"].build([*rows, *rows], None, 0.5).rows == once  # a cell that two tables have counts once
    with pytest.raises(UserError, match="several values of score for seed 1, in rows that differ in no column"):
        LAYOUTS["1"].build([*rows, *({**row, "score": "1"} for row in rows)], None, 0.5)


def test_means_over_other_seeds_are_told(tmp_path, caplog):
    lines = [("temp_hyp", "seed", "score"), (0.5, 1, 1), (0.5, 2, 2), (1, 1, 3), (1, 2, 4)]
    means(read_results([results(tmp_path, lines)]), ("temp_hyp",))
    assert not caplog.records
    means(read_results([results(tmp_path, lines[:-1])]), ("temp_hyp",))
    assert "some means are over other seeds than others: 1, 2; 1" in caplog.text


def test_table_2_does_not_average_models(tmp_path):
    lines = [("task", "model", "decoding", "score"), ("en-de", "a", "beam", 1), ("en-de", "b", "beam", 2)]
    with pytest.raises(UserError, match="several values of model .a, b."):
        LAYOUTS["2"].build(read_results([results(tmp_path, lines)]), None, 0.5)


def test_means_over_seeds(tmp_path):
    rows = read_results([results(tmp_path, BILINGUAL)], ["decoding=dcmbr", "temp_hyp=0.5"])
    (mean,) = means(rows, ("temp_hyp",)).values()
    assert (mean.mean, mean.low, mean.high, mean.count) == (65.5, 65.0, 66.0, 2)


#: Two seeds in two directions; beam search has no seed. MBR and DC-MBR rise together in the first, so that their
#: difference is less spread than either.
SEEDS = [
    ("task", "label_smoothing", "decoding", "utility", "metric", "num_hyp", "seed", "score"),
    *(("en-de", 0.1, "beam", "-", "chrF", "-", "-", score) for score in (60.0, 61.0)),
    *(("en-de", 0.1, "mbr", "chrf", "chrF", 10, seed, score) for seed, score in ((1, 50.0), (2, 53.0))),
    *(("en-de", 0.1, "dcmbr", "chrf", "chrF", 10, seed, score) for seed, score in ((2, 64.5), (1, 61.0))),
    ("de-en", 0.1, "beam", "-", "chrF", "-", "-", 70.0),
    *(("de-en", 0.1, "mbr", "chrf", "chrF", 10, seed, score) for seed, score in ((1, 50.0), (2, 40.0))),
    ("de-en", 0.1, "dcmbr", "chrf", "chrF", 10, 1, 62.0),
]


@pytest.mark.parametrize(
    ("layout", "where", "paper_table", "expected"),
    [
        ("1", "task=en-de", None, [["N=10", "+ LS 0.1", "60.5 [60.0, 61.0]", "51.5 [50.0, 53.0]", "62.8 [61.0, 64.5]",
                                    "+11.2 [+11.0, +11.5]"]]),
        ("1", "task=de-en", None, [["N=10", "+ LS 0.1", "70.0", "45.0 [40.0, 50.0]", "62.0", "+17.0"]]),
        ("utilities", "decoding=mbr", None, [["chrf", None, "48.2 [46.5, 50.0]"]]),
        ("1", "task=de-en", "en-de", [["N=10", "+ LS 0.1", "70.0 (64.2)", "45.0 [40.0, 50.0] (41.0)", "62.0 (67.9)",
                                       "+17.0 (+26.9)"]]),
        ("2", "decoding=mbr", None, [["en-de", None, "51.5 [50.0, 53.0]", None, None],
                                     ["de-en", None, "45.0 [40.0, 50.0]", None, None],
                                     ["average", None, "48.2 [46.5, 50.0]", None, None]]),
    ],
)  # fmt: skip
def test_spread_over_seeds(tmp_path, layout, where, paper_table, expected):
    """The least and the greatest seed; of a difference and an average over directions seed by seed."""
    rows = read_results([results(tmp_path, SEEDS)], [where])
    shown = [list(row) for row in LAYOUTS[layout].build(rows, paper_table, 0.5, True).rows]
    assert [row for row in shown if paper_table is None or row[:2] == expected[0][:2]] == expected
    plain = LAYOUTS[layout].build(rows, paper_table, 0.5).rows
    assert not any("[" in str(cell) for row in plain for cell in row)


TESTS = [
    ("baseline", "model", "seeds", "num_hyp", "decoding", "temp_hyp", "temp_ref", "metric", "difference", "p"),
    ("decoding=beam", "m", "-", "-", "beam", "-", "-", "chrF", "-", "-"),
    ("decoding=beam", "m", "1, 2", 50, "dcmbr", 0.5, 0.5, "chrF", 1.354, 0.0001),
    ("decoding=beam", "m", "1, 2", 50, "dcmbr", 0.5, 0.5, "TER", -0.2, 0.3),
    ("decoding=beam", "m", "1, 2", 50, "dcmbr", 0.7, 0.7, "chrF", 9, 0.3),
    ("decoding=beam", "m", "1, 2", 50, "mbr", 1, 1, "chrF", 9, 0.3),
    ("temp_hyp=1", "n", 3, 10, "dcmbr", 0.5, 0.5, "chrF", -1, 0.05),
]


def test_tests_show_what_dcmbr_was_compared_with(tmp_path, capsys):
    path = results(tmp_path, TESTS)
    grid = LAYOUTS["tests"].build(read_results([path]), 0.5)
    assert list(grid.header) == ["model", "seeds", "N", "against", "chrF", "TER (lower is better)"]
    assert list(grid.rows) == [
        ["m", "1, 2", "50", "decoding=beam", "+1.35 (p = 0.0001)", "-0.20 (p = 0.300)"],
        ["n", "3", "10", "temp_hyp=1", "-1.00 (p = 0.050)", None],
    ]
    assert grid.bold == [[4], []]
    again = results(tmp_path, [*TESTS, (*TESTS[2][:-1], 0.5)], "again.tsv")
    assert main(["table", "tests", again]) == 1
    assert "two tests of m, N = 50, by chrF: choose with --where" in capsys.readouterr().err
    assert main(["table", "tests", path, path, "--format", "markdown"]) == 0
    assert "| **+1.35 (p = 0.0001)** |" in capsys.readouterr().out


def test_a_table_says_what_its_brackets_are(tmp_path, capsys):
    path = results(tmp_path, SEEDS)
    assert main(["table", "1", path, "--where", "task=en-de", "--spread", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert "| **62.8 [61.0, 64.5]** | +11.2 [+11.0, +11.5] |" in out
    assert "cells are means over seeds, in brackets the least and the greatest seed" in out


def test_a_table_says_what_it_is(tmp_path, capsys):
    known = {"task": "x-en-de", "subset": "valid", "sentences": "40", "model": "a", "signature": "chrF|v:1"}
    lines = [(*BILINGUAL[0], *known), *((*line, *known.values()) for line in BILINGUAL if line[0] == 0.1)]
    path = results(tmp_path, lines)
    said = ["test set: x-en-de, valid, 40 sentences", "model: a", "N = 10, 50; T = 0.5, 1; draws: independent",
            "seeds: 1, 2", "judged by: chrF|v:1", "cells are means over seeds"]  # fmt: skip
    for form, before in (("text", ""), ("latex", "% "), ("markdown", "")):
        assert main(["table", "1", path, "--format", form]) == 0
        shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert shown[-len(said) :] == [before + line for line in said]
    assert main(["table", "1", path, "--format", "tsv"]) == 0
    assert "test set" not in capsys.readouterr().out


def test_command(tmp_path, capsys):
    path = results(tmp_path, BILINGUAL)
    assert main(["table", "1", path, "--format", "latex"]) == 0
    assert r"N=10 & + LS 0.1 & 61.0 & 40.0 & \textbf{65.5} & +25.5 \\" in capsys.readouterr().out
    assert main(["table", "1"]) == 1
    assert "--paper to see the paper's numbers alone" in capsys.readouterr().err
    assert main(["table", "1", path, "--where", "decoding=beam"]) == 1
    assert "no row fits table 1" in capsys.readouterr().err


def rows_of(tex: str, label: str):
    """The rows of numbers of the table that carries ``label``."""
    end = tex.index(rf"\label{{{label}}}")
    start = tex.rindex(r"\begin{tabular}", 0, end)
    for line in tex[start:end].split(r"\\"):
        line = re.sub(
            r"\\cline\{[^}]*\}|\\cellcolor\{[^}]*\}|\\multirow\{[^}]*\}|LS 0\.\d|N=\$?\d+|\$N\$=\d+", "", line
        )
        numbers = [float(text) for text in re.findall(r"(?<![\w.])[+-]?\d+\.\d(?!\d)", line)]
        if len(numbers) > 2:
            yield line, numbers


def test_numbers_are_those_that_the_paper_prints(shared):
    tex = (shared / "paper" / "dc-mbr.tex").read_text("utf-8")
    for name, table in paper.BILINGUAL.items():
        printed = [numbers for _, numbers in rows_of(tex, f"tab:{name}")]
        ours = [[value for value in row if value is not None] for row in table.values()]
        assert printed == ours, name
    printed = {line.split("&")[0].split()[-1].lower(): numbers for line, numbers in rows_of(tex, "tab:multi-nmt")}
    assert printed == {**{k: list(v) for k, v in paper.WMT16.items()}, "average": list(paper.WMT16_AVERAGE)}
    printed = [numbers for _, numbers in rows_of(tex, "tab:util_funcs")]
    assert printed == [[x for pair in row.values() for x in pair] for row in paper.UTILITIES.values()]
    end = tex.index(r"\label{tab:data_stat}")
    counts = re.findall(r"& (\d+)\s*& (\d+) \\\\", tex[tex.rindex(r"\begin{tabular}", 0, end) : end])
    assert [(int(v), int(t)) for v, t in counts] == [row[1:] for row in paper.DATA.values()]
