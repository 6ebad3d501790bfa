"""The paper's own numbers (Yan et al., COLING 2024), as printed, each with the table that it stands in."""

from typing import NamedTuple

#: T_h = T_r of DC-MBR in the paper's tables.
TEMPERATURE = 0.5


class Bilingual(NamedTuple):
    """A row of Table 1 or of the appendix' bilingual tables: beam search, naive MBR, DC-MBR at T_h = T_r = 0.5."""

    beam: float | None = None
    mbr: float | None = None
    dcmbr: float | None = None
    printed_difference: float | None = None


class Multilingual(NamedTuple):
    """A row of Table 2."""

    beam: float
    mbr10: float
    dcmbr10: float
    difference10: float
    mbr50: float
    dcmbr50: float
    difference50: float


#: Table 1, WMT20 En-De, BLEURT (x100): (N, label smoothing) -> scores.
EN_DE = {
    (10, 0.0): Bilingual(65.0, 63.8, 68.8, 5.0),
    (10, 0.1): Bilingual(64.2, 41.0, 67.9, 26.9),
    (10, 0.2): Bilingual(64.9, 24.0, 68.3, 44.3),
    (10, 0.3): Bilingual(64.6, 17.1, 68.3, 51.2),
    (50, 0.0): Bilingual(65.0, 68.7, 70.1, 1.4),
    (50, 0.1): Bilingual(64.2, 52.1, 69.4, 17.3),
    (50, 0.2): Bilingual(64.9, 31.3, 69.8, 38.5),
    (50, 0.3): Bilingual(64.6, 21.0, 69.8, 48.8),
}

#: Appendix, table (a), WMT16 En-Ro, sacreBLEU: (N, label smoothing) -> scores.
EN_RO = {
    (10, 0.0): Bilingual(29.1, 28.9, 28.9),
    (10, 0.1): Bilingual(31.1, 25.1, 30.9),
    (10, 0.2): Bilingual(31.4, 19.7, 31.2),
    (10, 0.3): Bilingual(31.5, 12.5, 30.9),
    (50, 0.0): Bilingual(29.1, 29.4, 29.1),
    (50, 0.1): Bilingual(31.1, 27.7, 31.2),
    (50, 0.2): Bilingual(31.4, 22.5, 31.5),
    (50, 0.3): Bilingual(31.5, 15.8, 31.3),
}

#: Appendix, table (b), WMT20 De-En, BLEURT (x100): (N, label smoothing) -> scores.
DE_EN = {
    (10, 0.0): Bilingual(70.5, 66.6, 71.5),
    (10, 0.1): Bilingual(70.5, 49.4, 71.2),
    (10, 0.2): Bilingual(70.2, 39.2, 71.3),
    (10, 0.3): Bilingual(70.6, 33.2, 71.2),
    (50, 0.0): Bilingual(70.5, 69.9, 72.0),
    (50, 0.1): Bilingual(70.5, 55.4, 71.9),
    (50, 0.2): Bilingual(70.2, 43.7, 71.9),
    (50, 0.3): Bilingual(70.6, 37.6, 71.9),
}

BILINGUAL: dict[str, dict[tuple[int, float], Bilingual]] = {"en-de": EN_DE, "en-ro": EN_RO, "de-en": DE_EN}
BILINGUAL_METRIC = {"en-de": "BLEURT", "en-ro": "BLEU", "de-en": "BLEURT"}

#: Table 2, mBART-50 on WMT16, BLEURT (x100): direction -> scores.
WMT16: dict[str, Multilingual] = {
    "en-de": Multilingual(71.8, 70.3, 73.7, 3.4, 74.2, 74.8, 0.6),
    "de-en": Multilingual(74.0, 73.4, 74.3, 0.9, 75.1, 74.7, -0.4),
    "en-cs": Multilingual(73.0, 70.1, 75.3, 5.2, 75.0, 77.2, 2.2),
    "cs-en": Multilingual(70.8, 69.8, 71.2, 1.4, 71.7, 71.7, 0.0),
    "en-ro": Multilingual(77.2, 77.3, 78.6, 1.3, 79.8, 79.5, -0.3),
    "ro-en": Multilingual(72.3, 72.2, 72.5, 0.4, 73.6, 72.8, -0.8),
    "en-ru": Multilingual(70.8, 68.3, 72.9, 4.6, 72.5, 74.4, 1.9),
    "ru-en": Multilingual(71.6, 70.3, 72.2, 1.9, 72.4, 72.7, 0.3),
    "en-fi": Multilingual(77.4, 75.6, 79.9, 4.2, 80.1, 81.8, 1.7),
    "fi-en": Multilingual(68.9, 68.1, 69.6, 1.5, 70.1, 70.2, 0.1),
}
#: Its last row, as printed.
WMT16_AVERAGE = Multilingual(72.8, 71.5, 74.0, 2.5, 74.5, 75.0, 0.5)

#: Appendix, study of utilities: utility -> metric -> (DC-MBR, naive MBR), means over the ten directions of WMT16.
UTILITY_METRICS = ("BLEU", "chrF", "METEOR", "BEER", "BLEURT")
_UTILITY_ROWS = {
    "bleu": ((29.0, 27.1), (56.8, 54.6), (38.8, 37.0), (60.7, 59.4), (72.0, 68.8)),
    "chrf": ((28.7, 25.5), (57.3, 55.7), (38.9, 37.0), (60.7, 59.3), (72.2, 69.4)),
    "meteor": ((28.6, 25.4), (56.9, 54.8), (39.0, 37.6), (60.6, 59.1), (72.0, 69.1)),
    "beer": ((29.0, 26.5), (57.0, 55.3), (38.8, 37.2), (60.9, 59.9), (72.0, 69.5)),
    "bleurt": ((28.7, 23.9), (56.9, 53.4), (38.7, 35.4), (60.6, 57.9), (75.0, 74.5)),
}
UTILITIES: dict[str, dict[str, tuple[float, float]]] = {
    utility: dict(zip(UTILITY_METRICS, row, strict=True)) for utility, row in _UTILITY_ROWS.items()
}

#: Appendix, data sets: task -> (training pairs as printed, validation segments, test segments).
DATA: dict[str, tuple[str | None, int, int]] = {
    "wmt20-en-de": ("37M", 1997, 1418),
    "wmt20-de-en": ("37M", 2000, 785),
    "wmt16-en-ro-bilingual": ("608K", 1999, 1999),
    "wmt16-en-de": (None, 2169, 2999),
    "wmt16-de-en": (None, 2169, 2999),
    "wmt16-en-cs": (None, 2656, 2999),
    "wmt16-cs-en": (None, 2656, 2999),
    "wmt16-en-ro": (None, 1999, 1999),
    "wmt16-ro-en": (None, 1999, 1999),
    "wmt16-en-ru": (None, 2818, 2998),
    "wmt16-ru-en": (None, 3003, 2998),
    "wmt16-en-fi": (None, 1500, 3000),
    "wmt16-fi-en": (None, 1500, 3000),
}

#: Figure 4: Kendall's tau of MBR quality and entropy over 45 models.
FIGURE_4_TAU = -0.99
