"""The figures of the paper by their numbers, and one of cost, drawn and written to files. Needs matplotlib alone."""

import io
import logging
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.writing import atomic_bytes_writer, atomic_writer
from dcmbr_fairseq.present import cost, drawings, paper
from dcmbr_fairseq.present.drawings import Drawn
from dcmbr_fairseq.present.provenance import BARS, describe
from dcmbr_fairseq.present.results import Cells, distinct, one_kind_of_draws
from dcmbr_fairseq.present.series import LOOK, new_figure
from dcmbr_fairseq.present.tables import Grid, render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Dots an inch of a PNG.
DPI = 300
#: The small print below a figure: points, characters an inch, inches a line.
CAPTION_SIZE, CAPTION_CHARACTERS, CAPTION_LINE = 6, 21, 0.105


class Drawing(NamedTuple):
    """A figure that ``dcmbr plot`` can draw.

    Attributes:
        draw: draws rows; with the ``temperature`` of DC-MBR too, where ``cooled``.
        title: what it is.
        cooled: whether that temperature chooses what it shows.
        compares_draws: whether it compares kinds of draws, which others must not mix.
    """

    draw: Callable[..., Drawn]
    title: str
    cooled: bool = False
    compares_draws: bool = False


FIGURES: dict[str, Drawing] = {
    "1": Drawing(drawings.figure_1, "quality against label smoothing for each decoding", cooled=True),
    "2": Drawing(drawings.figure_2, "ranks of reference tokens"),
    "3": Drawing(drawings.figure_3, "quality of the most probable sequences"),
    "4": Drawing(drawings.figure_4, "quality of MBR against entropy"),
    "5": Drawing(drawings.figure_5, "quality against the number of candidates"),
    "6": Drawing(drawings.figure_6, "quality against temperature for each direction"),
    "7": Drawing(drawings.figure_7, "the roles of T_h and T_r; quality and diversity", cooled=True),
    "cost": Drawing(cost.figure_cost, "quality against seconds for each way of decoding (ours)", compares_draws=True),
}


def draw(
    name: str, rows: Sequence[Cells], temperature: float = paper.TEMPERATURE, title: str | None = None
) -> "Figure":
    """Draw a figure of the paper; below it stands what it shows.

    Args:
        name: a key of :data:`FIGURES`.
        rows: tidy rows with the columns that docs/analysis.md lists for it.
        temperature: T_h = T_r of DC-MBR (Figure 1), and T_h of Figure 7's middle panel.
        title: stands above the figure.

    Raises:
        UserError: matplotlib or columns are missing, or a mean would mix what must not be mixed.
    """
    return plot(name, rows, temperature, title).figure


def plot(name: str, rows: Sequence[Cells], temperature: float = paper.TEMPERATURE, title: str | None = None) -> Drawn:
    """The same, with the rows that are in the figure; see :func:`draw`."""
    new_figure(1, 1)  # says so if matplotlib is missing
    drawing = FIGURES[name]
    if not drawing.compares_draws:
        one_kind_of_draws(rows)
    from matplotlib import rc_context

    with rc_context(LOOK):
        drawn = drawing.draw(rows, temperature) if drawing.cooled else drawing.draw(rows)
        if title:
            drawn.figure.suptitle(title)
        add_caption(drawn.figure, said_of(drawn))
        drawn.figure.canvas.draw()  # fix the layout while the settings hold
    return drawn


def said_of(drawn: Drawn) -> list[str]:
    """What a figure is, in lines: :func:`~dcmbr_fairseq.present.provenance.describe`, and what its bars mean."""
    several = len(distinct([row for row in drawn.rows if row.get("seed")], "seed")) > 1
    return [*describe(drawn.rows), *([drawn.bars] if several or drawn.bars != BARS else [])]


def add_caption(figure: "Figure", lines: Sequence[str]) -> None:
    """Small print below the axes; the figure grows by it."""
    width, height = figure.get_size_inches()
    wrapped = [part for line in lines for part in textwrap.wrap(line, int(width * CAPTION_CHARACTERS))]
    if wrapped:
        figure.set_size_inches(width, height + CAPTION_LINE * (len(wrapped) + 1))
        figure.supxlabel("\n".join(wrapped), fontsize=CAPTION_SIZE, x=0.01, ha="left", color="#555555")


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


def save_data(drawn: Drawn, prefix: PathLike, settings: Mapping[str, str]) -> Path:
    """Write ``prefix.txt``: what the figure is, how it was made, and its rows, to be read as a table again.

    Args:
        drawn: the figure.
        prefix: the path without its ending.
        settings: what was asked for, such as ``--where``.
    """
    path = Path(f"{prefix}.txt")
    remarks = [*said_of(drawn), *(f"{name}: {value}" for name, value in settings.items() if value)]
    columns = list(dict.fromkeys(column for row in drawn.rows for column in row))
    cells = [[row.get(column) or None for column in columns] for row in drawn.rows]
    with atomic_writer(path) as out:
        out.writelines(f"# {' '.join(remark.split())}\n" for remark in remarks)
        out.write(render(Grid(columns, cells), "tsv"))
    return path
