"""Imports run one way, the pure parts know nothing of fairseq, and the command line starts without anything heavy."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fairseq_commands import PACKAGE, run

from dcmbr_fairseq.cli import COMMANDS, main
from dcmbr_fairseq.hooks.registration import MOVED

#: Files beside the rooms that stand above some room; the others are the ground.
RAISED = {"__init__", "cli", "plugins"}
FILES = {module.stem for module in PACKAGE.glob("*.py")} - RAISED
#: Layers from top to bottom; a room may import from its own layer, as long as no circle arises, and from those below.
LAYERS: list[set[str]] = [
    {"__init__"},  # registers what the others define
    {"cli"},
    {"commands"},
    {"runs"},
    {"measure", "tasks"},
    {"decoding", "search"},
    {"sampling", "preflight"},
    {"present"},
    {"evaluation", "training"},
    {"pools"},
    {"rules", "corpus"},
    {"utilities", "criterions", "decoders"},
    {"plugins"},
    {"messages", "hooks"},
    {"files"},
    FILES,
]
#: Who may import a room; the others are open to all above them.
DOORS: dict[str, set[str]] = {
    "tasks": {"__init__"},
    "decoding": {"tasks", "measure", "commands"},
    "search": {"measure"},
    "sampling": {"decoding", "search", "measure"},
    "decoders": {"decoding", "search", "sampling", "measure"},
    "preflight": {"tasks", "decoding", "measure"},
    "measure": {"commands", "runs"},
    "runs": {"commands"},
    "present": {"measure", "commands"},
    "training": {"commands"},
    "criterions": {"__init__", "tasks", "measure"},
}
PURE = ["pools", "present", "utilities", "rules", "evaluation", "corpus"]
PURE += ["files", "messages", "plugins", *sorted(FILES)]
HEAVY = {"torch", "fairseq", "sacrebleu", "sacremoses", "scipy", "sklearn", "matplotlib", "transformers", "omegaconf"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(module: Path) -> str:
    """The subpackage that a module belongs to, or its own name at top level."""
    return module.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_names(module: Path) -> Iterator[str]:
    """Full names of all that a module imports, at its top and inside functions; no import is relative."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} line {node.lineno}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parts_imported(module: Path) -> set[str]:
    """The other parts of this package that a module imports."""
    names = (name.split(".") for name in imported_names(module) if name.split(".")[0] == "dcmbr_fairseq")
    parts = {name[1] for name in names if len(name) > 1 and not name[1].startswith("__")}
    return parts - {part_of(module)}


def layer(part: str) -> int:
    """Index into ``LAYERS``."""
    (index,) = [i for i, parts in enumerate(LAYERS) if part in parts]
    return index


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_imports_run_downwards(module: Path) -> None:
    upwards = {part for part in parts_imported(module) if layer(part) < layer(part_of(module))}
    assert not upwards


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_rooms_are_entered_by_their_doors(module: Path) -> None:
    own = part_of(module)
    strangers = {part for part in parts_imported(module) if own not in DOORS.get(part, {own})}
    assert not strangers, f"{own} may not import {strangers}"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_no_command_imports_another(command: str) -> None:
    """What several need stands in a module that is no command; tuning is a part of ``temperature``."""
    others = {module for module, _ in COMMANDS.values()} - {COMMANDS[command][0]}
    module = PACKAGE.joinpath(*COMMANDS[command][0].split(".")[1:]).with_suffix(".py")
    assert not {name for name in imported_names(module) if name.rpartition(".")[0] in others | {"dcmbr_fairseq.cli"}}


def circle(edges: dict[str, set[str]]) -> set[str]:
    """What remains of a graph once everything that leads to no circle has been taken away."""
    remaining = dict(edges)
    while leaves := [node for node, others in remaining.items() if not others & remaining.keys()]:
        for node in leaves:
            del remaining[node]
    return set(remaining)


def test_rooms_import_each_other_in_no_circle() -> None:
    rooms: dict[str, set[str]] = {part_of(module): set() for module in MODULES}
    for module in MODULES:
        rooms[part_of(module)] |= parts_imported(module)
    assert not circle(rooms)


def test_files_import_each_other_in_no_circle() -> None:
    """For types only, too: a file that needs another's types belongs above it."""
    names = {module: ".".join(module.relative_to(PACKAGE.parent).with_suffix("").parts) for module in MODULES}
    names = {module: name.removesuffix(".__init__") for module, name in names.items()}
    known = set(names.values())
    files: dict[str, set[str]] = {}
    for module, name in names.items():
        imported = {full if full in known else full.rpartition(".")[0] for full in imported_names(module)}
        files[name] = (imported & known) - {name}
    files["dcmbr_fairseq"] = set()  # its door waits for fairseq and then imports the rooms: no circle at run time
    assert not circle(files)


def test_a_circle_would_be_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"a", "b", "c", "d"}
    assert not circle({"a": {"b"}, "b": {"c"}, "c": set()})


@pytest.mark.parametrize("part", PURE)
def test_pure_parts_never_import_fairseq(part: str) -> None:
    modules = [module for module in MODULES if part_of(module) == part]
    assert modules
    importers = [m for m in modules if any(name.split(".")[0].startswith("fairseq") for name in imported_names(m))]
    assert not importers


def loaded_by(code: str) -> set[str]:
    """Top-level names of the modules that a fresh interpreter has loaded after running ``code``."""
    report = f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(run([sys.executable, "-c", report]).stdout.split("\n")[-2].split())


def test_pure_parts_load_without_fairseq() -> None:
    modules = [m.relative_to(PACKAGE.parent).with_suffix("") for m in MODULES if part_of(m) in PURE]
    names = [".".join(m.parts).removesuffix(".__init__") for m in modules]
    assert "fairseq" not in loaded_by(f"import {', '.join(names)}")


@pytest.mark.parametrize("code", ["import dcmbr_fairseq", "import dcmbr_fairseq.cli"])
def test_importing_loads_nothing_heavy(code: str) -> None:
    assert not loaded_by(code) & HEAVY


def test_help_loads_nothing_heavy() -> None:
    code = "from dcmbr_fairseq.cli import main\ntry: main(['--help'])\nexcept SystemExit as end: assert end.code == 0"
    loaded = loaded_by(code)
    assert "argparse" in loaded and not loaded & HEAVY


def test_importing_prints_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", "import dcmbr_fairseq"], capture_output=True, check=True)
    assert done.stdout == b"" and done.stderr == b""


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_listed_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: dcmbr {command}") and "--help" in shown


@pytest.mark.parametrize("module", ["hooks.compat", "decoding.generator"])
def test_a_module_that_needs_fairseq_may_be_the_first_import(module: str) -> None:
    """Importing fairseq registers the tasks, which import the very module that is being imported."""
    name = f"dcmbr_fairseq.{module}"
    assert run([sys.executable, "-c", f"{FIRST_IMPORT}\nfirst_import({name!r})"]).stdout == ""


FIRST_IMPORT = """
import importlib, sys

def first_import(name):
    module = importlib.import_module(name)
    assert module is sys.modules[name] and module.__spec__.origin == module.__file__, "another module"
    code = compile(open(module.__file__, encoding="utf-8").read(), name, "exec")
    missing = [n for n in code.co_names if not hasattr(module, n) and n in {c.co_name for c in code.co_consts
               if hasattr(c, "co_name")}]
    assert not missing, f"half made: without {missing}"
    own = {n: m for n, m in sys.modules.items() if n.partition(".")[0] == "dcmbr_fairseq"}
    seen = {v for m in own.values() for v in vars(m).values() if isinstance(v, type) and v.__module__ in own}
    twins = [v for v in seen if vars(own[v.__module__]).get(v.__qualname__, v) is not v]
    assert not twins, f"run twice: {twins}"
    import fairseq
    from fairseq.criterions import CRITERION_REGISTRY
    from fairseq.data import data_utils
    from fairseq.models import fconv
    from fairseq.tasks import TASK_REGISTRY
    from dcmbr_fairseq.hooks.registration import _Watcher
    assert "translation_dcmbr" in TASK_REGISTRY and "generalized_entropy_regularization" in CRITERION_REGISTRY
    assert hasattr(data_utils.batch_by_size, "__wrapped__") and fconv.eval.__module__ == "dcmbr_fairseq.hooks.literals"
    assert not any(isinstance(finder, _Watcher) for finder in sys.meta_path), "still waiting for fairseq"
"""

#: For every module a process that has not imported fairseq. To stay quick it is forked from one that has, and forgets
#: the package itself, whose import is what everything waits for; its own modules are kept.
FORKED = """
import gc, os, traceback
import fairseq
from fairseq.dataclass import initialize
initialize.hydra_init = lambda: None  # fairseq calls it once more, for two thirds of the time: its store is filled
gc.freeze()
for name in names:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            del sys.modules["fairseq"]
            first_import(name)
            status = 0
        except BaseException:
            print(name, traceback.format_exc())
        finally:
            sys.stdout.flush()
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        print("failed as the first import:", name)
"""


def test_any_module_may_be_the_first_import() -> None:
    names = [".".join(m.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__") for m in MODULES]
    assert "dcmbr_fairseq.hooks.compat" in names and "dcmbr_fairseq.files.writing" in names
    done = run([sys.executable, "-c", f"{FIRST_IMPORT}\nnames = {names}\n{FORKED}"], timeout=900)
    assert done.stdout == ""


def test_old_names_give_the_same_modules() -> None:
    for old, new in MOVED.items():
        module = importlib.import_module(f"dcmbr_fairseq.{old}")
        assert module is importlib.import_module(f"dcmbr_fairseq.{new}")
        assert not (PACKAGE / f"{old.replace('.', '/')}.py").exists()
    assert "fairseq" not in loaded_by("from dcmbr_fairseq.decoding.lemma import cooling_temperature")
