"""A check of a GPU in one go: right answers in three precisions, speed, memory, and what waits for what.

    python scripts/bench/gpu.py CHECKPOINT DATA TEXT BPE_CODES [--device cuda] [--minutes 8] [--output report.json]

Nothing here is special to CUDA: ``--device cpu`` with ``--tiny`` runs all of it, as the tests do. Prints JSON and,
last, a row for docs/results.md. Where the time is up the measurements that are left are named and left out.
"""

import argparse
import copy
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import decoding
import numpy as np
import torch
from decoding import World
from fairseq.models.transformer import base_architecture, transformer_vaswani_wmt_en_de_big

from dcmbr_fairseq.decoders.encoding import encode
from dcmbr_fairseq.pools.draws import PoolSpec, TokenPool
from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler, SamplingBatch
from dcmbr_fairseq.sampling.support import Support

PRECISIONS = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def tiny_architecture(args: argparse.Namespace) -> None:
    """Two layers of 16 dimensions."""
    for side in ("encoder", "decoder"):
        vars(args).update({f"{side}_{name}": 16 for name in ("embed_dim", "ffn_embed_dim")})
        vars(args).update({f"{side}_layers": 2, f"{side}_attention_heads": 2})
    base_architecture(args)


ARCHITECTURES = {"base": base_architecture, "big": transformer_vaswani_wmt_en_de_big, "tiny": tiny_architecture}
TEMPERATURE = 0.5


class Place(NamedTuple):
    """Where a model runs, and in which precision."""

    device: torch.device
    precision: str = "fp32"

    def world(self, world: World) -> World:
        """A copy of the model there, with the batch."""
        model = copy.deepcopy(world.model).to(self.device, PRECISIONS[self.precision])
        given = {name: value.to(self.device) for name, value in world.sample["net_input"].items()}
        return World(model, world.target, {**world.sample, "net_input": given}, world.texts)

    def wait(self) -> None:
        """Until the device has done what it was asked for."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def name(self) -> str:
        """Of the device."""
        return torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else platform.processor() or "cpu"


def seconds(place: Place, run: Callable[[], Any], runs: int) -> float:
    """Median of some runs, after one that is not timed."""
    run()
    place.wait()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        place.wait()
        times.append(time.perf_counter() - start)
    return median(times)


def agreement(world: World, place: Place, size: int, most: int = 20) -> dict[str, Any]:
    """How many draws, sentences and choices are the CPU's in float32; where the first others differ, by how much.

    The difference is that of the log-probabilities of all next tokens after the prefix up to which two draws agree.
    """
    other = place.world(world)
    ours, theirs = (found.sample_pool(size, TEMPERATURE).pools for found in (other, world))
    same = total = sentences = 0
    gaps: list[float] = []
    for number, ((a,), (b,)) in enumerate(zip(ours, theirs, strict=True)):
        pairs = list(zip(_draws(a), _draws(b), strict=True))
        equal = [x == y for x, y in pairs]
        same, total, sentences = same + sum(equal), total + len(equal), sentences + all(equal)
        for x, y in (pair for pair, is_same in zip(pairs, equal, strict=True) if not is_same):
            if len(gaps) < most:
                prefix = x[: next(i for i, (s, t) in enumerate(zip(x, y, strict=False)) if s != t)]
                rows = [next_log_probs(found, number, prefix) for found in (other, world)]
                gaps.append(float((rows[0] - rows[1]).abs().max()))
    report: dict[str, Any] = {"draws": f"{same} of {total}", "sentences": f"{sentences} of {len(ours)}"}
    if gaps:
        report["largest_difference_of_log_probs_at_first_other_draw"] = {"median": median(gaps), "most": max(gaps)}
    return report


def _draws(pool: TokenPool) -> list[list[int]]:
    return [pool.tokens[index].tolist() for index in pool.draws]


@torch.no_grad()
def next_log_probs(world: World, sentence: int, prefix: list[int]) -> torch.Tensor:
    """``(V,)`` float32 log-probabilities of the next token, by fairseq's own forward pass, on the CPU."""
    given = {name: value[sentence : sentence + 1] for name, value in world.sample["net_input"].items()}
    device = given["src_tokens"].device
    previous = torch.tensor([[world.target.eos(), *prefix]], device=device)
    output = world.model(given["src_tokens"], given["src_lengths"], previous)
    return torch.log_softmax(output[0][0, -1].float(), dim=-1).cpu()


def speed(world: World, place: Place, size: int, max_len: int, runs: int) -> dict[str, Any]:
    """Sentences and tokens a second of a pool, of fairseq's sampling of it, and of beam search with beam 5."""
    there, count = place.world(world), len(world.sources)
    sampling = there.fairseq(size, TEMPERATURE, sampling=True, max_len_b=max_len)
    beam = there.fairseq(5, max_len_b=max_len)
    tokens = there.sample_pool(size, TEMPERATURE, max_len).tokens
    report = {}
    for name, run in {
        "ours": lambda: there.sample_pool(size, TEMPERATURE, max_len),
        "fairseq_sampling": lambda: sampling.generate([there.model], there.sample),
        "fairseq_beam_5": lambda: beam.generate([there.model], there.sample),
    }.items():
        took = seconds(place, run, runs)
        report[name] = {"sentences_a_second": round(count / took, 1)}
        if name == "ours":
            report[name]["tokens_a_second"] = round(tokens / took)
    return report


def memory(world: World, place: Place, size: int, max_len: int, budgets: tuple[int, ...]) -> dict[str, Any]:
    """Peak MiB beyond the model for each ``--max-rows``; None where the device does not say."""
    if place.device.type != "cuda":
        return dict.fromkeys(map(str, budgets))
    there, report = place.world(world), {}
    for rows in budgets:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(place.device)
        before = torch.cuda.memory_allocated(place.device)
        support = Support(there.target.eos(), (there.target.pad(),), 1, there.target.unk())
        with torch.no_grad():
            make_decoder = encode([there.model], there.sample["net_input"], there.target.pad())
            batch = SamplingBatch(there.sources, np.full(len(there.sources), max_len), there.target.eos())
            PrefixSampler(support, max_rows=rows).sample(make_decoder, batch, [PoolSpec(size, TEMPERATURE, 0)])
        report[str(rows)] = round((torch.cuda.max_memory_allocated(place.device) - before) / 2**20)
    return report


def overlap(world: World, place: Place, size: int, runs: int) -> dict[str, Any]:
    """Seconds of a whole decode with chrF, of its pools alone, and of the rest, which runs while the device waits."""
    there = place.world(world)
    generator = there.dcmbr(size)
    whole = seconds(place, lambda: generator.generate([there.model], there.sample), runs)
    pools = seconds(place, lambda: there.sample_pool(size, TEMPERATURE), runs)
    return {"whole": round(whole, 4), "pools": round(pools, 4), "share_of_the_rest": round(1 - pools / whole, 3)}


def check(trained: World, device: torch.device, minutes: float, tiny: bool = False) -> dict[str, Any]:
    """All measurements for which there is time."""
    start, runs = time.monotonic(), 1 if tiny else 3
    sizes, words, sentences = ((2, 3), 50, 3) if tiny else ((10, 50, 250), 32000, 32)
    length, max_len = (6, 4) if tiny else (30, 30)
    report: dict[str, Any] = {"device": Place(device).name(), "torch": torch.__version__, "left_out": []}
    tasks: dict[str, Callable[[], Any]] = {
        f"agreement, {precision}": lambda p=precision: agreement(trained, Place(device, p), sizes[1])
        for precision in PRECISIONS
    }
    tasks["overlap, fp32"] = lambda: overlap(trained, Place(device), sizes[1], runs)
    worlds: dict[str, World] = {}

    def world(name: str) -> World:
        if name not in worlds:
            worlds.clear()  # one at a time
            worlds[name] = decoding.random_world(words, sentences, length, ARCHITECTURES[name])
        return worlds[name]

    half = Place(device, "fp32" if tiny else "fp16")
    for name in ("tiny",) if tiny else ("base", "big"):
        for size in sizes:
            tasks[f"speed, {name}, N = {size}"] = lambda n=name, s=size: speed(world(n), half, s, max_len, runs)
        budgets = (4, 8) if tiny else (512, 4096, 16384)
        tasks[f"MiB by --max-rows, {name}"] = lambda n=name, b=budgets: memory(world(n), half, sizes[1], max_len, b)
    for name, task in tasks.items():
        if time.monotonic() - start > 60 * minutes:
            report["left_out"].append(name)
            continue
        print(f"measuring {name} ...", file=sys.stderr)
        report[name] = task()
    report["minutes"] = round((time.monotonic() - start) / 60, 1)
    return report


def ledger_row(report: dict[str, Any]) -> str:
    """A line for docs/results.md."""
    found = {name: report.get(f"agreement, {name}") for name in PRECISIONS}
    draws = ", ".join(f"{name} {each['draws']}" for name, each in found.items() if each is not None)
    speeds = ", ".join(
        f"{key.removeprefix('speed, ')}: {value['ours']['sentences_a_second']} (fairseq's sampling "
        f"{value['fairseq_sampling']['sentences_a_second']}, beam 5 {value['fairseq_beam_5']['sentences_a_second']})"
        for key, value in report.items() if key.startswith("speed")
    )  # fmt: skip
    return f"| {report['device']} | torch {report['torch']} | {draws} | {speeds} | {report['minutes']} minutes |"


def main() -> None:
    """Measure, print, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("checkpoint", "data", "text", "bpe_codes"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--device", default="cuda", type=torch.device)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--tiny", action="store_true", help="sizes with which a CPU is done in seconds")
    parser.add_argument("--output", type=Path, help="the report as JSON")
    args = parser.parse_args()
    trained = decoding.trained_world(args.checkpoint, args.data, args.text, args.bpe_codes, args.sentences)
    report = check(trained, args.device, args.minutes, args.tiny)
    text = json.dumps(report, indent=2)
    print(text)
    if args.output is not None:
        args.output.write_text(text + "\n", "utf-8")
    print(ledger_row(report))


if __name__ == "__main__":
    main()
