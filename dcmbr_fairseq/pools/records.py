"""Records: the JSON lines that hold pools and decisions, one row a source sentence (``--pools-out``, ``dcmbr select``).

A row of ours has these fields; log-probabilities are natural logarithms, one for each draw.

| field | content |
| --- | --- |
| id, source | which sentence, and its text |
| hypotheses | distinct texts in the order of their first draw |
| hypothesis_draws | index into ``hypotheses`` of every draw, in draw order |
| hypothesis_log_probs, hypothesis_sampling_log_probs | at temperature 1; under the distribution sampled from |
| references, reference_draws, ... | the same of the reference pool; left out where one shared pool plays both parts |
| expected_utilities | of each distinct hypothesis |
| choice, translation | index of the chosen hypothesis, and its text |
| utility_calls, seed, settings, signature | cost and provenance |

Pools made by anyone are read as well: ``hypotheses`` and ``references`` are lists of strings, one for each draw,
``weights`` optionally weighs the references; all other fields may be absent.
"""

import atexit
import contextlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files import PathLike, atomic_writer, iter_lines
from dcmbr_fairseq.pools.pools import TextPool
from dcmbr_fairseq.rules.decision import Candidates, Decision
from dcmbr_fairseq.rules.weights import reference_weights

logger = logging.getLogger(__name__)

#: Decimals of log-probabilities and utilities in the file.
DIGITS = 6


@dataclass(frozen=True)
class Pools:
    """The pools of one source sentence, as read from a file.

    Attributes:
        id: the row's ``id``, or its number in the file, from 0.
        hypotheses: the hypothesis pool.
        references: the reference pool; None where the hypotheses play both parts.
        weights: ``(D,)`` weight of each reference draw, sum 1; None where all count the same.
        source: the source text, if known.
        row: the whole row, for fields that are not interpreted here.
    """

    id: int | str
    hypotheses: TextPool
    references: TextPool | None = None
    weights: np.ndarray | None = None
    source: str | None = None
    row: Mapping[str, Any] | None = None

    @property
    def reference_pool(self) -> TextPool:
        """The pool that plays the references' part."""
        return self.hypotheses if self.references is None else self.references

    def first(self, num_hyp: int | None, num_ref: int | None) -> "Pools":
        """The first draws of both pools; None keeps all. The parts of a shared pool are cut each by itself."""
        references, weights = self.reference_pool, self.weights
        if weights is not None and num_ref is not None:
            weights = weights[:num_ref] / weights[:num_ref].sum()
        hypotheses = self.hypotheses if num_hyp is None else self.hypotheses.first(num_hyp)
        references = references if num_ref is None else references.first(num_ref)
        return replace(self, hypotheses=hypotheses, references=references, weights=weights)

    @property
    def has_reference_log_probs(self) -> bool:
        """Whether the log-probabilities of the references are known, as in a row of ``--pools-out``."""
        singular = "hypothesis" if self.references is None else "reference"
        return self.row is not None and self.row.get(f"{singular}_log_probs") is not None

    def candidates(self, kind: str = "counts") -> Candidates:
        """What a decision rule sees of them; ``kind`` is ``--reference-weights``, weights in the row come first."""
        references = self.reference_pool
        weights = reference_weights(kind, references.counts(), references.text_log_prob())
        if self.weights is not None:
            weights = np.bincount(references.draws, weights=self.weights, minlength=len(references.texts))
        return Candidates(
            self.hypotheses.texts, references.texts, weights, self.hypotheses.text_log_prob(), self.source
        )


# --- writing -------------------------------------------------------------------------------------------------------


def make_row(
    sentence_id: int,
    source: str,
    hypotheses: TextPool,
    references: TextPool | None,
    choice: int,
    decision: Decision | None = None,
    **provenance: Any,
) -> dict[str, Any]:
    """The row of one sentence.

    Args:
        sentence_id: the sentence's id in its data set.
        source: its text.
        hypotheses: the hypothesis pool.
        references: the reference pool, None where the hypotheses play both parts.
        choice: index of the translation into ``hypotheses.texts``.
        decision: the expected utilities; None where nothing was compared (``--decoding sample``).
        provenance: further fields: ``seed``, ``settings`` (a dict), ``signature``.
    """
    row: dict[str, Any] = {"id": sentence_id, "source": source, **_pool_fields("hypotheses", "hypothesis", hypotheses)}
    if references is not None:
        row.update(_pool_fields("references", "reference", references))
    if decision is not None:
        row["expected_utilities"] = _rounded(decision.expected)
        row["utility_calls"] = int(decision.utility_calls)
    return {**row, "choice": int(choice), "translation": hypotheses.texts[choice], **provenance}


def _pool_fields(plural: str, singular: str, pool: TextPool) -> dict[str, Any]:
    return {
        plural: pool.texts,
        f"{singular}_draws": pool.draws.tolist(),
        f"{singular}_log_probs": _rounded(pool.log_prob),
        f"{singular}_sampling_log_probs": _rounded(pool.sampling_log_prob),
    }


def _rounded(values: np.ndarray) -> list[float]:
    return np.round(np.asarray(values, dtype=np.float64), DIGITS).tolist()


def format_row(row: Mapping[str, Any]) -> str:
    """One line of JSON in ASCII, so that lone surrogates survive and no reader takes U+2028 for the end of a line.

    Raises:
        UserError: a number is not finite, for which JSON has no notation.
    """
    try:
        return json.dumps(row, allow_nan=False)
    except ValueError as error:
        raise UserError(
            f"the record of sentence {row.get('id')} holds a number that is not finite ({error}): "
            "check the utility, and the model if it runs in half precision"
        ) from error


# --- reading -------------------------------------------------------------------------------------------------------


def read_pools(path: PathLike) -> Iterator[Pools]:
    """Yield the pools of a JSON-lines file (plain or ``.gz``) in its order, one row at a time.

    Raises:
        UserError: the file is missing, or a row is not as it should be; names file, line number and field.
    """
    for number, line in enumerate(iter_lines(path), 1):
        try:
            yield parse_row(line, number - 1)
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error}") from error


def parse_row(line: str, number: int) -> Pools:
    """The pools in one line of JSON.

    Args:
        line: the line.
        number: the row's number from 0, which is its id if it has none.

    Raises:
        UserError: the line is not as it should be; names the field.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"not a JSON object ({error}): give one object with a field hypotheses a line") from error
    if not isinstance(row, dict):
        raise UserError(f"a JSON object is needed, with a field hypotheses, got {_shown(row)}")
    hypotheses = _read_pool(row, "hypotheses", "hypothesis")
    if hypotheses is None:
        raise UserError("field hypotheses is missing: give the list of sampled texts")
    references = _read_pool(row, "references", "reference")
    size = len((hypotheses if references is None else references).draws)
    row_id, source = row.get("id", number), row.get("source")
    if isinstance(row_id, bool) or not isinstance(row_id, (int, str)):
        raise UserError(f"field id must be an integer or a string, got {_shown(row_id)}")
    if source is not None and not isinstance(source, str):
        raise UserError(f"field source must be a string, got {_shown(source)}")
    return Pools(row_id, hypotheses, references, _read_weights(row, size), source, row)


def _read_pool(row: Mapping[str, Any], plural: str, singular: str) -> TextPool | None:
    """The pool in the fields ``hypotheses``, ``hypothesis_draws`` ... or their likes; None if there is none."""
    texts = row.get(plural)
    if texts is None:
        return None
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise UserError(f"field {plural} must be a list of at least one string, got {_shown(texts)}")
    draws = row.get(f"{singular}_draws")
    if draws is not None:
        texts = _draw_texts(texts, draws, plural, f"{singular}_draws")
    # without log-probabilities ties go to the earlier draw
    log_prob = _read_numbers(row, f"{singular}_log_probs", len(texts), np.zeros(len(texts)))
    sampling_log_prob = _read_numbers(row, f"{singular}_sampling_log_probs", len(texts), log_prob)
    return TextPool.from_draws(texts, log_prob.tolist(), sampling_log_prob.tolist())


def _draw_texts(texts: list[str], draws: Any, plural: str, field: str) -> list[str]:
    """The text of every draw, given distinct texts in the order of their first draw and indices into them."""
    if not isinstance(draws, list) or not all(type(draw) is int and 0 <= draw < len(texts) for draw in draws):
        last = len(texts) - 1
        raise UserError(f"field {field} must be a list of indices into {plural}, 0 to {last}, got {_shown(draws)}")
    if list(dict.fromkeys(draws)) != list(range(len(texts))) or len(set(texts)) != len(texts):
        raise UserError(f"field {plural} must hold distinct texts in the order of their first draw in {field}")
    return [texts[draw] for draw in draws]


def _read_numbers(row: Mapping[str, Any], field: str, size: int, default: np.ndarray) -> np.ndarray:
    """``(size,)`` finite numbers, or ``default`` where the field is absent."""
    values = row.get(field)
    if values is None:
        return default
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise UserError(f"field {field} must be a list of numbers, got {_shown(values)}")
    numbers = np.array([value if abs(value) <= sys.float_info.max else np.nan for value in values], dtype=np.float64)
    if len(numbers) != size or not np.isfinite(numbers).all():
        raise UserError(f"field {field} must hold {size} finite numbers, one for each draw, got {_shown(values)}")
    return numbers


def _read_weights(row: Mapping[str, Any], size: int) -> np.ndarray | None:
    """``(size,)`` weights of the reference draws, normalised to sum 1; None if there are none."""
    if row.get("weights") is None:
        return None
    weights = _read_numbers(row, "weights", size, np.empty(0))
    if not (weights > 0).all():
        raise UserError(f"field weights must be positive, got {_shown(row['weights'])}")
    return weights / weights.max() / (weights / weights.max()).sum()  # the sum of huge weights must not overflow


def _shown(value: Any) -> str:
    """A value in a message, cut to a readable length."""
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


# --- one file, row by row, whole or not at all -----------------------------------------------------------------------


class RecordWriter:
    """Collects the rows of a run and puts them under ``path`` sorted by id when the run is complete, or not at all.

    Rows go to a temporary file in the same folder as they come; only ids and byte offsets stay in memory. The file
    gets its final name

    - as soon as all ids given to :meth:`expect` have been written (fairseq-generate knows its data set), or
    - by :meth:`finish`, which runs at the interpreter's exit if the run is open-ended (interactive, hub) and did not
      end with an unhandled exception. ``sys.exit`` counts as an ordinary end.

    Ids must be unique in a file. fairseq-interactive and the hub start again at 0 with every buffer: their rows are
    to be numbered by the caller.
    """

    def __init__(self, path: PathLike):
        """Open the temporary file.

        Raises:
            UserError: ``path`` exists already, or its folder cannot be written to.
        """
        self.path = Path(path)
        if self.path.exists():
            raise UserError(f"--pools-out {path} exists already: delete it, or give another name")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.", suffix=".partial")
        except OSError as error:
            raise UserError(f"--pools-out {path} cannot be written: {error.strerror}") from error
        self._temporary = Path(name)
        self._file: IO[bytes] | None = os.fdopen(descriptor, "w+b")
        self._spans: dict[int, tuple[int, int]] = {}  # id -> first byte, length
        self._expected: set[int] | None = None
        self._process = os.getpid()
        atexit.register(self._at_exit)

    def expect(self, ids: Iterable[int]) -> None:
        """Tell all ids of the run; the file is finished with the last of them."""
        self._expected = set(ids)
        self._finish_if_complete()

    def write(self, row: Mapping[str, Any]) -> None:
        """Append one row.

        Raises:
            ValueError: its id has been written already, is not expected, or the file is finished.
            UserError: it cannot be written; nothing is left of the file.
        """
        row_id = row["id"]
        if self._file is None:
            raise ValueError(f"{self.path} is closed: row {row_id} comes too late")
        if row_id in self._spans or (self._expected is not None and row_id not in self._expected):
            raise ValueError(f"{self.path}: the id {row_id} is {'repeated' if row_id in self._spans else 'unexpected'}")
        with self._leaving_nothing_behind():
            line = format_row(row).encode("ascii") + b"\n"
            first = self._file.tell()
            self._file.write(line)
        self._spans[row_id] = (first, len(line))
        self._finish_if_complete()

    def finish(self) -> None:
        """Give the file its final name. Further calls do nothing.

        Raises:
            UserError: it cannot be written, or another program has made a file of this name meanwhile.
        """
        if self._file is None:
            return
        with self._leaving_nothing_behind():
            if self.path.exists():
                raise UserError(f"--pools-out {self.path} was made by another program meanwhile: give another name")
            self._file.flush()
            with atomic_writer(self.path) as out:
                for row_id in sorted(self._spans):
                    first, length = self._spans[row_id]
                    self._file.seek(first)
                    out.write(self._file.read(length).decode("ascii"))
        self.discard()

    def discard(self) -> None:
        """Remove the temporary file; nothing appears under the final name. Further calls do nothing."""
        atexit.unregister(self._at_exit)
        if self._file is None:
            return
        with contextlib.suppress(OSError):  # a full disk refuses what is still in the buffer
            self._file.close()
        self._file = None
        with contextlib.suppress(FileNotFoundError):
            self._temporary.unlink()

    @contextlib.contextmanager
    def _leaving_nothing_behind(self) -> Iterator[None]:
        """Discard everything if the block fails; failures of the disk become one clear sentence."""
        try:
            yield
        except OSError as error:
            self.discard()
            raise UserError(
                f"--pools-out {self.path} cannot be written: {error.strerror}; nothing was kept: free some "
                "space, or write elsewhere"
            ) from error
        except BaseException:
            self.discard()
            raise

    def _finish_if_complete(self) -> None:
        if self._expected is not None and len(self._expected - self._spans.keys()) == 0:
            self.finish()

    def _at_exit(self) -> None:
        """The run ends: an open-ended one is complete unless an exception ended it."""
        if self._file is None or os.getpid() != self._process:  # a forked child must not touch its parent's file
            return
        if self._expected is not None:
            missing = len(self._expected - self._spans.keys())
            logger.warning("--pools-out %s was not written: %d sentences are missing", self.path, missing)
            self.discard()
        elif _ended_by_exception():
            logger.warning("--pools-out %s was not written: the run ended with an error", self.path)
            self.discard()
        else:
            self.finish()


def _ended_by_exception() -> bool:
    """Whether an unhandled exception ends the interpreter; in an interactive session they end nothing."""
    return not hasattr(sys, "ps1") and getattr(sys, "last_type", None) is not None
