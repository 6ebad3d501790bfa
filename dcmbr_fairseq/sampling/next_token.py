"""One step of ancestral sampling: from the logits of prefix rows to a token for each draw.

The logits of a row are computed once and cooled for every temperature that has draws on it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch import Tensor

from dcmbr_fairseq.sampling.step_distribution import StepDistribution
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.sampling.truncation import Truncation


class Draws(NamedTuple):
    """The D draws of a step.

    Attributes:
        rows: ``(D,)`` the row that each stands on.
        uniforms: ``(D,)`` float64 in [0, 1).
        temperatures: ``(D,)``.
        distinct_temperatures: all temperatures that there may be, ascending.
        forced: ``(D,)`` the token that a draw must take, -1 where it is free; None if all are free.
    """

    rows: np.ndarray
    uniforms: np.ndarray
    temperatures: np.ndarray
    distinct_temperatures: tuple[float, ...]
    forced: np.ndarray | None = None

    def free_at(self, temperature: float) -> np.ndarray:
        """Indices of the draws at this temperature that are free."""
        chosen = self.temperatures == temperature
        return np.flatnonzero(chosen if self.forced is None else chosen & (self.forced < 0))


class Chosen(NamedTuple):
    """What D draws have taken.

    Attributes:
        tokens: ``(D,)``.
        log_probs: ``(D,)`` float64, natural: the model's own at temperature 1 over the whole vocabulary.
        sampling_log_probs: ``(D,)`` the same in the distribution that was drawn from, 0 for forced tokens.
        remainders: ``(D,)`` how far inside its token's interval each uniform lies, in [0, 1); of forced ones as given.
    """

    tokens: np.ndarray
    log_probs: np.ndarray
    sampling_log_probs: np.ndarray
    remainders: np.ndarray


@dataclass(frozen=True)
class NextToken:
    """Draws next tokens.

    Attributes:
        support: which tokens may be drawn.
        truncation: top-k, top-p or epsilon truncation of the cooled distribution.
    """

    support: Support
    truncation: Truncation = Truncation()

    def draw(self, logits: Tensor, step: int, draws: Draws) -> Chosen:
        """Draw a token for each draw.

        Args:
            logits: ``(P, V)`` float32, contiguous; overwritten.
            step: number of tokens before.
            draws: what is to be drawn.

        Raises:
            UserError: a distribution is not finite.
        """
        forced = draws.forced
        distribution = StepDistribution(
            logits, step, self.support, self.truncation, draws.distinct_temperatures, forced=forced is not None
        )
        taken = np.empty(0, dtype=np.int64) if forced is None else np.flatnonzero(forced >= 0)
        free = {t: index for t in draws.distinct_temperatures if len(index := draws.free_at(t))}
        order = np.concatenate([*free.values(), taken])  # on the device draws stand in this order
        drawn = distribution.draw(
            {t: (draws.rows[index], draws.uniforms[index]) for t, index in free.items()},
            draws.rows[taken],
            taken if forced is None else forced[taken],
        )
        zeros = np.zeros(len(order))
        chosen = Chosen(np.empty_like(order), zeros, zeros.copy(), draws.uniforms.copy())
        chosen.tokens[order], chosen.log_probs[order] = drawn.tokens, drawn.log_probs
        chosen.sampling_log_probs[order[: len(drawn.probabilities)]] = np.log(drawn.probabilities)
        chosen.remainders[order[: len(drawn.probabilities)]] = drawn.remainders
        return chosen
