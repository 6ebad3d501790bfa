"""The data folder: whether it is there, which dictionaries and which subsets it has."""

import os
import re
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairseq.data.data_utils import infer_language_pair
from fairseq.utils import split_paths

from dcmbr_fairseq.errors import UserError


def first_folder(data: str | None) -> Path:
    """The first data folder, which has the dictionaries and the subsets for validation and decoding.

    Raises:
        UserError: none is given, or it is no folder.
    """
    if not data:
        raise UserError("the data folder is missing: give the one that fairseq-preprocess has written")
    folder = Path(split_paths(data)[0])
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: give the one that fairseq-preprocess has written")
    return folder


def languages_in(data: str) -> tuple[str | None, str | None]:
    """The direction of a data folder by the names of its files, as fairseq infers it; None where it tells none."""
    folder = split_paths(data)[0]
    source, target = infer_language_pair(folder) if os.path.isdir(folder) else (None, None)
    return source, target


def check_data(options: Any) -> None:
    """Check the data folder of a bilingual task and its dictionaries.

    Args:
        options: the task's: ``data``, ``source_lang``, ``target_lang``.

    Raises:
        UserError: something is missing; says what is there.
    """
    folder = first_folder(options.data)
    languages = (options.source_lang, options.target_lang)
    if None in languages:
        languages = languages_in(options.data)  # as fairseq: one that is given alone is not looked at
    if None in languages:
        raise UserError(f"the files of {folder} do not say from which language to which: give -s and -t")
    there = sorted(path.name[5:-4] for path in folder.glob("dict.*.txt"))
    for flag, language in zip(("-s", "-t"), languages, strict=True):
        if not (folder / f"dict.{language}.txt").is_file():
            known = f"its dictionaries are of {' and '.join(there)}" if there else "it has no dict.*.txt at all"
            raise UserError(f"{flag} {language}: {folder} has no dict.{language}.txt ({known}): give another language")


def missing_subset(options: Any, split: str) -> UserError:
    """The sentence about a subset that is not there.

    Args:
        options: the task's: ``data``, ``source_lang``, ``target_lang``.
        split: its name.
    """
    folder = first_folder(options.data)
    direction = f"{options.source_lang}-{options.target_lang}" if options.source_lang else "all pairs"
    names = (re.fullmatch(r"(.+)\.(\w+-\w+)\.\w+\.(idx|bin)", path.name) for path in folder.iterdir())
    there = sorted({f"{name[1]} of {name[2]}" for name in names if name})
    return UserError(
        f"{folder} has no subset {split} of {direction}: it has {', '.join(there) or 'none at all'}; give another "
        "--gen-subset (--train-subset and --valid-subset in training), or make it with fairseq-preprocess"
    )


def infer_languages(parser: ArgumentParser) -> None:
    """Let ``-s`` and ``-t`` follow from the data folder where they are not given, as fairseq's translation task does.

    It does so too late for ``--tokenizer moses``, whose languages are the same options. argparse calls an option's type
    on its default when all words have been read: then the folder is known.

    Args:
        parser: has ``data``, ``--source-lang`` and ``--target-lang`` already.
    """
    actions = {action.dest: action for action in parser._actions}
    folders: list[str] = []

    def remember(folder: str) -> str:
        folders[:] = [folder]
        return folder

    def language(side: int) -> Callable[[str], str | None]:
        return lambda code: code or (languages_in(folders[0])[side] if folders else None)

    actions["data"].type = remember
    for side, name in enumerate(("source_lang", "target_lang")):
        actions[name].type, actions[name].default = language(side), ""
