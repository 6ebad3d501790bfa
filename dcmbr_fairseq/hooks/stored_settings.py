"""What fairseq would run as Python: strings of a checkpoint's settings. Here they are read as literals, or refused.

Torch's ``weights_only`` keeps a checkpoint from running code while it is read, but not from what fairseq makes of it.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from omegaconf import OmegaConf

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.hooks.compat import replace_once
from dcmbr_fairseq.hooks.literals import NotALiteral, literal

#: Modules of fairseq that give strings to ``eval``, and what these are: settings of a model, which come from a
#: checkpoint; of an optimiser, a criterion or a data set, which come from the command line or a file of data; and the
#: arguments of ``eval_str_list``, ``eval_str_dict`` and ``eval_bool``, which read adaptive_softmax_cutoff,
#: xformers_att_config and more for all models.
EVALUATING: dict[str, tuple[str, ...]] = {
    "fairseq.utils": ("x",),
    "fairseq.models.fconv": ("encoder_layers", "decoder_layers", "decoder_attention"),
    "fairseq.models.fconv_lm": ("decoder_layers", "decoder_attention"),
    "fairseq.models.fconv_self_att": (
        "encoder_layers", "encoder_attention", "decoder_layers", "decoder_attention", "self_attention", "project_input",
        "gated_attention", "downsample", "pretrained",
    ),
    "fairseq.models.hubert.hubert": ("conv_feature_layers",),
    "fairseq.models.lightconv_lm": ("character_filters",),
    "fairseq.models.multires_hubert.multires_hubert": ("conv_feature_layers", "override_encoder_layers"),
    "fairseq.models.speech_to_text.s2t_wav_transformer": ("conv_feature_layers",),
    "fairseq.models.transformer_lm": ("character_filters",),
    "fairseq.models.wav2vec.wav2vec": ("conv_feature_layers", "conv_aggregator_layers"),
    "fairseq.models.wav2vec.wav2vec2": ("conv_feature_layers",),
    "fairseq.criterions.ctc": ("wer_args",),
    "fairseq.data.audio.raw_audio_dataset": ("feature_encoder_spec",),
    "fairseq.data.codedataset": ("line.strip()",),
    "fairseq.optim.adafactor": ("adafactor_eps",),
    "fairseq.optim.adam": ("adam_betas",),
    "fairseq.optim.adamax": ("adamax_betas",),
    "fairseq.optim.cpu_adam": ("adam_betas",),
    "fairseq.optim.fused_lamb": ("lamb_betas",),
}  # fmt: skip


def evaluate_no_code() -> None:
    """Let fairseq read as literals what it gives to ``eval``. Calling this again changes nothing.

    All these modules come with ``import fairseq``; a module's own ``eval`` stands before the built-in one.
    """
    for name in EVALUATING:
        module: Any = sys.modules.get(name)
        if module is not None:
            module.eval = literal
    replace_once(checkpoint_utils, "load_model_ensemble_and_task", _naming_what_is_refused)


def _naming_what_is_refused(original: Callable) -> Callable:
    def load(filenames: Iterable[str], *args: Any, **kwargs: Any) -> Any:
        try:
            return original(filenames, *args, **kwargs)
        except NotALiteral as error:
            raise UserError(_refusal(filenames, error)) from error

    return load


def _refusal(paths: Iterable[str], error: NotALiteral) -> str:
    """The sentence about a setting that is no literal, with its name and its checkpoint, unless it is an override."""
    for path in filter(Path.is_file, map(Path, paths)):
        cfg = checkpoint_utils.load_checkpoint_to_cpu(str(path))["cfg"]
        for name, value in _settings(OmegaConf.to_container(cfg)):
            if value == error.text:
                return f"{path} has the setting {name}, which fairseq would run as Python: {error}; do not trust it"
    return f"a setting of {', '.join(map(str, paths))} would be run as Python: {error}; check --model-overrides"


def _settings(section: Any) -> Iterator[tuple[str, Any]]:
    """The settings of a section and of those in it, by name."""
    for name, value in section.items():
        value = vars(value) if hasattr(value, "__dict__") else value
        if isinstance(value, Mapping):
            yield from _settings(value)
        else:
            yield str(name), value
