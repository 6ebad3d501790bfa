"""``dcmbr select``: decide again from saved pools, without a model."""

import argparse
import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import IO, Any

from tqdm import tqdm

from dcmbr_fairseq.commands.shared import add_whole_number, distinct_files
from dcmbr_fairseq.errors import UserError, lone_surrogate
from dcmbr_fairseq.files.writing import atomic_writer
from dcmbr_fairseq.pools.again import Again, decided_row
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.order import ORDERS, ids_of, places_by_id, refuse_shuffled
from dcmbr_fairseq.pools.plain_text import read_plain_pools
from dcmbr_fairseq.pools.rows import DIGITS, SCHEMA_VERSION, Record, format_row, read_records, read_rows
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.pools.settings import DECIDES, LARGEST_POOL, SETTINGS, flag, signature_of
from dcmbr_fairseq.rules import Decision, DecisionRule, build_rule
from dcmbr_fairseq.utilities import build_utility

logger = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "pools", nargs="?", metavar="POOLS.jsonl",
        help="JSON lines, plain or .gz: written by --pools-out, or by anyone with the fields hypotheses and references "
        "(lists of strings, one for each draw; without references the hypotheses play both parts), and optionally id, "
        "source, weights (one for each reference)",
    )  # fmt: skip
    plain = parser.add_argument_group("pools in plain text, instead of POOLS.jsonl")
    plain.add_argument("--hypotheses", metavar="FILE", help="hypothesis pools, one draw a line")
    plain.add_argument("--references", metavar="FILE", help="reference pools (default: hypotheses play both parts)")
    plain.add_argument("--source", metavar="FILE", help="source sentences, for utilities that need them")
    add_whole_number(plain, "--lines-per-source", most=LARGEST_POOL, help="pool size: draws of each source sentence")
    for name in ("utility", "utility_args"):
        SETTINGS[name].add_to(parser)
    for name, of in (("num_hyp", "hypothesis"), ("num_ref", "reference")):
        add_whole_number(parser, flag(name), most=LARGEST_POOL, help=f"use the first N {of} draws (default: all)")
    SETTINGS["reference_weights"].add_to(parser)
    for name in ("selection", "selection_args"):
        SETTINGS[name].add_to(parser)
    add_whole_number(
        parser, "--nbest", most=LARGEST_POOL, default=1, metavar="K", help="K best distinct hypotheses (default: 1)"
    )
    parser.add_argument(
        "--format", default="text", choices=("text", "json", "records"),
        help="text: the chosen text, one line a row (with --nbest above 1: sentence number from 0, expected utility, "
        "text, separated by tabs); json: one object a row with scores and signature; records: the pools in use, with "
        "this decision, for select and report to read again (default: text)",
    )  # fmt: skip
    parser.add_argument(
        "--order", choices=ORDERS,
        help="of the rows of POOLS.jsonl: id, of their ids; file, as they stand there (default: file; text is refused "
        "where the ids are 0 to n - 1 in another order, as in shards that were joined)",
    )  # fmt: skip
    parser.add_argument(
        "--output", default="-", metavar="FILE", help="write there, whole or not at all (default: -, standard output)"
    )


def run(args: argparse.Namespace) -> None:
    """Decide row by row and print, in the order of the input or of ``--order``."""
    check_arguments(args)
    inputs = [args.pools, args.hypotheses, args.references, args.source]
    distinct_files(inputs, [None if args.output == "-" else args.output])
    utility = build_utility(args.utility, SETTINGS["utility_args"].value(args.utility_args))
    try:
        rule = decision_rule(args)
        logger.info("utility %s", utility.signature())
        places = output_places(args)
        rows = tqdm(open_pools(args), desc="select", unit=" sentences", file=sys.stderr)
        again = Again(rule, utility, args.num_hyp, args.num_ref, args.reference_weights, args.nbest)
        settings = {name: SETTINGS[name].value(getattr(args, name)) for name in DECIDES}
        calls = pairs = 0
        kept: dict[int, str] = {}
        told = Told()
        with rows, open_output(args.output) as out:
            for number, (record, decision) in enumerate(again.decide(rows)):
                place = number if places is None else places[number]
                calls += decision.utility_calls
                pairs += len(record.pools.hypotheses.draws) * len(record.pools.references.draws)
                told.tell(record)
                ranking = rank_texts(record.pools, decision, args.nbest)
                signature = signature_of(utility.signature(), record.draws)
                if args.format == "records":
                    text = format_row(decided_row(record, decision, signature, settings)) + "\n"
                elif args.format == "json":
                    text = format_json(record, decision, ranking, signature) + "\n"
                else:
                    text = format_text(place, ranking, args.nbest)
                if places is None:
                    out.write(text)
                else:
                    kept[place] = text
            if not told.records:
                raise UserError(f"{args.pools or args.hypotheses} has no rows: give pools of at least one sentence")
            out.writelines(kept[place] for place in sorted(kept))
        logger.info("utility calls: %d, for %d pairs of draws (the sum of N_h x N_r)", calls, pairs)
    finally:
        utility.close()


def check_arguments(args: argparse.Namespace) -> None:
    """Refuse what does not fit together.

    Raises:
        UserError: names the option.
    """
    if (args.pools is None) == (args.hypotheses is None):
        raise UserError("give the pools either as POOLS.jsonl or as --hypotheses FILE with --lines-per-source N")
    if args.hypotheses is not None and args.lines_per_source is None:
        raise UserError("--hypotheses needs --lines-per-source N, the number of draws of each source sentence")
    if args.pools is None and args.order is not None:
        raise UserError(f"--order {args.order} goes with POOLS.jsonl, whose rows have ids: leave it out")
    for name in ("references", "source", "lines_per_source"):
        if args.pools is not None and getattr(args, name) is not None:
            raise UserError(f"{flag(name)} goes with --hypotheses, not with {args.pools}: leave it out")


def decision_rule(args: argparse.Namespace) -> DecisionRule:
    """The rule that decides."""
    return build_rule(args.selection, SETTINGS["selection_args"].value(args.selection_args))


def output_places(args: argparse.Namespace) -> list[int] | None:
    """Where each row goes in the output; None where rows stay in their order.

    Raises:
        UserError: see :mod:`dcmbr_fairseq.pools.order`; or a line is no row. It is found before anything is computed.
    """
    if args.pools is None or args.order == "file" or (args.order is None and args.format != "text"):
        return None
    ids = ids_of(({"id": row.get("id")} for row in read_rows(args.pools)), args.pools)
    if args.order == "id":
        return places_by_id(ids, args.pools)
    refuse_shuffled(ids, args.pools)
    return None


def open_pools(args: argparse.Namespace) -> Iterator[Record]:
    """The pools that the arguments name, one row at a time."""
    if args.pools is not None:
        return read_records(args.pools)
    return read_plain_pools(args.hypotheses, args.references, args.source, args.lines_per_source)


class Told:
    """Says which draws of the recorded pools are used, at the first sentence of each kind."""

    def __init__(self) -> None:
        self.records = 0
        self._said: set[str] = set()
        self._kinds: set[str] = set()

    def tell(self, record: Record) -> None:
        """Say it, unless it was said before; warn where the kinds of draws differ."""
        self.records += 1
        said = draws_in_use(record)
        if said not in self._said and len(self._said) < 5:  # pools of anyone may all differ in size
            logger.info("sentence %s: %s", record.id, said)
        self._said.add(said)
        new = record.draws is not None and record.draws not in self._kinds
        if new and len(self._kinds) == 1:
            logger.warning(
                "sentence %s has %s draws, others have %s ones: their expected utilities are not to be averaged",
                record.id, record.draws, *self._kinds,
            )  # fmt: skip
        self._kinds |= {record.draws} if record.draws is not None else set()


def draws_in_use(record: Record) -> str:
    """Which draws of a record decide: ``the first 10 of 50 arithmetic draws``, and of the references if apart."""
    fields, pools = record.fields, record.pools
    kind = "" if record.draws is None else f"{record.draws} "

    def part(pool: TextPool, singular: str, plural: str, of: str) -> str:
        used = len(pool.draws)
        whole = len(fields.get(f"{singular}_draws") or fields.get(plural) or pool.draws)
        return f"all {used} {kind}{of}" if used == whole else f"the first {used} of {whole} {kind}{of}"

    if pools.shared:
        return part(pools.hypotheses, "hypothesis", "hypotheses", "draws")
    own = ("reference", "references") if "references" in fields else ("hypothesis", "hypotheses")
    hypotheses = part(pools.hypotheses, "hypothesis", "hypotheses", "draws")
    return f"{hypotheses} as hypotheses, {part(pools.references, *own, 'draws')} as references"


def rank_texts(pools: Pools, decision: Decision, nbest: int) -> list[dict[str, Any]]:
    """The best distinct hypotheses with their expected utilities, best first."""
    return [
        {"text": pools.hypotheses.texts[i], "expected_utility": round(float(decision.expected[i]), DIGITS)}
        for i in decision.order[:nbest]
    ]


def format_json(record: Record, decision: Decision, ranking: list[dict[str, Any]], signature: str) -> str:
    """One row as JSON, in ASCII: lone surrogates and line breaks survive."""
    row = {
        "schema_version": SCHEMA_VERSION,
        "id": record.id,
        "translation": ranking[0]["text"],
        "expected_utility": ranking[0]["expected_utility"],
        "nbest": ranking,
        "num_hyp": len(record.pools.hypotheses.draws),
        "num_ref": len(record.pools.references.draws),
        **({} if record.draws is None else {"draws": record.draws}),
        "utility_calls": decision.utility_calls,
        "signature": signature,
    }
    return format_row(row)


def format_text(number: int, ranking: list[dict[str, Any]], nbest: int) -> str:
    """One row as text.

    Raises:
        UserError: the text does not fit on a line of UTF-8.
    """
    lines = []
    for entry in ranking:
        text = entry["text"]
        try:
            text.encode()
        except UnicodeEncodeError as error:
            reason = lone_surrogate(error)
            raise UserError(f"the text of sentence {number + 1} holds {reason}: use --format json") from error
        if "\n" in text:
            reason = "a line break, which would shift all lines that follow"
            raise UserError(f"the text of sentence {number + 1} holds {reason}: use --format json")
        lines.append(text if nbest == 1 else f"{number}\t{entry['expected_utility']}\t{text}")
    return "".join(line + "\n" for line in lines)


@contextlib.contextmanager
def open_output(path: str) -> Iterator[IO[str]]:
    """A file that appears whole or not at all, or standard output.

    Raises:
        UserError: it cannot be written, or the disk is full.
    """
    if path == "-":
        yield sys.stdout
    else:
        with atomic_writer(path) as out:
            yield out
