"""Quality against cost, which the paper has not: a line for each way of decoding, from what frontier.py measures."""

from collections.abc import Sequence

import numpy as np

from dcmbr_fairseq.present.drawings import Drawn, score_label
from dcmbr_fairseq.present.results import (
    METRIC,
    TEST_SET,
    Cells,
    distinct,
    label,
    means,
    one_test_set,
    refuse_mixture,
    require,
)
from dcmbr_fairseq.present.series import new_figure, styles


def figure_cost(rows: Sequence[Cells]) -> Drawn:
    """Quality against the seconds that a sentence takes, with N beside each point.

    Args:
        rows: with system, num_hyp, seconds (of a sentence, of the processor), metric, score.
        temperature: has no meaning here.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    require(rows, ("system", "num_hyp", "seconds", "score"), "the figure of cost")
    refuse_mixture(rows, METRIC)
    one_test_set(rows, models_by=())
    figure, (axes,) = new_figure(7.4, 4.0)
    systems = list(dict.fromkeys(row["system"] for row in rows))
    for system, style in zip(systems, styles(len(systems)), strict=True):
        own = [row for row in rows if row["system"] == system]
        seconds, scores = (means(own, ("num_hyp",), column, (*TEST_SET, *METRIC, "model"))
                           for column in ("seconds", "score"))  # fmt: skip
        keys = [(size,) for size in distinct(own, "num_hyp")]
        xs, ys = ([found[key].mean for key in keys] for found in (seconds, scores))
        bars = np.array([[scores[key].mean - scores[key].low, scores[key].high - scores[key].mean] for key in keys])
        axes.errorbar(xs, ys, yerr=bars.T, label=system, color=style.color, linestyle=style.dashes,
                      marker=style.marker, capsize=2, elinewidth=0.9)  # fmt: skip
        for (size,), x, y in zip(keys, xs, ys, strict=True):
            axes.annotate(label(size), (x, y), textcoords="offset points", xytext=(3, -8), fontsize=6,
                          color=style.color)  # fmt: skip
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda second, _: f"{second:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="seconds a sentence, one thread", ylabel=score_label(rows))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Drawn(figure, rows)
