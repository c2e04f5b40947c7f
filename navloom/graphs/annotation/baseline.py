"""Baselines for the job ``room_type``: name a room from its objects and its neighbours.

Both read only the words of the question (see ``navloom/prompts/annotation/room_typing.yaml``), such
as ``Adjacent rooms: 2 in all: 2 x kitchen`` and ``Objects: 77 in all, 30 kinds: 22 x photo, 2 x
bed``, and answer in the JSON a language model is asked for. They are baselines, not language
models.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict

from langchain_core.messages import AIMessage

from navloom.models.policy import Request

__all__ = ["heuristic_room", "random_room"]

_KEY = "Unknown room type"
_CLUES = {
    "Bedroom": "bed 6, nightstand 4, bedside 4, mattress 4, pillow 2, wardrobe 2, blanket 1, "
    "duvet 3, bed table 4, dresser 1, chest of drawers 1",
    "Bathroom": "toilet 6, toilet paper 5, bathtub 6, bath 4, shower 6, showerhead 5, bidet 6, "
    "washbasin 4, bathroom 6, towel 3, towel bar 3, shampoo 4, soap 2, toothbrush 4, sink 2, "
    "tap 2, faucet 2, cosmetics 1",
    "Kitchen": "oven 6, stove 6, refrigerator 5, fridge 5, dishwasher 5, microwave 5, kitchen 5, "
    "hob 5, cooktop 5, ventilation hood 5, range hood 5, kettle 3, toaster 3, coffee machine 3, "
    "cutting board 3, food 2, pan 2, bowl 1, pot 1, plate 1, sink 2, tap 1, faucet 1, cabinet 0.3",
    "Dining Room": "dining 5, dining table 6, dining chair 4, dinnerware 3, chandelier 1, "
    "chair 0.7, table 0.5",
    "Living Room": "sofa 5, couch 5, coffee table 4, fireplace 3, armchair 2, tv 2, tv stand 3, "
    "magazine 1, "
    "pouffe 1, ottoman 2, cushion 1, vase 0.5, ornament 0.5",
    "Study / Office": "desk 4, office 5, computer 4, monitor 4, printer 4, keyboard 3, laptop 3, "
    "desk lamp 2, folder 2, paper 1",
    "Laundry Room": "washing machine 5, dryer 4, laundry 5, boiler 5, water heater 4, furnace 4, "
    "ironing 4, iron 3, detergent 3, hair dryer 0",
    "Closet / Storage Room": "clothes 3, hanging clothes 4, hanger 4, storage box 2, clutter 1, "
    "box 1, shelf 1, shoe 1, bag 1",
    "Hallway / Corridor": "stair 4, stairs 4, staircase 4, stair step 4, handrail 4, "
    "balustrade 3, railing 2",
    "Garage": "car 6, bicycle 5, bike 5, motorcycle 5, garage 5, tool 3, toolbox 4, ladder 2, "
    "tire 4",
    "Kids Room / Nursery": "crib 6, cot 6, baby 4, toy 2, stuffed animal 3, plush toy 3, "
    "bunk bed 6",
    "Balcony / Terrace": "parapet 4, balcony 5, outdoor 4, parasol 4, barbecue 4, fence 3, tree 3, "
    "sun lounger 4, garden 4, flowerpot 1, plant 0.5",
    "Media Room / Home Theater": "projector 5, projector screen 5, cinema 5",
    "Gym / Fitness Room": "treadmill 6, dumbbell 6, exercise 6, gym 6, fitness 6, yoga 4",
    "Library": "bookcase 2, bookshelf 1, book 1",
    "Meeting Room": "conference 6, whiteboard 4",
    "Lounge / Waiting Room": "reception 4, waiting 4",
    "Pantry / Bar": "bar stool 2, wine 4, wine rack 5, bar counter 4, pantry 5",
    "Dressing Room": "dressing 4, dressing table 4, makeup 3",
    "Entryway / Foyer": "doormat 4, coat rack 4, coat 2, umbrella 3",
}
"""Type of A.12, in its order -> names of things that speak for it, each with how loudly."""
_BESIDE = {
    "bedroom": {"Bathroom": 0.5, "Closet / Storage Room": 0.4, "Hallway / Corridor": 0.4},
    "hallway": {"Bedroom": 0.5, "Bathroom": 0.4, "Closet / Storage Room": 0.2},
    "corridor": {"Bedroom": 0.5, "Bathroom": 0.4, "Closet / Storage Room": 0.2},
    "kitchen": {"Dining Room": 0.5, "Living Room": 0.3, "Hallway / Corridor": 0.3},
    "dining": {"Kitchen": 0.5, "Living Room": 0.4},
    "living": {"Hallway / Corridor": 0.5, "Kitchen": 0.3, "Dining Room": 0.3},
    "garage": {"Hallway / Corridor": 0.4, "Laundry Room": 0.4},
    "bathroom": {"Hallway / Corridor": 0.4, "Bedroom": 0.4},
}
_MANY_DOORS = 3
"""A room that leads to so many others is one that people walk through."""
_FEW_THINGS = 15
_COUNTED = re.compile(r"(\d{1,6}) x ([a-z0-9 ]{1,100})")


def heuristic_room(request: Request) -> AIMessage:
    """Name the type whose clues stand in the room; neighbours decide where few do."""
    question = request.first_human
    scores: defaultdict[str, float] = defaultdict(float)
    for name, count in _counts(question, "Objects"):
        for kind, loud in _spoken_for(name).items():
            # A second and third bed say little more than the first.
            scores[kind] += loud * (1 + 0.2 * min(count - 1, 5))
    rooms = _counts(question, "Adjacent rooms")
    for name, count in rooms:
        for word in name.split():
            for kind, share in _BESIDE.get(word, {}).items():
                scores[kind] += share * count
    if sum(count for _, count in rooms) >= _MANY_DOORS:
        # Where one only walks through, little stands about.
        scores["Hallway / Corridor"] += 3 if _total(question, "Objects") < _FEW_THINGS else 1
    types = _types(request)
    return request.answer({_KEY: max(types, key=lambda kind: scores[kind])})


def random_room(request: Request) -> AIMessage:
    """Name any type, each as likely, fixed by the question's random seed and region."""
    seed = f"{request.seed}/{_line(request.first_human, 'Region')}"
    return request.answer({_KEY: random.Random(seed).choice(_types(request))})


def _types(request: Request) -> tuple[str, ...]:
    properties = (request.schema or {}).get("properties", {})
    listed = properties.get(_KEY, {}).get("enum", ())
    return tuple(listed) or tuple(_CLUES)


def _line(question: str, head: str) -> str:
    found = re.search(rf"^{head}: (.*)$", question, re.MULTILINE)
    return found.group(1).strip() if found else ""


def _total(question: str, head: str) -> int:
    found = re.match(r"(\d{1,6}) in all", _line(question, head))
    return int(found.group(1)) if found else 0


def _counts(question: str, head: str) -> list[tuple[str, int]]:
    return [(name.strip(), int(count)) for count, name in _COUNTED.findall(_line(question, head))]


def _spoken_for(name: str) -> dict[str, float]:
    """What one object's name says for each type: the longest clue in it that a type knows."""
    said: dict[str, float] = {}
    for kind, clues in _CLUE_TABLE.items():
        fitting = [clue for clue in clues if f" {clue} " in f" {name} "]
        if fitting:
            said[kind] = clues[max(fitting, key=len)]
    return said


def _parsed(clues: str) -> dict[str, float]:
    words = [clue.rsplit(" ", 1) for clue in clues.split(", ")]
    return {name: float(loud) for name, loud in words}


_CLUE_TABLE = {kind: _parsed(clues) for kind, clues in _CLUES.items()}
