"""What a command was asked for beside the task's own options: fairseq keeps it in two shapes, here it has one.

The name starts with an underscore because fairseq imports every other file of ``tasks/`` as a task of its own.
"""

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig


@dataclass(frozen=True)
class Command:
    """The options around a task; the defaults are those of a task that was built without any command.

    Attributes:
        path: ``--path``, checkpoints joined by colons; None in training and in the hub.
        generation: fairseq's generation options, or None.
        seed: ``--seed``.
        post_process: ``--post-process`` or ``--remove-bpe``.
        tokenizer, bpe: what fairseq builds the tokenizer and the BPE from, or None.
        model_overrides: ``--model-overrides``, a Python dictionary as text.
        suffix, shards: ``--checkpoint-suffix`` and ``--checkpoint-shard-count``.
        half_on_cpu: whether ``--fp16`` is given with ``--cpu``.
    """

    path: str | None = None
    generation: Any = None
    seed: int = 1
    post_process: str | None = None
    tokenizer: Any = None
    bpe: Any = None
    model_overrides: str = "{}"
    suffix: str = ""
    shards: int = 1
    half_on_cpu: bool = False


def command_of(options: Any) -> Command:
    """The command that a task's options belong to.

    Args:
        options: a section of fairseq's configuration, whose parent has the others; or, for tasks of the older kind,
            one flat namespace with everything.
    """
    if isinstance(options, Namespace):
        flat = {name: getattr(options, name) for name in ("path", "seed", "post_process", "model_overrides")
                if hasattr(options, name)}  # fmt: skip
        return Command(
            **flat,
            generation=options,
            tokenizer=options,
            bpe=options,
            suffix=getattr(options, "checkpoint_suffix", ""),
            shards=getattr(options, "checkpoint_shard_count", 1),
            half_on_cpu=getattr(options, "fp16", False) and getattr(options, "cpu", False),
        )
    root = root_of(options)
    if root is None or "common_eval" not in root:
        return Command()
    return Command(
        path=root.common_eval.path,
        generation=root.generation,
        seed=root.common.seed,
        post_process=root.common_eval.post_process,
        tokenizer=root.tokenizer,
        bpe=root.bpe,
        model_overrides=root.common_eval.model_overrides,
        suffix=root.checkpoint.checkpoint_suffix,
        shards=root.checkpoint.checkpoint_shard_count,
        half_on_cpu=root.common.fp16 and root.common.cpu,
    )


def store_languages(options: Any) -> None:
    """Write the languages of a task into the whole configuration too, which is what checkpoints keep.

    fairseq gives a task a copy of its section, into which it writes the languages that it has inferred from the data.

    Args:
        options: the task's; those of the older kind are the whole configuration themselves.
    """
    root = root_of(options)
    stored = {} if root is None else root.get("task") or {}
    for name in ("source_lang", "target_lang"):
        if name in stored:
            stored[name] = options[name]


def root_of(section: Any) -> DictConfig | None:
    """The whole configuration that a section of it belongs to; None where it belongs to none."""
    root = section._get_root() if isinstance(section, DictConfig) else None
    return root if isinstance(root, DictConfig) and root is not section else None
