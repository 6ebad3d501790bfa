"""Lines of strict JSON: one object a line, numbers finite; whoever reads them reads the same.

Python's own module writes and reads NaN and Infinity, which are no JSON: a browser, or another language, stops there.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from dcmbr_fairseq.errors import UserError, cut

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def format_object(row: Mapping[str, Any], readable: bool = False) -> str:
    """One line.

    Args:
        row: the object.
        readable: leave other scripts as they are; otherwise, and where UTF-8 cannot write them, all is ASCII: lone
            surrogates survive, and no reader takes U+2028 for the end of a line.

    Raises:
        ValueError: a number is not finite.
    """
    line = json.dumps(row, allow_nan=False, ensure_ascii=not readable)
    return json.dumps(row, allow_nan=False) if _LONE_SURROGATE.search(line) else line


def parse_object(line: str) -> dict[str, Any]:
    """The object in a line.

    Raises:
        UserError: it is cut off, something else, or holds a number that is not finite.
    """
    try:
        row = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise UserError(f"not a JSON object ({error}): give one whole object a line") from error
    if not isinstance(row, dict):
        raise UserError(f"not a JSON object but {shown_json(row)}: give one object a line")
    return row


def read_json(text: str, refusal: str) -> Any:
    """The value of a JSON text.

    Args:
        text: it.
        refusal: what is said where it is no JSON: flag or file and line, and what to do; the reason follows.

    Raises:
        UserError: it is no JSON, nested too deeply, or holds a number of thousands of digits.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = str(error)
    except RecursionError:
        reason = "its lists or objects are nested too deeply"
    except ValueError:  # Python turns at most 4,300 digits into a number
        reason = "a number in it has thousands of digits"
    raise UserError(f"{refusal} ({reason})")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{cut(text, 40)} is too large for a number")
    return number


def shown_json(value: Any) -> str:
    """A value in a message, cut to a readable length."""
    return cut(json.dumps(value))
