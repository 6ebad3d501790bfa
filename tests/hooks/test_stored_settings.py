"""A checkpoint's settings run no code: literals against Python's own eval, every eval of fairseq, every way to load."""

import argparse
import ast
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fairseq
import pytest
import torch
from fairseq import checkpoint_utils, utils
from fairseq.models import fconv
from fairseq.models.fconv import FConvModel
from fairseq_commands import run
from hypothesis import given
from hypothesis import strategies as st
from toy_model import toy_dictionary
from toy_world import Toy

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.hooks.literals import LONGEST, MOST_VALUES, NotALiteral, literal
from dcmbr_fairseq.hooks.stored_settings import EVALUATING

FAIRSEQ = Path(fairseq.__path__[0])

# --------------------------------------------------------------------------------------------------------- literals

NUMBERS = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_what_python_writes_is_read_as_it_was(value: Any) -> None:
    assert literal(repr(value)) == value and type(literal(repr(value))) is type(value)


EXPRESSIONS = st.recursive(
    st.sampled_from(["1", "0", "-2", "3", "2.5", "True", "'ab'", "[1]", "[(512, 3)]", "()", "[]"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("*+"), inner)
        | st.builds("[{}, {}]".format, inner, inner)
        | st.builds("-{}".format, inner)
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_products_and_sums_are_those_of_python(text: str) -> None:
    try:
        expected = eval(text)
    except TypeError:
        with pytest.raises(NotALiteral):
            literal(text)
        return
    assert literal(text) == expected


@pytest.mark.parametrize(
    "text", ["[(512, 3)] * 20", "[(512, 3)] * 9 + [(1024, 3)] * 4 + [(2048, 1)] * 2", " 2,4", "(0.9, 0.98)", "True",
             "[(512,10,5)] + [(512,3,2)]*4 + [(512,2,2)] + [(512,2,2)]", "5", "1e-8", "None", "\t[1]\n"],
)  # fmt: skip
def test_what_fairseq_means_is_read(text: str) -> None:
    assert literal(text) == eval(text.strip())


CODE = [
    "__import__('os').system('touch /tmp/x')", "print(1)", "().__class__", "[x for x in (1, 2)]", "lambda: 0", "a",
    "[1][0]", "1 if 1 else 2", "(1).real", "f'{1}'", "{1, 2}", "2 ** 9", "9 ** 9 ** 9", "7 // 2", "1 - 1", "1 < 2",
    "not 1", "~1", "*[1],", "(x := 1)", "b'ab'", "1j", "...", "{**{}}", "1; 2", "x = 1", "import os", "", "  ", "[",
    "exec('1')", "\0", "\ud800", "'a' + 1", "[1] * 'a'", "[1] * 2.0", "(1, 2) + [3]", "-'a'", "- [1]", "{[]: 1}",
    "1" * 5000, "(" * 3000, "-" * 5000 + "1", "[" * 5000 + "]" * 5000, "1+" * 4000 + "1",
]  # fmt: skip


@pytest.mark.parametrize("text", CODE, ids=lambda text: repr(text[:30]))
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(NotALiteral, match="is no plain value: only lists, tuples, "):
        literal(text)


@pytest.mark.parametrize(
    "text", ["[0] * 99999", "'a' * 99999", "[[0] * 200] * 200", "99999 * (1,)", "[0] * 9000 + [0] * 9000",
             "[[[[[0] * 10] * 10] * 10] * 10] * 10", "[0] * 10000000000000", "'a' * 1000 * 1000 * 1000"],
)  # fmt: skip
def test_large_values_are_refused_before_they_are_made(text: str) -> None:
    with pytest.raises(NotALiteral, match=f"makes more than {MOST_VALUES} values"):
        literal(text)


def test_long_texts_are_refused_unread() -> None:
    with pytest.raises(NotALiteral, match=f"^'aaa.*aaa...' is longer than {LONGEST} characters"):
        literal("a" * (LONGEST + 1))


@given(st.text(alphabet="[](){},:.*+-0123456789eE'\" \nTrueFalsNn_x", max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = literal(text)
    except NotALiteral:
        return
    assert value == eval(text.strip()) or isinstance(value, float) and math.isnan(value)


@pytest.mark.parametrize("value", [None, True, 3, b"1", [1], compile("1", "", "eval")])
def test_what_is_no_text_is_no_business_of_eval(value: object) -> None:
    with pytest.raises(TypeError):
        literal(value)


# ----------------------------------------------------------------------------------------------- fairseq's own evals


def evaluated(source: str) -> Iterator[str]:
    """What a module's source gives to ``eval`` and ``exec``: the setting's name, or the expression."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
            (argument,) = node.args
            yield argument.attr if isinstance(argument, ast.Attribute) else ast.unparse(argument)


def modules_with_eval() -> dict[str, set[str]]:
    """Every module of the installed fairseq, but its examples, with what it evaluates."""
    found = {}
    for path in sorted(FAIRSEQ.rglob("*.py")):
        parts = path.relative_to(FAIRSEQ.parent).with_suffix("").parts
        names = set(evaluated(path.read_text("utf-8"))) if parts[1] != "examples" else set()
        if names:
            found[".".join(parts).removesuffix(".__init__")] = names
    return found


def test_every_eval_of_fairseq_is_known_and_replaced() -> None:
    assert modules_with_eval() == {name: set(what) for name, what in EVALUATING.items()}
    for name in EVALUATING:
        assert sys.modules[name].eval is literal  # type: ignore[attr-defined]


def test_nothing_is_evaluated_under_another_name() -> None:
    """``eval`` handed on as a value, or reached through ``builtins``, would pass by what we replace."""
    for path in sorted(FAIRSEQ.rglob("*.py")):
        if path.relative_to(FAIRSEQ).parts[0] == "examples":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.Attribute) and node.attr in ("__builtins__", "builtins")), path
            if isinstance(node, ast.Name) and node.id in ("eval", "exec", "builtins", "__builtins__"):
                assert node.id == "eval" and id(node) in called, f"{path}, line {node.lineno}"


def test_examples_and_commands_that_evaluate_are_not_reached() -> None:
    """fairseq's examples come with --user-dir alone; two of its commands evaluate --model-overrides of the user."""
    loaded = "import sys, fairseq, dcmbr_fairseq; print(*sys.modules)"  # in a process of its own: tests load examples
    names = run([sys.executable, "-c", loaded]).stdout.split()
    assert "dcmbr_fairseq.tasks" in names
    assert not [name for name in names if name.startswith(("fairseq.examples", "examples."))]
    commands = {
        path.stem: set(evaluated(path.read_text("utf-8"))) for path in (FAIRSEQ.parent / "fairseq_cli").glob("*.py")
    }
    assert {name: what for name, what in commands.items() if what} == {
        "eval_lm": {"model_overrides"}, "validate": {"getattr(override_args, 'model_overrides', '{}')"}
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------- every way to load


@pytest.fixture
def hostile(toy: Toy, tmp_path: Path) -> Any:
    """``hostile(name, value)`` is the toy model with a setting changed in its checkpoint."""

    def change(name: str, value: object, section: str = "model") -> Path:
        state = torch.load(toy.checkpoint)
        place = state["cfg"][section]
        vars(place).update({name: value}) if isinstance(place, argparse.Namespace) else place.update({name: value})
        torch.save(state, tmp_path / "hostile.pt")
        return tmp_path / "hostile.pt"

    return change


def attack(folder: Path) -> str:
    """Python that leaves a trace."""
    return f"open({str(folder / 'trace')!r}, 'w') and None"


@pytest.mark.parametrize("name", ["adaptive_softmax_cutoff", "xformers_att_config"])
def test_a_setting_that_is_code_is_refused_with_its_name(toy: Toy, tmp_path: Path, hostile: Any, name: str) -> None:
    path = hostile(name, attack(tmp_path))
    with pytest.raises(UserError, match=rf"hostile.pt has the setting {name}, which fairseq would run .*do not trust"):
        checkpoint_utils.load_model_ensemble_and_task([str(path)], {"data": str(toy.data_bin)})
    assert not (tmp_path / "trace").exists()


def test_an_override_that_is_code_is_refused(toy: Toy, tmp_path: Path) -> None:
    overrides = {"data": str(toy.data_bin), "adaptive_softmax_cutoff": attack(tmp_path)}
    with pytest.raises(UserError, match="check --model-overrides"):
        checkpoint_utils.load_model_ensemble([str(toy.checkpoint)], overrides)
    assert not (tmp_path / "trace").exists()


def test_the_hub_refuses_too(toy: Toy, tmp_path: Path, hostile: Any) -> None:
    from fairseq.models.transformer import TransformerModel

    path = hostile("adaptive_softmax_cutoff", attack(tmp_path))
    with pytest.raises(UserError, match="has the setting adaptive_softmax_cutoff"):
        TransformerModel.from_pretrained(str(path.parent), path.name, str(toy.data_bin))
    assert not (tmp_path / "trace").exists()


def test_an_analysis_refuses_too(toy: Toy, tmp_path: Path, hostile: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = hostile("adaptive_softmax_cutoff", attack(tmp_path))
    data = [str(toy.data_bin), "--gen-subset", "valid", "--cpu"]
    assert main(["entropy", *data, "--path", str(path)]) == 1
    assert "has the setting adaptive_softmax_cutoff, which fairseq would run" in capsys.readouterr().err
    assert not (tmp_path / "trace").exists()


def test_a_user_dir_in_a_checkpoint_is_not_imported(toy: Toy, tmp_path: Path, hostile: Any) -> None:
    (tmp_path / "hostile_plugin").mkdir()
    (tmp_path / "hostile_plugin" / "__init__.py").write_text(attack(tmp_path))
    path = hostile("user_dir", str(tmp_path / "hostile_plugin"), "common")
    checkpoint_utils.load_model_ensemble_and_task([str(path)], {"data": str(toy.data_bin)})
    assert not (tmp_path / "trace").exists() and "hostile_plugin" not in sys.modules


@pytest.mark.parametrize("name", EVALUATING["fairseq.models.fconv"])
def test_layers_of_convolutional_models(tmp_path: Path, name: str) -> None:
    args = argparse.Namespace(
        encoder_layers="[(16, 3)] * 2", decoder_layers="[(16, 3)] * 2", decoder_attention="True", encoder_embed_dim=16,
        decoder_embed_dim=16,
    )  # fmt: skip
    fconv.base_architecture(args)
    args.max_source_positions = args.max_target_positions = 64
    task = argparse.Namespace(source_dictionary=toy_dictionary(4), target_dictionary=toy_dictionary(4))
    assert len(FConvModel.build_model(args, task).decoder.convolutions) == 2
    setattr(args, name, attack(tmp_path))
    with pytest.raises(NotALiteral):
        FConvModel.build_model(args, task)
    assert not (tmp_path / "trace").exists()


def test_strings_and_values_mean_what_they_meant() -> None:
    assert utils.eval_str_list("[(1, 2)] * 2", type=tuple) == [(1, 2), (1, 2)]
    assert utils.eval_str_list("5000,20000", type=int) == [5000, 20000] and utils.eval_str_list(3) == [3.0]
    assert utils.eval_str_dict("{'a': 1}") == {"a": 1} and utils.eval_str_dict({"a": 1}) == {"a": 1}
    assert utils.eval_bool("True") is True and utils.eval_bool(None, default=True) is True
    assert utils.eval_bool(True) is False  # as ever: eval takes no truth value, and the default is False
