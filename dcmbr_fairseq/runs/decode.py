"""One process' part of a decode: batch by batch into its file of records, and on from there where it was cut off."""

import contextlib
import json
import logging
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.json_lines import shown_json
from dcmbr_fairseq.files.signals import finishing_first
from dcmbr_fairseq.files.writing import new_file
from dcmbr_fairseq.measure.models import Model, Workspace
from dcmbr_fairseq.pools.identity import refuse_other
from dcmbr_fairseq.pools.merge import read_shard
from dcmbr_fairseq.pools.resumable_writer import ResumableWriter, remove_partial
from dcmbr_fairseq.pools.rows import read_rows
from dcmbr_fairseq.runs.ranks import Rank
from dcmbr_fairseq.runs.shards import windows

logger = logging.getLogger(__name__)

#: The process that has started this one on the same machine, if any: its end is ours.
LAUNCHER = "DCMBR_LAUNCHER"
#: What all processes of a decode must have in common, written down by the first of them.
RUN = "run.jsonl"

#: Options of fairseq's that a decode depends on and its records do not tell.
_GENERATION = ("max_len_a", "max_len_b", "min_len", "unkpen", "prefix_size", "nbest")

_EVERY_S = 30  # seconds between two lines of progress


@dataclass
class _Rows:
    """Stands where the generator writes records: the rows of a batch, until they are written together."""

    rows: list[Mapping[str, Any]] = field(default_factory=list)

    def write(self, row: Mapping[str, Any]) -> None:
        """Keep a row."""
        self.rows.append(row)

    def take(self) -> list[Mapping[str, Any]]:
        """The rows since the last call."""
        rows, self.rows = self.rows, []
        return rows


@dataclass
class ShardDecode:
    """The decode of one process' sentences.

    Attributes:
        workspace: the test set.
        model: the model.
        rank: which process of how many.
        folder: where its file of records goes.
        ending: of the file: ``.jsonl`` or ``.jsonl.gz``.
    """

    workspace: Workspace
    model: Model
    rank: Rank
    folder: Path
    ending: str

    def __post_init__(self) -> None:
        self._rows = _Rows()
        self.generator = self.workspace.task.build_generator(
            self.model.members, self.workspace.cfg.generation, extra_gen_cls_kwargs={"recorder": self._rows}
        )
        self.path = self.folder / self.rank.file_name(self.ending)

    def run(self) -> bool:
        """Decode what is not there yet; whether all is there now. A signal to end lets the batch come to its end.

        Raises:
            UserError: what is there was made otherwise, or something cannot be written.
        """
        try:
            return self._run_to_the_end()
        finally:
            if self.generator.utility is not None:
                self.generator.utility.close()

    def _run_to_the_end(self) -> bool:
        self._agree()
        if self.path.exists():
            self._check_complete()
            remove_partial(self.path)
            logger.info("%s: all %d sentences are there already", self.path, len(self.ids))
            return True
        common = {"identity": self.identity.fields()}
        with contextlib.closing(ResumableWriter(self.path, self._refuse_other_row, common)) as writer:
            if not self._decode(writer):
                return False
            if missing := self.ids - writer.ids:
                raise UserError(
                    f"{len(missing)} sentences were left out as too long, the first is {min(missing)}: leave out "
                    "--skip-invalid-size-inputs-valid-test"
                )
            writer.finish()
        logger.info("%s: %d sentences", self.path, len(self.ids))
        return True

    @cached_property
    def identity(self) -> Any:
        """What the records are made from."""
        return self.workspace.identity(self.model)

    @cached_property
    def ids(self) -> set[int]:
        """The sentences of this process."""
        return {int(i) for part in self._windows() for i in part}

    @cached_property
    def _by_length(self) -> np.ndarray:
        return self.workspace.by_length()

    def _windows(self) -> Iterator[np.ndarray]:
        return windows(self._by_length, self.rank.number, self.rank.count)

    def _decode(self, writer: ResumableWriter) -> bool:
        progress = _Progress(f"process {self.rank.number} of {self.rank.count}", len(self.ids), len(writer.ids))
        with finishing_first() as asked:
            for part in self._windows():
                if all(sentence in writer for sentence in part.tolist()):
                    continue
                for sample in self.workspace.batches(self.model, part):
                    if all(sentence in writer for sentence in sample["id"].tolist()):
                        continue  # the other batches stay as they would be
                    self._translate(sample)
                    rows = self._rows.take()
                    progress.add(len({row["id"] for row in rows if row["id"] not in writer}))
                    writer.write(rows)
                    if asked or _orphaned():
                        logger.info(
                            "ended by %s after %d of %d sentences, which are kept in %s: run the same command again",
                            asked[0].name if asked else "the end of its launcher", progress.done, progress.total,
                            writer.partial,
                        )  # fmt: skip
                        return progress.done == progress.total
        return True

    def _translate(self, sample: Any) -> None:
        size = self.workspace.cfg.generation.prefix_size
        prefix = sample["target"][:, :size] if size > 0 else None
        self.workspace.task.inference_step(self.generator, self.model.members, sample, prefix_tokens=prefix)

    @cached_property
    def _settings(self) -> dict[str, Any]:
        """What each row says beside its identity; as it is read again."""
        said = {
            "seed": self.generator.sampler.seed,
            "settings": self.generator.options.describe(),
            "signature": self.generator.signature,
        }
        return dict(json.loads(json.dumps(said)))

    def _in_common(self) -> dict[str, Any]:
        """What the processes of a decode have in common, as a row of JSON."""
        cfg = self.workspace.cfg
        generation = {name: cfg.generation[name] for name in _GENERATION}
        positions = getattr(cfg.task, "max_source_positions", None)
        common = {**generation, "max_source_positions": positions, "fp16": cfg.common.fp16}
        run = {**self._settings, **common, "processes": self.rank.count, "ending": self.ending}
        return {**dict(json.loads(json.dumps(run))), "identity": self.identity.fields()}

    def _agree(self) -> None:
        """Write down what is being decoded, and how, or compare it with what another process, or run, has written.

        Raises:
            UserError: it differs.
        """
        path, mine = self.folder / RUN, self._in_common()
        if new_file(path, json.dumps(mine) + "\n"):
            return
        found = next(read_rows(path), {})
        remedy = "give what it was begun with, or another --output"
        refuse_other(str(path), found, self.identity, remedy)
        for name, value in mine.items():
            if name != "identity" and found.get(name) != value:
                now, then = _differing(value, found.get(name))
                raise UserError(f"{path}: this decode was begun with another {name} ({then}, now {now}): {remedy}")

    def _refuse_other_row(self, row: Mapping[str, Any]) -> None:
        what = str(self.path) if self.path.exists() else f"{self.path}.partial"
        remedy = "delete it, or give another --output"
        refuse_other(what, row, self.identity, remedy)
        for name, value in self._settings.items():
            if row.get(name) != value:
                now, then = _differing(value, row.get(name))
                raise UserError(f"{what} was made with another {name} ({then}, now {now}): {remedy}")
        if row["id"] not in self.ids:
            raise UserError(f"{what} has sentence {row['id']}, which is another process': {remedy}")

    def _check_complete(self) -> None:
        """Refuse a finished file that holds something else than this process' sentences."""
        found = 0
        for row in read_shard(str(self.path)):
            self._refuse_other_row(row.fields)
            found += 1
        if found != len(self.ids):
            raise UserError(f"{self.path} has {found} of {len(self.ids)} sentences: delete it, and run this again")


class _Progress:
    """Tells now and then how far it is, and how long it will take at the speed of this run."""

    def __init__(self, name: str, total: int, done: int) -> None:
        self.name, self.total, self.done = name, total, done
        self._before, self._start = done, time.monotonic()
        self._told = self._start
        if done:
            logger.info("%s: goes on after %d of %d sentences", name, done, total)

    def add(self, count: int) -> None:
        """So many sentences more."""
        self.done += count
        now = time.monotonic()
        if now - self._told >= _EVERY_S:
            self._told = now
            speed = (self.done - self._before) / (now - self._start)
            left = "" if not speed else f", {speed:.1f} a second, {_duration((self.total - self.done) / speed)} left"
            logger.info("%s: %d of %d sentences%s", self.name, self.done, self.total, left)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02d} hours"


def _differing(now: Any, then: Any) -> tuple[str, str]:
    """Two values as a message shows them: the settings alone that differ."""
    if isinstance(now, dict) and isinstance(then, dict):
        name = next((name for name in {**now, **then} if now.get(name) != then.get(name)), "")
        return tuple(f"{name} {shown_json(each.get(name))}" for each in (now, then))  # type: ignore[return-value]
    return shown_json(now), shown_json(then)


def _orphaned() -> bool:
    """Whether the launcher of this process has gone, however it ended."""
    try:
        os.kill(int(os.environ.get(LAUNCHER, os.getpid())), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False
