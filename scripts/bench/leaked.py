"""What cooling and truncation do to the probability that label smoothing leaks: teacher-forced, nothing is drawn.

    python scripts/bench/leaked.py OUT.tsv --path MODEL [--path MODEL...] [options] DATA_BIN -s en -t de \\
        --gen-subset valid --user-dir dcmbr_fairseq --task translation_dcmbr --remove-bpe

Label smoothing gives each of V tokens at least a small probability. A token counts as *leaked to* where the model, at
temperature 1, gives it less than ``--rare``. For each way of sampling (a temperature, a truncation, or both, applied to
the references' prefixes) the table has the mean mass of such tokens (``mass``), the mean over sentences of the chance
that at least one is drawn, 1 - prod(1 - mass) (``share``), and the mean entropy in nats of what is drawn from
(``entropy``): how much variety remains.
"""

import argparse
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dcmbr_fairseq.commands.model_options import add_model_arguments, open_experiment, open_workspace
from dcmbr_fairseq.criterions.entropy import token_entropy
from dcmbr_fairseq.measure.experiment import Experiment
from dcmbr_fairseq.measure.flags import FORCING
from dcmbr_fairseq.measure.models import Model, Workspace
from dcmbr_fairseq.measure.teacher_forcing import forced_references
from dcmbr_fairseq.numeric import read_positive_numbers
from dcmbr_fairseq.present.tidy import write_rows
from dcmbr_fairseq.sampling.step_distribution import cooled
from dcmbr_fairseq.sampling.truncation import Truncation

#: The truncations that are compared, by what tables call them.
TRUNCATIONS = {
    "none": Truncation(),
    "top-p 0.9": Truncation(top_p=0.9),
    "top-p 0.7": Truncation(top_p=0.7),
    "top-k 10": Truncation(top_k=10),
    "top-k 5": Truncation(top_k=5),
    "epsilon 0.02": Truncation(epsilon=0.02),
    "epsilon 0.05": Truncation(epsilon=0.05),
}


class Way(NamedTuple):
    """A temperature, and the truncation of what it makes."""

    temperature: float
    truncation: str

    def __call__(self, log_probs: Tensor) -> Tensor:
        """``(T, V)`` probabilities of what is drawn from, of ``(T, V)`` log-probabilities at temperature 1."""
        weights = TRUNCATIONS[self.truncation](torch.softmax(cooled(log_probs, self.temperature), dim=-1))
        return weights / weights.sum(dim=-1, keepdim=True)


class Found(NamedTuple):
    """Over tokens: the mean mass of rare ones, and the mean entropy; over sentences: the mean chance of one."""

    mass: float
    share: float
    entropy: float


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("output", type=Path, help="the table")
    add_model_arguments(parser)
    parser.add_argument("--rare", type=float, default=1e-3, help="below this a token is leaked to (default: 0.001)")
    parser.add_argument("--temperatures", default="1,0.7,0.5,0.3", help="joined by commas (default: 1,0.7,0.5,0.3)")
    args, args.fairseq_flags = parser.parse_known_args()
    temperatures = read_positive_numbers("--temperatures", args.temperatures)
    ways = [Way(*parts) for parts in itertools.product(temperatures, TRUNCATIONS)]
    experiment = open_experiment(args, open_workspace(args, FORCING))
    write_rows(list(rows(experiment, ways, args.rare)), args.output, "tsv")


def rows(experiment: Experiment, ways: list[Way], rare: float) -> Iterator[dict[str, Any]]:
    """A row for each model and way."""
    for model in experiment.models:
        for way, found in zip(ways, leaked(experiment.workspace, model, ways, rare), strict=True):
            yield {**experiment.columns(model), **way._asdict(), "rare": rare, **found._asdict()}


def leaked(workspace: Workspace, model: Model, ways: list[Way], rare: float) -> list[Found]:
    """What each way leaves of the mass of tokens below ``rare``, over the references' tokens."""
    sums = torch.zeros(len(ways), len(Found._fields), dtype=torch.float64)
    tokens = 0
    for batch in forced_references(workspace, model, "leaked mass"):
        log_probs = batch.log_probs[batch.counted]  # (T, V)
        below = log_probs < math.log(rare)
        for index, way in enumerate(ways):
            mass, entropy = of_tokens(way, log_probs, below)
            none = torch.zeros(batch.counted.shape, dtype=torch.float64)
            none.masked_scatter_(batch.counted.cpu(), torch.log1p(-mass))
            share = -torch.expm1(none.sum(dim=1))  # (B,)
            sums[index] += torch.stack([mass.sum(), share.sum(), entropy.sum()])
        tokens += len(log_probs)
    return [Found(*mean) for mean in (sums / torch.tensor([tokens, len(workspace.ids), tokens])).tolist()]


def of_tokens(way: Way, log_probs: Tensor, below: Tensor) -> tuple[Tensor, Tensor]:
    """``(T,)`` float64 the mass of the tokens marked ``below`` and the entropy in nats, of what a way draws from.

    Args:
        way: the way.
        log_probs: ``(T, V)`` natural, at temperature 1.
        below: ``(T, V)`` bool.
    """
    probs = way(log_probs)
    mass = probs.masked_fill(~below, 0).sum(dim=-1, dtype=torch.float64).clamp(max=1)
    return mass.cpu(), token_entropy(probs.log()).double().cpu()


if __name__ == "__main__":
    main()
