"""Numbers, prices, times and dates as entries of slots: num2words spells the numbers, Babel names days and months."""

import datetime
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from babel.dates import format_date, format_time
from babel.numbers import format_currency

from phrasebook import english, german
from phrasebook.phrase import Count, Entry

YEAR = 2026  # whose weekdays the dates follow


def text(en: object, *de: object) -> Entry:
    """An entry with one English side and any number of German ones."""
    return Entry((en,), de)


# --- Numbers ----------------------------------------------------------------------------------------------------------
def counts(numbers: Iterable[int]) -> list[Entry]:
    """Numbers that stand before a noun, or choose a verb: see :class:`Count`."""
    return [text(Count(number), Count(number)) for number in numbers]


def spelled(numbers: Iterable[int]) -> list[Entry]:
    """Numbers in words that stand alone: "seven", "sieben"."""
    return [text(english.number_word(number), german.number_word(number)) for number in numbers]


def digits(numbers: Iterable[int]) -> list[Entry]:
    """Numbers in digits, alike in both languages: room numbers, sizes, years."""
    return [text(str(number), str(number)) for number in numbers]


def ordinals(numbers: Iterable[int]) -> list[Entry]:
    """Ordinals before a noun: "the {nth} street", ``{street:der {nth:stem}.nom}``."""
    stems = [(number, german.ordinal_stem(number)) for number in numbers]
    return [text(english.ordinal_word(number), german.GermanAdjective(stem, stem)) for number, stem in stems]


FEW = counts(range(2, 7))
ONE_OR_MORE = counts(range(1, 8))
UP_TO_TWELVE = counts(range(1, 13))
PARTY = counts(range(2, 13))
AGES = counts(range(18, 91))
MINUTES = counts([*range(2, 15), *range(15, 61, 5)])
METRES = spelled([50, *range(100, 1000, 100), 150, 250])
DEGREES = spelled(range(2, 38))
PERCENT = spelled([5, 10, 15, 20, 25, 30, 40, 50])
KILOMETRES = spelled([*range(2, 20), *range(20, 100, 5), *range(100, 700, 50)])
PLATFORMS = [Entry((str(n), english.number_word(n)), (str(n), german.number_word(n))) for n in range(1, 15)]
ROOM_NUMBERS = digits(100 * floor + room for floor in range(1, 6) for room in range(1, 15))
SIZES = digits(range(36, 49))
BIRTH_YEARS = digits(range(1941, 2011))
NTH = ordinals(range(1, 7))
FLOORS = [
    text(f"on the {english.ordinal_word(n)} floor", f"im {german.ordinal_stem(n)}en Stock", f"in der {stem}en Etage")
    for n, stem in ((n, german.ordinal_stem(n)) for n in range(1, 13))
]


# --- Prices -----------------------------------------------------------------------------------------------------------
def spelled_price(euros: int, cents: int) -> Entry:
    """A price as it is spoken: "seventeen euros fifty", "siebzehn Euro fünfzig"; from two euros on."""
    behind = (f" {words.number_word(cents)}" if cents else "" for words in (english, german))
    return text(
        f"{english.number_word(euros)} euros{next(behind)}", f"{german.number_word(euros)} Euro{next(behind)}"
    )


def written_price(euros: int, cents: int) -> Entry:
    """A price in figures: "€17.50", "17,50 €"."""
    amount = euros + cents / 100
    figures = format_currency(amount, "EUR", locale="de_DE").replace("\xa0", " ")  # plain spaces survive tokenisation
    return text(format_currency(amount, "EUR", locale="en_GB"), figures, figures.replace("€", "Euro"))


PRICES = [spelled_price(euros, cents) for euros in range(2, 60) for cents in (0, 20, 50)] + [
    written_price(euros, cents) for euros in range(2, 60) for cents in (0, 50, 90)
]
ROUND_PRICES = [spelled_price(euros, 0) for euros in (*range(5, 100, 5), *range(100, 900, 50))]

# --- Times ------------------------------------------------------------------------------------------------------------
#: Minutes past the hour -> the templates of both languages; {0} is this hour, {1} the next.
_CLOCK = {
    0: (["{0} o'clock"], ["{0} Uhr", "{0}"]),
    5: (["five past {0}"], ["fünf nach {0}"]),
    10: (["ten past {0}"], ["zehn nach {0}"]),
    15: (["quarter past {0}", "a quarter past {0}"], ["Viertel nach {0}"]),
    20: (["twenty past {0}"], ["zwanzig nach {0}", "zehn vor halb {1}"]),
    25: (["twenty-five past {0}"], ["fünf vor halb {1}"]),
    30: (["half past {0}"], ["halb {1}"]),
    35: (["twenty-five to {1}"], ["fünf nach halb {1}"]),
    40: (["twenty to {1}"], ["zwanzig vor {1}", "zehn nach halb {1}"]),
    45: (["quarter to {1}", "a quarter to {1}"], ["Viertel vor {1}"]),
    50: (["ten to {1}"], ["zehn vor {1}"]),
    55: (["five to {1}"], ["fünf vor {1}"]),
}


def spoken_time(hour: int, minute: int) -> Entry:
    """A time of the twelve-hour clock as it is spoken; ``minute`` is a multiple of five."""
    hours = (hour, hour % 12 + 1)
    en = [template.format(*map(english.number_word, hours)) for template in _CLOCK[minute][0]]
    de = [template.format(*map(german.number_word, hours)) for template in _CLOCK[minute][1]]
    return Entry(tuple(en), tuple(words.replace("eins Uhr", "ein Uhr") for words in de))


def written_time(hour: int, minute: int) -> Entry:
    """A time of the twenty-four-hour clock in figures: "14:30" and "2:30 pm", "14:30 Uhr" and "14.30 Uhr"."""
    time = datetime.time(hour, minute)
    colon = format_time(time, "HH:mm", locale="de_DE")
    point = format_time(time, "HH.mm", locale="de_DE")
    twelve = format_time(time, "h:mm a", locale="en_US").lower()
    return Entry((format_time(time, "HH:mm", locale="en_GB"), twelve), (f"{colon} Uhr", f"{point} Uhr"))


CLOCK = [spoken_time(hour, minute) for hour in range(1, 13) for minute in range(0, 60, 5)]
SCHEDULE = [written_time(hour, minute) for hour in range(6, 24) for minute in range(0, 60, 10)]
TIMES = CLOCK + SCHEDULE


def _whole_and_half(hours: Iterable[int]) -> list[tuple[str, str]]:
    sides = []
    for hour in hours:
        whole = english.number_word(hour)
        sides += [(whole, german.number_word(hour)), (f"half past {whole}", f"halb {german.number_word(hour + 1)}")]
    return sides


def _spans(starts: Iterable[int], ends: Iterable[int]) -> list[Entry]:
    pairs = itertools.product(_whole_and_half(starts), _whole_and_half(ends))
    return [text(f"from {start} to {end}", f"von {von} bis {bis}") for (start, von), (end, bis) in pairs]


HOURS = _spans(range(6, 9), range(9, 12))
OPENING = _spans(range(8, 12), range(4, 9))

# --- Dates ------------------------------------------------------------------------------------------------------------

def _both(day: datetime.date, pattern: str) -> tuple[str, str]:
    return format_date(day, pattern, locale="en_GB"), format_date(day, pattern, locale="de_DE")


WEEKDAYS = [_both(datetime.date(YEAR, 6, day), "EEEE") for day in range(1, 8)]  # 1 June 2026 is a Monday
MONTHS = [_both(datetime.date(YEAR, month, 1), "MMMM") for month in range(1, 13)]
DAYS_OF_YEAR = [datetime.date(YEAR, 1, 1) + datetime.timedelta(days) for days in range(365)]


@dataclass(frozen=True)
class GermanDate:
    """A date whose ordinal inflects after the article: ``{day:nom}`` "dritte Mai", otherwise "dritten Mai"."""

    nominative: str
    oblique: str

    def __format__(self, spec: str) -> str:
        return self.nominative if spec == "nom" else self.oblique


def written_date(day: datetime.date) -> Entry:
    """A date in figures: "3 May", "May 3"; "3. Mai"."""
    english_month, _ = MONTHS[day.month - 1]
    figures = format_date(day, "d. MMMM", locale="de_DE")
    return Entry((f"{day.day} {english_month}", f"{english_month} {day.day}"), (GermanDate(figures, figures),))


def spoken_date(day: datetime.date) -> Entry:
    """A date in words: "the third of May"; "(der) dritte Mai", "(am) dritten Mai"."""
    english_month, month = MONTHS[day.month - 1]
    stem = german.ordinal_stem(day.day)
    spoken = GermanDate(f"{stem}e {month}", f"{stem}en {month}")
    return text(f"the {english.ordinal_word(day.day)} of {english_month}", spoken)


def full_date(day: datetime.date) -> Entry:
    """A day with its weekday: "on Monday, 4 May"; German puts the date, between commas, in the dative or accusative."""
    weekday, date = format_date(day, "EEEE", locale="de_DE"), format_date(day, "d. MMMM", locale="de_DE")
    english_date = format_date(day, "EEEE, d MMMM", locale="en_GB")
    return text(f"on {english_date}", f"am {weekday}, dem {date},", f"am {weekday}, den {date},")


DATES = [make(day) for day in DAYS_OF_YEAR for make in (written_date, spoken_date)]
FULL_DATES = [full_date(day) for day in DAYS_OF_YEAR[::2]]
DAYS = (
    [text(f"on {en}", f"am {de}") for en, de in WEEKDAYS]
    + [text(f"on {en} morning", f"am {de}morgen", f"am {de}vormittag") for en, de in WEEKDAYS]
    + [text(f"on {en} afternoon", f"am {de}nachmittag") for en, de in WEEKDAYS]
    + [text(f"on {en} evening", f"am {de}abend") for en, de in WEEKDAYS]
    + [text(f"next {en}", f"nächsten {de}", f"am nächsten {de}") for en, de in WEEKDAYS]
    + [
        text("today", "heute"),
        text("tonight", "heute Abend"),
        text("this afternoon", "heute Nachmittag"),
        text("tomorrow", "morgen"),
        text("tomorrow morning", "morgen früh", "morgen Vormittag"),
        text("tomorrow afternoon", "morgen Nachmittag"),
        text("tomorrow evening", "morgen Abend"),
        text("the day after tomorrow", "übermorgen"),
    ]
)
TOMORROWS = DAYS[-5:]
PERIODS = [
    text(f"from {first} to {last} {en}", f"vom {first}. bis zum {last}. {de}", f"vom {first}. bis {last}. {de}")
    for en, de in MONTHS
    for first in (2, 5, 9, 14, 18, 23)
    for last in (first + 2, first + 5)
]
EVERY = [text(f"on {en}s", f"{de.lower()}s", f"jeden {de}") for en, de in WEEKDAYS]
WEEK_SPANS = [
    text(f"from {start} to {end}", f"von {von} bis {bis}")
    for (start, von), (end, bis) in itertools.combinations(WEEKDAYS, 2)
]
WEEKDAY_NAMES = [text(en, de) for en, de in WEEKDAYS]
