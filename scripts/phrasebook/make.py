"""Write the demo's English-German corpus as plain text.

    python scripts/phrasebook/make.py OUT_DIR [--pairs N] [--valid N] [--test N] [--seed S]
"""

import argparse
import logging
import sys
from pathlib import Path

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.writing import atomic_writer

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package phrasebook itself

logger = logging.getLogger("phrasebook")


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns the exit status: 0, or 1 for bad input."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s | %(name)s | %(message)s", stream=sys.stderr)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    try:
        run(parser.parse_args(arguments))
    except UserError as error:
        print(f"phrasebook: error: {error}", file=sys.stderr)
        return 1
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("out_dir", metavar="OUT_DIR", help="folder for {train,valid,test}.{en,de}; made if missing")
    parser.add_argument(
        "--pairs", type=int, default=20000, help="distinct sentence pairs in train, valid and test together"
    )
    parser.add_argument(
        "--valid", type=int, default=500, help="pairs of valid: combinations of words that training never shows"
    )
    parser.add_argument("--test", type=int, default=500, help="pairs of test, the same kind as valid")
    parser.add_argument("--seed", type=int, default=1, help="the same seed writes the same files")


def run(args: argparse.Namespace) -> None:
    """Write the corpus.

    Raises:
        UserError: num2words or Babel is not installed, OUT_DIR is a file, or the numbers do not go together.
    """
    try:
        from phrasebook import build_phrasebook

        out_dir = Path(args.out_dir)
        if out_dir.exists() and not out_dir.is_dir():
            raise UserError(f"OUT_DIR must be a folder, but {out_dir} is a file: give another name")
        book = build_phrasebook(args.pairs, args.valid, args.test, args.seed)
    except ModuleNotFoundError as error:
        raise UserError(
            f"the phrasebook needs {error.name}, which is not installed: pip install 'dcmbr_fairseq[demo]'"
        ) from error
    for name, pairs in (("train", book.train), ("valid", book.valid), ("test", book.test)):
        write_split(out_dir, name, pairs)
        sources = len({english for english, _ in pairs})
        logger.info("%s: %d pairs, %d distinct English sentences", out_dir / name, len(pairs), sources)


def write_split(out_dir: Path, name: str, pairs: list[tuple[str, str]]) -> None:
    """Write ``name.en`` and ``name.de``, one sentence a line."""
    for side, language in enumerate(("en", "de")):
        with atomic_writer(out_dir / f"{name}.{language}") as out:
            out.writelines(pair[side] + "\n" for pair in pairs)


if __name__ == "__main__":
    sys.exit(main())
