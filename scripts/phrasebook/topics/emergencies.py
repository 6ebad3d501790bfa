"""Lost and stolen things, accidents, help, illness. Templates only."""

from phrasebook.lexicon import (
    BODY,
    CONTAINERS,
    DURATIONS,
    FAMILY,
    FERRY,
    HELPERS,
    ILLNESSES,
    LANGUAGES,
    LIMBS,
    LUGGAGE,
    PLACES,
    SERVICES,
    TOWN_VEHICLES,
    VEHICLES,
)
from phrasebook.lines import adjectives, nouns, words
from phrasebook.measures import DAYS, FEW, UP_TO_TWELVE
from phrasebook.people import ANYONE, YOU
from phrasebook.phrase import phrase

_INJURIES = words("""
injured = verletzt
broken = gebrochen
burnt = verbrannt
""")
_STATES = adjectives("""
broken = gebrochen
swollen = geschwollen
injured = verletzt
""")
_PAINFUL = LIMBS + BODY
_SCENES = words("""
kitchen = in der Küche
hotel = im Hotel
cellar = im Keller
theatre = im Theater
museum = im Museum
""")
_TRAPPED = words("""
in the lift = im Aufzug / im Fahrstuhl
in the toilet = in der Toilette / auf der Toilette
in the room = im Zimmer
in the car = im Auto
on the roof = auf dem Dach
""")
_FREQUENCY = words("""
once a day = einmal täglich / einmal am Tag
twice a day = zweimal täglich / zweimal am Tag
three times a day = dreimal täglich / dreimal am Tag
every four hours = alle vier Stunden
every six hours = alle sechs Stunden
""")
_MEALS = words("""
before meals = vor dem Essen
after meals = nach dem Essen
with a little water = mit etwas Wasser
before going to bed = vor dem Schlafengehen
""")
_DOSES = nouns("""
tablet, tablets = die Tablette, der Tablette, die Tabletten
drop, drops = der Tropfen, des Tropfens, die Tropfen
capsule, capsules = die Kapsel, der Kapsel, die Kapseln
spoonful, spoonfuls = der Löffel, des Löffels, die Löffel
""")
_COLOURS = adjectives("""
black = schwarz
brown = braun
red = rot
blue = blau
new = neu
old = alt
""")
_REMEDIES = words("""
a fever = Fieber
a headache = Kopfschmerzen
a cough = Husten
a sore throat = Halsschmerzen
sunburn = Sonnenbrand
diarrhoea = Durchfall
insect bites = Insektenstiche
seasickness = Seekrankheit
""")

PHRASES = [
    phrase(
        "(I have lost|I've lost|I lost) my {item}.",
        "Ich habe {item:mein.acc} verloren.",
        item=LUGGAGE,
    ),
    phrase(
        "I have lost my {colour} {item}.",
        "Ich habe {item:mein {colour:stem}.acc} verloren.",
        colour=_COLOURS,
        item=LUGGAGE,
    ),
    phrase(
        "my {colour} {item} {item:has/have} been stolen.",
        (
            "{item:mein {colour:stem}.nom} {item:wurde/wurden} gestohlen.",
            "man hat mir {item:mein {colour:stem}.acc} gestohlen.",
            "{item:mein {colour:stem}.nom} {item:ist/sind} gestohlen worden.",
        ),
        colour=_COLOURS,
        item=LUGGAGE,
    ),
    phrase(
        "someone has stolen my {who}'s {item}.",
        "jemand hat {item:der.acc} {who:mein.gen} gestohlen.",
        who=FAMILY,
        item=LUGGAGE,
    ),
    phrase(
        "I left my {item} on {vehicle:the}.",
        "Ich habe {item:mein.acc} {vehicle:at} (vergessen|liegen lassen|liegen gelassen).",
        item=LUGGAGE,
        vehicle=VEHICLES + TOWN_VEHICLES[1:4] + FERRY,
    ),
    phrase(
        "I left my {item} at {place:the}.",
        "Ich habe {item:mein.acc} {place:at} (vergessen|liegen lassen|liegen gelassen).",
        item=LUGGAGE,
        place=PLACES,
    ),
    phrase(
        "my {item} {item:was/were} in my {box}.",
        "{item:mein.nom} {item:war/waren} in {box:mein.dat}.",
        item=LUGGAGE,
        box=CONTAINERS,
    ),
    phrase(
        "(I can't|I cannot) find my {item}.",
        "Ich (kann {item:mein.acc} nicht finden|finde {item:mein.acc} nicht).",
        item=LUGGAGE,
    ),
    phrase(
        "has anyone seen my {item}?",
        "hat jemand {item:mein.acc} gesehen?",
        item=LUGGAGE,
    ),
    phrase(
        "{you}have you seen my {colour} {item}?",
        "{you}{you:haben Sie/hast du} {item:mein {colour:stem}.acc} gesehen?",
        you=YOU,
        colour=_COLOURS,
        item=LUGGAGE,
    ),
    phrase(
        "(quick, call|please call) {who:the}!",
        ("{you:rufen Sie/ruf} (bitte |){who:der.acc}!", "schnell, {you:rufen Sie/ruf} {who:der.acc}!"),
        you=ANYONE,
        who=SERVICES,
    ),
    phrase(
        "{you}could you (please call|call) {who:the}?",
        "{you}{you:(könnten Sie/könntest du|können Sie/kannst du)} (bitte |){who:der.acc} (rufen|anrufen)?",
        you=YOU,
        who=SERVICES,
    ),
    phrase(
        "I need {who:a} who speaks {language}.",
        "Ich brauche {who:ein.acc}, {who:rel.nom} {language} spricht.",
        who=HELPERS,
        language=LANGUAGES,
    ),
    phrase(
        "is there {who:a} here who speaks {language}?",
        "gibt es hier {who:ein.acc}, {who:rel.nom} {language} spricht?",
        who=HELPERS,
        language=LANGUAGES,
    ),
    phrase("my {who} needs {helper:a}.", "{who:mein.nom} braucht {helper:ein.acc}.", who=FAMILY, helper=HELPERS),
    phrase("we need {helper:a} {day}.", "wir brauchen {day} {helper:ein.acc}.", helper=HELPERS, day=DAYS),
    phrase(
        "my {part} hurts.",
        ("{part:mein.nom} tut weh.", "mir tut {part:der.nom} weh."),
        part=_PAINFUL,
    ),
    phrase(
        "my {part:.pl} hurt.",
        ("{part:mein.nom.pl} tun weh.", "mir tun {part:der.nom.pl} weh."),
        part=LIMBS,
    ),
    phrase(
        "my {part} has been hurting for {time:{n}}.",
        ("{part:mein.nom} tut seit {time:{n}.dat} weh.", "mir tut seit {time:{n}.dat} {part:der.nom} weh."),
        part=_PAINFUL,
        time=DURATIONS[1:5],
        n=UP_TO_TWELVE,
    ),
    phrase(
        "I have had {illness} for {time:{n}}.",
        "Ich habe seit {time:{n}.dat} {illness}.",
        illness=ILLNESSES,
        time=DURATIONS[1:5],
        n=UP_TO_TWELVE,
    ),
    phrase("my {who} has {illness}.", "{who:mein.nom} hat {illness}.", who=FAMILY, illness=ILLNESSES),
    phrase(
        "I have {injured} my {part}.",
        "Ich habe mir {part:der.acc} {injured}.",
        injured=_INJURIES,
        part=LIMBS,
    ),
    phrase(
        "my {who} has {part:a {state}}.",
        "{who:mein.nom} hat {part:ein {state:stem}.acc}.",
        who=FAMILY,
        state=_STATES,
        part=LIMBS,
    ),
    phrase(
        "do you have something for {illness}?",
        "haben Sie (etwas|ein Mittel) gegen {illness}?",
        illness=_REMEDIES,
    ),
    phrase(
        "take {dose:{n}} {often} {meal}.",
        "{you:nehmen Sie/nimm} {often} {dose:{n}.acc} {meal}(| ein).",
        you=ANYONE,
        dose=_DOSES,
        n=FEW,
        often=_FREQUENCY,
        meal=_MEALS,
    ),
    phrase("{dose:{n}} {often}, please.", "bitte {often} {dose:{n}.acc}.", dose=_DOSES, n=FEW, often=_FREQUENCY),
    phrase("there is a fire in the {scene}!", "({scene} brennt es!|es brennt {scene}!)", scene=_SCENES),
    phrase(
        "there has been an accident at {place:the}.",
        ("{place:am} (gab es einen Unfall|ist ein Unfall passiert).", "es gab einen Unfall {place:am}."),
        place=PLACES,
    ),
    phrase(
        "my {who} is trapped {trap}.",
        ("{who:mein.nom} ist {trap} eingeschlossen.", "{who:mein.nom} (sitzt {trap} fest|steckt {trap} fest)."),
        who=FAMILY,
        trap=_TRAPPED,
    ),
    phrase(
        "where can I find {helper:a}?",
        "wo finde ich {helper:ein.acc}?",
        helper=HELPERS,
    ),
    phrase(
        "my {who} had an accident near {place:the}.",
        "{who:mein.nom} hatte in der Nähe {place:(der.gen|vom)} einen Unfall.",
        who=FAMILY,
        place=PLACES,
    ),
    phrase(
        "I would like to report the theft of my {item}.",
        "Ich möchte den Diebstahl {item:mein.gen} melden.",
        item=LUGGAGE,
    ),
]
