"""Each of fairseq's generation options is followed, refused, or set by fairseq itself: none is ignored in silence."""

from argparse import Namespace
from typing import Any

import pytest
from fairseq.dataclass.configs import GenerationConfig
from omegaconf import OmegaConf

from dcmbr_fairseq.decoding.generation_options import (
    FOLLOWED,
    GENERATION,
    REMEDIES,
    WITHOUT_EFFECT,
    refuse_meaningless,
    refuse_undecided,
    refuse_unknown,
    refuse_without_sampling,
)
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.settings import DECIDES, OWN, REFERENCES, SETTINGS

#: A value of each option that is not its default.
OTHER: dict[str, Any] = {
    "replace_unk": "@@ ", "constraints": "ordered", "print_alignment": "hard", "lm_path": "lm.pt", "eos_token": "<s>",
    "retain_dropout_modules": ["encoder"], "decoding_format": "vote", "beam": 9,
}  # fmt: skip


def other(name: str) -> Any:
    """A value that is not the default."""
    default = GENERATION[name]
    if name in OTHER:
        return OTHER[name]
    return (not default) if isinstance(default, bool) else default + 1


def test_every_option_of_fairseq_is_classified() -> None:
    classes = [FOLLOWED, WITHOUT_EFFECT, frozenset(REMEDIES), {"beam"}]
    assert set().union(*classes) == set(GENERATION)
    assert sum(map(len, classes)) == len(GENERATION), "an option is in two classes"


@pytest.mark.parametrize("name", sorted(GENERATION))
@pytest.mark.parametrize("kind", [lambda **given: Namespace(**given), lambda **given: OmegaConf.create(given)])
def test_an_option_is_followed_or_refused(name: str, kind: Any) -> None:
    args = kind(**{name: other(name)})
    if name in FOLLOWED | WITHOUT_EFFECT:
        refuse_meaningless(args, "dcmbr")
    else:
        with pytest.raises(UserError, match=f"^--{name.replace('_', '-')} .* has no meaning with --decoding dcmbr: "):
            refuse_meaningless(args, "dcmbr")


def test_fairseq_s_defaults_pass() -> None:
    refuse_meaningless(GenerationConfig(), "mbr")
    refuse_meaningless(OmegaConf.structured(GenerationConfig), "mbr")
    refuse_meaningless(Namespace(), "sample")


def test_a_zero_is_a_value() -> None:
    with pytest.raises(UserError, match="--lenpen 0"):
        refuse_meaningless(Namespace(lenpen=0), "dcmbr")


def test_an_option_that_fairseq_may_add_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setitem(GENERATION, "new_search", False)
    with pytest.raises(UserError, match="--new-search True has no meaning with --decoding mbr: it belongs to"):
        refuse_meaningless(Namespace(new_search=True), "mbr")


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "one"])
def test_seeds_that_numpy_does_not_take_are_refused(seed: Any) -> None:
    with pytest.raises(UserError, match="^--seed must be "):
        refuse_meaningless(Namespace(seed=seed), "mbr")


def test_unknown_names_are_refused_with_the_nearest() -> None:
    everything = {**GENERATION, **{setting.name: setting.default for setting in OWN}, "seed": 3}
    refuse_unknown(Namespace(**everything), "translate")
    refuse_unknown(OmegaConf.structured(GenerationConfig), "translate")
    with pytest.raises(UserError, match=r"^--eval-bleu-args has no argument num_hyps: did you mean num_hyp\?$"):
        refuse_unknown(Namespace(num_hyps=3), "--eval-bleu-args")
    with pytest.raises(UserError, match=r"^translate has no argument lenpenn: did you mean lenpen\?$"):
        refuse_unknown(OmegaConf.create({"lenpenn": 3}), "translate")


def test_our_options_are_refused_where_beam_search_decodes() -> None:
    refuse_without_sampling(Namespace(decoding="beam", num_hyp=50))
    with pytest.raises(UserError, match="--num-hyp 5 has no meaning with --decoding beam"):
        refuse_without_sampling(Namespace(num_hyp=5))
    refuse_without_sampling(Namespace(num_hyp=5), names=["lenpen"])


@pytest.mark.parametrize("name", [setting.name for setting in OWN if setting.name not in ("decoding", "pools_out")])
def test_what_sampling_alone_would_ignore_is_refused(name: str) -> None:
    """Every option of ours has a meaning with ``--decoding sample``, with or without ``--pools-out``, or is refused."""
    given = Namespace(**{name: "another"})
    refuse_undecided(Namespace(**{name: SETTINGS[name].default}), keeps_pools=False)
    refuse_undecided(given, keeps_pools=False, names=["temp_hyp"])
    flag = f"^--{name.replace('_', '-')} another has no meaning with --decoding sample"
    if name in (*DECIDES, *REFERENCES):
        with pytest.raises(UserError, match=flag):
            refuse_undecided(given, keeps_pools=False)
    else:
        assert name in {"temp_hyp", "num_hyp", "draws", "sampling_epsilon", "max_rows"}
        refuse_undecided(given, keeps_pools=False)
    if name in DECIDES:
        with pytest.raises(UserError, match=flag):
            refuse_undecided(given, keeps_pools=True)
    else:
        refuse_undecided(given, keeps_pools=True)
