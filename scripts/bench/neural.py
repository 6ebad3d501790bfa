"""What costly utilities cost in MBR decoding: BLEURT and METEOR, from one pair at a time to the decision rules.

    python scripts/bench/neural.py POOLS.jsonl [--checkpoint FOLDER] [--language de] [--sentences 16] [--runs 3]
        [--layers 2 --dimensions 128] [--only bleurt]

``POOLS.jsonl`` are records of ``--pools-out`` with shared pools. Without ``--checkpoint`` BLEURT is a random model with
as many layers and dimensions as BLEURT-tiny, or as asked for (BLEURT-base has 12 of 768); its
speed is that of a trained one of its size, its choices mean nothing.
Prints one JSON object: calls and milliseconds a sentence, on the clock and of the processor (with METEOR that of both
processes), and what each saving contributes. On a machine with other work look at the processor's time (``cpu``).
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy is imported

import argparse  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from statistics import median  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402
from unittest import mock  # noqa: E402

import numpy as np  # noqa: E402

from dcmbr_fairseq.pools.draws import TextPool  # noqa: E402
from dcmbr_fairseq.pools.rows import read_records  # noqa: E402
from dcmbr_fairseq.pools.sentence import Pools  # noqa: E402
from dcmbr_fairseq.rules import build_rule  # noqa: E402
from dcmbr_fairseq.utilities import Comparison, bleurt  # noqa: E402
from dcmbr_fairseq.utilities.bleurt import BleurtUtility  # noqa: E402
from dcmbr_fairseq.utilities.meteor import MeteorUtility  # noqa: E402

NAIVE_BATCH = 64  # pairs
SINGLE_PAIRS = 100  # how many pairs BLEURT is timed with one at a time, to be multiplied
ROUND_TRIPS = 250  # of each sentence, of which METEOR is timed one at a time, to be multiplied
RULES: dict[str, dict[str, Any]] = {"exact": {}, "prune": {}, "coarse": {}}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", type=Path, help="records of --pools-out")
    parser.add_argument("--checkpoint", type=Path, help="folder of a BLEURT model (default: a random one)")
    parser.add_argument("--language", default="de", help="METEOR's language (default: de)")
    parser.add_argument("--sentences", type=int, default=16, help="how many, at even distances (default: 16)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--layers", type=int, default=2, help="of the random BLEURT model (default: 2)")
    parser.add_argument("--dimensions", type=int, default=128, help="of the random BLEURT model (default: 128)")
    parser.add_argument("--only", choices=["bleurt", "meteor"], help="leave out the other (default: both)")
    args = parser.parse_args()
    everything = [record.pools.hypotheses for record in read_records(args.pools)]
    pools = spread(everything, args.sentences)
    report: dict[str, Any] = {"calls": calls_of_exact(everything)}
    if args.only != "meteor":
        report["bleurt"] = bleurt_benchmark(pools, args.checkpoint, args.runs, args.layers, args.dimensions)
    if args.only != "bleurt":
        report["meteor"] = meteor_benchmark(pools, args.language, args.runs)
    print(json.dumps(report, indent=2))


def calls_of_exact(pools: Sequence[TextPool]) -> dict[str, float]:
    """Means over all sentences: pairs of draws, pairs of distinct texts, and how many of the former the latter are."""
    naive = float(np.mean([len(pool.draws) ** 2 for pool in pools]))
    exact = float(np.mean([len(pool.texts) ** 2 for pool in pools]))
    return {"sentences": len(pools), "naive": naive, "exact": round(exact, 1), "share": round(exact / naive, 3)}


def spread(pools: Sequence[TextPool], count: int) -> list[TextPool]:
    """``count`` of the pools at even distances: the first of a test set need not be typical."""
    return [pools[i] for i in np.unique(np.linspace(0, len(pools) - 1, count).round().astype(int))]


# --- measuring -----------------------------------------------------------------------------------------------------


class Times(NamedTuple):
    """Milliseconds a sentence, on the clock and of the processor."""

    clock: float
    cpu: float


def medians(
    contestants: dict[str, Callable[[], Any]], runs: int, sentences: int, cpu: Callable[[], float] = time.process_time
) -> dict[str, Times]:
    """Medians over alternating runs, after one of each that is not timed; ``cpu`` tells seconds of the processor."""
    found: dict[str, list[Times]] = {name: [] for name in contestants}
    for run in range(runs + 1):
        for name, contestant in contestants.items():
            start, start_cpu = time.perf_counter(), cpu()
            contestant()
            times = Times(time.perf_counter() - start, cpu() - start_cpu)
            if run:
                found[name].append(Times(*(1000 * seconds / sentences for seconds in times)))
    return {name: Times(*map(median, zip(*times, strict=True))) for name, times in found.items()}


def as_report(times: Times, calls: float) -> dict[str, float]:
    """One contestant's figures, a sentence."""
    return {"calls": round(calls, 1), "clock": round(times.clock, 2), "cpu": round(times.cpu, 2)}


def ratio(slow: Times, fast: Times) -> dict[str, float]:
    """How many times faster."""
    return {"clock": round(slow.clock / fast.clock, 2), "cpu": round(slow.cpu / fast.cpu, 2)}


def draws_of(pool: TextPool) -> list[str]:
    """All draws of a pool as texts, repeated ones included."""
    return [pool.texts[i] for i in pool.draws]


def rule_calls(pools: Sequence[TextPool], utility: Any, name: str) -> dict[str, Any]:
    """Calls of a rule a sentence, and how often it chooses what the exact rule chooses."""
    batch = [Pools.of([pool]).candidates() for pool in pools]
    exact = build_rule("exact", {}).decide(batch, utility)
    found = build_rule(name, RULES[name]).decide(batch, utility)
    same = [
        truth.expected[one.order[0]] >= truth.expected.max() - 1e-9 for one, truth in zip(found, exact, strict=True)
    ]
    return {"calls": float(np.mean([one.utility_calls for one in found])), "same_choice": float(np.mean(same))}


# --- BLEURT --------------------------------------------------------------------------------------------------------


def bleurt_benchmark(
    pools: Sequence[TextPool], checkpoint: Path | None = None, runs: int = 3, layers: int = 2, dimensions: int = 128
) -> dict[str, Any]:
    """Calls and milliseconds a sentence of each way to score shared pools, and what each saving contributes.

    Args:
        pools: one for each sentence.
        checkpoint: folder of a BLEURT model; None: a random one, whose vocabulary is learnt from the pools.
        runs: timed runs, after one that is not timed.
        layers: of the random model.
        dimensions: of the random model.
    """
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        if checkpoint is None:
            texts = sorted({text for pool in pools for text in pool.texts})
            checkpoint = random_bleurt(Path(folder) / "random", texts, layers, dimensions)
        utility = BleurtUtility(checkpoint=str(checkpoint), device="cpu")
    contestants = bleurt_contestants(pools, utility)
    times = medians(contestants, runs, len(pools))
    share = calls_of_exact(pools)
    times["naive, one pair at a time"] = one_pair_at_a_time(pools, utility)
    calls = {name: share["naive" if name.startswith("naive") else "exact"] for name in times}
    rules = {name: rule_calls(pools, utility, name) for name in RULES}
    calls.update({name: rules[name]["calls"] for name in RULES})
    naive, exact = times["naive, batched"], times["exact"]
    return {
        "signature": utility.signature(),
        "parameters": sum(weights.numel() for weights in utility._model.parameters()),
        "sentences": len(pools),
        **{name: as_report(times[name], calls[name]) for name in times},
        "same_choice_as_exact": {name: rules[name]["same_choice"] for name in ("prune", "coarse")},
        "calls_of_exact_in_naive_calls": share["share"],
        "exact_times_faster_than_naive_batched": ratio(naive, exact),
        "savings": {
            "distinct pairs": ratio(naive, times["distinct, batched"]),
            "texts tokenised once": ratio(times["distinct, batched"], times["distinct, tokenised once"]),
            "batches by length": ratio(times["distinct, tokenised once"], times["distinct, by length"]),
            "last layer for one position": ratio(times["distinct, by length"], exact),
        },
    }


def bleurt_contestants(pools: Sequence[TextPool], utility: BleurtUtility) -> dict[str, Callable[[], Any]]:
    """Each way to score the pools, from the plainest to ours; one saving after the other."""
    batch = [Pools.of([pool]).candidates() for pool in pools]
    comparisons = [Comparison(pool.texts, pool.texts) for pool in pools]

    def by_length() -> None:
        with mock.patch.object(bleurt, "first_token_scores", library_scores):
            utility.pairwise_batch(comparisons)

    def tokenised_once() -> None:
        with mock.patch.object(bleurt, "length_batches", batches_as_they_come):
            by_length()

    contestants: dict[str, Callable[[], Any]] = {
        "naive, batched": lambda: [library_pairwise(utility, draws_of(pool)) for pool in pools],
        "distinct, batched": lambda: [library_pairwise(utility, pool.texts) for pool in pools],
        "distinct, tokenised once": tokenised_once,
        "distinct, by length": by_length,
    }
    for name, arguments in RULES.items():
        contestants[name] = partial(build_rule(name, arguments).decide, batch, utility)
    return contestants


def library_pairwise(utility: BleurtUtility, texts: Sequence[str]) -> np.ndarray:
    """All pairs of texts as bleurt-pytorch's documentation does it, in batches as they come."""
    import torch

    pairs = [(reference, candidate) for candidate in texts for reference in texts]
    scores: list[float] = []
    for start in range(0, len(pairs), NAIVE_BATCH):
        references, candidates = map(list, zip(*pairs[start : start + NAIVE_BATCH], strict=True))
        inputs = utility._tokenizer(references, candidates, padding="longest", return_tensors="pt")
        with torch.inference_mode():
            scores += utility._model(**inputs).logits.flatten().tolist()
    return np.array(scores).reshape(len(texts), len(texts))


def batches_as_they_come(lengths: Sequence[int], budget: int) -> list[np.ndarray]:
    """Batches of a fixed size in the order of the pairs, in place of ours."""
    return [np.arange(len(lengths))[start : start + NAIVE_BATCH] for start in range(0, len(lengths), NAIVE_BATCH)]


def library_scores(model: Any, tokens: Any, segments: Any, visible: Any) -> Any:
    """The library's own forward pass, in place of ours."""
    mask = None if visible is None else visible.long()
    return model(input_ids=tokens, token_type_ids=segments, attention_mask=mask).logits.flatten()


def one_pair_at_a_time(pools: Sequence[TextPool], utility: BleurtUtility) -> Times:
    """Milliseconds a sentence, from ``SINGLE_PAIRS`` pairs of draws taken from all pools in turn."""
    import torch

    draws = [draws_of(pools[i % len(pools)]) for i in range(SINGLE_PAIRS)]
    pairs = [(texts[i % len(texts)], texts[i * 7 % len(texts)]) for i, texts in enumerate(draws)]
    start, start_cpu = time.perf_counter(), time.process_time()
    with torch.inference_mode():
        for reference, candidate in pairs:
            utility._model(**utility._tokenizer([reference], [candidate], return_tensors="pt")).logits.item()
    seconds = Times(time.perf_counter() - start, time.process_time() - start_cpu)
    return Times(*(1000 * calls_of_exact(pools)["naive"] / len(pairs) * value for value in seconds))


def random_bleurt(folder: Path, texts: Sequence[str], layers: int = 2, dimensions: int = 128) -> Path:
    """A BLEURT model with random weights and a SentencePiece vocabulary of up to 2,000 pieces learnt from ``texts``."""
    import sentencepiece
    import torch
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
    from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer

    folder.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_prefix=str(folder / "spm"), vocab_size=2000, hard_vocab_limit=False,
        minloglevel=2, pad_id=0, unk_id=1, bos_id=2, eos_id=3, pad_piece="[PAD]", unk_piece="[UNK]", bos_piece="[CLS]",
        eos_piece="[SEP]", user_defined_symbols=["[MASK]"],
    )  # fmt: skip
    tokenizer = BleurtSPTokenizer(str(folder / "spm.model"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = BleurtConfig(
        vocab_size=len(tokenizer), hidden_size=dimensions, num_hidden_layers=layers,
        num_attention_heads=max(2, dimensions // 64), intermediate_size=4 * dimensions, initializer_range=0.05,
    )  # fmt: skip
    BleurtForSequenceClassification(config).save_pretrained(folder)
    return folder


# --- METEOR --------------------------------------------------------------------------------------------------------


def meteor_benchmark(pools: Sequence[TextPool], language: str = "de", runs: int = 3) -> dict[str, Any]:
    """Milliseconds a sentence: round trips for each pair of draws against pipelined distinct pairs, and the rules.

    Args:
        pools: one for each sentence.
        language: target language.
        runs: timed runs, after one that is not timed.
    """
    utility = MeteorUtility(language=language)
    trips = RoundTrips(utility)
    try:
        times = meteor_times(pools, utility, trips, runs)
        rules = {name: rule_calls(pools, utility, name) for name in RULES}
    finally:
        trips.close()
        utility.close()
    naive, exact = times["naive, one round trip a pair"], times["exact"]
    draws = calls_of_exact(pools)["naive"]
    calls = {"naive, one round trip a pair": draws, **{name: rules[name]["calls"] for name in RULES}}
    a_pair = [Times(*(value / n for value in t)) for t, n in ((naive, draws), (exact, calls["exact"]))]
    return {
        "signature": utility.signature(),
        "sentences": len(pools),
        **{name: as_report(times[name], calls[name]) for name in times},
        "same_choice_as_exact": {name: rules[name]["same_choice"] for name in ("prune", "coarse")},
        "exact_times_faster_than_round_trips": ratio(naive, exact),
        "savings": {"distinct pairs": round(draws / calls["exact"], 2), "pipelined": ratio(*a_pair)},
    }


def meteor_times(pools: Sequence[TextPool], utility: MeteorUtility, trips: "RoundTrips", runs: int) -> dict[str, Times]:
    """Milliseconds a sentence of round trips and of each rule; scores of earlier runs are forgotten."""
    batch = [Pools.of([pool]).candidates() for pool in pools]
    pairs = [pair for pool in pools for pair in some_pairs(draws_of(pool), ROUND_TRIPS)]

    def decide(name: str) -> None:
        utility._score_of.clear()
        build_rule(name, RULES[name]).decide(batch, utility)

    def child() -> int:
        assert utility._process._child is not None
        return utility._process._child.process.pid

    utility.pairwise(["a"], ["a"])  # both processes are up
    trips.score("a", "a")
    (naive,) = medians({"": lambda: trips.pairwise(pairs)}, runs, 1, lambda: cpu_seconds(trips.process.pid)).values()
    share = calls_of_exact(pools)["naive"] / len(pairs)
    contestants: dict[str, Callable[[], Any]] = {name: partial(decide, name) for name in RULES}
    return {
        "naive, one round trip a pair": Times(*(share * value for value in naive)),
        **medians(contestants, runs, len(pools), lambda: cpu_seconds(child())),
    }


def some_pairs(draws: Sequence[str], count: int) -> list[tuple[str, str]]:
    """Up to ``count`` (hypothesis, reference) pairs of draws, at even distances among all of them."""
    size = len(draws)
    chosen = np.unique(np.linspace(0, size * size - 1, count).round().astype(int)).tolist()
    return [(draws[i // size], draws[i % size]) for i in chosen]


class RoundTrips:
    """METEOR as it is usually driven: for each pair the statistics are asked for, then their score."""

    def __init__(self, utility: MeteorUtility) -> None:
        self.process = subprocess.Popen(utility._process.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def score(self, hypothesis: str, reference: str) -> float:
        """The score of one pair."""
        statistics = self._ask(f"SCORE ||| {reference} ||| {hypothesis}")
        score = float(self._ask(f"EVAL ||| {statistics}"))
        assert self.process.stdout is not None
        self.process.stdout.readline()  # the total of the one
        return score

    def pairwise(self, pairs: Sequence[Sequence[str]]) -> list[float]:
        """The scores of many pairs, one after the other."""
        return [self.score(*pair) for pair in pairs]

    def _ask(self, line: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


def cpu_seconds(child: int) -> float:
    """Seconds of the processor of this process and of the child with this id (Linux)."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
