"""BEER 2.0 (Stanojević & Sima'an, 2015) by the user's own package, as one child process that answers lines."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.arguments import ARGUMENTS, check_text, check_whole
from dcmbr_fairseq.utilities.base import Comparison, Utility
from dcmbr_fairseq.utilities.java import find_java
from dcmbr_fairseq.utilities.line_process import LineProcess, field
from dcmbr_fairseq.utilities.pairs import Pair, distinct_pairs
from dcmbr_fairseq.utilities.tokens import check_moses_language, moses_tokenizer

PROGRAM = Path("scripts/interactive")
REFERENCES_PER_LINE = 256
MOST_THREADS = 1024
#: Asked around each request: a pair whose score no translation has.
PROBE = "EVAL ||| dcmbr probe one two three ||| probe three two dcmbr seven eight"


class BeerUtility(Utility):
    """BEER 2.0: a trained combination of character n-gram, word and word-order features.

    Texts are tokenised with sacremoses, since BEER splits at spaces only. It cannot read an empty text; a pair with an
    empty side scores 0.

    Args:
        language: language of the tokeniser, the target language.
        home: folder of the unpacked BEER 2.0 package; by default $BEER_HOME.
        model: name of the model in the package's folder ``models``.
        threads: threads of the Java process.
        timeout: seconds without an answer after which the process is started again.

    Raises:
        UserError: Java or the package is missing, or an argument does not fit.
    """

    label = "BEER"
    in_per_cent = True
    needs = "Java; BEER 2.0 in BEER_HOME"
    least_arguments = '{"language": "de"}'

    @classmethod
    def require_ready(cls) -> None:
        """The package and Java."""
        find_home()
        find_java("BEER")

    def __init__(
        self,
        *,
        language: str = "",
        home: str | None = None,
        model: str = "default",
        threads: int = 1,
        timeout: float = 300,
    ) -> None:
        if language == "":
            raise UserError('--utility beer needs the target language: add --utility-args \'{"language": "de"}\'')
        folder = find_home(home if home is None else check_text("home", home))
        if not (folder / "models" / check_text("model", model)).is_dir():
            raise UserError(f"--utility-args: model {model!r} is not in {folder / 'models'}: name a folder there")
        find_java("BEER")
        self.language = language
        self.model = model
        check_moses_language(f"{ARGUMENTS}: language", check_text("language", language))
        self._tokenize = moses_tokenizer(language)
        count = check_whole("threads", threads, 1, MOST_THREADS)
        command = [str(folder / PROGRAM), "--model", model, "--threads", str(count)]
        self._process = LineProcess("BEER", command, timeout, PROBE)
        self._process.start()

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> np.ndarray:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise`; scores around 0 to 1, a text with itself 0.95."""
        return self.pairwise_batch([Comparison(hypotheses, references)])[0]

    def pairwise_batch(self, batch: Sequence[Comparison]) -> list[np.ndarray]:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise_batch`."""
        needed = distinct_pairs(batch, lambda text: field(self._tokenize(text)))
        groups = list(_groups(needed.pairs))
        lines = [
            " ||| ".join(["EVAL", needed.pairs[group[0]][0], *(needed.pairs[i][1] for i in group)]) for group in groups
        ]
        scores = np.zeros(len(needed.pairs))
        for group, answer in zip(groups, self._process.ask(lines, len(lines)), strict=True):
            scores[group] = self._numbers(answer, len(group))
        return needed.matrices(scores)

    def _numbers(self, answer: str, count: int) -> list[float]:
        try:
            numbers = [float(number) for number in answer.split("|||")]
        except ValueError:
            numbers = []
        if len(numbers) != count:
            self.close()
            raise UserError(f"BEER answered {answer[:80]!r} where {count} scores were due: is BEER_HOME a BEER 2.0?")
        return numbers

    def signature(self) -> str:
        """Version, model and tokeniser."""
        return f"BEER|model:{self.model}|tok:moses-{self.language}|version:2.0"

    def close(self) -> None:
        """End the Java process."""
        self._process.close()


def find_home(home: str | None = None) -> Path:
    """The folder of the BEER 2.0 package: the one given, or $BEER_HOME.

    Raises:
        UserError: there is none, or it is not BEER 2.0, or it stands where BEER cannot work.
    """
    named = home or os.environ.get("BEER_HOME")
    if not named:
        raise UserError("BEER needs its package: unpack BEER 2.0 and set BEER_HOME to its folder (docs/utilities.md)")
    folder = Path(named).resolve()
    if not os.access(folder / PROGRAM, os.X_OK):
        raise UserError(f"BEER_HOME {named} has no executable {PROGRAM}: give the folder of an unpacked BEER 2.0")
    if " " in str(folder):
        raise UserError(f"BEER_HOME {str(folder)!r} has a space, which BEER's own scripts cannot handle: move it")
    return folder


def _groups(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """Indices of pairs with the same hypothesis, for one line each; none with an empty text, which breaks the line."""
    groups: dict[str, list[int]] = {}
    for i, (hypothesis, reference) in enumerate(pairs):
        if hypothesis and reference:
            groups.setdefault(hypothesis, []).append(i)
    for group in groups.values():
        for start in range(0, len(group), REFERENCES_PER_LINE):
            yield group[start : start + REFERENCES_PER_LINE]
