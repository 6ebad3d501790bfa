"""What a checkpoint says before fairseq loads it: how it was trained, and whether it fits the dictionaries."""

import logging
import re
import zipfile
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from fairseq.checkpoint_utils import get_maybe_sharded_checkpoint_filename
from fairseq.file_io import PathManager
from omegaconf import OmegaConf

from dcmbr_fairseq.errors import UserError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class CheckpointFacts:
    """What matters for decoding.

    Attributes:
        path: the file.
        criterion: name of the training criterion, if stored.
        label_smoothing: lambda of label-smoothed cross-entropy, 0 for plain cross-entropy, None if unknown.
        ger: (alpha, beta) of generalised entropy regularisation, None if not used.
        encoder_rows, decoder_rows: rows of the embedding matrices, None if the model has none of that name.
        arch: name of the architecture, if stored.
        task: the options of the training task by name.
        names: of all settings, in whatever section.
    """

    path: str
    criterion: str | None = None
    label_smoothing: float | None = None
    ger: tuple | None = None
    encoder_rows: int | None = None
    decoder_rows: int | None = None
    arch: str | None = None
    task: Mapping[str, Any] = field(default_factory=dict, compare=False)
    names: frozenset[str] = field(default_factory=frozenset, compare=False)

    @property
    def drops_mask(self) -> bool:
        """Whether fairseq drops the model's last embedding where the dictionary lacks ``<mask>``: (m)BART's own way."""
        from fairseq.models import ARCH_MODEL_NAME_REGISTRY  # takes long, and most checkpoints fit without this

        return ARCH_MODEL_NAME_REGISTRY.get(self.arch, self.arch) == "bart"

    def describe(self) -> str:
        """One line for the log."""
        if self.ger is not None:
            return f"{self.path}: trained with GER, alpha {self.ger[0]}, beta {self.ger[1]}"
        if self.label_smoothing is None:
            return f"{self.path}: the checkpoint does not say how it was smoothed (criterion {self.criterion})"
        return f"{self.path}: trained with {self.criterion}, label smoothing {self.label_smoothing}"


def inspect_checkpoints(path: str | None, suffix: str = "", shards: int = 1) -> list[CheckpointFacts]:
    """The facts of all members of an ensemble; nothing in training and in the hub.

    Args:
        path: ``--path``: one checkpoint, or several, split as fairseq splits them.
        suffix: ``--checkpoint-suffix``.
        shards: ``--checkpoint-shard-count``.

    Raises:
        UserError: see :func:`inspect_checkpoint`; also where a shard is missing.
    """
    if path is None:
        return []
    return [inspect_checkpoint(part, suffix, shards) for part in utils.split_paths(path)]


def inspect_checkpoint(path: str, suffix: str = "", shards: int = 1) -> CheckpointFacts:
    """Read a checkpoint's facts without loading its weights (they are mapped, not read).

    Args:
        path: as given with ``--path``.
        suffix, shards: ``--checkpoint-suffix`` and ``--checkpoint-shard-count``: fairseq derives the files from them.

    Raises:
        UserError: there is no such file, or it is not a checkpoint.
    """
    names = [get_maybe_sharded_checkpoint_filename(path, suffix, shard, shards) for shard in range(max(shards, 1))]
    files = [PathManager.get_local_path(name) for name in names]
    for name, file in zip(names, files, strict=True):
        if not Path(file).is_file():
            part = "" if name == path else " (by --path, --checkpoint-suffix and --checkpoint-shard-count)"
            raise UserError(f"--path {name} is not a file{part}: give the path of a fairseq checkpoint")
    state = _read(names[0], files[0])
    facts = _facts(names[0], state)
    whole = len(files) == 1 and "fsdp_metadata" not in state  # a shard's embeddings are a part of the model's
    return facts if whole else replace(facts, encoder_rows=None, decoder_rows=None)


def _read(path: str, file: str) -> dict[str, Any]:
    try:
        state = torch.load(file, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(file))
    except Exception as error:  # an unpickler that reads something else may stumble over anything
        raise UserError(_unreadable(path, error)) from error
    if not isinstance(state, dict) or not isinstance(state.get("model"), dict):
        raise UserError(f"--path {path} is not a fairseq checkpoint (it holds no model): give a checkpoint_*.pt")
    if state.get("cfg") is None and state.get("args") is None:
        raise UserError(f"--path {path} is not a fairseq checkpoint (it holds no settings): give a checkpoint_*.pt")
    return state


def facts_of_settings(settings: Any, name: str = "the checkpoint") -> CheckpointFacts:
    """What a checkpoint says that has been loaded already (hub), by its settings alone.

    Args:
        settings: its configuration, or the namespace of older ones.
        name: what to call it.
    """
    if isinstance(settings, Namespace):
        return _facts(name, {"args": settings, "model": {}})
    return _facts(name, {"cfg": OmegaConf.to_container(settings), "model": {}})


def _unreadable(path: str, error: Exception) -> str:
    """The sentence about a file that ``torch.load`` does not read; torch's own messages give paragraphs of advice."""
    foreign = re.search(r"GLOBAL (\S+)", str(error))
    if foreign is not None:
        return (
            f"--path {path} holds objects of {foreign[1]}, which are not loaded because that could run any code: give "
            "a checkpoint that fairseq has saved"
        )
    return (
        f"--path {path} cannot be read as a fairseq checkpoint ({type(error).__name__}): it is another kind of file, "
        "damaged, or cut off; give a checkpoint_*.pt, or copy it again"
    )


def _facts(path: str, state: Mapping[str, Any]) -> CheckpointFacts:
    criterion, model = _section(state, "criterion"), _section(state, "model")
    name = criterion.get("_name") or criterion.get("criterion")
    smoothing = criterion.get("label_smoothing")
    if smoothing is None and name == "cross_entropy":
        smoothing = 0.0
    ger = None
    if name == "generalized_entropy_regularization":
        ger = (criterion.get("ger_alpha"), criterion.get("ger_beta"))
    return CheckpointFacts(
        path,
        name,
        smoothing if name != "cross_entropy" else 0.0,
        ger,
        _rows(state, "encoder"),
        _rows(state, "decoder"),
        model.get("arch") or model.get("_name"),
        _section(state, "task"),
        frozenset(_names(state.get("cfg") or state.get("args"))),
    )


def _names(settings: Any) -> Iterator[str]:
    """The names of settings and sections, and of the settings in these."""
    for name, value in _settings(settings).items():
        yield str(name)
        yield from _names(value)


def _section(state: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The settings of a section of ``cfg``, or all of the ``args`` of older checkpoints."""
    cfg = state.get("cfg")
    if isinstance(cfg, dict) and cfg.get(name) is not None:
        return _settings(cfg[name])
    return _settings(state.get("args"))


def _settings(section: Any) -> Mapping[str, Any]:
    """A section as a mapping; empty where it is neither a dict nor a namespace."""
    return section if isinstance(section, dict) else getattr(section, "__dict__", {})


def _rows(state: Mapping[str, Any], side: str) -> int | None:
    weight = state["model"].get(f"{side}.embed_tokens.weight")
    return None if weight is None else int(weight.shape[0])


def check_fit(task: Any, facts: CheckpointFacts) -> None:
    """Compare a task with a checkpoint: its dictionaries with the embeddings, in the task's own way where it has one.

    Raises:
        UserError: they do not fit.
    """
    if hasattr(task, "check_sizes"):
        task.check_sizes(facts)
    else:
        check_dictionaries(facts, len(task.source_dictionary), len(task.target_dictionary))
    warn_of_direction(getattr(task, "cfg", None) or getattr(task, "args", None), facts)


def trained_direction(facts: CheckpointFacts) -> tuple[str, str] | None:
    """The languages of a bilingual training; None where the checkpoint does not say them."""
    source, target = facts.task.get("source_lang"), facts.task.get("target_lang")
    return (str(source), str(target)) if source and target else None


def warn_of_direction(options: Any, facts: CheckpointFacts) -> None:
    """Warn where a model is asked for another direction than it was trained in: it would answer with nonsense.

    Args:
        options: the task's: ``source_lang``, ``target_lang``.
        facts: of the checkpoint.
    """
    trained = trained_direction(facts)
    asked = (getattr(options, "source_lang", None), getattr(options, "target_lang", None))
    if trained is not None and None not in asked and asked != trained:
        logger.warning(
            "%s was trained from %s to %s, and is asked to translate from %s to %s: give -s %s -t %s, or the model of "
            "the other direction", facts.path, *trained, *asked, *trained,
        )  # fmt: skip


def check_dictionaries(facts: CheckpointFacts, source_size: int, target_size: int, has_mask: bool = True) -> None:
    """Compare the dictionaries with the embeddings.

    Args:
        facts: of the checkpoint.
        source_size, target_size: types of the dictionaries.
        has_mask: whether they have the symbol ``<mask>``.

    Raises:
        UserError: their sizes differ.
    """
    for side, rows, size in (("source", facts.encoder_rows, source_size), ("target", facts.decoder_rows, target_size)):
        if rows == size + 1 and not has_mask and facts.drops_mask:
            continue
        if rows is not None and rows != size:
            raise UserError(
                f"--path {facts.path} has {rows} {side} embeddings but the {side} dictionary has {size} types: "
                "give the data folder with the dict.*.txt files that the model was trained with"
            )
