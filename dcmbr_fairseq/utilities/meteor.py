"""METEOR 1.5 (Denkowski & Lavie, 2014) by its own jar, as one child process that answers a stream of lines."""

import importlib.util
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.arguments import check_choice, check_text
from dcmbr_fairseq.utilities.base import Comparison, Utility
from dcmbr_fairseq.utilities.java import find_java
from dcmbr_fairseq.utilities.line_process import LineProcess, field
from dcmbr_fairseq.utilities.pairs import DistinctPairs, distinct_pairs
from dcmbr_fairseq.utilities.tokens import moses_tokenizer

MODULES = ("exact", "stem", "synonym", "paraphrase")
EVAL_FIELDS = 500  # statistics a line: few round trips, and lines of a few ten thousand characters
#: Asked around each request: statistics that no pair of translations has.
PROBE = f"SCORE ||| {' '.join(f'probe{i}' for i in range(17))} ||| {' '.join(f'dcmbr{i}' for i in range(23))} probe3"
SCORES_KEPT = 200_000  # scores of statistics; each takes about 300 bytes
#: One collector thread suffices; texts and tables are UTF-8 whatever the locale.
JAVA_OPTIONS = ["-XX:+UseSerialGC", "-Dfile.encoding=UTF-8"]


class Language(NamedTuple):
    """What the jar does for a target language.

    Attributes:
        normalises: it has its own tokeniser and lower-caser (``-norm``); otherwise texts are tokenised here.
        modules: the matchers that need no paraphrase table; None leaves them to the jar, which then needs none.
    """

    normalises: bool
    modules: str | None


LANGUAGES: dict[str, Language] = {
    "en": Language(True, "exact stem synonym"),
    **dict.fromkeys(("de", "es", "fr", "ru"), Language(True, "exact stem")),
    "cs": Language(True, "exact"),
    **dict.fromkeys(("da", "fi", "hu", "it", "nl", "no", "pt", "ro", "sv", "tr", "other"), Language(False, None)),
}

OWN_NAMES = {"cs": "cz", "sv": "se"}  # in names of files


class MeteorUtility(Utility):
    """METEOR 1.5: harmonic mean of unigram precision and recall over aligned words, with a fragmentation penalty.

    Args:
        language: the target language, such as ``de``; ``other`` uses language-independent parameters.
        modules: the matchers, such as ``"exact stem"``; by default all that the jar has data for.
        jar: path of ``meteor-1.5.jar``; by default $METEOR_JAR, or the one in pycocoevalcap.
        memory: heap of the Java process, as Java writes it.
        timeout: seconds without an answer after which the process is started again.

    Raises:
        UserError: Java or the jar is missing, or an argument does not fit.
    """

    label = "METEOR"
    in_per_cent = True
    needs = "Java; pip install 'dcmbr_fairseq[meteor]' or METEOR_JAR"
    least_arguments = '{"language": "de"}'

    @classmethod
    def require_ready(cls) -> None:
        """Java and the jar."""
        find_java("METEOR")
        find_jar()

    def __init__(
        self,
        *,
        language: str = "",
        modules: str | None = None,
        jar: str | None = None,
        memory: str = "2G",
        timeout: float = 300,
    ) -> None:
        if language == "":
            raise UserError('--utility meteor needs the target language: add --utility-args \'{"language": "de"}\'')
        self.language = check_choice("language", language, LANGUAGES)
        self.jar = find_jar(jar if jar is None else check_text("jar", jar))
        self.modules = _check_modules(modules) if modules is not None else default_modules(self.language, self.jar)
        self._prepare = _preparation(self.language)
        self._score_of: dict[str, float] = {}
        java = [find_java("METEOR"), f"-Xmx{_check_memory(memory)}", *JAVA_OPTIONS]
        command = [*java, "-jar", str(self.jar), *self._options()]
        self._process = LineProcess("METEOR", command, timeout, PROBE)
        self._process.start()

    def _options(self) -> list[str]:
        normalisation = "-norm" if LANGUAGES[self.language].normalises else "-lower"
        modules = ["-m", self.modules] if self.modules else []
        if "paraphrase" in (self.modules or ""):  # named, since the jar does not find it in a folder with a space
            modules += ["-a", str(_check_table(self.language, self.jar))]
        return ["-", "-", "-stdio", "-l", self.language, normalisation, *modules]

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> np.ndarray:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise`; scores from 0 to 1."""
        return self.pairwise_batch([Comparison(hypotheses, references)])[0]

    def pairwise_batch(self, batch: Sequence[Comparison]) -> list[np.ndarray]:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise_batch`."""
        needed = distinct_pairs(batch, self._prepare)
        return needed.matrices(self._scores(needed))

    def _scores(self, needed: DistinctPairs) -> np.ndarray:
        """``(P,)`` the scores of the distinct pairs: first their sufficient statistics, then the scores of those."""
        lines = [f"SCORE ||| {reference} ||| {hypothesis}" for hypothesis, reference in needed.pairs]
        statistics = self._process.ask(lines, len(lines))
        self._evaluate(statistics)
        return np.array([self._score_of[line] for line in statistics])

    def _evaluate(self, statistics: Sequence[str]) -> None:
        """Have statistics scored that have not been yet: the jar takes as long for that as for the alignment."""
        if len(self._score_of) > SCORES_KEPT:
            self._score_of.clear()
        new = [line for line in dict.fromkeys(statistics) if line not in self._score_of]
        for start in range(0, len(new), EVAL_FIELDS):
            part = new[start : start + EVAL_FIELDS]
            answers = self._process.ask([" ||| ".join(["EVAL", *part])], len(part) + 1)  # the last is their total
            try:
                self._score_of.update(zip(part, map(float, answers[:-1]), strict=True))
            except ValueError as error:
                self.close()
                raise UserError(f"METEOR answered {error}: check the jar {self.jar} and --utility-args") from error

    def signature(self) -> str:
        """Version, language and matchers."""
        modules = (self.modules or "default").replace(" ", "+")
        texts = "norm" if LANGUAGES[self.language].normalises else "moses+lower"
        return f"METEOR|lang:{self.language}|modules:{modules}|{texts}|version:1.5"

    def close(self) -> None:
        """End the Java process."""
        self._process.close()


def find_jar(jar: str | None = None) -> Path:
    """The path of the METEOR jar: the one given, or $METEOR_JAR, or the one that pycocoevalcap brings.

    Raises:
        UserError: there is none.
    """
    named = jar or os.environ.get("METEOR_JAR")
    if named:
        if not Path(named).is_file():
            origin = "--utility-args: jar" if jar else "METEOR_JAR"
            raise UserError(f"{origin} {named} is not a file: give the path of meteor-1.5.jar")
        return Path(named).resolve()
    package = importlib.util.find_spec("pycocoevalcap")
    for folder in (package.submodule_search_locations or []) if package else []:
        path = Path(folder) / "meteor" / "meteor-1.5.jar"
        if path.is_file():
            return path
    raise UserError("METEOR needs its jar: pip install 'dcmbr_fairseq[meteor]', or set METEOR_JAR to meteor-1.5.jar")


def paraphrase_table(language: str, jar: Path) -> Path:
    """Where the jar looks for the paraphrases of a language; the package has the English ones."""
    return jar.parent / "data" / f"paraphrase-{OWN_NAMES.get(language, language)}.gz"


def default_modules(language: str, jar: Path) -> str | None:
    """All matchers that there is data for: the jar's own default fails where the paraphrase table is not beside it."""
    modules = LANGUAGES[language].modules
    if modules is not None and paraphrase_table(language, jar).is_file():
        modules += " paraphrase"
    return modules


def _preparation(language: str) -> Callable[[str], str]:
    """Texts as fields of the protocol; tokenised where the jar has no tokeniser for the language."""
    if LANGUAGES[language].normalises:
        return field
    tokenize = moses_tokenizer("en" if language == "other" else language)
    return lambda text: field(tokenize(text))


def _check_modules(modules: str) -> str:
    for name in check_text("modules", modules).split():
        check_choice("modules", name, MODULES)
    if not modules.split():
        raise UserError(f"--utility-args: modules must name at least one of {', '.join(MODULES)}, got {modules!r}")
    return " ".join(modules.split())


def _check_table(language: str, jar: Path) -> Path:
    table = paraphrase_table(language, jar)
    if not table.is_file():
        raise UserError(
            f"--utility-args: modules has paraphrase, but {table} is missing: add it, or leave paraphrase out"
        )
    return table


def _check_memory(memory: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,9}[kKmMgG]?", check_text("memory", memory)):
        raise UserError(f"--utility-args: memory must be a size as Java writes it, such as 2G, got {memory!r}")
    return memory
