"""The repairs of installed fairseq: no sentence lost, old and new checkpoints load safely, and no more than that."""

import argparse
import pickle
import sys
import types
import warnings
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils, file_chunker_utils
from fairseq.data import data_utils
from fairseq.models.transformer import TransformerConfig
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase
from fairseq_commands import generated, run
from hypothesis import given
from hypothesis import strategies as st

import dcmbr_fairseq
from dcmbr_fairseq.hooks import compat

# ------------------------------------------------------------------------------------------------ no sentence lost


@pytest.mark.parametrize("multiple", [1, 2, 3, 8, 16])
@pytest.mark.parametrize("max_sentences", [None, 1, 3, 4, 16])
@pytest.mark.parametrize("by_vector", [False, True])
def test_batches_keep_every_index(multiple: int, max_sentences: int | None, by_vector: bool) -> None:
    for size in range(1, 18):
        lengths = np.arange(size, dtype=np.int64) % 5 + 1
        batches = data_utils.batch_by_size(
            np.arange(size, dtype=np.int64)[::-1].copy(),
            num_tokens_fn=lambda i, lengths=lengths: lengths[i],
            num_tokens_vec=lengths[::-1].copy() if by_vector else None,
            max_tokens=20,
            max_sentences=max_sentences,
            required_batch_size_multiple=multiple,
        )
        assert np.concatenate(batches).tolist() == list(range(size))[::-1], f"{size} sentences"
        for batch in batches:
            assert len(batch) % multiple == 0 or len(batch) < multiple
            assert len(batch) * max(lengths[batch]) <= 20
            assert max_sentences is None or len(batch) <= max_sentences


@given(st.lists(st.integers(1, 30), max_size=60), st.integers(1, 9), st.integers(30, 200))
def test_batches_keep_every_index_of_any_lengths(lengths: list[int], multiple: int, max_tokens: int) -> None:
    batches = (
        data_utils.batch_by_size(
            list(range(len(lengths))),  # a plain list, as some data sets give it
            num_tokens_fn=lengths.__getitem__,
            max_tokens=max_tokens,
            required_batch_size_multiple=multiple,
        )
        if lengths or multiple > 1
        else []
    )
    assert [i for batch in batches for i in batch] == list(range(len(lengths)))


def test_batches_of_fixed_shapes_are_left_to_fairseq() -> None:
    lengths = np.array([3, 5, 9, 2], dtype=np.int64)
    call = dict(indices=np.arange(4), num_tokens_fn=lambda i: lengths[i], num_tokens_vec=lengths,
                fixed_shapes=np.array([[2, 10]]), required_batch_size_multiple=8)  # fmt: skip
    batches, original = data_utils.batch_by_size(**call), data_utils.batch_by_size.__wrapped__(**call)
    assert [list(batch) for batch in batches] == [list(batch) for batch in original]


def test_generate_translates_every_line(toy, fairseq) -> None:
    done = fairseq("generate", toy.data_bin, "--path", toy.checkpoint, "--beam", 2, "--batch-size", 16)
    assert sorted(i for i, _ in generated(done.stdout, "H")) == list(range(len(toy.lines("en"))))
    assert "warning" not in done.stderr.lower()


# ------------------------------------------------------------------------------------------------------ checkpoints


def checkpoint_with_numpy_scalars() -> dict[str, object]:
    """What ``fairseq-train --eval-bleu`` saves besides weights: scores and counts are numpy scalars and arrays."""
    args = argparse.Namespace(arch="transformer", task="translation", criterion="cross_entropy", no_progress_bar=True)
    counts = np.array([3, 2, 1, 0], dtype=np.int64)
    meters = {"bleu": np.float64(27.5), "sys_len": np.int64(11), "fp32": np.float32(0.5), "counts": counts}
    model = {"weight": torch.arange(6.0)}
    return {"args": args, "cfg": None, "model": model, "extra_state": {"best": np.float64(27.5), "meters": meters},
            "optimizer_history": [{"num_updates": 7, "criterion_name": "X", "lr_scheduler_state": {}}],
            "last_optimizer_state": None}  # fmt: skip


def rename_in_pickle(path: Path, old: bytes, new: bytes) -> None:
    """Rewrite a ``torch.save`` file as if another numpy had saved it: module names are lines of its pickle."""
    with ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    (pickled,) = [name for name in parts if name.endswith("data.pkl")]
    assert old in parts[pickled]
    parts[pickled] = parts[pickled].replace(old, new)
    with ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)


@pytest.mark.parametrize("module", ["numpy.core.multiarray", "numpy._core.multiarray"])
def test_checkpoint_with_namespace_and_numpy_scalars_loads(module: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    torch.save(checkpoint_with_numpy_scalars(), path)
    installed = np.float64(0).__reduce__()[0].__module__  # numpy.core.multiarray up to numpy 1, numpy._core after
    if installed != module:
        rename_in_pickle(path, installed.encode(), module.encode())
    state = checkpoint_utils.load_checkpoint_to_cpu(str(path))
    assert state["extra_state"]["best"] == 27.5 and torch.equal(state["model"]["weight"], torch.arange(6.0))
    meters = state["extra_state"]["meters"]
    assert (meters["bleu"], meters["sys_len"], meters["fp32"]) == (27.5, 11, 0.5)
    assert meters["counts"].tolist() == [3, 2, 1, 0]
    assert state["cfg"].model.arch == "transformer"


class Dangerous:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> object:
        return print, ("this must not run",)


def test_weights_only_stays_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "checkpoint.pt"
    torch.save({**checkpoint_with_numpy_scalars(), "surprise": Dangerous()}, path)
    with pytest.raises(pickle.UnpicklingError, match="weights_only"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
    assert capsys.readouterr().out == ""


def encoder_layer() -> TransformerEncoderLayerBase:
    """A small encoder layer with random weights."""
    config = TransformerConfig()
    config.encoder.embed_dim, config.encoder.ffn_embed_dim, config.encoder.attention_heads = 8, 16, 2
    return TransformerEncoderLayerBase(config)


def with_fast_path_copies(state: dict[str, torch.Tensor], prefix: str = "") -> dict[str, torch.Tensor]:
    """The state of an encoder layer as fairseq 0.12.2 saved it: its fast path kept copies of the layer's weights."""
    copies = {}
    for kind in ("weight", "bias"):
        projections = [state[f"{prefix}self_attn.{name}_proj.{kind}"] for name in "qkv"]
        copies[f"{prefix}in_proj_{kind}"] = torch.cat(projections)
        copies[f"{prefix}out_proj_{kind}"] = state[f"{prefix}self_attn.out_proj.{kind}"]
        for name in ("fc1", "fc2"):
            copies[f"{prefix}{name}_{kind}"] = state[f"{prefix}{name}.{kind}"]
    return {**state, **copies}


def test_layer_ignores_fast_path_copies_and_nothing_else() -> None:
    state = encoder_layer().state_dict()
    layer = encoder_layer()
    layer.load_state_dict(with_fast_path_copies(state))
    assert all(torch.equal(value, state[name]) for name, value in layer.state_dict().items())
    with pytest.raises(RuntimeError, match="Unexpected key.*unheard_of"):
        layer.load_state_dict({**state, "unheard_of": torch.zeros(1)})
    with pytest.raises(RuntimeError, match="Missing key.*fc1.weight"):
        layer.load_state_dict({name: value for name, value in state.items() if name != "fc1.weight"})


def test_checkpoint_of_0_12_2_loads(toy, tmp_path: Path) -> None:
    state = torch.load(toy.checkpoint)
    state["model"] = with_fast_path_copies(state["model"], "encoder.layers.0.")
    torch.save(state, tmp_path / "old.pt")
    overrides = {"data": str(toy.data_bin)}
    paths = [str(toy.checkpoint), str(tmp_path / "old.pt")]
    (new, old), _, _ = checkpoint_utils.load_model_ensemble_and_task(paths, overrides)
    assert new.state_dict().keys() == old.state_dict().keys()
    assert all(torch.equal(value, old.state_dict()[name]) for name, value in new.state_dict().items())


def test_fast_path_is_off() -> None:
    class WithFastPath(TransformerEncoderLayerBase):
        """As in fairseq 0.12.2, where the constructor decides."""

        can_use_fastpath = True

    config = TransformerConfig()
    config.encoder.embed_dim, config.encoder.ffn_embed_dim, config.encoder.attention_heads = 8, 16, 2
    assert WithFastPath(config).can_use_fastpath is False
    assert not hasattr(encoder_layer(), "can_use_fastpath")  # nothing is added where there is none


# ------------------------------------------------------------------------------------------------------------ lines


ODD_LINES = ["a b", "a\rb", "", "a\u2028b", "b\x0cb", "b\r", "a\x85", "", "a"]


def test_preprocess_keeps_lines_with_odd_white_space_whole(tmp_path: Path, fairseq) -> None:
    (tmp_path / "train.en").write_bytes("".join(f"{line}\n" for line in ODD_LINES).encode())
    files = ["--trainpref", tmp_path / "train", "--destdir", tmp_path / "bin"]
    fairseq("preprocess", "--only-source", "-s", "en", *files, "--workers", 2)
    data = data_utils.load_indexed_dataset(str(tmp_path / "bin" / "train.en-None.en"), dictionary=None)
    assert [len(sentence) for sentence in data] == [len(line.split()) + 1 for line in ODD_LINES]  # EOS makes the 1


@pytest.mark.parametrize("buffer_size", [1, 4, 16])
@pytest.mark.parametrize("from_stdin", [False, True])
def test_interactive_reads_the_same_lines(
    buffer_size: int, from_stdin: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text"
    path.write_bytes("\n".join(ODD_LINES).encode())  # the last line has no newline
    monkeypatch.setattr(sys, "stdin", open(path, encoding="ascii"))  # whatever the locale says, text is UTF-8
    buffers = list(compat.buffered_read("-" if from_stdin else str(path), buffer_size))
    assert [line for buffer in buffers for line in buffer] == [line.strip() for line in ODD_LINES]
    assert [len(buffer) for buffer in buffers[:-1]] == [buffer_size] * (len(buffers) - 1)


def test_a_reader_of_ones_own_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only fairseq's interactive is meant, by whatever name it runs; not a script that has a function of that name."""
    from fairseq_cli import interactive

    def theirs() -> None:
        """A reader of the script's own."""

    for file in (str(tmp_path / "script.py"), str(tmp_path / "interactive.py"), None):
        script = types.ModuleType("__main__")
        script.__file__, script.buffered_read = file, theirs  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "__main__", script)
        compat.end_lines_at_newline_only()
        assert script.buffered_read is theirs  # type: ignore[attr-defined]
    script.__file__ = interactive.__file__
    script.buffered_read = None  # type: ignore[attr-defined]
    compat.end_lines_at_newline_only()
    assert script.buffered_read is interactive.buffered_read is compat.buffered_read  # type: ignore[attr-defined]


# ---------------------------------------------------------------------------------------------- once, and no more


def test_repairing_again_changes_nothing() -> None:
    def repaired() -> list[object]:
        layer = TransformerEncoderLayerBase
        return [data_utils.batch_by_size, layer.__init__, layer._load_from_state_dict, sys.excepthook,
                len(warnings.filters), len(torch.serialization.get_safe_globals()), sys.meta_path[:]]  # fmt: skip

    compat.repair_fairseq()
    before, opener = repaired(), file_chunker_utils.open
    dcmbr_fairseq.register()
    compat.repair_fairseq()
    assert repaired() == before
    assert file_chunker_utils.open.keywords == opener.keywords and file_chunker_utils.open.func is open


#: What fairseq's commands would print on today's torch and hydra, one real text for each silenced warning.
SILENCED = [
    (
        "FutureWarning",
        "`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)`",
    ),
    ("FutureWarning", "`torch.cuda.amp.GradScaler(args...)` is deprecated."),
    (
        "UserWarning",
        "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.",
    ),
    ("UserWarning", "'pin_memory' argument is set as true but no accelerator is found"),
    ("UserWarning", "\nThe version_base parameter is not specified.\nPlease specify a compatability version level"),
    ("UserWarning", "\n'config' is validated against ConfigStore schema with the same name."),
    ("UserWarning", "hydra.experimental.initialize() is no longer experimental."),
    ("UserWarning", "In 'config': Usage of deprecated keyword in package header '# @package _group_'."),
    ("UserWarning", "\nThe strict flag in the compose API is deprecated."),
]
SHOWN = [
    ("FutureWarning", "You are using `torch.load` with `weights_only=False`"),
    ("UserWarning", "the learning rate is odd"),
    ("UserWarning", "About the message: 'pin_memory' argument is set as true"),
    ("RuntimeWarning", "'pin_memory' argument is set as true"),
    ("RuntimeWarning", "divide by zero encountered in log"),
]


def shown_warnings() -> list[tuple[str, str]]:
    """Which of ``SILENCED`` and ``SHOWN`` pass the filters in force, each warned of from here."""
    kinds = {kind.__name__: kind for kind in (FutureWarning, UserWarning, RuntimeWarning)}
    with warnings.catch_warnings(record=True) as caught:
        for category, text in SILENCED + SHOWN:
            warnings.warn(text, kinds[category], stacklevel=1)
    return [(warning.category.__name__, str(warning.message)) for warning in caught]


def test_only_the_listed_warnings_are_silenced() -> None:
    with warnings.catch_warnings():
        warnings.resetwarnings()
        assert shown_warnings() == SILENCED + SHOWN
        compat.silence_known_warnings()
        assert shown_warnings() == SHOWN


@pytest.mark.parametrize(
    "order", ["import dcmbr_fairseq; from fairseq.data import data_utils", "import fairseq.tasks, dcmbr_fairseq"]
)
def test_either_order_of_imports_repairs_and_registers(order: str) -> None:
    code = f"""{order}
import sys
from fairseq.data import data_utils
from fairseq.tasks import TASK_REGISTRY
from fairseq.criterions import CRITERION_REGISTRY
from dcmbr_fairseq.hooks.registration import _Watcher
assert hasattr(data_utils.batch_by_size, "__wrapped__")
assert "translation_dcmbr" in TASK_REGISTRY, "task"
assert "generalized_entropy_regularization" in CRITERION_REGISTRY, "criterion"
assert not any(isinstance(finder, _Watcher) for finder in sys.meta_path)
"""
    assert run([sys.executable, "-c", code]).stdout == ""
