"""Figures 1-7 of the paper, each a function from tidy rows (docs/analysis.md has their columns) to what was drawn."""

import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.correlation import correlate
from dcmbr_fairseq.present.provenance import BARS
from dcmbr_fairseq.present.results import (
    METRIC,
    SETTINGS,
    UTILITY,
    Cells,
    as_value,
    averaged_over_seeds,
    decoding_of,
    distinct,
    label,
    means,
    number,
    one_test_set,
    refuse_mixture,
    require,
)
from dcmbr_fairseq.present.series import (
    DASHES,
    Style,
    direction_styles,
    draw_series,
    new_figure,
    ordered_styles,
    styles,
)
from dcmbr_fairseq.present.tables import coefficient_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

logger = logging.getLogger(__name__)

DECODING_NAMES = {"beam": "beam search", "mbr": "MBR", "dcmbr": "DC-MBR"}


class Drawn(NamedTuple):
    """A figure, the rows that are in it, and what its bars mean where that is not plain."""

    figure: "Figure"
    rows: Sequence[Cells]
    bars: str = BARS


def score_label(rows: Sequence[Cells]) -> str:
    """What the y axis shows: the metric's name."""
    names = {row["metric"] for row in rows if row.get("metric")}
    return names.pop() if len(names) == 1 else "quality"


def by_model(rows: Sequence[Cells], figure: str) -> list[tuple[str, list[Cells]]]:
    """What each model is called, and its rows: by label smoothing where each model has its own, else by its name.

    Raises:
        UserError: neither column tells models apart.
    """
    column = "label_smoothing" if rows and all("label_smoothing" in row for row in rows) else "model"
    require(rows, (column,), figure)
    models = {(as_value(row[column]), row.get("model", "")) for row in rows}
    if column == "label_smoothing" and (len({v for v, _ in models}) < len(models) or any(v == "-" for v, _ in models)):
        column = "model"
        require(rows, (column,), f"{figure}, of several models with the same label smoothing,")
    sign = "λ = " if column == "label_smoothing" else ""
    return [
        (f"{sign}{label(value)}", [row for row in rows if as_value(row[column]) == value])
        for value in distinct(rows, column)
    ]


def cooled_together(rows: Sequence[Cells], figure: str) -> list[Cells]:
    """The rows of MBR with T_h = T_r, and pools of the same size.

    Raises:
        UserError: there is none, or they mix test sets, metrics or utilities.
    """
    require(rows, ("temp_hyp", "temp_ref", "score"), figure)
    chosen = [row for row in rows if row.get("decoding", "mbr") in ("mbr", "dcmbr")]
    chosen = [row for row in chosen if as_value(row["temp_hyp"]) == as_value(row["temp_ref"])]
    chosen = [row for row in chosen if "num_ref" not in row or as_value(row["num_ref"]) == as_value(row["num_hyp"])]
    if not chosen:
        raise UserError(f"{figure} needs rows of MBR with equal temp_hyp and temp_ref: the table has none")
    refuse_mixture(chosen, ("metric", "utility"))
    return chosen


def figure_1(rows: Sequence[Cells], temperature: float) -> Drawn:
    """Quality against label smoothing for beam search, MBR and DC-MBR."""
    require(rows, ("label_smoothing", "decoding", "score"), "Figure 1")
    rows = [row for row in rows if isinstance(as_value(row["label_smoothing"]), float)]
    refuse_mixture(rows, METRIC)
    by_decoding = {name: [row for row in rows if decoding_of(row, temperature) == name] for name in DECODING_NAMES}
    refuse_mixture(by_decoding["mbr"] + by_decoding["dcmbr"], (*UTILITY, "num_hyp", "num_ref"))
    if not any(by_decoding.values()):
        raise UserError("Figure 1 needs rows of beam search, MBR, or DC-MBR at --temperature, with a label smoothing")
    shown = [row for chosen in by_decoding.values() for row in chosen]
    one_test_set(shown, models_by=("label_smoothing",))
    figure, (axes,) = new_figure(4.2, 3.0)
    for (name, chosen), style in zip(by_decoding.items(), styles(3), strict=True):
        if chosen:
            title = f"{DECODING_NAMES[name]}, T = {temperature:g}" if name == "dcmbr" else DECODING_NAMES[name]
            draw_series(axes, chosen, "label_smoothing", style, title)
    axes.set(xlabel="label smoothing λ", ylabel=score_label(rows))
    axes.set_xticks([v for v in distinct(rows, "label_smoothing") if isinstance(v, float)])
    axes.legend()
    return Drawn(figure, shown)


def figure_2(rows: Sequence[Cells]) -> Drawn:
    """Ranks of reference tokens within the token-level distribution, in buckets, for each label smoothing."""
    require(rows, ("bucket", "count"), "Figure 2")
    one_test_set(rows)
    series, buckets = by_model(rows, "Figure 2"), list(dict.fromkeys(row["bucket"] for row in rows))
    figure, (axes,) = new_figure(6.0, 3.0)
    width, hatches = 0.8 / len(series), itertools.cycle(("", "////", "....", "xxxx", "\\\\\\\\"))
    for i, ((name, chosen), style, hatch) in enumerate(zip(series, ordered_styles(len(series)), hatches, strict=False)):
        counts = {row["bucket"]: number(row, "count") for row in chosen}
        if len(counts) < len(chosen):
            raise UserError(f"Figure 2: {name} has several rows for a bucket: give each table once")
        shares = [100 * counts.get(bucket, 0.0) / sum(counts.values()) for bucket in buckets]
        x = np.arange(len(buckets)) + (i - (len(series) - 1) / 2) * width
        axes.bar(x, shares, width, color=style.color, hatch=hatch, edgecolor="white", label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:g}")
    axes.set_xticks(range(len(buckets)), buckets, rotation=30 if len(buckets) > 8 else 0)
    axes.set(xlabel="rank of the reference token", ylabel="reference tokens (%)")
    axes.grid(False, axis="x")
    axes.legend()
    return Drawn(figure, rows, "bars are shares of all reference tokens")


def figure_3(rows: Sequence[Cells]) -> Drawn:
    """Quality of the most probable sequences: how it is distributed, and its mean at each rank."""
    from matplotlib.ticker import MaxNLocator

    require(rows, ("rank", "score"), "Figure 3")
    refuse_mixture(rows, METRIC)
    one_test_set(rows)
    warn_of_searches_given_up(rows)
    rows = of_common_sentences(rows)
    series = by_model(rows, "Figure 3")
    figure, (left, right) = new_figure(7.2, 2.9, panels=2)
    scores = np.array([number(row, "score") for row in rows])
    edges = np.linspace(scores.min(), scores.max() or 1.0, 11)
    width = (edges[1] - edges[0]) * 0.86 / len(series)
    hatches = itertools.cycle(("", "////", "....", "xxxx"))
    for i, ((name, chosen), style, hatch) in enumerate(zip(series, ordered_styles(len(series)), hatches, strict=False)):
        counts, _ = np.histogram([number(row, "score") for row in chosen], edges)
        middle = (edges[:-1] + edges[1:]) / 2 + (i - (len(series) - 1) / 2) * width
        shares = 100 * counts / len(chosen)
        left.bar(middle, shares, width, color=style.color, hatch=hatch, edgecolor="white", label=name)
        draw_series(right, summed_up(chosen), "rank", style, name)
    left.set(xlabel=f"{score_label(rows)} of a sequence", ylabel="sequences (%)")
    left.grid(False, axis="x")
    right.set(xlabel="rank by model probability", ylabel=f"mean {score_label(rows)}")
    right.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    left.legend()
    count = f"{len(distinct(rows, 'sentence'))} " if all("sentence" in row for row in rows) else ""
    return Drawn(figure, rows, f"left: shares of each model's sequences; right: means over {count}sentences")


def of_common_sentences(rows: Sequence[Cells]) -> Sequence[Cells]:
    """The rows of the sentences that every model has, so that models are compared on the same: where they were searched
    one by one, ``all_exact`` knows of one only.

    Raises:
        UserError: there is no such sentence.
    """
    if not all("sentence" in row for row in rows):
        return rows
    found = [{row["sentence"] for row in chosen} for _, chosen in by_model(rows, "Figure 3")]
    common = set.intersection(*found)
    if not common:
        raise UserError("Figure 3: no sentence is there of every model: give tables of the same sentences")
    more = set.union(*found) - common
    if more:
        logger.warning(
            "Figure 3: %d sentences that not every model has are left out, %d remain", len(more), len(common)
        )
    return [row for row in rows if row["sentence"] in common]


def warn_of_searches_given_up(rows: Sequence[Cells]) -> None:
    """Say so where sequences may not be the most probable ones, or models are compared on different sentences."""
    given_up = sum(row.get("exact", "yes") != "yes" for row in rows)
    uncommon = sum(row.get("all_exact", "yes") != "yes" for row in rows)
    if given_up or uncommon:
        logger.warning(
            "Figure 3: of %d sequences %d are of searches that were given up, %d of sentences that are not exact with "
            "every model: --where all_exact=yes leaves them out",
            len(rows), given_up, uncommon,
        )  # fmt: skip


def summed_up(rows: Sequence[Cells]) -> list[Cells]:
    """One row for each rank with the mean score: sentences differ too much for bars from least to greatest."""
    return [{"rank": label(rank), "score": str(mean.mean)} for (rank,), mean in means(rows, ("rank",)).items()]


def figure_4(rows: Sequence[Cells]) -> Drawn:
    """Quality of MBR against token entropy, a point for each model; the colour shows GER's beta where it is given."""
    require(rows, ("entropy", "score"), "Figure 4")
    refuse_mixture(rows, ("decoding", *SETTINGS))
    one_test_set(rows)
    shown, rows = rows, averaged_over_seeds(rows, ("entropy", "score"))
    figure, (axes,) = new_figure(4.4, 3.2)
    betas = distinct(rows, "beta") if all("beta" in row for row in rows) else [""]
    for beta, style in zip(betas, ordered_styles(len(betas)), strict=True):
        chosen = [row for row in rows if beta == "" or as_value(row["beta"]) == beta]
        axes.scatter(
            [number(row, "entropy") for row in chosen], [number(row, "score") for row in chosen], s=26,
            color=style.color, marker=style.marker, edgecolors="white", linewidths=0.4,
            label="no GER" if beta == "-" else f"β = {label(beta)}" if beta != "" else None,
        )  # fmt: skip
    found = correlate([number(row, "entropy") for row in rows], [number(row, "score") for row in rows])
    text = "\n".join(
        f"{name} = {coefficient_text(coefficient.value, 2)}".replace("-", "\N{MINUS SIGN}")
        for name, coefficient in (
            ("Kendall τ", found.kendall),
            ("Spearman ρ", found.spearman),
            ("Pearson r", found.pearson),
        )
    )
    axes.text(0.03, 0.04, f"{text}\n{found.count} models", transform=axes.transAxes, va="bottom", fontsize=8)
    axes.set(xlabel="token entropy (nats)", ylabel=f"{score_label(rows)} of MBR")
    if betas != [""]:
        axes.legend()
    return Drawn(figure, shown, "a point for each model, the mean over seeds")


def figure_5(rows: Sequence[Cells]) -> Drawn:
    """Quality against the number of candidates N, a line for each temperature and a panel for each model."""
    require(rows, ("num_hyp",), "Figure 5")
    rows = cooled_together(rows, "Figure 5")
    refuse_mixture(rows, (*METRIC, *UTILITY))
    one_test_set(rows)
    panels, temperatures = by_model(rows, "Figure 5"), distinct(rows, "temp_hyp")
    figure, all_axes = new_figure(0.9 + 3.1 * len(panels), 3.0, len(panels))
    sizes = [value for value in distinct(rows, "num_hyp") if isinstance(value, float)]
    for axes, (name, mine) in zip(all_axes, panels, strict=True):
        for value, style in zip(temperatures, ordered_styles(len(temperatures)), strict=True):
            chosen = [row for row in mine if as_value(row["temp_hyp"]) == value]
            if chosen:
                draw_series(axes, chosen, "num_hyp", style, f"T = {label(value)}")
        axes.set_xscale("log")
        axes.set_xticks(sizes, [label(size) for size in sizes], minor=False)
        axes.set_xticks([], minor=True)
        axes.set(xlabel="candidates N", title=name)
    all_axes[0].set_ylabel(score_label(rows))
    all_axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Drawn(figure, rows)


def figure_6(rows: Sequence[Cells]) -> Drawn:
    """Quality against temperature for each direction; both directions of a language pair share a colour."""
    require(rows, ("task",), "Figure 6")
    rows = cooled_together(rows, "Figure 6")
    refuse_mixture(rows, ("num_hyp",))
    one_test_set(rows, by=("task",), models_by=("task",))
    figure, (axes,) = new_figure(5.4, 3.4)
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    for task, style in zip(tasks, direction_styles(tasks), strict=True):
        chosen = [row for row in rows if row["task"] == task]
        refuse_mixture(chosen, ("model", "label_smoothing"))
        draw_series(axes, chosen, "temp_hyp", style, task)
    axes.set(xlabel="temperature $T = T_h = T_r$", ylabel=score_label(rows))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Drawn(figure, rows)


@dataclass(frozen=True)
class _Sweep:
    """A panel of Figure 7: one temperature varies, the other stands still."""

    varied: str
    fixed: str
    symbol: str
    fixed_symbol: str
    value: float


def figure_7(rows: Sequence[Cells], temperature: float) -> Drawn:
    """T_h swept at T_r = 1, T_r swept at T_h = ``temperature``, and quality and diversity of pools against T."""
    pools = [row for row in rows if row.get("diversity")]
    sweeps = [row for row in rows if row.get("score") and row.get("temp_ref") and row.get("decoding") != "beam"]
    require(sweeps, ("temp_hyp", "temp_ref", "score"), "Figure 7, left and middle,")
    require(pools, ("temperature", "quality", "diversity"), "Figure 7, right,")
    refuse_mixture(sweeps, (*METRIC, *UTILITY, "num_hyp", "model", "label_smoothing"))
    one_test_set([*sweeps, *pools], models_by=())
    figure, axes = new_figure(9.6, 2.9, panels=3)
    panels = (
        _Sweep("temp_hyp", "temp_ref", "T_h", "T_r", 1.0),
        _Sweep("temp_ref", "temp_hyp", "T_r", "T_h", temperature),
    )
    for panel_axes, panel in zip(axes[:2], panels, strict=True):
        chosen = [row for row in sweeps if as_value(row[panel.fixed]) == panel.value]
        if not chosen:
            raise UserError(f"Figure 7 needs rows with {panel.fixed} = {panel.value:g}: sweep {panel.varied} there")
        draw_series(panel_axes, chosen, panel.varied, styles(1)[0], "")
        panel_axes.set(xlabel=f"${panel.symbol}$", title=f"${panel.fixed_symbol}$ = {panel.value:g}")
        panel_axes.set_ylabel(score_label(sweeps))
    quality_and_diversity(axes[2], pools)
    return Drawn(figure, [*sweeps, *pools])


def quality_and_diversity(axes: "Axes", rows: Sequence[Cells]) -> None:
    """Quality on the left axis (red in the paper), diversity on the right (blue)."""
    blue, red = styles(2)
    refuse_mixture(rows, (*METRIC, "num_hyp", "model", "label_smoothing"))
    draw_series(axes, rows, "temperature", red._replace(dashes="-"), "quality", "quality")
    other = axes.twinx()
    draw_series(other, rows, "temperature", Style(blue.color, blue.marker, DASHES[1], False), "diversity", "diversity")
    other.grid(False)
    other.spines["right"].set_visible(True)
    axes.set(xlabel="$T$", title="sampled candidates")
    axes.set_ylabel(f"quality ({score_label(rows)})", color=red.color)
    other.set_ylabel("Div: chrF between candidates (high: alike)", color=blue.color)
    handles = [axes.get_legend_handles_labels(), other.get_legend_handles_labels()]
    axes.legend(handles[0][0] + handles[1][0], handles[0][1] + handles[1][1], loc="best")
