"""Clothes, souvenirs, the market and the post office. Templates only."""

from phrasebook.lexicon import (
    CLOTHES,
    COLOUR_NAMES,
    COLOURS,
    FAMILY,
    FAULTS,
    GARMENTS,
    GOODS,
    GROCERIES,
    MATERIALS,
    MEASURES,
    QUALITIES,
    STAMP,
    STATES,
)
from phrasebook.lines import nouns, words
from phrasebook.measures import FEW, ONE_OR_MORE, PERCENT, PRICES, SIZES, spelled
from phrasebook.phrase import phrase

_MAIL = nouns("""
letter, letters = der Brief, des Briefes, die Briefe
postcard, postcards = die Postkarte, der Postkarte, die Postkarten
parcel, parcels = das Paket, des Pakets, die Pakete
""")
_COMPARED = words("""
cheaper = billiger / günstiger
more expensive = teurer
nicer = schöner
lighter = leichter
warmer = wärmer
""")
_COUNTER = words("""
exchange = umtauschen
return = zurückgeben
try on = anprobieren
buy = kaufen
""")
_FRESHNESS = words("""
fresh = frisch
ripe = reif
sweet = süß
local = aus der Region
organic = aus biologischem Anbau
""")

PHRASES = [
    phrase(
        "I am looking for {item:a {colour}}.",
        "Ich suche {item:ein {colour:stem}.acc}.",
        item=CLOTHES,
        colour=COLOURS,
    ),
    phrase(
        "do you have {item:a {quality} {colour}}?",
        "haben Sie {item:ein {quality:stem} {colour:stem}.acc}?",
        item=CLOTHES,
        quality=QUALITIES,
        colour=COLOURS,
    ),
    phrase(
        "do you have {item:this} in {colour}?",
        "haben Sie {item:dies.acc} (auch |)in {colour}?",
        item=CLOTHES,
        colour=COLOUR_NAMES,
    ),
    phrase(
        "do you have {item:this} in size {size}?",
        ("haben Sie {item:dies.acc} (auch |)in Größe {size}?", "gibt es {item:dies.acc} (auch |)in Größe {size}?"),
        item=CLOTHES,
        size=SIZES,
    ),
    phrase(
        "I need {item:a {colour}} in size {size}.",
        "Ich brauche {item:ein {colour:stem}.acc} in Größe {size}.",
        item=CLOTHES,
        colour=COLOURS,
        size=SIZES,
    ),
    phrase(
        "how much {item:is/are} {item:this {colour}}?",
        "(was|wie viel) {item:kostet/kosten} {item:dies {colour:stem}.nom}?",
        item=CLOTHES,
        colour=COLOURS,
    ),
    phrase("how much is {item:this}?", "(was|wie viel) kostet {item:dies.nom}?", item=GOODS),
    phrase(
        "{item:the {colour}} {item:costs/cost} {price}.",
        "{item:der {colour:stem}.nom} {item:kostet/kosten} {price}.",
        item=CLOTHES,
        colour=COLOURS,
        price=PRICES,
    ),
    phrase(
        "{item:{n}} cost {price}.",
        "{item:{n}.nom} kosten {price}.",
        item=GOODS,
        n=FEW,
        price=PRICES,
    ),
    phrase(
        "{item:this} {item:is/are} too {fault} for me.",
        "{item:dies.nom} {item:ist/sind} (mir zu {fault}|zu {fault} für mich).",
        item=CLOTHES,
        fault=FAULTS,
    ),
    phrase(
        "(may|can|could) I try on {item:this {colour}}?",
        "(darf|kann|könnte) ich {item:dies {colour:stem}.acc} anprobieren?",
        item=CLOTHES,
        colour=COLOURS,
    ),
    phrase(
        "I like {item:the {colour}}, but I'll take the {other} {item:one/ones}.",
        "{item:der {colour:stem}.nom} {item:gefällt/gefallen} mir, aber ich nehme {item:der {other:stem} ~.acc}.",
        item=CLOTHES,
        colour=COLOURS,
        other=COLOURS,
    ),
    phrase(
        "(I would|I'd) like to {do} {item:this}.",
        "Ich (möchte|würde gern) {item:dies.acc} {do}.",
        do=_COUNTER,
        item=CLOTHES,
    ),
    phrase(
        "I bought {item:this} yesterday, but {item:it is/they are} too {fault}.",
        "Ich habe {item:dies.acc} gestern gekauft, aber {item:pron.nom} {item:ist/sind} zu {fault}.",
        item=CLOTHES,
        fault=FAULTS,
    ),
    phrase(
        "{item:is/are} {item:this} made of {material}?",
        "{item:ist/sind} {item:dies.nom} aus {material}?",
        item=CLOTHES,
        material=MATERIALS,
    ),
    phrase(
        "I would like {item:a {quality}} made of {material}.",
        "Ich (möchte|hätte gern) {item:ein {quality:stem}.acc} aus {material}.",
        item=CLOTHES,
        quality=QUALITIES,
        material=MATERIALS,
    ),
    phrase(
        "where can I (buy|get) {item:.pl}?",
        ("wo kann (ich|man) {item:0.acc.pl} kaufen?", "wo (bekomme ich|gibt es) {item:0.acc.pl}?"),
        item=GOODS,
    ),
    phrase("do you sell {item:.pl}?", "(verkaufen|führen|haben) Sie {item:0.acc.pl}?", item=GOODS),
    phrase(
        "I'll take {item:the {quality}}.",
        "Ich nehme {item:der {quality:stem}.acc}.",
        item=GOODS,
        quality=QUALITIES[:6],
    ),
    phrase(
        "I am looking for {item:a {quality}} for my {who}.",
        "Ich suche {item:ein {quality:stem}.acc} für {who:mein.acc}.",
        item=GOODS,
        quality=QUALITIES[:6],
        who=FAMILY,
    ),
    phrase(
        "I would like to buy my {who} {item:a}.",
        "Ich möchte {who:mein.dat} {item:ein.acc} (kaufen|schenken).",
        who=FAMILY,
        item=GOODS,
    ),
    phrase(
        "I (have bought|bought) my {who} {item:a {colour}}.",
        "Ich habe {who:mein.dat} {item:ein {colour:stem}.acc} gekauft.",
        who=FAMILY,
        item=CLOTHES,
        colour=COLOURS,
    ),
    phrase(
        "{stamp:{n}} for {mail:a} to {country}, please.",
        ("{stamp:{n}.acc} für {mail:ein.acc} nach {country}, bitte.",
         "Ich (hätte gern|brauche) {stamp:{n}.acc} für {mail:ein.acc} nach {country}."),
        stamp=STAMP,
        n=ONE_OR_MORE,
        mail=_MAIL[:2],
        country=STATES,
    ),
    phrase(
        "how much does it cost to send {mail:a} to {country}?",
        (
            "(was|wie viel) kostet {mail:ein.nom} nach {country}?",
            "was kostet es, {mail:ein.acc} nach {country} zu schicken?",
        ),
        mail=_MAIL,
        country=STATES,
    ),
    phrase(
        "{measure:{n}} of {grocery}, please.",
        ("{measure:{n}.acc} {grocery}, bitte.", "Ich (hätte gern|möchte|nehme) {measure:{n}.acc} {grocery}."),
        measure=MEASURES,
        n=ONE_OR_MORE,
        grocery=GROCERIES,
    ),
    phrase(
        "how much is {measure:a} of {grocery}?",
        "(was|wie viel) kostet {measure:ein.nom} {grocery}?",
        measure=MEASURES,
        grocery=GROCERIES,
    ),
    phrase(
        "{measure:a} of {grocery} costs {price}.",
        "{measure:ein.nom} {grocery} kostet {price}.",
        measure=MEASURES,
        grocery=GROCERIES,
        price=PRICES,
    ),
    phrase("are the {grocery} {fresh}?", "sind die {grocery} {fresh}?", grocery=GROCERIES, fresh=_FRESHNESS),
    phrase(
        "I'll take {n} of {item:the {colour}.pl}.",
        "Ich nehme {n} von {item:der {colour:stem}.dat.pl}.",
        n=spelled(range(2, 7)),
        item=GARMENTS,
        colour=COLOURS,
    ),
    phrase(
        "could you give me a discount of {percent} percent?",
        "(könnten|können) Sie mir {percent} Prozent Rabatt geben?",
        percent=PERCENT,
    ),
    phrase(
        "{item:the {colour}} {item:is/are} {more} than the {other} {item:one/ones}.",
        "{item:der {colour:stem}.nom} {item:ist/sind} {more} als {item:der {other:stem} ~.nom}.",
        item=CLOTHES,
        colour=COLOURS,
        more=_COMPARED,
        other=COLOURS,
    ),
    phrase(
        "{item:this {colour}} {item:does/do} not fit my {who}.",
        "{item:dies {colour:stem}.nom} {item:passt/passen} {who:mein.dat} nicht.",
        item=CLOTHES,
        colour=COLOURS,
        who=FAMILY,
    ),
]
