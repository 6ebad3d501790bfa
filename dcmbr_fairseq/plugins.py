"""Classes by name, such as those of ``--utility`` and ``--selection``: our own from a table, a user's as module:Class.

Each class is imported when it is first asked for, so that none costs anything unless it is used.
"""

import importlib
import inspect
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from dcmbr_fairseq.errors import UserError, nearest, shown

Kind = TypeVar("Kind")


class Registry(Mapping[str, str], Generic[Kind]):
    """A mapping from the names that a flag takes to ``module:Class``, and what the flag does with a name.

    Args:
        flag: such as ``--utility``; ``--utility-args`` then gives the keyword arguments of the constructor.
        base: what every class must be a subclass of, or a protocol that it must follow.
        home: where users find ``base``.
        classes: name -> ``module:Class``.
    """

    def __init__(self, flag: str, base: type[Kind], home: str, classes: Mapping[str, str]) -> None:
        self.flag, self.base, self.home = flag, base, home
        self._classes = dict(classes)

    def __getitem__(self, name: str) -> str:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def find(self, name: str) -> type[Kind]:
        """The class called ``name``, or a user's own given as ``module:Class``.

        The module is looked for in the current folder too, after everything else that Python can import.

        Raises:
            UserError: there is no such class, or it is not of this kind.
        """
        known = self.get(name)
        if known is None and not re.fullmatch(r"\w+(\.\w+)*:\w+", name):
            likely = nearest(name, self)
            hint = f"did you mean {likely}? " if likely else ""
            known_names, given = ", ".join(self), name if name.isprintable() else shown(name)
            raise UserError(
                f"{self.flag} {given} is unknown: {hint}choose one of {known_names}, or give your own as module:Class"
            )
        module_name, _, class_name = (known or name).partition(":")
        if known is None and not {"", os.getcwd()} & set(sys.path):
            sys.path.append(os.getcwd())  # installed commands, unlike `python -m`, do not search the current folder
        try:
            found = getattr(importlib.import_module(module_name), class_name)
        except (ImportError, AttributeError) as error:
            raise UserError(
                f"{self.flag} {name} cannot be imported ({error}): check the module path and the name"
            ) from error
        self._check_kind(name, found)
        return found

    def _check_kind(self, name: str, found: Any) -> None:
        """Refuse what is not a class of this kind, or lacks a method, or has one that takes other arguments."""
        abstract = sorted(getattr(self.base, "__abstractmethods__", ()))
        if not (isinstance(found, type) and issubclass(found, self.base)):
            raise UserError(f"{self.flag} {name} is not a subclass of {self.home}: make it one")
        missing = [method for method in abstract if method in getattr(found, "__abstractmethods__", ())]
        if missing:
            raise UserError(f"{self.flag} {name} lacks {' and '.join(missing)}: see {self.home}")
        for method in abstract:
            wanted = list(inspect.signature(getattr(self.base, method)).parameters)
            try:
                inspect.signature(getattr(found, method)).bind(*wanted)
            except TypeError as error:
                raise UserError(
                    f"{self.flag} {name}: {method} must take ({', '.join(wanted)}) ({error}): see {self.home}"
                ) from error

    def check(self, name: str, arguments: Mapping[str, Any]) -> type[Kind]:
        """The class called ``name``, which takes ``arguments``; nothing is constructed.

        Raises:
            UserError: unknown name or argument.
        """
        kind = self.find(name)
        signature = inspect.signature(kind)
        try:
            signature.bind(**arguments)
        except TypeError as error:
            given = shown_arguments(arguments)
            hint = _likely_argument(arguments, signature)
            raise UserError(f"{self.flag}-args {given} do not fit {self.flag} {name}: {error}{hint}") from error
        return kind

    def build(self, name: str, arguments: Mapping[str, Any]) -> Kind:
        """Construct the class called ``name`` with keyword ``arguments``.

        Raises:
            UserError: see :meth:`check`; or the constructor refuses an argument, or misses what it needs.
        """
        return self.check(name, arguments)(**arguments)


def shown_arguments(arguments: Mapping[str, Any]) -> str:
    """Arguments as a flag gives them, cut where they are long."""
    try:
        return json.dumps(dict(arguments))[:200]
    except (TypeError, ValueError):  # in Python arguments may be anything
        return shown(dict(arguments))


def _likely_argument(arguments: Mapping[str, Any], signature: inspect.Signature) -> str:
    """What the first unknown argument was meant to be, as the end of a sentence; empty where nothing is like it."""
    known = [name for name, parameter in signature.parameters.items() if parameter.kind != parameter.VAR_KEYWORD]
    likely = [nearest(name, known) for name in arguments if name not in known]
    return f": did you mean {likely[0]}?" if likely and likely[0] else ""
