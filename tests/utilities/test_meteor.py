"""METEOR against the jar's own batch mode, and what is said where Java or the jar is missing."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities import Comparison, build_utility
from dcmbr_fairseq.utilities.java import find_java
from dcmbr_fairseq.utilities.line_process import LineProcess
from dcmbr_fairseq.utilities.meteor import LANGUAGES, MeteorUtility, default_modules, find_jar, paraphrase_table
from dcmbr_fairseq.utilities.tokens import moses_tokenizer

GERMAN = [
    "Ein Mann mit einem orangefarbenen Hut starrt auf etwas.",
    "Ein Mann in orangefarbenem Hut starrt etwas an.",
    "Zwei Männer, die Hüte tragen, starren sich an!",
    "Ein Hund rennt über das weiß-grüne Gras vor einem weißen Zaun.",
    "",
    "!!!",
    "Der Preis: 3,50 € | pro Stück || heute",
]
ENGLISH = [
    "The big cat sat quickly on the mat.",
    "A large cat rested rapidly on the mat.",
    "Isn't it nice, he said, that it's raining?",
    "the cats are sitting on mats",
    "cat",
]


@pytest.fixture(scope="module")
def jar() -> Path:
    try:
        find_java("METEOR")
        return find_jar()
    except UserError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def german(jar: Path) -> Iterator[MeteorUtility]:
    utility = MeteorUtility(language="de")
    yield utility
    utility.close()


def batch_scores(jar: Path, folder: Path, pairs: Sequence[Sequence[str]], *options: str) -> list[float]:
    """The segment scores that the jar prints for files of texts."""
    for name, texts in zip(("test", "reference"), zip(*pairs, strict=True), strict=True):
        (folder / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    command = [find_java("METEOR"), "-Xmx1G", "-Dfile.encoding=UTF-8", "-jar", str(jar), "test", "reference", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return [float(score) for score in re.findall(r"^Segment \d+ score:\s+(\S+)$", done.stdout, re.MULTILINE)]


def assert_equals_batch_mode(
    utility: MeteorUtility, texts: Sequence[str], jar: Path, folder: Path, *options: str
) -> None:
    matrix = utility.pairwise(texts, texts)
    expected = batch_scores(jar, folder, [(h, r) for h in texts for r in texts], *options)
    assert matrix.shape == (len(texts), len(texts))
    assert len(set(expected)) > len(texts)  # the truth tells pairs apart
    np.testing.assert_allclose(matrix.ravel(), expected, rtol=0, atol=1e-12)


def test_german_equals_batch_mode(german: MeteorUtility, jar: Path, tmp_path: Path) -> None:
    assert_equals_batch_mode(german, GERMAN, jar, tmp_path, "-l", "de", "-norm", "-m", "exact stem")


def test_english_modules_equal_batch_mode_in_a_folder_with_a_space(jar: Path, tmp_path: Path) -> None:
    copy = tmp_path / "a folder" / jar.name
    copy.parent.mkdir()
    shutil.copy(jar, copy)
    utility = MeteorUtility(language="en", modules="exact stem synonym", jar=str(copy))
    options = ["-l", "en", "-norm", "-m", "exact stem synonym"]
    assert_equals_batch_mode(utility, ENGLISH, jar, tmp_path, *options)
    utility.close()


def test_languages_without_a_tokeniser_in_the_jar_are_tokenised_here(jar: Path, tmp_path: Path) -> None:
    texts = ["Un om cu o pălărie, privind.", "Un om privește o pălărie", "Doi bărbați cu pălării se privesc!"]
    utility = MeteorUtility(language="ro")
    matrix = utility.pairwise(texts, texts)
    tokenized = [moses_tokenizer("ro")(text) for text in texts]
    expected = batch_scores(jar, tmp_path, [(h, r) for h in tokenized for r in tokenized], "-l", "ro", "-lower")
    np.testing.assert_allclose(matrix.ravel(), expected, rtol=0, atol=1e-12)
    utility.close()


def test_batches_equal_single_sentences_and_separators_do_not_shift_scores(german: MeteorUtility) -> None:
    batch = [
        Comparison(GERMAN[:3], GERMAN[1:5]),
        Comparison(["a ||| b", "c\nd", "c d", "\ud800"], ["a b", "c d", "||||||"]),
        Comparison(GERMAN[:2], GERMAN[:2]),
    ]
    matrices = german.pairwise_batch(batch)
    for comparison, matrix in zip(batch, matrices, strict=True):
        np.testing.assert_array_equal(matrix, german.pairwise(*comparison))
    odd = matrices[1]
    assert odd[1, 1] == odd[2, 1] == german.pairwise(["c d"], ["c d"])[0, 0] > 0.9
    assert np.isfinite(odd).all()


def test_each_distinct_pair_is_sent_once(german: MeteorUtility, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    ask = german._process.ask
    monkeypatch.setattr(german._process, "ask", lambda lines, replies: (sent.extend(lines), ask(lines, replies))[1])
    german.pairwise_batch([Comparison(GERMAN, GERMAN)] * 3)
    scored = [line for line in sent if line.startswith("SCORE")]
    assert len(scored) == len(set(scored)) == len(GERMAN) ** 2


def test_the_whole_answer_survives_a_killed_jvm(german: MeteorUtility) -> None:
    before = german.pairwise(GERMAN, GERMAN)
    assert german._process._child is not None
    german._process._child.process.kill()
    np.testing.assert_array_equal(german.pairwise(GERMAN, GERMAN), before)


def test_full_english_uses_the_paraphrase_table(jar: Path) -> None:
    if not paraphrase_table("en", jar).is_file():
        pytest.skip(f"needs {paraphrase_table('en', jar)}, which is absent")
    assert default_modules("en", jar) == "exact stem synonym paraphrase"
    assert default_modules("de", jar) == "exact stem"  # the package has no German table
    assert default_modules("ro", jar) is None


def test_a_module_without_data_is_refused_by_the_jars_own_words(jar: Path) -> None:
    utility = MeteorUtility(language="cs", modules="exact stem")
    with pytest.raises(UserError, match="METEOR ended with exit status 1 .*No stemmer"):
        utility.pairwise(["a"], ["a"])


def test_signature_names_all_that_the_score_depends_on(german: MeteorUtility) -> None:
    assert german.signature() == "METEOR|lang:de|modules:exact+stem|norm|version:1.5"


def test_missing_java_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("METEOR_JAR", __file__)
    with pytest.raises(UserError, match="METEOR needs Java: install a JRE .*or set JAVA_HOME"):
        build_utility("meteor", {"language": "de"})


def test_java_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java("METEOR") == str(program)


def test_missing_jar_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("METEOR_JAR", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        UserError, match=r"METEOR needs its jar: pip install 'dcmbr_fairseq\[meteor\]', or set METEOR_JAR"
    ):
        find_jar()
    monkeypatch.setenv("METEOR_JAR", str(tmp_path / "no.jar"))
    with pytest.raises(UserError, match="METEOR_JAR .*no.jar is not a file"):
        find_jar()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "needs the target language"),
        ({"language": "zh"}, "language must be one of en, .*got 'zh'"),
        ({"language": "de", "modules": "exact fuzzy"}, "modules must be one of exact, .*got 'fuzzy'"),
        ({"language": "de", "modules": " "}, "modules must name at least one"),
        ({"language": "de", "modules": "exact paraphrase"}, "paraphrase-de.gz is missing"),
        ({"language": "de", "memory": "lots"}, "memory must be a size .*got 'lots'"),
        ({"language": "de", "timeout": -1}, "timeout must be a number from 0 to 1e.09, got -1"),
        ({"language": "de", "timeout": 0}, "timeout must be above 0 seconds"),
        ({"language": "de", "speed": 3}, "do not fit --utility meteor"),
    ],
)
def test_bad_arguments_are_one_sentence(
    arguments: dict, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jar = tmp_path / "meteor-1.5.jar"
    jar.touch()
    monkeypatch.setenv("METEOR_JAR", str(jar))
    monkeypatch.setattr("dcmbr_fairseq.utilities.meteor.find_java", lambda name: "java")
    monkeypatch.setattr(LineProcess, "start", lambda self: None)
    with pytest.raises(UserError, match=message):
        build_utility("meteor", arguments)


def test_languages_are_two_letter_codes_or_other() -> None:
    assert all(len(code) == 2 or code == "other" for code in LANGUAGES)
