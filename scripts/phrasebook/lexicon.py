"""The phrasebook's words, by field of life, each with all the forms from which its grammar follows. Data only.

A noun's line reads ``dumpling, dumplings = der Knödel, des Knödels, die Knödel / der Kloß, des Kloßes, die Klöße``:
English singular and plural; German nominative and genitive singular and nominative plural (a fourth form is the dative
plural where it does not follow), then further correct translations. ``-`` marks a form that does not exist; ``@an`` the
preposition that says "at this place".
"""

from phrasebook.lines import adjectives, nouns, trades, verb_phrases, words

# --- Town -------------------------------------------------------------------------------------------------------------
#: Places that one may find good, cheap or small.
VENUES = nouns("""
hotel, hotels = das Hotel, des Hotels, die Hotels @in
supermarket, supermarkets = der Supermarkt, des Supermarkts, die Supermärkte @in
swimming pool, swimming pools = das Schwimmbad, des Schwimmbads, die Schwimmbäder @in
bakery, bakeries = die Bäckerei, der Bäckerei, die Bäckereien @in
restaurant, restaurants = das Restaurant, des Restaurants, die Restaurants @in
campsite, campsites = der Campingplatz, des Campingplatzes, die Campingplätze @auf
youth hostel, youth hostels = die Jugendherberge, der Jugendherberge, die Jugendherbergen @in
café, cafés = das Café, des Cafés, die Cafés @in
bookshop, bookshops = die Buchhandlung, der Buchhandlung, die Buchhandlungen @in
""")
PLACES = VENUES + nouns("""
railway station, railway stations = der Bahnhof, des Bahnhofs, die Bahnhöfe @an
main station, main stations = der Hauptbahnhof, des Hauptbahnhofs, die Hauptbahnhöfe @an
airport, airports = der Flughafen, des Flughafens, die Flughäfen @an
bus stop, bus stops = die Bushaltestelle, der Bushaltestelle, die Bushaltestellen @an
underground station, underground stations = die U-Bahn-Station, der U-Bahn-Station, die U-Bahn-Stationen @an
museum, museums = das Museum, des Museums, die Museen @in
pharmacy, pharmacies = die Apotheke, der Apotheke, die Apotheken @in
bank, banks = die Bank, der Bank, die Banken @in
post office, post offices = das Postamt, des Postamts, die Postämter @in / die Post, der Post, - @in
church, churches = die Kirche, der Kirche, die Kirchen @an
town hall, town halls = das Rathaus, des Rathauses, die Rathäuser @an
cathedral, cathedrals = der Dom, des Doms, die Dome @an
market square, market squares = der Marktplatz, des Marktplatzes, die Marktplätze @auf
theatre, theatres = das Theater, des Theaters, die Theater @in
cinema, cinemas = das Kino, des Kinos, die Kinos @in
hospital, hospitals = das Krankenhaus, des Krankenhauses, die Krankenhäuser @in
police station, police stations = die Polizeiwache, der Polizeiwache, die Polizeiwachen @auf
tourist office, tourist offices = die Touristeninformation, der Touristeninformation, die Touristeninformationen @in
park, parks = der Park, des Parks, die Parks @in
library, libraries = die Bibliothek, der Bibliothek, die Bibliotheken / die Bücherei, der Bücherei, die Büchereien
university, universities = die Universität, der Universität, die Universitäten @an
harbour, harbours = der Hafen, des Hafens, die Häfen @an
bridge, bridges = die Brücke, der Brücke, die Brücken @an
petrol station, petrol stations = die Tankstelle, der Tankstelle, die Tankstellen @an
car park, car parks = der Parkplatz, des Parkplatzes, die Parkplätze @auf
embassy, embassies = die Botschaft, der Botschaft, die Botschaften @in
zoo, zoos = der Zoo, des Zoos, die Zoos @in
stadium, stadiums = das Stadion, des Stadions, die Stadien @in
fountain, fountains = der Brunnen, des Brunnens, die Brunnen @an
cash machine, cash machines = der Geldautomat, des Geldautomaten, die Geldautomaten @an
department store, department stores = das Kaufhaus, des Kaufhauses, die Kaufhäuser @in
""")

FACILITIES = nouns("""
toilet, toilets = die Toilette, der Toilette, die Toiletten
lift, lifts = der Aufzug, des Aufzugs, die Aufzüge @an / der Fahrstuhl, des Fahrstuhls, die Fahrstühle @an
exit, exits = der Ausgang, des Ausgangs, die Ausgänge @an
entrance, entrances = der Eingang, des Eingangs, die Eingänge @an
ticket office, ticket offices = der Fahrkartenschalter, des Fahrkartenschalters, die Fahrkartenschalter @an
telephone, telephones = das Telefon, des Telefons, die Telefone
emergency exit, emergency exits = der Notausgang, des Notausgangs, die Notausgänge @an
cloakroom, cloakrooms = die Garderobe, der Garderobe, die Garderoben @an
waiting room, waiting rooms = der Wartesaal, des Wartesaals, die Wartesäle
taxi rank, taxi ranks = der Taxistand, des Taxistands, die Taxistände @an
""")

OUTINGS = nouns("""
cinema, cinemas = das Kino, des Kinos, die Kinos
theatre, theatres = das Theater, des Theaters, die Theater
museum, museums = das Museum, des Museums, die Museen
opera, operas = die Oper, der Oper, die Opern
zoo, zoos = der Zoo, des Zoos, die Zoos
swimming pool, swimming pools = das Schwimmbad, des Schwimmbads, die Schwimmbäder
park, parks = der Park, des Parks, die Parks
restaurant, restaurants = das Restaurant, des Restaurants, die Restaurants
stadium, stadiums = das Stadion, des Stadions, die Stadien
concert, concerts = das Konzert, des Konzerts, die Konzerte
""")

SIGHTS = nouns("""
town, towns = die Stadt, der Stadt, die Städte
castle, castles = das Schloss, des Schlosses, die Schlösser
cathedral, cathedrals = der Dom, des Doms, die Dome
museum, museums = das Museum, des Museums, die Museen
beach, beaches = der Strand, des Strands, die Strände
hotel, hotels = das Hotel, des Hotels, die Hotels
garden, gardens = der Garten, des Gartens, die Gärten
music = die Musik, der Musik, -
food = das Essen, des Essens, -
weather = das Wetter, des Wetters, -
exhibition, exhibitions = die Ausstellung, der Ausstellung, die Ausstellungen
village, villages = das Dorf, des Dorfes, die Dörfer
-, mountains = -, -, die Berge
-, shops = -, -, die Geschäfte
-, people = -, -, die Leute
""")

VIEWS = nouns("""
lake, lakes = der See, des Sees, die Seen
sea = das Meer, des Meeres, -
river, rivers = der Fluss, des Flusses, die Flüsse
harbour, harbours = der Hafen, des Hafens, die Häfen
garden, gardens = der Garten, des Gartens, die Gärten
castle, castles = das Schloss, des Schlosses, die Schlösser
old town = die Altstadt, der Altstadt, -
park, parks = der Park, des Parks, die Parks
cathedral, cathedrals = der Dom, des Doms, die Dome
-, mountains = -, -, die Berge
""")

CORNERS = nouns("""
crossroads, - = die Kreuzung, der Kreuzung, die Kreuzungen
traffic lights, - = die Ampel, der Ampel, die Ampeln
corner, corners = die Ecke, der Ecke, die Ecken
roundabout, roundabouts = der Kreisverkehr, des Kreisverkehrs, die Kreisverkehre
""")
STREET = nouns("street, streets = die Straße, der Straße, die Straßen")
CROSSED = STREET + nouns("""
bridge, bridges = die Brücke, der Brücke, die Brücken
square, squares = der Platz, des Platzes, die Plätze
market square, market squares = der Marktplatz, des Marktplatzes, die Marktplätze
railway line, railway lines = die Bahnlinie, der Bahnlinie, die Bahnlinien
river, rivers = der Fluss, des Flusses, die Flüsse
""")

CITIES = words("""
Berlin = Berlin
Munich = München
Vienna = Wien
Cologne = Köln
Hamburg = Hamburg
Salzburg = Salzburg
Zurich = Zürich
Geneva = Genf
Nuremberg = Nürnberg
Dresden = Dresden
Leipzig = Leipzig
Frankfurt = Frankfurt
Stuttgart = Stuttgart
Bremen = Bremen
Hanover = Hannover
Innsbruck = Innsbruck
Basel = Basel
Heidelberg = Heidelberg
Prague = Prag
Paris = Paris
Rome = Rom
Venice = Venedig
Brussels = Brüssel
Copenhagen = Kopenhagen
Warsaw = Warschau
Lübeck = Lübeck
""")

#: Without an article: "nach Schweden", "aus Schweden".
STATES = words("""
Germany = Deutschland
Austria = Österreich
England = England
Scotland = Schottland
Ireland = Irland
France = Frankreich
Italy = Italien
Spain = Spanien
Portugal = Portugal
Poland = Polen
Greece = Griechenland
Sweden = Schweden
Norway = Norwegen
Denmark = Dänemark
Canada = Kanada
Australia = Australien
Japan = Japan
China = China
India = Indien
Brazil = Brasilien
""")
#: The German side stands after "aus".
COUNTRIES = STATES + words("""
Switzerland = der Schweiz
Turkey = der Türkei
the Netherlands = den Niederlanden
the United States = den USA / den Vereinigten Staaten
""")

LANGUAGES = words("""
English = Englisch
German = Deutsch
French = Französisch
Italian = Italienisch
Spanish = Spanisch
Polish = Polnisch
Portuguese = Portugiesisch
Russian = Russisch
Turkish = Türkisch
Dutch = Niederländisch / Holländisch
Swedish = Schwedisch
Greek = Griechisch
Japanese = Japanisch
Chinese = Chinesisch
""")

# --- Travel -----------------------------------------------------------------------------------------------------------
TRAINS = nouns("""
train, trains = der Zug, des Zuges, die Züge
night train, night trains = der Nachtzug, des Nachtzuges, die Nachtzüge
express train, express trains = der Schnellzug, des Schnellzuges, die Schnellzüge
""")
VEHICLES = TRAINS + nouns("""
regional train, regional trains = die Regionalbahn, der Regionalbahn, die Regionalbahnen
bus, buses = der Bus, des Busses, die Busse
coach, coaches = der Reisebus, des Reisebusses, die Reisebusse
""")
FERRY = nouns("ferry, ferries = die Fähre, der Fähre, die Fähren @auf")

TOWN_VEHICLES = nouns("""
bus, buses = der Bus, des Busses, die Busse
tram, trams = die Straßenbahn, der Straßenbahn, die Straßenbahnen
underground = die U-Bahn, der U-Bahn, die U-Bahnen
suburban train, suburban trains = die S-Bahn, der S-Bahn, die S-Bahnen
night bus, night buses = der Nachtbus, des Nachtbusses, die Nachtbusse
""")

TICKETS = nouns("""
ticket, tickets = die Fahrkarte, der Fahrkarte, die Fahrkarten / der Fahrschein, des Fahrscheins, die Fahrscheine
return ticket, return tickets = die Rückfahrkarte, der Rückfahrkarte, die Rückfahrkarten
day ticket, day tickets = die Tageskarte, der Tageskarte, die Tageskarten
child's ticket, children's tickets = die Kinderfahrkarte, der Kinderfahrkarte, die Kinderfahrkarten
first-class ticket, first-class tickets = die Fahrkarte, der Fahrkarte, die Fahrkarten | erster Klasse
""")

RENTALS = nouns("""
car, cars = das Auto, des Autos, die Autos / der Wagen, des Wagens, die Wagen
bicycle, bicycles = das Fahrrad, des Fahrrads, die Fahrräder / das Rad, des Rads, die Räder
boat, boats = das Boot, des Bootes, die Boote
motorbike, motorbikes = das Motorrad, des Motorrads, die Motorräder
scooter, scooters = der Roller, des Rollers, die Roller
camper van, camper vans = das Wohnmobil, des Wohnmobils, die Wohnmobile
tent, tents = das Zelt, des Zeltes, die Zelte
sledge, sledges = der Schlitten, des Schlittens, die Schlitten
surfboard, surfboards = das Surfbrett, des Surfbretts, die Surfbretter
""")

CAR_PARTS = nouns("""
engine, engines = der Motor, des Motors, die Motoren
battery, batteries = die Batterie, der Batterie, die Batterien
windscreen, windscreens = die Windschutzscheibe, der Windschutzscheibe, die Windschutzscheiben
exhaust, exhausts = der Auspuff, des Auspuffs, die Auspuffe
clutch, clutches = die Kupplung, der Kupplung, die Kupplungen
steering wheel, steering wheels = das Lenkrad, des Lenkrads, die Lenkräder
-, brakes = -, -, die Bremsen
-, headlights = -, -, die Scheinwerfer
""")

LUGGAGE = nouns("""
passport, passports = der Pass, des Passes, die Pässe / der Reisepass, des Reisepasses, die Reisepässe
wallet, wallets = die Geldbörse, der Geldbörse, die Geldbörsen / der Geldbeutel, des Geldbeutels, die Geldbeutel
suitcase, suitcases = der Koffer, des Koffers, die Koffer
handbag, handbags = die Handtasche, der Handtasche, die Handtaschen
camera, cameras = die Kamera, der Kamera, die Kameras
mobile phone, mobile phones = das Handy, des Handys, die Handys / das Mobiltelefon, des Mobiltelefons, die Mobiltelefone
rucksack, rucksacks = der Rucksack, des Rucksacks, die Rucksäcke
credit card, credit cards = die Kreditkarte, der Kreditkarte, die Kreditkarten
driving licence, driving licences = der Führerschein, des Führerscheins, die Führerscheine
umbrella, umbrellas = der Regenschirm, des Regenschirms, die Regenschirme
key, keys = der Schlüssel, des Schlüssels, die Schlüssel
laptop, laptops = der Laptop, des Laptops, die Laptops
coat, coats = der Mantel, des Mantels, die Mäntel
watch, watches = die Uhr, der Uhr, die Uhren / die Armbanduhr, der Armbanduhr, die Armbanduhren
ring, rings = der Ring, des Rings, die Ringe
diary, diaries = das Tagebuch, des Tagebuchs, die Tagebücher
hat, hats = der Hut, des Hutes, die Hüte
-, glasses = die Brille, der Brille, die Brillen
-, gloves = -, -, die Handschuhe
-, travel documents = -, -, die Reiseunterlagen
""")

CONTAINERS = nouns("""
suitcase, suitcases = der Koffer, des Koffers, die Koffer
handbag, handbags = die Handtasche, der Handtasche, die Handtaschen
rucksack, rucksacks = der Rucksack, des Rucksacks, die Rucksäcke
car, cars = das Auto, des Autos, die Autos
hotel room, hotel rooms = das Hotelzimmer, des Hotelzimmers, die Hotelzimmer
wardrobe, wardrobes = der Kleiderschrank, des Kleiderschranks, die Kleiderschränke
drawer, drawers = die Schublade, der Schublade, die Schubladen
""")

# --- Hotel ------------------------------------------------------------------------------------------------------------
ROOMS = nouns("""
room, rooms = das Zimmer, des Zimmers, die Zimmer
single room, single rooms = das Einzelzimmer, des Einzelzimmers, die Einzelzimmer
double room, double rooms = das Doppelzimmer, des Doppelzimmers, die Doppelzimmer
family room, family rooms = das Familienzimmer, des Familienzimmers, die Familienzimmer
suite, suites = die Suite, der Suite, die Suiten
holiday flat, holiday flats = die Ferienwohnung, der Ferienwohnung, die Ferienwohnungen
conference room, conference rooms = der Konferenzraum, des Konferenzraums, die Konferenzräume
""")

FEATURES = nouns("""
balcony, balconies = der Balkon, des Balkons, die Balkone
bath, baths = das Bad, des Bads, die Bäder
shower, showers = die Dusche, der Dusche, die Duschen
kitchen, kitchens = die Küche, der Küche, die Küchen
terrace, terraces = die Terrasse, der Terrasse, die Terrassen
desk, desks = der Schreibtisch, des Schreibtischs, die Schreibtische
television, televisions = der Fernseher, des Fernsehers, die Fernseher
fridge, fridges = der Kühlschrank, des Kühlschranks, die Kühlschränke
safe, safes = der Safe, des Safes, die Safes
fireplace, fireplaces = der Kamin, des Kamins, die Kamine
""")

HOTEL_ITEMS = nouns("""
towel, towels = das Handtuch, des Handtuchs, die Handtücher
pillow, pillows = das Kissen, des Kissens, die Kissen / das Kopfkissen, des Kopfkissens, die Kopfkissen
blanket, blankets = die Decke, der Decke, die Decken
key, keys = der Schlüssel, des Schlüssels, die Schlüssel
hairdryer, hairdryers = der Föhn, des Föhns, die Föhne / der Haartrockner, des Haartrockners, die Haartrockner
iron, irons = das Bügeleisen, des Bügeleisens, die Bügeleisen
adapter, adapters = der Adapter, des Adapters, die Adapter
coat hanger, coat hangers = der Kleiderbügel, des Kleiderbügels, die Kleiderbügel
street map, street maps = der Stadtplan, des Stadtplans, die Stadtpläne
umbrella, umbrellas = der Regenschirm, des Regenschirms, die Regenschirme
cot, cots = das Kinderbett, des Kinderbetts, die Kinderbetten
glass, glasses = das Glas, des Glases, die Gläser
alarm clock, alarm clocks = der Wecker, des Weckers, die Wecker
chair, chairs = der Stuhl, des Stuhls, die Stühle
lamp, lamps = die Lampe, der Lampe, die Lampen
bin, bins = der Mülleimer, des Mülleimers, die Mülleimer
""")

#: What can be switched on.
MACHINES = nouns("""
heating = die Heizung, der Heizung, -
lamp, lamps = die Lampe, der Lampe, die Lampen
television, televisions = der Fernseher, des Fernsehers, die Fernseher
air conditioning = die Klimaanlage, der Klimaanlage, -
washing machine, washing machines = die Waschmaschine, der Waschmaschine, die Waschmaschinen
coffee machine, coffee machines = die Kaffeemaschine, der Kaffeemaschine, die Kaffeemaschinen
radio, radios = das Radio, des Radios, die Radios
fridge, fridges = der Kühlschrank, des Kühlschranks, die Kühlschränke
computer, computers = der Computer, des Computers, die Computer
-, lights = das Licht, des Lichts, -
""")
FITTINGS = MACHINES + nouns("""
shower, showers = die Dusche, der Dusche, die Duschen
light switch, light switches = der Lichtschalter, des Lichtschalters, die Lichtschalter
socket, sockets = die Steckdose, der Steckdose, die Steckdosen
telephone, telephones = das Telefon, des Telefons, die Telefone
remote control, remote controls = die Fernbedienung, der Fernbedienung, die Fernbedienungen
tap, taps = der Wasserhahn, des Wasserhahns, die Wasserhähne
-, blinds = -, -, die Jalousien
""")

# --- Food -------------------------------------------------------------------------------------------------------------
DISHES = nouns("""
tomato soup, tomato soups = die Tomatensuppe, der Tomatensuppe, die Tomatensuppen
potato soup, potato soups = die Kartoffelsuppe, der Kartoffelsuppe, die Kartoffelsuppen
salad, salads = der Salat, des Salats, die Salate
potato salad, potato salads = der Kartoffelsalat, des Kartoffelsalats, die Kartoffelsalate
schnitzel, schnitzels = das Schnitzel, des Schnitzels, die Schnitzel
fried sausage, fried sausages = die Bratwurst, der Bratwurst, die Bratwürste
roast chicken, roast chickens = das Brathähnchen, des Brathähnchens, die Brathähnchen
pizza, pizzas = die Pizza, der Pizza, die Pizzen
cheese roll, cheese rolls = das Käsebrötchen, des Käsebrötchens, die Käsebrötchen
pretzel, pretzels = die Brezel, der Brezel, die Brezeln
omelette, omelettes = das Omelett, des Omeletts, die Omeletts
pancake, pancakes = der Pfannkuchen, des Pfannkuchens, die Pfannkuchen
trout, trout = die Forelle, der Forelle, die Forellen
steak, steaks = das Steak, des Steaks, die Steaks
apple pie, apple pies = der Apfelkuchen, des Apfelkuchens, die Apfelkuchen
dumpling, dumplings = der Knödel, des Knödels, die Knödel / der Kloß, des Kloßes, die Klöße
vegetable stew, vegetable stews = der Gemüseeintopf, des Gemüseeintopfs, die Gemüseeintöpfe
beef roulade, beef roulades = die Rinderroulade, der Rinderroulade, die Rinderrouladen
fruit salad, fruit salads = der Obstsalat, des Obstsalats, die Obstsalate
cheese platter, cheese platters = die Käseplatte, der Käseplatte, die Käseplatten
""")

DRINKS = nouns("""
coffee, coffees = der Kaffee, des Kaffees, die Kaffee, den Kaffee / der Kaffee, des Kaffees, die Kaffees
tea, teas = der Tee, des Tees, die Tee, den Tee / der Tee, des Tees, die Tees
beer, beers = das Bier, des Biers, die Bier, den Bier / das Bier, des Biers, die Biere
mineral water, mineral waters = das Mineralwasser, des Mineralwassers, die Mineralwasser, den Mineralwasser
apple juice, apple juices = der Apfelsaft, des Apfelsafts, die Apfelsaft, den Apfelsaft
orange juice, orange juices = der Orangensaft, des Orangensafts, die Orangensaft, den Orangensaft
cocoa, cocoas = der Kakao, des Kakaos, die Kakao, den Kakao
lemonade, lemonades = die Limonade, der Limonade, die Limonaden
red wine, red wines = der Rotwein, des Rotweins, die Rotwein, den Rotwein
white wine, white wines = der Weißwein, des Weißweins, die Weißwein, den Weißwein
""")

#: Vessels for drinks; what they hold comes from LIQUIDS.
VESSELS = nouns("""
bottle, bottles = die Flasche, der Flasche, die Flaschen
glass, glasses = das Glas, des Glases, die Gläser / das Glas, des Glases, die Glas, den Glas
jug, jugs = der Krug, des Kruges, die Krüge
carafe, carafes = die Karaffe, der Karaffe, die Karaffen
""")
LIQUIDS = words("""
water = Wasser
red wine = Rotwein
white wine = Weißwein
beer = Bier
apple juice = Apfelsaft
orange juice = Orangensaft
""")

#: Measures of the market; what they measure comes from GROCERIES.
MEASURES = nouns("""
kilo, kilos = das Kilo, des Kilos, die Kilo, den Kilo
pound, pounds = das Pfund, des Pfunds, die Pfund, den Pfund
bag, bags = die Tüte, der Tüte, die Tüten
box, boxes = die Kiste, der Kiste, die Kisten
""")
GROCERIES = words("""
apples = Äpfel
pears = Birnen
potatoes = Kartoffeln
tomatoes = Tomaten
cherries = Kirschen
onions = Zwiebeln
carrots = Karotten / Möhren
strawberries = Erdbeeren
grapes = Trauben / Weintrauben
mushrooms = Pilze / Champignons
plums = Pflaumen
lemons = Zitronen
""")

TABLEWARE = nouns("""
menu, menus = die Speisekarte, der Speisekarte, die Speisekarten
bill, bills = die Rechnung, der Rechnung, die Rechnungen
wine list, wine lists = die Weinkarte, der Weinkarte, die Weinkarten
fork, forks = die Gabel, der Gabel, die Gabeln
knife, knives = das Messer, des Messers, die Messer
spoon, spoons = der Löffel, des Löffels, die Löffel
plate, plates = der Teller, des Tellers, die Teller
napkin, napkins = die Serviette, der Serviette, die Servietten
glass, glasses = das Glas, des Glases, die Gläser
cup, cups = die Tasse, der Tasse, die Tassen
straw, straws = der Strohhalm, des Strohhalms, die Strohhalme
ashtray, ashtrays = der Aschenbecher, des Aschenbechers, die Aschenbecher
high chair, high chairs = der Hochstuhl, des Hochstuhls, die Hochstühle
""")

#: At the table: what one passes to each other.
PASSED = nouns("""
salt = das Salz, des Salzes, -
pepper = der Pfeffer, des Pfeffers, -
sugar = der Zucker, des Zuckers, -
butter = die Butter, der Butter, -
bread = das Brot, des Brotes, -
mustard = der Senf, des Senfs, -
milk = die Milch, der Milch, -
water = das Wasser, des Wassers, -
menu, menus = die Speisekarte, der Speisekarte, die Speisekarten
-, napkins = -, -, die Servietten
-, potatoes = -, -, die Kartoffeln
""")

FOODSTUFFS = nouns("""
pork = das Schweinefleisch, des Schweinefleischs, -
beef = das Rindfleisch, des Rindfleischs, -
meat = das Fleisch, des Fleischs, -
fish = der Fisch, des Fischs, -
cheese = der Käse, des Käses, -
garlic = der Knoblauch, des Knoblauchs, -
sugar = der Zucker, des Zuckers, -
butter = die Butter, der Butter, -
celery = der Sellerie, des Selleries, -
bread = das Brot, des Brotes, -
-, eggs = -, -, die Eier
-, nuts = -, -, die Nüsse
-, onions = -, -, die Zwiebeln
-, mushrooms = -, -, die Pilze
-, peanuts = -, -, die Erdnüsse
-, tomatoes = -, -, die Tomaten
""")

BEVERAGES = nouns("""
alcohol = der Alkohol, des Alkohols, -
milk = die Milch, der Milch, -
coffee = der Kaffee, des Kaffees, -
black tea = der Schwarztee, des Schwarztees, -
beer = das Bier, des Biers, -
wine = der Wein, des Weins, -
lemonade = die Limonade, der Limonade, -
""")

SIDES = words("""
with milk = mit Milch
with sugar = mit Zucker
with lemon = mit Zitrone
with ice = mit Eis
without milk = ohne Milch
without sugar = ohne Zucker
without ice = ohne Eis
""")
DISH_SIDES = words("""
with rice = mit Reis
with potatoes = mit Kartoffeln
with bread = mit Brot
with vegetables = mit Gemüse
with mustard = mit Senf
with chips = mit Pommes / mit Pommes frites
without onions = ohne Zwiebeln
without garlic = ohne Knoblauch
without salt = ohne Salz
without mushrooms = ohne Pilze
without cheese = ohne Käse
""")
INTRUDERS = nouns("""
fly, flies = die Fliege, der Fliege, die Fliegen
hair, hairs = das Haar, des Haares, die Haare
wasp, wasps = die Wespe, der Wespe, die Wespen
beetle, beetles = der Käfer, des Käfers, die Käfer
stone, stones = der Stein, des Steins, die Steine
""")

# --- Shops ------------------------------------------------------------------------------------------------------------
#: Clothes that one can count.
GARMENTS = nouns("""
jacket, jackets = die Jacke, der Jacke, die Jacken
coat, coats = der Mantel, des Mantels, die Mäntel
shirt, shirts = das Hemd, des Hemdes, die Hemden
dress, dresses = das Kleid, des Kleides, die Kleider
skirt, skirts = der Rock, des Rocks, die Röcke
hat, hats = der Hut, des Hutes, die Hüte
scarf, scarves = der Schal, des Schals, die Schals
jumper, jumpers = der Pullover, des Pullovers, die Pullover
blouse, blouses = die Bluse, der Bluse, die Blusen
tie, ties = die Krawatte, der Krawatte, die Krawatten
belt, belts = der Gürtel, des Gürtels, die Gürtel
suit, suits = der Anzug, des Anzugs, die Anzüge
bag, bags = die Tasche, der Tasche, die Taschen
cap, caps = die Mütze, der Mütze, die Mützen
""")
CLOTHES = GARMENTS + nouns("""
-, trousers = die Hose, der Hose, die Hosen
-, shoes = -, -, die Schuhe
-, gloves = -, -, die Handschuhe
-, socks = -, -, die Socken
-, boots = -, -, die Stiefel
""")

STAMP = nouns("stamp, stamps = die Briefmarke, der Briefmarke, die Briefmarken")
GOODS = STAMP + nouns("""
postcard, postcards = die Postkarte, der Postkarte, die Postkarten
newspaper, newspapers = die Zeitung, der Zeitung, die Zeitungen
travel guide, travel guides = der Reiseführer, des Reiseführers, die Reiseführer
street map, street maps = der Stadtplan, des Stadtplans, die Stadtpläne
book, books = das Buch, des Buches, die Bücher
umbrella, umbrellas = der Regenschirm, des Regenschirms, die Regenschirme
battery, batteries = die Batterie, der Batterie, die Batterien
magazine, magazines = die Zeitschrift, der Zeitschrift, die Zeitschriften
toothbrush, toothbrushes = die Zahnbürste, der Zahnbürste, die Zahnbürsten
SIM card, SIM cards = die SIM-Karte, der SIM-Karte, die SIM-Karten
charger, chargers = das Ladegerät, des Ladegeräts, die Ladegeräte
candle, candles = die Kerze, der Kerze, die Kerzen
necklace, necklaces = die Kette, der Kette, die Ketten / die Halskette, der Halskette, die Halsketten
lighter, lighters = das Feuerzeug, des Feuerzeugs, die Feuerzeuge
picture, pictures = das Bild, des Bildes, die Bilder
vase, vases = die Vase, der Vase, die Vasen
ball, balls = der Ball, des Balls, die Bälle
plaster, plasters = das Pflaster, des Pflasters, die Pflaster
pencil, pencils = der Bleistift, des Bleistifts, die Bleistifte
""")

COLOURS = adjectives("""
red = rot
blue = blau
green = grün
black = schwarz
white = weiß
yellow = gelb
grey = grau
brown = braun
""")
#: After "in": "in Blau".
COLOUR_NAMES = words("""
red = Rot
blue = Blau
green = Grün
black = Schwarz
white = Weiß
yellow = Gelb
grey = Grau
brown = Braun
""")
QUALITIES = adjectives("""
cheap = billig / günstig
small = klein
large = groß
new = neu
simple = einfach
nice = schön / hübsch
light = leicht
""")
FAULTS = adjectives("""
small = klein
large = groß
long = lang
short = kurz
tight = eng
expensive = teuer:teur
""")
MATERIALS = words("""
leather = Leder
wool = Wolle
cotton = Baumwolle
silk = Seide
linen = Leinen
""")

# --- People -----------------------------------------------------------------------------------------------------------
WOMEN = nouns("""
wife, wives = die Frau, der Frau, die Frauen
daughter, daughters = die Tochter, der Tochter, die Töchter
sister, sisters = die Schwester, der Schwester, die Schwestern
mother, mothers = die Mutter, der Mutter, die Mütter
aunt, aunts = die Tante, der Tante, die Tanten
grandmother, grandmothers = die Großmutter, der Großmutter, die Großmütter / die Oma, der Oma, die Omas
""")
MEN = nouns("""
husband, husbands = der Mann, des Mannes, die Männer
son, sons = der Sohn, des Sohnes, die Söhne
brother, brothers = der Bruder, des Bruders, die Brüder
father, fathers = der Vater, des Vaters, die Väter
uncle, uncles = der Onkel, des Onkels, die Onkel
grandfather, grandfathers = der Großvater, des Großvaters, die Großväter / der Opa, des Opas, die Opas
""")
#: Relatives, and those who may be men or women.
FAMILY = WOMEN + MEN + nouns("""
friend, friends = der Freund, des Freundes, die Freunde / die Freundin, der Freundin, die Freundinnen
colleague, colleagues = der Kollege, des Kollegen, die Kollegen / die Kollegin, der Kollegin, die Kolleginnen
neighbour, neighbours = der Nachbar, des Nachbarn, die Nachbarn / die Nachbarin, der Nachbarin, die Nachbarinnen
boss, bosses = der Chef, des Chefs, die Chefs / die Chefin, der Chefin, die Chefinnen
""")
RELATIVES = nouns("""
brother, brothers = der Bruder, des Bruders, die Brüder
sister, sisters = die Schwester, der Schwester, die Schwestern
son, sons = der Sohn, des Sohnes, die Söhne
daughter, daughters = die Tochter, der Tochter, die Töchter
child, children = das Kind, des Kindes, die Kinder
uncle, uncles = der Onkel, des Onkels, die Onkel
aunt, aunts = die Tante, der Tante, die Tanten
grandchild, grandchildren = das Enkelkind, des Enkelkindes, die Enkelkinder / der Enkel, des Enkels, die Enkel
""")
HELPERS = nouns("""
doctor, doctors = der Arzt, des Arztes, die Ärzte / die Ärztin, der Ärztin, die Ärztinnen
dentist, dentists = der Zahnarzt, des Zahnarztes, die Zahnärzte / die Zahnärztin, der Zahnärztin, die Zahnärztinnen
interpreter, interpreters = der Dolmetscher, des Dolmetschers, die Dolmetscher
lawyer, lawyers = der Anwalt, des Anwalts, die Anwälte / die Anwältin, der Anwältin, die Anwältinnen
mechanic, mechanics = der Mechaniker, des Mechanikers, die Mechaniker
guide, guides = der Fremdenführer, des Fremdenführers, die Fremdenführer
babysitter, babysitters = der Babysitter, des Babysitters, die Babysitter
electrician, electricians = der Elektriker, des Elektrikers, die Elektriker
plumber, plumbers = der Klempner, des Klempners, die Klempner / der Installateur, des Installateurs, die Installateure
nurse, nurses = die Krankenschwester, der Krankenschwester, die Krankenschwestern
""")
SERVICES = nouns("""
police = die Polizei, der Polizei, -
fire brigade = die Feuerwehr, der Feuerwehr, -
ambulance service = der Rettungsdienst, des Rettungsdienstes, -
doctor, doctors = der Arzt, des Arztes, die Ärzte
manager, managers = der Geschäftsführer, des Geschäftsführers, die Geschäftsführer
waiter, waiters = der Kellner, des Kellners, die Kellner
breakdown service = der Pannendienst, des Pannendienstes, -
embassy = die Botschaft, der Botschaft, -
caretaker, caretakers = der Hausmeister, des Hausmeisters, die Hausmeister
""")
#: Trades, of a man and of a woman; German puts no article in the predicate ("sie ist Lehrerin").
JOBS = trades("""
a teacher = Lehrer / Lehrerin
a doctor = Arzt / Ärztin
a student = Student / Studentin
an engineer = Ingenieur / Ingenieurin
a nurse = Krankenpfleger / Krankenschwester
a cook = Koch / Köchin
a journalist = Journalist / Journalistin
a lawyer = Anwalt / Anwältin
a musician = Musiker / Musikerin
a baker = Bäcker / Bäckerin
a farmer = Landwirt / Landwirtin
a translator = Übersetzer / Übersetzerin
a tour guide = Reiseleiter / Reiseleiterin
a pilot = Pilot / Pilotin
a painter = Maler / Malerin
a shop assistant = Verkäufer / Verkäuferin
a photographer = Fotograf / Fotografin
an architect = Architekt / Architektin
""")
WOMENS_NAMES = words("""
Anna = Anna
Maria = Maria
Julia = Julia
Sophie = Sophie
Clara = Clara
""")
MENS_NAMES = words("""
Paul = Paul
Thomas = Thomas
Lukas = Lukas
Martin = Martin
David = David
""")
FIRST_NAMES = WOMENS_NAMES + MENS_NAMES
SURNAMES = words("""
Schneider = Schneider
Weber = Weber
Fischer = Fischer
Becker = Becker
Hoffmann = Hoffmann
Wagner = Wagner
Keller = Keller
Brown = Brown
Taylor = Taylor
Wilson = Wilson
Clarke = Clarke
Murphy = Murphy
""")

# --- Health -----------------------------------------------------------------------------------------------------------
BODY = nouns("""
head, heads = der Kopf, des Kopfes, die Köpfe
stomach, stomachs = der Bauch, des Bauches, die Bäuche / der Magen, des Magens, die Mägen
back, backs = der Rücken, des Rückens, die Rücken
throat, throats = der Hals, des Halses, die Hälse
neck, necks = der Nacken, des Nackens, die Nacken
chest, chests = die Brust, der Brust, die Brüste
""")
LIMBS = nouns("""
arm, arms = der Arm, des Armes, die Arme
leg, legs = das Bein, des Beines, die Beine
hand, hands = die Hand, der Hand, die Hände
finger, fingers = der Finger, des Fingers, die Finger
foot, feet = der Fuß, des Fußes, die Füße
knee, knees = das Knie, des Knies, die Knie
shoulder, shoulders = die Schulter, der Schulter, die Schultern
elbow, elbows = der Ellbogen, des Ellbogens, die Ellbogen
""")
ILLNESSES = words("""
a fever = Fieber
a headache = Kopfschmerzen
a toothache = Zahnschmerzen
a stomach ache = Bauchschmerzen
a sore throat = Halsschmerzen
a cough = Husten
a cold = eine Erkältung / Schnupfen
the flu = die Grippe
a backache = Rückenschmerzen
sunburn = einen Sonnenbrand
diarrhoea = Durchfall
""")

# --- Time -------------------------------------------------------------------------------------------------------------
YEAR, DAY, HOUR, MINUTE, WEEK, NIGHT, PERSON = ([entry] for entry in nouns("""
year, years = das Jahr, des Jahres, die Jahre
day, days = der Tag, des Tages, die Tage
hour, hours = die Stunde, der Stunde, die Stunden
minute, minutes = die Minute, der Minute, die Minuten
week, weeks = die Woche, der Woche, die Wochen
night, nights = die Nacht, der Nacht, die Nächte
person, people = die Person, der Person, die Personen
"""))
DURATIONS = nouns("""
minute, minutes = die Minute, der Minute, die Minuten
hour, hours = die Stunde, der Stunde, die Stunden
day, days = der Tag, des Tages, die Tage
week, weeks = die Woche, der Woche, die Wochen
month, months = der Monat, des Monats, die Monate
year, years = das Jahr, des Jahres, die Jahre
""")
LONG_DURATIONS = DURATIONS[2:]
EVENTS = nouns("""
concert, concerts = das Konzert, des Konzerts, die Konzerte
film, films = der Film, des Films, die Filme
guided tour, guided tours = die Führung, der Führung, die Führungen
meeting, meetings = die Besprechung, der Besprechung, die Besprechungen
match, matches = das Spiel, des Spiels, die Spiele
course, courses = der Kurs, des Kurses, die Kurse
play, plays = das Theaterstück, des Theaterstücks, die Theaterstücke
lecture, lectures = der Vortrag, des Vortrags, die Vorträge
festival, festivals = das Fest, des Festes, die Feste
wedding, weddings = die Hochzeit, der Hochzeit, die Hochzeiten
market, markets = der Markt, des Marktes, die Märkte
boat trip, boat trips = die Bootsfahrt, der Bootsfahrt, die Bootsfahrten
""")
WEATHER = words("""
sunny = sonnig
cold = kalt
hot = heiß
warm = warm
windy = windig
cloudy = bewölkt / wolkig
foggy = neblig
stormy = stürmisch
dry = trocken
""")

# --- What one does ----------------------------------------------------------------------------------------------------
#: Infinitives after a modal verb. At the asterisk stands what German puts behind pronouns: "mir bitte helfen".
FAVOURS = verb_phrases("""
help me = mir * helfen
repeat that = das * wiederholen / das * noch einmal sagen
write that down = das * aufschreiben
wait a moment = * einen Moment warten / * einen Augenblick warten
call a taxi = * ein Taxi rufen
open the window = * das Fenster öffnen / * das Fenster aufmachen
close the door = * die Tür schließen / * die Tür zumachen
turn down the music = * die Musik leiser machen / * die Musik leiser stellen
show me the way = mir * den Weg zeigen
recommend a good restaurant = mir * ein gutes Restaurant empfehlen / * ein gutes Restaurant empfehlen
carry my suitcase = * meinen Koffer tragen
look after my luggage = * auf mein Gepäck aufpassen
help me with my luggage = mir * mit dem Gepäck helfen / mir * mit meinem Gepäck helfen
drive more slowly = * langsamer fahren
speak more slowly = * langsamer sprechen
speak louder = * lauter sprechen
stop here = * hier halten / * hier anhalten
spell that = das * buchstabieren
translate this for me = das * für mich übersetzen / mir das * übersetzen
change this note = * diesen Schein wechseln
turn on the heating = * die Heizung anmachen / * die Heizung einschalten
turn off the light = * das Licht ausmachen / * das Licht ausschalten
clean the room = * das Zimmer putzen / * das Zimmer sauber machen
explain that to me = mir das * erklären
take a photo of us = * ein Foto von uns machen / uns * fotografieren
pick me up at the airport = mich * am Flughafen abholen
wake me tomorrow morning = mich * morgen früh wecken
move over a little = * ein bisschen rücken / * ein wenig rücken
send the bill to my company = * die Rechnung an meine Firma schicken
fill up the tank = * den Tank füllen / * volltanken
""")
#: Favours that one asks for a certain day.
ERRANDS = verb_phrases("""
help me = mir * helfen
call a taxi for me = mir * ein Taxi rufen / * ein Taxi für mich rufen
clean the room = * das Zimmer putzen / * das Zimmer sauber machen
pick me up at the airport = mich * am Flughafen abholen
pick us up at the station = uns * am Bahnhof abholen / uns * vom Bahnhof abholen
look after my luggage = * auf mein Gepäck aufpassen
turn on the heating = * die Heizung anmachen / * die Heizung einschalten
water the flowers = * die Blumen gießen
show us the town = uns * die Stadt zeigen
""")
HANDING = words("""
bring = bringen
give = geben
lend = leihen
show = zeigen
get = besorgen / holen
""")
#: Infinitives of leisure, with no object of the speaker's own.
ACTIVITIES = words("""
swim = schwimmen
fish = angeln
dance = tanzen
camp = zelten / campen
smoke = rauchen
park = parken
ski = Ski fahren
ride = reiten
sail = segeln
dive = tauchen
play tennis = Tennis spielen
play football = Fußball spielen
play golf = Golf spielen
take photographs = fotografieren / Fotos machen
change money = Geld wechseln / Geld umtauschen
hire bicycles = Fahrräder mieten / Fahrräder leihen
buy tickets = Karten kaufen
surf the internet = im Internet surfen
have breakfast = frühstücken
have a barbecue = grillen
""")
PLANS = words("""
go swimming = schwimmen gehen
go hiking = wandern gehen / wandern
go shopping = einkaufen gehen / einkaufen
go skiing = Ski fahren / Ski fahren gehen
go dancing = tanzen gehen
go for a walk = spazieren gehen
go out for a meal = essen gehen
visit the museum = das Museum besuchen
see the cathedral = den Dom besichtigen / den Dom sehen
climb the tower = auf den Turm steigen
take a boat trip = eine Bootsfahrt machen
hire a car = ein Auto mieten / einen Wagen mieten
play tennis = Tennis spielen
sleep late = ausschlafen
stay at home = zu Hause bleiben
write postcards = Postkarten schreiben
buy a present = ein Geschenk kaufen
go to the hairdresser = zum Friseur gehen
drive to the seaside = ans Meer fahren
drive into the mountains = in die Berge fahren
""")
