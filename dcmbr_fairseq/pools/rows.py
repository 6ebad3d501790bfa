"""Records: rows of JSON that hold pools and decisions, one a source sentence (``--pools-out``, ``dcmbr select``).

A row of ours has these fields; log-probabilities are natural logarithms, one for each draw.

| field | content |
| --- | --- |
| schema_version | of these fields, :data:`SCHEMA_VERSION`; rows of version 0.1, and of anyone else, have none |
| id, source | which sentence, and its text |
| hypotheses | distinct texts in the order of their first draw |
| hypothesis_draws | index into ``hypotheses`` of every draw, in draw order |
| hypothesis_log_probs, hypothesis_sampling_log_probs | at temperature 1; under the distribution sampled from |
| references, reference_draws, ... | the same of the reference pool; left out where one shared pool plays both parts |
| expected_utilities | of each distinct hypothesis |
| choice, translation | index of the chosen hypothesis, and its text |
| utility_calls, seed, settings, signature | cost and provenance |
| identity | what it was made from: checkpoint, sources, dictionaries, languages, text (``pools/identity.py``) |

Pools made by anyone are read as well: ``hypotheses`` and ``references`` are lists of strings, one for each draw,
``weights`` optionally weighs the references; all other fields may be absent. A row of a later version is refused: what
it says may mean something else.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.json_lines import format_object, parse_object, shown_json
from dcmbr_fairseq.files.reading import iter_lines
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.rules.decision import Decision

Parsed = TypeVar("Parsed")

#: The version of the fields. It grows when a field changes its meaning or goes; a field that comes does not count.
SCHEMA_VERSION = 1
#: Decimals of log-probabilities and utilities in the file.
DIGITS = 6


@dataclass(frozen=True)
class Record:
    """One row of a file.

    Attributes:
        id: the row's ``id``, or its number in the file, from 0.
        pools: the pools of its sentence.
        fields: the whole row, for fields that are not interpreted here; empty where the pools come from plain text.
    """

    id: int | str
    pools: Pools
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def draws(self) -> str | None:
        """How its pools were drawn (``--draws``), if it says its settings: older ones do not name it, and are
        independent."""
        settings = self.fields.get("settings")
        return str(settings.get("draws", "independent")) if isinstance(settings, dict) else None

    @property
    def has_reference_log_probs(self) -> bool:
        """Whether the log-probabilities of the references are known, as in a row of ``--pools-out``."""
        singular = "hypothesis" if self.pools.shared else "reference"
        return self.fields.get(f"{singular}_log_probs") is not None


def make_row(
    sentence_id: int | str, pools: Pools, choice: int, decision: Decision | None = None, **provenance: Any
) -> dict[str, Any]:
    """The row of one sentence.

    Args:
        sentence_id: the sentence's id in its data set.
        pools: its pools.
        choice: index of the translation into ``pools.hypotheses.texts``.
        decision: the expected utilities; None where nothing was compared (``--decoding sample``).
        provenance: further fields: ``seed``, ``settings`` (a dict), ``signature``.
    """
    row: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "id": sentence_id, "source": pools.source}
    row.update(_pool_fields("hypotheses", "hypothesis", pools.hypotheses))
    if not pools.shared:
        row.update(_pool_fields("references", "reference", pools.references))
    if decision is not None:
        row["expected_utilities"] = _rounded(decision.expected)
        row["utility_calls"] = int(decision.utility_calls)
    return {**row, "choice": int(choice), "translation": pools.hypotheses.texts[choice], **provenance}


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
        return format_object(row)
    except ValueError as error:
        raise UserError(
            f"the record of sentence {row.get('id')} holds a number that is not finite ({error}): "
            "check the utility, and the model if it runs in half precision"
        ) from error


def read_records(path: PathLike) -> Iterator[Record]:
    """Yield the records of a JSON-lines file (plain or ``.gz``) in its order, one row at a time.

    Raises:
        UserError: the file is missing, or a row is not as it should be; names file, line number and field.
    """
    yield from _parsed(path, parse_row)


def read_rows(path: PathLike) -> Iterator[dict[str, Any]]:
    """Yield the rows of such a file as they stand, whatever they hold; see :func:`read_records`."""
    yield from _parsed(path, lambda line, number: parse_versioned(line))


def _parsed(path: PathLike, parse: Callable[[str, int], Parsed]) -> Iterator[Parsed]:
    for number, line in enumerate(iter_lines(path)):
        try:
            yield parse(line, number)
        except UserError as error:
            raise UserError(f"{path}, line {number + 1}: {error}") from error


def parse_row(line: str, number: int) -> Record:
    """The record in one line of JSON.

    Args:
        line: the line.
        number: the row's number from 0, which is its id if it has none.

    Raises:
        UserError: the line is not as it should be; names the field.
    """
    row = parse_versioned(line)
    hypotheses, references = _read_pool(row, "hypotheses", "hypothesis"), _read_pool(row, "references", "reference")
    if hypotheses is None:
        raise UserError("field hypotheses is missing: give the list of sampled texts")
    pools = [hypotheses] if references is None else [hypotheses, references]
    row_id, source = row.get("id", number), row.get("source")
    if isinstance(row_id, bool) or not isinstance(row_id, (int, str)):
        raise UserError(f"field id must be an integer or a string, got {shown_json(row_id)}")
    if source is not None and not isinstance(source, str):
        raise UserError(f"field source must be a string, got {shown_json(source)}")
    return Record(row_id, Pools.of(pools, source, _read_weights(row, len(pools[-1].draws))), row)


def parse_versioned(line: str) -> dict[str, Any]:
    """The JSON object in a line, of a version that is known here.

    Raises:
        UserError: the line holds something else.
    """
    row = parse_object(line)
    version = row.get("schema_version", SCHEMA_VERSION)
    if type(version) is not int or version < 1:
        raise UserError(f"field schema_version must be a whole number from 1, got {shown_json(version)}")
    if version > SCHEMA_VERSION:
        raise UserError(
            f"field schema_version is {version}, but this version of dcmbr_fairseq knows records up to "
            f"{SCHEMA_VERSION}: use the version that wrote them, or a later one"
        )
    return row


def _read_pool(row: Mapping[str, Any], plural: str, singular: str) -> TextPool | None:
    """The pool in the fields ``hypotheses``, ``hypothesis_draws`` ... or their likes; None if there is none."""
    texts = row.get(plural)
    if texts is None:
        return None
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise UserError(f"field {plural} must be a list of at least one string, got {shown_json(texts)}")
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
        raise UserError(f"field {field} must be a list of indices into {plural}, 0 to {last}, got {shown_json(draws)}")
    if list(dict.fromkeys(draws)) != list(range(len(texts))) or len(set(texts)) != len(texts):
        raise UserError(f"field {plural} must hold distinct texts in the order of their first draw in {field}")
    return [texts[draw] for draw in draws]


def _read_numbers(row: Mapping[str, Any], field: str, size: int, default: np.ndarray) -> np.ndarray:
    """``(size,)`` finite numbers, or ``default`` where the field is absent."""
    values = row.get(field)
    if values is None:
        return default
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise UserError(f"field {field} must be a list of numbers, got {shown_json(values)}")
    numbers = np.array([value if abs(value) <= sys.float_info.max else np.nan for value in values], dtype=np.float64)
    if len(numbers) != size or not np.isfinite(numbers).all():
        raise UserError(f"field {field} must hold {size} finite numbers, one for each draw, got {shown_json(values)}")
    return numbers


def _read_weights(row: Mapping[str, Any], size: int) -> np.ndarray | None:
    """``(size,)`` weights of the reference draws, normalised to sum 1; None if there are none."""
    if row.get("weights") is None:
        return None
    weights = _read_numbers(row, "weights", size, np.empty(0))
    if not (weights > 0).all():
        raise UserError(f"field weights must be positive, got {shown_json(row['weights'])}")
    return weights / weights.max() / (weights / weights.max()).sum()  # the sum of huge weights must not overflow
