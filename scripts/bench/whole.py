"""Whole DC-MBR decodes by each kind of draws against beam search, and our pools against CTranslate2's.

Contestants decode the same batch in alternating runs. Threads that wait cost the processor's time too: compare several
threads by the clock, on a machine without other work.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from decoding import World, report_of
from timing import medians, ratio

from dcmbr_fairseq.sampling.prefix_sampler import Sampled

BEAM = 5


class Pool(NamedTuple):
    """Kind of draws, N and T of a DC-MBR decode."""

    draws: str
    size: int
    temperature: float


#: What was measured to be about as good (docs/results.md).
POOLS = (Pool("independent", 50, 0.5), Pool("arithmetic", 32, 0.5), Pool("arithmetic", 16, 0.3))


def whole_decodes(
    world: World, runs: int, threads: int, pools: Sequence[Pool] = POOLS, max_len: int = 200
) -> dict[str, Any]:
    """A decode by beam search of 5, and by DC-MBR with chrF and each of ``pools``.

    Args:
        world: model and batch.
        runs: timed runs of each.
        threads: torch's.
        pools: how (default: :data:`POOLS`).
        max_len: most tokens of a translation.
    """
    beam = world.fairseq(BEAM, max_len_b=max_len)
    contestants = {"beam": lambda: beam.generate([world.model], world.sample)}
    rows = {}
    for kind, size, temperature in pools:
        name = f"{kind} {size}, T = {temperature:g}"
        decode = world.dcmbr(size, draws=kind, temperature=temperature, max_len_b=max_len)
        contestants[name] = lambda decode=decode: decode.generate([world.model], world.sample)  # type: ignore[misc]
        rows[name] = world.sample_pool(size, temperature, max_len, kind).rows
    torch.set_num_threads(threads)
    try:
        times = medians(contestants, runs)
    finally:
        torch.set_num_threads(1)
    found: dict[str, Any] = {"beam": {"ms": times["beam"].rounded(0)}}
    for name, count in rows.items():
        faster = ratio(times["beam"], times[name]).rounded(2)
        found[name] = {"ms": times[name].rounded(0), "times_as_fast_as_beam": faster, "rows": count}
    return found


def converted(checkpoint: Path, data: Path, folder: Path) -> Any:
    """CTranslate2's translator of a fairseq checkpoint, float32 on one thread.

    Raises:
        ImportError: CTranslate2 is not installed.
    """
    import ctranslate2
    from ctranslate2.converters import FairseqConverter

    FairseqConverter(str(checkpoint), str(data), unsafe_deserialization=True).convert(str(folder), force=True)
    return ctranslate2.Translator(str(folder), device="cpu", compute_type="float32", inter_threads=1, intra_threads=1)


def ctranslate2_benchmark(world: World, checkpoint: Path, data: Path, runs: int) -> Any:
    """Our pools against CTranslate2's sampling of as many hypotheses; a sentence where it is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            translator = converted(checkpoint, data, Path(folder))
        except ImportError:
            return "left out: CTranslate2 is not installed (pip install ctranslate2)"
        return {
            f"pool of {size}, T = {temperature:g}": _against_ctranslate2(world, translator, size, temperature, runs)
            for size, temperature in ((50, 0.5), (250, 0.5), (50, 1.0))
        }


def _against_ctranslate2(world: World, translator: Any, size: int, temperature: float, runs: int) -> dict[str, Any]:
    pieces = world.source_pieces()

    def theirs() -> Any:
        return translator.translate_batch(
            pieces, beam_size=1, num_hypotheses=size, sampling_topk=0, sampling_temperature=temperature,
            max_decoding_length=200,
        )  # fmt: skip

    def ours() -> Sampled:
        return world.sample_pool(size, temperature)

    assert all(len(found.hypotheses) == size for found in theirs())
    return report_of(medians({"ctranslate2": theirs, "ours": ours}, runs), "ctranslate2", "ours")
