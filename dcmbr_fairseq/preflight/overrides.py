"""What is given over a checkpoint's settings (``--model-overrides``, the hub's keyword arguments): does it arrive?

fairseq drops names that it does not find, in silence. A name is known where the checkpoint has it, or where fairseq,
the task or the architecture declares it.
"""

import dataclasses
import functools
from argparse import ArgumentParser
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from fairseq import checkpoint_utils
from fairseq.dataclass.configs import FairseqConfig
from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_DATACLASS_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_DATACLASS_REGISTRY, TASK_REGISTRY

from dcmbr_fairseq.errors import UserError, nearest
from dcmbr_fairseq.pools.settings import OWN
from dcmbr_fairseq.preflight.checkpoints import CheckpointFacts, inspect_checkpoint, warn_of_direction

#: What the hub puts among the overrides itself, or reads from them.
OF_THE_HUB = frozenset({"user_dir", "generation_args", "checkpoint_file", "load_checkpoint_heads"})


def check_overrides(what: str, overrides: Mapping[str, Any], facts: CheckpointFacts, options: Collection[str]) -> None:
    """Refuse overrides that nothing reads.

    Args:
        what: gave them, for the sentence.
        overrides: names and values; a section's name may have a dictionary of its own.
        facts: of the checkpoint that they are given over.
        options: the names of the task's options.

    Raises:
        UserError: names the override, and the known name that is most like it.
    """
    known = {*facts.names, *options, *_declared(), *_of_architecture(facts.arch)}
    for name, value in overrides.items():
        if name not in known:
            raise UserError(f"{what} has {name}, which nothing reads: {_remedy(name, known)}")
        if name == "task" and isinstance(value, Mapping):
            _check_task(what, value, options)


def _check_task(what: str, given: Mapping[str, Any], options: Collection[str]) -> None:
    for name in given:
        if name not in options and name != "_name":
            raise UserError(f"{what} has {name} for the task, which does not read it: {_remedy(name, options)}")


def _remedy(name: str, known: Collection[str]) -> str:
    """They are hundreds: none is listed where none is like it."""
    likely = nearest(name, sorted(known))
    return f"did you mean {likely}?" if likely else "leave it out"


@functools.cache
def _declared() -> frozenset[str]:
    """All names that fairseq declares for its sections and what may stand in them, and the sections' own."""
    classes: list[Any] = [FairseqConfig]
    for registry in REGISTRIES.values():
        classes += [kind for kind in registry["dataclass_registry"].values() if dataclasses.is_dataclass(kind)]
    return frozenset({*REGISTRIES, *OF_THE_HUB, *(name for kind in classes for name in _fields(kind))})


def _fields(kind: Any) -> Iterator[str]:
    """The fields of a dataclass and of those in it."""
    for entry in dataclasses.fields(kind):
        yield entry.name
        if dataclasses.is_dataclass(entry.type):
            yield from _fields(entry.type)


def _of_architecture(arch: str | None) -> frozenset[str]:
    """The options of an architecture."""
    return _options(arch, MODEL_DATACLASS_REGISTRY, ARCH_MODEL_REGISTRY)


def options_of_task(name: Any) -> frozenset[str]:
    """The names of a task's options; none of an unknown task."""
    return _options(name, TASK_DATACLASS_REGISTRY, TASK_REGISTRY)


def _options(name: Any, dataclasses_of: Mapping[str, Any], classes: Mapping[str, Any]) -> frozenset[str]:
    """The options that a registered name declares: by its dataclass, or, the older way, to a parser."""
    if name in dataclasses_of:
        return frozenset(_fields(dataclasses_of[name]))
    if name not in classes:
        return frozenset()
    parser = ArgumentParser(add_help=False)
    classes[name].add_args(parser)
    return frozenset(action.dest for action in parser._actions)


def check_the_hub(ours: type) -> None:
    """Let loading a model together with its task (the hub) check what is given; calling this again changes nothing.

    Args:
        ours: the class that all tasks of this package inherit from.
    """
    original = checkpoint_utils.load_model_ensemble_and_task
    if getattr(original, "_checks_overrides", False):
        return

    @functools.wraps(original)
    def load(filenames: Sequence[str], arg_overrides: Any = None, task: Any = None, *args: Any, **more: Any) -> Any:
        found = original(filenames, arg_overrides, task, *args, **more)
        if task is None:
            check_given(filenames, arg_overrides or {}, found[2], isinstance(found[2], ours))
        return found

    load._checks_overrides = True  # type: ignore[attr-defined]
    checkpoint_utils.load_model_ensemble_and_task = load


def check_given(paths: Sequence[str], overrides: Mapping[str, Any], task: Any, is_ours: bool) -> None:
    """Check what the hub was given, now that it has made a task of it.

    Args:
        paths: the checkpoints.
        overrides: the keyword arguments.
        task: the task.
        is_ours: whether it is one of this package's.

    Raises:
        UserError: a task or options of this package are asked for, but the task is another; nothing reads a name, or
            not the task whose option it is; or the languages differ from those of the checkpoint's training.
    """
    asked = overrides.get("task")
    name = asked.get("_name") if isinstance(asked, Mapping) else asked
    if not is_ours:
        refuse_lost(name, overrides)
        return
    options: Any = getattr(task, "cfg", None) or getattr(task, "args", None)
    names = options_of_task(name) | options_of_task(_name(options))
    _refuse_unheard(overrides, options, names)
    for path in paths:
        facts = inspect_checkpoint(path)
        check_overrides("from_pretrained", overrides, facts, names)
        if None not in (options.source_lang, options.target_lang):  # the generator asks for them otherwise
            task.check_training(options, "{}", facts)
            warn_of_direction(options, facts)


def _refuse_unheard(overrides: Mapping[str, Any], options: Any, names: AbstractSet[str]) -> None:
    """Refuse options of the task that are given beside ``task={...}``, which then takes the place of the checkpoint's.

    The data folder is left alone: the hub gives one itself.
    """
    if not isinstance(overrides.get("task"), Mapping):
        return
    for name in sorted((names & overrides.keys()) - {"data"}):
        value = getattr(options, name, None)
        if str(value) != str(overrides[name]):
            raise UserError(
                f"from_pretrained has {name}={overrides[name]!r}, but its task has {value!r}: give it in task={{...}}"
            )


def refuse_lost(name: Any, overrides: Mapping[str, Any]) -> None:
    """Refuse what is meant for a task of this package, where the task is another.

    Raises:
        UserError: names it, and says how to ask for the task.
    """
    lost = [setting.name for setting in OWN if setting.name in overrides]
    if str(name).endswith("_dcmbr"):
        lost.insert(0, f"task={name!r}")
    if lost:
        raise UserError(
            f"from_pretrained has {lost[0]}, but the checkpoint keeps the task of its training: give task={{'_name': "
            "'translation_dcmbr', 'data': DATA_BIN}"
        )


def _name(options: Any) -> str | None:
    return getattr(options, "_name", None) or getattr(options, "task", None)
