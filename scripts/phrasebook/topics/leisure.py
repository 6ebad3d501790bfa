"""Plans, invitations, what one may do where, and the weather. Templates only."""

from phrasebook.lexicon import (
    ACTIVITIES,
    CITIES,
    EVENTS,
    FAMILY,
    OUTINGS,
    PLANS,
    SIGHTS,
    WEATHER,
)
from phrasebook.lines import named, nouns, words
from phrasebook.measures import DAYS, DEGREES, FEW, ROUND_PRICES
from phrasebook.people import PERSONS, YOU
from phrasebook.phrase import phrase

_SEATS = nouns("""
ticket, tickets = die Karte, der Karte, die Karten / die Eintrittskarte, der Eintrittskarte, die Eintrittskarten
seat, seats = der Platz, des Platzes, die Plätze
""")
_SHOWS = named(EVENTS, "concert", "film", "match", "play", "guided tour")
_NICE = words("""
nice = schön
interesting = interessant
boring = langweilig
too long = zu lang
very good = sehr gut
wonderful = wunderbar / wundervoll
""")

PHRASES = [
    phrase(
        "(I would|I'd) like to {do} {day}.",
        "Ich (möchte|würde gern) {day} {do}.",
        do=PLANS,
        day=DAYS,
    ),
    phrase(
        "we want to {do} {day}.",
        "wir wollen {day} {do}.",
        do=PLANS,
        day=DAYS,
    ),
    phrase(
        "my {who} would like to {do} {day}.",
        "{who:mein.nom} (möchte|würde gern) {day} {do}.",
        who=FAMILY,
        do=PLANS,
        day=DAYS,
    ),
    phrase(
        "{you}would you like to {do} with us?",
        "{you}{you:(möchten Sie/möchtest du|wollen Sie/willst du)} mit uns {do}?",
        you=YOU,
        do=PLANS,
    ),
    phrase(
        "{you}would you like to go to {place:the} with me {day}?",
        "{you}{you:(möchten Sie/möchtest du|wollen Sie/willst du)} {day} mit mir {place:ins} gehen?",
        you=YOU,
        place=OUTINGS,
        day=DAYS,
    ),
    phrase(
        "we are going to {place:the} with our {who} {day}.",
        ("wir gehen {day} mit {who:unser.dat} {place:ins}.", "{day} gehen wir mit {who:unser.dat} {place:ins}."),
        place=OUTINGS,
        who=FAMILY[12:],
        day=DAYS,
    ),
    phrase(
        "shall we go to {place:the} {day}?",
        "(sollen|wollen) wir {day} {place:ins} gehen?",
        place=OUTINGS,
        day=DAYS,
    ),
    phrase(
        "{who} went to {place:the} yesterday.",
        "{who:0.nom} ist gestern {place:ins} gegangen.",
        who=PERSONS,
        place=OUTINGS,
    ),
    phrase("where can (I|you) {do} here?", "wo kann man hier {do}?", do=ACTIVITIES),
    phrase(
        "can you {do} near {place:the}?",
        "kann man in der Nähe {place:(der.gen|vom)} {do}?",
        do=ACTIVITIES,
        place=named(SIGHTS, "castle", "beach", "hotel", "village"),
    ),
    phrase("(may I|am I allowed to) {do} here?", "(darf|kann) (ich|man) hier {do}?", do=ACTIVITIES),
    phrase(
        "you are not allowed to {do} here.",
        ("hier darf man nicht {do}.", "man darf hier nicht {do}."),
        do=named(ACTIVITIES, "swim", "fish", "camp", "smoke", "park", "ride", "dive", "sail", "play football"),
    ),
    phrase(
        "can you {do} in {city} {day}?",
        "kann man {day} in {city} {do}?",
        do=ACTIVITIES,
        city=CITIES,
        day=DAYS,
    ),
    phrase(
        "{seat:{n}} for {event:the} {day}, please.",
        (
            "{seat:{n}.acc} für {event:der.acc} {day}, bitte.",
            "Ich (hätte gern|möchte) {seat:{n}.acc} für {event:der.acc} {day}.",
        ),
        seat=_SEATS,
        n=FEW,
        event=_SHOWS,
        day=DAYS,
    ),
    phrase(
        "are there still {seat:.pl} for {event:the} {day}?",
        "gibt es noch {seat:0.acc.pl} für {event:der.acc} {day}?",
        seat=_SEATS,
        event=_SHOWS,
        day=DAYS,
    ),
    phrase(
        "{seat:a} for {event:the} costs {price}.",
        "{seat:ein.nom} für {event:der.acc} kostet {price}.",
        seat=_SEATS,
        event=_SHOWS,
        price=ROUND_PRICES,
    ),
    phrase("{event:the} was {nice}.", "{event:der.nom} war {nice}.", event=EVENTS, nice=_NICE),
    phrase(
        "we liked {event:the} in {city} very much.",
        "{event:der.nom} in {city} hat uns (sehr|sehr gut) gefallen.",
        event=EVENTS,
        city=CITIES,
    ),
    phrase(
        "{you}how do you like {sight:the}?",
        "{you}wie {sight:gefällt/gefallen} {you:Ihnen/dir} {sight:der.nom}?",
        you=YOU,
        sight=SIGHTS,
    ),
    phrase(
        "I like {sight:the} in {city}.",
        "Mir {sight:gefällt/gefallen} {sight:der.nom} in {city}.",
        sight=SIGHTS,
        city=CITIES,
    ),
    phrase(
        "my {who} does not like {sight:the}.",
        ("{who:mein.dat} {sight:gefällt/gefallen} {sight:der.nom} nicht.", "{who:mein.nom} mag {sight:der.acc} nicht."),
        who=FAMILY,
        sight=SIGHTS,
    ),
    phrase("{day} it will be {weather}.", "{day} wird es {weather}.", day=DAYS, weather=WEATHER),
    phrase(
        "it will be {weather} in {city} {day}.",
        ("{day} wird es in {city} {weather}.", "in {city} wird es {day} {weather}."),
        weather=WEATHER,
        city=CITIES,
        day=DAYS,
    ),
    phrase(
        "it is {degrees} degrees in {city}.",
        ("in {city} sind es {degrees} Grad.", "es sind {degrees} Grad in {city}."),
        degrees=DEGREES,
        city=CITIES,
    ),
    phrase(
        "(it will|it's going to) rain in {city} {day}.",
        ("{day} regnet es in {city}.", "in {city} wird es {day} regnen."),
        city=CITIES,
        day=DAYS,
    ),
]
