"""Decoding options: what follows from the flags. What is refused is in test_bad_input.py."""

import dataclasses
from argparse import ArgumentParser
from typing import Any

import pytest
from fairseq.dataclass.configs import FairseqConfig
from fairseq.dataclass.utils import gen_parser_from_dataclass

from dcmbr_fairseq.decoding.options import DecodingConfig, DecodingOptions, decoding_options
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.pools.settings import OWN, SETTINGS, Setting
from dcmbr_fairseq.sampling.truncation import Truncation


def test_the_tasks_have_a_field_for_every_declaration() -> None:
    fields = {entry.name: entry for entry in dataclasses.fields(DecodingConfig) if entry.name != "_name"}
    assert list(fields) == [setting.name for setting in OWN]
    for setting in OWN:
        entry = fields[setting.name]
        assert entry.default == setting.default and entry.metadata["help"] == setting.help


def test_fairseq_s_parser_takes_the_declared_types_and_choices() -> None:
    parser = ArgumentParser()
    gen_parser_from_dataclass(parser, DecodingConfig())
    actions = {action.dest: action for action in parser._actions}
    for setting in OWN:
        action = actions[setting.name]
        assert action.type is setting.kind and tuple(action.choices or ()) == setting.choices
        assert action.default == setting.default


@pytest.mark.parametrize("setting", OWN, ids=lambda setting: setting.name)
def test_every_default_passes_its_own_check(setting: Setting) -> None:
    setting.value(setting.default)


def test_records_say_every_setting_that_decisions_depend_on() -> None:
    recorded = [setting.name for setting in SETTINGS.values() if setting.recorded]
    assert list(made(decoding="dcmbr").describe()) == recorded
    assert {setting.name for setting in SETTINGS.values()} - set(recorded) == {"pools_out", "max_rows"}


def made(*, top_k: int = -1, top_p: float = -1.0, automatic: float = 0.25, **values: Any) -> DecodingOptions:
    defaults = {entry.name: entry.default for entry in dataclasses.fields(DecodingConfig)}
    return decoding_options({**defaults, **values}, top_k, top_p, lambda: automatic)


@pytest.mark.parametrize("decoding, temperature", [("dcmbr", 0.5), ("mbr", 1.0), ("sample", 1.0)])
def test_defaults_are_the_paper_s(decoding: str, temperature: float) -> None:
    options = made(decoding=decoding)
    assert options.specs == [PoolSpec(50, temperature, 0)]  # one pool plays both parts
    assert (options.utility, options.utility_args, options.selection) == ("chrf", {}, "exact")
    assert options.truncation == Truncation()
    settings = options.describe()
    assert (settings["temp_hyp"], settings["temp_ref"]) == (temperature, temperature)
    assert (settings["num_hyp"], settings["num_ref"], settings["ref_pool"]) == (50, 50, "shared")


@pytest.mark.parametrize(
    "values, specs",
    [
        ({"num_hyp": 10}, [PoolSpec(10, 0.5, 0)]),
        ({"num_ref": 10}, [PoolSpec(50, 0.5, 0), PoolSpec(10, 0.5, 1)]),
        ({"temp_ref": "1"}, [PoolSpec(50, 0.5, 0), PoolSpec(50, 1.0, 1)]),
        ({"ref_pool": "separate"}, [PoolSpec(50, 0.5, 0), PoolSpec(50, 0.5, 1)]),
        ({"ref_pool": "shared", "temp_hyp": "0.3", "temp_ref": "0.30"}, [PoolSpec(50, 0.3, 0)]),
        ({"temp_hyp": "auto", "temp_ref": 0.7}, [PoolSpec(50, 0.25, 0), PoolSpec(50, 0.7, 1)]),
        ({"temp_hyp": "auto", "temp_ref": "auto"}, [PoolSpec(50, 0.25, 0)]),
    ],
)
def test_pools_follow_from_temperatures_and_sizes(values: Any, specs: Any) -> None:
    options = made(decoding="dcmbr", **values)
    assert options.specs == specs
    assert options.describe()["ref_pool"] == ("shared" if len(specs) == 1 else "separate")


def test_json_arguments_are_text_or_mappings() -> None:
    by_text = made(decoding="dcmbr", utility_args='{"beta": 1}', selection="prune", selection_args='{"alpha": 0.9}')
    by_mapping = made(decoding="dcmbr", utility_args={"beta": 1}, selection="prune", selection_args={"alpha": 0.9})
    assert by_text == by_mapping and by_text.utility_args == {"beta": 1} and by_text.selection_args == {"alpha": 0.9}


def test_fairseq_s_own_truncation_flags_are_followed() -> None:
    assert made(decoding="dcmbr", top_k=5).describe()["sampling_topk"] == 5
    assert made(decoding="dcmbr", top_p=0.9).truncation == Truncation(top_p=0.9)
    assert made(decoding="dcmbr", sampling_epsilon=0.02).truncation == Truncation(epsilon=0.02)


@pytest.mark.parametrize("off", [{"top_k": 0}, {"top_p": 0.0}, {"top_k": -1, "top_p": -1.0}, {"sampling_epsilon": 0.0}])
def test_truncation_is_off_at_zero_and_at_fairseq_s_default(off: Any) -> None:
    options = made(decoding="dcmbr", **off)
    assert options.truncation == Truncation()
    assert options.describe() == made(decoding="dcmbr").describe()
    assert made(decoding="dcmbr", **{**off, "sampling_epsilon": 0.1}).truncation == Truncation(epsilon=0.1)


def test_draws_are_evenly_spread_unless_asked_for() -> None:
    assert made(decoding="dcmbr").draws == made(decoding="dcmbr").describe()["draws"] == "arithmetic"
    assert made(decoding="dcmbr", draws="independent").describe()["draws"] == "independent"
    with pytest.raises(UserError, match="--draws must be independent or arithmetic, got sobol"):
        made(decoding="dcmbr", draws="sobol")


def test_no_field_has_the_name_of_one_of_fairseq_s() -> None:
    """fairseq would let a task's field of the same name win silently."""
    own = {entry.name for entry in dataclasses.fields(DecodingConfig)} - {"_name"}
    taken = set()
    for section in dataclasses.fields(FairseqConfig):
        kind = section.type if dataclasses.is_dataclass(section.type) else type(section.default)
        if dataclasses.is_dataclass(kind):
            taken |= {entry.name for entry in dataclasses.fields(kind)}
    assert len(taken) > 150 and not own & taken
