"""What a decoding step asks of a device: kernels launched, copies in each direction, waits; ours beside fairseq's own.

    python scripts/bench/budget.py CHECKPOINT DATA TEXT BPE_CODES [--sentences 8] [--size 20] [--temperature 0.5]

Counted on the rehearsal device (``rehearsal.py``), which exists for good in the process that makes it: so this is a
program of its own, which `benchmark.py` starts. A step is one call of the decoder. What happens once a batch (the
encoder, the sources' keys and values, what is read back in the end) is counted with the steps.
"""

import argparse
import json
from collections.abc import Callable
from typing import Any

import decoding
import rehearsal
from decoding import World

from dcmbr_fairseq.decoders.transformer import TransformerDecoder


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    decoding.add_world_arguments(parser, sentences=8)
    parser.add_argument("--size", type=int, default=20)
    parser.add_argument("--temperature", type=float, default=0.5)
    parser.add_argument("--places", action="store_true", help="where the copies and waits come from, too")
    args = parser.parse_args()
    world = decoding.given_world(args)
    print(json.dumps(budget(world, args.size, args.temperature, args.places), indent=2))


def budget(world: World, size: int, temperature: float, places: bool = False) -> dict[str, Any]:
    """Launches, copies and waits a step of a pool, ours and of fairseq's own sampling."""
    world = World(rehearsal.to_device(world.model), world.target, rehearsal.to_device(world.sample), world.texts)
    theirs = world.fairseq(size, temperature, sampling=True)
    report: dict[str, Any] = {}
    for name, owner, method, run in (
        ("ours", TransformerDecoder, "step", lambda: world.sample_pool(size, temperature)),
        ("fairseq", type(theirs.model), "forward_decoder", lambda: theirs.generate([world.model], world.sample)),
    ):
        counts, steps = counted(owner, method, run)
        report[name] = {"steps": steps, **counts.summary(steps)}
        if places:
            found = {place: n for place, n in counts.places.most_common() if not place.startswith("launches")}
            report[name]["places"] = {place: round(n / steps, 2) for place, n in found.items()}
    return report


def counted(owner: type, method: str, run: Callable[[], Any]) -> tuple[rehearsal.Counts, int]:
    """What ``run`` asks of the device, and how often it calls a method, which is a step."""
    original, steps = getattr(owner, method), 0

    def step(*args: Any, **kwargs: Any) -> Any:
        nonlocal steps
        steps += 1
        return original(*args, **kwargs)

    setattr(owner, method, step)
    try:
        with rehearsal.rehearse() as counts:
            run()
    finally:
        setattr(owner, method, original)
    return counts, steps


if __name__ == "__main__":
    main()
