"""What happens around imports: run something once another package is there, and answer to names that have moved."""

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

#: The folder of this package: what fairseq wants as ``--user-dir``.
PACKAGE_FOLDER = Path(__file__).parents[1]
#: Modules that the documentation of version 0.1 told users to import, and where they stand now, below this package.
MOVED = {
    "analysis.correlation": "present.correlation",
    "analysis.diversity": "measure.diversity",
    "analysis.entropy": "measure.entropy",
    "analysis.figures": "present.figures",
    "analysis.ranks": "measure.ranks",
    "analysis.sweep": "measure.sweep",
    "analysis.topn": "measure.topn",
    "analysis.tuning": "measure.tuning",
    "decoding.auto_temperature": "preflight.auto_temperature",
    "decoding.exact_search": "search.exact_search",
    "decoding.lemma": "lemma",
}


def answer_to_old_names(moved: Mapping[str, str]) -> None:
    """Let the old names of modules, below this package, give the modules of the new names; a second call does nothing.

    The old name gives the very same module, so that its classes are the same too.
    """
    if not any(isinstance(finder, _OldNames) for finder in sys.meta_path):
        package = __name__.partition(".")[0]
        sys.meta_path.append(_OldNames({f"{package}.{old}": f"{package}.{new}" for old, new in moved.items()}))


class _OldNames(importlib.abc.MetaPathFinder):
    """Finds what nobody else has found: modules under the names that they had."""

    def __init__(self, moved: Mapping[str, str]) -> None:
        self.moved = moved
        self.rooms = {old.rpartition(".")[0] for old in moved}  # one of them is empty now, and has no folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in self.moved:
            return ModuleSpec(fullname, _Loaded(importlib.import_module(self.moved[fullname])))
        return ModuleSpec(fullname, None, is_package=True) if fullname in self.rooms else None


def when_imported(name: str, action: Callable[[], None], needed_by: Callable[[str], bool]) -> None:
    """Call ``action`` as soon as the module ``name`` has been imported: now if it is already, otherwise then.

    Args:
        name: a module that may be costly to import.
        action: what to do after it; it may import modules that ``needed_by`` tells of.
        needed_by: whether a module, given by its full name, imports ``name``. Before such a module begins, ``name`` is
            imported: otherwise the action would find the module half done.
    """
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Watcher(name, action, needed_by))


class _Watcher(importlib.abc.MetaPathFinder):
    """Finds ``name`` through the other finders, and lets its loader call ``action`` when the module has run."""

    def __init__(self, name: str, action: Callable[[], None], needed_by: Callable[[str], bool]) -> None:
        self.name = name
        self.action = action
        self.needed_by = needed_by

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if self.needed_by(fullname):
            importlib.import_module(self.name)  # comes back here for the name itself
            module = sys.modules.get(fullname)  # the action has imported it
            return None if module is None else _Loaded.spec_of(module, fullname)
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenLoader(spec.loader, self.action)
        return spec


class _ThenLoader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, action: Callable[[], None]) -> None:
        self.loader = loader
        self.action = action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = self.loader  # from here on the module is as if we had not been there
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.action()


class _Loaded(importlib.abc.Loader):
    """Gives a module that has been imported already."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    @classmethod
    def spec_of(cls, module: ModuleType, name: str) -> ModuleSpec:
        """A spec for a module that was imported under this very name while it was looked for.

        Python then goes by the module's own spec, and would run its file a second time: this one stands in for it until
        the module is given.
        """
        spec = ModuleSpec(name, cls(module))
        module.__spec__ = spec
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
