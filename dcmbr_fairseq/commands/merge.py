"""``dcmbr merge``: the records of several processes as one file, in the order of the sentences."""

import argparse
import logging

from dcmbr_fairseq.commands.shared import add_whole_number, distinct_files
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.writing import atomic_writers
from dcmbr_fairseq.pools.merge import Merge

logger = logging.getLogger(__name__)

OUTPUTS = ("output", "translations")
MOST_SENTENCES = 10**12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "shards", nargs="+", metavar="FILE",
        help="records of dcmbr generate, or of --pools-out, plain or .gz, in any order: OUT/records.*-of-*.jsonl.gz",
    )  # fmt: skip
    parser.add_argument(
        "--output", metavar="FILE", required=True, help="all records, sorted by id, whole or not at all; .gz packs them"
    )
    parser.add_argument("--translations", metavar="FILE", help="the chosen translations too, as text, one a line")
    add_whole_number(
        parser, "--sentences", least=0, most=MOST_SENTENCES,
        help="how many sentences there must be (default: as the records say; those of fairseq-interactive do not)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Join, and tell how many there are."""
    outputs = [path for path in (args.output, args.translations) if path is not None]
    distinct_files(args.shards, outputs)
    count = 0
    with atomic_writers(*outputs) as files:
        for row in Merge(args.shards, args.sentences).rows():
            files[0].write(row.line + "\n")
            if len(files) > 1:
                files[1].write(_translation(row.fields.get("translation"), row.shard, row.id) + "\n")
            count += 1
    logger.info("%d sentences of %d files: %s", count, len(args.shards), " and ".join(outputs))


def _translation(text: object, shard: str, sentence: int) -> str:
    if not isinstance(text, str) or "\n" in text:
        what = "no translation" if text is None else "a translation that is no single line"
        raise UserError(f"{shard}, sentence {sentence}, has {what}: leave out --translations, or use dcmbr select")
    return text
