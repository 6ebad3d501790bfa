"""The few repairs that installed fairseq needs with today's torch and numpy; run before anything else of the plugin.

Each repair is idempotent and does nothing where it is not needed. ``--user-dir`` is imported before any checkpoint or
data set is loaded, which is early enough for all of them.
"""

import argparse
import functools
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from fairseq import file_chunker_utils, utils
from fairseq.data import data_utils
from fairseq.distributed import utils as distributed_utils
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import reading
from dcmbr_fairseq.hooks.registration import PACKAGE_FOLDER


def repair_fairseq() -> None:
    """Apply all repairs. Calling this again changes nothing."""
    silence_known_warnings()
    allow_fairseq_checkpoints()
    keep_last_batch()
    accept_fast_path_checkpoints()
    avoid_encoder_fast_path()
    share_checkpoints_among_processes()
    end_lines_at_newline_only()
    know_own_folder()


def silence_known_warnings() -> None:
    """Silence exactly those warnings that a user of fairseq can do nothing about."""
    known = [
        (FutureWarning, r".*torch\.cuda\.amp\.(autocast|GradScaler)"),
        (UserWarning, r"Support for mismatched key_padding_mask"),
        (UserWarning, r"'pin_memory' argument is set as true"),
        (UserWarning, r"\s*The version_base parameter"),
        (UserWarning, r"\s*'config' is validated against ConfigStore schema"),
        (UserWarning, r"\s*hydra\.experimental\."),
        (UserWarning, r"\s*In 'config': Usage of deprecated keyword"),
        (UserWarning, r"\s*The strict flag in the compose API"),
    ]
    for category, message in known:
        warnings.filterwarnings("ignore", category=category, message=message)  # repeated filters are not added twice


def allow_fairseq_checkpoints() -> None:
    """Let ``torch.load(weights_only=True)``, the default since torch 2.6, read what fairseq itself saves.

    That is an ``argparse.Namespace`` and, in checkpoints trained with ``--eval-bleu``, numpy scalars.
    """
    import _codecs

    multiarray: Any = importlib.import_module(
        "numpy._core.multiarray" if hasattr(np, "_core") else "numpy.core.multiarray"
    )
    allowed: list[Any] = [argparse.Namespace, np.ndarray, np.dtype, _codecs.encode]
    for module in ("numpy.core.multiarray", "numpy._core.multiarray"):  # the names of numpy 1 and of numpy 2
        allowed.append((multiarray._reconstruct, f"{module}._reconstruct"))
        allowed.append((multiarray.scalar, f"{module}.scalar"))
    allowed += [type(np.dtype(code)) for code in ("f4", "f8", "i4", "i8", "u1", "?")]
    torch.serialization.add_safe_globals(allowed)


def replace_once(owner: Any, name: str, wrap: Callable[[Callable], Callable]) -> None:
    """Replace ``owner.name`` by ``wrap(original)`` once."""
    original = getattr(owner, name)
    if getattr(original, "_repaired_by_dcmbr", False):
        return
    repaired = functools.wraps(original)(wrap(original))
    repaired._repaired_by_dcmbr = True  # type: ignore[attr-defined]
    setattr(owner, name, repaired)


def keep_last_batch() -> None:
    """Keep the last batch whatever its size: the forks drop it unless it is a multiple (fairseq #5036)."""

    def wrap(original: Callable) -> Callable:
        def batch_by_size(indices, num_tokens_fn, num_tokens_vec=None, max_tokens=None, max_sentences=None,
                          required_batch_size_multiple=1, fixed_shapes=None):  # fmt: skip
            if fixed_shapes is None and required_batch_size_multiple > 1:
                return _batch_all(
                    indices, num_tokens_fn, num_tokens_vec, max_tokens, max_sentences, required_batch_size_multiple
                )
            return original(
                indices, num_tokens_fn, num_tokens_vec, max_tokens, max_sentences, required_batch_size_multiple,
                fixed_shapes,
            )  # fmt: skip

        return batch_by_size

    replace_once(data_utils, "batch_by_size", wrap)


def _batch_all(indices, num_tokens_fn, num_tokens_vec, max_tokens, max_sentences, multiple):
    """What ``batch_by_size`` did before the forks: fairseq's own Cython kernels, every index in some batch."""
    from fairseq.data.data_utils_fast import batch_by_size_fn, batch_by_size_vec

    max_tokens = -1 if max_tokens is None else int(max_tokens)
    max_sentences = -1 if max_sentences is None else max_sentences
    if not isinstance(indices, np.ndarray):
        indices = np.fromiter(indices, dtype=np.int64, count=-1)
    if num_tokens_vec is None:
        return batch_by_size_fn(indices, num_tokens_fn, max_tokens, max_sentences, multiple)
    if not isinstance(num_tokens_vec, np.ndarray):
        num_tokens_vec = np.fromiter(num_tokens_vec, dtype=np.int64, count=-1)
    return batch_by_size_vec(indices, num_tokens_vec, max_tokens, max_sentences, multiple)


def accept_fast_path_checkpoints() -> None:
    """Load checkpoints of 0.12.0-0.12.2, which hold copies of encoder weights that later versions reject."""
    copies = [f"{part}_{kind}" for part in ("in_proj", "out_proj", "fc1", "fc2") for kind in ("weight", "bias")]

    def wrap(original: Callable) -> Callable:
        def load(self, state_dict, prefix, *args, **kwargs):
            for name in copies:
                if not hasattr(self, name):
                    state_dict.pop(prefix + name, None)
            return original(self, state_dict, prefix, *args, **kwargs)

        return load

    replace_once(TransformerEncoderLayerBase, "_load_from_state_dict", wrap)


def avoid_encoder_fast_path() -> None:
    """Turn off 0.12.2's encoder fast path, which calls a private torch operation whose contract has changed."""

    def wrap(original: Callable) -> Callable:
        def init(self, *args, **kwargs):
            original(self, *args, **kwargs)
            if hasattr(self, "can_use_fastpath"):
                self.can_use_fastpath = False

        return init

    replace_once(TransformerEncoderLayerBase, "__init__", wrap)


def share_checkpoints_among_processes() -> None:
    """Let the first process of distributed training send the others a checkpoint that it has loaded.

    fairseq reads what was sent with ``torch.load``, which since torch 2.6 refuses its configuration objects. The bytes
    come from a process of the same run, so there is nothing to refuse.
    """

    def wrap(original: Callable) -> Callable:
        def broadcast_object_slow(obj: Any, src_rank: int, group: Any, dist_device: torch.device) -> Any:
            parcel = [obj]
            torch.distributed.broadcast_object_list(parcel, src=src_rank, group=group, device=dist_device)
            return parcel[0]

        return broadcast_object_slow

    replace_once(distributed_utils, "_broadcast_object_slow", wrap)


def end_lines_at_newline_only() -> None:
    """A ``\\r`` inside a line is white space, as in the other tools, and not the end of the line.

    fairseq-preprocess and fairseq-interactive would split such a line in two and so shift all that follow.
    """
    file_chunker_utils.open = functools.partial(open, newline="\n")
    for name in ("fairseq_cli.interactive", "__main__"):  # `python -m fairseq_cli.interactive` runs as __main__
        module: Any = sys.modules.get(name)
        if Path(getattr(module, "__file__", None) or "").parts[-2:] == ("fairseq_cli", "interactive.py"):
            module.buffered_read = buffered_read


def buffered_read(input: str, buffer_size: int) -> Iterator[list[str]]:
    """fairseq-interactive's reader: lists of up to ``buffer_size`` stripped lines of a file, ``-`` for stdin.

    Raises:
        UserError: ``--input`` cannot be read, or a line is not UTF-8.
    """
    stream: IO[Any]
    name = "standard input" if input == "-" else f"--input {input}"
    if input != "-":
        with reading(name):
            stream = open(input, "rb")
    else:
        stream = getattr(sys.stdin, "buffer", sys.stdin)  # without a buffer where the caller has replaced it
    buffer: list[str] = []
    for line in _lines(stream, name):
        buffer.append(line.strip())
        if len(buffer) >= buffer_size:
            yield buffer
            buffer = []
    if buffer:
        yield buffer


def _lines(stream: IO[Any], name: str) -> Iterator[str]:
    """The lines of a stream, by readline, so that a line typed at a terminal is answered at once."""
    for number, line in enumerate(iter(stream.readline, stream.read(0)), 1):
        try:
            yield line.decode("utf-8") if isinstance(line, bytes) else line
        except UnicodeDecodeError as error:
            raise UserError(f"line {number} of {name} is not UTF-8: convert it with iconv") from error


def know_own_folder() -> None:
    """Let ``--user-dir`` name this package, however it is written, where it has been imported already.

    fairseq compares paths as they are written, and refuses ``--user-dir dcmbr_fairseq`` of an installed package in
    `dcmbr`'s commands as another one of the same name.
    """
    if getattr(utils.import_user_module, "_knows_own_folder", False):
        return
    original = utils.import_user_module

    @functools.wraps(original)
    def import_user_module(args: Any) -> None:
        given = getattr(args, "user_dir", None)
        fairseq = os.path.dirname(utils.__file__)
        places = [] if given is None else [given, os.path.join(fairseq, given), os.path.join(fairseq, "..", given)]
        found = next((place for place in map(os.path.abspath, places) if os.path.exists(place)), None)
        if found is None or os.path.realpath(found) != os.path.realpath(PACKAGE_FOLDER):
            original(args)

    import_user_module._knows_own_folder = True  # type: ignore[attr-defined]
    utils.import_user_module = import_user_module
