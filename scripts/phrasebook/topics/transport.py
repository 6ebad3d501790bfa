"""Trains, buses, taxis, flights and hired cars. Templates only."""

from phrasebook.lexicon import (
    CAR_PARTS,
    CITIES,
    DAY,
    HOUR,
    LONG_DURATIONS,
    MINUTE,
    PLACES,
    RENTALS,
    TICKETS,
    TOWN_VEHICLES,
    TRAINS,
    VEHICLES,
)
from phrasebook.lines import adjectives, named, words
from phrasebook.measures import (
    CLOCK,
    DAYS,
    EVERY,
    FULL_DATES,
    MINUTES,
    ONE_OR_MORE,
    PLATFORMS,
    PRICES,
    ROUND_PRICES,
    SCHEDULE,
    TIMES,
    UP_TO_TWELVE,
    spelled,
)
from phrasebook.people import ANYONE
from phrasebook.phrase import phrase

_ORDER = adjectives("""
next = nächst
last = letzt
first = erst
""")
_SEATS = words("""
by the window = am Fenster
on the aisle = am Gang
in first class = in der ersten Klasse
in the front carriage = im vorderen Wagen
in the last carriage = im letzten Wagen
""")
_CAR_FAULTS = words("""
broken = kaputt / defekt
damaged = beschädigt
""")

PHRASES = [
    phrase(
        "when does the {order} {vehicle} to {city} (leave|depart)?",
        "wann fährt {vehicle:der {order:stem}.nom} nach {city}(| ab)?",
        order=_ORDER,
        vehicle=VEHICLES,
        city=CITIES,
    ),
    phrase(
        "the {order} {vehicle} to {city} (leaves|departs) at {time}.",
        "{vehicle:der {order:stem}.nom} nach {city} fährt um {time}(| ab).",
        order=_ORDER,
        vehicle=VEHICLES,
        city=CITIES,
        time=TIMES,
    ),
    phrase(
        "{ticket:{n}} to {city}, please.",
        ("{ticket:{n}.acc} nach {city}, bitte.", "Ich (hätte gern|möchte) {ticket:{n}.acc} nach {city}."),
        ticket=TICKETS,
        n=ONE_OR_MORE,
        city=CITIES,
    ),
    phrase(
        "how much is {ticket:a} from {start} to {city}?",
        "(was|wie viel) kostet {ticket:ein.nom} von {start} nach {city}?",
        ticket=TICKETS,
        start=CITIES,
        city=CITIES,
    ),
    phrase(
        "{ticket:a} to {city} costs {price}.",
        "{ticket:ein.nom} nach {city} kostet {price}.",
        ticket=TICKETS,
        city=CITIES,
        price=PRICES,
    ),
    phrase(
        "which platform does the {train} to {city} leave from?",
        "(von welchem|auf welchem) Gleis fährt {train:der.nom} nach {city} ab?",
        train=TRAINS,
        city=CITIES,
    ),
    phrase(
        "the {time} {train} to {city} leaves from platform {platform}.",
        "{train:der.nom} um {time} nach {city} fährt (von|auf) Gleis {platform} ab.",
        time=SCHEDULE,
        train=TRAINS,
        city=CITIES,
        platform=PLATFORMS,
    ),
    phrase(
        "{vehicle:the} from {city} is {minute:{n}} late.",
        (
            "{vehicle:der.nom} aus {city} hat {minute:{n}.acc} Verspätung.",
            "{vehicle:der.nom} aus {city} hat eine Verspätung von {minute:{n}.dat}.",
        ),
        vehicle=VEHICLES,
        city=CITIES,
        minute=MINUTE,
        n=MINUTES,
    ),
    phrase(
        "(I have missed|I missed) {vehicle:the} to {city}. when does the next one leave?",
        "Ich habe {vehicle:der.acc} nach {city} verpasst. wann fährt {vehicle:der nächst ~.nom}?",
        vehicle=VEHICLES,
        city=CITIES,
    ),
    phrase("do I have to change in {city}?", "muss ich in {city} umsteigen?", city=CITIES),
    phrase(
        "where do I have to change for {city}?",
        "wo muss ich (umsteigen, um nach {city} zu kommen|nach {city} umsteigen)?",
        city=CITIES,
    ),
    phrase(
        "how long does it take by {vehicle} from {start} to {city}?",
        (
            "wie lange dauert die Fahrt mit {vehicle:der.dat} von {start} nach {city}?",
            "wie lange (fährt|braucht) man mit {vehicle:der.dat} von {start} nach {city}?",
        ),
        vehicle=VEHICLES,
        start=CITIES,
        city=CITIES,
    ),
    phrase(
        "the journey from {start} to {city} takes {hour:{n}}.",
        "die (Fahrt|Reise) von {start} nach {city} dauert {hour:{n}.acc}.",
        start=CITIES,
        city=CITIES,
        hour=HOUR,
        n=UP_TO_TWELVE,
    ),
    phrase(
        "we are travelling by {vehicle} to {city} {day}.",
        ("wir fahren {day} mit {vehicle:der.dat} nach {city}.", "{day} fahren wir mit {vehicle:der.dat} nach {city}."),
        vehicle=VEHICLES,
        city=CITIES,
        day=DAYS,
    ),
    phrase(
        "I am travelling from {start} to {city} {day}.",
        ("Ich (fahre|reise) {day} von {start} nach {city}.", "{day} (fahre|reise) ich von {start} nach {city}."),
        start=CITIES,
        city=CITIES,
        day=FULL_DATES,
    ),
    phrase(
        "does this {vehicle} stop at {place:the}?",
        "hält {vehicle:dies.nom} {place:am}?",
        vehicle=TOWN_VEHICLES,
        place=PLACES,
    ),
    phrase(
        "which {vehicle} goes to {place:the}?",
        "{vehicle:welch.nom} fährt {place:zum}?",
        vehicle=TOWN_VEHICLES,
        place=PLACES,
    ),
    phrase(
        "{vehicle:the} to {place:the} (runs|goes) every {n} minutes.",
        "{vehicle:der.nom} {place:zum} fährt alle {n} Minuten.",
        vehicle=TOWN_VEHICLES,
        place=PLACES,
        n=spelled([*range(2, 13), *range(15, 65, 5)]),
    ),
    phrase(
        "does {vehicle:the} to {city} (also |)run {day}?",
        "fährt {vehicle:der.nom} nach {city} (auch |){day}?",
        vehicle=VEHICLES,
        city=CITIES,
        day=EVERY,
    ),
    phrase(
        "take {vehicle:the} as far as {place:the}, then walk.",
        (
            "{you:nehmen Sie/nimm} {vehicle:der.acc} bis {place:zum} und {you:gehen Sie/geh} dann zu Fuß.",
            "{you:fahren Sie/fahr} mit {vehicle:der.dat} bis {place:zum} und {you:gehen Sie/geh} dann zu Fuß.",
        ),
        you=ANYONE,
        vehicle=TOWN_VEHICLES,
        place=PLACES,
    ),
    phrase(
        "I would like a seat {seat} on {train:the} to {city}.",
        "Ich (möchte|hätte gern) einen (Platz|Sitzplatz) {seat} {train:im} nach {city}.",
        seat=_SEATS,
        train=TRAINS,
        city=CITIES,
    ),
    phrase(
        "(to {place:the}, please|take me to {place:the}, please).",
        (
            "{place:zum}, bitte.",
            "(bringen|fahren) Sie mich bitte {place:zum}.",
        ),
        place=PLACES,
    ),
    phrase(
        "I have to be at {place:the} at {time}.",
        "Ich muss um {time} {place:am} sein.",
        place=named(PLACES, "railway station", "main station", "airport", "harbour", "university", "town hall"),
        time=TIMES,
    ),
    phrase(
        "how much is a taxi to {place:the}?",
        "(was|wie viel) kostet (ein Taxi|eine Taxifahrt) {place:zum}?",
        place=PLACES,
    ),
    phrase(
        "the taxi to {place:the} costs about {price}.",
        "das Taxi {place:zum} kostet (etwa|ungefähr) {price}.",
        place=PLACES,
        price=ROUND_PRICES,
    ),
    phrase(
        "my flight to {city} leaves at {time}.",
        "mein Flug nach {city} (geht|startet) um {time}.",
        city=CITIES,
        time=SCHEDULE,
    ),
    phrase(
        "the flight from {start} to {city} {day} has been cancelled.",
        "der Flug von {start} nach {city} {day} (ist gestrichen worden|wurde gestrichen|fällt aus).",
        start=CITIES,
        city=CITIES,
        day=FULL_DATES,
    ),
    phrase(
        "we arrive in {city} at {time} {day}.",
        ("wir kommen {day} um {time} in {city} an.", "{day} um {time} kommen wir in {city} an."),
        city=CITIES,
        time=TIMES,
        day=DAYS,
    ),
    phrase(
        "(I would|I'd) like to (hire|rent) {car:a} for {time:{n}}.",
        ("Ich möchte {car:ein.acc} für {time:{n}.acc} (mieten|leihen).",
         "Ich würde gern {car:ein.acc} für {time:{n}.acc} (mieten|leihen)."),
        car=RENTALS,
        time=DAY + HOUR + LONG_DURATIONS[1:2],
        n=ONE_OR_MORE,
    ),
    phrase(
        "how much is it to hire {car:a} for {time:{n}}?",
        "was kostet es, {car:ein.acc} für {time:{n}.acc} zu (mieten|leihen)?",
        car=RENTALS,
        time=DAY + HOUR + LONG_DURATIONS[1:2],
        n=ONE_OR_MORE,
    ),
    phrase(
        "where can I (hire|rent) {car:a}?",
        "wo kann ich {car:ein.acc} (mieten|leihen)?",
        car=RENTALS,
    ),
    phrase(
        "{car:a} costs {price} per {time}.",
        "{car:ein.nom} kostet {price} pro {time:0.acc}.",
        car=RENTALS,
        price=ROUND_PRICES,
        time=DAY + HOUR + LONG_DURATIONS[1:2],
    ),
    phrase(
        "{part:the} of {car:the} {part:is/are} {fault}.",
        "{part:der.nom} {car:der.gen} {part:ist/sind} {fault}.",
        part=CAR_PARTS,
        car=RENTALS[:1],
        fault=_CAR_FAULTS,
    ),
    phrase(
        "could you check {part:the}, please?",
        "könnten Sie bitte {part:der.acc} (prüfen|überprüfen|kontrollieren)?",
        part=CAR_PARTS,
    ),
    phrase(
        "I have to return {car:the} {day} at {time}.",
        "Ich muss {car:der.acc} {day} um {time} (zurückgeben|zurückbringen).",
        car=RENTALS,
        day=DAYS,
        time=CLOCK,
    ),
]
