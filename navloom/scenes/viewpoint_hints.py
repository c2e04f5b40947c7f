"""Suggestions for error messages about a viewpoint name that a scene does not have."""

from __future__ import annotations

from difflib import get_close_matches

from navloom.errors import did_you_mean
from navloom.scenes.scene import Scene

_MOST_ROOMS = 6


def viewpoint_hint(scene: Scene, name: str) -> str:
    """Return the tail of an error message that suggests existing viewpoints.

    It names viewpoints with a similar name, else those of rooms with a similar name, else one
    viewpoint of each of a few rooms.
    """
    name = str(name)[:100]
    if near := did_you_mean(name, scene.viewpoint_by_id):
        return near
    rooms = {room: spots[0].id for room, spots in scene.viewpoints_by_region.items() if room}
    said = {
        word.replace(" ", "_").casefold(): region.id
        for region in reversed(scene.regions)
        if region.id in rooms
        for word in (region.id, region.label)
    }
    asked = name.replace(" ", "_").casefold()
    close = [said[word] for word in get_close_matches(asked, said, n=_MOST_ROOMS, cutoff=0.7)]
    shown = list(dict.fromkeys(close)) or list(rooms)[:_MOST_ROOMS]
    if not shown:
        return f" They are such as '{min(scene.viewpoint_by_id)}'." if scene.viewpoints else ""
    more = " and more" if not close and len(rooms) > len(shown) else ""
    named = ", ".join(f"'{rooms[room]}' in {room}" for room in shown)
    return f" There is {named}{more}."
