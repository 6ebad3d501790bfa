"""The grid of a sweep: its axes, its cells in groups that share utility matrices, and the pools that they need."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dcmbr_fairseq.decoding.options import HYPOTHESES, REFERENCES
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.segments import refuse_unused
from dcmbr_fairseq.measure.sampling import PoolKey
from dcmbr_fairseq.pools.settings import SETTINGS

#: The columns that tell cells apart.
COLUMNS = ("decoding", "ref_pool", "draws", "num_hyp", "num_ref", "temp_hyp", "temp_ref", "utility", "seed")


class Sizes(NamedTuple):
    """Sizes of the two pools of a cell."""

    num_hyp: int
    num_ref: int


class Group(NamedTuple):
    """Cells that share utility matrices: all sizes of one pair of pools."""

    seed: int
    temp_hyp: float
    temp_ref: float
    utility: str
    shared: bool

    @property
    def hypotheses(self) -> PoolKey:
        """The hypothesis pool."""
        return PoolKey(self.seed, HYPOTHESES, self.temp_hyp)

    @property
    def references(self) -> PoolKey:
        """The reference pool; the hypothesis pool itself where it plays both parts."""
        return self.hypotheses if self.shared else PoolKey(self.seed, REFERENCES, self.temp_ref)

    @property
    def pools(self) -> list[PoolKey]:
        """The pools that it needs: one shared pool, or hypotheses and references."""
        return [self.hypotheses] if self.shared else [self.hypotheses, self.references]


@dataclass(frozen=True)
class Plan:
    """The grid.

    Attributes:
        sizes: pairs of pool sizes.
        temperatures: pairs (T_h, T_r).
        utilities: names.
        seeds: seeds.
        metrics: names of the metrics that judge the translations.
        draws: independent or arithmetic.
        ref_pool: ``auto`` (shared if temperatures and sizes agree, as in decoding), ``shared`` or ``separate``.
        utility_args: utility -> its arguments.
        metric_args: metric -> its arguments.
        beam: add rows of fairseq's beam search.
        entropy: add a column with the mean token entropy of each model at T = 1, in nats.

    Raises:
        UserError: ``shared`` is asked for pools that differ, or arguments belong to no utility or metric.
    """

    sizes: Sequence[Sizes]
    temperatures: Sequence[tuple[float, float]]
    utilities: Sequence[str] = ("chrf",)
    seeds: Sequence[int] = (1,)
    metrics: Sequence[str] = ("chrf",)
    draws: str = SETTINGS["draws"].default
    ref_pool: str = "auto"
    utility_args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metric_args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    beam: bool = False
    entropy: bool = False

    def __post_init__(self) -> None:
        refuse_unused("--utility-args", self.utility_args, self.utilities)
        refuse_unused("--metric-args", self.metric_args, self.metrics)
        if self.ref_pool == "shared" and any(h != r for h, r in (*self.sizes, *self.temperatures)):
            raise UserError("--ref-pool shared needs --temp-ref same and --num-ref same: one pool plays both parts")

    @property
    def size(self) -> int:
        """The size of the pools that hold all others."""
        return max(itertools.chain.from_iterable(self.sizes))

    def is_shared(self, temperatures: tuple[float, float], sizes: Sizes) -> bool:
        """Whether one pool plays both parts in a cell."""
        same = temperatures[0] == temperatures[1] and sizes.num_hyp == sizes.num_ref
        return self.ref_pool != "separate" and same

    def groups(self) -> list[Group]:
        """The cells in groups, in the order of the table."""
        grid = itertools.product(self.utilities, self.seeds, self.temperatures, (True, False))
        return [
            Group(seed, *pair, utility, shared)
            for utility, seed, pair, shared in grid
            if any(self.is_shared(pair, sizes) == shared for sizes in self.sizes)
        ]

    def sizes_of(self, group: Group) -> list[Sizes]:
        """The sizes of a group's cells."""
        return [s for s in self.sizes if self.is_shared((group.temp_hyp, group.temp_ref), s) == group.shared]

    def cells_of(self, group: Group) -> list[dict[str, Any]]:
        """The columns that tell a group's cells apart, for each of :meth:`sizes_of`."""
        return [
            {
                "decoding": "mbr" if group.temp_hyp == group.temp_ref == 1 else "dcmbr",
                "ref_pool": "shared" if group.shared else "separate",
                "draws": self.draws,
                "num_hyp": size.num_hyp,
                "num_ref": size.num_ref,
                "temp_hyp": group.temp_hyp,
                "temp_ref": group.temp_ref,
                "utility": group.utility,
                "seed": group.seed,
            }
            for size in self.sizes_of(group)
        ]

    def cells(self) -> list[dict[str, Any]]:
        """The same for the whole grid, beam search first."""
        beam = [{**dict.fromkeys(COLUMNS), "decoding": "beam"}] if self.beam else []
        return [*beam, *(cell for group in self.groups() for cell in self.cells_of(group))]

    def pools(self) -> list[PoolKey]:
        """All pools that the grid needs."""
        return list(dict.fromkeys(key for group in self.groups() for key in group.pools))
