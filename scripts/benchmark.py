"""All speed figures of docs/results.md: ratios against named baselines, measured in one run, printed as JSON.

    python scripts/benchmark.py --checkpoint MODEL.pt --data DATA_BIN --text TEST.en --bpe-codes CODES [--only NAME ...]

Without --checkpoint the demo's model is used (run scripts/demo.sh first). One thread, the same batch of 16 sentences
for both sides, medians of alternating runs. On a machine with other work look at the processor's time (``cpu``).
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy and torch are imported

import argparse  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import torch  # noqa: E402

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "bench"))
import decoding  # noqa: E402
import kernels  # noqa: E402
import whole  # noqa: E402

DEMO = HERE.parent / "work" / "demo"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, help="fairseq checkpoint of a bilingual model (default: the demo's)")
    parser.add_argument("--data", type=Path, help="folder with its dict.*.txt (default: the checkpoint's folder)")
    parser.add_argument("--text", type=Path, help="source sentences, one a line, plain or .gz")
    parser.add_argument("--bpe-codes", type=Path, help="subword-nmt codes")
    parser.add_argument("--sentences", type=int, default=16, help="sentences of the batch (default: 16)")
    parser.add_argument("--runs", type=int, default=5, help="timed runs of each side (default: 5)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="of whole, base-whole (default: 1 2)")
    parser.add_argument("--kernel-text", type=Path, help="sentences for the utility kernels (default: made up)")
    parser.add_argument("--mbrs-decode", type=Path, help="mbrs-decode of an environment of its own, to compare with")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=("decoding", "whole", "ctranslate2", "base", "base-whole", "budget", "kernels", "mbrs"),
        help="some of the figures; whole: decodes in batches of 16 and 64",
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(json.dumps(benchmarks(_with_defaults(args)), indent=2))


def _with_defaults(args: argparse.Namespace) -> argparse.Namespace:
    if args.checkpoint is None:
        args.checkpoint, args.data = DEMO / "model" / "checkpoint_best.pt", args.data or DEMO / "bin"
        args.text, args.bpe_codes = args.text or DEMO / "text" / "test.en", args.bpe_codes or DEMO / "bpe.codes"
    args.data = args.data or args.checkpoint.parent
    for name in ("checkpoint", "data", "text", "bpe_codes"):
        path = getattr(args, name)
        if path is None or not path.exists():
            raise SystemExit(f"--{name.replace('_', '-')} {path} does not exist: give its path, or run scripts/demo.sh")
    return args


def benchmarks(args: argparse.Namespace) -> dict[str, Any]:
    """The figures asked for by name."""

    def own(sentences: int) -> decoding.World:
        return decoding.trained_world(args.checkpoint, args.data, args.text, args.bpe_codes, sentences)

    world = own(args.sentences)
    parts: dict[str, Callable[[], Any]] = {
        "decoding": lambda: decoding.decoding_benchmarks(world, args.runs),
        "whole": lambda: {
            f"batch of {size}, threads: {threads}": whole.whole_decodes(own(size), args.runs, threads)
            for size in (16, 64) for threads in args.threads
        },
        "ctranslate2": lambda: whole.ctranslate2_benchmark(world, args.checkpoint, args.data, args.runs),
        "base": lambda: decoding.base_benchmark(args.runs),
        "budget": lambda: step_budget(args),
        "base-whole": lambda: {
            f"threads: {threads}": whole.whole_decodes(decoding.base_world(), args.runs, threads, max_len=16)
            for threads in args.threads
        },
        "kernels": lambda: kernels.kernel_benchmarks(args.kernel_text, None, args.runs),
    }
    if args.mbrs_decode is not None:
        parts["mbrs"] = lambda: decoding.mbrs_benchmark(world, args.mbrs_decode, args.runs)
    report: dict[str, Any] = {"torch": torch.__version__, "threads": torch.get_num_threads(), "runs": args.runs}
    for name, part in parts.items():
        if not args.only or name in args.only:
            print(f"measuring {name} ...", file=sys.stderr)
            report[name] = part()
    return report


def step_budget(args: argparse.Namespace) -> dict[str, Any]:
    """What a step asks of a device, by ``bench/budget.py``: the rehearsal device needs a process of its own."""
    paths = [args.checkpoint, args.data, args.text, args.bpe_codes]
    done = subprocess.run(
        [sys.executable, HERE / "bench" / "budget.py", *paths], check=True, stdout=subprocess.PIPE, text=True
    )
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    main()
