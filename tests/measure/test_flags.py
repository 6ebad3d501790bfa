"""Commands that measure refuse each option of fairseq-generate that they would ignore, and take those they follow."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from analyses import read_tsv, toy_flags

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.decoding.generation_options import GENERATION
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.flags import BEAM, DECODING, FORCING, SAMPLING, SEARCH, parse_flags, refuse_ignored
from dcmbr_fairseq.pools.settings import OWN, defaults, flag

ELSEWHERE = {"num_shards": 1, "shard_id": 0, "scoring": "bleu", "results_path": None}
DEFAULTS = {**GENERATION, **defaults(), **ELSEWHERE}
HARMLESS = {"no_beamable_mm", "no_seed_provided"}
FOLLOWS = {"forcing": FORCING, "search": SEARCH, "sampling": SAMPLING, "sweep": SAMPLING | BEAM, "decoding": DECODING}


def other(name: str) -> Any:
    """A value that is not the default."""
    default = DEFAULTS[name]
    return "another" if default is None or isinstance(default, str) else True if default is False else default + 2


@pytest.mark.parametrize("follows", FOLLOWS.values(), ids=FOLLOWS)
def test_an_option_is_followed_or_refused(follows: frozenset[str]) -> None:
    assert follows <= {*DEFAULTS, "sampling_topk", "sampling_topp"}, "an option is misspelt"
    refuse_ignored(Namespace(), follows)
    refuse_ignored(Namespace(**DEFAULTS), follows)
    for name in DEFAULTS:
        given = Namespace(**{name: other(name)})
        if name in follows or name in HARMLESS:
            refuse_ignored(given, follows)
        else:
            with pytest.raises(UserError, match=f"^{flag(name)}( .*)? has no meaning here: "):
                refuse_ignored(given, follows)


def test_what_is_followed() -> None:
    """The sets against what the parts read: a set that is too large would let an option be ignored."""
    assert FORCING == set() and SEARCH == {"min_len", "max_len_a", "max_len_b", "unkpen"}
    assert SAMPLING - SEARCH == {"sampling_topk", "sampling_topp", "sampling_epsilon", "max_rows"}
    assert not (BEAM & {"sampling", "temperature", "nbest", "retain_dropout", "lm_path", "constraints", "prefix_size"})
    assert {setting.name for setting in OWN} - DECODING == {"pools_out"}
    assert not DECODING & {"score_reference", "sacrebleu", *ELSEWHERE}


@pytest.mark.parametrize(
    "command, given, message",
    [
        ("entropy", ["--beam", "3"], "--beam 3 has no meaning here: beam search is measured by dcmbr sweep"),
        ("ranks", ["--temp-hyp", "0.3"], "--temp-hyp 0.3 has no meaning here: leave it out"),
        ("ranks", ["--max-len-b", "20"], "--max-len-b 20 has no meaning here: leave it out"),
        ("topn --output x.tsv", ["--sampling-topk", "3"], "--sampling-topk 3 has no meaning here: leave it out"),
        ("diversity", ["--num-shards", "2"], "--num-shards 2 has no meaning here: the sentences are divided by"),
        ("diversity", ["--results-path", "x"], "--results-path x has no meaning here: what is written goes to"),
        ("sweep --output x.tsv", ["--utility", "bleu"], "--utility bleu has no meaning here: the utilities of a sweep"),
        ("sweep --output x.tsv", ["--selection", "prune"], "--selection prune has no meaning here: leave it out"),
        ("sweep --output x.tsv", ["--lenpen", "2"], "--lenpen 2.0 has no meaning here: beam search is measured by"),
        ("sweep --output x.tsv --with-beam", ["--sampling"], "--sampling has no meaning here: leave it out"),
        ("sweep --output x.tsv --with-beam", ["--nbest", "2"], "--nbest 2 has no meaning here: leave it out"),
        ("temperature --tune", ["--beam", "3"], "--beam 3 has no meaning here: beam search is measured by"),
        ("generate --output x", ["--scoring", "sacrebleu"], "--scoring sacrebleu has no meaning here: scores are"),
        ("generate --output x", ["--shard-id", "1"], "--shard-id 1 has no meaning here: the sentences are divided by"),
    ],
)
def test_commands_refuse_what_they_would_ignore(
    command: str, given: list[str], message: str, toy: Any, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*command.split(), *toy_flags(toy), "--task", "translation_dcmbr", "--path", str(toy.checkpoint), *given]
    assert main(words) == 1
    assert f"dcmbr {words[0]}: error: {message}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_beam_search_knows_nothing_of_the_pools_truncation(toy: Any, tmp_path: Path) -> None:
    scores = []
    for more in ([], ["--sampling-topk", "3"]):
        output = tmp_path / f"{len(more)}.tsv"
        grid = ["--first", "6", "--num-hyp", "4", "--temp-hyp", "1", "--metrics", "chrf", "--with-beam"]
        arguments = [*grid, *more, "--path", str(toy.checkpoint), "--output", str(output)]
        assert main(["sweep", *toy_flags(toy), *arguments]) == 0
        scores.append({row["decoding"]: row["score"] for row in read_tsv(output)})
    plain, truncated = scores
    assert plain["beam"] == truncated["beam"] and plain["mbr"] != truncated["mbr"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--decoding", "mbr", "--task", "translation_dcmbr"], "--decoding mbr has no meaning here"),
        (["--temperature", "2"], "--temperature 2.0 has no meaning here: temperatures are the command's own"),
        (["--task", "nix"], "invalid choice: 'nix'"),
    ],
)
def test_flags_that_are_refused(toy: Any, arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_flags([str(toy.data_bin), *arguments])
