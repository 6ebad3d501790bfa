"""``dcmbr plot``: Figures 1-7 of the paper, and quality against cost, from tidy tables, as PNG and PDF."""

import argparse
import logging

from dcmbr_fairseq.commands.shared import add_where_argument, add_whole_number, refuse_idle
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.present import paper
from dcmbr_fairseq.present.figures import DPI, FIGURES, plot, save, save_data
from dcmbr_fairseq.present.results import read_results

logger = logging.getLogger(__name__)
OUTPUTS = ()  # --output is the beginning of several names
FORMS = ("png", "pdf", "svg")
#: A figure of 5 inches has 144 million dots then.
MOST_DPI = 2400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    titles = "; ".join(f"{name}: {drawing.title}" for name, drawing in FIGURES.items())
    parser.add_argument("figure", choices=list(FIGURES), metavar="FIGURE", help=f"{titles}".replace("%", "%%"))
    parser.add_argument(
        "tables", nargs="+", metavar="TABLE", help="tidy tables, TSV or JSON lines; see docs/analysis.md"
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="PREFIX",
        help="writes PREFIX.png, PREFIX.pdf, and PREFIX.txt with the data and settings",
    )
    parser.add_argument("--formats", default="png,pdf", metavar="F,F", help=f"of {', '.join(FORMS)} (default: png,pdf)")
    add_where_argument(parser)
    add_whole_number(parser, "--dpi", most=MOST_DPI, help=f"dots an inch of a PNG (default: {DPI})")
    parser.add_argument("--title", help="stands above the figure (default: none)")
    parser.add_argument(
        "--temperature", type=float, metavar="T",
        help="T_h = T_r of DC-MBR in Figure 1, T_h of Figure 7's middle panel (paper and default: "
        f"{paper.TEMPERATURE})",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Draw and write."""
    forms = args.formats.split(",")
    unknown = [form for form in forms if form not in FORMS]
    if unknown:
        raise UserError(f"--formats {args.formats}: {unknown[0]!r} is unknown, choose from {', '.join(FORMS)}")
    drawing = FIGURES[args.figure]
    refuse_idle({"--temperature": None if drawing.cooled else args.temperature}, f"in figure {args.figure}")
    refuse_idle({"--dpi": None if "png" in forms else args.dpi}, f"for {args.formats}, which have no dots")
    temperature = paper.TEMPERATURE if args.temperature is None else args.temperature
    drawn = plot(args.figure, read_results(args.tables, args.where), temperature, args.title)
    settings = {
        "drawn by": f"dcmbr plot {args.figure} ({drawing.title})",
        "tables": ", ".join(args.tables),
        "--where": ", ".join(args.where),
        "--temperature": f"{temperature:g}" if drawing.cooled else "",
    }
    dpi = DPI if args.dpi is None else args.dpi
    for path in [*save(drawn.figure, args.output, forms, dpi), save_data(drawn, args.output, settings)]:
        logger.info("wrote %s", path)
