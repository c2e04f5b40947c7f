"""Furniture catalogue: the kinds of items in generated homes, their sizes and placement rules.

The data are in ``catalogue_assets.yaml`` and ``catalogue_objects.yaml`` beside this file, whose
comments define each key. They were written by hand from common knowledge of homes. Loading rejects
errors in one line: an unknown key or word, a name that the lexicon classifies differently, an item
that no room, no wall and no furniture of the catalogue has a place for.

Files named by ``NAVLOOM_CATALOGUE`` add a user's own kinds of items, drawn from mesh files.
"""

from __future__ import annotations

import os
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.errors import SceneError, did_you_mean
from navloom.files import package_yaml
from navloom.scenes.lexicon import classify, room_types
from navloom.scenes.safe_files import MESH_ENDINGS, read_bytes, read_yaml, scene_errors
from navloom.scenes.scene import ItemKind
from navloom_worlds.homes.home_names import OWN

_MOST_BYTES, _MOST_MESH_BYTES = 500_000, 50_000_000

Shape = Literal[
    "appliance", "ball", "basket", "bathtub", "bed", "bench", "book", "bottle", "bowl", "box",
    "cabinet", "chair", "cloth", "counter", "curtain", "cushion", "cylinder", "desk", "hood",
    "instrument", "lamp", "machine", "mirror", "picture", "plant", "rack", "rug", "screen",
    "shelf", "shoe", "shower", "sink", "sofa", "stool", "stove", "table", "toilet", "tool", "toy",
    "vehicle",
]  # fmt: skip
"""Shapes from which meshes are built: a fixed vocabulary."""
Place = Literal[
    "wall", "corner", "middle", "window", "beside", "front", "facing", "around", "at", "upon",
    "hung", "ceiling", "curtain", "run", "floor", "under", "door",
]  # fmt: skip
"""Placement rule of an item; the catalogue's comments define each word."""
RoomKey = Literal[
    "bedroom", "bathroom", "toilet", "kitchen", "dining", "living", "office", "laundry", "closet",
    "hallway", "garage", "nursery", "balcony", "media", "gym", "library", "lounge", "pantry",
    "dressing", "entry", "stairs",
]  # fmt: skip
ROOM_KEYS: tuple[RoomKey, ...] = get_args(RoomKey)
_ROOMS = package_yaml("navloom_worlds.homes", "rooms.yaml")
_OF_TYPE: dict[str, RoomKey] = _ROOMS["keys"]
_OWN_WORDS: dict[str, tuple[RoomKey, ...]] = {
    word: tuple(keys) for word, keys in _ROOMS["own_words"].items()
}
"""Room kinds that the paper's types do not distinguish."""
ALONE: tuple[Place, ...] = (
    "wall", "corner", "middle", "window", "hung", "ceiling", "curtain", "run", "floor", "under",
    "door",
)  # fmt: skip
"""Placement rules that need no other item."""
CLASSES = (
    "wood", "metal", "fabric", "leather", "ceramic", "glass", "plastic", "stone", "paper", "green",
    "white goods", "wicker", "rubber", "steel", "food", "many", "screen", "art",
)  # fmt: skip
"""Material classes to which a style assigns materials and colours."""
_HIGHEST = 2300
"""mm: the lowest ceiling in any home."""

Mm = Annotated[int, Field(ge=0, le=6000)]
Span = Annotated[tuple[Mm, Mm], Field()]


class _CataloguePart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, value: Any) -> Any:
        if isinstance(value, dict):
            known = [f.alias or name for name, f in cls.model_fields.items()]
            for key in value:
                if key not in known and key not in cls.model_fields:
                    raise ValueError(f"unknown key {key!r}.{did_you_mean(str(key), known)}")
        return value


class ItemFrequency(_CataloguePart):
    """Frequency of an item: share of rooms with the item, and most in one room."""

    share: float = Field(gt=0, le=1)
    most: int = Field(default=1, ge=1, le=40)
    each: float = Field(default=0, ge=0, le=200)
    """Square metres of room for each further one; 0: the number is drawn at random."""


class HolderSurface(_CataloguePart):
    """Surface or inside of an item that holds objects."""

    at: float = Field(default=1.0, gt=0, le=1)
    """Height of the surface, as a share of the item's height."""
    levels: int = Field(default=0, ge=0, le=8)
    """Number of open shelves, one above the other; 0: a single surface."""
    rim: tuple[Mm, Mm, Mm] = (20, 20, 20)
    """Margin (free, or back and arms) at the sides, behind and in front, in mm."""
    room: Mm = 600
    """Maximum height of an object on it, in mm."""


class ItemSpec(_CataloguePart):
    """Kind of item in the catalogue; ``catalogue_assets.yaml`` defines each key."""

    name: str
    size: tuple[Span, Span, Span]
    shape: Shape
    made: tuple[str, ...]
    colours: tuple[str, ...] = ()
    mass: tuple[float, float]
    states: tuple[dict[str, float], ...] = ()
    rooms: dict[RoomKey, ItemFrequency] = Field(default_factory=dict)
    place: Place | None = None
    to: tuple[str, ...] = ()
    otherwise: Place | None = None
    prefer: Literal["any", "centre", "end"] = "any"
    clear: Mm = 0
    sides: Mm = 0
    gap: Mm = 0
    high: Span = (0, 0)
    turn: int = Field(default=5, ge=0, le=9)
    top: HolderSurface | None = None
    upon: dict[str, float] = Field(default_factory=dict)
    spot: Literal["any", "back", "front", "middle", "side", "head"] = "any"
    with_: tuple[str, ...] = Field(default=(), alias="with")
    clutter: bool = False
    seat: bool = False
    match: bool = False
    called: tuple[str, ...] = ()
    group: str = ""
    movable: bool | None = None
    mesh: Path | None = None
    """A .glb, .gltf or .obj file to draw it from, scaled to its size; its front is +z there."""
    said_kind: ItemKind | None = Field(default=None, alias="kind")

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        """Expand short forms: one number for a span of two, one word for a list of one."""
        if not isinstance(value, dict):
            return value
        value = dict(value)
        if isinstance(value.get("size"), list):
            value["size"] = [_pair(each) for each in value["size"]]
        for key in ("mass", "high"):
            if key in value:
                value[key] = _pair(value[key])
        for key in ("made", "colours", "to", "with", "called"):
            if isinstance(value.get(key), str):
                value[key] = [value[key]]
        if isinstance(value.get("states"), dict):
            value["states"] = [value["states"]]
        rooms = value.get("rooms")
        if isinstance(rooms, dict):
            for key in rooms:
                if key not in ROOM_KEYS:
                    raise ValueError(f"unknown room {key!r}.{did_you_mean(str(key), ROOM_KEYS)}")
            value["rooms"] = {key: _share(each) for key, each in rooms.items()}
        return value

    @model_validator(mode="after")
    def _makes_sense(self) -> ItemSpec:
        for low, high in (*self.size, self.mass, self.high):
            if low > high:
                raise ValueError(f"expected the smaller number first, found [{low}, {high}]")
        if min(low for low, _ in self.size) < 2:
            raise ValueError("size: expected at least 2 mm each way")
        for word in self.made:
            if word not in CLASSES:
                raise ValueError(f"made: unknown word {word!r}.{did_you_mean(word, CLASSES)}")
        if self.place is None and not self.upon:
            raise ValueError("expected `place` or `upon`: it says of no place where it stands")
        if self.place is not None and self.place not in ALONE and not self.to:
            raise ValueError(f"place: {self.place!r} needs `to`: what it stands by")
        return self

    @cached_property
    def kind(self) -> ItemKind:
        """Asset, object or structure, as the lexicon classifies the item's name."""
        return self.said_kind or classify(self.titles[0]) or "structure"

    @cached_property
    def tight(self) -> ItemSpec:
        """Copy for small rooms: less clearance in front, none at the sides."""
        return self.model_copy(update={"clear": self.clear * 6 // 10, "sides": 0})

    @property
    def titles(self) -> tuple[str, ...]:
        """Names that people use for the item; each home uses one of them."""
        return self.called or (self.name,)

    @property
    def carried(self) -> bool:
        """Return whether people carry the item around."""
        return self.movable if self.movable is not None else self.kind == "object"


def _pair(value: Any) -> Any:
    return [value, value] if isinstance(value, (int, float)) else value


def _share(value: Any) -> Any:
    if isinstance(value, (int, float)):
        return {"share": value}
    if isinstance(value, list) and 2 <= len(value) <= 3:
        return dict(zip(("share", "most", "each"), value, strict=False))
    return value


class Catalogue:
    """All catalogue entries by name, in the order of the files.

    Args:
        entries: by name.

    Raises:
        SceneError: the lexicon classifies a name differently from the file, an anchor is no entry,
            or an entry fits in no room.
    """

    def __init__(self, entries: dict[str, ItemSpec]) -> None:
        self.entries = entries
        by_turn = sorted(entries.values(), key=lambda a: a.turn)
        self.by_room: dict[RoomKey, tuple[ItemSpec, ...]] = {
            key: tuple(e for e in by_turn if e.place is not None and key in e.rooms)
            for key in ROOM_KEYS
        }
        """Entries with a placement rule in a room of this key, the most important first."""
        self.by_holder: dict[str, tuple[ItemSpec, ...]] = {
            name: tuple(e for e in by_turn if name in e.upon) for name in entries
        }
        """Entries that are put on or in an item of this name."""
        self.meshes = {title: a.mesh for a in entries.values() if a.mesh for title in a.titles}
        """Mesh files of entries that have one, by all their titles."""
        self._in_rooms: dict[tuple[RoomKey, ...], tuple[ItemSpec, ...]] = {}
        self._carried: dict[
            tuple[str, tuple[RoomKey, ...]], tuple[tuple[ItemSpec, float], ...]
        ] = {}
        for entry in by_turn:
            self._check(entry)

    def entries_for_room(self, keys: tuple[RoomKey, ...]) -> tuple[ItemSpec, ...]:
        """Return the entries to place in a room with all given keys, the most important first."""
        if keys not in self._in_rooms:
            entries = {entry.name: entry for key in keys for entry in self.by_room[key]}
            self._in_rooms[keys] = tuple(sorted(entries.values(), key=lambda each: each.turn))
        return self._in_rooms[keys]

    def entries_on_holder(
        self, holder: str, keys: tuple[RoomKey, ...]
    ) -> tuple[tuple[ItemSpec, float], ...]:
        """Return the entries to put on or in a holder, each with its mean number of items."""
        if (holder, keys) not in self._carried:
            shares = [
                (e, max((e.rooms[key].share for key in keys if key in e.rooms), default=0.0))
                for e in self.by_holder[holder]
            ]
            found = tuple((entry, entry.upon[holder] * share) for entry, share in shares if share)
            self._carried[holder, keys] = found
        return self._carried[holder, keys]

    def _check(self, entry: ItemSpec) -> None:
        for what, names in (("to", entry.to), ("upon", entry.upon), ("with", entry.with_)):
            for name in names:
                if name not in self.entries:
                    near = did_you_mean(name, self.entries)
                    raise SceneError(f"catalogue: {entry.name}.{what}: no entry {name!r}.{near}")
        for name in entry.upon:
            if self.entries[name].top is None:
                raise SceneError(
                    f"catalogue: {entry.name}.upon: nothing can be put on a {name}: "
                    f"expected a `top` of {name}, or another thing."
                )
        if not any(self._placeable(entry, key, ()) for key in ROOM_KEYS):
            raise SceneError(
                f"catalogue: {entry.name}: cannot be placed anywhere in any room: expected `rooms` "
                "with a `place` that fits there, or `upon` something that is large enough and in "
                "one of its rooms; change one of these."
            )

    def _placeable(self, entry: ItemSpec, key: RoomKey, seen: tuple[str, ...]) -> bool:
        """Check whether such a room can have an entry: alone, beside its anchor, or on a holder."""
        if key not in entry.rooms or entry.name in seen:
            return False
        seen = (*seen, entry.name)
        places = (entry.place, entry.otherwise)
        low = entry.high[0] + entry.size[1][0]
        if (
            low <= _HIGHEST
            and any(p in ALONE for p in places)
            and not (entry.place == "hung" and entry.to and entry.otherwise is None)
        ):
            return True
        for name in entry.to if entry.place is not None else ():
            other = self.entries[name]
            stands = entry.place != "upon" or _holds(other, entry)
            if stands and low <= _HIGHEST and self._placeable(other, key, seen):
                return True
        return any(
            _holds(self.entries[name], entry) and self._placeable(self.entries[name], key, seen)
            for name in entry.upon
        )


def _holds(holder: ItemSpec, entry: ItemSpec) -> bool:
    """Check whether the largest holder has room for the smallest item of an entry."""
    if holder.top is None:
        return False
    wide, high, deep = (most for _, most in holder.size)
    side, back, front = holder.top.rim
    room = (high // holder.top.levels - 40) if holder.top.levels else holder.top.room
    across = (wide - 2 * side, deep - back - front)
    w, h, d = (least for least, _ in entry.size)
    flat = (w <= across[0] and d <= across[1]) or (d <= across[0] and w <= across[1])
    return h <= room and flat


def room_keys(kind: str) -> tuple[RoomKey, ...]:
    """Return the furnishing keys of a room kind: several for an open plan, none for unknown kinds.

    >>> room_keys("kitchen/living room"), room_keys("wc"), room_keys("elevator")
    (('kitchen', 'living'), ('toilet',), ())
    """
    own = _OWN_WORDS.get(kind.casefold().strip())
    if own is not None:
        return own
    types = room_types(kind)
    return tuple(dict.fromkeys(_OF_TYPE[each] for each in _OF_TYPE if each in types))


_ENTRIES = TypeAdapter(dict[str, dict[str, Any]])


def load_catalogue(paths: tuple[Path, ...]) -> Catalogue:
    """Read and check a catalogue.

    Args:
        paths: YAML files of names and their keys; each name may occur only once in all of them.

    Raises:
        SceneError: one line: file, entry, the error and the expected value.
    """
    entries: dict[str, ItemSpec] = {}
    for path in paths:
        for name, raw in read_yaml(path, _ENTRIES, most=_MOST_BYTES).items():
            if name in entries:
                raise SceneError(f"{path}: {name}: stands twice.")
            with scene_errors(f"{path}: {name}"):
                entry = ItemSpec.model_validate({"name": name, **raw})
            entries[name] = entry.model_copy(update={"mesh": _mesh_of(entry, path)})
            kinds = {title: classify(title) for title in entry.titles}
            for title, kind in kinds.items():
                if kind is None and entry.said_kind is None:
                    raise SceneError(
                        f"{path}: {name}: lexicon.yaml does not know {title!r}: say whether it is"
                        " furniture, `kind: asset`, or portable, `kind: object`."
                    )
            if len(set(kinds.values())) > 1 and entry.said_kind is None:
                raise SceneError(f"{path}: {name}: expected names of one kind, found {kinds}.")
    return Catalogue(entries)


def _mesh_of(entry: ItemSpec, path: Path) -> Path | None:
    """Return an entry's mesh file; a relative path starts at the folder of the catalogue file."""
    if entry.mesh is None:
        return None
    mesh = path.parent / entry.mesh
    if mesh.suffix.casefold() not in MESH_ENDINGS:
        raise SceneError(
            f"{path}: {entry.name}.mesh: {mesh.name}: expected a name that ends in "
            f"{', '.join(MESH_ENDINGS)}."
        )
    if not mesh.is_file():
        raise SceneError(f"{path}: {entry.name}.mesh: there is no {mesh}: expected a file.")
    return mesh.absolute()


def active_catalogue() -> Catalogue:
    """Return the cached catalogue of the package and of the files in ``NAVLOOM_CATALOGUE``.

    Raises:
        SceneError: one of those files is invalid.
    """
    return _catalogue(os.environ.get(OWN, ""))


@lru_cache(maxsize=4)
def _catalogue(own: str) -> Catalogue:
    folder = Path(str(files("navloom_worlds.homes")))
    given = tuple(Path(each).expanduser() for each in own.split(os.pathsep) if each)
    return load_catalogue(
        (folder / "catalogue_assets.yaml", folder / "catalogue_objects.yaml", *given)
    )


@lru_cache(maxsize=4)
def files_digest(own: str) -> str:
    """Return the hash of everything that a user's files add to the catalogue, meshes included.

    Args:
        own: the value of ``NAVLOOM_CATALOGUE``; the hash of an empty value is empty.
    """
    if not own:
        return ""
    added = sha256()
    for each in (Path(name).expanduser() for name in own.split(os.pathsep) if name):
        added.update(read_bytes(each, most=_MOST_BYTES))
    for mesh in sorted(set(_catalogue(own).meshes.values())):
        added.update(read_bytes(mesh, most=_MOST_MESH_BYTES))
    return added.hexdigest()
