"""``dcmbr temperature``: what temperature stands for which label smoothing (Lemma 1), both ways; and tuning."""

import argparse
import json
from typing import Any

from dcmbr_fairseq.commands import tune
from dcmbr_fairseq.commands.shared import add_output_arguments, add_whole_number, refuse_idle, write_output
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.lemma import AS_PRINTED, cooling_temperature, equivalent_smoothing
from dcmbr_fairseq.pools.settings import flag

TAKES_FAIRSEQ_FLAGS = True  # with --tune
#: The options of the lemma.
LEMMA = ("from_ls", "to_ls", "temperature", "vocabulary")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    tune.add_tune_arguments(parser)
    tuning = {action.option_strings[0]: action.dest for action in parser._actions}
    parser.set_defaults(tuning={flag: (dest, parser.get_default(dest)) for flag, dest in tuning.items()})
    lemma = parser.add_argument_group("Lemma 1")
    lemma.add_argument("--from-ls", type=float, metavar="L1", help="label smoothing that the model was trained with")
    lemma.add_argument("--to-ls", type=float, metavar="L2", help="smoothing to be reached: prints the temperature T")
    lemma.add_argument("--temperature", type=float, metavar="T", help="temperature: prints the smoothing it stands for")
    add_whole_number(
        lemma, "--vocabulary", least=2, metavar="V",
        help="size of the target dictionary: the exact relation for V tokens (default: the lemma as the paper prints "
        "it, which is exact for V = 2)",
    )  # fmt: skip
    add_output_arguments(parser, ("text", "json"))


def run(args: argparse.Namespace) -> None:
    """Tune, or apply the lemma in the direction that the options ask for."""
    if args.tune:
        lemma = {flag(name): getattr(args, name) for name in LEMMA}
        refuse_idle({**lemma, "--format": None if args.format == "text" else args.format}, "with --tune")
        tune.run(args)
        return
    if args.fairseq_flags or args.path:
        raise UserError("a model and its data are used with --tune only: add --tune, or leave them out")
    refuse_idle(tuning_options(args), "without --tune", "add it, or leave this out")
    if args.from_ls is None:
        raise UserError("--from-ls is missing: give the label smoothing that the model was trained with")
    if (args.to_ls is None) == (args.temperature is None):
        raise UserError("give either --to-ls, to get a temperature, or --temperature, to get a label smoothing")
    result = apply_lemma(args)
    write_output(json.dumps(result) + "\n" if args.format == "json" else sentence(result), args.output)


def tuning_options(args: argparse.Namespace) -> dict[str, object]:
    """The options of tuning that were given, by flag."""
    values = {flag: (getattr(args, dest, default), default) for flag, (dest, default) in args.tuning.items()}
    return {flag: value for flag, (value, default) in values.items() if value != default}


def apply_lemma(args: argparse.Namespace) -> dict[str, Any]:
    """L1, L2, T and V of the relation, whichever was asked."""
    vocabulary = AS_PRINTED if args.vocabulary is None else args.vocabulary
    temperature, to_smoothing = args.temperature, args.to_ls
    if temperature is None:
        temperature = cooling_temperature(args.from_ls, to_smoothing, vocabulary)
    else:
        to_smoothing = equivalent_smoothing(args.from_ls, temperature, vocabulary)
    return {"from_ls": args.from_ls, "to_ls": to_smoothing, "temperature": temperature, "vocabulary": args.vocabulary}


def sentence(result: dict[str, Any]) -> str:
    """The relation in one line."""
    which = "Lemma 1 as printed" if result["vocabulary"] is None else f"exact for {result['vocabulary']} tokens"
    shown = {key: f"{result[key]:.4g}" for key in ("from_ls", "to_ls", "temperature")}
    return f"T = {shown['temperature']} takes label smoothing {shown['from_ls']} to {shown['to_ls']} ({which})\n"
