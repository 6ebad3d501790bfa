"""Normalisation of one line of text: punctuation as Moses does it, Romanian letters, white space. Pure functions."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from re import Pattern

#: Romanian s and t with a cedilla, from the days before the right letters had code points -> with a comma below
COMMA_BELOW = str.maketrans("ŞşŢţ", "ȘșȚț")

#: the letters of Romanian -> the letters under their marks
WITHOUT_DIACRITICS = str.maketrans("ȘșȚțĂăÂâÎî", "SsTtAaAaIi")

BYTE_ORDER_MARK = "\ufeff"

#: the two-letter codes of ISO 639-1
LANGUAGES = frozenset(
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee "
    "el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is "
    "it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms "
    "mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk "
    "sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi "
    "yo za zh zu".split()
)


@dataclass(frozen=True)
class Normalization:
    """What is done to a line.

    Attributes:
        language: two letters; chooses the rules for punctuation, and ``ro`` those for Romanian letters.
        punctuation: normalise punctuation.
        diacritics: False removes the marks of Romanian letters, as is usual where Romanian is the source.
    """

    language: str
    punctuation: bool = True
    diacritics: bool = True


def normalize_line(line: str, settings: Normalization) -> str:
    """The line with normal punctuation and letters, single spaces between words and none at its ends.

    Whatever some tool may take for the end of a line (``\\r``, U+2028, ...) becomes a space, so that one line stays
    one line; a byte order mark vanishes.
    """
    line = line.replace(BYTE_ORDER_MARK, "")
    if settings.language == "ro":
        line = romanian(line, settings.diacritics)
    if settings.punctuation:
        line = punctuation(" ".join(line.splitlines()), settings.language)
    return " ".join(line.split())


def romanian(line: str, diacritics: bool = True) -> str:
    """Romanian s and t with a comma below, as the orthography wants it; without any marks if not ``diacritics``.

    Source: normalise-romanian.py and remove-diacritics.py of Sennrich et al. (2016), WMT16. Letters written as two
    code points (a letter and a combining mark) are composed first.
    """
    line = unicodedata.normalize("NFC", line).translate(COMMA_BELOW)
    return line if diacritics else line.translate(WITHOUT_DIACRITICS)


def punctuation(line: str, language: str) -> str:
    """What ``MosesPunctNormalizer(lang=language).normalize(line)`` gives, in half the time."""
    for pattern, replacement in _moses_substitutions(language):
        if pattern.search(line):  # hardly any rule applies to a given line, and this finds out faster than sub
            line = pattern.sub(replacement, line)
    return line.strip()


@lru_cache
def _moses_substitutions(language: str) -> list[tuple[Pattern[str], str]]:
    from sacremoses import MosesPunctNormalizer  # 0.2 s to import, which the filters need not wait for

    return [(re.compile(pattern), new) for pattern, new in MosesPunctNormalizer(lang=language).substitutions]
