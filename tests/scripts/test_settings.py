"""scripts/: what they read from the environment, how they start Python, and what they choose for themselves."""

import re
import stat
from pathlib import Path

import pytest
from fairseq_commands import REPOSITORY
from pipeline_scripts import REFUSED, SCRIPTS, lib, script

TEXTS = {str(path.relative_to(REPOSITORY)): path.read_text("utf-8") for path in sorted(SCRIPTS.rglob("*.sh"))}

#: What becomes of a variable that is changed after a run. "refused": by name, see REFUSED; "figures": too, see below;
#: "inputs": files that a step names as what it is made from; "trained": in the settings of a training; "named": its
#: results lie in a folder of that name; "asked": it says what is to be done, where, from what, how fast;
#: "internal": it is no setting.
TREATMENT = {
    "refused": """DATA MERGES LOWERCASE MIN_SCORE ALIGNMENT_SCORES AVERAGE BEAM_FLAGS UTILITY_ARGS GENERATE_TOKENS
        MAX_ROWS PRECISION PAIRS HELD_OUT MBART50""",
    "figures": "FIRST TOP_FIRST MAX_EXPANSIONS PAIR MAIN SIZES TEMPERATURES SEEDS METRIC METRIC_ARGS UTILITY NUM SEED",
    # in steps that the tests of REFUSED do not run to the end
    "steps": "PIECES LIMIT TEMP METRICS BLEURT_CHECKPOINT PIECE MAX_RATIO DROP_LOWEST",
    "inputs": "CODES TEACHER MIX",
    "trained": "DISTILL_UPDATES PATIENCE GER_UPDATES",
    "named": "TEMP_HYP TEMP_REF RUN TEST SUBSET UTILITIES TEST_NUM DRAWS RUNS GER_RUNS RATES TRUNCATIONS",
    "asked": """WORK TEXT SYSTEMS SCORE_FLAGS OTHER_SETS JOBS VENV PYTHON DCMBR_USE_VENV_AS_IS LAUNCH DEVICE CHANGED BIN
        DPI OMP_NUM_THREADS PYTHONPATH SENTENCES INSTALLERS BEER_HOME SRC TGT REFERENCES OTHER ONLY BASE_TEST OUT PARTS
        PROCESSES MINUTES""",
    "internal": """DCMBR_IN_GROUP DCMBR_ROOT ROOT SLURM_ARRAY_TASK_ID SLURM_JOB_ID SLURM_STEP_NUM_TASKS
        SLURM_SUBMIT_DIR SLURM_JOB_NODELIST SLURM_STEP_NODELIST SLURM_NTASKS SLURM_NNODES SLURM_NODEID SOURCE TARGET
        MAX_UPDATE MAX_EPOCH UPDATES""",
}


def names(*kinds: str) -> set[str]:
    return {name for kind in kinds for name in TREATMENT[kind].split()}


def test_it_is_known_what_becomes_of_every_setting() -> None:
    """A new variable has to be put into one of the lists, and to be tried where it must be refused."""
    read = {name for text in TEXTS.values() for name in re.findall(r"\$\{([A-Z][A-Z0-9_]*):?[-?+=]", text)}
    assert read == names(*TREATMENT)
    tried = {key for changes in REFUSED.values() for _, _, changed, _ in changes for key in changed}
    assert names("refused") == tried - {"SYSTEMS"}
    for name in names("steps"):
        assert re.search(rf"--with[^-]*\b{name}\b|arguments=", "".join(TEXTS.values())), name
    for name in names("inputs"):
        assert re.search(rf'"{name}(\$\(\(.*\)\))?=\$', "".join(TEXTS.values())), name
    for name in names("trained"):
        assert re.search(rf"\b(lr|max_update|patience)=\[?\${name}\b", "".join(TEXTS.values())), name


def test_figures_record_every_setting_that_they_pass_on() -> None:
    """Each call of measure or sweep names the variables that its options repeat."""
    text = TEXTS["scripts/multi30k/figures.sh"].replace("\\\n", " ")
    assert "basis=(--with SEED " in text  # by measure itself
    always = {"SEED", "GRID_FLAGS", "OUT", "TEST", "SRC", "TGT", "BIN", "FLAGS"}
    (common,) = re.findall(r'measure "\$1" "([A-Z_ ]+) \$2" sweep', text)
    calls = re.findall(r'^(measure|sweep) (\w+) "([A-Z_ ]*)" (.*)$', text, re.MULTILINE)
    assert len(calls) == 8
    recorded_anywhere = set(common.split()) | always
    for command, table, settings, options in calls:
        recorded = set(settings.split()) | always | (set(common.split()) if command == "sweep" else set())
        assert set(re.findall(r"\$\{?([A-Z_]+)", options)) <= recorded, table
        recorded_anywhere |= recorded
    grid = re.search(r"^GRID_FLAGS=\((.*)\)$", text, re.MULTILINE)[1]
    assert set(re.findall(r"\$([A-Z_]+)", grid)) - {"OUT"} <= set(common.split())
    assert names("figures") <= recorded_anywhere


@pytest.mark.parametrize("path", [*TEXTS, ".ci/run"])
def test_python_never_imports_from_the_current_folder(path: str) -> None:
    """`python -m` and `python -c` look there first: -P or -I forbids it. A script's own folder is another matter."""
    text = (REPOSITORY / path).read_text("utf-8").replace("\\\n", " ")
    python = r'(?:python[\d.]*"?|"\$1"|"\$2"|"\$python")'
    starts = re.findall(rf"^(?!\s*#).*?{python}((?:\s+-[A-Za-z]+)*)\s", text, re.MULTILINE)
    for flags in starts:
        words = flags.split()
        assert not {"-m", "-c"} & set(words) or {"-P", "-I"} & set(words), flags


def test_a_module_of_the_current_folder_is_not_taken(tmp_path: Path) -> None:
    for name in ("dcmbr_fairseq", "torch", "sacremoses", "sentencepiece", "zipfile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken from the current folder')")
    (tmp_path / "a.zip").write_bytes(b"PK\5\6" + bytes(18))
    done = lib('dcmbr temperature --from-ls 0.1 --to-ls 0.01; archive_fault a.zip a.zip; echo "$?"', tmp_path)
    assert done.returncode == 0 and "taken" not in done.stdout + done.stderr and done.stdout.endswith("\n0\n")


def nvidia_smi(folder: Path) -> str:
    """A PATH with a driver's program, as on a machine with a GPU: none of the machines that test this has one."""
    program = folder / "nvidia-smi"
    program.write_text("#!/bin/sh\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"export PATH={folder}:$PATH\n"


def test_a_gpu_that_torch_cannot_use_is_told(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("torch can use a GPU here")
    driver = nvidia_smi(tmp_path)
    warned = lib(f"{driver} has_gpu || has_gpu || echo cpu", tmp_path, DEVICE=None)
    assert warned.stdout == "cpu\n" and warned.stderr.count("torch cannot use a GPU") == 1  # asked once
    assert lib(f"{driver} has_gpu || echo cpu", tmp_path, DEVICE="cpu").stderr == ""
    stopped = lib(f"{driver} has_gpu || echo cpu", tmp_path, DEVICE="gpu")
    assert stopped.returncode == 1 and "error: DEVICE=gpu: torch cannot use a GPU here" in stopped.stderr
    unknown = lib("has_gpu || echo cpu", tmp_path, DEVICE="tpu")
    assert unknown.returncode == 1 and "DEVICE=tpu: give auto, cpu or gpu" in unknown.stderr


def test_a_login_node_shows_the_flags_for_gpus_when_asked(tmp_path: Path) -> None:
    words = ("--print-flags", "wmt16/en-ro", tmp_path / "later", tmp_path / "run")
    shown = {device: script("train.sh", *words, DEVICE=device).stdout for device in ("gpu", "cpu")}
    assert " --fp16" in shown["gpu"] and " --cpu" not in shown["gpu"]
    assert " --cpu" in shown["cpu"] and " --fp16" not in shown["cpu"]


@pytest.mark.parametrize("missing", ["SLURM_NTASKS", "nothing"])
@pytest.mark.parametrize("together", ["", "--distributed-port 29500"])
def test_a_slurm_job_trains_on_its_machine_or_on_all(tmp_path: Path, missing: str, together: str) -> None:
    """A batch job's environment and fairseq's own reading of it, with four GPUs; Slurm is not to be had here, so a
    stand-in lists the machines. Where several machines are meant, one task on each is assumed."""
    scontrol = tmp_path / "scontrol"
    scontrol.write_text("#!/bin/sh\nprintf 'first\\nsecond\\n'\n")
    scontrol.chmod(0o755)
    ask = """
import torch
from fairseq.dataclass.configs import FairseqConfig
from fairseq.distributed.utils import infer_init_method
from omegaconf import OmegaConf
torch.cuda.device_count = lambda: 4
config = OmegaConf.structured(FairseqConfig).distributed_training
config.distributed_world_size, config.distributed_port = (8, 29500) if TOGETHER else (4, -1)
infer_init_method(config)
print(config.distributed_world_size, config.distributed_rank, config.distributed_num_procs, config.distributed_no_spawn)
""".replace("TOGETHER", str(bool(together)))
    slurm = {"SLURM_JOB_NODELIST": "node[1-2]", "SLURM_NNODES": 2, "SLURM_PROCID": 0, "SLURM_LOCALID": 0}
    slurm |= {"SLURM_NTASKS": 8, "SLURM_NODEID": 0} if missing == "nothing" else {}
    commands = f"export PATH={tmp_path}:$PATH; settle_slurm data {together} --lr 1; python -P -c '{ask}'"
    done = lib(commands, tmp_path, **slurm)
    assert done.returncode == 0, done.stderr
    if not together:
        assert done.stdout == "4 0 4 False\n"
    elif missing == "SLURM_NTASKS":
        assert done.stdout == "8 0 4 False\n"
    else:  # eight tasks, a process each
        assert done.stdout.split()[::3] == ["8", "True"]
