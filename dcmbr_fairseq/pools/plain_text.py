"""Pools in plain text files: N lines a source sentence, one draw a line."""

import itertools
from collections.abc import Iterator

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.files.reading import iter_lines
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.rows import Record
from dcmbr_fairseq.pools.sentence import Pools


def read_plain_pools(
    hypotheses: PathLike, references: PathLike | None, source: PathLike | None, lines_per_source: int
) -> Iterator[Record]:
    """Yield the pools of one source sentence after the other.

    Args:
        hypotheses: ``lines_per_source`` lines a source sentence, in draw order.
        references: the same for the reference pool; None where the hypotheses play both parts.
        source: the source sentences, one a line; None if they are not known.
        lines_per_source: N, the size of both pools.

    Raises:
        UserError: a file is missing, or the files do not have the same number of sentences.
    """
    streams: list[Iterator[list[str]]] = [_draws(hypotheses, lines_per_source)]
    streams.append(itertools.repeat([]) if references is None else _draws(references, lines_per_source))
    streams.append(itertools.repeat([]) if source is None else _draws(source, 1))
    paths = [path for path in (hypotheses, references, source) if path is not None]
    for number in itertools.count():
        hyps, refs, sources = (next(stream, None) for stream in streams)
        if hyps is None and (references is None or refs is None) and (source is None or sources is None):
            return
        if hyps is None or refs is None or sources is None:
            raise UserError(
                f"{', '.join(map(str, paths))}: one ends after sentence {number}, another goes on: give "
                f"--lines-per-source ({lines_per_source}) lines of each pool and one source line a sentence"
            )
        pools = [_pool(draws) for draws in (hyps, refs) if draws]
        yield Record(number, Pools.of(pools, sources[0] if sources else None))


def _draws(path: PathLike, size: int) -> Iterator[list[str]]:
    """Yield ``size`` lines at a time.

    Raises:
        UserError: the last ones are fewer.
    """
    lines = iter_lines(path)
    for number in itertools.count():
        draws = list(itertools.islice(lines, size))
        if not draws:
            return
        if len(draws) < size:
            raise UserError(
                f"{path} ends with {len(draws)} lines for sentence {number + 1}, not --lines-per-source {size}: "
                "give as many draws of every source sentence"
            )
        yield draws


def _pool(texts: list[str]) -> TextPool:
    zeros = [0.0] * len(texts)  # unknown: ties go to the earlier draw
    return TextPool.from_draws(texts, zeros, zeros)
