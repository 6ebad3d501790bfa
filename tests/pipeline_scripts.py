"""How the tests run scripts/: with this interpreter's packages, nothing installed, one job."""

import gzip
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import programs
from fairseq_commands import REPOSITORY

SCRIPTS = REPOSITORY / "scripts"

#: a run of four updates of one layer of 16 dimensions on the CPU, saved after the second and the fourth
TINY = [
    *[f"model.{side}_{key}" for side in ("encoder", "decoder") for key in
      ("layers=1", "embed_dim=16", "ffn_embed_dim=16", "attention_heads=2")],
    "dataset.max_tokens=400", "dataset.num_workers=0", "optimization.max_update=4",
    "checkpoint.save_interval_updates=2",
]  # fmt: skip


def environment(**variables: object) -> dict[str, str]:
    """The scripts' environment; a variable that is None is not set. With ``VENV=programs.REAL`` all starts are real."""
    venv = {"VENV": variables.get("VENV") or programs.venv(), "DCMBR_USE_VENV_AS_IS": "1"}
    given = {**os.environ, "JOBS": "1", "OMP_NUM_THREADS": "1", **variables, **venv}
    return {name: str(value) for name, value in given.items() if value is not None}


def script(
    name: str, *arguments: object, check: bool = True, **variables: object
) -> "subprocess.CompletedProcess[str]":
    """Run a script with environment variables; unless ``check`` is False it must succeed."""
    line = ["bash", str(SCRIPTS / name), *map(str, arguments)]
    done = subprocess.run(line, env=environment(**variables), capture_output=True, text=True, timeout=900)
    assert not check or done.returncode == 0, f"{line} exited with {done.returncode}:\n{done.stderr[-4000:]}"
    return done


def lib(commands: str, cwd: Path, **variables: object) -> "subprocess.CompletedProcess[str]":
    """Run commands of bash with scripts/lib.sh sourced."""
    text = f'source "{SCRIPTS}/lib.sh"\nexport PATH="$VENV/bin:$PATH"\n{commands}'
    return subprocess.run(["bash", "-c", text], cwd=cwd, env=environment(**variables), capture_output=True, text=True)


def lines(path: Path) -> list[str]:
    """The lines of a text, of which ``\\n`` alone ends one."""
    return path.read_text("utf-8").split("\n")[:-1]


def beginnings(shared: Path, folder: Path, counts: dict[str, int], languages: Iterable[str]) -> None:
    """The first so many lines of Multi30k's files, by name, as plain NAME.LANGUAGE in a folder, which is made."""
    folder.mkdir()
    for name, count in counts.items():
        for language in languages:
            text = gzip.decompress((shared / "data/multi30k" / f"{name}.{language}.gz").read_bytes())
            (folder / f"{name}.{language}").write_bytes(b"\n".join([*text.split(b"\n")[:count], b""]))


#: for each pipeline: a script, its arguments, what is changed after a run (None: not set; TMP: the test's folder), and
#: what the refusal says
REFUSED: dict[str, list[tuple[str, list[object], dict[str, object], str]]] = {
    "wmt": [
        ("wmt20/prepare.sh", ["en-de"], {"DATA": "TMP/other"}, "DATA/news-commentary-v15.de-en.tsv.gz is another file"),
        ("wmt20/prepare.sh", ["en-de"], {"DATA": None}, "DATA=downloads (was local files)"),
        ("wmt20/prepare.sh", ["en-de"], {"MERGES": 61}, "MERGES=61 (was 60)"),
        ("wmt20/prepare.sh", ["en-de"], {"LOWERCASE": 1}, "LOWERCASE=1 (was )"),
        ("wmt20/prepare.sh", ["en-de"], {"MIN_SCORE": -3}, "MIN_SCORE=-3 (was )"),
        ("wmt20/prepare.sh", ["en-de"], {"ALIGNMENT_SCORES": "TMP/scores"}, "ALIGNMENT_SCORES/scores is new"),
        ("wmt20/average.sh", ["en-de", 0.1], {"AVERAGE": 1}, "AVERAGE=1 (was 2)"),
        ("wmt20/decode.sh", ["en-de", 0.1], {"SYSTEMS": "beam", "BEAM_FLAGS": "--beam 2"}, "BEAM_FLAGS=--beam 2"),
        ("wmt20/decode.sh", ["en-de", 0.1], {"SYSTEMS": "mbr", "UTILITY_ARGS": '{"x": 1}'}, 'UTILITY_ARGS={"x": 1}'),
        ("wmt20/decode.sh", ["en-de", 0.1], {"SYSTEMS": "dcmbr", "GENERATE_TOKENS": 99}, "GENERATE_TOKENS=99"),
    ],
    "multi30k": [
        ("multi30k/prepare.sh", ["en", "cs"], {"MERGES": 99}, "MERGES=99 (was 100)"),
        ("multi30k/prepare.sh", ["en", "cs"], {"DATA": None}, "DATA=downloads (was local files), DATA/test_2016"),
        ("multi30k/train.sh", ["en", "cs", 0.1, "optimization.lr=[1]", *TINY], {}, "--lr=1 (was 0.003)"),
        ("multi30k/train.sh", ["en", "cs", 0.1, *TINY], {"AVERAGE": 2}, "AVERAGE=2 (was 1)"),
        ("multi30k/decode.sh", ["en", "cs", 0.1], {"SYSTEMS": "beam", "BEAM_FLAGS": "--x"}, "BEAM_FLAGS=--x (was"),
        ("multi30k/decode.sh", ["en", "cs", 0.1], {"SYSTEMS": "dcmbr", "UTILITY_ARGS": "{} "}, "UTILITY_ARGS={} "),
        ("multi30k/decode.sh", ["en", "cs", 0.1], {"SYSTEMS": "dcmbr", "GENERATE_TOKENS": 9}, "GENERATE_TOKENS=9 (was"),
    ],
    "demo": [
        ("demo.sh", [*TINY], {"PAIRS": 3001}, "PAIRS=3001 (was 3000)"),
        ("demo.sh", [*TINY], {"HELD_OUT": 26}, "HELD_OUT=26 (was 25)"),
        ("demo.sh", [*TINY, "criterion.label_smoothing=0.2"], {}, "--label-smoothing=0.2 (was 0.1)"),
        ("demo.sh", [*TINY], {"BEAM_FLAGS": "--beam 3"}, "BEAM_FLAGS=--beam 3 (was --beam 5)"),
        ("demo.sh", [*TINY], {"SYSTEMS": "dcmbr", "UTILITY_ARGS": '{"order": 2}'}, 'UTILITY_ARGS={"order": 2}'),
    ],
    "mbart50": [
        ("mbart50/prepare.sh", ["en-de"], {"DATA": None}, "DATA=downloads (was local files)"),
        ("mbart50/prepare.sh", ["en-de"], {"MBART50": "TMP/release"}, "MBART50/sentence.bpe.model is another file"),
        ("mbart50/decode.sh", ["en-de"], {"BEAM_FLAGS": "--beam 2"}, "BEAM_FLAGS=--beam 2 (was --beam 5)"),
        ("mbart50/decode.sh", ["en-de"], {"MAX_ROWS": 5}, "MAX_ROWS=5 (was 400)"),
        ("mbart50/decode.sh", ["en-de"], {"PRECISION": "--bf16"}, "PRECISION=--bf16 (was --fp16)"),
        ("mbart50/decode.sh", ["en-de"], {"GENERATE_TOKENS": 9}, "GENERATE_TOKENS=9 (was 2048)"),
        ("mbart50/decode.sh", ["en-de"], {"SYSTEMS": "mbr", "UTILITY_ARGS": "[]"}, "UTILITY_ARGS=[] (was {})"),
        ("mbart50/decode.sh", ["en-de"], {"MBART50": "TMP/release"}, "MBART50/sentence.bpe.model is new"),
    ],
}  # fmt: skip


def assert_refused(name: str, arguments: Iterable[object], says: str, **variables: object) -> None:
    """The script ends with one sentence that says what was changed."""
    done = script(name, *arguments, check=False, **variables)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and last.startswith("error: ") and " otherwise: " in last and says in last, done.stderr


def assert_all_refused(pipeline: str, folder: Path, **settings: Any) -> None:
    """Each change of ``REFUSED`` after a run with these settings is refused, and nothing is touched."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    for name, arguments, changed, says in REFUSED[pipeline]:
        given = {key: value and str(value).replace("TMP", str(folder)) for key, value in changed.items()}
        assert_refused(name, arguments, says, **{**settings, **given})
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()} == before
