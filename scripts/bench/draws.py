"""Quality and cost of pools by kind of draws: measures one model, cell by cell, and reports on all that is measured.

    python scripts/bench/draws.py measure RUN --path MODEL [options] DATA_BIN --task translation_dcmbr [fairseq's flags]
    python scripts/bench/draws.py report RUN [RUN ...]

``measure`` draws, for each seed and kind of draws, one pool of the largest size at all temperatures; the first N draws
are the pool of N (of lattices, which are another pool for every N, each is drawn). It decides by chrF with one shared
pool and judges by corpus metrics and by the *expected utility* of the choice, under one independent pool of 500 draws
at the same temperature (``--truth``), which no choice has seen. Each pair of seed and kind is a line of the journal
``RUN.partial`` as soon as it is there: the same command goes on where it was cut off, more seeds or kinds are added by
naming them, and ``report`` may look at any time.

Rules: ``counts`` is the product's. ``model``: references weigh their model probability. ``grow``: N grows from 16 to 32
to 64 until the choice stays the same; its rows are those of the passes that it takes. With ``--with-beam`` (and
fairseq's ``--beam`` and ``--nbest``) also ``beam``: the translations of beam search are the hypotheses, the draws the
references alone; and ``both``: these translations stand beside the draws as hypotheses.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy is imported

import argparse  # noqa: E402
import contextlib  # noqa: E402
import dataclasses  # noqa: E402
import functools  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402
from draw_report import CONTRIBUTIONS, report  # noqa: E402
from draw_variants import VARIANTS, in_place  # noqa: E402
from tqdm import tqdm  # noqa: E402

from dcmbr_fairseq.decoding.options import HYPOTHESES, REFERENCES  # noqa: E402
from dcmbr_fairseq.decoding.texts import text_pool  # noqa: E402
from dcmbr_fairseq.evaluation.metrics import Metric, MetricOptions, build_metric, total_score  # noqa: E402
from dcmbr_fairseq.evaluation.uncertainty import contributions  # noqa: E402
from dcmbr_fairseq.measure.experiment import Experiment  # noqa: E402
from dcmbr_fairseq.measure.flags import BEAM, SAMPLING  # noqa: E402
from dcmbr_fairseq.measure.models import Workspace  # noqa: E402
from dcmbr_fairseq.measure.sampling import PoolKey, PoolStore  # noqa: E402
from dcmbr_fairseq.pools.draws import PoolSpec, TextPool, TokenPool  # noqa: E402
from dcmbr_fairseq.pools.sentence import Pools  # noqa: E402
from dcmbr_fairseq.present.tidy import Journal, Row  # noqa: E402
from dcmbr_fairseq.rules.expected_utility import decide_exactly, expected_utilities  # noqa: E402
from dcmbr_fairseq.utilities import Comparison, build_utility  # noqa: E402

#: The sizes that a growing pool goes through.
GROWTH = (16, 32, 64)
TRUTH_SEED = 20240404
EXPECTED = "expected utility"


def main() -> None:
    """Measure, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring, reporting = commands.add_parser("measure"), commands.add_parser("report")
    measuring.add_argument("run", type=Path, help="begins the names of what is written")
    measuring.add_argument("--path", required=True, help="checkpoint")
    measuring.add_argument("--name", help="of the model in tables (default: the checkpoint's)")
    measuring.add_argument("--first", type=int, help="the first so many sentences (default: all)")
    measuring.add_argument("--draws", default="independent,arithmetic", help=f"of {', '.join(VARIANTS)}")
    measuring.add_argument("--temperatures", default="0.3,0.5,0.7,1")
    measuring.add_argument("--num-hyp", default="5,10,16,25,32,50,100")
    measuring.add_argument("--seeds", default="1,2,3,4,5,6,7,8")
    measuring.add_argument("--truth", type=int, default=500, help="draws behind the expected utility (default: 500)")
    measuring.add_argument("--with-beam", action="store_true", help="decide among the translations of a beam, too")
    measuring.add_argument("--metrics", default="chrf,bleu")
    measuring.add_argument("--metric-args", default="{}", type=json.loads)
    reporting.add_argument("runs", type=Path, nargs="+")
    reporting.add_argument("--output", type=Path, help="write the cells there too, as TSV")
    args, flags = parser.parse_known_args()
    torch.set_num_threads(1)
    if args.command == "measure":
        measure(args, flags)
    elif flags:
        parser.error(f"unknown arguments: {' '.join(flags)}")
    else:
        report([Path(f"{run}.partial") for run in args.runs], args.output)


def measure(args: argparse.Namespace, flags: Sequence[str]) -> None:
    """Measure what the journal lacks."""
    bench = Bench(args, flags)
    seeds, kinds = (text.split(",") for text in (args.seeds, args.draws))
    with contextlib.closing(bench.journal) as journal:
        todo = [(kind, int(seed)) for seed in seeds for kind in kinds if (kind, int(seed)) not in journal]
        for kind, seed in tqdm(todo, unit=" pools"):
            journal.add((kind, seed), list(bench.rows(kind, seed)))


class Drawn(NamedTuple):
    """A pool of one sentence, and how many decoder rows its first draws needed.

    Attributes:
        pool: the texts.
        rows: ``(N + 1,)`` rows of the pool of the first k draws.
        again: rows of the passes that draw a pool as it grows (:data:`GROWTH`), by size; empty where it cannot.
    """

    pool: TextPool
    rows: np.ndarray
    again: dict[int, int]


def forwarded_rows(pool: TokenPool, first: int = 0) -> np.ndarray:
    """``(D - first + 1,)`` the decoder rows that a pass over draws ``first``, ``first + 1``, ... forwards, for each
    number of them: the distinct prefixes before their tokens."""
    seen: set[bytes] = set()
    counts = [0]
    for draw in pool.draws[first:]:
        tokens = pool.tokens[draw]
        seen.update(tokens[:length].tobytes() for length in range(len(tokens)))
        counts.append(len(seen))
    return np.array(counts)


class Bench:
    """A model, its test set, what expected utility is measured against, and the journal."""

    def __init__(self, args: argparse.Namespace, flags: Sequence[str]) -> None:
        self.sizes = [int(size) for size in args.num_hyp.split(",")]
        self.temperatures = [float(temperature) for temperature in args.temperatures.split(",")]
        follows = SAMPLING | BEAM | {"nbest"} if args.with_beam else SAMPLING
        self.workspace = Workspace([*flags, "--cpu"], args.first, follows)
        self.model = self.workspace.load(args.path, args.name)
        self.experiment = Experiment(self.workspace, [self.model], self.workspace.test_set())
        self.corpus = self.experiment.corpus
        self.utility = build_utility("chrf", {})
        options = MetricOptions(arguments=args.metric_args)
        self.metrics = [build_metric(name, options) for name in args.metrics.split(",")]
        settings = {**self.experiment.fingerprints(), "first": args.first, "flags": flags, "metrics": args.metrics,
                    "metric_args": args.metric_args, "sizes": self.sizes, "temperatures": self.temperatures,
                    "truth": args.truth, **({"beam": True} if args.with_beam else {})}  # fmt: skip
        self.journal = Journal(args.run, settings)
        store = PoolStore(Path(f"{args.run}.truth"), self.workspace, self.model, args.truth, "independent")
        keys = {t: PoolKey(TRUTH_SEED, REFERENCES, t) for t in self.temperatures}
        store.sample(list(keys.values()))
        self.truth = {t: store.read(key) for t, key in keys.items()}
        self._expected = {t: ByText(functools.partial(self._expected_utilities, t)) for t in self.temperatures}
        beam = self.workspace.translations(self.model) if args.with_beam else {}
        lists = [[one.text for one in beam[sentence]] for sentence in self.workspace.ids] if beam else None
        self.beam = None if lists is None else [list(dict.fromkeys(texts)) for texts in lists]
        self._segments = [ByText(functools.partial(self._rows_of, metric)) for metric in self.metrics]

    def rows(self, kind: str, seed: int) -> Iterator[Row]:
        """The rows of one seed and kind of draws."""
        variant = VARIANTS[kind]
        for sizes in [self.sizes] if variant.prefixes else [[size] for size in self.sizes]:
            drawn = self.draw(kind, seed, max(sizes))
            for temperature in self.temperatures:
                own = {"draws": kind, "temperature": temperature, "seed": seed}
                for row in self.decided(drawn[temperature], temperature, sizes):
                    yield {**self.experiment.columns(self.model), **own, **row}

    def draw(self, kind: str, seed: int, size: int) -> dict[float, list[Drawn]]:
        """The pools of all sentences at each temperature."""
        found: dict[float, dict[int, Drawn]] = {t: {} for t in self.temperatures}
        specs = [PoolSpec(size, t, HYPOTHESES) for t in self.temperatures]
        with in_place(VARIANTS[kind], self.model.members[0]):
            for prepared in self.workspace.prepared(self.model):
                sampler = dataclasses.replace(prepared.sampler, seed=seed, draws=VARIANTS[kind].draws)
                pools = sampler.sample(prepared.make_decoder, prepared.batch, specs).pools
                for sentence, own in zip(prepared.ids, pools, strict=True):
                    for t, pool in zip(self.temperatures, own, strict=True):
                        found[t][sentence] = _counted(pool, text_pool(pool, prepared.texts.target))
        return {t: [own[sentence] for sentence in self.workspace.ids] for t, own in found.items()}

    def decided(self, drawn: Sequence[Drawn], temperature: float, sizes: Sequence[int]) -> Iterator[Row]:
        """The rows of one temperature's pools: rule, num_hyp, distinct and rows (means over sentences), and scores."""
        pools = [one.pool for one in drawn]
        matrices = self.utility.pairwise_batch([Comparison(pool.texts, pool.texts) for pool in pools])
        chosen: dict[tuple[str, int], list[str]] = {}
        for rule in ("counts", "model"):
            for size in {*sizes, *(GROWTH if max(sizes) >= max(GROWTH) else ())}:
                both = zip(pools, matrices, strict=True)
                chosen[rule, size] = [choice(pool.first(size), matrix, rule) for pool, matrix in both]
        for size in sizes if self.beam is not None else ():
            chosen["beam", size], chosen["both", size] = self.among_beam(pools, matrices, size)
        for (rule, size), texts in chosen.items():
            if size in sizes:
                own = {
                    "rule": rule, "num_hyp": size,
                    "distinct": float(np.mean([len(pool.first(size).texts) for pool in pools])),
                    "rows": float(np.mean([one.rows[size] for one in drawn])),
                }  # fmt: skip
                yield from ({**own, **row} for row in self.judged(texts, temperature, rule != "model"))
        if max(sizes) >= max(GROWTH):
            yield from self.grown(drawn, chosen, temperature)

    def among_beam(
        self, pools: Sequence[TextPool], matrices: Sequence[np.ndarray], size: int
    ) -> tuple[list[str], list[str]]:
        """What the first draws, as references, choose among the translations of beam search, and among both."""
        alone, both = [], []
        for texts, pool, matrix in zip(self.beam, pools, matrices, strict=True):
            own = pool.first(size)
            weights = own.weights()
            (compared,) = self.utility.pairwise_batch([Comparison(texts, own.texts)])
            expected = [*(compared @ weights), *(matrix[: len(own.texts), : len(own.texts)] @ weights)]
            alone.append(texts[int(np.argmax(expected[: len(texts)]))])
            both.append([*texts, *own.texts][int(np.argmax(expected))])
        return alone, both

    def grown(
        self, drawn: Sequence[Drawn], chosen: dict[tuple[str, int], list[str]], temperature: float
    ) -> Iterator[Row]:
        """The rows of pools that grow until the choice stays the same; ``num_hyp`` is the mean size."""
        by_size = [chosen["counts", size] for size in GROWTH]
        settled = np.array([[one == other for one, other in zip(*pair, strict=True)]
                            for pair in zip(by_size, by_size[1:], strict=False)])  # (growths, B)  # fmt: skip
        last = np.where(settled[0], 1, 2)  # 16 and 32 agree: 32 it is
        texts = [by_size[which][sentence] for sentence, which in enumerate(last)]
        rows = [sum(one.again[size] for size in GROWTH[: which + 1]) for one, which in zip(drawn, last, strict=True)]
        own = {
            "rule": "grow", "num_hyp": float(np.mean([GROWTH[which] for which in last])), "distinct": None,
            "rows": float(np.mean(rows)),
        }  # fmt: skip
        yield from ({**own, **row} for row in self.judged(texts, temperature, False))
        fixed = float(np.mean([one.rows[GROWTH[-1]] for one in drawn]))
        own = {"rule": "largest", "num_hyp": GROWTH[-1], "distinct": None, "rows": fixed}
        yield from ({**own, **row} for row in self.judged(by_size[-1], temperature, False))

    def judged(self, texts: Sequence[str], temperature: float, fully: bool) -> Iterator[Row]:
        """The scores of a translated test set: expected utility, and the metrics; all of them where ``fully``."""
        expected = self._expected[temperature].of(texts)[:, 0]
        yield _score(EXPECTED, float(expected.mean()), expected)
        for metric, segments in zip(self.metrics if fully else self.metrics[:1], self._segments, strict=False):
            rows = segments.of(texts)
            yield _score(metric.label, total_score(metric, rows), contributions(rows, metric.score))

    def _expected_utilities(self, temperature: float, which: Sequence[int], texts: Sequence[str]) -> np.ndarray:
        """``(B, 1)`` under the pools of these sentences that no choice has seen."""
        pools = [self.truth[temperature][sentence] for sentence in which]
        compared = [Comparison([text], pool.texts) for text, pool in zip(texts, pools, strict=True)]
        matrices = self.utility.pairwise_batch(compared)
        return np.array([expected_utilities(m, pool.weights()) for m, pool in zip(matrices, pools, strict=True)])

    def _rows_of(self, metric: Metric, which: Sequence[int], texts: Sequence[str]) -> np.ndarray:
        sides = [list(side.values()) for side in (self.corpus.references, self.corpus.sources)]
        references, sources = ([side[sentence] for sentence in which] for side in sides)
        return metric.segments(texts, references, sources)


class ByText:
    """What belongs to a translation of a sentence, found once: seeds and sizes often choose the same.

    Args:
        find: (numbers of B sentences, their texts) -> ``(B, K)``.
    """

    def __init__(self, find: Callable[[Sequence[int], Sequence[str]], np.ndarray]) -> None:
        self._find = find
        self._known: dict[tuple[int, str], np.ndarray] = {}

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """``(B, K)`` for a text of every sentence."""
        keys = list(enumerate(texts))
        new = [key for key in keys if key not in self._known]
        if new:
            self._known.update(zip(new, self._find(*zip(*new, strict=True)), strict=True))
        return np.array([self._known[key] for key in keys])


def choice(pool: TextPool, matrix: np.ndarray, weights: str = "counts") -> str:
    """The text that the exact rule chooses from one shared pool, given the utilities of a pool that begins with it."""
    candidates = Pools.of([pool]).candidates(weights)
    size = len(pool.texts)
    return pool.texts[int(decide_exactly(candidates, matrix[:size, :size]).order[0])]


def _counted(tokens: TokenPool, pool: TextPool) -> Drawn:
    again = {}
    if len(pool.draws) >= max(GROWTH):
        for first, last in zip((0, *GROWTH), GROWTH, strict=False):
            again[last] = int(forwarded_rows(tokens, first)[last - first])
    return Drawn(pool, forwarded_rows(tokens), again)


def _score(metric: str, score: float, parts: np.ndarray) -> Row:
    return {"metric": metric, "score": round(score, 6), CONTRIBUTIONS: np.round(parts, 4).tolist()}


if __name__ == "__main__":
    sys.exit(main())
