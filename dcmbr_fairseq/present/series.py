"""How series look: colour, marker and dashes; lines with bars; an empty figure. Needs matplotlib, nothing else.

Series differ in colour, marker and dashes at once, and neighbouring colours in lightness too, so that they survive
greyscale printing and colour blindness.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present.results import SETTINGS, Cells, label, means, number

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
COLORS = ("#004488", "#BB5566", "#DDAA33", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))

#: matplotlib's settings.
LOOK = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.labelsize": 9, "legend.fontsize": 8, "axes.titlesize": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6, "axes.axisbelow": True, "lines.linewidth": 1.5, "lines.markersize": 5,
    "legend.frameon": False, "pdf.fonttype": 42, "svg.hashsalt": "dcmbr", "hatch.linewidth": 0.6,
}  # fmt: skip


def styles(count: int) -> list[Style]:
    """A style for each of ``count`` series without an order."""
    pairs = zip(itertools.cycle(COLORS), itertools.cycle(MARKERS), itertools.cycle(DASHES))
    return [Style(color, marker, dashes) for color, marker, dashes in itertools.islice(pairs, count)]


def ordered_styles(count: int) -> list[Style]:
    """Styles for series with an order, such as temperatures: from dark to light, markers and dashes in turn."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shades = [to_hex(colormaps["viridis"](x)) for x in np.linspace(0.0, 0.85, max(count, 2))]
    pairs = zip(shades, itertools.cycle(MARKERS), itertools.cycle(DASHES))
    return [Style(color, marker, dashes) for color, marker, dashes in itertools.islice(pairs, count)]


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


def draw_series(axes: "Axes", rows: Sequence[Cells], x: str, style: Style, name: str, y: str = "score") -> None:
    """A line through the means of ``y`` at each ``x``; bars from the least to the greatest seed if several.

    Raises:
        UserError: a mean would mix settings.
    """
    found = sorted(
        (number({x: label(key)}, x), mean) for (key,), mean in means(rows, (x,), y, (*SETTINGS, "model")).items()
    )
    xs, ys = [key for key, _ in found], [mean.mean for _, mean in found]
    bars = np.array([[mean.mean - mean.low, mean.high - mean.mean] for _, mean in found]).T
    several = any(mean.count > 1 for _, mean in found)
    axes.errorbar(
        xs, ys, yerr=bars if several else None, label=name, color=style.color, linestyle=style.dashes,
        marker=style.marker, markerfacecolor=style.color if style.filled else "white", capsize=2, elinewidth=0.9,
    )  # fmt: skip
