"""Asking the way and giving directions. Templates only."""

from phrasebook.lexicon import (
    CITIES,
    CORNERS,
    CROSSED,
    FACILITIES,
    FAMILY,
    PLACES,
    STREET,
    VENUES,
)
from phrasebook.lines import adjectives, words
from phrasebook.measures import CLOCK, DAYS, KILOMETRES, METRES, NTH, spelled
from phrasebook.people import ANYONE
from phrasebook.phrase import phrase

#: The German ones take the dative.
_WHERE = words("""
next to = neben
behind = hinter
opposite = gegenüber
in front of = vor
""")
_TURNS = words("""
left = links
right = rechts
""")
_HAND_SIDES = words("""
left = linken
right = rechten
""")
_KINDS = adjectives("""
good = gut
cheap = billig / günstig
small = klein
new = neu
modern = modern
""")
_ROADS = words("""
railway station = zum Bahnhof
airport = zum Flughafen
motorway = zur Autobahn
town centre = zum Stadtzentrum / in die Innenstadt
harbour = zum Hafen
beach = zum Strand
""")
_PAST = words("""
yesterday = gestern
yesterday evening = gestern Abend
last week = letzte Woche
this morning = heute Morgen
""")
SPOTS = PLACES + FACILITIES

PHRASES = [
    phrase(
        "excuse me, where is {place:the}?",
        (
            "(Entschuldigung|Entschuldigen Sie|Verzeihung), wo ist {place:der.nom}?",
            "Entschuldigung, wo finde ich {place:der.acc}?",
        ),
        place=SPOTS,
    ),
    phrase("where is {place:the nearest}?", "wo ist {place:der nächst.nom}?", place=SPOTS),
    phrase(
        "how do I get to {place:the}?",
        "wie komme ich (am besten |){place:zum}?",
        place=SPOTS,
    ),
    phrase(
        "can you tell me how to get to {place:the}?",
        "{you:(können Sie/kannst du|könnten Sie/könntest du)} mir sagen, wie ich {place:zum} komme?",
        you=ANYONE,
        place=SPOTS,
    ),
    phrase("I am lost. where is {place:the}?", "Ich habe mich verlaufen. wo ist {place:der.nom}?", place=SPOTS),
    phrase(
        "is there {place:a {kind}} near here?",
        "gibt es (hier in der Nähe {place:ein {kind:stem}.acc}|{place:ein {kind:stem}.acc} in der Nähe)?",
        place=VENUES,
        kind=_KINDS,
    ),
    phrase(
        "I am looking for {place:a}.",
        "Ich suche {place:ein.acc}.",
        place=SPOTS,
    ),
    phrase(
        "{place:the} is {where} {landmark:the}.",
        "{place:der.nom} (ist|liegt|befindet sich) {where} {landmark:der.dat}.",
        place=PLACES,
        where=_WHERE,
        landmark=PLACES,
    ),
    phrase(
        "is {place:the} {where} {landmark:the}?",
        "(ist|liegt) {place:der.nom} {where} {landmark:der.dat}?",
        place=PLACES,
        where=_WHERE,
        landmark=PLACES,
    ),
    phrase(
        "{place:the} is near {landmark:the}.",
        "{place:der.nom} (ist|liegt|befindet sich) in der Nähe {landmark:(der.gen|vom)}.",
        place=PLACES,
        landmark=PLACES,
    ),
    phrase(
        "{place:the} is not far from {landmark:the}.",
        "{place:der.nom} (ist|liegt) nicht weit {landmark:vom}(| entfernt).",
        place=PLACES,
        landmark=PLACES,
    ),
    phrase(
        "{place:the} is between {left:the} and {right:the}.",
        "{place:der.nom} (ist|liegt|befindet sich) zwischen {left:der.dat} und {right:der.dat}.",
        place=PLACES,
        left=PLACES,
        right=PLACES,
    ),
    phrase(
        "{place:the} is on the {side}, {where} {landmark:the}.",
        "{place:der.nom} (ist|liegt) auf der {side} Seite, {where} {landmark:der.dat}.",
        place=PLACES,
        side=_HAND_SIDES,
        where=_WHERE,
        landmark=PLACES,
    ),
    phrase(
        "turn {turn} at {place:the}.",
        ("{you:biegen Sie/bieg} {place:am} {turn} ab.", "{you:gehen Sie/geh} {place:am} nach {turn}."),
        you=ANYONE,
        turn=_TURNS,
        place=CORNERS + PLACES,
    ),
    phrase(
        "take the {nth} street on the {turn}.",
        "{you:nehmen Sie/nimm} {street:der {nth:stem}.acc} {turn}.",
        you=ANYONE,
        nth=NTH,
        street=STREET,
        turn=_TURNS,
    ),
    phrase(
        "go straight on as far as {place:the}.",
        "{you:gehen Sie/geh} (immer |)geradeaus bis {place:zum}.",
        you=ANYONE,
        place=CORNERS + PLACES,
    ),
    phrase(
        "go past {place:the} and then turn {turn}.",
        (
            "{you:gehen Sie/geh} {place:am} vorbei und {you:biegen Sie/bieg} dann {turn} ab.",
            "{you:gehen Sie/geh} {place:am} vorbei und dann nach {turn}.",
        ),
        you=ANYONE,
        place=PLACES,
        turn=_TURNS,
    ),
    phrase(
        "cross {way:the} and go as far as {place:the}.",
        (
            "{you:gehen Sie/geh} über {way:der.acc} und dann bis {place:zum}.",
            "{you:überqueren Sie/überquer} {way:der.acc} und {you:gehen Sie/geh} bis {place:zum}.",
        ),
        you=ANYONE,
        way=CROSSED,
        place=PLACES,
    ),
    phrase(
        "{place:the} is about {metres} metres from here.",
        "{place:der.nom} ist (etwa|ungefähr) {metres} Meter von hier(| entfernt).",
        place=PLACES,
        metres=METRES,
    ),
    phrase(
        "it is {n} minutes on foot to {place:the}.",
        ("bis {place:zum} sind es {n} Minuten zu Fuß.", "zu Fuß sind es {n} Minuten bis {place:zum}."),
        n=spelled([2, *range(5, 50, 5)]),
        place=PLACES,
    ),
    phrase("how far is it to {place:the}?", "wie weit ist es (bis |){place:zum}?", place=PLACES),
    phrase(
        "how far is it from {start:the} to {place:the}?",
        "wie weit ist es {start:vom} (bis |){place:zum}?",
        start=PLACES,
        place=PLACES,
    ),
    phrase(
        "it is {km} kilometres from {start} to {city}.",
        ("von {start} nach {city} sind es {km} Kilometer.", "es sind {km} Kilometer von {start} nach {city}."),
        km=KILOMETRES,
        start=CITIES,
        city=CITIES,
    ),
    phrase("can I walk to {place:the}?", "kann (ich|man) zu Fuß {place:zum} gehen?", place=PLACES),
    phrase(
        "can you show me {place:the} on the map?",
        "{you:(können Sie/kannst du|könnten Sie/könntest du)} mir {place:der.acc} auf der Karte zeigen?",
        you=ANYONE,
        place=PLACES,
    ),
    phrase("is this the right way to the {road}?", "ist das der richtige Weg {road}?", road=_ROADS),
    phrase("is this the right road to {city}?", "ist das die richtige Straße nach {city}?", city=CITIES),
    phrase(
        "do you know the address of {place:the}?",
        "{you:(kennen Sie/kennst du|wissen Sie/weißt du)} die Adresse {place:(der.gen|vom)}?",
        you=ANYONE,
        place=VENUES,
    ),
    phrase("what is {place:this} called?", "wie heißt {place:dies.nom}?", place=CROSSED + PLACES),
    phrase(
        "let's meet at {time} in front of {place:the}.",
        (
            "treffen wir uns um {time} vor {place:der.dat}.",
            "{you:lassen Sie/lass} uns um {time} vor {place:der.dat} treffen.",
        ),
        you=ANYONE,
        time=CLOCK,
        place=PLACES,
    ),
    phrase(
        "we are meeting {day} at {time} {where} {place:the}.",
        "wir treffen uns {day} um {time} {where} {place:der.dat}.",
        day=DAYS,
        time=CLOCK,
        where=_WHERE,
        place=PLACES,
    ),
    phrase(
        "my {who} is waiting for me {where} {place:the}.",
        "{who:mein.nom} wartet {where} {place:der.dat} auf mich.",
        who=FAMILY,
        where=_WHERE,
        place=PLACES,
    ),
    phrase(
        "I was at {place:the} {day}.",
        "Ich war {day} {place:at}.",
        place=PLACES,
        day=_PAST,
    ),
    phrase("I am at {place:the}.", "Ich bin (gerade |){place:at}.", place=PLACES),
    phrase(
        "{place:the} is {n} stops from here.",
        "{place:der.nom} ist {n} Haltestellen von hier(| entfernt).",
        n=spelled(range(2, 8)),
        place=PLACES,
    ),
]
