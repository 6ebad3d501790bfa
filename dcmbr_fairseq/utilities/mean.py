"""A weighted mean of utilities, such as chrF and BLEU in equal parts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dcmbr_fairseq.errors import UserError, shown
from dcmbr_fairseq.utilities import build_utility
from dcmbr_fairseq.utilities.arguments import check_number
from dcmbr_fairseq.utilities.base import Comparison, Utility


class MeanUtility(Utility):
    """Weighted mean of other utilities; mind their scales (BLEU and chrF 0 to 100, METEOR and BLEURT about 0 to 1).

    Args:
        of: name of each utility and its arguments, such as ``{"chrf": {}, "bleu": {"lowercase": true}}``.
        weights: weight of each by name; equal by default. They are divided by their sum.

    Raises:
        UserError: an argument does not fit, or one of the utilities is not ready.
    """

    label = "mean"
    needs = "what its parts need"
    least_arguments = '{"of": {"chrf": {}, "bleu": {}}}'

    def __init__(self, *, of: Mapping[str, Mapping[str, Any]], weights: Mapping[str, float] | None = None) -> None:
        if not (isinstance(of, dict) and of and all(isinstance(arguments, dict) for arguments in of.values())):
            raise UserError(f'--utility-args: of must be like {{"chrf": {{}}, "bleu": {{}}}}, got {shown(of)}')
        given = dict.fromkeys(of, 1.0) if weights is None else weights
        if not isinstance(given, dict) or set(given) != set(of):
            raise UserError(f"--utility-args: weights must name {', '.join(of)}, got {shown(weights)}")
        numbers = {name: check_number("weights", given[name]) for name in of}
        if not sum(numbers.values()):
            raise UserError(f"--utility-args: weights must not all be 0, got {shown(weights)}")
        self.weights = {name: number / sum(numbers.values()) for name, number in numbers.items()}
        try:
            self._utilities = {name: build_utility(name, arguments) for name, arguments in of.items()}
        except RecursionError as error:
            raise UserError("--utility-args: of holds means of means of means: give the utilities") from error
        self.needs_source = any(u.needs_source for u in self._utilities.values())  # type: ignore[misc]

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> np.ndarray:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise`."""
        return self.pairwise_batch([Comparison(hypotheses, references, source)])[0]

    def pairwise_batch(self, batch: Sequence[Comparison]) -> list[np.ndarray]:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise_batch`."""
        parts = [utility.pairwise_batch(batch) for utility in self._utilities.values()]
        weights = list(self.weights.values())
        return [np.tensordot(weights, np.stack(matrices), axes=1) for matrices in zip(*parts, strict=True)]

    def signature(self) -> str:
        """The weights, and the signatures of the parts."""
        parts = (f"{self.weights[name]:g}*({utility.signature()})" for name, utility in self._utilities.items())
        return " + ".join(parts)

    def close(self) -> None:
        """Release what the parts hold."""
        for utility in self._utilities.values():
            utility.close()
