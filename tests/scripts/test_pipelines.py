"""scripts/: whole pipelines on small files laid out like the official ones, and what their steps promise."""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from official_data import distinct_pairs, toy_pairs, write_set, write_wmt16, write_wmt20
from pipeline_scripts import SCRIPTS, TINY, assert_all_refused, assert_refused, beginnings, lib, lines, script

# ------------------------------------------------------------------------------------------------- whole pipelines


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders wmt20 and wmt16 with 120 pairs for training, and small sets: valid as SGML, test as plain text."""
    folder = tmp_path_factory.mktemp("official")
    write_wmt20(folder / "wmt20", distinct_pairs(120, "de", seed=1))
    write_wmt16(folder / "wmt16", distinct_pairs(120, "ro", seed=1))
    for data, valid, test, source, target in (
        ("wmt20", "newstest2019", "newstest2020", "en", "de"),
        ("wmt20", "newstest2019", "newstest2020", "de", "en"),
        ("wmt16", "newsdev2016", "newstest2016", "en", "ro"),
    ):
        other = "ro" if "ro" in (source, target) else "de"
        write_set(folder / data, valid, source, target, toy_pairs(11, other, seed=2), sgml=True)
        write_set(folder / data, test, source, target, toy_pairs(9, other, seed=3), sgml=False)
    return folder


def settings_of(work: Path, systems: str = "beam mbr dcmbr") -> dict[str, object]:
    """The variables with which the WMT pipelines are run here."""
    return {"WORK": work, "MERGES": 60, "AVERAGE": 2, "NUM": 4, "SYSTEMS": systems}


def run_pipeline(data_set: str, pair: str, data: Path, work: Path, systems: str) -> dict[str, object]:
    """prepare, train, average, decode, evaluate; returns the table of evaluate.sh as its JSON file has it."""
    settings = settings_of(work, systems)
    script(f"{data_set}/prepare.sh", pair, DATA=data, OTHER_SETS=1, **settings)
    script(f"{data_set}/train.sh", pair, 0.1, *TINY, **settings)
    script(f"{data_set}/average.sh", pair, 0.1, **settings)
    script(f"{data_set}/decode.sh", pair, 0.1, **settings)
    printed = script(f"{data_set}/evaluate.sh", pair, **settings).stdout
    assert printed == (work / pair / "results" / "test.text").read_text("utf-8")
    return json.loads((work / pair / "results" / "test.json").read_text("utf-8"))


def test_wmt20_en_de(official: Path, tmp_path: Path) -> None:
    """The whole pipeline, then GER from its model, then everything again: what is done is not done twice."""
    table = run_pipeline("wmt20", "en-de", official / "wmt20", tmp_path, "beam mbr dcmbr")
    names = [system["name"] for system in table["systems"]]  # type: ignore[attr-defined]
    assert names == ["ls0.1/beam", "ls0.1/dcmbr-chrf-n4-t0.5", "ls0.1/mbr-chrf-n4"]
    assert table["segments"] == 9

    folder = tmp_path / "en-de"
    pairs = list(zip(lines(folder / "clean/train.en"), lines(folder / "clean/train.de"), strict=True))
    assert sorted(pairs) == sorted(distinct_pairs(120, "de", seed=1)[:120])  # nothing lost but what a rule names
    report = json.loads((folder / "filter.json").read_text("utf-8"))
    assert (report["pairs"], report["dropped"]["html"], report["dropped"]["copy"]) == (122, 1, 1)
    assert lines(folder / "raw/sets/test.de") == [german for _, german in toy_pairs(9, "de", seed=3)]
    pools = (folder / "decode/test/ls0.1/dcmbr-chrf-n4-t0.5/pools.jsonl").read_text("utf-8")
    assert len(pools.split("\n")[:-1]) == 9

    ger = ("en-de", 0.1, 0.3, 0.2)
    script("wmt20/train.sh", *ger, *TINY, WORK=tmp_path)
    script("wmt20/average.sh", *ger, WORK=tmp_path)
    assert (folder / "checkpoints/ls0.1-ger-a0.3-b0.2/averaged.pt").is_file()
    assert "updates 4" in (folder / "checkpoints/ls0.1-ger-a0.3-b0.2/finished").read_text()

    before, settings = stamps(folder), settings_of(tmp_path)
    script("wmt20/prepare.sh", "en-de", DATA=official / "wmt20", **settings)
    script("wmt20/prepare.sh", "en-de", DATA="/nowhere", **settings)
    script("wmt20/train.sh", "en-de", 0.1, *TINY, **settings)
    script("wmt20/average.sh", "en-de", 0.1, **settings)
    script("wmt20/decode.sh", "en-de", 0.1, **settings)
    assert stamps(folder) == before
    shutil.copytree(official / "wmt20", tmp_path / "other")
    (tmp_path / "other/news-commentary-v15.de-en.tsv.gz").write_bytes(gzip.compress(b"ein Hund\ta dog\n"))
    (tmp_path / "scores").write_text("-1\n")
    assert_all_refused("wmt", tmp_path, DATA=official / "wmt20", **settings)
    assert_refused("wmt20/train.sh", ["en-de", 0.1, *TINY, "optimization.lr=[0.1]"], "--lr", **settings)
    assert stamps(folder) == before


def stamps(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_wmt20_de_en(official: Path, tmp_path: Path) -> None:
    """The other direction has its own sets, and German is what is read."""
    table = run_pipeline("wmt20", "de-en", official / "wmt20", tmp_path, "dcmbr")
    assert [system["name"] for system in table["systems"]] == ["ls0.1/dcmbr-chrf-n4-t0.5"]  # type: ignore[attr-defined]
    assert lines(tmp_path / "de-en/raw/sets/test.en") == [english for english, _ in toy_pairs(9, "de", seed=3)]
    log = (tmp_path / "de-en/decode/test/ls0.1/dcmbr-chrf-n4-t0.5/generate.log").read_text("utf-8")
    sources = [line.split("\t")[1] for line in log.split("\n") if line.startswith("S-")]
    assert any("der" in source.split() or "ein" in source.split() for source in sources)


def test_wmt16_en_ro(official: Path, tmp_path: Path) -> None:
    """Romanian letters are normalised, the case is dropped, and scores disregard it."""
    table = run_pipeline("wmt16", "en-ro", official / "wmt16", tmp_path, "beam")
    assert "case:lc" in str(table["signatures"])
    training = (tmp_path / "en-ro/clean/train.ro").read_text("utf-8")
    assert not set(training) & set("şţŞŢ") and set(training) & set("șț")  # cedillas have become commas
    assert training == training.lower()
    published = (tmp_path / "en-ro/raw/sets/test.ro").read_text("utf-8")
    assert "ş" in published  # references stay as published
    mean = json.dumps({"mean": {"of": {"chrf": {}, "bleu": {}}}})  # which has no case of its own
    ideal = tmp_path / "en-ro/decode/test/ideal/beam"
    ideal.mkdir(parents=True)
    (ideal / "hypotheses.txt").write_text(published.lower(), "utf-8")
    (ideal / "seconds").write_text("1\n")
    script("wmt16/evaluate.sh", "en-ro", WORK=tmp_path, METRICS="bleu,chrf,mean", METRIC_ARGS=mean)
    scores = json.loads((tmp_path / "en-ro/results/test.json").read_text("utf-8"))["systems"]
    (best,) = [system for system in scores if system["name"] == "ideal/beam"]
    assert all(value == pytest.approx(100) for name, value in best.items() if name not in ("name", "seconds"))


def test_multi30k_on_real_data(shared: Path, tmp_path: Path) -> None:
    """The first lines of Multi30k: every text of every step has as many lines as the source; then a tiny model."""
    data = tmp_path / "data"
    names = ("train", "val", "test_2016_flickr", "test_2018_flickr")
    beginnings(shared, data, dict.fromkeys(names, 50), ("en", "cs"))
    settings = {"DATA": data, "WORK": tmp_path, "MERGES": 100, "NUM": 3}
    script("multi30k/prepare.sh", "en", "cs", **settings)
    folder = tmp_path / "en-cs"
    for step in ("raw", "tok", "bpe"):
        texts = sorted(path.name for path in (folder / step).iterdir())
        assert len(texts) == 8 and {len(lines(folder / step / name)) for name in texts} == {50}
    assert lines(folder / "raw/valid.cs") == lines(data / "val.cs")
    joined = [line.replace("@@ ", "") for line in lines(folder / "bpe/train.cs")]
    assert joined == lines(folder / "tok/train.cs")
    assert (folder / "bin/dict.en.txt").read_text("utf-8") == (folder / "bin/dict.cs.txt").read_text("utf-8")

    run = ("en", "cs", "0.1")
    early = script("multi30k/train.sh", *run, *TINY, "checkpoint.save_interval_updates=0", check=False, **settings)
    assert early.returncode == 1 and "give the number of checkpoints to average, such as AVERAGE=1" in early.stderr
    failed = script("multi30k/decode.sh", *run, "test_2016_flickr", check=False, **settings)
    assert failed.returncode == 1 and "averaged.pt does not exist: train and average first" in failed.stderr
    settings["AVERAGE"] = 1
    script("multi30k/train.sh", *run, *TINY, "checkpoint.save_interval_updates=0", **settings)
    broken = script("multi30k/decode.sh", *run, check=False, UTILITY="nonsense", SYSTEMS="mbr", **settings)
    nothing = script("multi30k/evaluate.sh", *run, check=False, **settings)
    assert broken.returncode != 0 and nothing.returncode == 1 and "nothing decoded yet" in nothing.stderr
    assert "mbr-nonsense-n3 has not been finished and is left out" in nothing.stderr
    script("multi30k/decode.sh", *run, "test_2016_flickr", SYSTEMS="beam dcmbr", **settings)
    printed = script("multi30k/evaluate.sh", *run, **settings)
    assert "beam" in printed.stdout and "dcmbr-chrf-n3-t0.5" in printed.stdout
    assert_all_refused("multi30k", tmp_path, **settings)


# ------------------------------------------------------------------------------------------------------- the sets

SHARED_SETS = {  # the folder in ../shared/data/wmt, the data set, valid and test: file stem and official name
    "en-de": ("eng-deu", "wmt20", "newstest2019", "newstest2020"),
    "de-en": ("deu-eng", "wmt20", "newstest2019", "newstest2020"),
    "en-ro": ("eng-ron", "wmt16", "newsdev2016", "newstest2016"),
}


@pytest.mark.parametrize("pair", SHARED_SETS)
def test_official_sets_have_the_papers_sizes(pair: str, shared: Path, tmp_path: Path) -> None:
    """The table of data sets in the paper: valid 1997 / 2000 / 1999, test 1418 / 785 / 1999."""
    folder, data_set, valid, test = SHARED_SETS[pair]
    data = tmp_path / "data"
    data.mkdir()
    source, target = pair.split("-")
    for name in (valid, test):
        for side, lang in (("src", source), ("ref", target)):
            code = {"en": "eng", "de": "deu", "ro": "ron"}[lang]
            official = data / f"{name}-{source}{target}-{side}.{lang}.gz"
            official.symlink_to(shared / "data/wmt" / folder / f"{name}.{code}.gz")
    commands = f"""
        source "{SCRIPTS}/wmt/common.sh"; set_data_set {data_set}
        DATA="{data}"; set_pair {pair}; get_sets sets; wc -l <sets/valid.{target}; wc -l <sets/test.{source}"""
    done = lib(commands, tmp_path)
    paper = {"en-de": ["1997", "1418"], "de-en": ["2000", "785"], "en-ro": ["1999", "1999"]}
    assert done.stdout.split() == paper[pair], done.stderr


def test_a_set_of_another_size_is_refused(official: Path, tmp_path: Path) -> None:
    done = script("wmt20/prepare.sh", "en-de", check=False, DATA=official / "wmt20", WORK=tmp_path)
    assert done.returncode == 1
    assert "the valid set of en-de has 11 lines, the official one 1997: OTHER_SETS=1" in done.stderr
    assert not (tmp_path / "en-de/raw/sets").exists()


# --------------------------------------------------------------------------------------------------- bad input

BAD = [
    ("wmt20/prepare.sh", ["fr-en"], "unknown pair fr-en: give one of en-de de-en"),
    ("wmt20/prepare.sh", ["en-de"], "holds none of the corpora europarl-v10.de-en.tsv.gz"),
    ("wmt16/decode.sh", ["en-ro", "0.1"], "averaged.pt does not exist: train and average first"),
    ("wmt16/evaluate.sh", ["en-ro"], "nothing decoded yet"),
    ("wmt20/train.sh", ["en-de", "0.1"], "is not a folder: run prepare.sh first"),
    ("multi30k/prepare.sh", ["en", "de"], "has neither train.en nor train.en.gz"),
    ("multi30k/decode.sh", ["en", "de", "0.1", "test_2015"], "there is no test set test_2015 for en-de"),
    ("train.sh", ["wmt20/xx", "data", "run"], "there is no configs/wmt20/xx.yaml: give one of "),
]


@pytest.mark.parametrize(("name", "arguments", "says"), BAD)
def test_bad_input_gets_one_sentence(name: str, arguments: list[str], says: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = script(name, *arguments, check=False, DATA=empty, WORK=tmp_path / "work")
    assert done.returncode == 1
    assert done.stderr.split("\n")[-2].startswith("error: ") and says in done.stderr.split("\n")[-2]


@pytest.mark.parametrize("path", sorted(str(path.relative_to(SCRIPTS)) for path in SCRIPTS.glob("[mw]*/*.sh")))
def test_called_with_nothing_a_script_tells_how(path: str) -> None:
    if not os.access(SCRIPTS / path, os.X_OK):
        pytest.skip("is sourced by the others")
    done = script(path, check=False)
    assert done.returncode == 2
    assert f"scripts/{path} " in done.stderr and "Environment:" in done.stderr


@pytest.mark.parametrize("name", ["train.sh", "average.sh", "decode.sh"])
@pytest.mark.parametrize(("data_set", "pair"), [("wmt20", "en-de"), ("wmt16", "en-ro")])
def test_a_forgotten_beta_gives_usage(data_set: str, pair: str, name: str, tmp_path: Path) -> None:
    done = script(f"{data_set}/{name}", pair, "0.0", "0.3", check=False, WORK=tmp_path / "work")
    assert done.returncode == 2 and f"scripts/{data_set}/{name} " in done.stderr and "BETA" in done.stderr
    assert not (tmp_path / "work").exists()


# ------------------------------------------------------------------------------------------------------- lib.sh


def test_step_never_leaves_a_half_written_output(tmp_path: Path) -> None:
    fails = lib('write() { echo half >"$1"; false; }; step "writing" out -- write {}', tmp_path)
    assert fails.returncode != 0
    assert not (tmp_path / "out").exists()
    works = lib('write() { [[ ! -e "$1" ]]; echo whole >"$1"; }; step "writing" out -- write {}', tmp_path)
    assert works.returncode == 0, works.stderr
    again = lib('step "writing" out -- false {}', tmp_path)
    assert again.returncode == 0 and "done already" in again.stderr
    assert (tmp_path / "out").read_text() == "whole\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.settings"]


def test_text_keeps_its_lines_whatever_is_in_them(tmp_path: Path) -> None:
    """Characters at which some tool ends a line: the line count of every step is that of the file."""
    odd = ["one\rtwo", "a\u2028b", "c\x0bd\x0ce", "\x1c\x1d\x1ef", "g\x85h", "", "windows\r", "i\u2029j", "été ~ été"]
    for lang in ("en", "de"):
        (tmp_path / f"raw.{lang}").write_text("".join(f"{line}\n" for line in odd), "utf-8", newline="")
    commands = """
        SRC=en TGT=de; mkdir raw
        for lang in en de; do read_text raw.$lang >raw/train.$lang; cp raw/train.$lang raw/test.$lang; done
        for_all_texts tokenise raw tok
        learn_bpe 10 codes tok/train.en
        encode() { apply_bpe codes "$2" "$3"; }
        for_all_texts encode tok bpe"""
    done = lib(commands, tmp_path)
    assert done.returncode == 0, done.stderr
    clean = lines(tmp_path / "raw/train.en")
    assert clean == ["one two", "a b", "c d e", "   f", "g h", "", "windows", "i j", "été ~ été"]
    for name in ("train.en", "test.de"):
        assert [" ".join(line.split()) for line in clean] == lines(tmp_path / "tok" / name)
        assert len(lines(tmp_path / "bpe" / name)) == len(odd)


def test_tokenisation_in_pieces_is_that_of_the_whole(tmp_path: Path) -> None:
    """Any number of processes and any size of pieces give what fairseq's own --tokenizer moses gives line by line."""
    from sacremoses import MosesTokenizer

    text = [f'Line {i}: it\'s "well-known" & costs 1,{i:03d}.50 $ (i.e. {"ä" * (i % 4)}).' for i in range(25)]
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in text), "utf-8")
    done = lib("SHARD_LINES=4; tokenise en text out", tmp_path, JOBS=3)
    assert done.returncode == 0, done.stderr
    moses = MosesTokenizer("en")
    assert lines(tmp_path / "out") == [moses.tokenize(t, aggressive_dash_splits=True, return_str=True) for t in text]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "text"]


def test_unaligned_files_are_named_with_both_counts(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n")
    (tmp_path / "b").write_text("1\n")
    done = lib("assert_aligned a b", tmp_path)
    assert done.returncode == 1 and "not aligned: a has 2 lines, b has 1" in done.stderr


def test_a_failing_piece_fails_the_step(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    done = lib("in_parallel a out grep -v 2", tmp_path, JOBS=3)
    assert done.returncode == 1 and not (tmp_path / "out").exists()


def test_extract_orders_the_sentences_and_misses_none(tmp_path: Path) -> None:
    log = "S-1\tx\nD-1\t-0.5\tzwei\nH-1\t-1\tno\nD-0\t-0.5\teins\tund\nD-1\t-0.9\tsecond best\nD-2\t-0.1\t\n"
    (tmp_path / "log").write_text(log, "utf-8")
    done = lib("extract log out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert lines(tmp_path / "out") == ["eins\tund", "zwei", ""]
    (tmp_path / "log").write_text(log.replace("D-1", "X-1"), "utf-8")
    done = lib("extract log out2", tmp_path)
    assert done.returncode == 1 and "lacks the sentence" in done.stderr and not (tmp_path / "out2").exists()


def test_a_system_is_named_after_its_settings(tmp_path: Path) -> None:
    """A changed setting decodes anew instead of being taken for done."""
    commands = "label beam; label mbr; label dcmbr; TEMP_REF=0.7 SEED=2 NUM=10 UTILITY=my_module:Mine label dcmbr"
    printed = lib(commands, tmp_path).stdout.split()
    assert printed == ["beam", "mbr-chrf-n50", "dcmbr-chrf-n50-t0.5", "dcmbr-my_module.Mine-n10-t0.5-0.7-seed2"]
