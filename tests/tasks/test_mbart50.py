"""mBART-50: what is found before its gigabytes are loaded, and the scripts on a tiny release of the same layout."""

import csv
import shutil
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq_commands import REPOSITORY
from in_process import Fairseq
from multilingual_world import LANGUAGES, PAIRS, World, training
from pipeline_scripts import assert_all_refused, lines, script

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.preflight.checkpoints import inspect_checkpoint
from dcmbr_fairseq.preflight.multilingual import check_family, check_training, pairs_of, trained_languages

Refused = Callable[..., str]
DECODE = ["--task", "translation_multi_simple_epoch_dcmbr", "--decoding", "dcmbr", "--num-hyp", 4, "--num-workers", 0]
TOKENS = ["--encoder-langtok", "src", "--decoder-langtok", "--lang-tok-style", "mbart"]


def without(words: list[object], *flags: str) -> list[object]:
    """A command without some flags and their values."""
    kept: list[object] = []
    skip = False
    for word in words:
        if str(word).startswith("--"):
            skip = word in flags
        if not skip:
            kept.append(word)
    return kept


@pytest.fixture
def line(world: World) -> list[object]:
    """A command that decodes with the release."""
    pieces = ["--bpe", "sentencepiece", "--sentencepiece-model", world.pieces]
    known = ["--lang-dict", world.release / "ML50_langs.txt", "--path", world.release / "model.pt"]
    return [world.data_bin, *DECODE, *TOKENS, *known, *pieces, "--source-lang", "en_XX", "--target-lang", "de_DE"]


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Refused:
    """``refused(*words)`` is the sentence that ends fairseq-generate; nothing large may have been loaded by then."""

    def run(*words: object) -> str:
        def load(*_: object, **__: object) -> None:
            raise AssertionError("the weights were loaded")

        monkeypatch.setattr(checkpoint_utils, "load_model_ensemble", load)
        with pytest.raises(UserError) as caught:
            Fairseq(monkeypatch, capsys).generate(*words)
        message = str(caught.value)
        assert "\n" not in message and len(message) < 500
        return message

    return run


LANGUAGE_ERRORS = {
    "two letters": (["--target-lang", "de"], "--target-lang de is not among the 4 languages", "give de_DE"),
    "other case": (["--source-lang", "EN_xx"], "--source-lang EN_xx is not among the 4 languages", "give en_XX"),
    "not there": (["--target-lang", "ja_XX"], "--target-lang ja_XX", "cs_CZ or de_DE or en_XX or fi_FI"),
    "never seen together": (["--source-lang", "de_DE", "--target-lang", "cs_CZ"],
                            "was trained on 4 pairs of languages, de_DE-cs_CZ is not among them",
                            "--lang-pairs de_DE-cs_CZ"),
    "no list": (["--lang-dict", "nix.txt"], "--lang-dict nix.txt is not a file", "ML50_langs.txt"),
    "empty list": (["--lang-dict", ""], "--lang-dict is missing", "the model's languages"),
    "two lists": (["--langs", "en_XX,de_DE"], "--langs and --lang-dict", "leave out one"),
    "no pieces": (["--sentencepiece-model", "nix.model"], "--sentencepiece-model nix.model is not a file",
                  "sentence.bpe.model"),
    "source token": (["--encoder-langtok", "tgt"], "trained with source tokens of kind src, not tgt",
                     "give --encoder-langtok src"),
    "replacing": (["--lang-tok-replacing-bos-eos"], "trained without --lang-tok-replacing-bos-eos", "leave it out"),
    "token kept": (["--keep-inference-langtok"], "--keep-inference-langtok", "use --decoding beam"),
    "no dictionary": (["--target-lang", "fi_FI"], "the target dictionary", "dict.*.txt"),
    "no dictionary of overrides": (["--model-overrides", "seed=2"], "--model-overrides seed=2", "Python dictionary"),
    "twice": (["--remove-bpe", "sentencepiece"], "--bpe sentencepiece and --post-process sentencepiece", "leave out"),
    "no pieces in it": (["--sentencepiece-model", "README.md"], "README.md is not a model of sentencepiece", ".model"),
    "no shared dictionary": (["--fixed-dictionary", "nix.txt"], "--fixed-dictionary nix.txt is not a file", "share"),
    "no data": (["nix"], "nix is not a folder", "fairseq-preprocess"),
}  # fmt: skip


@pytest.mark.parametrize("case", LANGUAGE_ERRORS)
def test_wrong_options_get_one_sentence(refused: Refused, line: list[object], case: str) -> None:
    changes, says, remedy = LANGUAGE_ERRORS[case]
    words = ["nix", *line[1:]] if case == "no data" else [*line, *changes]
    message = refused(*words)
    assert says in message and remedy in message


LEFT_OUT = {
    "--decoder-langtok": ("trained with target tokens of kind tgt, not None", "give --decoder-langtok"),
    "--encoder-langtok": ("trained with source tokens of kind src, not None", "give --encoder-langtok src"),
    "--source-lang": ("--source-lang is missing", "give --source-lang and --target-lang"),
    "--bpe": ("the utility would see pieces of words", "give --bpe sentencepiece"),
}


@pytest.mark.parametrize("flag", LEFT_OUT)
def test_missing_options_get_one_sentence(refused: Refused, line: list[object], flag: str) -> None:
    says, remedy = LEFT_OUT[flag]
    also = ["--sentencepiece-model"] if flag == "--bpe" else []
    message = refused(*without(line, flag, *also))
    assert says in message and remedy in message


def test_a_list_of_other_languages_is_found_by_its_number(refused: Refused, line: list[object], tmp_path: Path) -> None:
    """The tokens are numbered by the list: one language more or less shifts them all."""
    for count, languages in ((5, ["ar_AR", *LANGUAGES]), (3, LANGUAGES[:3])):
        (tmp_path / "langs.txt").write_text("".join(f"{language}\n" for language in languages))
        other = [*line, "--lang-dict", tmp_path / "langs.txt"]
        message = refused(*other)
        assert f"{count} languages were given, but the model has 4" in message and "--lang-dict" in message
    (tmp_path / "langs.txt").write_text("".join(f"{language}\n" for language in ["ar_AR", *LANGUAGES]))
    message = refused(*line, "--lang-dict", tmp_path / "langs.txt", "--lang-tok-style", "multilingual")  # by chance
    assert "was trained with --lang-tok-style mbart, not multilingual" in message


def test_an_order_that_the_checkpoint_knows_is_compared(refused: Refused, line: list[object], world: World) -> None:
    reversed_ = ",".join(reversed(LANGUAGES))
    known = ["--langs", reversed_, "--fixed-dictionary", world.nllb_dictionary, "--path", world.checkpoint("nllb")]
    message = refused(*without(line, "--lang-dict", "--lang-tok-style"), *known)
    assert f"languages {','.join(LANGUAGES)} in this order" in message and "--langs" in message


def listed(folder: Path, languages: list[str]) -> Path:
    (folder / "langs.txt").write_text("".join(f"{language}\n" for language in languages))
    return folder / "langs.txt"


def test_an_empty_list_of_languages_is_refused(refused: Refused, line: list[object], tmp_path: Path) -> None:
    empty = listed(tmp_path, [])
    assert f"--lang-dict {empty} is empty: give the model's languages" in refused(*line, "--lang-dict", empty)


def stored(world: World, path: Path, **changes: object) -> Path:
    """The release's model, trained with other options as far as it says."""
    state = torch.load(world.release / "model.pt", weights_only=False)
    vars(state["cfg"]["task"]).update(changes)
    torch.save(state, path)
    return path


def test_the_order_of_the_list_of_training_is_compared(
    refused: Refused, line: list[object], world: World, tmp_path: Path
) -> None:
    """A checkpoint has the path of its list, which may be there still; or the list itself, if it is one of ours."""
    turned = listed(tmp_path, LANGUAGES[::-1])
    for name, changes in (
        ("path", {"lang_dict": str(world.release / "ML50_langs.txt")}),
        ("list", {"trained_languages": LANGUAGES, "lang_dict": "nix.txt"}),
    ):
        model = stored(world, tmp_path / f"{name}.pt", **changes)
        message = refused(*line, "--path", model, "--lang-dict", turned)
        assert f"with the languages {','.join(LANGUAGES)} in this order" in message


def test_an_order_that_nobody_knows_is_warned_of(world: World, tmp_path: Path, caplog: Any) -> None:
    model = inspect_checkpoint(str(stored(world, tmp_path / "model.pt", lang_dict="nix.txt")))
    options = Namespace(**{**model.task, "source_lang": "en_XX", "target_lang": "de_DE"})
    check_training(options, LANGUAGES, model, "{}")
    assert "does not say in which order its languages were listed" in caplog.text
    caplog.clear()
    check_training(options, LANGUAGES, inspect_checkpoint(str(stored(
        world, tmp_path / "model.pt", lang_dict=str(world.release / "ML50_langs.txt")))), "{}")  # fmt: skip
    assert not caplog.text


def test_the_languages_of_a_training_come_from_where_they_are_said(tmp_path: Path) -> None:
    file = str(listed(tmp_path, ["b", "a"]))
    assert trained_languages({"langs": "x,y", "lang_dict": file}) == ["x", "y"]
    assert trained_languages({"trained_languages": ["y", "x"], "langs": None, "lang_dict": file}) == ["y", "x"]
    assert trained_languages({"lang_dict": file, "lang_pairs": ["x-y"]}) == ["b", "a"]
    assert trained_languages({"lang_pairs": "y-x,x-y"}) == ["x", "y"]  # fairseq sorts them
    assert trained_languages({"lang_dict": str(tmp_path / "nix"), "lang_pairs": ["x-y"]}) is None
    assert trained_languages({}) is None


def test_checkpoints_of_ours_have_the_list_of_languages(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, world: World, tmp_path: Path
) -> None:
    words = [*training(world, "mbart50"), *DECODE[:2]][1:]
    words[words.index("--save-dir") + 1] = tmp_path
    Fairseq(monkeypatch, capsys).train(*words[:-4], "--cpu", *DECODE[:2], "--max-update", 1)
    facts = inspect_checkpoint(str(tmp_path / "checkpoint_last.pt"))
    assert facts.task["trained_languages"] == LANGUAGES and trained_languages(facts.task) == LANGUAGES


BILINGUAL_ERRORS = {
    "order": (["--langs", ",".join(reversed(LANGUAGES))], f"with the languages {','.join(LANGUAGES)} in this order"),
    "direction": (["--source-lang", "de_DE", "--target-lang", "en_XX"],
                  "was trained on en_XX-de_DE alone, de_DE-en_XX was given: give -s en_XX -t de_DE"),
    "other target": (["--target-lang", "cs_CZ"], "was trained on en_XX-de_DE alone, en_XX-cs_CZ was given"),
}  # fmt: skip


@pytest.mark.parametrize("case", BILINGUAL_ERRORS)
@pytest.mark.parametrize("decoding", ["beam", "dcmbr"])
def test_a_fine_tuned_mbart_is_asked_for_what_it_was_trained_on(
    refused: Refused, world: World, case: str, decoding: str
) -> None:
    changes, says = BILINGUAL_ERRORS[case]
    pieces = ["--bpe", "sentencepiece", "--sentencepiece-model", world.pieces]
    line = [world.data_bin, *world.options("mbart25"), *pieces, "--path", world.checkpoint("mbart25")]
    assert says in refused(*line, "-s", "en_XX", "-t", "de_DE", "--decoding", decoding, *changes)


def test_pairs_and_subsets_without_data_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, line: list[object], world: World, tmp_path: Path
) -> None:
    command = Fairseq(monkeypatch, capsys)
    with pytest.raises(UserError, match="has no subset nix of en_XX-de_DE: it has test of en_XX-cs_CZ, test of"):
        command.generate(*line, "--gen-subset", "nix")
    shutil.copytree(world.data_bin, tmp_path / "bin")
    for path in (tmp_path / "bin").glob("test.en_XX-cs_CZ.*"):
        path.unlink()
    with pytest.raises(UserError, match="has no subset test of en_XX-cs_CZ: it has test of en_XX-de_DE"):
        command.generate(tmp_path / "bin", *line[1:], "--target-lang", "cs_CZ")


def test_a_target_dictionary_that_is_short_is_no_matter_of_languages(
    refused: Refused, line: list[object], world: World, tmp_path: Path
) -> None:
    entries = (world.release / "dict.de_DE.txt").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "short.txt").write_text("".join(entries[:-3]), "utf-8")
    message = refused(*line, "--source-dict", world.release / "dict.en_XX.txt", "--target-dict", tmp_path / "short.txt")
    assert "target embeddings but the target dictionary has" in message and "--lang-dict" not in message


def test_another_models_dictionary(refused: Refused, line: list[object], tmp_path: Path) -> None:
    entries = "".join(f"word{i} 1\n" for i in range(90))
    (tmp_path / "dict.txt").write_text(entries)
    message = refused(*line, "--fixed-dictionary", tmp_path / "dict.txt")
    assert "embeddings but the source dictionary has 99 types" in message and "dict.*.txt" in message


def test_both_styles_of_tokens_fit_where_fairseq_drops_the_mask(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, line: list[object]
) -> None:
    """mBART's last embedding is the mask's; with the default style fairseq cuts it off, and the ids stay the same."""
    command = Fairseq(monkeypatch, capsys)
    outputs = [command.generate(*line, *style) for style in ([], ["--lang-tok-style", "multilingual"])]
    one, other = ([row for row in out.split("\n") if row[:2] == "D-"] for out in outputs)
    assert one == other and len(one) == 12


def test_a_style_that_does_not_fit_is_named(refused: Refused, line: list[object], world: World) -> None:
    """A Transformer keeps all of its embeddings: NLLB's dictionary has its tokens, so mBART's would be new ones."""
    known = ["--langs", ",".join(LANGUAGES), "--fixed-dictionary", world.nllb_dictionary, "--path"]
    message = refused(*without(line, "--lang-dict"), *known, world.checkpoint("nllb"))
    assert "fits --lang-tok-style multilingual, not mbart" in message


def test_the_two_kinds_of_mbart_are_told_apart(refused: Refused, line: list[object], world: World) -> None:
    message = refused(*line, "--path", world.checkpoint("mbart25"))
    assert "--task translation_from_pretrained_bart_dcmbr" in message and "places language tokens otherwise" in message
    words = [*without(line, "--task", "--lang-dict", *map(str, TOKENS[::2]), "--decoder-langtok", "--lang-tok-style")]
    other = ["--task", "translation_from_pretrained_bart_dcmbr", "--langs", ",".join(LANGUAGES)]
    assert "--task translation_multi_simple_epoch_dcmbr" in refused(*words, *other)
    assert "--langs is missing" in refused(*words, *other[:2])


@pytest.mark.parametrize("convention", ["mbart50", "replacing", "nllb", "mbart25"])
def test_a_bilingual_task_does_not_read_a_model_with_language_tokens(
    refused: Refused, world: World, convention: str
) -> None:
    """Whose dictionaries may have the tokens, so that their sizes tell nothing; in analyses too."""
    family = "translation_from_pretrained_bart" if convention == "mbart25" else "translation_multi_simple_epoch"
    words = [world.data_bin, "--path", world.checkpoint(convention), "-s", "en_XX", "-t", "de_DE"]
    assert f"otherwise: give --task {family}_dcmbr" in refused(*words, "--task", "translation_dcmbr")
    workspace = Workspace([str(world.data_bin), "-s", "en_XX", "-t", "de_DE", "--cpu"])
    with pytest.raises(UserError, match=f"otherwise: give --task {family}_dcmbr"):
        workspace.load(str(world.checkpoint(convention)))


def test_a_multilingual_training_without_tokens_is_a_bilingual_model() -> None:
    trained = {"task": "translation_multi_simple_epoch", "langtoks": None, "decoder_langtok": False}
    assert check_family("x.pt", trained) is None
    with pytest.raises(UserError, match="give --task translation_multi_simple_epoch_dcmbr"):
        check_family("x.pt", {**trained, "decoder_langtok": True})


def test_a_checkpoint_that_is_wrong_about_itself_can_be_corrected(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, refused: Refused, line: list[object], world: World, tmp_path: Path
) -> None:
    state = torch.load(world.release / "model.pt", weights_only=False)
    state["cfg"]["task"].langtoks = {"main": ("tgt", "tgt")}
    torch.save(state, tmp_path / "model.pt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint_utils, "load_model_ensemble", None)
        with pytest.raises(UserError, match="give --encoder-langtok tgt"):
            Fairseq(patch, capsys).generate(*line, "--path", tmp_path / "model.pt")
    overrides = "{'langtoks': {'main': ('src', 'tgt')}}"
    out = Fairseq(monkeypatch, capsys).generate(*line, "--path", tmp_path / "model.pt", "--model-overrides", overrides)
    assert out.count("\nD-") == 12


def test_what_a_large_checkpoint_says_is_read_without_its_weights(world: World, tmp_path: Path) -> None:
    state = torch.load(world.release / "model.pt", weights_only=False)
    state["model"]["ballast"] = torch.zeros(100_000_000)  # 400 MB that nobody may read
    torch.save(state, tmp_path / "model.pt")
    start = time.process_time()
    facts = inspect_checkpoint(str(tmp_path / "model.pt"))
    assert time.process_time() - start < 0.5
    assert facts.decoder_rows == state["model"]["decoder.embed_tokens.weight"].size(0)
    assert facts.drops_mask and facts.task["lang_pairs"][0] == "en_XX-de_DE" and facts.label_smoothing == 0.2


# ------------------------------------------------------------------------------------------------------------ scripts


@pytest.fixture
def sets(world: World, tmp_path: Path) -> Path:
    """Test sets as they are published: three letters, one folder for each pair, compressed or not."""
    folder = tmp_path / "wmt" / "eng-deu"
    folder.mkdir(parents=True)
    for ours, theirs in (("en_XX", "eng"), ("de_DE", "deu")):
        shutil.copy(world.folder / "text" / f"test.{ours}", folder / f"newstest2016.{theirs}")
    return folder.parent


def test_the_pipeline_on_a_release_of_the_same_layout(world: World, sets: Path, tmp_path: Path) -> None:
    settings = {"MBART50": world.release, "WORK": tmp_path / "work", "LIMIT": 7, "SIZES": 3}
    for direction in ("en-de", "de-en"):
        script("mbart50/prepare.sh", direction, DATA=sets, OTHER_SETS=1, **settings)
    folder = tmp_path / "work" / "newstest2016-first7"
    assert lines(folder / "de-en" / "raw" / "test.de_DE") == world.lines("de_DE")[:7]
    assert lines(folder / "en-de" / "pieces" / "test.en_XX") == lines(world.folder / "segmented" / "test.en_XX")[:7]
    script("mbart50/decode.sh", "en-de", **settings)
    printed = script("mbart50/evaluate.sh", "en-de", **settings).stdout
    names = ["beam", "dcmbr-chrf-n3-t0.5", "mbr-chrf-n3"]
    assert [row.split()[0] for row in printed.split("\n\n")[0].split("\n")[3:]] == names
    for name in names:
        assert len(lines(folder / "en-de" / "decode" / name / "hypotheses.txt")) == 7
    with open(folder / "en-de" / "results.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert {(r["decoding"], r["num_hyp"], r["temp_hyp"]) for r in rows} == {
        ("beam", "-", "-"), ("mbr", "3", "1"), ("dcmbr", "3", "0.5"),
    }  # fmt: skip
    assert {r["task"] for r in rows} == {"newstest2016-first7-en-de"}
    assert {r["metric"] for r in rows} == {"BLEU", "chrF"}
    (table,) = [part for part in printed.split("\n\n") if "MBR N=3" in part and "chrF. In parentheses: BLEURT" in part]
    chrf = {(r["decoding"], r["num_hyp"]): float(r["score"]) for r in rows if r["metric"] == "chrF"}
    (row,) = [row for row in table.split("\n") if row.startswith("en-de")]
    assert f"{chrf['dcmbr', '3']:.1f}" in row and f"{chrf['beam', '-']:.1f} (71.8)" in row and "(74.8)" in row
    again = script("mbart50/decode.sh", "en-de", **settings).stderr
    assert again.count("done already") == 3
    shutil.copytree(world.release, tmp_path / "release")
    (tmp_path / "release" / "sentence.bpe.model").write_text("another")
    assert_all_refused("mbart50", tmp_path, DATA=sets, OTHER_SETS=1, **settings)


@pytest.mark.parametrize("direction, test, valid", [
    ("en-de", 2999, 2169), ("cs-en", 2999, 2656), ("ro-en", 1999, 1999), ("en-ru", 2998, 2818), ("en-fi", 3000, None),
])  # fmt: skip
def test_official_sets_have_the_papers_sizes(
    world: World, shared: Path, tmp_path: Path, direction: str, test: int, valid: Any
) -> None:
    """As the paper's table of data sets has them; the one of en-fi, newsdev2015, is not at hand."""
    release = tmp_path / "release"
    shutil.copytree(world.release, release)
    for code in ("fi_FI", "ro_RO", "ru_RU"):
        shutil.copy(release / "dict.en_XX.txt", release / f"dict.{code}.txt")
    (tmp_path / "work" / "newstest2016" / direction / "pieces").mkdir(parents=True)  # only the first step
    (tmp_path / "work" / "newstest2016" / direction / "bin").mkdir()
    script("mbart50/prepare.sh", direction, MBART50=release, DATA=shared / "data" / "wmt", WORK=tmp_path / "work")
    raw = tmp_path / "work" / "newstest2016" / direction / "raw"
    found = {path.name.split(".")[0]: len(lines(path)) for path in raw.iterdir()}
    assert found == ({"test": test, "valid": valid} if valid else {"test": test})
    assert len(list(raw.iterdir())) == 2 * len(found)


SCRIPT_ERRORS = {
    "no release": ("prepare.sh", {}, "MBART50 is not set: give the folder"),
    "not a release": ("prepare.sh", {"MBART50": "nix"}, "nix lacks model.pt"),
    "other size": ("prepare.sh", {}, "newstest2016 of en-de has 12 lines, the official set 2999: OTHER_SETS=1"),
    "no set": ("prepare.sh", {"TEST": "newstest2017"}, "has no newstest2017 of en and de"),
    "unknown direction": ("prepare.sh", {}, "unknown direction en-xx: give one of en-de de-en"),
    "not prepared": ("decode.sh", {}, "run scripts/mbart50/prepare.sh en-de first"),
    "not decoded": ("evaluate.sh", {}, "run scripts/mbart50/decode.sh en-de first"),
}


@pytest.mark.parametrize("case", SCRIPT_ERRORS)
def test_scripts_say_what_is_missing(case: str, world: World, sets: Path, tmp_path: Path) -> None:
    name, variables, says = SCRIPT_ERRORS[case]
    settings = {"DATA": sets, "WORK": tmp_path / "work", **({} if case == "no release" else {"MBART50": world.release})}
    direction = "en-xx" if case == "unknown direction" else "en-de"
    done = script(f"mbart50/{name}", direction, check=False, **{**settings, **variables})
    assert done.returncode == 1 and says in done.stderr


def test_the_list_of_languages_is_the_release_and_covers_the_directions() -> None:
    """52 languages; the paper's, and those of the small model, are among them."""
    text = (REPOSITORY / "scripts" / "mbart50" / "settings.sh").read_text()
    listed = text.split("ML50_LANGS=(")[1].split(")")[0].split()
    known = [row.split()[1] for row in text.split('LANGUAGES="\n')[1].split('"')[0].split("\n") if row]
    assert len(listed) == len(set(listed)) == 52 and set(known) <= set(listed)


def test_namespaces_of_older_checkpoints_are_read(world: World, tmp_path: Path) -> None:
    state = torch.load(world.release / "model.pt", weights_only=False)
    new = inspect_checkpoint(str(world.release / "model.pt"))
    state["args"], state["cfg"] = Namespace(**vars(state["cfg"]["model"])), None
    torch.save(state, tmp_path / "model.pt")
    old = inspect_checkpoint(str(tmp_path / "model.pt"))
    assert (old.arch, old.decoder_rows, old.drops_mask) == (new.arch, new.decoder_rows, True)
    assert pairs_of(old.task["lang_pairs"]) == pairs_of(new.task["lang_pairs"]) == PAIRS.split(",")
