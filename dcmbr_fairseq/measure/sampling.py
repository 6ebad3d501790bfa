"""Pools for a whole grid of temperatures and seeds from one decoding pass, kept on disk as records.

Each batch is encoded once; each seed then samples its pools at all temperatures together, sharing decoder rows. Pools
at different temperatures use the same uniform numbers (or codes), so that a grid compares like with like, and the first
k draws of a pool are the pool of size k. A run that was cut off goes on with the next batch. The files are those of
``--decoding sample --pools-out``: `dcmbr select` and `dcmbr report` read them.
"""

import contextlib
import dataclasses
import functools
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from dcmbr_fairseq.decoding.options import HYPOTHESES
from dcmbr_fairseq.decoding.texts import text_pool
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.models import Model, Workspace
from dcmbr_fairseq.measure.preparation import Prepared, sampling_options
from dcmbr_fairseq.pools.draws import PoolSpec, TextPool
from dcmbr_fairseq.pools.identity import Identity, refuse_other
from dcmbr_fairseq.pools.resumable_writer import ResumableWriter
from dcmbr_fairseq.pools.rows import make_row, read_records, read_rows
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.pools.settings import SETTINGS

logger = logging.getLogger(__name__)


class PoolKey(NamedTuple):
    """Which pool of every sentence: the seed, the stream of uniform numbers (hypotheses or references), T."""

    seed: int
    stream: int
    temperature: float


@dataclasses.dataclass(frozen=True)
class PoolStore:
    """The pools of one model on disk.

    Attributes:
        folder: where the files are.
        workspace: the sentences.
        model: the model.
        size: draws of each pool.
        draws: independent or arithmetic.
    """

    folder: Path
    workspace: Workspace
    model: Model
    size: int
    draws: str = SETTINGS["draws"].default

    def path(self, key: PoolKey) -> Path:
        """The file of a pool."""
        part = "hypotheses" if key.stream == HYPOTHESES else "references"
        name = re.sub(r"[^\w.+-]+", "_", self.model.name)  # it may be a path
        kind = "" if self.draws == "independent" else f".{self.draws}"  # files without it are older than the others
        return self.folder / f"{name}.seed{key.seed}.{part}.T{key.temperature:g}{kind}.jsonl.gz"

    @functools.cached_property
    def identity(self) -> Identity:
        """The model and the sentences."""
        return self.workspace.identity(self.model)

    def settings(self, key: PoolKey) -> dict[str, Any]:
        """What a pool depends on beside the :attr:`identity`, as its records say."""
        cfg = self.workspace.cfg
        options = sampling_options(cfg)
        return {
            "decoding": "sample",
            "temperature": key.temperature,
            "stream": key.stream,
            "draws": self.draws,
            "truncation": dataclasses.asdict(options.truncation),
            "lengths": [cfg.generation.min_len, cfg.generation.max_len_a, cfg.generation.max_len_b],
            "max_source_positions": getattr(cfg.task, "max_source_positions", None),
            "unkpen": cfg.generation.unkpen,
            "fp16": cfg.common.fp16,
            "num_hyp": self.size,
        }

    def has(self, key: PoolKey) -> bool:
        """Whether the pool is there, large enough.

        Raises:
            UserError: the file holds a pool of something else.
        """
        path = self.path(key)
        if not path.exists():
            return False
        found = next(read_rows(path), {})
        size = found.get("settings", {}).get("num_hyp")
        self._refuse_other(path, found, {**self.settings(key), "num_hyp": size})
        return size >= self.size

    def _refuse_other(self, path: Path, row: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        remedy = "delete it, or give another --pools"
        refuse_other(str(path), row, self.identity, remedy)
        # older pools do not say it, and are; those in half precision are not told from others
        found = {"draws": "independent", "fp16": False, **row.get("settings", {})}
        for name, value in wanted.items():
            if found.get(name) != value:
                raise UserError(f"{path} was sampled with another {name} ({found.get(name)}, now {value}): {remedy}")

    def sample(self, keys: Sequence[PoolKey]) -> None:
        """Make the pools that are not there yet; a run that was cut off goes on with the next batch.

        Raises:
            UserError: see :meth:`has`; or the model gives no distribution.
        """
        todo = [key for key in dict.fromkeys(keys) if not self.has(key)]
        if not todo:
            return
        with contextlib.ExitStack() as undo:
            files = {key: self._begin(key) for key in todo}
            for file in files.values():
                undo.callback(file.close)
            self._run(files)
            for file in files.values():
                file.finish()

    def _begin(self, key: PoolKey) -> ResumableWriter:
        partial, wanted = Path(f"{self.path(key)}.partial"), self.settings(key)
        common = {"seed": key.seed, "settings": wanted, "identity": self.identity.fields()}
        return ResumableWriter(self.path(key), lambda row: self._refuse_other(partial, row, wanted), common)

    def _run(self, files: dict[PoolKey, ResumableWriter]) -> None:
        bar = tqdm(total=len(self.workspace.ids), desc=f"{len(files)} pools of {self.model.name}", unit=" sentences")
        done = set.intersection(*(file.ids for file in files.values()))
        bar.update(len(done))
        with bar:
            for prepared in self.workspace.prepared(self.model, done=done):
                for key, pools in sampled(prepared, list(files), self.size, self.draws).items():
                    rows = (
                        make_row(sentence, Pools.of([pool], prepared.texts.source(source)), 0)
                        for sentence, source, pool in zip(prepared.ids, prepared.batch.sources, pools, strict=True)
                    )
                    files[key].write(rows)
                bar.update(len(set(prepared.ids) - done))

    def read(self, key: PoolKey) -> list[TextPool]:
        """The pools of all sentences, in order, of the first ``size`` draws."""
        return [record.pools.hypotheses.first(self.size) for record in read_records(self.path(key))]


def sampled(
    prepared: Prepared, keys: Sequence[PoolKey], size: int, draws: str = SETTINGS["draws"].default
) -> dict[PoolKey, list[TextPool]]:
    """The pools of a batch: for each key one pool for each sentence."""
    found: dict[PoolKey, list[TextPool]] = {}
    for seed in dict.fromkeys(key.seed for key in keys):
        mine = [key for key in keys if key.seed == seed]
        sampler = dataclasses.replace(prepared.sampler, seed=seed, draws=draws)
        specs = [PoolSpec(size, key.temperature, key.stream) for key in mine]
        pools = sampler.sample(prepared.make_decoder, prepared.batch, specs).pools
        for index, key in enumerate(mine):
            found[key] = [text_pool(sentence[index], prepared.texts.target) for sentence in pools]
    return found
