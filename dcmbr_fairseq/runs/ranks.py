"""Which process of how many this is: as flags, torch's launcher or Slurm say it. No process group is made.

Decoding needs no communication: each process has its own sentences and its own file.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcmbr_fairseq.errors import UserError


@dataclass(frozen=True)
class Rank:
    """One process.

    Attributes:
        number: which, from 0.
        count: of how many.
        local: which on its machine, from 0: chooses the GPU.
        source: who said so, for messages.
    """

    number: int
    count: int
    local: int = 0
    source: str = "default"

    def file_name(self, ending: str) -> str:
        """The name of its file of records."""
        return f"records.{self.number}-of-{self.count}{ending}"


def this_rank(number: int | None, count: int | None, environment: Mapping[str, str] = os.environ) -> Rank | None:
    """Which process this is; None where nothing says it: then this command is the first of its kind.

    Args:
        number: ``--distributed-rank``, if given.
        count: ``--distributed-world-size``, if given. Alone it says of how many a launcher's numbers are, as for an
            array job of which some tasks are run again.
        environment: the variables that torchrun and Slurm set.

    Raises:
        UserError: the numbers do not fit each other.
    """
    found = _launched(environment)
    if number is not None:
        if count is None:
            raise UserError(f"--distributed-rank {number} needs --distributed-world-size: of how many it is")
        local = found.local if found is not None else 0
        found = Rank(number, count, local, f"--distributed-rank {number}")
    elif count is not None:
        if found is None:
            if count == 1:
                return Rank(0, 1)
            raise UserError(f"--distributed-world-size {count} needs --distributed-rank, or --processes instead")
        found = replace(found, count=count)
    if found is not None and not 0 <= found.number < found.count:
        raise UserError(
            f"{found.source} is none of {found.count} processes, 0 to {found.count - 1}: give the number of all of them"
        )
    return found


def _launched(environment: Mapping[str, str]) -> Rank | None:
    """As a launcher says: torchrun first, since it may run below Slurm; then Slurm's steps and array jobs together."""
    if "RANK" in environment and "WORLD_SIZE" in environment:
        number, count, local = (_whole(environment, name) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
        return Rank(number, count, local, f"RANK={number}")
    number, count, local, words = 0, 1, 0, []
    if "SLURM_STEP_NUM_TASKS" in environment:  # srun sets it for its tasks; a batch script alone has none
        number, count, local = (
            _whole(environment, name) for name in ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID")
        )
        words.append(f"SLURM_PROCID={number}")
    if "SLURM_ARRAY_TASK_ID" in environment:
        task, least, step = (
            _whole(environment, f"SLURM_ARRAY_TASK_{name}", default)
            for name, default in (("ID", 0), ("MIN", 0), ("STEP", 1))
        )
        tasks = _whole(environment, "SLURM_ARRAY_TASK_COUNT", 1)
        number, count = (task - least) // max(1, step) * count + number, tasks * count
        words.append(f"SLURM_ARRAY_TASK_ID={task}")
    return Rank(number, count, local, " ".join(words)) if words else None


def _whole(environment: Mapping[str, str], name: str, default: int = 0) -> int:
    text = environment.get(name, str(default))
    if not text.isdecimal():
        raise UserError(f"the environment says {name}={text}, which is no number of a process: unset it")
    return int(text)
