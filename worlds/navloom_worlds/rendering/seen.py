"""Words from what is in sight: which things are visible, how large, where and how far.

Told is what takes up at least ``NOTICED`` of the sphere around the eye, the largest first: a sofa
at the other end of a room, no cup there. Things of the next room are told with the way through
which they are seen; a closed door hides them. Words are a function of the scene alone, whichever
backend an agent is in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from navloom.scenes.distances import heading_to, per_scene, turn_between
from navloom.scenes.scene import Link, Scene, Viewpoint, distance_2d
from navloom.sim.composer import Composer, Thing, item_words
from navloom.sim.protocol import MOST_DESCRIPTION
from navloom.sim.words import one_line
from navloom_worlds.geometry.owners import opening_owner
from navloom_worlds.rendering.sight import Sighting, eye_of, sight_of

NOTICED = 0.003
"""Steradians that a thing must take up to be told in a caption of a sector or of a way: 17 cm
square at 3 m, 35 cm square at 6 m. What is within 3 m is listed as near however small it is."""
_MOST_LANDMARKS = 3
_BY_M = 2.0
_ASIDE = math.radians(60)
"""What lies further aside than this from a way does not lie that way."""
_WIDE_M = 0.4
_SHUT = ("closed", "locked")


_SCENES_KEPT = 4
_kept: list[SeenCaptions] = []


def seen(scene: Scene) -> SeenCaptions:
    """The words from what is in sight, made once per scene.

    A scene that is loaded again is the same scene: the last few are known by what is in them.
    """
    return per_scene(scene, "seen_captions", lambda: _again(scene))


def _again(scene: Scene) -> SeenCaptions:
    for words in _kept:
        if words.scene == scene:
            _kept.remove(words)
            break
    else:
        words = SeenCaptions(scene)
    _kept.insert(0, words)
    del _kept[_SCENES_KEPT:]
    return words


class SeenCaptions(Composer):
    """See the module's docstring.

    Args:
        scene: with geometry; see :func:`navloom.sim.viewer.can_look`.
    """

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._next: dict[str, list[str]] = {}
        for edge in scene.edges:
            if edge.a != edge.b:
                self._next.setdefault(edge.a, []).append(edge.b)
                self._next.setdefault(edge.b, []).append(edge.a)
        self._things: dict[str, tuple[Thing, ...]] = {}
        self._marks: dict[str, dict[str, list[Thing]]] = {}

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """What is seen of a way: where it leads, and what is there; no two ways are told alike."""
        if (viewpoint, neighbour) not in self._towards:
            ways = sorted({*self._next.get(viewpoint, ()), neighbour})
            said = {each: super(SeenCaptions, self).towards(viewpoint, each) for each in ways}
            for each, text in self._apart(viewpoint, said).items():
                self._towards[viewpoint, each] = text
        return self._towards[viewpoint, neighbour]

    def _around(self, here: Viewpoint) -> Sequence[Thing]:
        if here.id not in self._things:
            found = (self._thing(here, each) for each in sight_of(self.scene, here.id).seen)
            self._things[here.id] = tuple(each for each in found if each is not None)
        return self._things[here.id]

    def _thing(self, here: Viewpoint, sighting: Sighting) -> Thing | None:
        scene = self.scene
        if 0 < sighting.owner <= len(scene.items):
            item = scene.items[sighting.owner - 1]
            if item.kind == "structure":
                return None
            thing = Thing(
                id=item.id,
                name=item_words(item),
                kind=item.kind,
                heading=sighting.heading,
                metres=distance_2d(here.position, item.position),
                position=item.position,
                region=item.region,
                told=sighting.steradians >= NOTICED,
                left=sighting.left,
                right=sighting.right,
            )
        else:
            place = opening_owner(0) - sighting.owner
            if not 0 <= place < len(scene.openings):
                return None
            opening = scene.openings[place]
            thing = Thing(
                id=f"{opening.kind} {place}",
                name="window" if opening.kind == "window" else "door to the outside",
                kind="opening",
                heading=sighting.heading,
                metres=distance_2d(here.position, sighting.middle),
                position=sighting.middle,
                region=opening.region,
                told=sighting.steradians >= NOTICED,
                left=sighting.left,
                right=sighting.right,
            )
        if thing.region is None or here.region in (None, thing.region):
            return thing
        through = self._through(here, sighting, thing.region)
        if through is None or through.door in _SHUT:
            return None
        return replace(thing, through=through)

    def _through(self, here: Viewpoint, sighting: Sighting, region: str) -> Link | None:
        """The way out of the own region that a thing of another one is seen through.

        One that leads to its region wins, else the one that is nearest to the line of sight.
        """
        best: tuple[bool, float] | None = None
        found = None
        for link in self._links.get(here.region or "", ()):
            if link.point is None:
                continue
            off = _off_line(eye_of(here), sighting.middle, link.point)
            if off > (link.width or 1.0) / 2 + _WIDE_M:
                continue
            rank = (region not in (link.a, link.b), off)
            if best is None or rank < best:
                best, found = rank, link
        return found

    def _foremost(self, things: Sequence[Thing]) -> Iterable[Thing]:
        return [each for each in things if each.told]

    def _ways_out(self, here: Viewpoint) -> Sequence[Link]:
        """Doors and openings in sight; stairs and lifts fill the region that they lead out of."""
        in_sight = {id(self.scene.links[k]) for k in sight_of(self.scene, here.id).links}
        return [
            link
            for link in self._links.get(here.region or "", ())
            if link.point is None or link.kind not in ("door", "opening") or id(link) in in_sight
        ]

    def _landmarks(self, here: Viewpoint, there: Viewpoint) -> Sequence[str]:
        if here.id not in self._marks:
            self._marks[here.id] = self._marked(here)
        marks = self._marks[here.id].get(there.id, [])
        return list(dict.fromkeys(each.name for each in marks))[:_MOST_LANDMARKS]

    def _way(self, here: Viewpoint, there: Viewpoint) -> str:
        """The way, and, where nothing is told of it, what it goes by or which way out is ahead."""
        text = super()._way(here, there)
        if there.region is None or self._landmarks(here, there):
            return text
        if there.region == here.region:
            return text + self._on_to(here, there)
        by = [
            (distance_2d(there.position, each.position), each.id, each.name)
            for each in self._around(here)
            if each.told and each.region == here.region and _lies_ahead(here, there, each.heading)
        ]
        metres, _, name = min(by, default=(math.inf, "", ""))
        return f"{text}, by the {name}" if metres <= _BY_M else text

    def _on_to(self, here: Viewpoint, there: Viewpoint) -> str:
        """``, towards the study``: the way out nearest to the end of a way within a room."""
        ahead = [
            (distance_2d(there.position, link.point), self._beyond(link, here.region))
            for link in self._ways_out(here)
            if link.point is not None
            and distance_2d(there.position, link.point) < distance_2d(here.position, link.point)
            and _lies_ahead(here, there, heading_to(here.position, link.point))
        ]
        if not ahead or not self._lead(here, there).startswith("further"):
            return ""
        return f", towards the {min(ahead)[1]}"

    def _marked(self, here: Viewpoint) -> dict[str, list[Thing]]:
        """What is told of each way on: each thing goes with the way that ends nearest to it.

        A way that no thing is left for shares those of others that lie its way, nearest first.
        """
        places = self.scene.viewpoint_by_id
        ends = [places[each] for each in sorted(set(self._next.get(here.id, ())))]
        told = [each for each in self._around(here) if each.told]
        own: dict[str, list[Thing]] = {each.id: [] for each in ends}
        shared: dict[str, list[tuple[float, Thing]]] = {each.id: [] for each in ends}
        for thing in told:
            fit = [
                (distance_2d(end.position, thing.position), end.id)
                for end in ends
                if _lies_that_way(here, end, thing)
            ]
            for metres, end in fit:
                shared[end].append((metres, thing))
            if fit:
                own[min(fit)[1]].append(thing)
        return {
            end: own[end] or [each for _, each in sorted(shared[end], key=lambda s: s[0])]
            for end in own
        }

    def _apart(self, viewpoint: str, said: dict[str, str]) -> dict[str, str]:
        """The words of each way; those in the same words say how far or whereto they go."""
        here = self.scene.viewpoint_by_id[viewpoint]
        alike: dict[str, list[str]] = {}
        for each, text in said.items():
            alike.setdefault(text, []).append(each)
        apart = dict(said)
        for text, ways in alike.items():
            if len(ways) == 1:
                continue
            ends = [self.scene.viewpoint_by_id[each] for each in ways]
            metres = [f"{math.dist(here.position, e.position):.1f} m on" for e in ends]
            degrees = [
                f"at {math.degrees(heading_to(here.position, e.position)):.0f} degrees of the map"
                for e in ends
            ]
            tails = next(
                (tail for tail in (metres, degrees) if len(set(tail)) == len(ways)),
                [f"{a}, {b}" for a, b in zip(metres, degrees, strict=True)],
            )
            for each, tail in zip(ways, tails, strict=True):
                room = MOST_DESCRIPTION - len(tail) - 2
                apart[each] = f"{one_line(text, room)}, {tail}"
        return apart


def _lies_that_way(here: Viewpoint, end: Viewpoint, thing: Thing) -> bool:
    if end.region is not None and end.region != here.region:
        return thing.region == end.region
    if thing.region is not None and end.region is not None and thing.region != end.region:
        return False
    if distance_2d(end.position, thing.position) >= thing.metres:
        return False
    return _lies_ahead(here, end, thing.heading)


def _lies_ahead(here: Viewpoint, end: Viewpoint, heading: float) -> bool:
    return abs(turn_between(heading_to(here.position, end.position), heading)) <= _ASIDE


def _off_line(
    eye: tuple[float, float, float],
    seen_at: tuple[float, float, float],
    point: tuple[float, float, float],
) -> float:
    """Metres on the ground plane from a point to the line from an eye to what it sees."""
    ax, az = seen_at[0] - eye[0], seen_at[2] - eye[2]
    bx, bz = point[0] - eye[0], point[2] - eye[2]
    square = ax * ax + az * az
    part = min(1.0, max(0.0, (ax * bx + az * bz) / square)) if square else 0.0
    return math.hypot(bx - part * ax, bz - part * az)
