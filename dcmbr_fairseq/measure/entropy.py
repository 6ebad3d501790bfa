"""Mean token entropy of a model over teacher-forced references (Sec. 5.1), at any temperature; and matching two models.

The same entropy as in validation (`criterions/entropy.py`): of the whole vocabulary, averaged over the references'
tokens, end of sentence included (but not a multilingual model's language tokens, which decoding forces). The paper
prints it without the minus sign.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from dcmbr_fairseq.criterions.entropy import token_entropy
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.measure.experiment import Experiment
from dcmbr_fairseq.measure.models import Model, Workspace
from dcmbr_fairseq.measure.teacher_forcing import forced_references
from dcmbr_fairseq.sampling.step_distribution import cooled

#: Where a match is looked for first, all in one pass.
GRID = tuple(2.0**power for power in (-6, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 6))
#: Relative accuracy of the temperature that is found.
ACCURACY = 1e-4


class MeanEntropy(NamedTuple):
    """Mean entropy of a token's distribution at a temperature, in nats, over so many tokens."""

    temperature: float
    nats: float
    tokens: int

    @property
    def bits(self) -> float:
        """The same in bits, fairseq's unit."""
        return self.nats / math.log(2)

    def columns(self) -> dict[str, float]:
        """Its columns of a tidy table."""
        bits = {"entropy": self.nats, "entropy_bits": self.bits}
        return {"temperature": self.temperature, **bits, "tokens": self.tokens}


def mean_token_entropies(workspace: Workspace, model: Model, temperatures: Sequence[float]) -> list[MeanEntropy]:
    """The mean token entropy at each temperature, in one pass over the references.

    Args:
        workspace: the references.
        model: the model; of an ensemble the mean of probabilities counts, cooled as in decoding.
        temperatures: each T > 0.

    Raises:
        UserError: a sentence is too long for the model, or there is no reference.
    """
    sums, tokens = torch.zeros(len(temperatures), dtype=torch.float64), 0
    at = f" at T = {temperatures[0]:.4g}" if len(temperatures) == 1 else ""
    for log_probs, _, counted in forced_references(workspace, model, f"entropy{at}"):
        for index, temperature in enumerate(temperatures):
            own = log_probs if temperature == 1 else torch.log_softmax(cooled(log_probs, temperature), dim=-1)
            sums[index] += token_entropy(own)[counted].double().sum().cpu()
        tokens += int(counted.sum())
    return [MeanEntropy(t, float(total) / tokens, tokens) for t, total in zip(temperatures, sums, strict=True)]


def match_temperature(workspace: Workspace, model: Model, nats: float) -> MeanEntropy:
    """The temperature at which the mean token entropy is ``nats``, by Brent's method; entropy grows with temperature.

    Args:
        workspace: the references.
        model: the model to be cooled or heated.
        nats: the entropy wanted.

    Raises:
        UserError: no temperature between the ends of :data:`GRID` gives it, or scipy is missing.
    """
    try:
        from scipy.optimize import brentq
    except ImportError as error:
        raise UserError('--match needs scipy: pip install "dcmbr_fairseq[analysis]"') from error
    known = {found.temperature: found for found in mean_token_entropies(workspace, model, GRID)}
    least, most = known[GRID[0]].nats, known[GRID[-1]].nats
    if not least < nats < most:
        raise UserError(
            f"--match {nats:g}: the token entropy of {model.name} can be {least:.4g} to {most:.4g} nats, "
            "give a value between"
        )

    def excess(temperature: float) -> float:
        if temperature not in known:
            (known[temperature],) = mean_token_entropies(workspace, model, [temperature])
        return known[temperature].nats - nats

    above = next(temperature for temperature in GRID if excess(temperature) >= 0)
    below = GRID[max(0, GRID.index(above) - 1)]
    brentq(excess, below, above, xtol=ACCURACY * below)
    return min(known.values(), key=lambda found: abs(found.nats - nats))


def entropy_rows(experiment: Experiment, temperatures: Sequence[float]) -> list[dict[str, Any]]:
    """A row for each model and temperature.

    Columns: the test set and those of the model, temperature, entropy (nats), entropy_bits, tokens.

    Raises:
        UserError: see :func:`mean_token_entropies`.
    """
    return [
        {**experiment.columns(model), **found.columns()}
        for model in experiment.models
        for found in mean_token_entropies(experiment.workspace, model, temperatures)
    ]


def matched_rows(experiment: Experiment, nats: float) -> list[dict[str, Any]]:
    """A row for each model at the temperature at which its entropy is ``nats``; columns of :func:`entropy_rows`.

    Raises:
        UserError: see :func:`match_temperature`.
    """
    return [
        {**experiment.columns(model), **match_temperature(experiment.workspace, model, nats).columns()}
        for model in experiment.models
    ]
