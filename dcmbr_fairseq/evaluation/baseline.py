"""Systems against a baseline by significance tests, on several metrics, corrected for their number if asked."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.metrics import Metric, Texts
from dcmbr_fairseq.evaluation.significance import (
    PairedResult,
    approximate_randomisation,
    check_samples,
    paired_bootstrap,
)
from dcmbr_fairseq.evaluation.uncertainty import holm

CORRECTIONS = ("none", "holm")
BOOTSTRAP_SAMPLES, RANDOMISATION_SAMPLES = 1000, 10_000


@dataclass(frozen=True)
class Tests:
    """Which tests are made, and how.

    Attributes:
        bootstrap: make the paired bootstrap (the paper's), which gives intervals too.
        randomisation: make the approximate randomisation.
        samples: of each; None takes 1000 resamples and 10000 swaps.
        seed: of both.
        correction: ``holm`` corrects for the number of comparisons.
    """

    bootstrap: bool = True
    randomisation: bool = True
    samples: int | None = None
    seed: int = 12345
    correction: str = "none"

    @property
    def bootstrap_settings(self) -> tuple[int, int]:
        """Samples and seed."""
        return BOOTSTRAP_SAMPLES if self.samples is None else self.samples, self.seed

    @property
    def randomisation_settings(self) -> tuple[int, int]:
        """Samples and seed."""
        return RANDOMISATION_SAMPLES if self.samples is None else self.samples, self.seed


@dataclass(frozen=True)
class Compared:
    """One system compared with the baseline on one metric.

    Attributes:
        metric: its label.
        baseline: name of the first system.
        system: name of the second.
        bootstrap: the result of that test, if it was made.
        randomisation: the same.
        holm: the p-value of the randomisation, or else of the bootstrap, corrected for all comparisons, if asked for.
    """

    metric: str
    baseline: str
    system: str
    bootstrap: PairedResult | None
    randomisation: PairedResult | None
    holm: float | None = None

    @property
    def result(self) -> PairedResult:
        """The test to believe: the randomisation where it was made."""
        found = self.randomisation or self.bootstrap
        assert found is not None
        return found


def against_baseline(
    systems: Mapping[str, Texts], references: Texts, sources: Texts | None, metrics: Sequence[Metric], tests: Tests
) -> list[Compared]:
    """Compare each system with the first on each metric; metrics are closed when they are done with.

    Args:
        systems: name -> translations, the baseline first.
        references: one a segment.
        sources: for metrics that need them.
        metrics: what is compared.
        tests: how.

    Raises:
        UserError: the lists differ in length, or a metric needs the sources; or see
            :func:`~dcmbr_fairseq.evaluation.significance.paired_bootstrap`.
    """
    if sources is not None and len(sources) != len(references):
        raise UserError(f"--source has {len(sources)} segments but --references has {len(references)}: align the files")
    check_samples(*tests.bootstrap_settings)
    compared = []
    for metric in metrics:
        (baseline, first), *others = ((name, metric.segments(t, references, sources)) for name, t in systems.items())
        for name, rows in others:
            pair = (first, rows, metric.score)
            bootstrap = paired_bootstrap(*pair, *tests.bootstrap_settings) if tests.bootstrap else None
            swaps = approximate_randomisation(*pair, *tests.randomisation_settings) if tests.randomisation else None
            compared.append(Compared(metric.label, baseline, name, bootstrap, swaps))
        metric.close()
    if tests.correction == "none":
        return compared
    corrected = holm([one.result.corrected_p_value for one in compared])
    return [dataclasses.replace(one, holm=p) for one, p in zip(compared, corrected, strict=True)]
