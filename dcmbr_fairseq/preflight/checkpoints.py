"""What a checkpoint says before fairseq loads it: how it was trained, and whether it fits the dictionaries."""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from dcmbr_fairseq.errors import UserError


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
    """

    path: str
    criterion: str | None = None
    label_smoothing: float | None = None
    ger: tuple | None = None
    encoder_rows: int | None = None
    decoder_rows: int | None = None
    arch: str | None = None
    task: Mapping[str, Any] = field(default_factory=dict, compare=False)

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


def inspect_checkpoint(path: str) -> CheckpointFacts:
    """Read a checkpoint's facts without loading its weights (they are mapped, not read).

    Raises:
        UserError: there is no such file, or it is not a checkpoint.
    """
    if not Path(path).is_file():
        raise UserError(f"--path {path} is not a file: give the path of a fairseq checkpoint")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except Exception as error:  # an unpickler that reads something else may stumble over anything
        raise UserError(_unreadable(path, error)) from error
    if not isinstance(state, dict) or not isinstance(state.get("model"), dict):
        raise UserError(f"--path {path} is not a fairseq checkpoint (it holds no model): give a checkpoint_*.pt")
    if state.get("cfg") is None and state.get("args") is None:
        raise UserError(f"--path {path} is not a fairseq checkpoint (it holds no settings): give a checkpoint_*.pt")
    return _facts(path, state)


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
    )


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
    """Compare a task's dictionaries with a checkpoint's embeddings, in the task's own way where it has one.

    Raises:
        UserError: they do not fit.
    """
    if hasattr(task, "check_sizes"):
        task.check_sizes(facts)
    else:
        check_dictionaries(facts, len(task.source_dictionary), len(task.target_dictionary))


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
