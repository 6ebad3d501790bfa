"""The identity of what a task is about to decode: by which checkpoints, from which sentences, into which text."""

import dataclasses
import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from fairseq.data import Dictionary
from fairseq.registry import REGISTRIES
from omegaconf import DictConfig, OmegaConf

from dcmbr_fairseq.pools.identity import (
    UNKNOWN,
    Identity,
    Part,
    file_fingerprint,
    files_part,
    fingerprint,
    text_fingerprint,
)
from dcmbr_fairseq.preflight.languages import language_tokens


class Processing(NamedTuple):
    """From tokens to text: ``--post-process``, and what fairseq builds the tokenizer and the BPE from."""

    post_process: str | None
    tokenizer: Any
    bpe: Any


class Sentences(NamedTuple):
    """The sentences of a subset that are decoded: its name, the data set, and their numbers."""

    subset: str
    dataset: Any
    ids: Sequence[int]


def identity_of(
    task: Any, checkpoints: Sequence[str], overrides: str, processing: Processing, sentences: Sentences | None
) -> Identity:
    """The identity of pools.

    Args:
        task: fairseq's task, with its dictionaries.
        checkpoints: the files; none where they are not known (hub).
        overrides: ``--model-overrides``.
        processing: how tokens become text.
        sentences: None where they come later (interactive, hub).
    """
    options = task.cfg if getattr(task, "cfg", None) is not None else task.args
    return Identity(
        {
            "checkpoint": _checkpoints(checkpoints, overrides),
            "sources": UNKNOWN if sentences is None else _sources(sentences, options),
            "dictionaries": Part(fingerprint(map(_symbols, (task.source_dictionary, task.target_dictionary))), {}),
            "languages": _languages(task, options),
            "text": _text(processing),
        }
    )


def _checkpoints(paths: Sequence[str], overrides: str) -> Part:
    part = files_part(paths)
    if part.fingerprint is None or overrides.strip() in ("", "{}"):
        return part
    return Part(f"{part.fingerprint}+{text_fingerprint([overrides])}", {**part.shown, "overrides": overrides})


def _sources(sentences: Sentences, options: Any) -> Part:
    """By the tokens of the sources, language tokens included."""
    folders = [os.path.basename(os.path.abspath(part)) for part in str(options.data).split(os.pathsep)]
    shown = {"data": ":".join(folders), "subset": sentences.subset, "sentences": len(sentences.ids)}
    return Part(fingerprint(_tokens(sentences.dataset[i]) for i in sentences.ids), shown)


def _tokens(item: Any) -> bytes:
    """The tokens of a sentence's source; multilingual data sets give (which of their parts, sentence)."""
    sentence = item[-1] if isinstance(item, tuple) else item
    return np.asarray(sentence["source"], dtype=np.int64).tobytes()


def _symbols(dictionary: Dictionary) -> bytes:
    return "\n".join(dictionary.symbols).encode("utf-8", "surrogatepass")


def _languages(task: Any, options: Any) -> Part:
    sides = {side: getattr(options, f"{side}_lang", None) for side in ("source", "target")}
    tokens = language_tokens(task)
    told = [sorted(tokens.ids), tokens.forced, tokens.start, sorted(tokens.source_ids)]
    return Part(text_fingerprint([*map(str, sides.values()), *map(str, told)]), sides)


def _text(processing: Processing) -> Part:
    """By options, and by what the files hold that options name (codes, models): they may be moved."""
    sides = {side: dict(_options(getattr(processing, side), side)) for side in ("tokenizer", "bpe")}
    pieces = [str(processing.post_process)]
    for side, options in sides.items():
        pieces += [side, *(f"{name}={_value(options[name])}" for name in sorted(options))]
    names = {side: options.get("_name") for side, options in sides.items()}
    return Part(text_fingerprint(pieces), {"post_process": processing.post_process, **names})


def _options(section: Any, kind: str) -> Iterator[tuple[str, Any]]:
    """What a ``tokenizer`` or a ``bpe`` is built from; nothing where there is none."""
    given: Mapping[str, Any] | Any = section
    if isinstance(section, DictConfig):
        given = OmegaConf.to_container(section, resolve=True)
    elif isinstance(section, Namespace):
        given = _in_namespace(section, kind)
    if isinstance(given, str):
        yield "_name", given
    elif isinstance(given, Mapping):
        yield from ((str(name), value) for name, value in given.items() if value is not None)


def _in_namespace(options: Namespace, kind: str) -> dict[str, Any] | None:
    """The section that a configuration would have, of fairseq's older tasks, which keep all options in one namespace:
    the same text processing is the same in both shapes."""
    name = getattr(options, kind, None)
    if name is None:
        return None
    declared = REGISTRIES[kind]["dataclass_registry"].get(name)
    names = [] if declared is None else [field.name for field in dataclasses.fields(declared)]
    return {**{key: getattr(options, key) for key in names if hasattr(options, key)}, "_name": name}


def _value(value: Any) -> str:
    """An option's value; a file's content where it names one."""
    return f"file {file_fingerprint(value)}" if isinstance(value, str) and os.path.isfile(value) else repr(value)
