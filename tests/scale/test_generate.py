"""`dcmbr generate`: the same bytes by one process or many, and after any end; one sentence for each fault."""

import errno
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faulty_utility
import programs
import pytest
from in_process import Fairseq
from toy_world import Toy

from dcmbr_fairseq import cli
from dcmbr_fairseq.pools import row_file
from dcmbr_fairseq.runs.decode import LAUNCHER

KILLED = -signal.SIGKILL


@pytest.fixture(autouse=True)
def no_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulty_utility, "plan", {})
    monkeypatch.setattr(faulty_utility, "calls", 0)


def line(toy: Toy, output: Path, *others: object) -> list[str]:
    flags = [toy.data_bin, "--path", toy.checkpoint, "--cpu", "--num-hyp", 8, "--seed", 5, "--batch-size", 4]
    return ["generate", *map(str, [*flags, "--output", output, *others])]


def generate(toy: Toy, output: Path, *others: object) -> int:
    """The exit status of a decode in this process."""
    try:
        return cli.main(line(toy, output, *others))
    except SystemExit as end:
        return int(end.code or 0)


def forked(work: Callable[[], int]) -> int:
    """The status with which a copy of this process ends that does the work; negative: the signal."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def only(folder: Path) -> bytes:
    """The records of a decode by one process, which has left nothing but them and what the decode is."""
    assert sorted(os.listdir(folder)) == ["records.0-of-1.jsonl", "run.jsonl"]
    return (folder / "records.0-of-1.jsonl").read_bytes()


@pytest.fixture(scope="module")
def undisturbed(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert generate(toy, folder, "--plain") == 0
    return only(folder)


def test_records_are_those_of_fairseq_generate(toy, undisturbed, tmp_path, monkeypatch, capsys) -> None:
    options = ["--task", "translation_dcmbr", "--decoding", "dcmbr", "--num-hyp", 8, "--seed", 5, "--batch-size", 7]
    fairseq = Fairseq(monkeypatch, capsys)
    fairseq.generate(toy.data_bin, "--path", toy.checkpoint, *options, "--pools-out", tmp_path / "pools.jsonl")
    assert (tmp_path / "pools.jsonl").read_bytes() == undisturbed


@pytest.mark.parametrize("count", [2, 3])
def test_any_number_of_processes_gives_the_same_bytes(toy, undisturbed, tmp_path, count) -> None:
    for rank in reversed(range(count)):
        numbers = ["--distributed-world-size", count, "--distributed-rank", rank]
        assert generate(toy, tmp_path, *numbers) == 0
    shards = sorted(map(str, tmp_path.glob(f"records.*-of-{count}.jsonl.gz")))
    merge = ["merge", *shards, "--output", str(tmp_path / "all"), "--translations", str(tmp_path / "text")]
    assert len(shards) == count and cli.main(merge) == 0
    assert (tmp_path / "all").read_bytes() == undisturbed
    texts = [json.loads(row)["translation"] for row in undisturbed.decode().splitlines()]
    assert (tmp_path / "text").read_text("utf-8").splitlines() == texts


def test_processes_on_this_machine(toy, undisturbed, tmp_path, monkeypatch) -> None:
    """Real processes, each told its number as torchrun does; a file that one of them cannot use fails the whole."""
    monkeypatch.setattr(sys, "executable", programs.python())
    assert generate(toy, tmp_path / "out", "--processes", 2) == 0
    shards = [str(path) for path in (tmp_path / "out").glob("records.*-of-2.jsonl.gz")]
    assert cli.main(["merge", *shards, "--output", str(tmp_path / "all")]) == 0
    assert (tmp_path / "all").read_bytes() == undisturbed
    Path(shards[0]).write_bytes(b"damaged")
    assert generate(toy, tmp_path / "out", "--processes", 2) == 1


@pytest.mark.parametrize(
    "settings",
    [
        ["--draws", "arithmetic", "--ref-pool", "separate", "--temp-hyp", 0.7],
        ["--decoding", "sample", "--num-ref", 3],
        ["--decoding", "mbr", "--sampling-epsilon", 0.02, "--utility-args", '{"beta": 1.0}', "--unkpen", 1],
        ["--selection", "coarse", "--selection-args", '{"hypotheses": 2, "utility": "bleu"}'],
    ],
    ids=lambda settings: settings[1],
)
def test_its_own_records_are_known_again_whatever_the_settings(toy, tmp_path, settings, capsys) -> None:
    for _ in range(2):
        assert generate(toy, tmp_path, *settings) == 0, capsys.readouterr().err[-500:]
    only_differs = ["--num-hyp", 9] if "sample" in settings else ["--utility", "bleu", "--utility-args", "{}"]
    assert generate(toy, tmp_path, *settings, *only_differs) == 1
    assert "was begun with another" in capsys.readouterr().err


def test_torchs_launcher_on_two_machines(toy, undisturbed, tmp_path) -> None:
    """Two launchers that meet at an address, as on two machines with a process each."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    launcher = [programs.python(), "-m", "torch.distributed.run", "--no-python", "--nnodes=2", "--nproc_per_node=1"]
    meeting = ["--rdzv_backend", "c10d", "--rdzv_endpoint", address, "--rdzv_id", "decode"]
    command = [*launcher, *meeting, str(programs.venv() / "bin" / "dcmbr"), *line(toy, tmp_path / "out")]
    machines = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [machine.communicate(timeout=300)[1] for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], said
    shards = sorted(str(path) for path in (tmp_path / "out").glob("records.*"))
    assert [Path(path).name for path in shards] == [f"records.{rank}-of-2.jsonl.gz" for rank in range(2)]
    assert cli.main(["merge", *shards, "--output", str(tmp_path / "all")]) == 0
    assert (tmp_path / "all").read_bytes() == undisturbed


# --- ends --------------------------------------------------------------------------------------------------------


def in_the_sampler(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from dcmbr_fairseq.sampling.next_token import NextToken

    original, calls = NextToken.draw, iter(range(1, 10**9))

    def draw(self: Any, *args: Any) -> Any:
        if next(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, *args)

    monkeypatch.setattr(NextToken, "draw", draw)


def in_the_utility(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulty_utility, "plan", {call: "kill"})


def in_the_writer(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some bytes of what was to be written are there."""
    original, calls = row_file.RowFile.flush, iter(range(1, 10**9))

    def flush(self: Any) -> None:
        if next(calls) == call:
            self._pack()
            end = self.file.seek(0, os.SEEK_END)
            self.file.truncate(end - random.Random(call).randrange(1, 200))
            os.kill(os.getpid(), signal.SIGKILL)
        original(self)

    monkeypatch.setattr(row_file.RowFile, "flush", flush)


#: DCMBR_KILLS: how many kills of each kind; scripts/kill_test.sh asks for more.
KILLS = int(os.environ.get("DCMBR_KILLS", 1))
WHERE = {"sampler": (in_the_sampler, 24), "utility": (in_the_utility, 5), "writer": (in_the_writer, 5)}


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize("place", WHERE)
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(toy, tmp_path, monkeypatch, place, ending) -> None:
    """Killed once and again, each time at a random moment; what is safe is not decoded again."""
    flags = ["--utility", "faulty_utility:Faulty", *(["--plain"] if ending == ".jsonl" else [])]
    assert generate(toy, tmp_path / "whole", *flags) == 0
    kill, most = WHERE[place]
    dice = random.Random(f"{place}{ending}")
    for number in range(KILLS):
        folder = tmp_path / str(number)
        calls = sorted((dice.randint(1, most) for _ in range(2)), reverse=True)
        for call in calls:
            with monkeypatch.context() as patch:
                kill(call, patch)
                assert forked(lambda folder=folder: generate(toy, folder, *flags)) in (KILLED, 0)
        assert generate(toy, folder, *flags) == 0
        names = sorted(os.listdir(folder))
        assert names == [f"records.0-of-1{ending}", "run.jsonl"]
        for name in names:
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_scheduler_gets_the_batch_to_its_end_and_status_75(toy, tmp_path, caplog) -> None:
    flags = ["--utility", "faulty_utility:Faulty", "--plain"]
    faulty_utility.plan[2] = "term"
    with caplog.at_level("INFO"):
        assert generate(toy, tmp_path / "out", *flags) == 75
    assert "ended by SIGTERM after 8 of 23 sentences, which are kept in" in caplog.text
    assert "run the same command" in caplog.text
    assert len((tmp_path / "out" / "records.0-of-1.jsonl.partial").read_text().splitlines()) == 8
    faulty_utility.plan.clear()
    assert generate(toy, tmp_path / "out", *flags) == 0
    assert generate(toy, tmp_path / "whole", *flags) == 0
    assert only(tmp_path / "out") == only(tmp_path / "whole")
    before = faulty_utility.calls
    assert generate(toy, tmp_path / "out", *flags) == 0 and faulty_utility.calls == before  # nothing is decoded again


def test_a_utility_that_breaks_loses_nothing(toy, tmp_path) -> None:
    flags = ["--utility", "faulty_utility:Faulty", "--plain"]
    faulty_utility.plan[3] = "raise"
    with pytest.raises(RuntimeError, match="the utility has broken"):
        generate(toy, tmp_path / "out", *flags)
    assert len((tmp_path / "out" / "records.0-of-1.jsonl.partial").read_text().splitlines()) == 8
    assert generate(toy, tmp_path / "out", *flags) == 0 and generate(toy, tmp_path / "whole", *flags) == 0
    assert only(tmp_path / "out") == only(tmp_path / "whole")


def test_a_program_that_scores_may_be_killed(toy, tmp_path, capsys) -> None:
    """As METEOR's JVM: once, and it is started again; for good, and the run ends in one sentence and goes on later."""
    arguments = json.dumps({"script": str(tmp_path / "scorer.py")})
    flags = ["--utility", "faulty_utility:Outside", "--utility-args", arguments, "--plain"]
    faulty_utility.plan[9] = "once"
    assert generate(toy, tmp_path / "out", *flags) == 0
    faulty_utility.plan.clear()
    assert generate(toy, tmp_path / "whole", *flags) == 0
    assert only(tmp_path / "out") == only(tmp_path / "whole")
    faulty_utility.plan[faulty_utility.calls + 9] = "for good"
    capsys.readouterr()
    assert generate(toy, tmp_path / "third", *flags) == 1
    errors = capsys.readouterr().err.splitlines()
    assert "no memory left" in errors[-1] and errors[-1].startswith("dcmbr generate: error: OUTSIDE ended")
    faulty_utility.plan.clear()
    assert generate(toy, tmp_path / "third", *flags) == 0 and only(tmp_path / "third") == only(tmp_path / "whole")


@pytest.mark.parametrize("plain", [True, False])
def test_a_full_disk_keeps_the_sentences_before(toy, tmp_path, plain, capfd) -> None:
    flags = ["--plain"] if plain else []

    def on_a_small_disk() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (17_000 if plain else 2_500,) * 2)
        return generate(toy, tmp_path / "out", *flags)

    assert forked(on_a_small_disk) == 1
    last = capfd.readouterr().err.splitlines()[-1]
    assert "error: the disk is full" in last and "run the same command again: it goes on from there" in last
    (partial,) = (tmp_path / "out").glob("*.partial")
    assert partial.stat().st_size > 1000
    assert generate(toy, tmp_path / "out", *flags) == 0 and generate(toy, tmp_path / "whole", *flags) == 0
    for name in os.listdir(tmp_path / "whole"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.fixture
def half(toy: Toy, tmp_path: Path) -> Path:
    """A decode that was ended after two batches."""
    faulty_utility.plan[2] = "term"
    assert generate(toy, tmp_path / "half", "--utility", "faulty_utility:Faulty", "--plain") == 75
    faulty_utility.plan.clear()
    return tmp_path / "half"


FLAGS = ["--utility", "faulty_utility:Faulty", "--plain"]


def refused(toy: Toy, folder: Path, capsys: Any, *flags: object) -> str:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert generate(toy, folder, *flags) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    return str(capsys.readouterr().err.splitlines()[-1])


def test_a_decode_of_other_settings_is_refused(toy, half, capsys) -> None:
    for other, sentence in [
        (["--num-hyp", 9], "another settings (num_hyp 8, now num_hyp 9)"),
        (["--seed", 6], "another seed (5, now 6)"),
        (["--max-len-b", 7], "another max_len_b (200, now 7)"),
        (["--gen-subset", "valid"], "another test set"),
        (["--path", toy.other], "another checkpoint"),
        (["--distributed-world-size", 2, "--distributed-rank", 0], "another processes (1, now 2)"),
    ]:
        assert sentence in (said := refused(toy, half, capsys, *FLAGS, *other)), said
        assert said.endswith("give what it was begun with, or another --output")


def test_damaged_files_are_named(toy, half, tmp_path, capsys) -> None:
    partial = half / "records.0-of-1.jsonl.partial"
    rows = partial.read_bytes().splitlines(keepends=True)
    partial.write_bytes(b"".join([rows[0], rows[1][:50] + b"\n", *rows[2:]]))
    assert "records.0-of-1.jsonl.partial, line 2: not a JSON object" in refused(toy, half, capsys, *FLAGS)
    row = {**json.loads(rows[0]), "seed": 77}
    partial.write_bytes(json.dumps(row).encode() + b"\n")
    assert "partial was made with another seed (77, now 5)" in refused(toy, half, capsys, *FLAGS)
    partial.unlink()
    (half / "records.0-of-1.jsonl").write_bytes(b"".join(sorted(rows, key=lambda x: json.loads(x)["id"])))
    assert "records.0-of-1.jsonl has 8 of 23 sentences: delete it" in refused(toy, half, capsys, *FLAGS)
    shutil.copy(toy.data_bin / "dict.en.txt", tmp_path / "broken.pt")
    said = refused(toy, half, capsys, *FLAGS, "--path", tmp_path / "broken.pt")
    assert "broken.pt" in said and "error" in said


def test_options_that_do_not_go_with_it(toy, tmp_path, capsys, monkeypatch) -> None:
    for other, sentence in [
        (["--decoding", "beam"], "beam search makes no records"),
        (["--pools-out", tmp_path / "x"], "--pools-out does not go with dcmbr generate"),
        (["--processes", 0], "--processes must be a whole number from 1"),
        (["--distributed-rank", 1], "--distributed-rank 1 needs --distributed-world-size"),
        (["--processes", 2, "--distributed-rank", 1, "--distributed-world-size", 2], "leave it out"),
        (["--path", tmp_path / "none.pt"], "none.pt"),
    ]:
        assert generate(toy, tmp_path / "out", *other) == 1
        assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_a_launcher_that_is_gone_ends_its_processes_after_their_batch(toy, tmp_path, monkeypatch, caplog) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    monkeypatch.setenv(LAUNCHER, str(child))
    with caplog.at_level("INFO"):
        assert generate(toy, tmp_path / "out", *FLAGS) == 75
    assert "ended by the end of its launcher after 4 of 23 sentences" in caplog.text


def test_two_processes_with_one_number_are_refused(toy, half, capsys) -> None:
    import fcntl

    with (half / "records.0-of-1.jsonl.partial").open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "is being written by another program" in refused(toy, half, capsys, *FLAGS)


def test_errno_of_a_full_disk_is_known() -> None:
    from dcmbr_fairseq.files.errors import is_full

    assert is_full(OSError(errno.ENOSPC, "full")) and is_full(OSError(errno.EFBIG, "large"))
    assert not is_full(OSError(errno.EIO, "broken")) and not is_full(None)
