"""The temperature that undoes a checkpoint's label smoothing: ``--temp-hyp auto`` and ``--temp-ref auto``.

By Lemma 1 as the paper prints it (`lemma.py`), a model trained with smoothing l and cooled to

    T = log((1 - l) / l) / log((1 - t) / t)

has the optimum of a model trained with the target smoothing t. The target is 0.01, for which l = 0.1 gives T = 0.48,
the paper's default of 0.5; l = 0.2 gives 0.30 and l = 0.3 gives 0.18. A model that was smoothed by no more than the
target is left alone: T = 1. This undoes smoothing and no more; what is best for a test set, `dcmbr temperature --tune`
finds out.
"""

from collections.abc import Sequence

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.lemma import cooling_temperature
from dcmbr_fairseq.preflight.checkpoints import CheckpointFacts

#: The label smoothing t to which ``auto`` cools.
TARGET_SMOOTHING = 0.01


def automatic_temperature(label_smoothing: float) -> float:
    """The temperature T that takes label smoothing ``label_smoothing`` to :data:`TARGET_SMOOTHING`; at most 1.

    Raises:
        UserError: there is no such temperature, because the smoothing is not below 0.5.
    """
    if not 0 <= label_smoothing < 0.5:
        raise UserError(
            f"temperature auto has no value for label smoothing {label_smoothing:g}, which must be below 0.5: "
            "give a number such as 0.5"
        )
    return 1.0 if label_smoothing <= TARGET_SMOOTHING else cooling_temperature(label_smoothing, TARGET_SMOOTHING)


def smoothing_of(facts: CheckpointFacts, vocabulary: int) -> float:
    """The label smoothing that a checkpoint was trained with, or that its regulariser equals.

    GER with alpha = 1 and weight beta is label smoothing e with e V / (V - 1) = beta / (1 + beta); with another alpha
    it has no equal.

    Args:
        facts: what the checkpoint says.
        vocabulary: V, the size of the target dictionary.

    Raises:
        UserError: it does not say, or its regulariser equals no label smoothing.
    """
    remedy = "give a number instead of auto (dcmbr temperature --tune, or dcmbr entropy --match, finds one)"
    if facts.ger is not None:
        alpha, beta = facts.ger
        if beta and alpha != 1:
            raise UserError(
                f"{facts.path} was trained with GER, alpha {alpha}, beta {beta}, which equals no label smoothing "
                f"(alpha 1 would): {remedy}"
            )
        return beta / (1 + beta) * (vocabulary - 1) / vocabulary
    if facts.label_smoothing is None:
        raise UserError(
            f"{facts.path} does not say by what label smoothing it was trained (criterion {facts.criterion}): {remedy}"
        )
    return facts.label_smoothing


def checkpoint_temperature(checkpoints: Sequence[CheckpointFacts], vocabulary: int) -> float:
    """The automatic temperature of a model, or of an ensemble whose members were smoothed alike.

    Args:
        checkpoints: the facts of each member.
        vocabulary: V, the size of the target dictionary.

    Raises:
        UserError: see :func:`smoothing_of`; the members were smoothed differently, or there is none.
    """
    smoothings = sorted({smoothing_of(facts, vocabulary) for facts in checkpoints})
    if not smoothings:
        raise UserError("temperature auto needs a checkpoint that says how it was smoothed: give a number")
    if smoothings[-1] - smoothings[0] > 1e-9:
        listed = " and ".join(f"{smoothing:g}" for smoothing in smoothings)
        raise UserError(f"temperature auto needs models smoothed alike, these were by {listed}: give a number")
    return automatic_temperature(smoothings[0])
