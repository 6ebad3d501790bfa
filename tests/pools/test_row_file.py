"""Rows come in any order and leave sorted, while next to nothing of them stays in memory."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_inputs import inputs

from dcmbr_fairseq.pools import row_file
from dcmbr_fairseq.pools.row_file import RowFile

ids = st.integers(-3, 20) | st.integers(4090, 4100) | st.sampled_from([-(2**63), 2**63 - 1, 2**40])


@inputs(100)
@given(st.lists(ids, max_size=30), st.booleans(), st.integers(1, 200))
def test_rows_come_out_sorted_and_of_equal_ids_the_last(tmp_path_factory, numbers, packed, piece):
    folder = tmp_path_factory.mktemp("rows")
    with pytest.MonkeyPatch.context() as patch, (folder / "rows").open("w+b") as file:
        patch.setattr(row_file, "PACKED_AT_ONCE", piece)
        rows = RowFile(file, packed)
        for place, number in enumerate(numbers):
            rows.append({"id": number, "place": place})
            assert number in rows and rows.ids == set(numbers[: place + 1])
            assert not any(other in rows for other in range(-4, 22) if other not in numbers[: place + 1])
        rows.publish(folder / "sorted")
    found = [json.loads(line) for line in (folder / "sorted").read_text().splitlines()]
    last = {number: place for place, number in enumerate(numbers)}
    assert [(row["id"], row["place"]) for row in found] == sorted(last.items())


@pytest.mark.parametrize("packed, every", [(False, 1), (True, 32)])
def test_a_long_run_keeps_some_dozens_of_bytes_for_each_row(tmp_path, packed, every):
    """Also where a process has every 32nd sentence alone."""
    count = 30_000
    with (tmp_path / "rows").open("w+b") as file:
        rows = RowFile(file, packed)
        tracemalloc.start()
        for number in range(count):
            rows.note(number * every, b"{}\n")
        used = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    assert used < 60 * count
