"""Whatever a file holds, a reader reads it or says one sentence; whatever a text holds, what is made of it is a text.

A short run here; ``scripts/fuzz.sh`` makes a long one of these and of all other tests with random inputs.
"""

import functools
import gzip
import json
import resource
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.data.encoders.moses_tokenizer import MosesTokenizer, MosesTokenizerConfig
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_model import toy_dictionary

from dcmbr_fairseq.corpus.clean import FilterSettings, judge_chunk
from dcmbr_fairseq.corpus.filters import Limits
from dcmbr_fairseq.corpus.normalize import Normalization, normalize_line
from dcmbr_fairseq.corpus.streams import Chunk, aligned_chunks, aligned_length
from dcmbr_fairseq.decoding.texts import Detokenizer
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.translations import FORMATS, read_translations, translations_by_id
from dcmbr_fairseq.files.reading import iter_lines, read_lines
from dcmbr_fairseq.pools.plain_text import read_plain_pools
from dcmbr_fairseq.pools.rows import format_row, parse_row, read_records
from dcmbr_fairseq.preflight.checkpoints import inspect_checkpoint
from dcmbr_fairseq.present.results import as_value, read_results
from dcmbr_fairseq.present.tables import read_table
from dcmbr_fairseq.utilities import parse_utility_args

relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(autouse=True, scope="module")
def little_memory() -> Iterator[None]:
    """What a small file makes a reader ask 2 GB for is a fault like any other, and not the machine's end."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (2 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


# ------------------------------------------------------------------------------------------------------------ inputs

#: What readers look for, and what has confused readers of others.
TOKENS = [
    b"\n", b"\r", b"\r\n", b"\t", b" ", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"#", b"-", b"\0", b"\xff",
    b"\xef\xbb\xbf", b"\xc3", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\x1f\x8b", b"null", b"NaN", b"Infinity", b"-Infinity",
    b"1e999", b"-0", b"true", b'"id"', b"0" * 20, b"9" * 5000, b"[" * 2000, b'{"a":' * 1100, b"\\ud800", b"\\u0000",
    b"D-0\t-1.0\ttext\n", b"H-0\t-1\tx\n", b"D-99999999999999999999\t0\t\n", b"D-\xd9\xa1\t0\tx\n", b"\xd9\xa1",
    b'{"translation": "a"}\n', b'{"hypotheses": ["a"]}\n', b'{"id": 1e3}', b'{"id": -1, "translation": ""}\n',
    b"model\tscore\n",
]  # fmt: skip
RECORD = json.dumps(
    {
        "schema_version": 2, "id": 3, "source": "ein Satz", "hypotheses": ["a", "b"], "hypothesis_draws": [0, 1, 0],
        "hypothesis_log_probs": [-1.0, -2.5, -1.0], "hypothesis_sampling_log_probs": [-0.5, -1.5, -0.5],
        "references": ["b", "c"], "reference_draws": [0, 1], "reference_log_probs": [-2.5, -3.0], "weights": [0.25, 1],
        "expected_utilities": [0.5, 0.25], "choice": 0, "translation": "a", "utility_calls": 4, "seed": 1,
        "settings": {"decoding": "dcmbr"}, "signature": "chrF2",
    }
).encode()  # fmt: skip
VALID = [
    RECORD + b"\n" + RECORD.replace(b'"id": 3', b'"id": 0'),
    b"D-0\t-0.5\tein Hund\nH-1\t-1\tx\nD-1\t-0.5\teine Katze\n",
    b"one\ntwo\nthree\nfour\n",
    b'model\tscore\tsignature\na\t0.5\t"x|y"\nb\t-\t\n',
    b'{"model": "a", "score": 0.5}\n',
]


@st.composite
def damaged(draw: st.DrawFn, originals: list[bytes] = VALID) -> bytes:
    """A proper file in which some places were cut out, doubled, overwritten or filled with something."""
    data = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(0, 4))):
        first = draw(st.integers(0, len(data)))
        last = min(len(data), first + draw(st.integers(0, 12)))
        put = draw(st.sampled_from(TOKENS) | st.binary(max_size=6) | st.just(data[first:last] * 2))
        data = data[:first] + put + data[last:]
    return data


files = damaged() | st.lists(st.sampled_from(TOKENS), max_size=8).map(b"".join) | st.binary(max_size=60)

#: A value of a field, of any kind.
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from([0, 1, -1, "a", 1e308]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
texts = st.text(max_size=30) | st.text(alphabet="aA. ,'\"&;@-\r\t\u2028\x1c\u3000|_", max_size=40)


def read_or_refused(read: Callable[[], Any], path: object = "", echo: int = 0) -> Any:
    """What is read, or None where one sentence says why it is not; ``echo`` characters of the input may be in it."""
    try:
        return read()
    except UserError as error:
        sentence = str(error)
        assert str(path) in sentence and "\n" not in sentence, sentence
        assert len(sentence) < 700 + 4 * (len(str(path)) + echo), f"{len(sentence)} characters are no sentence"
        return None


# ----------------------------------------------------------------------------------------------------------- readers


def like_utf16(data: bytes) -> bool:
    """Whether every other byte of the beginning is zero."""
    beginning = data.partition(b"\n")[0][:8]
    return not (any(beginning[::2]) and any(beginning[1::2]))


@relaxed
@given(files)
def test_lines_are_the_bytes_between_newlines(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    lines = read_or_refused(lambda: read_lines(path), path)
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError:
        assert lines is None
        return
    if lines is None:
        assert like_utf16(data)
        return
    assert "".join(f"{line}\n" for line in lines).removesuffix("\n") == text.removesuffix("\n")


@relaxed
@given(damaged([gzip.compress(original * 3) for original in VALID]) | damaged())
def test_archives_are_read_whole_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(data)
    lines = read_or_refused(lambda: list(iter_lines(path)), path)
    try:
        whole = gzip.decompress(data)
        expected = whole.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        assert lines is None
        return
    if lines is None:
        assert like_utf16(whole)
        return
    assert "\n".join(lines) == expected.removesuffix("\n")


@relaxed
@given(files)
def test_records_of_any_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "pools.jsonl"
    path.write_bytes(data)
    for record in read_or_refused(lambda: list(read_records(path)), path) or []:
        pools = record.pools
        for pool in (pools.hypotheses, pools.references):
            assert len(pool.draws) == len(pool.log_prob[pool.draws]) and len(set(pool.texts)) == len(pool.texts)


@relaxed
@given(st.sampled_from(sorted(json.loads(RECORD))), values, st.integers(0, 3))
def test_records_with_any_value_in_a_field(field: str, value: Any, number: int) -> None:
    row = {**json.loads(RECORD), field: value}
    record = read_or_refused(lambda: parse_row(json.dumps(row), number))
    if record is not None:
        again = parse_row(format_row(record.fields), number)
        assert again.pools.hypotheses.texts == record.pools.hypotheses.texts and again.id == record.id


@relaxed
@given(files, files, files, st.integers(1, 4))
def test_plain_pools_of_any_files(
    tmp_path: Path, hypotheses: bytes, references: bytes, source: bytes, size: int
) -> None:
    paths = [tmp_path / name for name in ("hypotheses", "references", "source")]
    for path, data in zip(paths, (hypotheses, references, source), strict=True):
        path.write_bytes(data)
    found = read_or_refused(lambda: list(read_plain_pools(*paths, size)), tmp_path)
    if found is not None:
        assert len(found) == len(read_lines(paths[2])) and len(found) * size == len(read_lines(paths[0]))


@relaxed
@given(files, st.sampled_from(FORMATS), st.none() | st.integers(0, 5))
def test_translations_of_any_file(tmp_path: Path, data: bytes, layout: str, expected: int | None) -> None:
    path = tmp_path / "translations"
    path.write_bytes(data)
    found = read_or_refused(lambda: read_translations(path, layout, expected), path)
    if found is not None:
        assert all(isinstance(text, str) for text in found) and (expected is None or len(found) == expected)
        assert sorted(translations_by_id(path, layout)) == list(range(len(found)))


@relaxed
@given(files, st.sampled_from([".tsv", ".jsonl"]))
def test_tables_of_any_file(tmp_path: Path, data: bytes, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    path.write_bytes(data)
    rows = read_or_refused(lambda: read_table(path), path)
    assert rows is None or rows and all(isinstance(cell, str) for row in rows for cell in [*row, *row.values()])
    if rows is not None:
        read_or_refused(lambda: read_results([path]), tmp_path)
        for row in rows:
            for cell in row.values():
                as_value(cell)


@relaxed
@given(
    values.map(json.dumps)
    | damaged([b'{"beta": 2, "word_order": 0}']).map(lambda data: data.decode("utf-8", "replace"))
)
def test_arguments_of_any_text(text: str) -> None:
    found = read_or_refused(lambda: parse_utility_args(text), echo=len(text))
    assert found is None or isinstance(found, dict)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small file of the kind that fairseq saves."""
    path = tmp_path_factory.mktemp("checkpoint") / "checkpoint.pt"
    cfg = {"model": {"_name": "transformer"}, "criterion": {"_name": "cross_entropy"}, "task": {"_name": "translation"}}
    torch.save({"cfg": cfg, "model": {"encoder.embed_tokens.weight": torch.zeros(3, 2)}, "args": None}, path)
    return path.read_bytes()


@relaxed
@given(st.data())
def test_checkpoints_of_any_file(tmp_path: Path, checkpoint: bytes, data: st.DataObject) -> None:
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(data.draw(damaged([checkpoint]) | st.binary(max_size=60)))
    read_or_refused(lambda: inspect_checkpoint(str(path)), path)


@relaxed
@given(files, files)
def test_corpora_of_any_files(tmp_path: Path, source: bytes, target: bytes) -> None:
    paths = [tmp_path / "source", tmp_path / "target"]
    for path, data in zip(paths, (source, target), strict=True):
        path.write_bytes(data)
    if read_or_refused(lambda: aligned_length(paths), tmp_path) is None:
        return
    filtering = FilterSettings(Limits(175, 40, 1.5, None, False))
    for chunk in aligned_chunks(paths):
        judgement = judge_chunk(filtering, chunk)
        assert len(judgement.reasons) == len(chunk.columns[0])
        assert len(judgement.fingerprints) == judgement.reasons.count(None)
    assert isinstance(Chunk(1, ([], [])), tuple)


# ------------------------------------------------------------------------------------------------------------- texts


@functools.cache
def moses_tokenizer() -> MosesTokenizer:
    return MosesTokenizer(MosesTokenizerConfig(source_lang="en", target_lang="de"))


@relaxed
@given(texts, st.sampled_from(["en", "de", "ro", "xx"]), st.booleans(), st.booleans())
def test_normalised_lines_stay_lines(line: str, language: str, punctuation: bool, diacritics: bool) -> None:
    normalized = normalize_line(line.replace("\n", " "), Normalization(language, punctuation, diacritics))
    assert "\n" not in normalized
    normalized.encode("utf-8")


@relaxed
@given(
    st.lists(texts.map(lambda text: "".join(text.split())), max_size=8), st.sampled_from([None, "@@ ", "sentencepiece"])
)
def test_detokenised_texts_are_what_the_decoder_makes(words: list[str], symbol: str | None) -> None:
    dictionary = toy_dictionary(2)
    tokens = [dictionary.add_symbol(word) for word in words if word]
    moses = moses_tokenizer()
    text = Detokenizer(dictionary, symbol, tokenizer=moses)(tokens)
    assert text == moses.decode(dictionary.string(tokens, symbol)) and "\n" not in text
