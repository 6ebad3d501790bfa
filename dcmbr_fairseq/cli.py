"""``dcmbr SUBCOMMAND``: everything that works without fairseq's own commands. Subcommands are imported when used."""

import argparse
import importlib
import logging
import sys
import traceback

from dcmbr_fairseq.errors import in_one_line, wants_traceback
from dcmbr_fairseq.files.places import check_output
from dcmbr_fairseq.files.signals import Ended, ending_as_if_interrupted
from dcmbr_fairseq.files.standard_streams import standard_streams
from dcmbr_fairseq.messages.mistakes import sentence_of

#: name -> (module with add_arguments(parser) and run(args), one line of help). A module with TAKES_FAIRSEQ_FLAGS = True
#: gets what its own parser does not know as args.fairseq_flags, to be read by the parser of fairseq-generate. OUTPUTS
#: names its options with paths that it writes where they are not those of OUTPUTS here.
COMMANDS: dict[str, tuple[str, str]] = {
    "generate": ("dcmbr_fairseq.commands.generate", "decode with one process or many, and go on after any end"),
    "merge": ("dcmbr_fairseq.commands.merge", "join the records of several processes, in the order of the sentences"),
    "select": ("dcmbr_fairseq.commands.select", "choose translations from saved pools, without a model"),
    "utilities": ("dcmbr_fairseq.commands.utilities", "what each utility needs, and whether it is ready here"),
    "evaluate": ("dcmbr_fairseq.commands.evaluate", "score translations against references, with signatures"),
    "significance": ("dcmbr_fairseq.commands.significance", "test whether differences between systems are chance"),
    "temperature": ("dcmbr_fairseq.commands.temperature", "temperatures by Lemma 1, or tuned on a validation set"),
    "entropy": ("dcmbr_fairseq.commands.entropy", "token entropy of models, and where two models are alike in it"),
    "ranks": ("dcmbr_fairseq.commands.ranks", "ranks of reference tokens in the model's token distributions"),
    "topn": ("dcmbr_fairseq.commands.topn", "the most probable translations, found exactly, and how good they are"),
    "diversity": ("dcmbr_fairseq.commands.diversity", "diversity and quality of sampled pools against temperature"),
    "sweep": ("dcmbr_fairseq.commands.sweep", "quality over a grid of pool sizes, temperatures, utilities, seeds"),
    "correlation": ("dcmbr_fairseq.commands.correlation", "correlation of quality and entropy over models"),
    "plot": ("dcmbr_fairseq.commands.plot", "draw the paper's figures from tables of results"),
    "table": ("dcmbr_fairseq.commands.table", "make the paper's tables from results"),
    "report": ("dcmbr_fairseq.commands.report", "an HTML page for looking into recorded decisions"),
    "average": ("dcmbr_fairseq.commands.average", "average the last checkpoints of a training run"),
    "distill-data": ("dcmbr_fairseq.commands.distill_data", "training text from recorded decisions (distillation)"),
    "flags": ("dcmbr_fairseq.commands.flags", "print a training config as flags of fairseq-train"),
    "user-dir": ("dcmbr_fairseq.commands.user_dir", "print the folder to give to fairseq as --user-dir"),
    "corpus": ("dcmbr_fairseq.commands.corpus", "filter, normalise and check parallel text for training"),
}


#: Options whose values are paths that a command writes.
OUTPUTS = ("output", "out", "report", "surface", "tests")
TRACEBACK_FLAG = "--traceback"
TRACEBACK_HELP = "show where in the program a mistake was found, too (as does the environment's DCMBR_TRACEBACK=1)"


def build_parser(chosen: str | None) -> argparse.ArgumentParser:
    """The parser; only the ``chosen`` subcommand's module is imported and adds its arguments."""
    parser = argparse.ArgumentParser(prog="dcmbr", description="DC-MBR decoding: tools around pools of translations.")
    subparsers = parser.add_subparsers(dest="command", metavar="SUBCOMMAND", required=True)
    for name, (module_name, help_line) in COMMANDS.items():
        # no abbreviations: --seed must not be taken for --seeds
        subparser = subparsers.add_parser(name, help=help_line, description=help_line, allow_abbrev=False)
        if name == chosen:
            subparser.add_argument(TRACEBACK_FLAG, action="store_true", help=TRACEBACK_HELP)
            module = importlib.import_module(module_name)
            module.add_arguments(subparser)
            passes_on = getattr(module, "TAKES_FAIRSEQ_FLAGS", False)
            outputs = getattr(module, "OUTPUTS", OUTPUTS)
            subparser.set_defaults(run=module.run, fairseq_flags=[] if passes_on else None, outputs=outputs)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run ``dcmbr``; returns the exit status: 0, 1 for bad input, 2 for bad usage, 130 for Ctrl-C.

    What is wrong with inputs, outputs and options is told in one sentence; a fault of the program keeps its traceback.
    TERM and HUP end it as Ctrl-C does, and it dies of them.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    logging.basicConfig(level=logging.INFO, format="%(levelname)s | %(name)s | %(message)s", stream=sys.stderr)
    with ending_as_if_interrupted():
        return _status([word for word in arguments if word != TRACEBACK_FLAG], TRACEBACK_FLAG in arguments)


def _status(arguments: list[str], show: bool) -> int:
    """Run the chosen command; the exit status. ``show`` asks for the traceback of mistakes too."""
    name = " ".join(["dcmbr", *(word for word in arguments[:1] if word in COMMANDS)])
    try:
        with standard_streams():
            args = parse(arguments)
            check_outputs(args)
            args.run(args)
    except KeyboardInterrupt as error:
        reason = error if isinstance(error, Ended) else "interrupted"
        print(f"{name}: {reason}; nothing was written under a final name", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output (head, say) has seen enough
        return 0
    except Exception as error:
        sentence = sentence_of(error, arguments)
        if sentence is None:
            raise
        if show or wants_traceback():
            traceback.print_exception(error)
        print(f"{name}: error: {in_one_line(sentence)}", file=sys.stderr)
        return 1
    return 0


def parse(arguments: list[str]) -> argparse.Namespace:
    """The arguments, with the function of their command."""
    parser = build_parser(arguments[0] if arguments else None)
    args, others = parser.parse_known_args(arguments)
    if others and args.fairseq_flags is None:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    args.fairseq_flags = others
    return args


def check_outputs(args: argparse.Namespace) -> None:
    """Find out before work starts whether what a command will write could be written.

    Raises:
        UserError: names the path.
    """
    for option in args.outputs:
        given = getattr(args, option, None)
        for path in given if isinstance(given, list) else [given]:
            if path not in (None, "-"):
                check_output(path)


if __name__ == "__main__":
    sys.exit(main())
