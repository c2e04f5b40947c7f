"""Rule-based captions, composed from the items and links around a viewpoint without a model.

``CaptionComposer`` writes the sentences; subclasses supply the objects around a viewpoint.
``ComposedCaptions`` uses the scene's items and links, and
:class:`navloom_worlds.rendering.visible_captions.VisibleCaptions` uses what is visible.

``ComposedCaptions`` describes the items of the viewpoint's own region, and the openings, doors and
stairs that lead out of it. Items of other regions appear in the description of the candidate that
leads there. Positions are compared on the ground plane, since heights are not always known. Items
of no region are included within 3 m on the same storey. Structure (walls, beams) is left out.

Names from files are untrusted: :func:`one_line` and similar functions make them plain and short.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from navloom.scenes import distances
from navloom.scenes.scene import (
    UNKNOWN,
    Item,
    Link,
    Point3,
    Region,
    Scene,
    Viewpoint,
    distance_2d,
    distance_3d,
)
from navloom.sim import protocol

_OPENERS = re.compile(
    r"(?:(?:the|this|a) )?(?:scene|image|picture|photo|video)s? "
    r"(?:depicts|depicting|shows|showing|features|featuring|includes|including|consists of|contains"
    r"|containing|is of|of|with) "
    r"|there (?:is|are) |(?:a|the) (?:close-up )?view of |(?:a )?series of "
)
_VOWELS = "aeio"
_NAMELESS = (UNKNOWN.casefold(), "other", "other room")


def one_line(text: str, most: int) -> str:
    """Return an untrusted text on one line, without control characters, cut at a word if too long.

    Args:
        text: any text.
        most: maximum number of characters, at least 4.
    """
    # Most of a huge text is dropped before it is split, so that it costs little.
    words = "".join(c if c.isprintable() else " " for c in text[: most * 4]).split()
    plain = " ".join(words)
    if len(plain) <= most:
        return plain
    cut = plain[: most - 3]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(" ,;:.-") + "..."


def shorten_caption(caption: str, most: int) -> str:
    """Shorten a caption for a candidate: drop openers such as "The scene depicts", then cut it.

    It is cut at the last comma that leaves at least half of it, else at a word.

    >>> shorten_caption("The scene depicts a bathroom with a tub, a sink, and a mirror.", 40)
    'Bathroom with a tub, a sink'
    """
    text = one_line(caption, most * 4).rstrip(". ")
    folded = text.casefold()
    # Case folding may change a text's length ('ß'); then its opener is left alone.
    opener = _OPENERS.match(folded) if len(folded) == len(text) else None
    text = text[opener.end() :] if opener else text
    text = re.sub(r"^(?:an?|the) ", "", text, flags=re.IGNORECASE)
    if len(text) > most:
        head, comma, _ = text[: most + 1].rpartition(",")
        text = head if comma and len(head) >= most // 2 else one_line(text, most)
    return text[:1].upper() + text[1:]


def first_unique(words: Iterable[str], most: int) -> list[str]:
    """Return the first ``most`` distinct words, in their order."""
    return list(dict.fromkeys(words))[:most]


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def with_article(noun: str) -> str:
    """Add an article, as in ``an oven`` or ``a table``; apparent plurals stay as they are."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return f"{'an' if noun[:1].lower() in _VOWELS else 'a'} {noun}"


def label_phrase(region: Region) -> str:
    """Return a region's type for a sentence: lower case, letters and digits, ``/`` kept.

    >>> label_phrase(Region(id="Kitchen_1", label="Kitchen/Living_Room", center=(0, 0, 0)))
    'kitchen/living room'
    """
    if region.label.casefold() in _NAMELESS:
        return "room"
    return re.sub(r"[^0-9a-z/]+", " ", region.label.casefold())[:60].strip(" /") or "room"


SECTOR_M = 8.0
"""Range of a sector's caption without geometry; a home's rooms are smaller."""
_STOREY_M = 2.0
_AT_LINK_M = 1.0
"""Distance in metres within which a candidate is described as leading to a door."""
_STEP_M = 0.5
_NOTHING = "nothing of note"
_MOST_THINGS, _MOST_WAYS, _MOST_BEYOND = 5, 3, 3


@dataclass(frozen=True, slots=True)
class NearbyObject:
    """Object around a viewpoint.

    Attributes:
        id: the item's id, or another unique name.
        name: in words.
        kind: ``asset``, ``object``, or ``opening`` for a window or a door that leads out.
        heading: direction to it, radians.
        metres: to its centre on the ground plane.
        position: that centre.
        region: its region, if it is in one.
        told: whether captions of sectors and candidates mention it; else it is only listed as near.
        left: radians that it extends to the left of its heading, if known.
        right: radians to the right.
        through: the link out of the viewpoint's region through which it is seen, if it is in
            another region.
    """

    id: str
    name: str
    kind: str
    heading: float
    metres: float
    position: Point3
    region: str | None
    told: bool = True
    left: float = 0.0
    right: float = 0.0
    through: Link | None = None

    @property
    def sectors(self) -> list[int]:
        """Sector of its heading, then the sectors whose centre it covers."""
        own = distances.sector_of(self.heading)
        if self.left + self.right > math.pi:
            return [own]
        turns = (
            (k, distances.turn_between(self.heading, k * distances.SECTOR_RAD))
            for k in range(8)
            if k != own
        )
        return [own, *(k for k, turn in turns if -self.left <= turn <= self.right)]


class CaptionComposer(ABC):
    """Base class of rule-based captions (see the module's docstring); results are cached.

    Args:
        scene: the scene whose viewpoints are described.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._links: dict[str, list[Link]] = {}
        for link in scene.links:
            self._links.setdefault(link.a, []).append(link)
            self._links.setdefault(link.b, []).append(link)
        self._at: dict[str, protocol.Captions] = {}
        self._towards: dict[tuple[str, str], str] = {}

    def at(self, viewpoint: str) -> protocol.Captions:
        """Return captions of the surroundings of a viewpoint."""
        if viewpoint not in self._at:
            here = self.scene.viewpoint_by_id[viewpoint]
            things = self._around(here)
            near = [t for t in things if t.kind != "opening" and t.metres <= protocol.NEAR_M]
            self._at[viewpoint] = protocol.Captions(
                summary=one_line(self._summary(here, things), protocol.MOST_SUMMARY),
                sectors=self._sectors(here, things),
                objects=tuple(
                    protocol.SeenObject(each.name, each.heading, each.metres)
                    for each in sorted(near, key=lambda each: (each.metres, each.id))
                ),
                region=here.region,
            )
        return self._at[viewpoint]

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """Describe a candidate: the region or the door it leads to, and the objects there."""
        key = viewpoint, neighbour
        if key not in self._towards:
            places = self.scene.viewpoint_by_id
            text = self._way(places[viewpoint], places[neighbour])
            self._towards[key] = one_line(text, protocol.MOST_DESCRIPTION)
        return self._towards[key]

    @abstractmethod
    def _around(self, here: Viewpoint) -> Sequence[NearbyObject]:
        """Return the objects around a viewpoint in all directions, as one sorted sequence.

        They are nearest first in captions from the scene graph, and largest first in captions of
        what is visible. The caption of each sector of 45 degrees lists its objects in this order.
        """

    @abstractmethod
    def _foremost(self, things: Sequence[NearbyObject]) -> Iterable[NearbyObject]:
        """Return the objects of the own region, in the order in which a summary names them."""

    @abstractmethod
    def _ways_out(self, here: Viewpoint) -> Sequence[Link]:
        """Return the links of the viewpoint's region that captions mention."""

    @abstractmethod
    def _landmarks(self, here: Viewpoint, there: Viewpoint) -> Sequence[str]:
        """Return at most three names of objects at the end of an edge."""

    def _sectors(self, here: Viewpoint, around: Sequence[NearbyObject]) -> tuple[str, ...]:
        things: list[list[str]] = [[] for _ in range(8)]
        wide: list[list[str]] = [[] for _ in range(8)]
        ways: list[list[str]] = [[] for _ in range(8)]
        beyond: dict[Link | None, list[NearbyObject]] = {}
        for each in around:
            if not each.told:
                continue
            if _is_here(each, here):
                own, *more = each.sectors
                things[own].append(with_article(each.name))
                for sector in more:
                    wide[sector].append(with_article(each.name))
            else:
                beyond.setdefault(each.through, []).append(each)
        for link in self._ways_out(here):
            other = link.b if link.a == here.region else link.a
            point = self.scene.region_by_id[other].center if link.point is None else link.point
            ways[distances.sector_of(distances.heading_to(here.position, point))].append(
                self._link_words(link, here.region) + _beyond_it(beyond.get(link, ()))
            )
        return tuple(
            one_line(
                "; ".join(
                    [
                        *([", ".join(first_unique([*t, *b], _MOST_THINGS))] if t or b else []),
                        *first_unique(w, _MOST_WAYS),
                    ]
                )
                or _NOTHING,
                protocol.MOST_CAPTION,
            )
            for t, b, w in zip(things, wide, ways, strict=True)
        )

    def _summary(self, here: Viewpoint, around: Sequence[NearbyObject]) -> str:
        place = label_phrase(self.scene.region_by_id[here.region]) if here.region else "place"
        own = [t for t in around if _is_here(t, here) and t.kind != "opening"]
        things = first_unique((with_article(e.name) for e in self._foremost(own)), _MOST_THINGS)
        text = with_article(place) + (f" with {join_words(things)}" if things else "")
        links = self._ways_out(here)
        beyond = first_unique((f"the {self._beyond(link, here.region)}" for link in links), 6)
        on = f"; from here one gets to {join_words(beyond)}" if beyond else ""
        return f"{text[0].upper()}{text[1:]}{on}."

    def _way(self, here: Viewpoint, there: Viewpoint) -> str:
        things = ", ".join(self._landmarks(here, there))
        return self._lead(here, there) + (f"; {things}" if things else "")

    def _lead(self, here: Viewpoint, there: Viewpoint) -> str:
        """Describe the region or the door that an edge leads to."""
        steep = distances.up_or_down(distances.elevation_to(here.position, there.position))
        steep = f" {steep}" if steep else ""
        if there.region is None:
            return f"leads{steep or ' on'}"
        room = label_phrase(self.scene.region_by_id[there.region])
        if there.region != here.region:
            return f"leads{steep} to {'another' if room == 'room' else 'the'} {room}"
        near = [
            (distance_3d(there.ground, link.point), link)
            for link in self._links.get(there.region, ())
            if link.point is not None
        ]
        metres, door = min(near, key=lambda each: each[0], default=(math.inf, None))
        if door is not None and metres <= _AT_LINK_M:
            return f"leads{steep} to {with_article(self._link_words(door, there.region))}"
        return f"further{steep} in the {room}"

    def _link_words(self, link: Link, region: str | None) -> str:
        """Return for example ``closed door to the study`` or ``stairs up to the landing``."""
        kind: str = link.kind
        if link.kind == "door" and link.door in ("closed", "locked"):
            kind = f"{link.door} door"
        if link.kind == "door" and link.door == "ajar":
            kind = "half-open door"
        if link.kind == "stairs":
            rise = link.step
            if rise is None:
                regions = self.scene.region_by_id
                rise = regions[link.b].center[1] - regions[link.a].center[1]
            rise = rise if link.a == region else -rise
            kind += " up" if rise > _STEP_M else " down" if rise < -_STEP_M else ""
        return f"{kind} to the {self._beyond(link, region)}"

    def _beyond(self, link: Link, region: str | None) -> str:
        return label_phrase(self.scene.region_by_id[link.b if link.a == region else link.a])


class ComposedCaptions(CaptionComposer):
    """Captions from the scene's regions, links and items; see the module's docstring.

    Args:
        scene: the scene whose viewpoints are described.
    """

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._homeless = [i for i in scene.items if i.region is None and i.kind != "structure"]

    def _around(self, here: Viewpoint) -> Sequence[NearbyObject]:
        """Return items of its region and near ones of no region, nearest first."""
        own = self.scene.items_in(here.region) if here.region is not None else ()
        floor = here.ground[1]
        near = [
            item
            for item in self._homeless
            if distance_2d(here.position, item.position) <= protocol.NEAR_M
            and (not item.height_known or -0.5 <= item.position[1] - floor <= _STOREY_M + 0.5)
        ]
        found = [_thing(here, item) for item in [*own, *near] if item.kind != "structure"]
        return sorted(found, key=lambda each: (each.metres, each.id))

    def _foremost(self, things: Sequence[NearbyObject]) -> Iterable[NearbyObject]:
        assets = [each for each in things if each.kind == "asset"]
        return [*assets, *(each for each in things if each.kind == "object")]

    def _ways_out(self, here: Viewpoint) -> Sequence[Link]:
        return self._links.get(here.region or "", ())

    def _landmarks(self, here: Viewpoint, there: Viewpoint) -> Sequence[str]:
        """Return the assets and objects nearest to the end, one of each name.

        Within a region these are the items nearer to the end than to the start; elsewhere any.
        """
        chosen: dict[str, NearbyObject] = {}
        for each in self._around(there):
            if there.region != here.region or each.metres < distance_2d(
                here.position, each.position
            ):
                chosen.setdefault(each.name, each)
        return [each.name for each in self._foremost([*chosen.values()])][:3]


composed = distances.cached_on_scene(ComposedCaptions)
"""Captions from regions, links and items only, made once per scene."""


def item_phrase(item: Item) -> str:
    """Return an item's name in words, bounded."""
    return item.prompt_name.replace("_", " ")[:60]


def _thing(here: Viewpoint, item: Item) -> NearbyObject:
    metres = distance_2d(here.position, item.position)
    return NearbyObject(
        id=item.id,
        name=item_phrase(item),
        kind=item.kind,
        heading=distances.heading_to(here.position, item.position),
        metres=metres,
        position=item.position,
        region=item.region,
        told=metres <= SECTOR_M,
    )


def _is_here(thing: NearbyObject, here: Viewpoint) -> bool:
    return thing.region is None or here.region is None or thing.region == here.region


def _beyond_it(things: Sequence[NearbyObject]) -> str:
    """Return for example ``, beyond it a fridge and an oven``."""
    said = first_unique((with_article(each.name) for each in things), _MOST_BEYOND)
    return f", beyond it {join_words(said)}" if said else ""
