"""The weighted mean of utilities against its parts."""

import numpy as np
import pytest

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities import Comparison, build_utility

TEXTS = ["ein Mann lacht", "Ein Mann lacht laut.", "", "zwei Frauen"]
BATCH = [Comparison(TEXTS, TEXTS[1:]), Comparison(TEXTS[:2], TEXTS)]


def test_is_the_weighted_mean_of_its_parts() -> None:
    of = {"chrf": {"beta": 1}, "bleu": {}, "ter": {}}
    mean = build_utility("mean", {"of": of, "weights": {"bleu": 1, "chrf": 2, "ter": 1}})
    parts = [build_utility(name, arguments).pairwise_batch(BATCH) for name, arguments in of.items()]
    for i, matrix in enumerate(mean.pairwise_batch(BATCH)):
        np.testing.assert_allclose(matrix, 0.5 * parts[0][i] + 0.25 * parts[1][i] + 0.25 * parts[2][i], rtol=1e-12)
    assert mean.needs_source is False
    assert mean.signature().startswith("0.5*(chrF1|") and "+ 0.25*(BLEU|" in mean.signature()


def test_weights_are_equal_by_default() -> None:
    mean = build_utility("mean", {"of": {"chrf": {}, "bleu": {}}})
    expected = (build_utility("chrf", {}).pairwise(TEXTS, TEXTS) + build_utility("bleu", {}).pairwise(TEXTS, TEXTS)) / 2
    np.testing.assert_allclose(mean.pairwise(TEXTS, TEXTS), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "do not fit --utility mean"),
        ({"of": ["chrf", "bleu"]}, "of must be like"),
        ({"of": {}}, "of must be like"),
        ({"of": {"chrf": {}, "blue": {}}}, "--utility blue is unknown"),
        ({"of": {"chrf": {"beta": -1}}}, "beta must be a number from 0 to 1e.09"),
        ({"of": {"chrf": {}}, "weights": {"bleu": 1}}, "weights must name chrf"),
        ({"of": {"chrf": {}}, "weights": [1]}, "weights must name chrf"),
        ({"of": {"chrf": {}}, "weights": {"chrf": 0}}, "weights must not all be 0"),
        ({"of": {"chrf": {}}, "weights": {"chrf": -2}}, "weights must be a number from 0 to 1e.09"),
    ],
)
def test_bad_arguments_are_one_sentence(arguments: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_utility("mean", arguments)
