"""What a user can get wrong: each is one sentence that names flag, value and remedy, found as early as can be."""

import argparse
import copy
import io
import json
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import programs
import pytest
import torch
from fairseq import options as fairseq_options
from fairseq import tasks as fairseq_tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_commands import PACKAGE, generated, run
from in_process import Fairseq
from omegaconf import DictConfig
from toy_world import Toy

from dcmbr_fairseq import cli
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.hooks import compat
from dcmbr_fairseq.pools.rows import read_records

Refused = Callable[..., str]


class CommandLine(NamedTuple):
    """How fairseq-generate reads its flags."""

    parser: argparse.ArgumentParser
    default: DictConfig

    def configuration(self, *flags: object) -> DictConfig:
        """fairseq's configuration with the values of ``flags``, as convert_namespace_to_omegaconf gives it."""
        cfg, args = copy.deepcopy(self.default), self.parser.parse_args(list(map(str, flags)))
        for section in (cfg.task, cfg.generation, cfg.common_eval):
            for name in section:
                if name in args:
                    section[name] = getattr(args, name)
        return cfg


@pytest.fixture
def fairseq_here(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Fairseq:
    return Fairseq(monkeypatch, capsys)


def options(toy: Toy, decoding: str, *others: object) -> list[object]:
    task = ["--path", toy.checkpoint, "--task", "translation_dcmbr", "--decoding", decoding]
    return [toy.data_bin, *task, *others]


@pytest.fixture
def refused(fairseq_here: Fairseq, toy: Toy) -> Refused:
    """``refused("--num-hyp", 0, decoding="dcmbr")`` is the sentence that fairseq-generate ends with."""

    def run(*others: object, decoding: str = "dcmbr") -> str:
        with pytest.raises(UserError) as caught:
            fairseq_here.generate(*options(toy, decoding, *others))
        message = str(caught.value)
        assert "\n" not in message
        return message

    return run


@pytest.fixture(scope="module")
def command_line(toy: Toy) -> CommandLine:
    """fairseq-generate's parser and its configuration for the toy, made once: each costs hydra a second."""
    parser = fairseq_options.get_generation_parser()
    line = [*map(str, options(toy, "dcmbr")), "--user-dir", str(PACKAGE)]
    args = fairseq_options.parse_args_and_arch(parser, line)
    return CommandLine(parser, convert_namespace_to_omegaconf(args))


@pytest.fixture
def refused_at_once(command_line: CommandLine, toy: Toy) -> Refused:
    """As ``refused``, but goes as far as the task's set-up only: no model can have been loaded, no data read."""

    def run(*others: object, decoding: str = "dcmbr") -> str:
        cfg = command_line.configuration(*options(toy, decoding, *others))
        with pytest.raises(UserError) as caught:
            fairseq_tasks.setup_task(cfg.task)
        message = str(caught.value)
        assert "\n" not in message
        return message

    return run


NUMBER = "must be a number above 0 such as 0.5, or auto, got"
POSITIVE = "must be > 0 and finite, got"
UNFIT = "has no meaning with --decoding"


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--temp-hyp", 0], f"--temp-hyp {POSITIVE} 0: the paper uses 0.5"),
        (["--temp-ref", "0.0"], f"--temp-ref {POSITIVE} 0.0: the paper uses 0.5"),
        (["--temp-hyp=-1"], f"--temp-hyp {POSITIVE} -1: the paper uses 0.5"),
        (["--temp-ref", "nan"], f"--temp-ref {POSITIVE} nan: the paper uses 0.5"),
        (["--temp-hyp", "inf"], f"--temp-hyp {POSITIVE} inf: the paper uses 0.5"),
        (["--temp-hyp", "hot"], f"--temp-hyp {NUMBER} hot"),
        (["--temp-hyp", ""], f"--temp-hyp {NUMBER} "),
        (["--temp-hyp", "1e-40"], "--temp-hyp 1e-40 is too small to compute with: 1e-6 gives greedy search already"),
        (["--num-hyp", 0], "--num-hyp must be a whole number from 1 to 1000000, got 0"),
        (["--num-ref", 0], "--num-ref must be a whole number from 1 to 1000000, got 0"),
        (["--num-hyp=-3"], "--num-hyp must be a whole number from 1 to 1000000, got -3"),
        (["--num-hyp", "99999999999999999999"], "--num-hyp must be a whole number from 1 to 1000000, got 99"),
        (["--num-ref", 1_000_001], "--num-ref must be a whole number from 1 to 1000000, got 1000001"),
        (["--no-early-stop"], f"--no-early-stop True {UNFIT} dcmbr: it is a kind of beam search"),
        (["--diverse-beam-strength", 1], f"--diverse-beam-strength 1.0 {UNFIT} dcmbr: it is a kind of beam search"),
        (["--lm-weight", 0.5], f"--lm-weight 0.5 {UNFIT} dcmbr: fusion with a language model"),
        (["--eos-token", "x"], f"--eos-token x {UNFIT} dcmbr: a sampled translation ends with"),
        (["--print-step"], f"--print-step True {UNFIT} dcmbr: it belongs to models that refine"),
        (["--retain-iter-history"], f"--retain-iter-history True {UNFIT} dcmbr: it belongs to models that refine"),
        (["--max-rows", 0], "--max-rows must be a whole number from 1 to 10000000, got 0"),
        (["--nbest", 0], "--nbest must be a whole number from 1 to 1000000, got 0"),
        (["--ref-pool", "shared", "--num-ref", 9],
         "--ref-pool shared needs equal temperatures and sizes, got T_h 0.5, T_r 0.5, N_h 50, N_r 9: make them equal, "
         "or use --ref-pool separate"),
        (["--ref-pool", "shared", "--temp-ref", 1], "--ref-pool shared needs equal temperatures and sizes, got T_h"),
        (["--utility", "chfr"],
         "--utility chfr is unknown: did you mean chrf? choose one of bleu, chrf, chrf++, ter, meteor, beer, bleurt, "
         "comet, xcomet, metricx, bertscore, mean, or give your own as module:Class"),
        (["--utility", "chrf:"], "--utility chrf: is unknown: did you mean chrf? choose one of bleu, chrf, chrf++"),
        (["--utility", ".chrf:Class"], "--utility .chrf:Class is unknown: choose one of"),
        (["--utility", "no_such_module:Mine"],
         "--utility no_such_module:Mine cannot be imported (No module named 'no_such_module'): check the module path"),
        (["--utility", "json:Mine"], "--utility json:Mine cannot be imported (module 'json' has no attribute 'Mine')"),
        (["--utility", "json:loads"], "--utility json:loads is not a subclass of dcmbr_fairseq.utilities.Utility"),
        (["--utility", "dcmbr_fairseq.utilities.base:Utility"], "lacks pairwise and signature"),
        (["--utility-args", "{beta: 1}"],
         "--utility-args must be a JSON object such as '{\"beta\": 2}', got '{beta: 1}' (Expecting property name"),
        (["--utility-args", "[1]"], "--utility-args must be a JSON object such as '{\"beta\": 2}', got '[1]'"),
        (["--utility-args", '{"gamma": 1}'],
         '--utility-args {"gamma": 1} do not fit --utility chrf: got an unexpected keyword argument \'gamma\''),
        (["--selection", "best"], "--selection best is unknown: choose one of exact, prune, coarse"),
        (["--selection-args", "alpha"], "--selection-args must be a JSON object such as"),
        (["--selection-args", '{"alpha": 1}'], '--selection-args {"alpha": 1} do not fit --selection exact'),
        (["--sampling-topk", 5, "--sampling-topp", 0.9],
         "--sampling-topk and --sampling-topp cannot be combined: give only one of them"),
        (["--sampling-topk", 5, "--sampling-epsilon", 0.02], "--sampling-topk and --sampling-epsilon cannot be"),
        (["--sampling-topp", 0.9, "--sampling-epsilon", 0.02], "--sampling-topp and --sampling-epsilon cannot be"),
        (["--sampling-topk=-5"], "--sampling-topk must be a whole number from 0 to 10000000, got -5"),
        (["--sampling-topp", 1.5], "--sampling-topp must be in (0, 1], got 1.5: a probability mass (0: off)"),
        (["--sampling-topp=-0.5"], "--sampling-topp must be in (0, 1], got -0.5"),
        (["--sampling-topp", "nan"], "--sampling-topp must be in (0, 1], got nan"),
        (["--sampling-epsilon", 1], "--sampling-epsilon must be in [0, 1), got 1.0: a token probability"),
        (["--sampling-epsilon=-0.1"], "--sampling-epsilon must be in [0, 1), got -0.1"),
        (["--sampling-epsilon", "nan"], "--sampling-epsilon must be in [0, 1), got nan"),
        (["--constraints"], f"--constraints ordered {UNFIT} dcmbr: it is a kind of beam search"),
        (["--sampling"], f"--sampling True {UNFIT} dcmbr: leave it out"),
        (["--temperature", 0.5], f"--temperature 0.5 {UNFIT} dcmbr: use --temp-hyp and --temp-ref"),
        (["--lenpen", 0.6], f"--lenpen 0.6 {UNFIT} dcmbr: the expected utility is not divided by a length"),
        (["--unnormalized"], f"--unnormalized True {UNFIT} dcmbr"),
        (["--match-source-len"], f"--match-source-len True {UNFIT} dcmbr: use --max-len-a and --max-len-b"),
        (["--no-repeat-ngram-size", 3], f"--no-repeat-ngram-size 3 {UNFIT} dcmbr: it is a constraint on beam search"),
        (["--lm-path", "lm.pt"], f"--lm-path lm.pt {UNFIT} dcmbr: fusion with a language model"),
        (["--print-alignment"], f"--print-alignment hard {UNFIT} dcmbr: sampled hypotheses carry no attention"),
        (["--replace-unk"], f"--replace-unk @@  {UNFIT} dcmbr: it needs the attention of beam search"),
        (["--diverse-beam-groups", 2], f"--diverse-beam-groups 2 {UNFIT} dcmbr: it is a kind of beam search"),
        (["--diversity-rate", 0.5], f"--diversity-rate 0.5 {UNFIT} dcmbr: it is a kind of beam search"),
        (["--beam", 9], f"--beam 9 {UNFIT} dcmbr: the pool's size is --num-hyp"),
        (["--retain-dropout"], f"--retain-dropout True {UNFIT} dcmbr: draws would depend on the batch"),
        (["--min-len", 9, "--max-len-b", 8], "--min-len 9 exceeds --max-len-b 8, with --max-len-a 0: lower it"),
        (["--score-reference", "--pools-out", "x"], "--pools-out x has no meaning with --score-reference: leave one"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)  # fmt: skip
def test_options_are_refused_before_the_model_is_loaded(
    refused_at_once: Refused, flags: list[object], message: str
) -> None:
    assert message in refused_at_once(*flags)


@pytest.mark.parametrize(
    "decoding, flags, message",
    [
        ("mbr", ["--temp-hyp", 0.5], "--temp-hyp 0.5 does not go with --decoding mbr, which samples at 1: use dcmbr"),
        ("mbr", ["--lenpen", 2], f"--lenpen 2.0 {UNFIT} mbr"),
        ("sample", ["--utility", "nix"], f"--utility nix {UNFIT} sample, which compares nothing: use --decoding mbr"),
        ("sample", ["--num-ref", 9], f"--num-ref 9 {UNFIT} sample, which draws no references without --pools-out"),
        ("sample", ["--constraints", "unordered"], f"--constraints unordered {UNFIT} sample"),
        ("beam", ["--temp-hyp", 0.5], f"--temp-hyp 0.5 {UNFIT} beam: add --decoding dcmbr, or leave it out"),
        ("beam", ["--utility", "bleu"], f"--utility bleu {UNFIT} beam: add --decoding dcmbr, or leave it out"),
        ("beam", ["--pools-out", "p.jsonl"], f"--pools-out p.jsonl {UNFIT} beam: add --decoding dcmbr"),
    ],
)
def test_what_another_decoding_would_ignore_is_refused(
    refused_at_once: Refused, decoding: str, flags: list[object], message: str
) -> None:
    assert message in refused_at_once(*flags, decoding=decoding)


def test_an_output_that_exists_or_cannot_be_made_is_refused_before_the_model_is_loaded(
    refused_at_once: Refused, fairseq_here: Fairseq, toy: Toy, tmp_path: Path
) -> None:
    path = tmp_path / "pools.jsonl"
    path.write_text("precious\n")
    assert refused_at_once("--pools-out", path) == f"--pools-out {path} exists already: delete it, or give another name"
    with pytest.raises(UserError, match="exists already"):
        fairseq_here.interactive("the dog .\n", *options(toy, "dcmbr", "--pools-out", path))
    below = path / "pools.jsonl"
    assert refused_at_once("--pools-out", below).startswith(f"--pools-out {below} cannot be written: ")
    assert path.read_text() == "precious\n" and os.listdir(tmp_path) == ["pools.jsonl"]


# ----------------------------------------------------------------------------------- checkpoints and dictionaries


class Anything:
    """An object that no checkpoint of fairseq holds."""


def bad_checkpoints(toy: Toy) -> dict[str, bytes]:
    whole = toy.checkpoint.read_bytes()
    return {
        "text": b"a checkpoint\n",
        "empty": b"",
        "pickle": pickle.dumps({"model": {"a": 1}}, protocol=2),
        "cut off": whole[: len(whole) // 2],
        "cut off early": whole[:100],
    }


def test_files_that_are_no_checkpoint_are_refused(refused_at_once: Refused, toy: Toy, tmp_path: Path) -> None:
    refused = refused_at_once
    path = tmp_path / "model.pt"
    assert refused("--path", path) == f"--path {path} is not a file: give the path of a fairseq checkpoint"
    for name, content in bad_checkpoints(toy).items():
        path.write_bytes(content)
        message = refused("--path", path)
        assert message.startswith(f"--path {path} cannot be read as a fairseq checkpoint ("), name
        assert message.endswith("give a checkpoint_*.pt, or copy it again"), name
    both = f"{toy.checkpoint}:{path}"
    assert f"--path {path} cannot be read" in refused("--path", both)
    assert f"--path {tmp_path} is not a file" in refused("--path", tmp_path, decoding="beam")


@pytest.mark.parametrize(
    "content, message",
    [
        ([1, 2], "is not a fairseq checkpoint (it holds no model): give a checkpoint_*.pt"),
        ({"weights": {}}, "is not a fairseq checkpoint (it holds no model): give a checkpoint_*.pt"),
        ({"model": {}}, "is not a fairseq checkpoint (it holds no settings): give a checkpoint_*.pt"),
        ({"model": {}, "args": Anything()}, "holds objects of test_bad_input.Anything, which are not loaded because"),
    ],
)
def test_torch_files_of_something_else_are_refused(
    refused_at_once: Refused, tmp_path: Path, content: Any, message: str
) -> None:
    torch.save(content, tmp_path / "model.pt")
    assert f"--path {tmp_path / 'model.pt'} {message}" in refused_at_once("--path", tmp_path / "model.pt")


@pytest.mark.parametrize("language, side", [("en", "source"), ("de", "target")])
@pytest.mark.parametrize("decoding", ["beam", "dcmbr"])
def test_a_dictionary_that_does_not_match_is_refused(
    command_line: CommandLine, toy: Toy, tmp_path: Path, language: str, side: str, decoding: str
) -> None:
    folder = tmp_path / "data-bin"
    shutil.copytree(toy.data_bin, folder)
    with open(folder / f"dict.{language}.txt", "a", encoding="utf-8") as dictionary:
        dictionary.write("further 1\nwords 1\n")
    _, *others = options(toy, decoding)
    with pytest.raises(UserError) as caught:
        fairseq_tasks.setup_task(command_line.configuration(folder, *others).task)
    rows = torch.load(toy.checkpoint)["model"][f"{'en' if side == 'source' else 'de'}coder.embed_tokens.weight"].size(0)
    assert str(caught.value).startswith(
        f"--path {toy.checkpoint} has {rows} {side} embeddings but the {side} dictionary has "
    )
    assert str(caught.value).endswith("give the data folder with the dict.*.txt files that the model was trained with")


def test_auto_temperature_needs_a_checkpoint_that_says_how_it_was_smoothed(
    refused_at_once: Refused, toy: Toy, tmp_path: Path
) -> None:
    state = torch.load(toy.checkpoint)
    state["cfg"]["criterion"] = None
    torch.save(state, tmp_path / "model.pt")
    message = refused_at_once("--path", tmp_path / "model.pt", "--temp-ref", "auto", "--temp-hyp", 1)
    assert message.startswith(f"--temp-ref auto: {tmp_path / 'model.pt'} does not say by what label smoothing")
    assert "give a number instead of auto" in message


@pytest.mark.parametrize("decoding", ["beam", "dcmbr"])
def test_data_and_seeds_that_cannot_be_are_refused_whatever_decodes(
    command_line: CommandLine, toy: Toy, decoding: str
) -> None:
    whole = options(toy, decoding)
    for line, message in (
        (["nix", *whole[1:]], "nix is not a folder: give the one that fairseq-preprocess has written"),
        ([*whole, "-s", "fr", "-t", "de"], f"-s fr: {toy.data_bin} has no dict.fr.txt (its dictionaries are of de and"),
    ):
        with pytest.raises(UserError) as caught:
            fairseq_tasks.setup_task(command_line.configuration(*line).task)
        assert str(caught.value).startswith(message)
    cfg = command_line.configuration(*whole)
    cfg.common.seed = -1
    with pytest.raises(UserError, match="--seed must be a whole number from 0 to 4294967295, got -1"):
        fairseq_tasks.setup_task(cfg.task)


def test_a_missing_subset_is_named_with_those_that_are_there(command_line: CommandLine, toy: Toy) -> None:
    task = fairseq_tasks.setup_task(command_line.configuration(*options(toy, "beam")).task)
    with pytest.raises(UserError, match="has no subset nix of en-de: it has test of en-de, train of en-de"):
        task.load_dataset("nix")


def test_pieces_are_put_together_once(command_line: CommandLine, toy: Toy) -> None:
    cfg = command_line.configuration(*options(toy, "dcmbr", "--remove-bpe"))
    cfg.bpe = {"_name": "subword_nmt", "bpe_codes": "codes"}
    with pytest.raises(UserError, match="--bpe subword_nmt and --post-process subword_nmt .* twice: leave out"):
        fairseq_tasks.setup_task(cfg.task)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"eval_bleu_args": "{beam: 4}"}, "--eval-bleu-args must be a JSON object such as"),
        ({"eval_bleu_detok_args": "[]"}, "--eval-bleu-detok-args must be a JSON object such as"),
    ],
)
def test_arguments_of_validation_are_read_before_anything_is_loaded(
    command_line: CommandLine, toy: Toy, given: dict[str, str], message: str
) -> None:
    cfg = command_line.configuration(*options(toy, "beam"))
    cfg.task.update({"eval_bleu": True, **given})
    with pytest.raises(UserError, match=message):
        fairseq_tasks.setup_task(cfg.task)


@pytest.mark.parametrize(
    "asked, message",
    [
        ('{"bem": 4}', "--eval-bleu-args has no argument bem: did you mean beam"),
        ('{"num_hyp": 4}', "--num-hyp 4 has no meaning with --decoding beam"),
        ('{"decoding": "dcmbr", "lenpen": 2}', "--lenpen 2 has no meaning with --decoding dcmbr"),
    ],
)
def test_arguments_of_validation_are_followed_or_refused(
    command_line: CommandLine, toy: Toy, asked: str, message: str
) -> None:
    cfg = command_line.configuration(*options(toy, "beam"))
    cfg.common_eval.path = None  # as in training
    cfg.task.update({"eval_bleu": True, "eval_bleu_args": asked})
    task = fairseq_tasks.setup_task(cfg.task)
    state = torch.load(toy.checkpoint)
    with pytest.raises(UserError, match=message):
        task.build_model(state["cfg"]["model"])


def test_a_direction_that_the_model_was_not_trained_in_is_warned_of(
    command_line: CommandLine, toy: Toy, tmp_path: Path, caplog: Any
) -> None:
    shutil.copytree(toy.data_bin, tmp_path / "bin")
    for language in ("en", "de"):  # one dictionary for both languages: the sizes agree
        shutil.copy(toy.data_bin / "dict.en.txt", tmp_path / "bin" / f"dict.{language}.txt")
    state = torch.load(toy.checkpoint)
    rows = state["model"]["encoder.embed_tokens.weight"]
    state["model"]["decoder.embed_tokens.weight"] = rows
    state["cfg"]["task"].update({"source_lang": "en", "target_lang": "de"})  # as by -s and -t in training
    torch.save(state, tmp_path / "model.pt")
    line = [tmp_path / "bin", *options(toy, "dcmbr")[1:], "--path", tmp_path / "model.pt"]
    fairseq_tasks.setup_task(command_line.configuration(*line, "-s", "en", "-t", "de").task)
    assert "was trained from" not in caplog.text
    fairseq_tasks.setup_task(command_line.configuration(*line, "-s", "de", "-t", "en").task)
    assert "was trained from en to de, and is asked to translate from de to en: give -s en -t de" in caplog.text


def test_a_line_of_interactive_that_is_not_utf_8_is_named(toy: Toy, fairseq_here: Fairseq, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"the dog .\nder K\xf6ter .\n")
    for name, message in (
        ("input", f"line 2 of --input {tmp_path / 'input'} is not UTF-8: convert it with iconv"),
        ("nix", f"--input {tmp_path / 'nix'} is not a file: give the path of an existing file"),
        ("", f"--input {tmp_path} is not a file but a folder"),
    ):
        with pytest.raises(UserError, match=message):
            fairseq_here.interactive("", *options(toy, "beam"), "--input", tmp_path / name)
    fairseq_here.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(UserError, match="line 1 of standard input is not UTF-8"):
        list(compat.buffered_read("-", 1))


# -------------------------------------------------------------------------------------------- found at the first batch


def test_a_least_length_that_no_translation_can_have_is_refused(refused: Refused) -> None:
    message = refused("--max-len-a", 0.1, "--max-len-b", 3, "--min-len", 2000)
    assert message == "--min-len 2000 exceeds the 1023 tokens that the model can write: lower it"


def test_the_hub_refuses_as_the_commands_do(toy: Toy) -> None:
    from fairseq.models.transformer import TransformerModel

    task = {"_name": "translation_dcmbr", "data": str(toy.data_bin)}
    model = TransformerModel.from_pretrained(str(toy.folder), "model.pt", task=task)
    for arguments, message in (
        ({"temp_hyp": 0}, "--temp-hyp must be > 0 and finite, got 0"),
        ({"temp_hyp": [0.5]}, r"--temp-hyp must be a number above 0 such as 0.5, or auto, got \[0.5\]"),
        ({"num_hyp": 2.5}, "--num-hyp must be a whole number from 1 to 1000000, got 2.5"),
        ({"num_hyp": "many"}, "--num-hyp must be a whole number from 1 to 1000000, got 'many'"),
        ({"utility": "chfr"}, "--utility chfr is unknown: did you mean chrf?"),
        ({"ref_pool": "both"}, "--ref-pool must be auto, shared or separate, got both"),
        ({"reference_weights": "even"}, "--reference-weights must be counts or model, got even"),
        ({"num_hyps": 3}, r"translate or generate has no argument num_hyps: did you mean num_hyp\?"),
        ({"decoding": "beam", "num_hyp": 3}, "--num-hyp 3 has no meaning with --decoding beam: add --decoding dcmbr"),
        ({"decoding": "beam", "lenpenn": 3}, r"translate or generate has no argument lenpenn: did you mean lenpen\?"),
        ({"seed": -1}, "--seed must be a whole number from 0 to 4294967295, got -1"),
        ({"num_hyp": 10**30}, "--num-hyp must be a whole number from 1 to 1000000, got 10"),
        ({"decoding": "best"}, "--decoding must be beam, sample, mbr or dcmbr, got best"),
        ({"prefix_allowed_tokens_fn": len}, "prefix_allowed_tokens_fn has no meaning with --decoding dcmbr: use beam"),
    ):
        with pytest.raises(UserError, match=message):
            model.translate("the dog .", **{"decoding": "dcmbr", **arguments})
    constraint = [[torch.tensor([5])]]
    with pytest.raises(UserError, match="--constraints cannot be used with sampled pools: use --decoding beam"):
        model.generate([model.encode("the dog .")], decoding="dcmbr", inference_step_args={"constraints": constraint})


# ---------------------------------------------------------------------------------------------- a user's own utility

OWN_UTILITY = """
import numpy as np
from dcmbr_fairseq.utilities import Utility

class Longest(Utility):
    def __init__(self, *, value=None, cut=False):
        self.value, self.cut = value, cut
    def pairwise(self, hypotheses, references, source=None):
        matrix = np.array([[float(self.value or len(h)) for _ in references] for h in hypotheses])
        return matrix[:-1] if self.cut else matrix
    def signature(self):
        return "longest"
"""


@pytest.fixture
def own_utility(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a utility in the current folder."""
    name = f"own_utility_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN_UTILITY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [part for part in sys.path if part not in ("", os.getcwd())])
    return f"{name}:Longest"


def test_a_users_own_utility_is_found_in_the_current_folder(
    fairseq_here: Fairseq, toy: Toy, tmp_path: Path, own_utility: str
) -> None:
    path = tmp_path / "pools.jsonl"
    run = options(toy, "dcmbr", "--utility", own_utility, "--num-hyp", 8, "--pools-out", path, "--temp-hyp", 2)
    out = dict(generated(fairseq_here.generate(*run)))
    for record in read_records(path):
        assert len(out[int(record.id)]) == max(map(len, record.pools.hypotheses.texts))
        assert record.fields["signature"] == "longest|draws:arithmetic"


def test_a_utility_that_gives_no_numbers_is_refused(refused: Refused, own_utility: str, tmp_path: Path) -> None:
    arguments = ["--utility", own_utility, "--utility-args", '{"value": NaN}', "--num-hyp", 8]
    message = refused(*arguments, "--pools-out", tmp_path / "pools.jsonl")
    assert message.startswith("--utility gave nan for the hypothesis '")
    assert message.endswith("(longest): it must give finite numbers; mend it, or choose another")
    assert not (tmp_path / "pools.jsonl").exists()


POOL = {"hypotheses": ["a", "b", "a", "c d"], "references": ["a", "c d e"]}


@pytest.mark.parametrize("selection", ["exact", "prune", "coarse"])
@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_select_refuses_a_utility_that_gives_no_numbers(
    own_utility: str, tmp_path: Path, capsys: Any, selection: str, value: str
) -> None:
    (tmp_path / "pools.jsonl").write_text(json.dumps(POOL) + "\n")
    arguments = ["--utility", own_utility, "--utility-args", f'{{"value": {value}}}', "--selection", selection]
    assert cli.main(["select", "pools.jsonl", *arguments, "--output", "out.txt"]) == 1
    assert f"error: --utility gave {value[:3].lower()} for the hypothesis '" in capsys.readouterr().err
    assert not (tmp_path / "out.txt").exists()


def test_a_utility_that_gives_the_wrong_shape_is_refused(own_utility: str, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "pools.jsonl").write_text(json.dumps(POOL) + "\n")
    assert cli.main(["select", "pools.jsonl", "--utility", own_utility, "--utility-args", '{"cut": true}']) == 1
    assert (
        "error: --utility gave a matrix of shape (2, 2) for 3 hypotheses and 2 references: its pairwise method must "
        "give (3, 2)\n"
    ) in capsys.readouterr().err


def test_a_fault_inside_a_users_utility_is_shown_as_it_is(
    fairseq_here: Fairseq, toy: Toy, tmp_path: Path, own_utility: str
) -> None:
    module = tmp_path / f"{own_utility.partition(':')[0]}.py"
    module.write_text(OWN_UTILITY.replace("self.value, self.cut =", "len(5); self.value, self.cut ="))
    with pytest.raises(TypeError, match="object of type 'int' has no len"):  # not "arguments do not fit"
        fairseq_here.generate(*options(toy, "dcmbr", "--utility", own_utility))


# ------------------------------------------------------------------------------- the process and its files as a whole


def command(*arguments: object, python: str | None = None) -> list[str]:
    """A command line that installs as ``fairseq-generate``; the package need not be installed."""
    script = "import sys; from fairseq_cli.generate import cli_main; sys.exit(cli_main())"
    return [python or programs.python(), "-c", script, *map(str, arguments), "--cpu", "--user-dir", str(PACKAGE)]


SLOW_UTILITY = """
import pathlib, time
from dcmbr_fairseq.utilities.chrf import ChrfUtility

class Slow(ChrfUtility):
    def pairwise_batch(self, batch):
        pathlib.Path("started").touch()
        time.sleep(60)
        return super().pairwise_batch(batch)
"""


def test_ctrl_c_leaves_nothing(toy: Toy, tmp_path: Path) -> None:
    (tmp_path / "slow_utility.py").write_text(SLOW_UTILITY)
    slow = ("--utility", "slow_utility:Slow", "--pools-out", "pools.jsonl")
    line = command(*options(toy, "dcmbr", *slow), python=sys.executable)
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(line, cwd=tmp_path, stdout=log, stderr=log)
        deadline = time.monotonic() + 300
        while not (tmp_path / "started").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        partial = [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) != 0
    text = (tmp_path / "log").read_text()
    assert len(partial) == 1, text
    assert sorted(set(os.listdir(tmp_path)) - {"__pycache__"}) == ["log", "slow_utility.py", "started"]
    assert "--pools-out pools.jsonl was not written: " in text


def test_a_full_disk_is_one_sentence_and_leaves_nothing(toy: Toy, tmp_path: Path) -> None:
    def small_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    path = tmp_path / "pools.jsonl"
    line = command(*options(toy, "dcmbr", "--temp-hyp", 3, "--temp-ref", 3, "--num-hyp", 40, "--pools-out", path))
    done = subprocess.run(line, capture_output=True, text=True, preexec_fn=small_disk, timeout=300)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    errors = [text for text in done.stderr.split("\n") if "error" in text]
    assert errors == [
        f"dcmbr_fairseq: error: the disk is full: --pools-out {path} could not be written (File too large) and nothing "
        "was kept under that name; free some space, or write elsewhere"
    ]
    assert os.listdir(tmp_path) == []


def test_bad_input_ends_the_command_with_one_sentence(toy: Toy) -> None:
    line = command(*options(toy, "dcmbr", "--temp-ref", 0))
    done = run(line, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.endswith("dcmbr_fairseq: error: --temp-ref must be > 0 and finite, got 0: the paper uses 0.5\n")
    assert not generated(done.stdout)
