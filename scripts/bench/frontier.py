"""Quality against cost: seconds, decoder rows and scores of whole decodes by every way of decoding, in one run.

    python scripts/bench/frontier.py OUT.tsv --path MODEL [--distilled MODEL] [options] DATA_BIN -s en -t de \\
        --gen-subset test --user-dir dcmbr_fairseq --task translation_dcmbr --remove-bpe --tokenizer moses

Each *system* decodes the whole subset on one thread, from binarised sources to text. A seed is a round over all
systems, so that a machine that is slower for a while is so for all of them; seconds are the processor's. What was
measured is kept in ``OUT.tsv.partial``, and the same command goes on from there. ``dcmbr plot cost OUT.tsv --where
metric=BLEU`` draws it.

fairseq's samples are drawn by fairseq itself (``--sampling --nbest N``) and decided among by our exact kernel, which is
as cheap as any. Rows are those that a decoder forwards, one for each prefix of each step.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy is imported

import argparse  # noqa: E402
import contextlib  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402
from unittest.mock import patch  # noqa: E402

import torch  # noqa: E402
from fairseq.sequence_generator import EnsembleModel  # noqa: E402
from tqdm import tqdm  # noqa: E402

from dcmbr_fairseq.decoding.generation_options import GENERATION  # noqa: E402
from dcmbr_fairseq.measure.cells import without_statistics  # noqa: E402
from dcmbr_fairseq.measure.experiment import Experiment  # noqa: E402
from dcmbr_fairseq.measure.flags import DECODING  # noqa: E402
from dcmbr_fairseq.measure.grid import Plan, Sizes  # noqa: E402
from dcmbr_fairseq.measure.models import Translation, Workspace  # noqa: E402
from dcmbr_fairseq.measure.sweep import Judge, choose  # noqa: E402
from dcmbr_fairseq.pools.draws import TextPool  # noqa: E402
from dcmbr_fairseq.pools.sentence import Pools  # noqa: E402
from dcmbr_fairseq.present.tidy import Journal  # noqa: E402
from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler, Sampled  # noqa: E402
from dcmbr_fairseq.utilities import build_utility  # noqa: E402


class System(NamedTuple):
    """A way of decoding.

    Attributes:
        name: what tables call it.
        size: N; the beam's for beam search.
        flags: fairseq-generate's.
        draws: their kind.
        distilled: whether the distilled model decodes.
    """

    name: str
    size: int
    flags: tuple[str, ...]
    draws: str = "independent"
    distilled: bool = False


def systems(args: argparse.Namespace) -> Iterator[System]:
    """The systems that are compared."""
    first, *others = args.temperatures
    for size in args.beams:
        yield System("beam search", size, ("--beam", f"{size}"), draws="none")
        if args.distilled:
            yield System("beam search, distilled", size, ("--beam", f"{size}"), draws="none", distilled=True)
    for size in args.num_hyp:
        cooled = dcmbr(size, first)
        yield System("MBR", size, ("--decoding", "mbr", "--num-hyp", f"{size}", "--draws", "independent"))
        yield System("DC-MBR", size, cooled)
        yield System("DC-MBR, arithmetic draws", size, dcmbr(size, first, "arithmetic"), "arithmetic")
        for other in others:
            name = f"DC-MBR, arithmetic draws, T = {other:g}"
            yield System(name, size, dcmbr(size, other, "arithmetic"), "arithmetic")
        if size >= args.saving_from:
            yield System("DC-MBR, coarse selection", size, (*cooled, "--selection", "coarse"))
            yield System("DC-MBR, pruning", size, (*cooled, "--selection", "prune"))
        if size <= args.fairseq_to:
            number = ("--beam", f"{size}", "--nbest", f"{size}")
            yield System("fairseq's samples, cooled", size, ("--sampling", "--temperature", f"{first:g}", *number))


def dcmbr(size: int, temperature: float, draws: str = "independent") -> tuple[str, ...]:
    """fairseq-generate's flags of DC-MBR by chrF."""
    cooled = ("--temp-hyp", f"{temperature:g}", "--temp-ref", f"{temperature:g}")
    return ("--decoding", "dcmbr", "--num-hyp", f"{size}", "--draws", draws, *cooled)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="the table")
    parser.add_argument("--path", required=True, help="checkpoint")
    parser.add_argument("--distilled", help="checkpoint of a model that has learnt from the other's translations")
    parser.add_argument("--name", help="of the model in tables (default: the checkpoint's)")
    parser.add_argument("--test-set", help="its name in tables (default: that of the data folder, and the direction)")
    parser.add_argument("--first", type=int, help="the first so many sentences (default: all)")
    parser.add_argument(
        "--temperatures", type=_temperatures, default=(0.5, 0.3),
        help="T_h = T_r; arithmetic draws at all of them, the rest at the first (default: 0.5,0.3)",
    )  # fmt: skip
    parser.add_argument("--beams", type=_numbers, default=(1, 2, 5, 10))
    parser.add_argument("--num-hyp", type=_numbers, default=(5, 10, 16, 25, 32, 50, 100, 250))
    parser.add_argument(
        "--fairseq-to", type=int, default=50, help="the largest pool that fairseq samples (default: 50)"
    )
    parser.add_argument("--saving-from", type=int, default=100, help="the smallest pool with coarse and prune (100)")
    parser.add_argument("--seeds", type=_numbers, default=(1, 2, 3))
    parser.add_argument("--metrics", default="chrf,bleu")
    parser.add_argument("--metric-args", default="{}", type=json.loads)
    args, flags = parser.parse_known_args()
    torch.set_num_threads(1)
    logging.disable(logging.INFO)  # each decode loads task, data and model anew, and says so
    measure(args, [*flags, "--cpu"])


def _temperatures(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def measure(args: argparse.Namespace, flags: list[str]) -> None:
    """Measure what the journal lacks, and write the table."""
    workspace = Workspace(flags, args.first)
    model = workspace.load(args.path, args.name)
    experiment = Experiment(workspace, [model], args.test_set or workspace.test_set())
    temperatures = [(t, t) for t in args.temperatures]
    plan = Plan([Sizes(n, n) for n in args.num_hyp], temperatures, metrics=args.metrics.split(","),
                metric_args=args.metric_args)  # fmt: skip
    settings = {**experiment.fingerprints(), **vars(args), "output": None, "flags": flags}
    as_text = {name: str(value) for name, value in settings.items()}
    contestants = list(systems(args))
    keys = [(seed, system.name, system.size) for seed in args.seeds for system in contestants]
    by_key = {key: system for key, system in zip(keys, contestants * len(args.seeds), strict=True)}
    with (
        contextlib.closing(Judge(plan, experiment.corpus)) as judge,
        contextlib.closing(Journal(args.output, as_text)) as journal,
    ):
        decode(experiment, contestants[0], args, flags, seed=1)  # the first run pays for memory and kernels
        for key in tqdm([key for key in keys if key not in journal], unit=" decodes"):
            translations, seconds, rows = decode(experiment, by_key[key], args, flags, seed=key[0])
            own = {**experiment.columns(model), "system": by_key[key].name, "num_hyp": by_key[key].size,
                   "draws": by_key[key].draws, "seed": key[0]}  # fmt: skip
            cost = {"seconds": round(seconds / len(translations), 6), "rows": rows / len(translations)}
            scores = without_statistics(list(judge.rows(translations)))
            journal.add(key, [{**own, **cost, **row} for row in scores])
        journal.finish(journal.rows(keys))


def decode(
    experiment: Experiment, system: System, args: argparse.Namespace, flags: Sequence[str], seed: int
) -> tuple[list[str], float, int]:
    """A decode of the subset.

    Returns:
        the translations in the subset's order; seconds of the processor; forwarded rows.
    """
    follows = DECODING if "--decoding" in system.flags else GENERATION
    workspace = Workspace([*flags, *system.flags, "--seed", f"{seed}"], experiment.workspace.first, follows)
    model = workspace.load(args.distilled if system.distilled else args.path)
    torch.manual_seed(seed)  # fairseq's samples
    with counted_rows() as rows:
        start = time.process_time()
        found = workspace.translations(model)
        lists = [found[sentence] for sentence in experiment.workspace.ids]
        texts = decided(lists) if "--sampling" in system.flags else [nbest[0].text for nbest in lists]
        seconds = time.process_time() - start
    return texts, seconds, rows[0]


def decided(samples: Sequence[Sequence[Translation]]) -> list[str]:
    """The samples with the highest expected chrF, as many a sentence for all."""
    pools = []
    for drawn in samples:
        log_probs = [one.log_prob for one in drawn]
        pools.append(Pools.of([TextPool.from_draws([one.text for one in drawn], log_probs, log_probs)]))
    size = len(samples[0])
    return choose(pools, build_utility("chrf", {}), [Sizes(size, size)])[0]


@contextlib.contextmanager
def counted_rows() -> Iterator[list[int]]:
    """One number: the rows that decoders forward inside the block, fairseq's and ours."""
    rows = [0]
    sample, forward = PrefixSampler.sample, EnsembleModel.forward_decoder

    def sampling(*args: Any, **others: Any) -> Sampled:
        found = sample(*args, **others)
        rows[0] += found.rows
        return found

    def forwarding(self: Any, tokens: torch.Tensor, *args: Any, **others: Any) -> Any:
        rows[0] += len(tokens)
        return forward(self, tokens, *args, **others)

    with patch.object(PrefixSampler, "sample", sampling), patch.object(EnsembleModel, "forward_decoder", forwarding):
        yield rows


if __name__ == "__main__":
    sys.exit(main())
