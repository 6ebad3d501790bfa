"""A training config (YAML, as fairseq-hydra-train reads it) as flags of ``fairseq-train``.

One config then serves both commands. scripts/train.sh uses this; it works from the folder above ``configs``, because
the configs name their common parts relative to it.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dcmbr_fairseq.errors import UserError

#: sections that choose an implementation by ``_name``, and the flag that does the same
CHOICES = {
    "model": "--arch",
    "task": "--task",
    "criterion": "--criterion",
    "optimizer": "--optimizer",
    "lr_scheduler": "--lr-scheduler",
    "scoring": "--scoring",
    "tokenizer": "--tokenizer",
    "bpe": "--bpe",
}


def compose(path: str, overrides: Sequence[str]) -> Mapping[str, Any]:
    """Read a config with its common parts and apply overrides.

    Args:
        path: a YAML file; ``.yaml`` may be left out.
        overrides: ``key=value`` as hydra takes them. Keys that the config does not set may be given too.
    Returns:
        sections as nested dictionaries: what the config and the overrides set, without fairseq's own defaults.
    Raises:
        UserError: no such file, a bad override, or a mandatory value (``???``) that no override gives.
    """
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    file = Path(path if path.endswith(".yaml") else f"{path}.yaml").resolve()
    if not file.is_file():
        raise UserError(f"{path} is not a config: give the path of a YAML file such as configs/wmt20/en-de.yaml")
    try:
        # 1.1, as fairseq itself: a newer one would stay set and make fairseq's own use of hydra fail in this process.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r'\s*version_base="1\.1" selects Hydra 1\.1')  # on purpose
            context = initialize_config_dir(config_dir=str(file.parent), version_base="1.1")
        with context:
            config = hydra_compose(file.stem, [permissive(override) for override in overrides])
        missing = sorted(OmegaConf.missing_keys(config))
        if missing:
            raise UserError(f"{path} leaves {', '.join(missing)} open: give for instance {missing[0]}=VALUE")
        return OmegaConf.to_container(config, resolve=True)  # type: ignore[return-value]
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(f"{path} with overrides {list(overrides)}: {' '.join(str(error).split())}") from error


def permissive(override: str) -> str:
    """An override of ``section.key`` that also works where the config does not set the key (hydra's ``++``)."""
    key = override.partition("=")[0]
    return f"++{override}" if "." in key and override[0] not in "+~" else override


def to_flags(config: Mapping[str, Any]) -> list[str]:
    """The words after ``fairseq-train``: the data folder, then flags in the config's order.

    Raises:
        UserError: a value that no flag can express.
    """
    data = config.get("task", {}).get("data")
    flags = [] if data is None else [str(data)]
    for section, values in config.items():
        if not isinstance(values, Mapping):
            raise UserError(f"the config's {section} is not a section of keys and values, got {values!r}")
        flags += section_flags(section, {key: value for key, value in values.items() if key != "data"})
    return flags


def section_flags(section: str, values: Mapping[str, Any]) -> Iterator[str]:
    """The flags of one section. ``true`` gives a flag without a value; ``false`` and ``null`` leave it out."""
    for key, value in values.items():
        flag = CHOICES[section] if key == "_name" and section in CHOICES else "--" + key.replace("_", "-")
        if value is None or value is False:
            continue
        yield flag
        if value is not True:
            yield word(f"{section}.{key}", value)


def word(key: str, value: Any) -> str:
    """A value as fairseq's parsers read it: lists joined by commas."""
    if isinstance(value, Mapping):
        raise UserError(f"{key} is nested: fairseq-train has no flag for it, use fairseq-hydra-train")
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
