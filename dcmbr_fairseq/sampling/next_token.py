"""One step of ancestral sampling: from the logits of prefix rows to a token for each draw.

The logits of a row are computed once and cooled for every temperature that has draws on it.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.sampling.categorical import draw_tokens
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.sampling.truncation import Truncation

#: Temperatures T at which the weights are a power of the probabilities at temperature 1, p^(1/T), found without a
#: second exponential; 0.5 is the paper's.
_POWERS: dict[float, int] = {1.0: 1, 0.5: 2}

_NO_TRUNCATION = Truncation()


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


class Chosen(NamedTuple):
    """``(D,)`` tokens, and their float64 natural log-probabilities: the model's own at temperature 1 over the whole
    vocabulary; and in the distribution that was drawn from, 0 for forced tokens."""

    tokens: np.ndarray
    log_probs: np.ndarray
    sampling_log_probs: np.ndarray


@dataclass(frozen=True)
class NextToken:
    """Draws next tokens.

    Attributes:
        support: which tokens may be drawn.
        truncation: top-k, top-p or epsilon truncation of the cooled distribution.
    """

    support: Support
    truncation: Truncation = _NO_TRUNCATION

    def draw(self, logits: Tensor, step: int, draws: Draws) -> Chosen:
        """Draw a token for each draw.

        Args:
            logits: ``(P, V)`` float32, contiguous; overwritten.
            step: number of tokens before.
            draws: what is to be drawn.

        Raises:
            UserError: a distribution is not finite.
        """
        early = step < self.support.min_len
        cooled = any(temperature not in _POWERS for temperature in draws.distinct_temperatures)
        hot = draws.distinct_temperatures[-1] > 1
        log_unit = torch.log_softmax(logits, dim=1) if early or hot or draws.forced is not None else None
        if early:  # before the softmax, since the end of sentence may have nearly all of the mass
            self.support.restrict(logits, step)
        unit = torch.softmax(logits, dim=1) if cooled else torch.softmax(logits, dim=1, out=logits)
        if not early:
            self.support.restrict(unit, step, 0.0)
            if cooled:
                self.support.restrict(logits, step)
        tokens, sampling_log_probs = self._draw_free(logits, unit, draws)
        if log_unit is None:
            return Chosen(tokens, np.log(_at(unit, draws.rows, tokens)), sampling_log_probs)
        log_probs = _at(log_unit, draws.rows, tokens)
        if not early:
            # Forced and hot draws may take what has no probability in float32. The others get the numbers that they
            # would get without such draws in the batch.
            others = np.flatnonzero((draws.temperatures <= 1) & (True if draws.forced is None else draws.forced < 0))
            log_probs[others] = np.log(_at(unit, draws.rows[others], tokens[others]))
        return Chosen(tokens, log_probs, sampling_log_probs)

    def _draw_free(self, logits: Tensor, unit: Tensor, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
        """``(D,)`` tokens and their log-probabilities in what was drawn from."""
        everything = len(draws.distinct_temperatures) == 1 and draws.forced is None
        if everything:
            return self._draw(logits, unit, draws.distinct_temperatures[0], draws.rows, draws.uniforms)
        tokens = np.full(len(draws.rows), -1) if draws.forced is None else draws.forced.copy()
        log_probs = np.zeros(len(tokens))
        free = tokens < 0
        for temperature in draws.distinct_temperatures:
            these = np.flatnonzero(free & (draws.temperatures == temperature))
            if len(these):
                used, rows = np.unique(draws.rows[these], return_inverse=True)  # no need to cool the other rows
                kept = torch.from_numpy(used).to(unit.device)
                own_logits = logits if logits is unit else logits.index_select(0, kept)
                tokens[these], log_probs[these] = self._draw(
                    own_logits, unit.index_select(0, kept), temperature, rows, draws.uniforms[these]
                )
        return tokens, log_probs

    def _draw(
        self, logits: Tensor, unit: Tensor, temperature: float, rows: np.ndarray, uniforms: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """``(D,)`` tokens at one temperature, and their log-probabilities in what was drawn from."""
        index, numbers = (torch.from_numpy(x).to(unit.device) for x in (rows, uniforms))
        result = draw_tokens(*self._weights(logits, unit, temperature), index, numbers)
        probabilities = result.probabilities.cpu().numpy()
        if not np.all(probabilities > 0):  # nan included
            raise UserError("the model's next-token distribution is not finite: decode without --fp16, or check it")
        return result.tokens.cpu().numpy(), np.log(probabilities)

    def _weights(self, logits: Tensor, unit: Tensor, temperature: float) -> tuple[Tensor, int]:
        """``(P, V)``, a power of which is proportional to the cooled (Eq. 11), truncated distribution; that power."""
        power = _POWERS.get(temperature)
        if power is None:
            unit, power = torch.softmax(logits / temperature, dim=1), 1
        penalty = self.support.unk_penalty
        if not penalty and self.truncation == _NO_TRUNCATION:
            return unit, power
        weights = unit.pow(power)
        if penalty:
            weights[:, self.support.unk] *= math.exp(-penalty)
        return self.truncation(weights), 1


def _at(values: Tensor, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """``(D,)`` float64 values at these rows and columns of ``(P, V)``, whose logarithms NumPy takes.

    (torch's differ in the last bit between the middle and the end of an array.)
    """
    places = torch.from_numpy(rows * values.size(1) + columns).to(values.device)
    return values.view(-1).index_select(0, places).cpu().numpy().astype(np.float64)
