"""Where a task's pools are recorded, and under which ids: fairseq's own, counted on where fairseq restarts them.

The name starts with an underscore because fairseq imports every other file of ``tasks/`` as a task of its own.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from fairseq.data import FairseqDataset

from dcmbr_fairseq.pools.identity import Identity
from dcmbr_fairseq.pools.record_writer import RecordWriter


class Recording:
    """The writer of ``--pools-out``, where one is asked for, and the ids of its rows.

    Attributes:
        writer: None as long as nobody has asked for records.
    """

    def __init__(self) -> None:
        self.writer: RecordWriter | None = None
        self._expected: list[int] | None = None  # all ids to come, where they are known
        self._numbered = 0  # sentences of earlier buffers
        self._coming: deque[torch.Tensor] = deque()  # ids of the coming batches, where fairseq restarts them at 0

    def open(self, path: str | None, identity: Callable[[], Identity]) -> RecordWriter | None:
        """The writer; made when first asked for.

        Args:
            path: of ``--pools-out``.
            identity: gives what the rows are made from; not asked where nothing is written.

        Raises:
            UserError: it cannot be written.
        """
        if path is not None and self.writer is None:
            self.writer = RecordWriter(path, {"identity": identity().fields()})
            if self._expected is not None:
                self.writer.expect(self._expected)
        return self.writer

    def expect(self, iterator: Any) -> None:
        """Learn from fairseq's iterator over a split which sentences will come, in this shard of it."""
        batches = iterator.frozen_batches[iterator.shard_id :: iterator.num_shards]
        self._expected = [int(i) for batch in batches for i in batch]

    def count_on(self, dataset: FairseqDataset) -> None:
        """Number the sentences of a buffer of interactive or hub, if they are recorded.

        Their ids start again at 0 with each buffer, and fairseq-interactive drops them before it decodes a batch.
        """
        if self.writer is None:
            return
        collate, offset, ids = dataset.collater, self._numbered, self._coming

        def collater(*args: Any, **kwargs: Any) -> Any:
            batch = collate(*args, **kwargs)
            ids.append(batch["id"] + offset)
            return batch

        dataset.collater = collater
        self._numbered += len(dataset)

    def with_ids(self, sample: dict[str, Any]) -> dict[str, Any]:
        """A batch with the ids that its rows get."""
        return {**sample, "id": self._coming.popleft()} if self._coming else sample
