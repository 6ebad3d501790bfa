"""Where a task's pools are recorded, and under which ids: fairseq's own, counted on where fairseq restarts them.

The name starts with an underscore because fairseq imports every other file of ``tasks/`` as a task of its own.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.data import FairseqDataset

from dcmbr_fairseq.pools.identity import Identity
from dcmbr_fairseq.pools.record_writer import RecordWriter


@dataclass
class _Records:
    """One file of ``--pools-out``, and how many sentences of earlier buffers it has."""

    writer: RecordWriter
    numbered: int = 0


class Recording:
    """The records that the present generator writes, if any, and the ids of their rows.

    The hub may ask for another file with each call, or for none: every file has its own writer and its own numbers.
    """

    def __init__(self) -> None:
        self._files: dict[str, _Records] = {}
        self._present: _Records | None = None
        self._expected: list[int] | None = None  # all ids to come, where they are known
        self._coming: deque[torch.Tensor] = deque()  # ids of the coming batches, where fairseq restarts them at 0

    @property
    def writer(self) -> RecordWriter | None:
        """Where the present generator writes; None where nobody has asked for records."""
        return None if self._present is None else self._present.writer

    def open(self, path: str | None, identity: Callable[[], Identity]) -> RecordWriter | None:
        """The writer of a new generator: one that is still open is written on.

        Args:
            path: of ``--pools-out``.
            identity: gives what the rows are made from; not asked where nothing is written.

        Raises:
            UserError: it cannot be written, or has been finished already.
        """
        self._coming.clear()  # of a run that has failed
        self._present = None
        if path is None:
            return None
        if path not in self._files or self._files[path].writer.closed:
            writer = RecordWriter(path, {"identity": identity().fields()})
            if self._expected is not None:
                writer.expect(self._expected)
            self._files[path] = _Records(writer)
        self._present = self._files[path]
        return self._present.writer

    def finish(self) -> None:
        """Give all files their final names; without this it happens when Python ends."""
        for records in self._files.values():
            records.writer.finish()

    def expect(self, iterator: Any) -> None:
        """Learn from fairseq's iterator over a split which sentences will come, in this shard of it."""
        batches = iterator.frozen_batches[iterator.shard_id :: iterator.num_shards]
        self._expected = [int(i) for batch in batches for i in batch]

    def count_on(self, dataset: FairseqDataset) -> None:
        """Number the sentences of a buffer of interactive or hub, if they are recorded.

        Their ids start again at 0 with each buffer, and fairseq-interactive drops them before it decodes a batch.
        """
        records = self._present
        if records is None:
            return
        collate, offset, ids = dataset.collater, records.numbered, self._coming

        def collater(*args: Any, **kwargs: Any) -> Any:
            batch = collate(*args, **kwargs)
            ids.append(batch["id"] + offset)
            return batch

        dataset.collater = collater
        records.numbered += len(dataset)

    def with_ids(self, sample: dict[str, Any]) -> dict[str, Any]:
        """A batch with the ids that its rows get."""
        return {**sample, "id": self._coming.popleft()} if self._coming else sample
