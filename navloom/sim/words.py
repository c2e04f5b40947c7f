"""Words about places: untrusted ones made plain and short, and our own put together.

``ComposedCaptions`` describes any scene from its regions, links and items; no model is asked. From
a viewpoint one is told of what is in its own region, and of the openings, doors and stairs that
lead out of it. What stands in other regions is told of the way that leads there. Positions are
compared on the ground plane, since heights are not always known; what belongs to no region is told
of where it is within 3 m on the same storey. Structure (walls, beams) is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from navloom.scenes.distances import elevation_to, heading_to, per_scene, sector_of, up_or_down
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
from navloom.sim.protocol import (
    MOST_CAPTION,
    MOST_DESCRIPTION,
    MOST_SUMMARY,
    NEAR_M,
    Captions,
    SeenObject,
)

_OPENERS = re.compile(
    r"(?:(?:the|this|a) )?(?:scene|image|picture|photo|video)s? "
    r"(?:depicts|depicting|shows|showing|features|featuring|includes|including|consists of|contains"
    r"|containing|is of|of|with) "
    r"|there (?:is|are) |(?:a|the) (?:close-up )?view of |(?:a )?series of "
)
_VOWELS = "aeio"


def one_line(text: str, most: int) -> str:
    """An untrusted text on one line without control characters, cut at a word where it is long.

    Args:
        text: what somebody wrote.
        most: the most characters it may have, at least 4.
    """
    # Far more is dropped before the words are looked at, so that enormous texts cost nothing.
    words = "".join(c if c.isprintable() else " " for c in text[: most * 4]).split()
    plain = " ".join(words)
    if len(plain) <= most:
        return plain
    cut = plain[: most - 3]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(" ,;:.-") + "..."


def briefly(caption: str, most: int) -> str:
    """A caption as an option shows it: without "The scene depicts", and no longer than ``most``.

    It is cut at the last comma that leaves at least half of it, else at a word.

    >>> briefly("The scene depicts a bathroom with a tub, a sink, and a mirror.", 40)
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


def unique(words: Iterable[str], most: int) -> list[str]:
    """The first ``most`` different words, in their order."""
    return list(dict.fromkeys(words))[:most]


def enumerated(words: Sequence[str]) -> str:
    """Words in a row as one writes them: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def with_article(noun: str) -> str:
    """``an oven``, ``a table``; what looks like a plural stays as it is."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return f"{'an' if noun[:1].lower() in _VOWELS else 'a'} {noun}"


SECTOR_M = 8.0
"""How far a sector's caption reaches; a home's rooms are smaller."""
_STOREY_M = 2.0
_AT_LINK_M = 1.0
"""A viewpoint so near a door is the way to that door."""
_STEP_M = 0.5
_NOTHING = "nothing of note"
_NAMELESS = (UNKNOWN.casefold(), "other", "other room")


def composed(scene: Scene) -> ComposedCaptions:
    """The scene's own words, made once per scene."""
    return per_scene(scene, "composed_captions", lambda: ComposedCaptions(scene))


def label_words(region: Region) -> str:
    """A region's type as words in a sentence: lower case, letters and digits, ``/`` kept.

    >>> label_words(Region(id="Kitchen_1", label="Kitchen/Living_Room", center=(0, 0, 0)))
    'kitchen/living room'
    """
    if region.label.casefold() in _NAMELESS:
        return "room"
    return re.sub(r"[^0-9a-z/]+", " ", region.label.casefold())[:60].strip(" /") or "room"


class ComposedCaptions:
    """See the module's docstring; what was composed once is kept."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._links: dict[str, list[Link]] = {}
        for link in scene.links:
            self._links.setdefault(link.a, []).append(link)
            self._links.setdefault(link.b, []).append(link)
        self._homeless = [i for i in scene.items if i.region is None and i.kind != "structure"]
        self._at: dict[str, Captions] = {}
        self._towards: dict[tuple[str, str], str] = {}

    def at(self, viewpoint: str) -> Captions:
        """What lies around a viewpoint of the scene."""
        if viewpoint not in self._at:
            here = self._scene.viewpoint_by_id[viewpoint]
            items = self._around(here)
            self._at[viewpoint] = Captions(
                summary=one_line(self._summary(here, [item for _, item in items]), MOST_SUMMARY),
                sectors=self._sectors(here, items),
                objects=tuple(
                    SeenObject(_name(item), heading_to(here.position, item.position), metres)
                    for metres, item in items
                    if metres <= NEAR_M
                ),
                region=here.region,
            )
        return self._at[viewpoint]

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """Where a way leads: the region or the door one gets to, and what is there."""
        key = viewpoint, neighbour
        if key not in self._towards:
            places = self._scene.viewpoint_by_id
            text = self._way(places[viewpoint], places[neighbour])
            self._towards[key] = one_line(text, MOST_DESCRIPTION)
        return self._towards[key]

    def _around(self, here: Viewpoint) -> list[tuple[float, Item]]:
        """The items of its region, and what is near and of none, nearest first."""
        own = self._scene.items_in(here.region) if here.region is not None else ()
        floor = _floor(here)[1]
        near = [
            item
            for item in self._homeless
            if distance_2d(here.position, item.position) <= NEAR_M
            and (not item.height_known or -0.5 <= item.position[1] - floor <= _STOREY_M + 0.5)
        ]
        found = [
            (distance_2d(here.position, item.position), item)
            for item in [*own, *near]
            if item.kind != "structure"
        ]
        return sorted(found, key=lambda each: (each[0], each[1].id))

    def _sectors(self, here: Viewpoint, items: list[tuple[float, Item]]) -> tuple[str, ...]:
        things: list[list[str]] = [[] for _ in range(8)]
        ways: list[list[str]] = [[] for _ in range(8)]
        for metres, item in items:
            if metres <= SECTOR_M:
                sector = sector_of(heading_to(here.position, item.position))
                things[sector].append(with_article(_name(item)))
        for link in self._links.get(here.region or "", ()):
            beyond = link.b if link.a == here.region else link.a
            point = self._scene.region_by_id[beyond].center if link.point is None else link.point
            sector = sector_of(heading_to(here.position, point))
            ways[sector].append(self._link_words(link, here.region))
        return tuple(
            one_line(
                "; ".join([*([", ".join(unique(t, 5))] if t else []), *unique(w, 3)]) or _NOTHING,
                MOST_CAPTION,
            )
            for t, w in zip(things, ways, strict=True)
        )

    def _summary(self, here: Viewpoint, items: list[Item]) -> str:
        place = label_words(self._scene.region_by_id[here.region]) if here.region else "place"
        assets = [item for item in items if item.kind == "asset"]
        others = [item for item in items if item.kind == "object"]
        things = unique((with_article(_name(item)) for item in [*assets, *others]), 5)
        text = with_article(place) + (f" with {enumerated(things)}" if things else "")
        links = self._links.get(here.region or "", ())
        beyond = unique((f"the {self._beyond(link, here.region)}" for link in links), 6)
        on = f"; from here one gets to {enumerated(beyond)}" if beyond else ""
        return f"{text[0].upper()}{text[1:]}{on}."

    def _way(self, here: Viewpoint, there: Viewpoint) -> str:
        steep = up_or_down(elevation_to(here.position, there.position))
        steep = f" {steep}" if steep else ""
        things = [_name(item) for item in self._landmarks(here, there)]
        tail = f"; {', '.join(things)}" if things else ""
        if there.region is None:
            return f"leads{steep or ' on'}{tail}"
        room = label_words(self._scene.region_by_id[there.region])
        if there.region != here.region:
            return f"leads{steep} to {'another' if room == 'room' else 'the'} {room}{tail}"
        near = [
            (distance_3d(_floor(there), link.point), link)
            for link in self._links.get(there.region, ())
            if link.point is not None
        ]
        metres, door = min(near, key=lambda each: each[0], default=(math.inf, None))
        if door is not None and metres <= _AT_LINK_M:
            return f"leads{steep} to {with_article(self._link_words(door, there.region))}{tail}"
        return f"further{steep} in the {room}{tail}"

    def _landmarks(self, here: Viewpoint, there: Viewpoint) -> list[Item]:
        """What marks the end of a way: the assets and objects nearest to it, one of a name.

        Within a region that is what lies nearer to the end than to the start; elsewhere anything.
        """
        chosen: dict[str, Item] = {}
        for _, item in self._around(there):
            nearer = distance_2d(there.position, item.position) < distance_2d(
                here.position, item.position
            )
            if nearer or there.region != here.region:
                chosen.setdefault(_name(item), item)
        assets = [item for item in chosen.values() if item.kind == "asset"]
        others = [item for item in chosen.values() if item.kind == "object"]
        return [*assets, *others][:3]

    def _link_words(self, link: Link, region: str | None) -> str:
        """``door to the hallway``, ``closed door to the study``, ``stairs up to the landing``."""
        kind: str = link.kind
        if link.kind == "door" and link.door in ("closed", "locked"):
            kind = f"{link.door} door"
        if link.kind == "stairs":
            rise = link.step
            if rise is None:
                regions = self._scene.region_by_id
                rise = regions[link.b].center[1] - regions[link.a].center[1]
            rise = rise if link.a == region else -rise
            kind += " up" if rise > _STEP_M else " down" if rise < -_STEP_M else ""
        return f"{kind} to the {self._beyond(link, region)}"

    def _beyond(self, link: Link, region: str | None) -> str:
        return label_words(self._scene.region_by_id[link.b if link.a == region else link.a])


def _name(item: Item) -> str:
    return item.prompt_name.replace("_", " ")[:60]


def _floor(viewpoint: Viewpoint) -> Point3:
    x, y, z = viewpoint.position
    return x, y - viewpoint.eye_height, z
