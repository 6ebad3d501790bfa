"""The phrasebook's templates, one module for each field of life. ``TOPICS`` is all of them."""

from phrasebook.topics import (
    directions,
    emergencies,
    hotel,
    leisure,
    requests,
    restaurant,
    shopping,
    small_talk,
    times,
    transport,
)

TOPICS = [
    requests.PHRASES,
    hotel.PHRASES,
    restaurant.PHRASES,
    transport.PHRASES,
    directions.PHRASES,
    shopping.PHRASES,
    times.PHRASES,
    emergencies.PHRASES,
    leisure.PHRASES,
    small_talk.PHRASES,
]
