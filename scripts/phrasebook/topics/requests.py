"""Requests, polite (Sie) and familiar (du). Templates only."""

from phrasebook.lexicon import (
    CONTAINERS,
    DRINKS,
    ERRANDS,
    FAMILY,
    FAVOURS,
    HANDING,
    HOTEL_ITEMS,
    LANGUAGES,
    LUGGAGE,
    TABLEWARE,
)
from phrasebook.lines import words
from phrasebook.measures import CLOCK, DAYS, FEW
from phrasebook.people import ANYONE, PERSONS, YOU
from phrasebook.phrase import phrase

ITEMS = HOTEL_ITEMS + TABLEWARE[3:]
_MORNINGS = words("""
tomorrow = morgen
tomorrow morning = morgen früh
the day after tomorrow = übermorgen
on Sunday morning = am Sonntagmorgen
""")

PHRASES = [
    phrase(
        "{you}could you (please {do}|{do}, please)?",
        "{you}{you:(könnten Sie/könntest du|würden Sie/würdest du|können Sie/kannst du)} {do:bitte}?",
        you=YOU,
        do=FAVOURS,
    ),
    phrase(
        "excuse me, (could|can) you {do}?",
        "(Entschuldigung|{you:Entschuldigen Sie/Entschuldige}|Verzeihung), "
        "{you:(könnten Sie/könntest du|können Sie/kannst du)} {do}?",
        you=ANYONE,
        do=FAVOURS,
    ),
    phrase(
        "(would you be so kind as to|would you kindly) {do}?",
        "{you:(würden Sie/würdest du|könnten Sie/könntest du)} {do:freundlicherweise}?",
        you=ANYONE,
        do=FAVOURS,
    ),
    phrase(
        "{you}can you {do} {day}?",
        "{you}{you:(können Sie/kannst du|könnten Sie/könntest du)} {do:{day}}?",
        you=YOU,
        do=ERRANDS,
        day=DAYS,
    ),
    phrase(
        "{you}could you please {hand} me {item:a}?",
        "{you}{you:(könnten Sie/könntest du|können Sie/kannst du)} mir bitte {item:ein.acc} {hand}?",
        you=YOU,
        hand=HANDING,
        item=ITEMS,
    ),
    phrase(
        "{you}could you {hand} us {item:{n}}, please?",
        "{you}{you:(könnten Sie/könntest du|würden Sie/würdest du)} uns bitte {item:{n}.acc} {hand}?",
        you=YOU,
        hand=HANDING,
        item=ITEMS,
        n=FEW,
    ),
    phrase(
        "{you}could you give {who:my} {item:the}?",
        "{you}{you:(könnten Sie/könntest du|würden Sie/würdest du)} {who:mein.dat} {item:der.acc} geben?",
        you=YOU,
        who=FAMILY,
        item=ITEMS,
    ),
    phrase("I need {item:a}.", "Ich (brauche|bräuchte) {item:ein.acc}.", item=ITEMS),
    phrase("I still need {item:{n}}.", "Ich brauche noch {item:{n}.acc}.", item=ITEMS, n=FEW),
    phrase(
        "{you}do you have {item:a} for me?",
        "{you}{you:(haben Sie/hast du|hätten Sie/hättest du)} {item:ein.acc} für mich?",
        you=YOU,
        item=ITEMS,
    ),
    phrase(
        "{you}may I use your {item}?",
        "{you}(darf|kann|dürfte) ich {item:{you:Ihr/dein}.acc} benutzen?",
        you=YOU,
        item=HOTEL_ITEMS,
    ),
    phrase(
        "{you}your {item} {item:is/are} in {box:the}.",
        "{you}{item:{you:Ihr/dein}.nom} {item:ist/sind} {box:im}.",
        you=YOU,
        item=LUGGAGE,
        box=CONTAINERS,
    ),
    phrase(
        "(could|can) you take a photo of {who:my}?",
        "{you:(könnten Sie/könntest du|können Sie/kannst du)} (bitte |)ein Foto von {who:mein.dat} machen?",
        you=ANYONE,
        who=FAMILY,
    ),
    phrase(
        "{you}would you like {drink:a}?",
        "{you}({you:möchten Sie/möchtest du} {drink:ein.acc}|{you:hätten Sie/hättest du} gern {drink:ein.acc})?",
        you=YOU,
        drink=DRINKS,
    ),
    phrase(
        "{you}do you speak {language}?",
        "{you}{you:sprechen Sie/sprichst du} {language}?",
        you=YOU,
        language=LANGUAGES,
    ),
    phrase(
        "does your {who} speak {language}?",
        "spricht {who:{you:Ihr/dein}.nom} {language}?",
        you=ANYONE,
        who=FAMILY,
        language=LANGUAGES,
    ),
    phrase(
        "please wake me {day} at {time}.",
        ("bitte {you:wecken Sie/weck} mich {day} um {time}.", "{you:wecken Sie/weck} mich bitte {day} um {time}."),
        you=ANYONE,
        day=_MORNINGS,
        time=CLOCK,
    ),
    phrase(
        "please tell {who} that I will be there at {time}.",
        "bitte {you:sagen Sie/sag} {who:0.dat}, dass ich um {time} da bin.",
        you=ANYONE,
        who=PERSONS,
        time=CLOCK,
    ),
]
