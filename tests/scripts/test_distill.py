"""scripts/distill.sh on a trained model and a few sentences: what is learnt from, what is skipped, what is refused."""

import json
from pathlib import Path

import pytest
from pipeline_scripts import assert_refused, beginnings, lib, lines, script

#: The trained model's own architecture, and a training of four updates.
MODEL = [
    "model._name=transformer_iwslt_de_en",
    *[f"model.{side}_{key}" for side in ("encoder", "decoder") for key in
      ("layers=2", "embed_dim=128", "ffn_embed_dim=512", "attention_heads=4", "normalize_before=false")],
    "dataset.max_tokens=400", "dataset.num_workers=0", "dataset.validate_interval_updates=2",
    "optimization.max_update=4", "checkpoint.save_interval_updates=2",
]  # fmt: skip
TEST = "test_2016_flickr"


@pytest.fixture(scope="module")
def data(shared: Path, multi30k_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What prepare.sh would have left for the trained model: bin, bpe.codes, raw; and sources to learn from."""
    folder = tmp_path_factory.mktemp("data")
    beginnings(shared, folder / "raw", {"val": 6, TEST: 6, "train": 9}, ("en", "de"))
    (folder / "bpe.codes").write_bytes((multi30k_model / "bpe.codes").read_bytes())
    commands = f"""
        mkdir tok
        for file in val {TEST}; do for lang in en de; do
            tokenise $lang raw/$file.$lang tok/all && apply_bpe bpe.codes tok/all tok/$file.$lang
        done; done
        fairseq-preprocess --source-lang en --target-lang de --srcdict {multi30k_model}/dict.en.txt \\
            --tgtdict {multi30k_model}/dict.de.txt --validpref tok/val --testpref tok/{TEST} --destdir bin
    """
    done = lib(commands, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_from_sources_to_the_distilled_model(data: Path, multi30k_model: Path, tmp_path: Path) -> None:
    sources, out = data / "raw" / "train.en", tmp_path / "out"
    sources.write_text("".join(f"{line}\n" for line in [*lines(sources)[:8], "❄ Zwölf Boxkämpfer"]), "utf-8")
    line = ["distill.sh", "multi30k/small", multi30k_model / "ls0.1.pt", sources, out, *MODEL]
    settings = {"DATA": data, "PIECE": 5, "NUM": 4, "TEST_NUM": 4, "AVERAGE": 1, "TEST": TEST}
    done = script(line[0], *line[1:], **settings)

    pieces = [out / "decode" / piece / "dcmbr-chrf-n4-t0.5" / "pools.jsonl" for piece in ("test", "test1")]
    records = [json.loads(row) for path in pieces for row in lines(path)]
    report = json.loads((out / "pairs" / "report.json").read_text())
    assert report["decisions"] == len(records) == 9 and report["kept"] == len(lines(out / "pairs" / "train.de"))
    chosen = dict(zip(lines(sources), (record["translation"] for record in records), strict=True))
    learnt = dict(zip(lines(out / "pairs" / "train.en"), lines(out / "pairs" / "train.de"), strict=True))
    assert len(learnt) >= 7 and learnt.items() <= chosen.items()  # the sources' own text, unknown words and all

    scores = json.loads((out / "results.json").read_text())
    names = [f"{base}/{label}" for base, label in [
        ("base", "beam"), ("base", "dcmbr-chrf-n4-t0.5"), ("distilled-1", "beam"), ("distilled", "beam"),
        ("distilled", "dcmbr-chrf-n4-t0.5"),
    ]]  # fmt: skip
    assert [system["name"] for system in scores["systems"]] == names and scores["segments"] == 6
    assert "distilled-1/beam" in (out / "significance.text").read_text() and "p Holm" in done.stdout
    log = (out / "checkpoints" / "train.log").read_text()
    assert "| valid_bleu" in log or "| bleu " in log  # validated by a beam, not by likelihood

    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.suffix in (".pt", ".jsonl", ".bin")}
    again = script(line[0], *line[1:], **settings)
    assert " ..." not in again.stderr and again.stdout == done.stdout
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert_refused("distill.sh", line[1:], "MAX_RATIO=3 (was 2.5)", **{**settings, "MAX_RATIO": 3})


def test_translations_of_others_are_taken_by_the_same_rules(data: Path, multi30k_model: Path, tmp_path: Path) -> None:
    """TEACHER as a file, the control of the references; and the text alone, for another trainer."""
    teacher = tmp_path / "translations"
    references = lines(data / "raw" / "train.de")
    given = [references[0], "", "zwei Katzen " * 40, *references[3:8]]
    teacher.write_text("".join(f"{line}\n" for line in given), "utf-8")
    out = tmp_path / "out"
    settings = {"DATA": data, "TEACHER": teacher, "LIMIT": 8, "ONLY": "text", "TEST": TEST}
    script("distill.sh", "multi30k/small", multi30k_model / "ls0.1.pt", data / "raw" / "train.en", out, **settings)
    assert lines(out / "pairs" / "train.de") == [given[0], *given[3:]]
    assert json.loads((out / "pairs" / "report.json").read_text())["kept"] == 6
    assert not (out / "bin").exists() and not (out / "decode").exists()


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"TEACHER": "nobody"}, "TEACHER=nobody: give dcmbr, mbr, beam, or a file"),
        ({"PIECE": "0"}, "PIECE=0"),
        ({"DATA": "/nowhere"}, "/nowhere/bpe.codes does not exist"),
        ({"SRC": "fr"}, "dict.fr.txt does not exist"),
    ],
)
def test_mistakes_are_named_before_anything_runs(
    changed: dict[str, str], says: str, data: Path, multi30k_model: Path, tmp_path: Path
) -> None:
    settings = {"DATA": data, "TEST": TEST, "REFERENCES": data / "raw" / f"{TEST}.de", **changed}
    model, sources = multi30k_model / "ls0.1.pt", data / "raw" / "train.en"
    done = script("distill.sh", "multi30k/small", model, sources, tmp_path / "out", check=False, **settings)
    assert done.returncode == 1 and says in done.stderr.splitlines()[-1] and not (tmp_path / "out").exists()
