"""Which room lies across from which: on the other side of the passage that both open to."""

from __future__ import annotations

from navloom.scenes.distances import per_scene
from navloom.scenes.lexicon import room_types
from navloom.scenes.scene import Scene

_PASSAGE = "Hallway / Corridor"
_ASKEW = 0.95
"""How far aside a room may lie, as a share of how far across."""
_AS_GOOD = 0.1


def rooms_opposite(scene: Scene, region: str) -> list[str]:
    """The rooms across from one, the straightest first; of several only those as straight.

    Rooms of its own storey that it does not open to are looked at, by their middles, in the line
    of its door: across a passage where it opens to one, else across any room.

    Returns:
        Their ids; none where no room lies so.
    """
    beside = neighbours(scene, region)
    passages = [n for n in beside if _PASSAGE in room_types(scene.region_by_id[n].label)] or beside
    found = dict[str, float]()
    for passage in passages:
        for name in neighbours(scene, passage):
            if name == region or name in beside:
                continue
            askew = _askew(scene, region, passage, name)
            if askew is not None:
                found[name] = min(askew, found.get(name, askew))
    best = min(found.values(), default=0.0)
    return sorted((n for n in found if found[n] <= best + _AS_GOOD), key=lambda n: (found[n], n))


def neighbours(scene: Scene, region: str) -> list[str]:
    """The rooms that a room leads to."""
    graph = per_scene(scene, "chat_region_graph", scene.region_graph)
    return sorted(graph[region]) if region in graph else []


def _askew(scene: Scene, region: str, passage: str, name: str) -> float | None:
    """How far aside a room lies beyond a passage; None where it does not lie beyond it."""
    here, between, there = (scene.region_by_id[each] for each in (region, passage, name))
    if not here.floor == between.floor == there.floor:
        return None
    doors = [link.point for link in scene.links if {link.a, link.b} == {region, passage}]
    door = next((point for point in doors if point is not None), between.center)
    aside, across = sorted((0, 2), key=lambda axis: abs(door[axis] - here.center[axis]))
    far = there.center[across] - here.center[across]
    if not far or not 0 < (door[across] - here.center[across]) / far < 1:
        return None
    askew = abs((there.center[aside] - here.center[aside]) / far)
    return askew if askew <= _ASKEW else None
