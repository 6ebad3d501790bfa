"""scripts/lib/steps.sh: a step is done once, and what was made from other settings or inputs is refused by name."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from pipeline_scripts import SCRIPTS, environment, lib

#: two steps, the second from the output of the first, the first from a file outside that DATA names
CHAIN = """
    copy() { cat "$DATA/text" >"$2"; echo "$1" >>"$2"; }
    fold() { mkdir "$2"; cp "$1" "$2/text"; }
    data_basis "${DATA:-}/text"
    step "first" work/first --with MERGES "${BASIS[@]}" -- copy "$MERGES" {}
    step "second" work/second --with "UTILITY_ARGS=$UTILITY_ARGS" --from work/first -- fold work/first {}
    step "third" work/third --from work/second extra -- cp extra {}
"""
SETTINGS = {"MERGES": "4000", "DATA": "data", "UTILITY_ARGS": '{"a b": 1}'}


def made(tmp_path: Path) -> dict[str, str]:
    """Run the chain once; returns what the work folder holds."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/text").write_text("text\n")
    (tmp_path / "extra").write_text("extra\n")
    done = lib(CHAIN, tmp_path, **SETTINGS)
    assert done.returncode == 0 and "done already" not in done.stderr, done.stderr
    return texts(tmp_path)


def texts(tmp_path: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in sorted((tmp_path / "work").rglob("*")) if path.is_file()}


def assert_done(tmp_path: Path, before: dict[str, str], **changed: object) -> str:
    done = lib(CHAIN, tmp_path, **{**SETTINGS, **changed})
    assert done.returncode == 0 and done.stderr.count("done already") == 3, done.stderr
    assert texts(tmp_path) == before
    return done.stderr


def refused(tmp_path: Path, **changed: object) -> str:
    """The sentence with which the chain is refused; what was made before is still there."""
    before = texts(tmp_path)
    done = lib(CHAIN, tmp_path, **{**SETTINGS, **changed})
    assert done.returncode == 1 and texts(tmp_path) == before
    return done.stderr.splitlines()[-1]


def test_the_same_settings_are_done_already(tmp_path: Path) -> None:
    before = made(tmp_path)
    assert_done(tmp_path, before)
    os.utime(tmp_path / "data/text", (1, 1))  # looks changed, and is not
    assert_done(tmp_path, before)
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(tmp_path / "data/text", tmp_path / "elsewhere")
    assert "WARNING" not in assert_done(tmp_path, before, DATA="elsewhere")


def test_a_changed_setting_is_named_with_both_values(tmp_path: Path) -> None:
    made(tmp_path)
    says = refused(tmp_path, MERGES="60")
    assert says.startswith("error: first: work/first was made otherwise: MERGES=60 (was 4000); give what it was")
    assert 'UTILITY_ARGS={} (was {"a b": 1})' in refused(tmp_path, UTILITY_ARGS="{}")


def test_a_changed_input_is_named_with_the_setting_that_gave_it(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/text").write_text("another text\n")
    assert "first: work/first was made otherwise: DATA/text is another file;" in refused(tmp_path, DATA="other")
    assert "DATA=downloads (was local files), DATA/text is missing" in refused(tmp_path, DATA=None)
    (tmp_path / "extra").write_text("extr4\n")
    assert "third: work/third was made otherwise: extra is another file;" in refused(tmp_path)


def test_what_cannot_be_compared_any_more_is_taken_with_a_warning(tmp_path: Path) -> None:
    before = made(tmp_path)
    assert "WARNING: DATA/* DATA/text cannot be compared any more" in assert_done(tmp_path, before, DATA="/nowhere")
    for record in (tmp_path / "work").glob("*.settings"):
        record.unlink()
    warned = assert_done(tmp_path, texts(tmp_path), MERGES="60")
    assert warned.count("has no record of the settings it was made with: it is taken as it is") == 3


def test_a_setting_reaches_all_that_was_made_from_it(tmp_path: Path) -> None:
    """Whoever makes one step anew is told of those that follow it."""
    made(tmp_path)
    (tmp_path / "work/first").unlink()
    lib(CHAIN, tmp_path, **{**SETTINGS, "MERGES": "60"})
    says = refused(tmp_path, MERGES="60")
    assert "second: work/second was made otherwise: MERGES=60 (was 4000);" in says


def test_an_output_that_was_replaced_is_no_longer_ours(tmp_path: Path) -> None:
    before = made(tmp_path)
    os.utime(tmp_path / "work/first", (1, 1))
    assert_done(tmp_path, before)
    (tmp_path / "work/first").write_text("made by hand\n")
    says = refused(tmp_path)
    assert "second: work/second was made otherwise:" in says and "first is new" in says


def test_changed_accepts_what_it_names(tmp_path: Path) -> None:
    before = made(tmp_path)
    assert_done(tmp_path, before, MERGES="60", CHANGED="SEED MERGES")


def test_a_folder_is_known_by_the_names_and_contents_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "folder/below").mkdir(parents=True)
    (tmp_path / "folder/below/a").write_text("1")
    ask = 'contents folder; step "x" out --from "MODELS=folder" -- touch {}'
    first = lib(ask, tmp_path)
    (tmp_path / "folder/below/a").rename(tmp_path / "folder/a")
    second = lib(ask, tmp_path)
    assert first.returncode == 0 and first.stdout != second.stdout
    assert "MODELS/folder is another file" in second.stderr and second.returncode == 1


def test_an_unreadable_input_is_no_input(tmp_path: Path) -> None:
    done = lib('contents() { false; }; touch in; step "x" out --from in -- touch {}', tmp_path)
    assert done.returncode != 0 and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["out", "a [b]*? c.pt"])
def test_what_killed_runs_have_left_goes_with_the_next(name: str, tmp_path: Path) -> None:
    """Of this output alone, and of its record."""
    left = [f".{name}.0a1B2c3D.tmp", f".{name}.settings.0a1B2c3D.tmp"]
    others = [".others.0a1B2c3D.tmp", f".{name}s.0a1B2c3D.tmp", f"{name}.partial", ".a b? c.pt.0a1B2c3D.tmp"]
    for each in (*left, *others):
        (tmp_path / each).mkdir()
        (tmp_path / each / "half").touch()
    done = lib('write() { echo "$1" >"$1"; }; step "writing" "$NAME" -- write {}', tmp_path, NAME=name)
    assert done.returncode == 0, done.stderr
    assert set(os.listdir(tmp_path)) == {name, f"{name}.settings", *others}
    temporary = Path((tmp_path / name).read_text().rstrip("\n")).name
    assert temporary.startswith(f".{name}.") and temporary.endswith(".tmp") and len(temporary) == len(name) + 14


def test_unfinished_systems_are_named_and_left_out(tmp_path: Path) -> None:
    for folder in ("ls0.1/beam", "ls0.1/.mbr-x-n3.0a1B2c3D.tmp", ".dcmbr.0a1B2c3D.tmp", "old.partial"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "seconds").write_text("1\n")
    done = lib("decoded .", tmp_path)
    assert done.stdout == "ls0.1/beam\n"
    for name in ("ls0.1/mbr-x-n3", "dcmbr"):
        assert f"./{name} has not been finished and is left out" in done.stderr


# ------------------------------------------------------------------------------------------------------ how they end

STARTS_OTHERS = f"""#!/usr/bin/env bash
source "{SCRIPTS}/lib.sh"
step "long work" out -- bash -c 'trap "sleep 0.3; echo cleaned >cleaned; exit 1" TERM HUP INT
    echo "$$" >started; mv started pid; while true; do sleep 0.05; done'
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_what_a_script_has_started_ends_with_it(number: signal.Signals, tmp_path: Path) -> None:
    """A signal to the script alone; the script ends last, of the signal, when the others have cleaned up."""
    (tmp_path / "script.sh").write_text(STARTS_OTHERS)
    process = subprocess.Popen(["bash", "script.sh"], cwd=tmp_path, stderr=subprocess.PIPE, env=environment())
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert not Path(f"/proc/{int((tmp_path / 'pid').read_text())}").exists() and (tmp_path / "cleaned").exists()


def test_a_script_ends_with_its_status_and_has_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "script.sh").write_text(f'source "{SCRIPTS}/lib.sh"\nprintf "<%s>" "$@"; cat; exit 3')
    line = ["bash", "script.sh", "a b", "", "*"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=environment(), input="typed")
    assert (done.returncode, done.stdout, done.stderr) == (3, "<a b><><*>typed", "")
