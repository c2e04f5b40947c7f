"""Words of homes, for rule-based policies: stems, synonyms, and what shows that a room is near.

The lists are written by hand from common knowledge of homes; none is counted from a dataset.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["MOST_CHARACTERS", "ROOMS", "bag", "common", "likeness", "plain"]

MOST_CHARACTERS = 4_000
"""Of a longer text only so much is read."""
_WORD = re.compile(r"[a-z]+")

_SAME = """
stairs: stair staircase stairway step steps stairwell staircases
hallway: hall corridor hallways halls passage passageway walkway
door: doors doorway doorways doorframe
couch: sofa couches sofas loveseat futon sectional settee
armchair: recliner armchairs recliners
chair: chairs seat seats
stool: stools barstool barstools
fridge: refrigerator refrigerators freezer
bathroom: bath washroom restroom bathrooms lavatory
bathtub: tub jacuzzi tubs
toilet: commode toilets
sink: sinks washbasin basin
entrance: entry entryway foyer vestibule exit lobby
arch: archway arches arched archways
tv: television televisions tvs
rug: carpet rugs carpets carpeted mat
picture: painting pictures paintings photo photos photograph portrait artwork art photographs
closet: closets wardrobe
cabinet: cabinets cupboard cupboards hutch
counter: counters countertop countertops
stove: oven stoves ovens cooktop range grill
gym: exercise fitness workout treadmill weights
patio: deck terrace porch veranda patios
outside: outdoors outdoor
office: study
laundry: washer dryer washing
lounge: sitting
living: family den
dining: dinning dinner
plant: plants potted tree trees
vase: urn vases urns
railing: railings banister handrail banisters
shelf: shelves bookshelf bookcase bookshelves bookcases shelving
book: books
window: windows
curtain: curtains drapes
lamp: lamps
chandelier: chandeliers
statue: statues sculpture bust sculptures
bed: beds
nightstand: nightstands bedside
bedroom: bedrooms
dresser: dressers drawers
mirror: mirrors
table: tables
desk: desks
fireplace: hearth mantel fireplaces mantle
pillar: pillars column columns post pole
pool: swimming pools
garage: car
rope: ropes stanchion barrier
pantry: pantries
flower: flowers floral
island: islands
bench: benches
ottoman: ottomans
wine: cellar
pillow: pillows cushion cushions
toy: toys playroom
bar: bars
"""
_NOTHING = """
a an the of in on at to and or with by from is are be it its that this there which as your you i
we they them their so will would can one s t ll just then now again also all some few walk go turn
stop wait stand take make enter leave continue head proceed move pass past through into out
towards toward until once before after when while keep get reach come follow face facing going
walking passing entering leaving step stepping stopping waiting left right straight forward ahead
around back behind front next near beside side between across along under over above below inside
up down top bottom end middle center edge far first second third last way direction path other
another opposite directly slight slightly sharp immediate immediately hard bit little very degrees
degree foot feet meter meters room area space place spot view scene house home building seen
visible different features featuring large small big long short open closed grand cozy spacious
various several two three four many both leads leading lead be near where here past onto off using
about please check kindly give pick polish clear thing things object objects item items any stay
staying standing looking look bring clean find wall walls floor floors ceiling ceilings light
lights fixture fixtures wooden wood tile tiled tiles hanging depicts ornate framed frame frames
handle above situated adorned including contains surrounded connected
"""
_NEARLY_NOTHING = frozenset(_NOTHING.split())
_COMMON_WORDS = "door window picture table chair white rug mirror lamp arch glass wall"
_COMMON = frozenset(_COMMON_WORDS.split())
_SHOWS = {
    "kitchen": "stove fridge microwave island dishwasher counter toaster",
    "bedroom": "bed nightstand dresser pillow headboard comforter",
    "bathroom": "toilet sink bathtub shower towel vanity",
    "living": "couch fireplace tv coffee armchair lounge",
    "lounge": "couch armchair living",
    "dining": "table chandelier chair",
    "office": "desk computer printer monitor",
    "laundry": "laundry dryer",
    "gym": "gym treadmill equipment machine",
    "patio": "outside balcony pool garden",
    "outside": "patio garden balcony pool yard",
    "closet": "clothes hanger shoe rack",
    "garage": "garage bike tool",
    "stairs": "railing",
    "library": "shelf book",
    "bar": "stool wine bottle counter",
    "entrance": "door",
    "massage": "spa",
    "spa": "massage sauna pool",
    "bed": "bedroom pillow nightstand",
    "toilet": "bathroom",
    "bathtub": "bathroom shower",
    "shower": "bathroom bathtub",
    "sink": "bathroom kitchen counter",
    "stove": "kitchen",
    "fridge": "kitchen",
    "microwave": "kitchen",
    "island": "kitchen",
    "couch": "living lounge",
    "armchair": "chair living",
    "tv": "living",
    "desk": "office",
    "stool": "bar counter",
    "pool": "patio outside",
    "treadmill": "gym",
    "towel": "bathroom",
    "nightstand": "bed bedroom",
}
_ROOM_WORDS = """
kitchen bedroom bathroom living lounge dining office laundry gym patio outside closet garage hallway
entrance library bar massage spa pantry sauna toilet kid nursery attic basement utility theater
"""
ROOMS = frozenset(_ROOM_WORDS.split())
"""Words that say which room it is."""
_CANON = {
    word: line.split(":")[0]
    for line in _SAME.strip().splitlines()
    for word in line.split(":")[1].split()
}
_CLUES = {word: frozenset(clues.split()) for word, clues in _SHOWS.items()}
_HALF = 0.45
"""What a clue of a thing is worth beside the thing itself."""


@lru_cache(maxsize=4096)
def plain(word: str) -> str:
    """A lower-case word's plain form: the synonym that stands for its group, without a plural."""
    if word in _CANON:
        return _CANON[word]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _CANON.get(word, word)


@lru_cache(maxsize=8192)
def bag(text: str) -> frozenset[str]:
    """The words of a text that say something about a place, in their plain form."""
    words = _WORD.findall(text[:MOST_CHARACTERS].lower())
    kept = (plain(w) for w in words if w not in _NEARLY_NOTHING or w in _CANON)
    return frozenset(w for w in kept if len(w) > 1)


def weight(word: str) -> float:
    """How much a word tells: nearly every place has a door."""
    return 0.4 if word in _COMMON else 1.0


def common(wanted: frozenset[str], seen: frozenset[str]) -> float:
    """How much of what tells something two places or texts share."""
    return sum(weight(word) for word in wanted & seen)


def likeness(wanted: frozenset[str], seen: frozenset[str]) -> float:
    """How well a place that shows ``seen`` fits the words ``wanted``, from 0 to 1; 0 for none."""
    if not wanted:
        return 0.0
    total = found = 0.0
    for word in wanted:
        heavy = weight(word)
        total += heavy
        if word in seen:
            found += heavy
        elif not seen.isdisjoint(_CLUES.get(word, ())):
            found += heavy * _HALF
    return found / total
