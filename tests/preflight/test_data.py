"""The data folder: what is missing is said with what is there; languages follow from it."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.preflight.data import check_data, infer_languages, missing_subset


def options(data: object, source: str | None = "en", target: str | None = "de") -> Namespace:
    return Namespace(data=None if data is None else str(data), source_lang=source, target_lang=target)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the names of a binarised test set of en-de."""
    for name in ("dict.en.txt", "dict.de.txt", "test.en-de.en.bin", "test.en-de.en.idx", "test.en-de.de.bin"):
        (tmp_path / name).write_text("")
    return tmp_path


def test_what_is_there_passes(folder: Path) -> None:
    check_data(options(folder))
    check_data(options(folder, None, None))
    check_data(options(f"{folder}:/other/shard"))


@pytest.mark.parametrize(
    "given, message",
    [
        (options(None), "the data folder is missing"),
        (options("nix"), "nix is not a folder: give the one that fairseq-preprocess has written"),
    ],
)
def test_a_missing_folder(given: Namespace, message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_data(given)


def test_a_wrong_language_is_named_with_those_that_are_there(folder: Path) -> None:
    with pytest.raises(UserError, match=r"-s fr: .* has no dict.fr.txt \(its dictionaries are of de and en\): give"):
        check_data(options(folder, "fr"))
    with pytest.raises(UserError, match="-t fr: "):
        check_data(options(folder, "en", "fr"))


def test_a_folder_that_tells_no_languages(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="do not say from which language to which: give -s and -t"):
        check_data(options(tmp_path, None, None))
    with pytest.raises(UserError, match="it has no dict.*.txt at all"):
        check_data(options(tmp_path))


def test_a_missing_subset(folder: Path) -> None:
    message = str(missing_subset(options(folder), "valid"))
    assert f"{folder} has no subset valid of en-de: it has test of en-de; give another --gen-subset" in message
    assert "it has none at all" in str(missing_subset(options(folder.parent), "valid"))


@pytest.mark.parametrize(
    "words, languages",
    [
        (["{}"], ("en", "de")),
        (["-s", "de", "-t", "en", "{}"], ("de", "en")),
        (["{}", "-t", "fr", "-s", "en"], ("en", "fr")),
        (["{}", "-s", "de"], ("de", "de")),  # what follows is refused: no model has been trained so
        (["nix"], (None, None)),
        ([], (None, None)),
    ],
)
def test_languages_follow_from_the_folder(folder: Path, words: list[str], languages: tuple[str, str]) -> None:
    parser = ArgumentParser()
    parser.add_argument("data", nargs="?")
    for flag, name in (("-s", "--source-lang"), ("-t", "--target-lang")):
        parser.add_argument(flag, name)
    infer_languages(parser)
    given = parser.parse_args([word.format(folder) for word in words])
    assert (given.source_lang, given.target_lang) == languages
