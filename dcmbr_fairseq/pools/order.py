"""In which order the rows of a file belong: shards that were joined are not in the order of their sentences."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.json_lines import shown_json

#: ``--order``: of the sentences' ids, or as the rows stand in the file.
ORDERS = ("id", "file")
_KINDS: dict[type, str] = {int: "a number as id", str: "a text as id", type(None): "no id"}


def ids_of(rows: Iterable[Mapping[str, Any]], what: str) -> list[int | str]:
    """The ids of all rows: as numbers where all are numbers, also in quotation marks; as they are otherwise.

    Rows of which none has an id are counted from 0.

    Raises:
        UserError: an id is neither a number nor a text, or some rows have one of a kind that others have not.
    """
    ids = [row.get("id") for row in rows]
    kinds = {type(one) for one in ids}
    for line, one in enumerate(ids, 1):
        if one is not None and type(one) not in (int, str):
            raise UserError(f"{what}, line {line}: field id must be an integer or a string, got {shown_json(one)}")
        if type(one) is not type(ids[0]):
            here, first = (_KINDS[type(each)] for each in (one, ids[0]))
            raise UserError(f"{what}, line {line}, has {here}, the first line {first}: give rows of one kind")
    if kinds <= {type(None)}:
        return list(range(len(ids)))
    texts = [one for one in ids if isinstance(one, str)]
    numbers = [int(text) for text in texts if re.fullmatch("0|[1-9][0-9]{0,17}", text)]
    return list(numbers) if texts and len(numbers) == len(texts) else [one for one in ids if one is not None]


def places_by_id(ids: Sequence[int | str], what: str) -> list[int]:
    """The place of each row when they are sorted by id.

    Args:
        ids: of the rows, in the order of the file.
        what: the file.

    Raises:
        UserError: an id is no whole number, or comes twice.
    """
    seen: set[int | str] = set()
    for line, row_id in enumerate(ids, 1):
        if type(row_id) is not int:
            raise UserError(f"{what}, line {line}: --order id needs whole numbers as ids, got {shown_json(row_id)}")
        if row_id in seen:
            raise UserError(f"{what}, line {line}: the id {row_id} comes twice: use --order file")
        seen.add(row_id)
    places = {row_id: place for place, row_id in enumerate(sorted(seen, key=int))}
    return [places[row_id] for row_id in ids]


def refuse_shuffled(ids: Sequence[int | str], what: str) -> None:
    """Refuse rows whose ids are 0 to n - 1 in another order: lines of text would not fit the source's.

    Raises:
        UserError: they are.
    """
    if list(ids) != list(range(len(ids))) and all(type(i) is int for i in ids) and set(ids) == set(range(len(ids))):
        line = next(line for line, row_id in enumerate(ids, 1) if row_id != line - 1)
        raise UserError(
            f"{what} has the ids 0 to {len(ids) - 1} in another order (line {line} has {ids[line - 1]}): give --order "
            "id for the order of the source, or --order file"
        )
