"""The task in fairseq's own commands: generate, interactive, hub, validation; options honoured or refused."""

import gc
import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.models.transformer import TransformerModel
from fairseq_commands import generated
from in_process import Fairseq, rows, translations
from sacrebleu.metrics import CHRF
from toy_world import Toy

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.record_writer import RecordWriter
from dcmbr_fairseq.pools.rows import read_records
from dcmbr_fairseq.preflight.auto_temperature import automatic_temperature
from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler


@pytest.fixture
def fairseq_here(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Fairseq:
    return Fairseq(monkeypatch, capsys)


def options(toy: Toy, decoding: str = "dcmbr", *others: object) -> list[object]:
    task = ["--path", toy.checkpoint, "--task", "translation_dcmbr", "--decoding", decoding]
    task += [] if decoding == "beam" else ["--num-hyp", 12]
    return [toy.data_bin, *task, "--seed", 5, *others]


def test_beam_is_byte_identical_to_the_translation_task(fairseq_here: Fairseq, toy: Toy) -> None:
    for extra in ([], ["--nbest", 3, "--beam", 4, "--lenpen", 0.6], ["--score-reference"], ["--prefix-size", 2]):
        ours = fairseq_here.generate(*options(toy, "beam"), "--batch-size", 5, *extra)
        theirs = fairseq_here.generate(
            toy.data_bin, "--path", toy.checkpoint, "--task", "translation", "--batch-size", 5, *extra
        )
        assert rows(ours) == rows(theirs)
        assert len(generated(ours, "S")) == 23


@pytest.mark.parametrize("decoding", ["sample", "mbr", "dcmbr"])
def test_same_output_whatever_the_batch_the_shard_and_the_command(
    fairseq_here: Fairseq, toy: Toy, decoding: str
) -> None:
    whole = dict(generated(fairseq_here.generate(*options(toy, decoding), "--batch-size", 23)))
    assert sorted(whole) == list(range(23))
    for size in (1, 5):
        assert dict(generated(fairseq_here.generate(*options(toy, decoding), "--batch-size", size))) == whole
    shards: dict[int, str] = {}
    for shard in (0, 1):
        found = dict(
            generated(
                fairseq_here.generate(
                    *options(toy, decoding), "--batch-size", 4, "--distributed-world-size", 2,
                    "--distributed-rank", shard, "--distributed-no-spawn",
                )
            )
        )  # fmt: skip
        assert not set(found) & set(shards)
        shards.update(found)
    assert shards == whole
    text = "".join(f"{line}\n" for line in toy.lines("en"))
    for buffer in (1, 16):
        out = fairseq_here.interactive(text, *options(toy, decoding), "--buffer-size", buffer, "--batch-size", buffer)
        assert translations(out) == [whole[i] for i in range(23)]


def hub(toy: Toy, **settings: Any) -> Any:
    task = {"_name": "translation_dcmbr", "data": str(toy.data_bin)}
    return TransformerModel.from_pretrained(str(toy.folder), "model.pt", task=task, **settings)


def test_hub_gives_the_same_translations(fairseq_here: Fairseq, toy: Toy) -> None:
    expected = dict(generated(fairseq_here.generate(*options(toy), "--batch-size", 8)))
    model = hub(toy)
    lines = toy.lines("en")
    assert model.translate(lines, decoding="dcmbr", num_hyp=12, seed=5) == [expected[i] for i in range(23)]
    assert model.translate(lines[0], decoding="dcmbr", num_hyp=12, seed=5) == expected[0]
    hypotheses = model.generate(
        model.encode(lines[0]), decoding="dcmbr", num_hyp=12, temp_hyp=1.0, temp_ref=1, seed=5, nbest=3
    )
    scores = [float(hypothesis["score"]) for hypothesis in hypotheses]
    assert len(scores) == 3 and scores == sorted(scores, reverse=True)


def test_hub_detokenises_for_the_utility(toy: Toy, tmp_path: Path) -> None:
    model = hub(toy, tokenizer="moses", source_lang="en", target_lang="de")
    path = tmp_path / "pools.jsonl"
    (translation,) = model.translate(toy.lines("en")[:1], decoding="dcmbr", num_hyp=5, pools_out=str(path))
    model.task._recording.writer.finish()
    (record,) = read_records(path)
    assert translation.endswith(".") and not translation.endswith(" .")
    assert record.fields["translation"] == translation
    assert all(not text.endswith(" .") for text in record.pools.hypotheses.texts)


def test_validation_with_eval_bleu_uses_beam_unless_asked(
    fairseq_here: Fairseq, toy: Toy, tmp_path: Path, monkeypatch
) -> None:
    from dcmbr_fairseq.decoding.generator import MBRSequenceGenerator

    used: list[Any] = []
    original = MBRSequenceGenerator._generate
    monkeypatch.setattr(
        MBRSequenceGenerator, "_generate", lambda self, *a, **k: used.append(self) or original(self, *a, **k)
    )
    train = [
        toy.data_bin, "--task", "translation_dcmbr", "--arch", "transformer", "--optimizer", "adam", "--eval-bleu",
        "--encoder-embed-dim", 32, "--decoder-embed-dim", 32, "--encoder-ffn-embed-dim", 64, "--encoder-layers", 1,
        "--decoder-ffn-embed-dim", 64, "--decoder-layers", 1, "--encoder-attention-heads", 2, "--max-update", 1,
        "--decoder-attention-heads", 2, "--restore-file", toy.checkpoint, "--reset-optimizer", "--reset-dataloader",
        "--reset-meters", "--max-tokens", 400, "--lr", 1e-9, "--num-workers", 0, "--no-save",
        "--save-dir", tmp_path, "--decoding", "dcmbr", "--eval-bleu-detok", "moses",
    ]  # fmt: skip
    fairseq_here.train(*train)
    assert not used
    asked = json.dumps({"decoding": "dcmbr", "num_hyp": 6})
    fairseq_here.train(*train, "--eval-bleu-args", asked)
    assert {generator.options.hypotheses.size for generator in used} == {6}


def test_score_lines_show_the_expected_utility_and_positions_the_model(
    fairseq_here: Fairseq, toy: Toy, tmp_path: Path
) -> None:
    path = tmp_path / "pools.jsonl"
    out = fairseq_here.generate(*options(toy), "--batch-size", 8, "--nbest", 3, "--pools-out", path)
    metric = CHRF()
    printed: dict[int, list[list[str]]] = {}
    for line in rows(out, "D"):
        number, score, text = line.split("\t")
        printed.setdefault(int(number[2:]), []).append([score, text])
    (model,), _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(toy.checkpoint)], arg_overrides={"data": str(toy.data_bin)}
    )
    positions = [list(map(float, scores.split())) for _, scores in generated(out, "P")]
    assert all(max(scores) <= 0 for scores in positions)
    records = list(read_records(path))
    assert [record.id for record in records] == list(range(23))
    for record in records:
        draws = [record.pools.hypotheses.texts[draw] for draw in record.pools.hypotheses.draws]
        assert len(draws) == 12
        for score, text in printed[int(record.id)]:
            plain_mean = np.mean([metric.sentence_score(text, [draw]).score for draw in draws])
            assert float(score) == pytest.approx(plain_mean, abs=1e-5)
        assert record.fields["translation"] == printed[int(record.id)][0][1]
        assert len({text for _, text in printed[int(record.id)]}) == len(printed[int(record.id)])
    source = toy.lines("en")[records[0].id]
    assert records[0].pools.source == source
    # the first P- line is the model's own log2-probability of the first H- line's tokens
    number, _, tokens = rows(out, "H")[0].split("\t")
    target = task.target_dictionary.encode_line(tokens, add_if_not_exist=False).long()[None]
    src = task.source_dictionary.encode_line(toy.lines("en")[int(number[2:])], add_if_not_exist=False).long()[None]
    previous = torch.cat([target[:, -1:], target[:, :-1]], dim=1)
    logs = model.eval().get_normalized_probs(model(src, torch.tensor([src.size(1)]), previous), log_probs=True)[0]
    expected = logs[torch.arange(target.size(1)), target[0]] / math.log(2)
    np.testing.assert_allclose(positions[0], expected.detach(), atol=1e-3)


def test_nbest_of_sample_are_the_first_draws(fairseq_here: Fairseq, toy: Toy, tmp_path: Path) -> None:
    path = tmp_path / "pools.jsonl"
    out = fairseq_here.generate(*options(toy, "sample"), "--nbest", 4, "--pools-out", path)
    texts: dict[int, list[str]] = {}
    for number, text in generated(out):
        texts.setdefault(number, []).append(text)
    for record in read_records(path):
        draws = [record.pools.hypotheses.texts[draw] for draw in record.pools.hypotheses.draws]
        assert texts[int(record.id)] == draws[:4]


def pools_of(fairseq_here: Fairseq, toy: Toy, path: Path, decoding: str, *others: object) -> list[Any]:
    fairseq_here.generate(*options(toy, decoding, "--pools-out", path, *others), "--batch-size", 8)
    return list(read_records(path))


def test_ensembles_differ_from_their_members(fairseq_here: Fairseq, toy: Toy, tmp_path: Path) -> None:
    both = pools_of(fairseq_here, toy, tmp_path / "both", "mbr", "--path", f"{toy.checkpoint}:{toy.other}")
    one = pools_of(fairseq_here, toy, tmp_path / "one", "mbr")
    assert any(a.pools.hypotheses.texts != b.pools.hypotheses.texts for a, b in zip(both, one, strict=True))


def test_prefix_size_forces_the_references_first_tokens(fairseq_here: Fairseq, toy: Toy, tmp_path: Path) -> None:
    for record in pools_of(fairseq_here, toy, tmp_path / "pools", "mbr", "--prefix-size", 2):
        prefix = toy.lines("de")[int(record.id)].split()[:2]
        assert all(text.split()[:2] == prefix for text in record.pools.hypotheses.texts)


def test_length_and_unknown_word_options_are_followed(fairseq_here: Fairseq, toy: Toy, tmp_path: Path) -> None:
    hot = ["--temp-hyp", 3, "--temp-ref", 3]
    free = pools_of(fairseq_here, toy, tmp_path / "free", "dcmbr", *hot)
    assert any("<unk>" in text for record in free for text in record.pools.hypotheses.texts)
    banned = pools_of(fairseq_here, toy, tmp_path / "banned", "dcmbr", *hot, "--unkpen", 1000)
    assert not any("<unk>" in text for record in banned for text in record.pools.hypotheses.texts)
    short = pools_of(fairseq_here, toy, tmp_path / "short", "dcmbr", *hot, "--max-len-a", 0.5, "--max-len-b", 1)
    for record in short:
        limit = int(0.5 * (len(toy.lines("en")[int(record.id)].split()) + 1) + 1)
        assert max(len(text.split()) for text in record.pools.hypotheses.texts) == limit
    long = fairseq_here.generate(*options(toy), "--min-len", 9, "--max-len-b", 30)
    assert min(len(scores.split()) for _, scores in generated(long, "P")) >= 9 + 1  # and the end of sentence


@pytest.mark.parametrize("flag", [["--sampling-topk", 1], ["--sampling-topp", 1e-6], ["--sampling-epsilon", 0.999]])
def test_truncation_to_one_token_is_greedy(fairseq_here: Fairseq, toy: Toy, tmp_path: Path, flag: list[object]) -> None:
    greedy = dict(generated(fairseq_here.generate(*options(toy, "beam"), "--beam", 1)))
    for record in pools_of(fairseq_here, toy, tmp_path / "pools", "mbr", *flag):
        assert record.pools.hypotheses.texts == [greedy[int(record.id)]]


def test_two_temperatures_and_sizes_give_separate_pools(fairseq_here: Fairseq, toy: Toy, tmp_path: Path) -> None:
    separate = pools_of(
        fairseq_here, toy, tmp_path / "a", "dcmbr", "--temp-ref", 1.0, "--num-ref", 20, "--utility", "bleu"
    )
    shared = pools_of(fairseq_here, toy, tmp_path / "b", "dcmbr")
    for one, other in zip(separate, shared, strict=True):
        assert not one.pools.shared and len(one.pools.references.draws) == 20 and other.pools.shared
        assert one.pools.hypotheses.texts == other.pools.hypotheses.texts
        assert one.fields["settings"]["ref_pool"] == "separate" and "BLEU" in one.fields["signature"]


ODD_LINES = [
    "", "the dog sees a cat .", "the dog sees a cat .", "zzz qqq", "the\rdog", "a\u2028man hears", " ", "a cat",
    " ".join(["dog"] * 2000),
]  # fmt: skip


@pytest.mark.parametrize("buffer", [1, 16])
def test_interactive_answers_every_line_in_order(
    fairseq_here: Fairseq, toy: Toy, tmp_path: Path, buffer: int, caplog: Any
) -> None:
    path = tmp_path / "pools.jsonl"
    text = "\n".join(ODD_LINES) + "\n"
    out = fairseq_here.interactive(
        text,
        *options(toy, "dcmbr", "--pools-out", path, "--max-len-b", 8),
        "--buffer-size",
        buffer,
        "--batch-size",
        buffer,
    )
    assert [number for number, _ in generated(out, "S")] == list(range(len(ODD_LINES)))
    found = generated(out)
    assert [number for number, _ in found] == list(range(len(ODD_LINES)))
    assert found[1][1] == found[2][1]
    assert found[0][1] == found[6][1]
    assert "were cut" in caplog.text or "were cut" in out
    (writer,) = [found for found in gc.get_objects() if isinstance(found, RecordWriter) and found.path == path]
    writer.finish()
    assert [(record.id, record.fields["translation"]) for record in read_records(path)] == found


def test_generate_keeps_odd_lines(fairseq_here: Fairseq, toy: Toy, tmp_path: Path, fairseq: Any) -> None:
    for language in ("en", "de"):
        (tmp_path / f"odd.{language}").write_bytes("".join(f"{line}\n" for line in ODD_LINES).encode())
    dicts = [
        part
        for side in ("en", "de")
        for part in (f"--{'src' if side == 'en' else 'tgt'}dict", toy.data_bin / f"dict.{side}.txt")
    ]
    fairseq("preprocess", "-s", "en", "-t", "de", "--testpref", tmp_path / "odd", "--destdir", tmp_path / "bin", *dicts)
    path = tmp_path / "pools.jsonl"
    _, *others = options(toy, "dcmbr", "--pools-out", path, "--max-len-b", 8)
    out = fairseq_here.generate(tmp_path / "bin", *others, "--batch-size", 4)
    assert sorted(number for number, _ in generated(out)) == list(range(len(ODD_LINES)))
    assert [record.id for record in read_records(path)] == list(range(len(ODD_LINES)))


def test_a_line_too_short_for_its_limit_is_answered(fairseq_here: Fairseq, toy: Toy, caplog: Any) -> None:
    """--min-len holds, as it does in fairseq where a longer line in the batch allows it."""
    lines = ["a", "the dog sees a cat again ."]
    limits = ["--max-len-a", 0.4, "--max-len-b", 0, "--buffer-size", 2, "--batch-size", 2]
    for decoding in ("beam", "dcmbr"):
        out = fairseq_here.interactive("".join(f"{line}\n" for line in lines), *options(toy, decoding), *limits)
        assert [number for number, _ in generated(out)] == [0, 1]
    short, long = (len(scores.split()) for _, scores in generated(out, "P"))
    assert short == 1 + 1 and long <= 3 + 1  # --min-len 1, int(0.4 * 8); and the end of sentence
    assert caplog.text.count("--max-len-a/-b give a short source 0 tokens: --min-len 1 holds") <= 1


def test_sample_draws_what_it_prints(fairseq_here: Fairseq, toy: Toy, monkeypatch: Any, tmp_path: Path) -> None:
    asked: list[tuple[int, ...]] = []
    original = PrefixSampler.sample

    def sample(self: Any, make_decoder: Any, batch: Any, specs: Any) -> Any:
        asked.append(tuple(spec.size for spec in specs))
        return original(self, make_decoder, batch, specs)

    monkeypatch.setattr(PrefixSampler, "sample", sample)
    line = options(toy, "sample", "--temp-hyp", 0.5, "--batch-size", 23)
    one = generated(fairseq_here.generate(*line))
    four = generated(fairseq_here.generate(*line, "--nbest", 4))
    whole = generated(fairseq_here.generate(*line, "--temp-ref", 1.0, "--pools-out", tmp_path / "pools.jsonl"))
    assert list(dict.fromkeys(asked)) == [(1,), (4,), (12, 12)]
    assert one == whole == four[::4] and len(one) == 23


def test_fewer_hypotheses_than_nbest_are_said_once(fairseq_here: Fairseq, toy: Toy, caplog: Any) -> None:
    for decoding in ("sample", "dcmbr"):
        caplog.clear()
        fairseq_here.generate(*options(toy, decoding), "--nbest", 40)
        assert caplog.text.count("--nbest 40 is more than the ") == 1
    caplog.clear()
    fairseq_here.generate(*options(toy, "sample"), "--nbest", 12)
    assert "is more than the" not in caplog.text


def test_the_hub_records_where_each_call_asks_it_to(toy: Toy, tmp_path: Path) -> None:
    model, lines = hub(toy), toy.lines("en")
    ask = {"decoding": "dcmbr", "num_hyp": 4}
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    one = model.translate(lines[:2], pools_out=str(first), **ask)
    model.translate(lines[2:4], **ask)  # recorded nowhere
    other = model.translate(lines[4:5], pools_out=str(second), **ask)
    one += model.translate(lines[5:7], pools_out=str(first), **ask)
    model.translate(lines[7:8], beam=5)
    model.task._recording.finish()
    for path, expected in ((first, one), (second, other)):
        records = list(read_records(path))
        assert [record.fields["translation"] for record in records] == expected
        assert [record.id for record in records] == list(range(len(expected)))
    with pytest.raises(UserError, match="first.jsonl exists already: delete it, or give another name"):
        model.translate(lines[:1], pools_out=str(first), **ask)
    assert model.translate(lines[:1], **ask) == one[:1]


def test_the_hub_s_automatic_temperature_is_the_checkpoint_s(toy: Toy) -> None:
    lines = toy.lines("en")[:4]
    ask = {"decoding": "dcmbr", "num_hyp": 12, "seed": 5}
    temperature = automatic_temperature(0.1)
    both = TransformerModel.from_pretrained(
        str(toy.folder), "model.pt:earlier.pt", task={"_name": "translation_dcmbr", "data": str(toy.data_bin)}
    )
    for model in (hub(toy), both):
        expected = model.translate(lines, temp_hyp=temperature, temp_ref=temperature, **ask)
        assert model.translate(lines, temp_hyp="auto", temp_ref="auto", **ask) == expected
    facts = both.task._loaded
    assert [fact.label_smoothing for fact in facts] == [0.1, 0.1]


@pytest.fixture
def long_model(toy: Toy, tmp_path: Path) -> Path:
    """The toy model, as one that was trained with 3000 source positions (they are computed, not learnt)."""
    state = torch.load(toy.checkpoint)
    state["cfg"]["model"].max_source_positions = state["cfg"]["task"]["max_source_positions"] = 3000
    torch.save(state, tmp_path / "model.pt")
    return tmp_path / "model.pt"


def test_the_checkpoint_s_positions_hold(fairseq_here: Fairseq, toy: Toy, long_model: Path, caplog: Any) -> None:
    """1,500 words are read whole, since 1,024 is the task's default and not what anybody asked for."""
    line = " ".join(["dog"] * 1500)
    ask = [*options(toy), "--path", long_model, "--max-len-b", 4]
    whole = generated(fairseq_here.interactive(f"{line}\n", *ask))
    assert "were cut" not in caplog.text
    cut = generated(fairseq_here.interactive(f"{line}\n", *ask, "--max-source-positions", 600))
    assert "longer than the 600 tokens that the model or --max-source-positions allows" in caplog.text
    shorter = generated(fairseq_here.interactive(" ".join(["dog"] * 599) + "\n", *ask))
    assert cut[0][1] == shorter[0][1] and len(whole) == 1
    with pytest.raises(Exception, match="is invalid.*1501.*1024"):  # beam search stays as fairseq has it
        fairseq_here.interactive(f"{line}\n", *options(toy, "beam"), "--path", long_model)
    task = {"_name": "translation_dcmbr", "data": str(toy.data_bin), "max_source_positions": 1024}
    model = TransformerModel.from_pretrained(str(long_model.parent), "model.pt", task=task)
    caplog.clear()
    ask = {"decoding": "dcmbr", "num_hyp": 12, "seed": 5, "max_len_b": 4}
    assert model.translate([line], **ask) == [whole[0][1]] and "were cut" not in caplog.text
    (answer,) = model.translate([" ".join(["dog"] * 4000)], **ask)  # cut, not refused
    assert "longer than the 3000 tokens" in caplog.text and answer


@pytest.mark.parametrize("decoding", ["beam", "mbr"])
def test_checkpoints_in_parts_and_with_a_suffix_are_read(
    fairseq_here: Fairseq, toy: Toy, tmp_path: Path, decoding: str
) -> None:
    expected = generated(fairseq_here.generate(*options(toy, decoding)))
    for name in ("model-rank0.pt", "model_part0.pt", "model_part1.pt"):
        shutil.copy(toy.checkpoint, tmp_path / name)
    shutil.copy(toy.checkpoint, tmp_path / "other-shard0.pt")
    for name, flags in (
        ("model.pt", ["--checkpoint-suffix=-rank0"]),
        ("model.pt", ["--checkpoint-shard-count", 2]),
        ("other.pt", []),  # fairseq looks for the first shard by itself
    ):
        line = [*options(toy, decoding), "--path", tmp_path / name, *flags]
        assert generated(fairseq_here.generate(*line)) == expected
    with pytest.raises(UserError, match="model_part2.pt is not a file .by --path, --checkpoint-suffix"):
        fairseq_here.generate(*options(toy, decoding), "--path", tmp_path / "model.pt", "--checkpoint-shard-count", 3)
