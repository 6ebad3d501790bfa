"""``dcmbr generate``: decode a test set with one process or many, into records that are safe after each batch."""

import argparse
import logging
import sys
from pathlib import Path

from dcmbr_fairseq.commands.shared import MOST_PROCESSES, add_whole_number
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.places import check_output
from dcmbr_fairseq.runs.launch import launch
from dcmbr_fairseq.runs.ranks import Rank, this_rank

logger = logging.getLogger(__name__)

TAKES_FAIRSEQ_FLAGS = True
OUTPUTS = ()  # a folder

EPILOG = """\
DATA (the folder of fairseq-preprocess) and all further options are those of fairseq-generate: -s en -t de,
--gen-subset test, --decoding dcmbr (the default), --num-hyp 50, --utility chrf, --tokenizer moses, --remove-bpe,
--seed, --max-tokens, --cpu, --fp16, ... --task is translation_dcmbr unless given.

Each process writes OUT/records.RANK-of-COUNT.jsonl.gz; `dcmbr merge` joins them. The same command goes on where it was
cut off. Which process this is follows from torchrun (RANK, WORLD_SIZE), Slurm (srun, array jobs) or
--distributed-rank; without any of these, --processes are started here. Status 75: ended by TERM or HUP between two
batches, run it again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.usage = f"{parser.prog} DATA --path MODEL --output OUT [--processes N] [options of fairseq-generate]"
    parser.add_argument("--path", required=True, metavar="MODEL", help="a checkpoint, or several joined by colons")
    parser.add_argument("--output", required=True, metavar="OUT", help="folder of the records, one for one decode")
    add_whole_number(
        parser, "--processes", most=MOST_PROCESSES, default=1,
        help="processes on this machine: one a GPU, or core (default: 1)",
    )  # fmt: skip
    add_whole_number(parser, "--distributed-world-size", help="how many processes there are (default: as launched)")
    add_whole_number(parser, "--distributed-rank", least=0, help="which one, from 0 (default: as launched)")
    parser.add_argument("--plain", action="store_true", help="records as .jsonl (default: packed, .jsonl.gz)")


def run(args: argparse.Namespace) -> None:
    """Decode, or start the processes that do."""
    refuse_other_outputs(args.fairseq_flags)
    rank = this_rank(args.distributed_rank, args.distributed_world_size)
    if rank is not None and args.processes > 1:
        raise UserError(
            f"--processes {args.processes} does not go with {rank.source}, which says that others start the processes: "
            "leave it out"
        )
    ending = ".jsonl" if args.plain else ".jsonl.gz"
    check_output(Path(args.output) / f"records.0-of-1{ending}")
    status = decode(args, rank or Rank(0, 1), ending) if args.processes == 1 else start(args)
    if status:
        sys.exit(status)
    if rank is None:
        pattern = f"{args.output}/records.*-of-{args.processes}{ending}"
        logger.info("all is decoded; next: dcmbr merge %s --output FILE", pattern)


def start(args: argparse.Namespace) -> int:
    """Start the processes; their exit status."""
    from dcmbr_fairseq.runs.decode import LAUNCHER

    own = ["--path", args.path, "--output", args.output, *(["--plain"] if args.plain else [])]
    return launch(args.processes, ["generate", *args.fairseq_flags, *own], LAUNCHER)


def decode(args: argparse.Namespace, rank: Rank, ending: str) -> int:
    """Decode the sentences of this process; the exit status."""
    import torch

    from dcmbr_fairseq.measure.flags import DECODING
    from dcmbr_fairseq.measure.models import Workspace
    from dcmbr_fairseq.runs.decode import ShardDecode
    from dcmbr_fairseq.runs.launch import UNFINISHED

    for part in ("fairseq.tasks", "fairseq.data"):  # they tell about every batch iterator
        logging.getLogger(part).setLevel(logging.WARNING)
    if torch.cuda.is_available():
        torch.cuda.set_device(rank.local % torch.cuda.device_count())
    workspace = Workspace(with_defaults(args.fairseq_flags), follows=DECODING)
    model = workspace.load(args.path)
    return 0 if ShardDecode(workspace, model, rank, Path(args.output), ending).run() else UNFINISHED


def with_defaults(flags: list[str]) -> list[str]:
    """fairseq-generate's flags, with this package's task and decoding where none are given."""
    given = {flag.partition("=")[0] for flag in flags}
    defaults = {"--task": "translation_dcmbr", "--decoding": "dcmbr"}
    return [*flags, *(word for flag, value in defaults.items() if flag not in given for word in (flag, value))]


def refuse_other_outputs(flags: list[str]) -> None:
    """Refuse options of fairseq-generate that say where its output goes.

    Raises:
        UserError: names the option.
    """
    for flag in flags:
        if flag.partition("=")[0] in ("--pools-out", "--results-path"):
            raise UserError(f"{flag} does not go with dcmbr generate: --output is the folder of its records")
