"""Lemma 1 (Sec. 5.3): which softmax temperature turns the optimum of one label smoothing into that of another.

The optimum of smoothing l puts 1 - l on the gold token and l / (V - 1) on each other. Its logits differ by
log((1 - l) (V - 1) / l), and a temperature T divides them, so that

    T = log((1 - l1) (V - 1) / l1) / log((1 - l2) (V - 1) / l2).

The paper prints T = log((1 - l1) / l1) / log((1 - l2) / l2). Its proof lets the terms log(V - 1) cancel, which they do
for V = 2 only (or T = 1): the printed form is the one above for a vocabulary of two tokens. Both are offered; with a
real vocabulary a given T reaches a much smaller smoothing (l1 = 0.1, T = 0.5: 0.0122 as printed, 3.9e-7 for V = 32000).
"""

import math

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.numeric import whole_number

#: The vocabulary for which the printed form is exact.
AS_PRINTED = 2


def log_odds(smoothing: float, vocabulary: int = AS_PRINTED, name: str = "label smoothing") -> float:
    """log((1 - l) (V - 1) / l), the gold token's logit over any other's; positive where gold is the most probable.

    Args:
        smoothing: l, the probability of all other tokens together.
        vocabulary: V, the number of tokens.
        name: how the message calls ``smoothing``.

    Raises:
        UserError: V < 2, or l is not between 0 and (V - 1) / V, where gold would no longer be the most probable.
    """
    whole_number("--vocabulary", vocabulary, 2)
    limit = (vocabulary - 1) / vocabulary
    if not 0 < smoothing < limit:
        raise UserError(
            f"{name} must be > 0 and < {limit:g}, got {smoothing:g}: there is no finite temperature otherwise"
        )
    return math.log1p(-smoothing) - math.log(smoothing) + math.log(vocabulary - 1)


def cooling_temperature(from_smoothing: float, to_smoothing: float, vocabulary: int = AS_PRINTED) -> float:
    """The temperature T that turns the optimum of ``from_smoothing`` into that of ``to_smoothing`` (Lemma 1).

    Args:
        from_smoothing: the label smoothing that the model was trained with.
        to_smoothing: the label smoothing whose distribution is wanted; a smaller one gives T < 1.
        vocabulary: V; the default gives the lemma as printed.

    Raises:
        UserError: see :func:`log_odds`.
    """
    return log_odds(from_smoothing, vocabulary, "--from-ls") / log_odds(to_smoothing, vocabulary, "--to-ls")


def equivalent_smoothing(from_smoothing: float, temperature: float, vocabulary: int = AS_PRINTED) -> float:
    """The label smoothing whose optimum the temperature T makes of that of ``from_smoothing``; the inverse.

    Raises:
        UserError: see :func:`log_odds`; T is not positive and finite.
    """
    if not (temperature > 0 and math.isfinite(temperature)):
        raise UserError(f"--temperature must be > 0 and finite, got {temperature}")
    odds = log_odds(from_smoothing, vocabulary, "--from-ls") / temperature - math.log(vocabulary - 1)
    return math.exp(-odds) / (1 + math.exp(-odds)) if odds > 0 else 1 / (1 + math.exp(odds))
