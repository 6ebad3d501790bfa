"""Introductions, family, work, languages, thanks, and set phrases. Templates only."""

from phrasebook.lexicon import (
    CITIES,
    COUNTRIES,
    FAMILY,
    FIRST_NAMES,
    GOODS,
    JOBS,
    LANGUAGES,
    LONG_DURATIONS,
    MEN,
    MENS_NAMES,
    RELATIVES,
    SURNAMES,
    WOMEN,
    WOMENS_NAMES,
    YEAR,
)
from phrasebook.lines import named, nouns, words
from phrasebook.measures import AGES, FEW, PERIODS, UP_TO_TWELVE
from phrasebook.people import ANYONE, PERSONS, YOU
from phrasebook.phrase import phrase

_KINDNESSES = nouns("""
help = die Hilfe, der Hilfe, -
invitation, invitations = die Einladung, der Einladung, die Einladungen
present, presents = das Geschenk, des Geschenks, die Geschenke
letter, letters = der Brief, des Briefes, die Briefe
dinner = das Abendessen, des Abendessens, -
advice = der Rat, des Rates, -
-, flowers = -, -, die Blumen
-, photos = -, -, die Fotos
""")
_COMPANIES = words("""
in a bank = bei einer Bank / in einer Bank
in a hotel = in einem Hotel
at a school = an einer Schule
in a hospital = in einem Krankenhaus
at the university = an der Universität
in a museum = in einem Museum
for a newspaper = für eine Zeitung / bei einer Zeitung
""")
_SKILL = words("""
very well = sehr gut
quite well = ziemlich gut / recht gut
fluently = fließend
""")
_NAMED = ((WOMEN, WOMENS_NAMES), (MEN, MENS_NAMES))

#: English / English = Deutsch / Deutsch
_SET_PHRASES = """
Good morning! = Guten Morgen!
Good evening! = Guten Abend!
Good night! = Gute Nacht!
Goodbye! / Bye! = Auf Wiedersehen! / Tschüss!
How are you? = Wie geht es {you:Ihnen/dir}? / Wie geht's?
Very well, thank you. And you? = Danke, sehr gut. Und {you:Ihnen/dir}?
Nice to meet you. / Pleased to meet you. = Freut mich. / Freut mich, Sie kennenzulernen. / Angenehm.
I am sorry. / I'm sorry. = Es tut mir leid. / Entschuldigung.
I do not understand. / I don't understand. = Ich verstehe nicht. / Das verstehe ich nicht.
I do not know. / I don't know. = Ich weiß nicht. / Das weiß ich nicht.
What does that mean? = Was bedeutet das? / Was heißt das?
What is that in German? = Wie heißt das auf Deutsch? / Wie sagt man das auf Deutsch?
Is breakfast included? = Ist das Frühstück inbegriffen? / Ist Frühstück dabei?
Do you accept credit cards? / Do you take credit cards? = Nehmen Sie Kreditkarten? / Akzeptieren Sie Kreditkarten?
We would like to pay, please. / The bill, please. = Wir möchten bitte zahlen. / Die Rechnung, bitte. / Zahlen, bitte.
Together or separately? = Zusammen oder getrennt?
Keep the change. = Stimmt so. / Der Rest ist für Sie. / Behalten Sie den Rest.
Is this seat taken? = Ist dieser Platz besetzt?
Is this seat free? = Ist dieser Platz frei? / Ist hier noch frei?
That is too expensive. / That's too expensive. = Das ist zu teuer. / Das ist mir zu teuer.
I am just looking. / I'm just looking. = Ich schaue nur. / Ich sehe mich nur um.
Can I pay by card? = Kann ich mit Karte zahlen? / Kann ich mit Karte bezahlen?
Where are the toilets? = Wo sind die Toiletten? / Wo ist die Toilette?
Help! = Hilfe!
Fire! = Feuer! / Es brennt!
It is an emergency. / It's an emergency. = Es ist ein Notfall. / Das ist ein Notfall.
I feel sick. = Mir ist schlecht. / Mir ist übel.
I feel dizzy. = Mir ist schwindlig. / Mir ist schwindelig.
I am hungry. / I'm hungry. = Ich habe Hunger. / Ich bin hungrig.
I am thirsty. / I'm thirsty. = Ich habe Durst. / Ich bin durstig.
Enjoy your meal! = Guten Appetit! / Mahlzeit!
Cheers! = Prost! / Zum Wohl!
Have a good journey! / Have a good trip! = Gute Reise! / Gute Fahrt!
Happy birthday! = Alles Gute zum Geburtstag! / Herzlichen Glückwunsch zum Geburtstag!
What time is it? / What's the time? = Wie spät ist es? / Wie viel Uhr ist es?
My car has broken down. = Mein Auto hat eine Panne. / Ich habe eine Panne.
I have a flat tyre. / I've got a flat tyre. = Ich habe einen Platten. / Ich habe eine Reifenpanne.
Are you travelling alone? = {you:Reisen Sie/Reist du} allein?
How long are you staying? = Wie lange {you:bleiben Sie/bleibst du}?
What do you do for a living? = Was {you:machen Sie/machst du} beruflich?
"""

PHRASES = [
    phrase("my name is {first} {last}.", "(mein Name ist|Ich heiße) {first} {last}.", first=FIRST_NAMES, last=SURNAMES),
    phrase(
        "I (am|come) from {country}.",
        "Ich (komme|bin) aus {country}.",
        country=COUNTRIES,
    ),
    phrase(
        "I (am|come) from {country}, but I live in {city}.",
        "Ich (komme|bin) aus {country}, aber ich (wohne|lebe) in {city}.",
        country=COUNTRIES,
        city=CITIES,
    ),
    phrase(
        "my {who} comes from {country} and lives in {city}.",
        "{who:mein.nom} kommt aus {country} und (wohnt|lebt) in {city}.",
        who=FAMILY,
        country=COUNTRIES,
        city=CITIES,
    ),
    phrase(
        "{who} is {job} and comes from {country}.",
        "{who:0.nom} ist {job:{who:gender}} und kommt aus {country}.",
        who=PERSONS,
        job=JOBS,
        country=COUNTRIES,
    ),
    phrase("I am {job}.", "Ich bin {job:(m|f)}(| von Beruf).", job=JOBS),
    phrase("I work as {job} in {city}.", "Ich arbeite als {job:(m|f)} in {city}.", job=JOBS, city=CITIES),
    phrase("my {who} is {job}.", "{who:mein.nom} ist {job:{who:gender}}(| von Beruf).", who=FAMILY, job=JOBS),
    phrase(
        "my {who} works as {job} in {city}.",
        "{who:mein.nom} arbeitet als {job:{who:gender}} in {city}.",
        who=FAMILY,
        job=JOBS,
        city=CITIES,
    ),
    phrase("my {who} works {company}.", "{who:mein.nom} arbeitet {company}.", who=FAMILY, company=_COMPANIES),
    phrase(
        "I have been working {company} for {time:{n}}.",
        "Ich arbeite seit {time:{n}.dat} {company}.",
        company=_COMPANIES,
        time=LONG_DURATIONS[1:],
        n=UP_TO_TWELVE,
    ),
    *(
        phrase("this is my {who}, {first}.", "das ist {who:mein.nom} {first}.", who=who, first=first)
        for who, first in _NAMED
    ),
    phrase(
        "{you}may I introduce you to my {who}?",
        "{you}(darf|dürfte) ich {you:Ihnen/dir} {who:mein.acc} vorstellen?",
        you=YOU,
        who=FAMILY,
    ),
    phrase(
        "I am here with my {who} and my {other}.",
        "Ich bin mit {who:mein.dat} und {other:mein.dat} hier.",
        who=FAMILY,
        other=FAMILY,
    ),
    phrase(
        "I am visiting my {who} in {city}.",
        "Ich besuche {who:mein.acc} in {city}.",
        who=FAMILY,
        city=CITIES,
    ),
    phrase(
        "I have {who:{n}} and {other:{m}}.",
        "Ich habe {who:{n}.acc} und {other:{m}.acc}.",
        who=RELATIVES[:6],
        n=FEW,
        other=RELATIVES[:6],
        m=FEW,
    ),
    phrase(
        "do you have any {who:.pl}?",
        "{you:haben Sie/hast du} {who:0.acc.pl}?",
        you=ANYONE,
        who=named(RELATIVES, "child", "brother", "sister", "grandchild"),
    ),
    phrase(
        "my {who} is {year:{n}} old.",
        "{who:mein.nom} ist {year:{n}.acc} alt.",
        who=FAMILY,
        year=YEAR,
        n=AGES,
    ),
    *(
        phrase(
            "my {who}'s name is {first}.",
            ("{who:mein.nom} heißt {first}.", "der Name {who:mein.gen} ist {first}."),
            who=who,
            first=first,
        )
        for who, first in _NAMED
    ),
    phrase(
        "{you}how is your {who}?",
        "{you}wie geht es {who:{you:Ihr/dein}.dat}?",
        you=YOU,
        who=FAMILY,
    ),
    phrase(
        "{you}(give my regards to|say hello to) your {who}.",
        "{you}{you:grüßen Sie/grüß} {who:{you:Ihr/dein}.acc}(| von mir).",
        you=YOU,
        who=FAMILY,
    ),
    phrase(
        "{you}thank you (very much |)for {gift:the}.",
        "{you}(vielen Dank|herzlichen Dank|danke) für {gift:der.acc}.",
        you=YOU,
        gift=_KINDNESSES,
    ),
    phrase(
        "my {who} gave me {gift:a}.",
        "{who:mein.nom} hat mir {gift:ein.acc} geschenkt.",
        who=FAMILY,
        gift=GOODS,
    ),
    phrase("I speak a little {language}.", "Ich spreche ein (bisschen|wenig) {language}.", language=LANGUAGES),
    phrase(
        "I (do not|don't) speak {language} very well.",
        "Ich spreche nicht (sehr|besonders) gut {language}.",
        language=LANGUAGES,
    ),
    phrase("I speak {language} {skill}.", "Ich spreche {skill} {language}.", language=LANGUAGES, skill=_SKILL),
    phrase(
        "my {who} speaks {language} and {other}.",
        "{who:mein.nom} spricht {language} und {other}.",
        who=FAMILY,
        language=LANGUAGES,
        other=LANGUAGES,
    ),
    phrase(
        "I have been learning {language} for {time:{n}}.",
        ("Ich lerne seit {time:{n}.dat} {language}.", "seit {time:{n}.dat} lerne ich {language}."),
        language=LANGUAGES,
        time=LONG_DURATIONS[1:],
        n=UP_TO_TWELVE,
    ),
    phrase(
        "I am on holiday in {city} {period}.",
        "Ich bin {period} in {city} im Urlaub.",
        city=CITIES,
        period=PERIODS,
    ),
    *(
        phrase(english.split(" / "), german.split(" / "), **({"you": ANYONE} if "{you:" in german else {}))
        for english, german in (line.split(" = ") for line in _SET_PHRASES.strip().split("\n"))
    ),
]
