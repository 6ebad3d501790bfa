"""Values that are written as Python and may come from strangers: read without running anything.

fairseq gives strings of a checkpoint's settings to ``eval``. What it means by them are lists, tuples, numbers, and
their ``*`` and ``+``: the layers of its convolutional model are ``[(512, 3)] * 20`` by default.
"""

import ast
from typing import Any

from dcmbr_fairseq.errors import UserError, cut

#: The longest text that is read, in characters, and the most values that may come of one.
LONGEST, MOST_VALUES = 10_000, 10_000


class NotALiteral(UserError):
    """A text that is no literal.

    Attributes:
        text: it.
    """

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(
            f"{cut(text)!r} {reason}: only lists, tuples, dictionaries, numbers and strings, and their * and +, "
            "are read"
        )
        self.text = text


def literal(text: Any, *_: Any) -> Any:
    """The value of a literal: what ``eval`` makes of it, without running code.

    Args:
        text: None, truth values, numbers, strings, lists, tuples and dictionaries of them, with signs, and sequences
            and numbers that are multiplied and added.

    Raises:
        NotALiteral: it is something else, longer than :data:`LONGEST`, or makes more than :data:`MOST_VALUES`.
        TypeError: it is no text, as from ``eval``.
    """
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, got {type(text).__name__}")
    if len(text) > LONGEST:
        raise NotALiteral(text, f"is longer than {LONGEST} characters")
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)[0]
    except _TooLarge as error:
        raise NotALiteral(text, f"makes more than {MOST_VALUES} values") from error
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise NotALiteral(text, "is no plain value") from error


class _TooLarge(Exception):
    pass


def _value(node: ast.expr) -> tuple[Any, int]:
    """What a node means, and how many values, characters or digits that is."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value, _bounded(len(value) if isinstance(value, str) else 1)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            values, sizes = zip(*map(_value, parts), strict=True) if parts else ((), ())
            return (list if isinstance(node, ast.List) else tuple)(values), _bounded(1 + sum(sizes))
        case ast.Dict(keys=keys, values=parts) if None not in keys:
            names, values = _value(ast.Tuple(keys))[0], _value(ast.Tuple(parts))  # type: ignore[arg-type]
            return dict(zip(names, values[0], strict=True)), _bounded(2 * values[1])
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _number(_value(operand)[0])
            return -number if isinstance(sign, ast.USub) else number, 1
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            (a, size_a), (b, size_b) = _value(left), _value(right)
            return a + b, _bounded(size_a + size_b)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(_value(left), _value(right))
    raise ValueError(f"{type(node).__name__} is no literal")


def _product(first: tuple[Any, int], second: tuple[Any, int]) -> tuple[Any, int]:
    """Number times number, or a sequence so many times over; refused before it is made."""
    (a, size_a), (b, size_b) = first, second
    if isinstance(a, list | tuple | str):
        size = _bounded(size_a * max(_whole(b), 0))
    elif isinstance(b, list | tuple | str):
        size = _bounded(size_b * max(_whole(a), 0))
    else:
        size = _bounded(len(str(_number(a))) + len(str(_number(b))))
    return a * b, size


def _bounded(size: int) -> int:
    if size > MOST_VALUES:
        raise _TooLarge
    return size


def _number(value: Any) -> Any:
    if not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no whole number")
    return value
