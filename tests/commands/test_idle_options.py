"""An option that would change nothing is refused, with its value and what to do."""

import pytest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.commands.shared import refuse_idle
from dcmbr_fairseq.errors import UserError

LEMMA = "temperature --from-ls 0.1 --to-ls 0.01"
WITHOUT_TUNE = "has no meaning without --tune: add it, or leave this out"


@pytest.mark.parametrize(
    "words, message",
    [
        ("table data --paper --temperature 0.3", "--temperature 0.3 has no meaning in table data: leave it out"),
        ("table data --paper --spread", "--spread has no meaning in table data: leave it out"),
        ("table tests x.tsv --spread", "--spread has no meaning in table tests: leave it out"),
        ("table tests x.tsv --paper", "--paper has no meaning in table tests: leave it out"),
        *((f"plot {figure} x.tsv --output f --temperature 0.7", f"--temperature 0.7 has no meaning in figure {figure}:")
          for figure in ("2", "3", "4", "5", "6", "cost")),
        ("plot 2 x.tsv --output f --formats pdf,svg --dpi 72", "--dpi 72 has no meaning for pdf,svg, which have"),
        (f"{LEMMA} --surface x.tsv", f"--surface x.tsv {WITHOUT_TUNE}"),
        (f"{LEMMA} --first 3", f"--first 3 {WITHOUT_TUNE}"),
        (f"{LEMMA} --utility bleu", f"--utility bleu {WITHOUT_TUNE}"),
        (f"{LEMMA} --num-hyp 5", f"--num-hyp 5 {WITHOUT_TUNE}"),
        (f"{LEMMA} --ref-pool shared", f"--ref-pool shared {WITHOUT_TUNE}"),
        ("temperature --tune bin --path m.pt --from-ls 0.1", "--from-ls 0.1 has no meaning with --tune: leave it out"),
        ("temperature --tune bin --path m.pt --vocabulary 9", "--vocabulary 9 has no meaning with --tune: "),
        ("temperature --tune bin --path m.pt --format json", "--format json has no meaning with --tune: leave it out"),
        *((f"{command} --skip length ratio --{limit} 3", f"--{limit} {value} has no meaning with --skip {rule}")
          for command in ("corpus filter a b --out c d", "distill-data r --out c d")
          for rule, limit, value in (("length", "max-words", "3"), ("ratio", "max-ratio", "3.0"))),
        ("corpus filter a b --out c d --max-word-length 9 --skip word-length", "--max-word-length 9 has no meaning"),
        ("corpus filter a b --out c d --scores s --min-score 1 --skip score", "--scores s has no meaning with --skip"),
        ("corpus filter a b --out c d --score-per-word", "--score-per-word has no meaning without --scores: "),
        ("evaluate h --references r --samples 9", "--samples 9 has no meaning without --confidence: add it, or leave"),
    ],
)  # fmt: skip
def test_an_idle_option_is_refused(words, message, capsys):
    assert main(words.split()) == 1
    assert f"dcmbr {words.split()[0]}: error: {message}" in capsys.readouterr().err


def test_options_that_were_not_given_pass(capsys):
    refuse_idle({"--a": None, "--b": False}, "here")
    with pytest.raises(UserError, match="^--c 0 has no meaning here: leave it out$"):
        refuse_idle({"--a": None, "--c": 0}, "here")
    assert main([*LEMMA.split(), "--format", "json"]) == 0
    assert '"temperature": 0.478' in capsys.readouterr().out
