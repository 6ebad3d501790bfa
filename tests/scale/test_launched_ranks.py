"""Which process this is, by flags and by what launchers say; which sentences it gets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.runs.ranks import Rank, this_rank
from dcmbr_fairseq.runs.shards import dealt, windows

TORCHRUN = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}
SRUN = {"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "6", "SLURM_LOCALID": "2", "SLURM_NTASKS": "6"}
ARRAY = {"SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_COUNT": "4"}


@pytest.mark.parametrize(
    "flags, environment, expected",
    [
        ((None, None), {}, None),
        ((None, 1), {}, (0, 1, 0)),
        ((2, 3), {}, (2, 3, 0)),
        ((None, None), TORCHRUN, (3, 8, 1)),
        ((None, None), {**TORCHRUN, **SRUN}, (3, 8, 1)),  # torchrun below Slurm
        ((None, None), SRUN, (5, 6, 2)),
        ((None, None), {"SLURM_PROCID": "0", "SLURM_NTASKS": "6"}, None),  # a batch script without srun
        ((None, None), ARRAY, (2, 4, 0)),
        ((None, None), {**ARRAY, "SLURM_ARRAY_TASK_STEP": "2", "SLURM_ARRAY_TASK_ID": "16"}, (3, 4, 0)),
        ((None, None), {**ARRAY, **SRUN}, (17, 24, 2)),  # each task of the array starts six
        ((None, 9), ARRAY, (2, 9, 0)),  # some tasks of an array of nine, once more
        ((1, 2), TORCHRUN, (1, 2, 1)),
    ],
)
def test_a_process_knows_its_number(flags, environment, expected):
    found = this_rank(*flags, environment)
    assert (None if found is None else (found.number, found.count, found.local)) == expected


@pytest.mark.parametrize(
    "flags, environment, sentence",
    [
        ((1, None), {}, "--distributed-rank 1 needs --distributed-world-size"),
        ((None, 4), {}, "--distributed-world-size 4 needs --distributed-rank, or --processes"),
        ((4, 4), {}, "--distributed-rank 4 is none of 4 processes, 0 to 3"),
        ((-1, 4), {}, "--distributed-rank -1 is none of 4 processes"),
        ((None, 2), ARRAY, "SLURM_ARRAY_TASK_ID=12 is none of 2 processes"),
        ((None, None), {"RANK": "one", "WORLD_SIZE": "2"}, "the environment says RANK=one"),
    ],
)
def test_numbers_that_do_not_fit_are_one_sentence(flags, environment, sentence):
    with pytest.raises(UserError, match=sentence):
        this_rank(*flags, environment)


def test_files_are_named_after_the_process():
    assert Rank(2, 10).file_name(".jsonl.gz") == "records.2-of-10.jsonl.gz"


@given(st.lists(st.integers(1, 60), min_size=0, max_size=300), st.integers(1, 7), st.integers(1, 50))
def test_each_sentence_has_one_process_and_all_get_the_same_lengths(lengths, count, window):
    sizes = np.array(lengths, dtype=np.int64)
    order = np.argsort(sizes, kind="stable")
    parts = [list(windows(order, rank, count, window)) for rank in range(count)]
    everything = [int(i) for part in parts for piece in part for i in piece]
    assert sorted(everything) == list(range(len(lengths)))
    for pieces in zip(*parts, strict=True):
        totals = [sizes[piece].sum() for piece in pieces]
        assert max(map(len, pieces)) - min(map(len, pieces)) <= 1
        assert max(totals) - min(totals) <= 2 * sizes.max()  # an unfinished round, and how the others differ
        for piece in pieces:
            assert (np.diff(sizes[piece]) >= 0).all()


def test_cards_are_dealt_there_and_back():
    assert [dealt(np.arange(7), rank, 3).tolist() for rank in range(3)] == [[0, 5, 6], [1, 4], [2, 3]]
