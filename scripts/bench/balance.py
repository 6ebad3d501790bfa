"""Do the processes of a decode end together? Processor's seconds of each, and what fairseq's way of dealing would give.

    python scripts/bench/balance.py COUNT DATA --path MODEL [flags of fairseq-generate]

All shards are decoded one after the other in this process, into a folder that is thrown away. fairseq deals batches,
which it has made of all sentences by length, in turn; its shards are decoded batch by batch in the same way.
"""

import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dcmbr_fairseq.commands.generate import with_defaults
from dcmbr_fairseq.measure.flags import DECODING
from dcmbr_fairseq.measure.models import Workspace
from dcmbr_fairseq.runs.decode import ShardDecode
from dcmbr_fairseq.runs.ranks import Rank


def main() -> None:
    """Decode, and print JSON."""
    logging.basicConfig(level=logging.WARNING)
    count, *flags = sys.argv[1:]
    at = flags.index("--path")
    workspace = Workspace(with_defaults([*flags[:at], *flags[at + 2 :]]), follows=DECODING)
    model = workspace.load(flags[at + 1])
    with tempfile.TemporaryDirectory() as folder:
        decodes = [
            ShardDecode(workspace, model, Rank(rank, int(count)), Path(folder), ".jsonl") for rank in range(int(count))
        ]
        decode, batches = decodes[0], list(workspace.batches(model))
        for batch in batches:  # what is made once, and memory that grows, is there before
            decode._translate(batch)
        decode._rows.take()
        ours = [seconds(each.run) for each in decodes]
    theirs = [
        seconds(lambda r=rank: [decode._translate(b) for b in batches[r :: int(count)]]) for rank in range(int(count))
    ]
    print(
        json.dumps(
            {"ours": shares(ours), "batches in turn, as fairseq": shares(theirs), "batches": len(batches)}, indent=2
        )
    )


def seconds(run: Callable[[], Any]) -> float:
    """Processor's time."""
    start = time.process_time()
    run()
    return time.process_time() - start


def shares(times: list[float]) -> dict[str, Any]:
    """Times, and the longest over the mean."""
    mean = sum(times) / len(times)
    return {"seconds": [round(each, 2) for each in times], "longest_over_mean": round(max(times) / mean, 3)}


if __name__ == "__main__":
    main()
