"""At the hotel: booking, what is missing, what is broken, times and floors. Templates only."""

from phrasebook.lexicon import (
    FACILITIES,
    FEATURES,
    FITTINGS,
    HOTEL_ITEMS,
    MACHINES,
    NIGHT,
    ROOMS,
    SURNAMES,
    VIEWS,
)
from phrasebook.lines import adjectives
from phrasebook.measures import (
    CLOCK,
    FEW,
    FLOORS,
    FULL_DATES,
    HOURS,
    ONE_OR_MORE,
    PERIODS,
    PRICES,
    ROOM_NUMBERS,
    TOMORROWS,
)
from phrasebook.phrase import phrase

_BETTER = adjectives("""
quieter = ruhiger
larger = größer
cheaper = billiger / günstiger
brighter = heller
warmer = wärmer
smaller = kleiner
cleaner = sauberer
""")
_BAD = adjectives("""
loud = laut
small = klein
dark = dunkel
cold = kalt
hot = heiß
expensive = teuer
dirty = schmutzig
""")
_STATES = adjectives("""
clean = sauber
dry = trocken
new = neu
""")

PHRASES = [
    phrase(
        "(I would|I'd) like to book {room:a} for {night:{n}}.",
        (
            "Ich möchte {room:ein.acc} für {night:{n}.acc} (buchen|reservieren).",
            "Ich würde gern {room:ein.acc} für {night:{n}.acc} (buchen|reservieren).",
        ),
        room=ROOMS,
        night=NIGHT,
        n=ONE_OR_MORE,
    ),
    phrase(
        "we need {room:{n}} {period}.",
        "wir (brauchen|benötigen) {room:{n}.acc} {period}.",
        room=ROOMS,
        n=FEW,
        period=PERIODS,
    ),
    phrase(
        "I have (booked|reserved) {room:a} {period}.",
        "Ich habe {room:ein.acc} {period} (gebucht|reserviert).",
        room=ROOMS,
        period=PERIODS,
    ),
    phrase(
        "do you have {room:a} with {feature:a}?",
        "haben Sie {room:ein.acc} mit {feature:(ein|0).dat}?",
        room=ROOMS,
        feature=FEATURES,
    ),
    phrase(
        "we are looking for {room:a} with {feature:a} and {other:a}.",
        "wir suchen {room:ein.acc} mit ({feature:0.dat} und {other:0.dat}|{feature:ein.dat} und {other:ein.dat}).",
        room=ROOMS,
        feature=FEATURES,
        other=FEATURES,
    ),
    phrase(
        "do you have {room:a} with a view of {view:the}?",
        "haben Sie {room:ein.acc} mit Blick auf {view:der.acc}?",
        room=ROOMS,
        view=VIEWS,
    ),
    phrase(
        "is there {room:a} available {period}?",
        "(ist|wäre) {period} {room:ein.nom} frei?",
        room=ROOMS,
        period=PERIODS,
    ),
    phrase(
        "how much is {room:a} per night?",
        "(was|wie viel) kostet {room:ein.nom} (pro Nacht|für eine Nacht)?",
        room=ROOMS,
    ),
    phrase(
        "{room:a} costs {price} per night.",
        "{room:ein.nom} kostet {price} (pro Nacht|die Nacht).",
        room=ROOMS,
        price=PRICES,
    ),
    phrase(
        "do you have {room:a {better}}?",
        "haben Sie {room:ein {better:stem}.acc}?",
        room=ROOMS,
        better=_BETTER,
    ),
    phrase(
        "{room:the} is too {bad}. could we have {other:a {better}}?",
        "{room:der.nom} ist (uns |)zu {bad}. könnten wir {other:ein {better:stem}.acc} (bekommen|haben)?",
        room=ROOMS,
        bad=_BAD,
        other=ROOMS,
        better=_BETTER,
    ),
    phrase(
        "could I have another {item}(|, please)?",
        "(könnte|kann) ich (bitte |)noch {item:ein.acc} (haben|bekommen)?",
        item=HOTEL_ITEMS,
    ),
    phrase(
        "could I have {item:a {state}}?",
        "(könnte|kann) ich {item:ein {state:stem}.acc} (haben|bekommen)?",
        item=HOTEL_ITEMS[:3],
        state=_STATES,
    ),
    phrase(
        "{item:{n}} are missing in room {number}.",
        ("in Zimmer {number} fehlen {item:{n}.nom}.", "es fehlen {item:{n}.nom} in Zimmer {number}."),
        item=HOTEL_ITEMS,
        n=FEW,
        number=ROOM_NUMBERS,
    ),
    phrase(
        "there is no {item} in my room.",
        ("in meinem Zimmer ist {item:kein.nom}.", "in meinem Zimmer gibt es {item:kein.acc}."),
        item=HOTEL_ITEMS,
    ),
    phrase(
        "{thing:the} in room {number} {thing:does/do} not work.",
        (
            "{thing:der.nom} in Zimmer {number} {thing:funktioniert/funktionieren} nicht.",
            "{thing:der.nom} in Zimmer {number} {thing:geht/gehen} nicht.",
        ),
        thing=FITTINGS,
        number=ROOM_NUMBERS,
    ),
    phrase(
        "{thing:the} in our room {thing:is/are} broken.",
        "{thing:der.nom} in unserem Zimmer {thing:ist/sind} (kaputt|defekt).",
        thing=FITTINGS,
    ),
    phrase(
        "could you (please |)have {thing:the} repaired?",
        "könnten Sie (bitte |){thing:der.acc} reparieren lassen?",
        thing=FITTINGS,
    ),
    phrase(
        "how do you turn on {thing:the}?",
        "wie schaltet man {thing:der.acc} (ein|an)?",
        thing=MACHINES,
    ),
    phrase(
        "breakfast is served {hours}.",
        ("(das |)Frühstück gibt es {hours}.", "es gibt {hours} Frühstück."),
        hours=HOURS,
    ),
    phrase("my room is {floor}.", "mein Zimmer (ist|liegt) {floor}.", floor=FLOORS),
    phrase(
        "room {number} is {floor}.",
        "Zimmer {number} (ist|liegt|befindet sich) {floor}.",
        number=ROOM_NUMBERS,
        floor=FLOORS,
    ),
    phrase("{place:the} is {floor}.", "{place:der.nom} (ist|befindet sich) {floor}.", place=FACILITIES, floor=FLOORS),
    phrase("the key to room {number}, please.", "den Schlüssel für Zimmer {number}, bitte.", number=ROOM_NUMBERS),
    phrase(
        "we are leaving {day} at {time}.",
        "wir reisen {day} um {time} ab.",
        day=TOMORROWS,
        time=CLOCK,
    ),
    phrase(
        "(I would|I'd) like to stay {night:{n}} longer.",
        "Ich möchte {night:{n}.acc} länger bleiben.",
        night=NIGHT,
        n=ONE_OR_MORE,
    ),
    phrase(
        "we will arrive {day} at about {time}.",
        "wir kommen {day} gegen {time} an.",
        day=FULL_DATES,
        time=CLOCK,
    ),
    phrase(
        "I have a reservation in the name of {name}.",
        ("Ich habe eine Reservierung auf den Namen {name}.", "Ich habe auf den Namen {name} reserviert."),
        name=SURNAMES,
    ),
    phrase(
        "I have to cancel my booking for {room:the} {period}.",
        "Ich muss meine Buchung für {room:der.acc} {period} stornieren.",
        room=ROOMS,
        period=PERIODS,
    ),
]
