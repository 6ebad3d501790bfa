"""In the restaurant and at the café: tables, orders, complaints, allergies, the bill. Templates only."""

from phrasebook.lexicon import (
    BEVERAGES,
    DISH_SIDES,
    DISHES,
    DRINKS,
    FAMILY,
    FOODSTUFFS,
    INTRUDERS,
    LIQUIDS,
    PASSED,
    PERSON,
    SIDES,
    SURNAMES,
    TABLEWARE,
    VESSELS,
)
from phrasebook.lines import words
from phrasebook.measures import (
    CLOCK,
    DAYS,
    FEW,
    ONE_OR_MORE,
    PARTY,
    PRICES,
    ROUND_PRICES,
    SCHEDULE,
)
from phrasebook.people import YOU
from phrasebook.phrase import phrase

_TASTES = words("""
cold = kalt
too salty = zu salzig / versalzen
too hot = zu heiß
too spicy = zu scharf
not fresh = nicht frisch
burnt = verbrannt / angebrannt
excellent = ausgezeichnet / hervorragend
delicious = köstlich / sehr lecker
""")
#: The German side stands after "seit".
_WAITS = words("""
ten minutes = zehn Minuten
a quarter of an hour = einer Viertelstunde
twenty minutes = zwanzig Minuten
half an hour = einer halben Stunde
forty minutes = vierzig Minuten
an hour = einer Stunde
""")
_SPOTS = words("""
by the window = am Fenster
in the garden = im Garten
on the terrace = auf der Terrasse
in the corner = in der Ecke
near the entrance = in der Nähe des Eingangs / nahe am Eingang
""")
FOOD_AND_DRINK = DISHES + DRINKS

PHRASES = [
    phrase(
        "(I would|I'd) like to (reserve|book) a table for {person:{n}} {day} at {time}.",
        (
            "Ich möchte {day} um {time} einen Tisch für {person:{n}.acc} (reservieren|bestellen).",
            "Ich würde gern {day} um {time} einen Tisch für {person:{n}.acc} (reservieren|bestellen).",
        ),
        person=PERSON,
        n=PARTY,
        day=DAYS,
        time=CLOCK,
    ),
    phrase(
        "(we have reserved|we have booked) a table for {time} in the name of {name}.",
        "wir haben auf den Namen {name} einen Tisch für {time} (reserviert|bestellt).",
        name=SURNAMES,
        time=CLOCK + SCHEDULE,
    ),
    phrase(
        "a table for {person:{n}} {spot}, please.",
        "einen Tisch für {person:{n}.acc} {spot}, bitte.",
        person=PERSON,
        n=PARTY,
        spot=_SPOTS,
    ),
    phrase(
        "(I would|I'd) like {item:a}(|, please).",
        ("Ich (hätte gern|nehme) {item:ein.acc}.", "Ich möchte (bitte |){item:ein.acc}."),
        item=FOOD_AND_DRINK,
    ),
    phrase(
        "{dish:{n}} and {drink:{m}}, please.",
        "{dish:{n}.acc} und {drink:{m}.acc}, bitte.",
        dish=DISHES,
        n=ONE_OR_MORE,
        drink=DRINKS,
        m=FEW,
    ),
    phrase(
        "(we would|we'd) like {dish:{n}} {side}.",
        ("wir hätten gern {dish:{n}.acc} {side}.", "wir möchten (bitte |){dish:{n}.acc} {side}."),
        dish=DISHES,
        n=FEW,
        side=DISH_SIDES,
    ),
    phrase(
        "{dish:a} {side}, please.",
        ("{dish:ein.acc} {side}, bitte.", "bringen Sie mir bitte {dish:ein.acc} {side}."),
        dish=DISHES,
        side=DISH_SIDES,
    ),
    phrase("{drink:a} {side}, please.", "{drink:ein.acc} {side}, bitte.", drink=DRINKS[:2], side=SIDES),
    phrase(
        "{vessel:{n}} of {liquid}, please.",
        ("{vessel:{n}.acc} {liquid}, bitte.", "(bringen Sie uns bitte|wir hätten gern) {vessel:{n}.acc} {liquid}."),
        vessel=VESSELS,
        n=ONE_OR_MORE,
        liquid=LIQUIDS,
    ),
    phrase(
        "could we have another {vessel} of {liquid}?",
        "(könnten|können) wir noch {vessel:ein.acc} {liquid} (haben|bekommen)?",
        vessel=VESSELS,
        liquid=LIQUIDS,
    ),
    phrase("another {drink}, please.", "noch {drink:ein.acc}, bitte.", drink=DRINKS),
    phrase(
        "I'll have {dish:the} and my {who} will have {other:the}.",
        (
            "Ich nehme {dish:der.acc}, und {who:mein.nom} nimmt {other:der.acc}.",
            "Für mich {dish:der.acc} und für {who:mein.acc} {other:der.acc}.",
        ),
        dish=FOOD_AND_DRINK,
        who=FAMILY,
        other=FOOD_AND_DRINK,
    ),
    phrase(
        "{dish:the} for my {who}, please.",
        ("{dish:der.acc} für {who:mein.acc}, bitte.", "für {who:mein.acc} bitte {dish:der.acc}."),
        dish=FOOD_AND_DRINK,
        who=FAMILY,
    ),
    phrase(
        "which wine do you recommend with {dish:the}?",
        "welchen Wein empfehlen Sie {dish:zum}?",
        dish=DISHES,
    ),
    phrase("is {dish:the} {taste}?", "ist {dish:der.nom} {taste}?", dish=DISHES, taste=_TASTES[1:4]),
    phrase(
        "{dish:the} is {taste}.",
        "{dish:der.nom} ist {taste}.",
        dish=DISHES,
        taste=_TASTES,
    ),
    phrase(
        "I (did not|didn't) order {dish:a}.",
        "Ich habe {dish:kein.acc} bestellt.",
        dish=FOOD_AND_DRINK,
    ),
    phrase(
        "I ordered {dish:the}, not {other:the}.",
        "Ich habe {dish:der.acc} bestellt, nicht {other:der.acc}.",
        dish=FOOD_AND_DRINK,
        other=FOOD_AND_DRINK,
    ),
    phrase(
        "we have been waiting for {dish:the} for {wait}.",
        "wir warten (schon |)seit {wait} auf {dish:der.acc}.",
        dish=FOOD_AND_DRINK,
        wait=_WAITS,
    ),
    phrase(
        "there is {thing:a} in my {dish}!",
        "in {dish:mein.dat} ist {thing:ein.nom}!",
        thing=INTRUDERS,
        dish=FOOD_AND_DRINK,
    ),
    phrase(
        "my {who} (does not|doesn't) eat {stuff}.",
        "{who:mein.nom} isst {stuff:kein.acc}.",
        who=FAMILY,
        stuff=FOODSTUFFS,
    ),
    phrase("I (do not|don't) drink {drink}.", "Ich trinke {drink:kein.acc}.", drink=BEVERAGES),
    phrase(
        "I am allergic to {stuff} and {other}.",
        "Ich bin allergisch gegen {stuff:0.acc} und {other:0.acc}.",
        stuff=FOODSTUFFS,
        other=FOODSTUFFS,
    ),
    phrase(
        "I am allergic to {stuff}.",
        "Ich bin (allergisch gegen {stuff:0.acc}|gegen {stuff:0.acc} allergisch).",
        stuff=FOODSTUFFS,
    ),
    phrase(
        "{stuff:is/are} there {stuff} in {dish:the}?",
        "{stuff:ist/sind} {stuff:0.nom} {dish:im}?",
        stuff=FOODSTUFFS,
        dish=DISHES,
    ),
    phrase(
        "could I have {dish:the} without {stuff}?",
        "(könnte|kann) ich {dish:der.acc} ohne {stuff:0.acc} (haben|bekommen)?",
        dish=DISHES,
        stuff=FOODSTUFFS,
    ),
    phrase(
        "{you}could you pass me {thing:the}, please?",
        "{you}{you:(könnten Sie/könntest du|würden Sie/würdest du)} mir bitte {thing:der.acc} (reichen|geben)?",
        you=YOU,
        thing=PASSED,
    ),
    phrase(
        "excuse me, we (still |)need {thing:{n}}.",
        "Entschuldigung, wir brauchen (noch |){thing:{n}.acc}.",
        thing=TABLEWARE,
        n=FEW,
    ),
    phrase("{thing:the}, please.", ("{thing:der.acc}, bitte.", "bitte {thing:der.acc}."), thing=TABLEWARE[:3]),
    phrase(
        "my {thing} is dirty. could you bring me a clean one?",
        "{thing:mein.nom} ist schmutzig. (könnten|würden) Sie mir {thing:ein sauber ~.acc} bringen?",
        thing=TABLEWARE[3:12],
    ),
    phrase(
        "{dish:the} costs {price}.",
        "{dish:der.nom} kostet {price}.",
        dish=FOOD_AND_DRINK,
        price=PRICES,
    ),
    phrase(
        "how much is {dish:the} {side}?",
        "(was|wie viel) kostet {dish:der.nom} {side}?",
        dish=DISHES,
        side=DISH_SIDES,
    ),
    phrase(
        "that's {price} altogether.",
        ("das macht (zusammen |){price}.", "das sind zusammen {price}."),
        price=PRICES,
    ),
    phrase("make it {price}.", "machen Sie {price}.", price=ROUND_PRICES),
]
