"""What is wrong in a catalogue is said at load, in one line: the entry, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.errors import SceneError
from navloom.scenes.lexicon import classify, is_surface
from navloom.tools.navcraft.task import can_hold, plausibility, room_grade
from navloom_worlds.homes.catalogue import ROOM_KEYS, catalogue, load_catalogue, room_keys
from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.dressing import Dressing, style_names

BED = (
    "bed: {size: [1400, 600, 2000], shape: bed, made: wood, mass: 40, place: wall, "
    "rooms: {bedroom: 1}}"
)
TABLE = (
    "table: {size: [900, 750, 700], shape: table, made: wood, mass: 20, place: wall, "
    "rooms: {kitchen: 1}, top: {}}"
)


def load(folder: Path, text: str) -> None:
    path = folder / "catalogue.yaml"
    path.write_text(text, encoding="utf-8")
    load_catalogue((path,))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BED.replace("mass", "mas"), r"bed: unknown key 'mas'\. Did you mean 'mass'"),
        (BED.replace("bedroom", "bedrom"), r"unknown room 'bedrom'\. Did you mean 'bedroom'"),
        (BED.replace("made: wood", "made: woood"), r"unknown word 'woood'\. Did you mean 'wood'"),
        (BED.replace("shape: bed", "shape: bad"), r"bed: shape: Input should be"),
        (BED.replace("[1400,", "[[1800, 1400],"), "smaller number first"),
        (BED.replace("bed: {", "bedd: {", 1), "lexicon.yaml does not know 'bedd'"),
        (BED.replace("bed: {", "bed: {called: [bed, pillow], ", 1), "expected names of one kind"),
        (BED.replace("place: wall, ", ""), "says of no place where it stands"),
        (BED.replace("place: wall", "place: beside"), "'beside' needs `to`"),
        (BED.replace("place: wall", "place: beside, to: sofas"), r"bed.to: no entry 'sofas'"),
        (BED.replace(", rooms: {bedroom: 1}", ""), "bed: cannot be placed anywhere in any room"),
        # Higher than any wall leaves room for.
        (BED.replace("place: wall", "place: hung, high: 2000"), "bed: cannot be placed anywhere"),
        # Its table is in no room that it is in.
        (
            TABLE + "\ncup: {size: [80, 90, 80], shape: cylinder, made: glass, mass: 1, "
            "rooms: {bedroom: 1}, upon: {table: 1}}",
            "cup: cannot be placed anywhere",
        ),
        # Too large for its table.
        (
            TABLE + "\nbox: {size: [950, 300, 950], shape: box, made: paper, mass: 1, "
            "rooms: {kitchen: 1}, upon: {table: 1}}",
            "box: cannot be placed anywhere",
        ),
        (
            BED + "\nbox: {size: [300, 300, 300], shape: box, made: paper, mass: 1, "
            "rooms: {bedroom: 1}, upon: {bed: 1}}",
            "box.upon: nothing can be put on a bed",
        ),
        (BED + "\n" + BED, "stands twice"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SceneError, match=said) as refused:
        load(tmp_path, text)
    assert "\n" not in str(refused.value)


def test_what_is_right_is_taken(tmp_path: Path) -> None:
    load(tmp_path, BED + "\n" + TABLE)


def test_every_name_is_in_the_lexicon_and_every_holder_is_a_surface_or_open() -> None:
    known = catalogue()
    for entry in known.entries.values():
        assert len({classify(title) for title in entry.titles}) == 1
    open_to_things = {
        "appliance", "basket", "bed", "bench", "bowl", "instrument", "rack", "shelf", "stove",
        "table",
    }  # fmt: skip
    for name, carried in known.by_holder.items():
        holder = known.entries[name]
        if carried and holder.shape not in open_to_things and holder.kind == "asset":
            # What belongs says of a wardrobe what the lexicon does not: that it holds things.
            assert all(can_hold(title) or is_surface(title) for title in holder.titles), name


def test_every_room_has_things_of_its_own() -> None:
    for key in ROOM_KEYS:
        assert len(catalogue().by_room[key]) >= (3 if key == "stairs" else 8), key


def test_what_stands_on_what_is_what_people_would_put_there() -> None:
    """By the words that the plausibility of tasks goes by: hardly one pair in thirty is odd."""
    words = {key: kind for kind in ROOM_WORDS for key in room_keys(kind)}
    pairs = odd = 0
    for entry in catalogue().entries.values():
        for holder in entry.upon if entry.kind == "object" else ():
            asset = catalogue().entries[holder]
            for key in set(entry.rooms) & set(asset.rooms):
                if asset.kind == "asset" and key in words:
                    pairs += 1
                    odd += plausibility(entry.titles[0], asset.titles[0], words[key]).on <= 0.1
    assert pairs > 800
    assert odd / pairs < 0.12
    assert room_grade("pillow", "bedroom") == 1


ROOM_WORDS = (
    "bedroom", "bathroom", "kitchen", "dining room", "living room", "office", "laundry", "closet",
    "hallway", "garage", "nursery", "balcony", "media room", "gym", "library", "lounge", "pantry",
    "dressing room", "entryway",
)  # fmt: skip


def test_kinds_of_rooms_are_known_by_their_words() -> None:
    assert room_keys("kitchen/living room") == ("kitchen", "living")
    assert room_keys("wc") == ("toilet",)
    assert room_keys("elevator") == ()
    assert {key for kind in ROOM_WORDS for key in room_keys(kind)} | {"toilet", "stairs"} == set(
        ROOM_KEYS
    )


@pytest.mark.slow
def test_a_home_agrees_with_itself_and_styles_differ() -> None:
    table, chair = catalogue().entries["dining table"], catalogue().entries["dining chair"]
    seen = {}
    for style in style_names():
        looks = set()
        for seed in range(30):
            dressing = Dressing(style, Dice(seed))
            assert dressing.of(table, "a") == dressing.of(table, "a")
            assert dressing.title(chair) == dressing.title(chair)
            looks.add(dressing.of(table, "a"))
            once = {Dressing(style, Dice(seed)).of(table, str(room)) for room in range(20)}
            assert len(once) <= 2
        seen[style] = frozenset(looks)
    assert len(seen) >= 8
    assert len(set(seen.values())) == len(seen)
