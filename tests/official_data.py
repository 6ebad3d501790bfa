"""Small files under the names, and in the formats, in which WMT's publishers give them."""

import gzip
import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

from toy_world import toy_pair

Pairs = list[tuple[str, str]]

#: each language's rendering of the toy German, so that no two languages are alike
RENDERINGS: dict[str, Callable[[str], str]] = {"de": str, "ro": lambda text: text.replace("s", "ş").replace("t", "ţ")}


def toy_pairs(count: int, language: str, seed: int) -> Pairs:
    """English sentences of the toy world and their translations."""
    dice = random.Random(seed)
    pairs = (toy_pair(dice) for _ in range(count))
    return [(english, RENDERINGS[language](german)) for english, german in pairs]


def distinct_pairs(count: int, language: str, seed: int) -> Pairs:
    """The same without repetitions, and with two pairs that the filters drop: one has a tag, one is a copy."""
    found: dict[tuple[str, str], None] = {}
    while len(found) < count:
        found.update(dict.fromkeys(toy_pairs(count, language, seed + len(found))))
    return [*list(found)[:count], ("<b>bold</b> dog", "<b>fett</b>"), ("the same", "the same")]


def write_wmt20(folder: Path, pairs: Pairs) -> None:
    """All seven training corpora of WMT20 English-German; each holds a part of the pairs."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [pairs[i::7] for i in range(7)]
    _gzip(folder / "europarl-v10.de-en.tsv.gz", "".join(f"{de}\t{en}\t\tspeaker\n" for en, de in parts[0]))
    _gzip(folder / "en-de.txt.gz", "".join(f"{en}\t{de}\r\n" for en, de in parts[1]))
    _tar(folder / "training-parallel-commoncrawl.tgz", "commoncrawl.de-en", "de", parts[2])
    _gzip(folder / "news-commentary-v15.de-en.tsv.gz", "".join(f"{de}\t{en}\n" for en, de in parts[3]))
    _gzip(folder / "wikititles-v2.de-en.tsv.gz", "".join(f"{de}\t{en}\n" for en, de in parts[4]))
    units = (
        f'<trans-unit id="{i}">\n<source xml:lang="de">{escape(de)}</source>\n'
        f'<target xml:lang="en">{escape(en)}</target>\n</trans-unit>\n'
        for i, (en, de) in enumerate(parts[5])
    )
    _gzip(folder / "RAPID_2019.de-en.xlf.gz", "<xliff>\n" + "".join(units) + "</xliff>\n")
    matrix = "".join(f"1.05\t{de}\t{en}\tde\ten\n" for en, de in parts[6])
    _gzip(folder / "WikiMatrix.v1.de-en.langid.tsv.gz", matrix)


def write_wmt16(folder: Path, pairs: Pairs) -> None:
    """Both training corpora of WMT16 English-Romanian."""
    folder.mkdir(parents=True, exist_ok=True)
    _tar(folder / "ro-en.tgz", "europarl-v7.ro-en", "ro", pairs[::2])
    with zipfile.ZipFile(folder / "en-ro.txt.zip", "w") as archive:
        archive.writestr("README", "SETIMES2")
        archive.writestr("SETIMES.en-ro.en", _lines(en for en, _ in pairs[1::2]))
        archive.writestr("SETIMES.en-ro.ro", _lines(ro for _, ro in pairs[1::2]))


def write_set(folder: Path, name: str, source: str, target: str, pairs: Pairs, sgml: bool) -> None:
    """A set such as newstest2020-ende-src.en; as SGML, or as gzipped plain text. ``pairs`` are English first."""
    folder.mkdir(parents=True, exist_ok=True)
    for side, language in (("src", source), ("ref", target)):
        texts = [pair[language != "en"] for pair in pairs]
        stem = folder / f"{name}-{source}{target}-{side}.{language}"
        if sgml:
            segments = (f'<seg id="{i}">{text}</seg>\n' for i, text in enumerate(texts, 1))
            Path(f"{stem}.sgm").write_text(
                f'<srcset setid="{name}">\n<doc>\n{"".join(segments)}</doc>\n</srcset>\n', "utf-8"
            )
        else:
            _gzip(Path(f"{stem}.gz"), _lines(texts))


def _lines(texts) -> str:
    return "".join(f"{text}\n" for text in texts)


def _gzip(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _tar(path: Path, stem: str, language: str, pairs: Pairs) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for suffix, side in ((language, 1), ("en", 0)):
            content = _lines(pair[side] for pair in pairs).encode()
            info = tarfile.TarInfo(f"{stem}.{suffix}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
