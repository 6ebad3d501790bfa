"""The persons of the phrasebook: whom one speaks to, and with that Sie or du, and whom one speaks about."""

from phrasebook.german import GermanNoun
from phrasebook.lexicon import FIRST_NAMES, SURNAMES
from phrasebook.phrase import Addressee, Entry

_TITLES = (("Mr", "Herr", "m", "Herrn"), ("Mrs", "Frau", "f", "Frau"))


def _addressed(english: str, german: str, formal: bool, weight: int) -> Entry:
    return Entry((Addressee(english, formal),), (Addressee(german, formal),), weight)


#: Most sentences address nobody by name: then both forms of address are right. A name decides between Sie and du.
YOU = (
    [Entry((Addressee("", True),), (Addressee("", True), Addressee("", False)), weight=30)]
    + [_addressed(f"{en} {name.en[0]}", f"{de} {name.de[0]}", True, 1) for name in SURNAMES for en, de, *_ in _TITLES]
    + [_addressed(f"{name.en[0]}", f"{name.de[0]}", False, 2) for name in FIRST_NAMES]
)
#: Nobody is named, both forms of address are right.
ANYONE = YOU[:1]
#: Mr Weber is "Herr Weber", in the other cases "Herrn Weber": the noun is the title, the name its tail.
PERSONS = [
    Entry((f"{en} {name.en[0]}",), (GermanNoun(de, gender, genitive, tail=str(name.de[0])),))
    for name in SURNAMES
    for en, de, gender, genitive in _TITLES
]
