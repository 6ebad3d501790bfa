"""What fairseq, and what it stands on, says of a mistake in its options or data; and what that means to a user.

Each saying is known by the kind of exception, the modules that it has passed through, and its text. fairseq ends with
a traceback and one of these where an option names something that is not there, or two do not go together.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from dcmbr_fairseq.numeric import LARGEST_SEED, whole_range

#: A setting of fairseq-hydra-train, whose last name is that of the flag, and its value.
_OVERRIDE = re.compile(r"\+{0,2}\w+(?:\.\w+)*\.(\w+)=(.*)", re.S)


class CommandLine:
    """A command line as it was typed: which option has which value. Hydra's ``common.seed=1`` is ``--seed 1`` here.

    Args:
        arguments: its words, without the command's name.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)

    def options(self) -> Iterable[tuple[str, str]]:
        """Each option with the value that stands with it or behind it, if it is an option with a value."""
        for word, following in zip(self.arguments, [*self.arguments[1:], ""], strict=True):
            if word.startswith("-"):
                name, equals, value = word.partition("=")
                yield name, value if equals else following
            elif override := _OVERRIDE.fullmatch(word):
                yield f"--{override[1].replace('_', '-')}", override[2]

    def value(self, *flags: str) -> str | None:
        """The value of an option that has one of these names; the last where it is given twice."""
        return next((value for name, value in reversed(list(self.options())) if name in flags), None)

    def with_flag(self, value: str) -> str:
        """``--flag VALUE`` where an option has this value, or a part between colons is; elsewhere the value alone."""
        flags = [name for name, given in self.options() if value in (given, *given.split(":"))]
        return f"{flags[0]} {value}" if flags else value


class Scene(NamedTuple):
    """Where something was said: the command line, what the saying's pattern has found, and the frames passed."""

    line: CommandLine
    found: re.Match[str]
    frames: list[FrameType]

    def local(self, function: str, name: str) -> Any:
        """The value of a local variable in the innermost call of a function, None where there is none."""
        frames = [frame for frame in self.frames if frame.f_code.co_name == function]
        return frames[-1].f_locals.get(name) if frames else None


class Saying(NamedTuple):
    """What is said, and what it means.

    Attributes:
        kind: name of the exception's class, or of one that it is derived from.
        places: modules that it has passed through.
        pattern: found in its text.
        means: gives the sentence.
    """

    kind: str
    places: set[str]
    pattern: re.Pattern[str]
    means: Callable[[Scene], str]


def _says(kind: str, places: str, pattern: str, means: str | Callable[[Scene], str]) -> Saying:
    """A saying; ``places`` are separated by spaces, and a plain sentence names groups of the pattern as {0}, {1}."""
    if isinstance(means, str):
        template = means
        return _says(kind, places, pattern, lambda scene: template.format(*scene.found.groups()))
    return Saying(kind, set(places.split()), re.compile(pattern, re.S), means)


def _flag(key: str) -> str:
    """The flag of a setting such as ``task.pools_out``."""
    name = key.rpartition(".")[2]
    return "the data folder" if name == "data" else f"--{name.replace('_', '-')}"


def _no_subset(scene: Scene) -> str:
    subset, folder = scene.found.groups()
    known = sorted({path.name.split(".")[0] for path in Path(folder).glob("*.idx")})
    has = f"it has {', '.join(known)}" if known else "it has no data"
    return f"{scene.line.with_flag(subset)}: {folder} has no such subset in these languages ({has}): choose another"


def _languages(scene: Scene) -> str:
    folder = (scene.local("setup_task", "paths") or ["the data folder"])[0]
    return f"{folder} does not tell its languages: give them with -s and -t, or give another folder"


def _not_a_file(scene: Scene) -> str:
    return f"{scene.line.with_flag(scene.found[1])} is not a file: give the path of an existing file"


def _interpolation(scene: Scene) -> str:
    return f"{_flag(scene.found[1])} holds ${{...}}, which fairseq takes for another setting's value: leave out the ${{"


def _override(scene: Scene) -> str:
    key, value = scene.found.groups()
    if value == "null":
        owner = key.partition(".")[0]
        name = f"--{owner} {scene.line.value(f'--{owner}') or ''}".strip()
        return f"{_flag(key)} is missing, which {name} needs: give it ({_flag(key)} VALUE, for languages -s and -t)"
    if "${" in value:
        return f"{_flag(key)} holds ${{, which fairseq takes for another setting's value: leave it out"
    return f"{_flag(key)} {value} is no value of this setting: see the command's --help"


def _seed(scene: Scene) -> str:
    return f"--seed must be {whole_range(0, LARGEST_SEED)}, got {scene.line.value('--seed')}"


def _no_gpu(scene: Scene) -> str:
    if "--cpu" in scene.line.arguments and "--fp16" in scene.line.arguments:
        return "--fp16 does not go with --cpu: half precision is trained on a GPU; leave out one of them"
    return f"there is no GPU that works here ({scene.found[0]}): add --cpu and leave out --fp16, or mend the driver"


def _checkpoint(scene: Scene) -> str:
    path = str(scene.local("load_checkpoint_to_cpu", "path") or scene.local("load_model_ensemble_and_task", "filename"))
    reason = re.sub(r"^\[Errno \d+\] ", "", scene.found[0].split("\n")[0])[:120]
    return f"{scene.line.with_flag(path)} cannot be read as a fairseq checkpoint ({reason}): copy it again"


def _data(scene: Scene) -> str:
    path = scene.local("load_indexed_dataset", "path") or scene.local("_do_init", "path")
    what = f"{path}.bin and .idx are" if path else "a .bin or .idx file of the data folder is"
    return f"{what} cut off or damaged: copy it again, or make it anew with fairseq-preprocess"


def _input_text(scene: Scene) -> str:
    name = scene.line.value("--input") or "-"
    source = "standard input" if name == "-" else f"--input {name}"
    return f"{source} is not UTF-8 ({scene.found[0]}): convert it with iconv, or drop such lines"


def _overrides(scene: Scene) -> str:
    given = scene.line.value("--model-overrides")
    return f"--model-overrides must be a Python dictionary such as \"{{'max_source_positions': 512}}\", got {given!r}"


def _dictionary(scene: Scene) -> str:
    path = scene.local("add_from_file", "f")
    name = path if isinstance(path, str | os.PathLike) else scene.local("load", "f") or "a dictionary"
    return f"{name} is no dictionary of fairseq ({scene.found[0].strip()}): lines are WORD COUNT; make it anew"


def _text_to_preprocess(scene: Scene) -> str:
    places = ("find_offsets", "_add_file_to_dictionary_single_worker", "binarize")
    found = filter(None, (scene.local(place, "filename") for place in places))
    path = next(found, "a text of --trainpref, --validpref or --testpref")
    return f"{path} is not UTF-8: convert it with iconv, or drop such lines"


_HYDRA = "omegaconf.base"
_BATCHES = "fairseq.data.fairseq_dataset"
SAYINGS: list[Saying] = [
    # the data folder
    _says("FileNotFoundError", "fairseq.tasks.translation", r"^Dataset not found: (\S+) \((.*)\)$", _no_subset),
    _says("Exception", "fairseq.tasks.translation", "^Could not infer language pair", _languages),
    _says("Exception", "fairseq.data.dictionary", r"^Incorrect encoding detected in (.*), please rebuild",
          "{0} is not UTF-8: make the data anew with fairseq-preprocess"),
    _says("ValueError", "fairseq.data.dictionary", r"^Incorrect dictionary format[^:]*", _dictionary),
    _says("ValueError", "fairseq.data.indexed_dataset", "buffer is smaller than requested|cannot mmap an empty", _data),
    _says("AssertionError", "fairseq.data.indexed_dataset", "Index file doesn't match expected format", _data),
    _says("ValueError", "torch._utils", r"indexed_dataset.*buffer is smaller than requested", _data),
    # lengths
    _says("AssertionError", _BATCHES, r"^Sentences lengths should not exceed max_tokens=(\d+)",
          "--max-tokens {0} is smaller than the longest sentence: raise it"),
    _says("AssertionError", _BATCHES, r"^sentence at index (\d+) of size (\d+) exceeds max_tokens limit of (\d+)",
          "--max-tokens {2} is smaller than sentence {0} of {1} tokens: raise it"),
    _says("AssertionError", "fairseq_cli.interactive", "^--batch-size cannot be larger than --buffer-size",
          "--batch-size is larger than --buffer-size: raise --buffer-size, or lower --batch-size"),
    _says("AssertionError", "fairseq_cli.generate", "^--sampling requires --nbest to be equal to --beam",
          "--sampling needs --nbest and --beam to be equal: make them so, or use --decoding sample"),
    _says("AssertionError", "fairseq_cli.interactive", "^--sampling requires --nbest to be equal to --beam",
          "--sampling needs --nbest and --beam to be equal: make them so, or use --decoding sample"),
    _says("OverflowError", _BATCHES, "Python int too large",
          "--max-tokens or --batch-size is too large a number: give less than 9223372036854775808"),
    _says("Exception", "fairseq.tasks.fairseq_task",
          r"^Size of sample #(\d+) is invalid \(=(.*?)\) since max_positions=(.*?), skip this",
          "sentence {0} is too long for the model, which takes {2} tokens: leave such sentences out with "
          "--skip-invalid-size-inputs-valid-test"),
    _says("Exception", "fairseq.data.iterators", "^The dataset is empty",
          "no sentence is left to train on: raise --max-tokens, --max-source-positions or --max-target-positions, or "
          "give data that are not empty"),
    # checkpoints
    _says("AssertionError", "fairseq_cli.generate", "^--path required for generation!",
          "--path is missing: give the checkpoint to decode with"),
    _says("OSError", "fairseq.checkpoint_utils", r"^Model file not found: (.*)$", _not_a_file),
    _says("Exception", "fairseq.checkpoint_utils torch.serialization", ".*", _checkpoint),
    _says("AssertionError", "fairseq.trainer", r"^(Criterion|Optimizer) does not match; please reset the optimizer \("
          r"--reset-optimizer\)\. (\w+) vs (\w+)",
          "the checkpoint to go on from was trained with {1}, now {2}: give another --save-dir, or --reset-optimizer"),
    _says("Exception", "fairseq.trainer", r"^Cannot load model parameters from checkpoint (.*?); please ensure",
          "{0} is a checkpoint of another architecture: give another --save-dir, or the options it was trained with"),
    _says("AttributeError", "fairseq.checkpoint_utils fairseq_cli.validate", "'NoneType' object has no attribute",
          "--path is missing: give the checkpoint to validate"),
    # preprocessing
    _says("AssertionError", "fairseq_cli.preprocess", r"^(--\w+) must be set if (.*)$",
          "{0} is missing, which is needed where {1}: give it"),
    _says("AssertionError", "fairseq_cli.preprocess", "^cannot use both (.*) and (.*) with (.*)$",
          "{0} and {1} do not go together with {2}: leave one of them out"),
    _says("FileExistsError", "fairseq_cli.preprocess", "^(.*)$",
          "{0} exists already: give another --destdir, or this file as --srcdict or --tgtdict"),
    _says("ValueError", "fairseq.file_chunker_utils", "^negative seek position", _text_to_preprocess),
    _says("UnicodeDecodeError", "fairseq.file_chunker_utils", ".*", _text_to_preprocess),
    # options
    _says("InterpolationKeyError", _HYDRA, r"full_key: (\S+)", _interpolation),
    _says("UnsupportedInterpolationType", _HYDRA, r"full_key: (\S+)", _interpolation),
    _says("GrammarParseError", "omegaconf.grammar_parser", r"full_key: (\S+)", _interpolation),
    _says("ConfigCompositionException", "hydra._internal.config_loader_impl",
          r"^Error merging override (\S+?)=(.*)$", _override),
    _says("MissingMandatoryValue", "fairseq.registry", r"full_key: (\S+)",
          lambda scene: f"{_flag(scene.found[1])} is missing: give {_flag(scene.found[1])} VALUE"),
    _says("ValueError", "numpy.random._mt19937", r"Seed must be between 0 and 2\*\*32 - 1", _seed),
    _says("OSError", "fairseq.file_utils", r"^file (.*) not found$", _not_a_file),
    _says("RuntimeError", "fairseq.data.encoders.sentencepiece_bpe", r"could not parse ModelProto from (.*)$",
          lambda scene: f"{scene.line.with_flag(scene.found[1])} is no sentencepiece model: give the .model file"),
    _says("Exception", "ast fairseq_cli.generate", ".*", _overrides),
    _says("Exception", "ast fairseq_cli.interactive", ".*", _overrides),
    _says("AssertionError", "torch.cuda", "Torch not compiled with CUDA enabled", _no_gpu),
    _says("RuntimeError", "torch.cuda", "Found no NVIDIA driver on your system", _no_gpu),
    _says("AssertionError", "fairseq.modules.multihead_attention", "embed_dim must be divisible by num_heads",
          "--encoder-attention-heads and --decoder-attention-heads must divide the embedding dimensions: change one"),
    _says("ValueError", "fairseq.models.transformer.transformer_legacy", "^--share-all-embeddings requires(.*)$",
          "--share-all-embeddings needs{0}: preprocess with --joined-dictionary, or leave it out"),
    _says("UnicodeDecodeError", "fairseq_cli.interactive", ".*", _input_text),
]  # fmt: skip
