"""Translation edit rate (Snover et al., 2006), equal to sacrebleu's; all pairs of a sentence are compared at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcmbr_fairseq.utilities.arguments import check_flag
from dcmbr_fairseq.utilities.base import Utility
from dcmbr_fairseq.utilities.tercom import edit_counts


class TerUtility(Utility):
    """Negative TER: edits and shifts that turn the hypothesis into the reference, in per cent of the reference's words.

    Takes sacrebleu's arguments.

    Args:
        normalized: tokenise and unescape as Tercom does.
        no_punct: leave out punctuation.
        asian_support: split and normalise CJK characters; only with ``normalized`` or ``no_punct``.
        case_sensitive: do not lower-case.

    Raises:
        UserError: an argument is not true or false.
    """

    label = "TER"

    def __init__(
        self,
        *,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        from sacrebleu.metrics.ter import TER

        self._metric = TER(
            normalized=check_flag("normalized", normalized),
            no_punct=check_flag("no_punct", no_punct),
            asian_support=check_flag("asian_support", asian_support),
            case_sensitive=check_flag("case_sensitive", case_sensitive),
        )

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> np.ndarray:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise`; from 0 (equal) down, -100: all words edited."""
        texts = dict.fromkeys((*hypotheses, *references))
        words = {text: self._metric.tokenizer(text.rstrip()).split() for text in texts}
        edits = edit_counts([words[text] for text in hypotheses], [words[text] for text in references])
        return edit_utilities(edits, np.array([len(words[text]) for text in references]))

    def sacrebleu_metric(self) -> Any:
        """Sacrebleu's own metric object with these arguments."""
        return self._metric

    def signature(self) -> str:
        """Sacrebleu's signature, with its version."""
        self._metric.num_refs = 1
        return f"-TER|{self._metric.get_signature().format()}"


def edit_utilities(edits: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """``-100 * edits / length`` of the reference, ``(H, R)``; -100 for any text against an empty reference."""
    rates = np.divide(edits, lengths, out=(edits > 0).astype(np.float64), where=lengths > 0)
    return -100 * rates
