"""The figures of the paper by their numbers, drawn and written to files. Needs matplotlib, nothing else."""

import io
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dcmbr_fairseq.files import PathLike, atomic_bytes_writer
from dcmbr_fairseq.present import drawings
from dcmbr_fairseq.present.results import Cells
from dcmbr_fairseq.present.series import LOOK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Dots an inch of a PNG.
DPI = 300


class Drawing(NamedTuple):
    """A figure that ``dcmbr plot`` can draw."""

    draw: "Callable[[Sequence[Cells], float], Figure]"
    title: str


FIGURES: dict[str, Drawing] = {
    "1": Drawing(drawings.figure_1, "quality against label smoothing for each decoding"),
    "2": Drawing(drawings.figure_2, "ranks of reference tokens"),
    "3": Drawing(drawings.figure_3, "quality of the most probable sequences"),
    "4": Drawing(drawings.figure_4, "quality of MBR against entropy"),
    "5": Drawing(drawings.figure_5, "quality against the number of candidates"),
    "6": Drawing(drawings.figure_6, "quality against temperature for each direction"),
    "7": Drawing(drawings.figure_7, "the roles of T_h and T_r; quality and diversity"),
}


def draw(name: str, rows: Sequence[Cells], temperature: float = 0.5, title: str | None = None) -> "Figure":
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

    with rc_context(LOOK):
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
        with rc_context(LOOK):
            figure.savefig(data, format=form, dpi=dpi, metadata={"CreationDate": None} if form == "pdf" else None)
        paths.append(Path(f"{prefix}.{form}"))
        with atomic_bytes_writer(paths[-1]) as out:
            out.write(data.getvalue())
    return paths
