"""The next-token distributions of prefix rows at one step, from the same logits: the model's own, and the cooled one
(Eq. 11), restricted to the support and truncated, that is drawn from.

They are tables of (P, V) numbers at every step, so none is made that is not needed, and none twice.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dcmbr_fairseq.decoders.transfer import on_device, on_host
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.sampling.categorical import draw_tokens
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.sampling.truncation import Truncation

#: Temperatures T at which the weights are a power of the probabilities at temperature 1, p^(1/T), found without a
#: second exponential; 0.5 is the paper's.
_POWERS: dict[float, int] = {1.0: 1, 0.5: 2}

#: Probabilities below this are near the end of float32's range, where digits are lost. What is drawn at a temperature
#: of at most 1 has more.
_SMALLEST = 2.0**-120

#: Rows of weights with a smaller sum have lost digits, or all of them, since their exponentials were taken beside that
#: of something far more probable.
_SMALLEST_TOTAL = 2.0**-64

_NO_TRUNCATION = Truncation()

_NONE = np.empty(0, dtype=np.int64)


def cooled(logits: Tensor, temperature: float) -> Tensor:
    """``(..., V)`` logits at a temperature T: softmax(logits / T), Eq. (11)."""
    return logits / temperature


class DrawnTokens(NamedTuple):
    """What D draws have drawn and F others were given, in this order.

    Attributes:
        tokens: ``(D + F,)``.
        log_probs: ``(D + F,)`` float64, natural: the model's own at temperature 1 over the whole vocabulary.
        probabilities: ``(D,)`` float64, of the tokens in what was drawn from.
        remainders: ``(D,)`` how far inside its token's interval each uniform lies, in [0, 1).
    """

    tokens: np.ndarray
    log_probs: np.ndarray
    probabilities: np.ndarray
    remainders: np.ndarray


class StepDistribution:
    """The distributions of P rows at one step.

    Args:
        logits: ``(P, V)`` float32, contiguous; may be overwritten.
        step: number of tokens before.
        support: which tokens may be drawn.
        truncation: which of them remain, once cooled.
        temperatures: those at which will be drawn.
        forced: whether log-probabilities of tokens that were not drawn will be asked for.
    """

    def __init__(
        self,
        logits: Tensor,
        step: int,
        support: Support,
        truncation: Truncation = _NO_TRUNCATION,
        temperatures: Sequence[float] = (),
        forced: bool = True,
    ) -> None:
        self._logits, self._step, self._support, self._truncation = logits, step, support, truncation
        # The end of sentence that may not come yet may have nearly all of the mass, and what a penalty leaves may be
        # too little for float32: then the exponentials are taken after it is out of the way.
        self._is_power = not support.unk_penalty and step >= support.min_len
        self._overwrite = self._is_power and not forced and all(t in _POWERS for t in temperatures)

    def draw(
        self,
        free: Mapping[float, tuple[np.ndarray, np.ndarray]],
        forced_rows: np.ndarray = _NONE,
        forced_tokens: np.ndarray = _NONE,
    ) -> "DrawnTokens":
        """Draw from the cooled, restricted, truncated distributions, with one copy to the device and one wait for it.

        Args:
            free: of each temperature T the draws that choose: ``(D,)`` the row that each stands on, and ``(D,)``
                float64 uniforms in [0, 1).
            forced_rows: ``(F,)`` the rows of draws that take a given token.
            forced_tokens: ``(F,)`` these.

        Raises:
            UserError: a distribution is not finite.
        """
        used = {t: _used(rows, len(self._logits)) for t, (rows, _) in free.items()}
        rows = np.concatenate([*(rows for rows, _ in free.values()), forced_rows])
        arrays = [array for t, (_, uniforms) in free.items() for array in (*used[t], uniforms)]
        on_rows, given, *others = on_device(self._logits.device, rows, forced_tokens, *arrays)
        parts = []
        for number, (t, (present, _)) in enumerate(used.items()):
            selected, places, uniforms = others[3 * number : 3 * number + 3]
            weights, power = self._weights(t, selected if len(present) else None)
            parts.append(draw_tokens(weights, power, places, uniforms))
        tokens = torch.cat([*(part.tokens for part in parts), given])
        mine = self._unit.view(-1).index_select(0, on_rows * self._unit.size(1) + tokens)
        nothing = self._logits.new_empty(0, dtype=torch.float64)  # where all draws are forced
        kinds = (torch.cat([nothing, *(part[kind] for part in parts)]) for kind in (1, 2, 3))
        found, mine_found, probabilities, totals, remainders = on_host(tokens, mine, *kinds)
        _check(probabilities, totals)
        return DrawnTokens(found, self._log_probs(mine_found, rows, found), probabilities, remainders)

    def _log_probs(self, probabilities: np.ndarray, rows: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """``(D,)`` the model's own natural log-probabilities, at temperature 1 over the whole vocabulary.

        Each is a function of its row and token alone, whatever else is drawn. NumPy takes the logarithms: torch's
        differ in the last bit between the middle and the end of an array.
        """
        probabilities = probabilities.astype(np.float64)
        if self._overwrite:
            return np.log(probabilities)
        tiny = np.flatnonzero(probabilities < _SMALLEST)  # far below what is likely, or not to be drawn, but forced
        probabilities[tiny] = 1.0
        log_probs = np.log(probabilities)
        if len(tiny):
            log_probs[tiny] = self._by_logits(rows[tiny], tokens[tiny])
        return log_probs

    def _by_logits(self, rows: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """``(D,)`` log-probabilities in float64: logit minus logsumexp."""
        used, places = np.unique(rows, return_inverse=True)
        (index,) = on_device(self._logits.device, used)
        logits = self._logits.index_select(0, index).double().cpu().numpy()
        logits -= logits.max(axis=1, keepdims=True)
        return logits[places, tokens] - np.log(np.exp(logits).sum(axis=1))[places]

    @functools.cached_property
    def _unit(self) -> Tensor:
        """``(P, V)`` the model's own probabilities of what may be drawn, 0 elsewhere."""
        unit = torch.softmax(self._logits, dim=1, out=self._logits if self._overwrite else None)
        self._support.restrict(unit, self._step, 0.0)
        return unit

    def _weights(self, temperature: float, used: Tensor | None) -> tuple[Tensor, int]:
        """``(P, V)``, a power of which is proportional to what is drawn from; that power."""
        power = _POWERS.get(temperature, 0)
        if power and self._is_power:
            weights = _select(self._unit, used)
        else:
            weights, power = self._cooled_weights(temperature, used), 1
        if self._truncation == _NO_TRUNCATION:
            return weights, power
        return self._truncation(weights.pow(power)), 1

    def _cooled_weights(self, temperature: float, used: Tensor | None) -> Tensor:
        weights = cooled(_select(self._logits, used), temperature)
        self._support.penalise(weights)
        self._support.restrict(weights, self._step)
        return torch.softmax(weights, dim=1, out=weights)


def _select(table: Tensor, rows: Tensor | None) -> Tensor:
    return table if rows is None else table.index_select(0, rows)


def _used(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Those of ``count`` rows on which draws stand, none for all; and the place of each draw's row among them."""
    present = np.zeros(count, dtype=bool)
    present[rows] = True
    if present.all():
        return _NONE, rows
    return np.flatnonzero(present), (np.cumsum(present) - 1)[rows]


def _check(probabilities: np.ndarray, totals: np.ndarray) -> None:
    """Refuse distributions from which nothing can be drawn."""
    if np.any(totals < _SMALLEST_TOTAL):
        raise UserError(
            "padding and language tokens, which are never drawn, have all of the model's probability: check that "
            "the checkpoint belongs to these dictionaries and languages"
        )
    if not np.all(probabilities > 0):  # nan included
        raise UserError("the model's next-token distribution is not finite: decode without --fp16, or check it")
