"""Figures 1-7 of the paper drawn from tidy tables (docs/analysis.md has their columns). Needs matplotlib, nothing else.

Series differ in colour, marker and dashes at once, and neighbouring colours in lightness too, so that they survive
greyscale printing and colour blindness.
"""

import io
import itertools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, cast

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import PathLike, atomic_writer
from dcmbr_fairseq.present.correlation import correlate
from dcmbr_fairseq.present.results import (
    SETTINGS,
    Row,
    as_value,
    averaged_over_seeds,
    decoding_of,
    distinct,
    label,
    means,
    number,
    refuse_mixture,
    require,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Style(NamedTuple):
    """How a series is drawn."""

    color: str
    marker: str
    dashes: Any
    filled: bool = True


#: Paul Tol's high-contrast colours, which stay apart in greyscale.
_COLORS = ("#004488", "#BB5566", "#DDAA33", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))

#: Dots an inch of a PNG.
DPI = 300

DECODING_NAMES = {"beam": "beam search", "mbr": "MBR", "dcmbr": "DC-MBR"}

_RC = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.labelsize": 9, "legend.fontsize": 8, "axes.titlesize": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6, "axes.axisbelow": True, "lines.linewidth": 1.5, "lines.markersize": 5,
    "legend.frameon": False, "pdf.fonttype": 42, "svg.hashsalt": "dcmbr", "hatch.linewidth": 0.6,
}  # fmt: skip


def styles(count: int) -> list[Style]:
    """A style for each of ``count`` series without an order."""
    pairs = zip(itertools.cycle(_COLORS), itertools.cycle(_MARKERS), itertools.cycle(_DASHES))
    return [Style(color, marker, dashes) for color, marker, dashes in itertools.islice(pairs, count)]


def ordered_styles(count: int) -> list[Style]:
    """Styles for series with an order, such as temperatures: from dark to light, markers and dashes in turn."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shades = [to_hex(colormaps["viridis"](x)) for x in np.linspace(0.0, 0.85, max(count, 2))]
    pairs = zip(shades, itertools.cycle(_MARKERS), itertools.cycle(_DASHES))
    return [Style(color, marker, dashes) for color, marker, dashes in itertools.islice(pairs, count)]


def new_figure(width: float, height: float, panels: int = 1) -> "tuple[Figure, list[Axes]]":
    """A figure of ``width`` x ``height`` inches with ``panels`` axes in a row.

    Raises:
        UserError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError('figures need matplotlib: pip install "dcmbr_fairseq[plots]"') from error
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def draw_series(axes: "Axes", rows: Sequence[Row], x: str, style: Style, name: str, y: str = "score") -> None:
    """A line through the means of ``y`` at each ``x``; bars from the least to the greatest where there are several.

    Raises:
        UserError: a mean would mix settings.
    """
    found = sorted((number({x: label(key)}, x), mean) for (key,), mean in means(rows, (x,), y, SETTINGS).items())
    xs, ys = [key for key, _ in found], [mean.mean for _, mean in found]
    bars = np.array([[mean.mean - mean.low, mean.high - mean.mean] for _, mean in found]).T
    several = any(mean.count > 1 for _, mean in found)
    axes.errorbar(
        xs, ys, yerr=bars if several else None, label=name, color=style.color, linestyle=style.dashes,
        marker=style.marker, markerfacecolor=style.color if style.filled else "white", capsize=2, elinewidth=0.9,
    )  # fmt: skip


def score_label(rows: Sequence[Row]) -> str:
    """What the y axis shows: the metric's name."""
    names = {row["metric"] for row in rows if row.get("metric")}
    return names.pop() if len(names) == 1 else "quality"


def by_model(rows: Sequence[Row], figure: str) -> list[tuple[str, list[Row]]]:
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


def cooled_together(rows: Sequence[Row], figure: str) -> list[Row]:
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


def figure_1(rows: Sequence[Row], temperature: float) -> "Figure":
    """Quality against label smoothing for beam search, MBR and DC-MBR."""
    require(rows, ("label_smoothing", "decoding", "score"), "Figure 1")
    rows = [row for row in rows if isinstance(as_value(row["label_smoothing"]), float)]
    refuse_mixture(rows, ("metric", "task"))
    by_decoding = {name: [row for row in rows if decoding_of(row, temperature) == name] for name in DECODING_NAMES}
    refuse_mixture(by_decoding["mbr"] + by_decoding["dcmbr"], ("utility", "num_hyp", "num_ref"))
    if not any(by_decoding.values()):
        raise UserError("Figure 1 needs rows of beam search, MBR, or DC-MBR at --temperature, with a label smoothing")
    figure, (axes,) = new_figure(4.2, 3.0)
    for (name, chosen), style in zip(by_decoding.items(), styles(3), strict=True):
        if chosen:
            title = f"{DECODING_NAMES[name]}, T = {temperature:g}" if name == "dcmbr" else DECODING_NAMES[name]
            draw_series(axes, chosen, "label_smoothing", style, title)
    axes.set(xlabel="label smoothing λ", ylabel=score_label(rows))
    axes.set_xticks([v for v in distinct(rows, "label_smoothing") if isinstance(v, float)])
    axes.legend()
    return figure


def figure_2(rows: Sequence[Row], temperature: float) -> "Figure":
    """Ranks of reference tokens within the token-level distribution, in buckets, for each label smoothing."""
    require(rows, ("bucket", "count"), "Figure 2")
    series, buckets = by_model(rows, "Figure 2"), list(dict.fromkeys(row["bucket"] for row in rows))
    figure, (axes,) = new_figure(6.0, 3.0)
    width, hatches = 0.8 / len(series), itertools.cycle(("", "////", "....", "xxxx", "\\\\\\\\"))
    for i, ((name, chosen), style, hatch) in enumerate(zip(series, ordered_styles(len(series)), hatches, strict=False)):
        counts = {row["bucket"]: number(row, "count") for row in chosen}
        shares = [100 * counts.get(bucket, 0.0) / sum(counts.values()) for bucket in buckets]
        x = np.arange(len(buckets)) + (i - (len(series) - 1) / 2) * width
        axes.bar(x, shares, width, color=style.color, hatch=hatch, edgecolor="white", label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:g}")
    axes.set_xticks(range(len(buckets)), buckets, rotation=30 if len(buckets) > 8 else 0)
    axes.set(xlabel="rank of the reference token", ylabel="reference tokens (%)")
    axes.grid(False, axis="x")
    axes.legend()
    return figure


def figure_3(rows: Sequence[Row], temperature: float) -> "Figure":
    """Quality of the most probable sequences: how it is distributed, and its mean at each rank."""
    from matplotlib.ticker import MaxNLocator

    require(rows, ("rank", "score"), "Figure 3")
    refuse_mixture(rows, ("metric", "task"))
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
    return figure


def summed_up(rows: Sequence[Row]) -> list[Row]:
    """One row for each rank with the mean score: sentences differ too much for bars from least to greatest."""
    return [{"rank": label(rank), "score": str(mean.mean)} for (rank,), mean in means(rows, ("rank",)).items()]


def figure_4(rows: Sequence[Row], temperature: float) -> "Figure":
    """Quality of MBR against token entropy, a point for each model; the colour shows GER's beta where it is given."""
    require(rows, ("entropy", "score"), "Figure 4")
    refuse_mixture(rows, ("decoding", *SETTINGS))
    rows = averaged_over_seeds(rows, ("entropy", "score"))
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
        f"{name} = {coefficient.value:.2f}".replace("-", "\N{MINUS SIGN}")
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
    return figure


def figure_5(rows: Sequence[Row], temperature: float) -> "Figure":
    """Quality against the number of candidates N, a line for each temperature and a panel for each model."""
    require(rows, ("num_hyp",), "Figure 5")
    rows = cooled_together(rows, "Figure 5")
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
    return figure


def figure_6(rows: Sequence[Row], temperature: float) -> "Figure":
    """Quality against temperature for each direction; both directions of a language pair share a colour."""
    require(rows, ("task",), "Figure 6")
    rows = cooled_together(rows, "Figure 6")
    refuse_mixture(rows, ("num_hyp",))
    figure, (axes,) = new_figure(5.4, 3.4)
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    for task, style in zip(tasks, direction_styles(tasks), strict=True):
        chosen = [row for row in rows if row["task"] == task]
        refuse_mixture(chosen, ("model", "label_smoothing"))
        draw_series(axes, chosen, "temp_hyp", style, task)
    axes.set(xlabel="temperature $T = T_h = T_r$", ylabel=score_label(rows))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def direction_styles(tasks: Sequence[str]) -> list[Style]:
    """Both directions of a language pair share colour and marker; the second is dashed with open marks."""
    pairs = list(dict.fromkeys("-".join(sorted(task.split("-"))) for task in tasks))
    base = dict(zip(pairs, ordered_styles(len(pairs)), strict=True))
    seen: dict[str, int] = {}
    found: list[Style] = []
    for task in tasks:
        pair = "-".join(sorted(task.split("-")))
        first = seen.setdefault(pair, len(found)) == len(found)
        style = base[pair]
        found.append(Style(style.color, style.marker, "-" if first else (0, (4, 1.5)), first))
    return found


@dataclass(frozen=True)
class _Sweep:
    """A panel of Figure 7: one temperature varies, the other stands still."""

    varied: str
    fixed: str
    symbol: str
    fixed_symbol: str
    value: float


def figure_7(rows: Sequence[Row], temperature: float) -> "Figure":
    """T_h swept at T_r = 1, T_r swept at T_h = ``temperature``, and quality and diversity of pools against T."""
    pools = [row for row in rows if row.get("diversity")]
    sweeps = [row for row in rows if row.get("score") and row.get("temp_ref") and row.get("decoding") != "beam"]
    require(sweeps, ("temp_hyp", "temp_ref", "score"), "Figure 7, left and middle,")
    require(pools, ("temperature", "quality", "diversity"), "Figure 7, right,")
    refuse_mixture(sweeps, ("metric", "utility", "num_hyp", "model", "label_smoothing"))
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
    return figure


def quality_and_diversity(axes: "Axes", rows: Sequence[Row]) -> None:
    """Quality on the left axis (red in the paper), diversity on the right (blue)."""
    blue, red = styles(2)
    refuse_mixture(rows, ("metric", "num_hyp", "model", "label_smoothing"))
    draw_series(axes, rows, "temperature", red._replace(dashes="-"), "quality", "quality")
    other = axes.twinx()
    draw_series(other, rows, "temperature", Style(blue.color, blue.marker, _DASHES[1], False), "diversity", "diversity")
    other.grid(False)
    other.spines["right"].set_visible(True)
    axes.set(xlabel="$T$", title="sampled candidates")
    axes.set_ylabel(f"quality ({score_label(rows)})", color=red.color)
    other.set_ylabel("Div (chrF between candidates)", color=blue.color)
    handles = [axes.get_legend_handles_labels(), other.get_legend_handles_labels()]
    axes.legend(handles[0][0] + handles[1][0], handles[0][1] + handles[1][1], loc="best")


class Drawing(NamedTuple):
    """A figure that ``dcmbr plot`` can draw."""

    draw: "Callable[[Sequence[Row], float], Figure]"
    title: str


FIGURES: dict[str, Drawing] = {
    "1": Drawing(figure_1, "quality against label smoothing for each decoding"),
    "2": Drawing(figure_2, "ranks of reference tokens"),
    "3": Drawing(figure_3, "quality of the most probable sequences"),
    "4": Drawing(figure_4, "quality of MBR against entropy"),
    "5": Drawing(figure_5, "quality against the number of candidates"),
    "6": Drawing(figure_6, "quality against temperature for each direction"),
    "7": Drawing(figure_7, "the roles of T_h and T_r; quality and diversity"),
}


def draw(name: str, rows: Sequence[Row], temperature: float = 0.5, title: str | None = None) -> "Figure":
    """Draw a figure of the paper.

    Args:
        name: a key of :data:`FIGURES`.
        rows: tidy rows with the columns that docs/analysis.md lists for it.
        temperature: T_h = T_r of DC-MBR (Figure 1), and T_h of Figure 7's middle panel.
        title: stands above the figure.

    Raises:
        UserError: matplotlib or columns are missing, or a mean would mix what must not be mixed.
    """
    new_figure(1, 1)  # says so if matplotlib is missing
    from matplotlib import rc_context

    with rc_context(_RC):
        figure = FIGURES[name].draw(rows, temperature)
        if title:
            figure.suptitle(title)
        figure.canvas.draw()  # fix the layout while the settings hold
    return figure


def save(figure: "Figure", prefix: PathLike, forms: Sequence[str] = ("png", "pdf"), dpi: int = DPI) -> list[Path]:
    """Write ``prefix.png`` (``dpi`` dots an inch) and ``prefix.pdf``, each whole or not at all; without dates."""
    from matplotlib import rc_context

    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it reports every glyph
    paths = []
    for form in forms:
        data = io.BytesIO()
        with rc_context(_RC):
            figure.savefig(data, format=form, dpi=dpi, metadata={"CreationDate": None} if form == "pdf" else None)
        paths.append(Path(f"{prefix}.{form}"))
        with atomic_writer(paths[-1]) as out:
            cast(TextIO, out).buffer.write(data.getvalue())
    return paths
