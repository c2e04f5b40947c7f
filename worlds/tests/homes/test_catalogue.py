"""What is wrong in a catalogue is said at load, in one line: the entry, and what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from navloom.errors import SceneError
from navloom.scenes import load_scene
from navloom.scenes.lexicon import classify, is_surface
from navloom.scenes.scene import Item
from navloom.tools.navcraft.relay_task import can_hold, grade_plausibility, room_grade
from navloom_worlds.furniture import item_parts
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.geometry.semantic_ids import item_owner
from navloom_worlds.homes import catalogue as catalogue_module
from navloom_worlds.homes import home_source
from navloom_worlds.homes.catalogue import ROOM_KEYS, active_catalogue, load_catalogue, room_keys
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.styles import HomeStyle, style_names

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
    known = active_catalogue()
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
        assert len(active_catalogue().by_room[key]) >= (3 if key == "stairs" else 8), key


def test_what_stands_on_what_is_what_people_would_put_there() -> None:
    """By the words that the plausibility of tasks goes by: hardly one pair in thirty is odd."""
    words = {key: kind for kind in ROOM_WORDS for key in room_keys(kind)}
    pairs = odd = 0
    for entry in active_catalogue().entries.values():
        for holder in entry.upon if entry.kind == "object" else ():
            asset = active_catalogue().entries[holder]
            for key in set(entry.rooms) & set(asset.rooms):
                if asset.kind == "asset" and key in words:
                    pairs += 1
                    odd += (
                        grade_plausibility(entry.titles[0], asset.titles[0], words[key]).on <= 0.1
                    )
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
    table, chair = (
        active_catalogue().entries["dining table"],
        active_catalogue().entries["dining chair"],
    )
    seen = {}
    for style in style_names():
        looks = set()
        for seed in range(30):
            dressing = HomeStyle(style, Rng(seed))
            assert dressing.of(table, "a") == dressing.of(table, "a")
            assert dressing.title(chair) == dressing.title(chair)
            looks.add(dressing.of(table, "a"))
            once = {HomeStyle(style, Rng(seed)).of(table, str(room)) for room in range(20)}
            assert len(once) <= 2
        seen[style] = frozenset(looks)
    assert len(seen) >= 8
    assert len(set(seen.values())) == len(seen)


GONKBOT = (
    "gonkbot: {kind: object, mesh: gonkbot.glb, size: [300, 600, 200], shape: toy, made: plastic, "
    "mass: 1, place: wall, rooms: {living: [1, 1], bedroom: [1, 1]}}"
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of one's own: a gonkbot whose red face is its front, drawn in no real unit."""
    body = trimesh.creation.box((30, 60, 10))
    body.visual.face_colors = (40, 60, 200, 255)
    face = trimesh.creation.box((20, 10, 10), transform=np.diag([1, 1, 1, 1.0]))
    face.apply_translation((0, 20, 5))
    face.visual.face_colors = (220, 20, 20, 255)
    trimesh.Scene([body, face]).export(tmp_path / "gonkbot.glb")
    path = tmp_path / "mine.yaml"
    path.write_text(GONKBOT, encoding="utf-8")
    monkeypatch.setenv("NAVLOOM_CATALOGUE", str(path))
    return path


def test_a_kind_of_ones_own_is_placed_and_drawn_by_its_mesh(own: Path) -> None:
    made = load_scene("home:8?rooms=6&floors=1")
    gonkbots = [each for each in made.items if each.name == "gonkbot"]
    assert {each.kind for each in gonkbots} == {"object"}
    assert any("NAVLOOM_CATALOGUE" in note for note in made.notes)
    parts = item_parts(gonkbots[0])
    corners = np.concatenate([part.vertices for part in parts])
    assert gonkbots[0].size == (0.3, 0.6, 0.2)
    np.testing.assert_allclose(corners.min(axis=0), (-0.15, 0, -0.1), atol=1e-5)
    np.testing.assert_allclose(corners.max(axis=0), (0.15, 0.6, 0.1), atol=1e-5)
    red = [part for part in parts if part.surface.rgb[0] > 2 * part.surface.rgb[2]]
    assert red
    assert min(part.vertices[:, 2].min() for part in red) == pytest.approx(-0.1, abs=1e-5)
    mesh = scene_mesh(made)
    assert (mesh.owners == item_owner(made.items.index(gonkbots[0]))).sum() >= 12
    # Its file is a part of what homes are made of: another one is another home, in the cache too.
    before = home_source.catalogue_digest()
    own.write_text(GONKBOT.replace("600", "700"), encoding="utf-8")
    catalogue_module.files_digest.cache_clear()
    assert home_source.catalogue_digest() != before


def test_homes_are_as_ever_without_kinds_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NAVLOOM_CATALOGUE", raising=False)
    assert home_source.catalogue_digest() == ""
    assert "gonkbot" not in active_catalogue().entries


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("gonkbot.glb", "gonkbot.stl", r"gonkbot.mesh: gonkbot.stl: expected a name that ends in"),
        ("gonkbot.glb", "gone.glb", r"gonkbot.mesh: there is no .*gone.glb: expected a file"),
        (
            "kind: object, ",
            "",
            r"does not know 'gonkbot': say whether it is furniture, `kind: asset`",
        ),
        ("object", "thing", "gonkbot: kind: Input should be"),
    ],
)
def test_a_wrong_kind_of_ones_own_is_one_line(own: Path, wrong: str, right: str, said: str) -> None:
    own.write_text(GONKBOT.replace(wrong, right), encoding="utf-8")
    (own.parent / "gonkbot.stl").touch()
    with pytest.raises(SceneError, match=said) as error:
        load_catalogue((own,))
    assert "\n" not in str(error.value)


def test_a_broken_mesh_is_named_where_it_is_drawn(own: Path) -> None:
    (own.parent / "gonkbot.glb").write_bytes(b"no mesh")
    item = Item(id="gonkbot_1", name="gonkbot", kind="object", position=(0, 0, 0), size=(1, 1, 1))
    with pytest.raises(SceneError, match=r"gonkbot\.glb") as error:
        item_parts(item)
    assert "\n" not in str(error.value)
