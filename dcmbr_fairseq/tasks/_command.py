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
    """

    path: str | None = None
    generation: Any = None
    seed: int = 1
    post_process: str | None = None
    tokenizer: Any = None
    bpe: Any = None
    model_overrides: str = "{}"


def command_of(options: Any) -> Command:
    """The command that a task's options belong to.

    Args:
        options: a section of fairseq's configuration, whose parent has the others; or, for tasks of the older kind,
            one flat namespace with everything.
    """
    if isinstance(options, Namespace):
        return Command(
            path=getattr(options, "path", None),
            generation=options,
            seed=getattr(options, "seed", 1),
            post_process=getattr(options, "post_process", None),
            tokenizer=options,
            bpe=options,
            model_overrides=getattr(options, "model_overrides", "{}"),
        )
    root = options._get_root() if isinstance(options, DictConfig) else None
    if not isinstance(root, DictConfig) or "common_eval" not in root:
        return Command()
    evaluation = root.common_eval
    return Command(
        evaluation.path, root.generation, root.common.seed, evaluation.post_process, root.tokenizer, root.bpe,
        evaluation.model_overrides,
    )  # fmt: skip
