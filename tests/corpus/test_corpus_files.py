"""`dcmbr corpus` on files: against a plain reimplementation, in any number of processes, and what it refuses."""

import gzip
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.corpus import streams
from dcmbr_fairseq.corpus.clean import FilterSettings, filter_files
from dcmbr_fairseq.corpus.filters import Limits
from dcmbr_fairseq.corpus.streams import aligned_chunks, count_lines, map_in_order
from dcmbr_fairseq.errors import UserError


def messy_corpus(size, seed=1):
    """Pairs of raw lines with every fault, some several at once."""
    dice = random.Random(seed)
    words = [b"Haus", b"tree", "Straße".encode(), b"a", b"of", b"xyz", "日本".encode()]
    faults = [b"<b>x</b>", b"\xff\xfe", b"bell\x07", b"w" * 41, b"\xe2\x80\xa8", b"w " * 120, b"a\rb"]

    def line():
        text = [dice.choice(words) for _ in range(dice.choice([1, 2, 3, 4, 9]))]
        text += [dice.choice(faults)] if dice.random() < 0.05 else []
        return b"" if dice.random() < 0.03 else b" ".join(text)

    pairs = []
    for _ in range(size):
        source, target = line(), line()
        pairs.append((source, source) if dice.random() < 0.05 else (source, target))
    pairs += [dice.choice(pairs) for _ in range(size // 10)]
    return pairs, [dice.uniform(-20, 0) for _ in pairs]


def plainly_filtered(pairs, scores, min_score):
    """The same rules, told another way."""
    counts, kept, seen = {}, [], set()
    for (source, target), score in zip(pairs, scores, strict=True):
        try:
            s, t = source.decode(), target.decode()
        except UnicodeDecodeError:
            reason = "utf8"
        else:
            n, m = len(s.split()), len(t.split())
            faults = {
                "empty": n == 0 or m == 0,
                "unicode": re.search("[\x07\r\u2028]", s + t),
                "html": "<b>" in s + t,
                "length": n > 100 or m > 100,
                "word-length": any(len(word) > 40 for word in (s + " " + t).split()),
                "ratio": n > 4 * m or m > 4 * n,
                "copy": s == t,
                "score": score < min_score,
                "duplicate": (s.strip(), t.strip()) in seen,
            }
            reason = next((name for name, fault in faults.items() if fault), None)
        if reason:
            counts[reason] = counts.get(reason, 0) + 1
        else:
            kept.append((source.strip(), target.strip()))
            seen.add((s.strip(), t.strip()))
    return kept, counts


def write(path, lines):
    data = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def read(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).split(b"\n")[:-1]


@pytest.mark.parametrize("processes, suffix", [(1, ""), (2, ".gz")])
def test_the_filter_agrees_with_a_plain_one(tmp_path, monkeypatch, capsys, processes, suffix):
    monkeypatch.setattr(streams, "LINES_PER_CHUNK", 97)
    pairs, scores = messy_corpus(9000)
    source, target, score = (tmp_path / f"{name}{suffix}" for name in ("in.en", "in.de", "scores"))
    write(source, [pair[0] for pair in pairs])
    write(target, [pair[1] for pair in pairs])
    write(score, [f"0-0 1-1 ||| {number}".encode() for number in scores])
    outs = tmp_path / f"out.en{suffix}", tmp_path / f"out.de{suffix}"
    command = ["corpus", "filter", source, target, "--out", *outs, "--scores", score, "--min-score", "-15.5",
               "--processes", processes, "--report", tmp_path / "report.json"]  # fmt: skip
    assert main([str(word) for word in command]) == 0

    kept, counts = plainly_filtered(pairs, scores, -15.5)
    assert list(zip(*map(read, outs), strict=True)) == kept and 2000 < len(kept) < 8000
    report = json.loads((tmp_path / "report.json").read_text())
    assert report == {"pairs": len(pairs), "kept": len(kept), "dropped": counts} and len(counts) == 10
    table = dict(re.findall(r"^(\S+) +(\d+)", capsys.readouterr().out, re.MULTILINE))
    assert table == {**{rule: str(count) for rule, count in counts.items()}, "kept": str(len(kept))}


def test_skipped_rules_let_their_pairs_through(tmp_path):
    lines = [b"same", b"", b"<p>x</p>", b"x", b"x", b"bell\x07"]
    source, target = tmp_path / "s", tmp_path / "t"
    write(source, lines)
    write(target, lines)
    settings = FilterSettings(skip=("empty", "copy", "html", "unicode", "duplicate"))
    report = filter_files([source, target], [tmp_path / "a", tmp_path / "b"], settings)
    assert read(tmp_path / "a") == read(tmp_path / "b") == lines
    assert report.kept == 6 and set(report.dropped) == {"utf8", "length", "word-length", "ratio"}


def test_windows_line_ends_and_a_missing_last_one_are_no_fault(tmp_path):
    (tmp_path / "s").write_bytes(b"one\r\ntwo \r\nthree")
    (tmp_path / "t").write_bytes(b"eins\nzwei\ndrei\n")
    filter_files([tmp_path / "s", tmp_path / "t"], [tmp_path / "a", tmp_path / "b"], FilterSettings())
    assert read(tmp_path / "a") == [b"one", b"two", b"three"] and read(tmp_path / "b") == [b"eins", b"zwei", b"drei"]


def corpus(tmp_path, arguments, capsys):
    """Exit status and the last line of standard error."""
    status = main(["corpus", *map(str, arguments)])
    return status, capsys.readouterr().err.splitlines()[-1]


@pytest.fixture
def two_files(tmp_path):
    """Three aligned pairs, the second of which is not UTF-8 on the target's side."""
    write(tmp_path / "s", [b"one", b"two", b"three"])
    write(tmp_path / "t", [b"eins", b"zw\xffei", b"drei"])
    return [tmp_path / "s", tmp_path / "t"]


def assert_nothing_written(tmp_path, inputs):
    assert sorted(os.listdir(tmp_path)) == sorted(inputs)


def test_files_that_are_not_aligned_are_named_with_their_counts(tmp_path, capsys):
    for name, size in (("s", 5), ("t.gz", 7), ("u", 5)):
        write(tmp_path / name, [b"line %d" % i for i in range(size)])
    s, t, u = tmp_path / "s", tmp_path / "t.gz", tmp_path / "u"
    for command in (["filter", s, t, "--out", tmp_path / "a", tmp_path / "b"], ["check", s, t]):
        status, message = corpus(tmp_path, command, capsys)
        assert status == 1 and f"{s} has 5 lines, {t} has 7 lines" in message
    scores = ["filter", s, u, "--out", tmp_path / "a", tmp_path / "b", "--scores", t, "--min-score", 0]
    status, message = corpus(tmp_path, scores, capsys)
    assert status == 1 and f"{s} has 5 lines, {u} has 5 lines, {t} has 7 lines" in message
    assert_nothing_written(tmp_path, ["s", "t.gz", "u"])
    assert main(["corpus", "check", str(s), str(u)]) == 0 and capsys.readouterr().out == "5 lines\n"


def test_bytes_that_are_not_utf8_are_dropped_or_refused(tmp_path, two_files, capsys):
    command = ["filter", *two_files, "--out", tmp_path / "a", tmp_path / "b", "--processes", 1]
    status, message = corpus(tmp_path, [*command, "--invalid-utf8", "refuse"], capsys)
    assert status == 1 and f"{two_files[1]}, line 2, is not UTF-8 (byte 3: invalid start byte)" in message
    assert_nothing_written(tmp_path, ["s", "t"])
    assert main(["corpus", *map(str, command)]) == 0
    assert re.search(r"^utf8 +1$", capsys.readouterr().out, re.MULTILINE)
    assert read(tmp_path / "a") == [b"one", b"three"] and read(tmp_path / "b") == [b"eins", b"drei"]


def test_normalising_keeps_files_aligned_over_bytes_that_are_not_utf8(tmp_path, two_files, capsys):
    command = ["normalize", two_files[1], tmp_path / "n.gz", "--lang", "de", "--processes", 1]
    status, message = corpus(tmp_path, [*command, "--invalid-utf8", "refuse"], capsys)
    assert status == 1 and f"{two_files[1]}, line 2, is not UTF-8" in message
    assert_nothing_written(tmp_path, ["s", "t"])
    assert main(["corpus", *map(str, command)]) == 0
    assert capsys.readouterr().out == "3 lines, 1 changed, 1 not UTF-8 (left empty)\n"
    assert read(tmp_path / "n.gz") == [b"eins", b"", b"drei"]


@pytest.mark.parametrize("processes", [1, 2])
def test_normalising_keeps_order_and_counts(tmp_path, monkeypatch, processes):
    monkeypatch.setattr(streams, "LINES_PER_CHUNK", 7)
    write(tmp_path / "in", ["şi „%d”".encode() % i if i % 3 else b"" for i in range(100)])
    arguments = ["--lang", "ro", "--romanian-diacritics", "remove", "--processes", processes]
    assert main(["corpus", "normalize", *map(str, [tmp_path / "in", tmp_path / "out", *arguments])]) == 0
    assert read(tmp_path / "out") == [b'si "%d"' % i if i % 3 else b"" for i in range(100)]


def test_an_empty_result_is_refused_with_the_reasons(tmp_path, capsys):
    write(tmp_path / "s", [b"x", b"<p>y</p>", b"x x x x x"])
    write(tmp_path / "t", [b"x", b"z", b"y"])
    command = ["filter", tmp_path / "s", tmp_path / "t", "--out", tmp_path / "a", tmp_path / "b"]
    status, message = corpus(tmp_path, command, capsys)
    assert status == 1 and "is left after filtering (html 1, ratio 1, copy 1)" in message
    write(tmp_path / "s", [])
    write(tmp_path / "t", [])
    status, message = corpus(tmp_path, command, capsys)
    assert status == 1 and f"{tmp_path / 's'} and {tmp_path / 't'} are empty" in message
    assert_nothing_written(tmp_path, ["s", "t"])


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--max-words", 0], "--max-words must be a whole number from 1 to 10000000, got 0"),
        (["--max-word-length", -3], "--max-word-length must be a whole number from 1 to 10000000, got -3"),
        (["--max-ratio", "nan"], "--max-ratio must be a number from 1, got nan"),
        (["--max-ratio", 0.5], "--max-ratio must be a number from 1, got 0.5"),
        (["--processes", 0], "--processes must be a whole number from 1 to 4096, got 0"),
        (["--min-score", 1], "--scores and --min-score belong together"),
        (["--scores", "s"], "--scores and --min-score belong together"),
        (["--scores", "s", "--min-score", "nan"], "--min-score must be a number, got nan"),
        (["--scores", "s", "--min-score", 1], "line 1 of --scores must end with a number, got 'one': repair it"),
        (["--report", "a"], "the outputs need different names, got a and b and a"),
    ],
)
def test_impossible_flags_are_named(tmp_path, two_files, monkeypatch, capsys, flags, message):
    monkeypatch.chdir(tmp_path)
    status, error = corpus(tmp_path, ["filter", "s", "t", "--out", "a", "b", *flags], capsys)
    assert status == 1 and message in error
    assert_nothing_written(tmp_path, ["s", "t"])


def test_other_bad_input_is_one_sentence(tmp_path, two_files, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status, error = corpus(tmp_path, ["filter", "s", "nowhere", "--out", "a", "b"], capsys)
    assert status == 1 and "nowhere is not a file" in error
    (tmp_path / "cut.gz").write_bytes(gzip.compress(os.urandom(5000))[:-900])
    status, error = corpus(tmp_path, ["normalize", "cut.gz", "a", "--lang", "de"], capsys)
    assert status == 1 and "cut.gz is cut off or damaged" in error
    (tmp_path / "cut.gz").write_bytes(b"not packed at all\n")
    status, error = corpus(tmp_path, ["check", "s", "cut.gz"], capsys)
    assert status == 1 and "cut.gz is cut off or damaged" in error
    status, error = corpus(tmp_path, ["normalize", "s", "a", "--lang", "en", "--romanian-diacritics", "remove"], capsys)
    assert status == 1 and "--romanian-diacritics remove goes with --lang ro, got --lang en" in error
    assert_nothing_written(tmp_path, ["s", "t", "cut.gz"])


@pytest.mark.parametrize("name", ["s", "./s", "hard", "soft", "below/../s"])
@pytest.mark.parametrize("tool", ["filter", "filter second", "scores", "normalize", "report"])
def test_no_input_is_overwritten_by_whatever_name(tmp_path, two_files, monkeypatch, capsys, tool, name):
    monkeypatch.chdir(tmp_path)
    os.mkdir("below")
    os.link("s", "hard")
    os.symlink("s", "soft")
    before = read(tmp_path / "s")
    command = {
        "filter": ["filter", "s", "t", "--out", name, "b"],
        "filter second": ["filter", "t", "s", "--out", "a", name],
        "scores": ["filter", "t", "t", "--out", "a", name, "--scores", "s", "--min-score", 0],
        "normalize": ["normalize", "s", name, "--lang", "en"],
        "report": ["normalize", "s", "a", "--lang", "en", "--report", name],
    }[tool]
    status, error = corpus(tmp_path, command, capsys)
    assert status == 1 and f"the output {name} would overwrite the input s: give it another name" in error
    assert read(tmp_path / "s") == before
    assert_nothing_written(tmp_path, ["s", "t", "below", "hard", "soft"])


@pytest.mark.parametrize(("code", "says"), [("xx", ""), ("rou", " (did you mean"), ("", ""), ("RO", ""), ("en-US", "")])
def test_what_is_no_language_is_refused(tmp_path, two_files, capsys, code, says):
    status, error = corpus(tmp_path, ["normalize", tmp_path / "s", tmp_path / "a", "--lang", code], capsys)
    assert status == 1 and f"--lang {code} is no two-letter code of a language{says}" in error
    assert_nothing_written(tmp_path, ["s", "t"])


DCMBR = [sys.executable, "-P", "-m", "dcmbr_fairseq.cli", "corpus"]


def test_a_full_disk_leaves_nothing(tmp_path):
    for name in ("s", "t"):
        write(tmp_path / name, [b"%s line %d" % (name.encode(), i) for i in range(20_000)])

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    for command in (["filter", "s", "t", "--out", "a", "b"], ["normalize", "s", "a", "--lang", "en"]):
        done = subprocess.run(
            [*DCMBR, *command, "--processes", "1"], cwd=tmp_path, preexec_fn=small_disk, capture_output=True, text=True
        )
        assert done.returncode == 1 and "Traceback" not in done.stderr
        assert re.search(r"^dcmbr corpus: error: the disk is full: a", done.stderr, re.MULTILINE)
        assert_nothing_written(tmp_path, ["s", "t"])


def test_interrupting_it_leaves_nothing_and_no_noise(tmp_path):
    write(tmp_path / "s", [b"source %d" % i for i in range(200_000)])
    write(tmp_path / "t", [b"target %d" % i for i in range(200_000)])
    command = [*DCMBR, "filter", "s", "t", "--out", "a", "b", "--processes", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not any(name.endswith(".tmp") and os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path)):
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted; nothing was written" in errors and "Traceback" not in errors
    assert_nothing_written(tmp_path, ["s", "t"])


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_workers_end_with_the_command_and_leave_nothing(tmp_path, ending):
    write(tmp_path / "s", [b"source %d" % i for i in range(200_000)])
    write(tmp_path / "t", [b"target %d" % i for i in range(200_000)])
    command = [*DCMBR, "filter", "s", "t", "--out", "a", "b", "--processes", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not any(name.endswith(".tmp") and os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path)):
        assert process.poll() is None
        time.sleep(0.01)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(workers) >= 2
    process.send_signal(ending)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -ending and "Traceback" not in errors
    deadline = time.monotonic() + 30
    while any(os.path.exists(f"/proc/{worker}") for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    if ending == signal.SIGKILL:  # nobody could clean up: the next run does
        assert len(os.listdir(tmp_path)) == 4
        write(tmp_path / "s", [b"a source"])
        write(tmp_path / "t", [b"a target"])
        subprocess.run([*DCMBR, "filter", "s", "t", "--out", "a", "b"], cwd=tmp_path, check=True, capture_output=True)
        assert sorted(os.listdir(tmp_path)) == ["a", "b", "s", "t"]
    else:
        assert_nothing_written(tmp_path, ["s", "t"])


def test_lines_are_counted_and_read_as_other_tools_do(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "BLOCK", 4)
    for text, lines in (
        (b"", 0),
        (b"\n", 1),
        (b"x", 1),
        (b"abc\n", 1),
        (b"abcd\nefg", 2),
        ("a\u2028b\r c\n".encode(), 1),
    ):
        (tmp_path / "x").write_bytes(text)
        assert count_lines(tmp_path / "x") == lines == sum(len(c.columns[0]) for c in aligned_chunks([tmp_path / "x"]))
    monkeypatch.setattr(streams, "LINES_PER_CHUNK", 4)
    write(tmp_path / "s", [b"%d" % i for i in range(10)])
    chunks = list(aligned_chunks([tmp_path / "s", tmp_path / "s"]))
    assert [chunk.first for chunk in chunks] == [1, 5, 9]
    assert [len(chunk.columns[1]) for chunk in chunks] == [4, 4, 2]
    write(tmp_path / "t", [b"x"] * 9)
    with pytest.raises(UserError, match="changed while they were read"):
        list(aligned_chunks([tmp_path / "s", tmp_path / "t"]))


def slow_square(number):
    time.sleep(0.02 * (number % 3))
    return number * number


def kill_itself(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_processes_keep_the_order_and_do_not_run_ahead():
    taken = []
    items = (taken.append(i) or i for i in range(40))
    for i, (item, square) in enumerate(map_in_order(slow_square, items, 2)):
        assert (item, square) == (i, i * i)
        assert len(taken) <= i + 6  # two items for each process, the one that is given out, and the next
    assert i == 39


def test_a_killed_process_is_one_sentence():
    with pytest.raises(UserError, match="a worker process was killed"):
        list(map_in_order(kill_itself, range(3), 2))


def test_the_default_limits_are_those_of_the_paper():
    assert (Limits.max_words, Limits.max_word_length, Limits.max_ratio) == (100, 40, 4.0)
