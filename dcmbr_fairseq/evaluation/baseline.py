"""Systems against a baseline on one test set: each metric's paired test for each system."""

from collections.abc import Sequence
from typing import NamedTuple

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.significance import PairedResult, approximate_randomisation, paired_bootstrap
from dcmbr_fairseq.evaluation.statistics import SegmentMean, Statistic

#: Name of a test -> the function, and how many samples it takes unless told otherwise.
TESTS = {"bootstrap": (paired_bootstrap, 1000), "randomisation": (approximate_randomisation, 10000)}


class Tested(NamedTuple):
    """One system tested against the baseline on one metric; both are given by their names."""

    metric: str
    baseline: str
    system: str
    result: PairedResult


def against_baseline(
    translations: Sequence[tuple[str, Sequence[str]]],
    references: Sequence[str],
    sources: Sequence[str] | None,
    statistics: Sequence[Statistic],
    test: str = "bootstrap",
    samples: int | None = None,
    seed: int = 12345,
) -> list[Tested]:
    """Test each system against the first one, on each metric.

    Args:
        translations: name and B texts of each system; the first is the baseline.
        references: B texts.
        sources: B texts, for metrics that need them.
        statistics: the metrics; those that hold a utility are closed at the end.
        test: a name of :data:`TESTS`.
        samples: how many; None takes what the test takes by default.
        seed: of the resampling.

    Raises:
        UserError: the lists differ in length, or see :func:`paired_bootstrap`.
    """
    if sources is not None and len(sources) != len(references):
        raise UserError(f"--source has {len(sources)} segments but --references has {len(references)}: align the files")
    run, default = TESTS[test]
    (baseline, _), *systems = translations
    tested: list[Tested] = []
    for statistic in statistics:
        first, *others = [statistic.segments(texts, references, sources) for _, texts in translations]
        for (name, _), rows in zip(systems, others, strict=True):
            result = run(first, rows, statistic.score, default if samples is None else samples, seed)
            tested.append(Tested(statistic.label, baseline, name, result))
        if isinstance(statistic, SegmentMean):
            statistic.close()
    return tested
