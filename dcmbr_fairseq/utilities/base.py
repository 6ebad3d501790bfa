"""What a utility is: u(hypothesis, reference), higher is better (Sec. 3.2). Nothing here knows about fairseq."""

import abc
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np


class Comparison(NamedTuple):
    """The texts of one source sentence that are to be compared, all hypotheses with all references."""

    hypotheses: Sequence[str]
    references: Sequence[str]
    source: str | None = None


class Utility(abc.ABC):
    """A utility function over detokenised texts, and the facts that are known before it is constructed.

    Subclasses take their parameters (``--utility-args``) as keyword arguments of the constructor, check them there,
    and raise :class:`~dcmbr_fairseq.errors.UserError` with one clear sentence when something is missing.
    """

    #: How papers and tables write it; the class's name if it says nothing.
    label: ClassVar[str] = ""
    #: Whether it is on the scale 0..1 that papers print as 0..100.
    in_per_cent: ClassVar[bool] = False
    #: What it needs besides the package itself.
    needs: ClassVar[str] = "nothing more"
    #: The arguments that it cannot do without, as JSON.
    least_arguments: ClassVar[str] = ""
    #: Whether :meth:`pairwise` must be given the source text.
    needs_source: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Label a class that does not say its own."""
        super().__init_subclass__()
        cls.label = cls.__dict__.get("label", cls.__name__)

    @classmethod
    def require_ready(cls) -> None:
        """Check, without loading anything, that what it needs is on this machine, but for models that users name.

        Raises:
            UserError: says what is missing and how to get it.
        """

    @abc.abstractmethod
    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> np.ndarray:
        """The utilities of all pairs, ``(H, R)`` float64. Texts are distinct; empty strings are ordinary texts."""

    def pairwise_batch(self, batch: Sequence[Comparison]) -> list[np.ndarray]:
        """The same for several source sentences at once; utilities that gain from large batches override this."""
        return [self.pairwise(*comparison) for comparison in batch]

    @abc.abstractmethod
    def signature(self) -> str:
        """All that the numbers depend on, in one line in sacrebleu's style, such as ``chrF|nc:6|nw:0|beta:2``."""

    def close(self) -> None:
        """Release what the utility holds (child processes, device memory)."""
