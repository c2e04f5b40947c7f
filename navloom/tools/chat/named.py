"""What to call a room or a thing so that nobody can take it for another: for clicks on a map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from navloom.errors import UsageError
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Scene
from navloom.tools.chat.places import places_named, room_name
from navloom.tools.chat.wishes import read_wish


def name_of(scene: Scene, place: str) -> str:
    """The words that mean this room or thing and no other, as in ``go to the kitchen``.

    Args:
        scene: the home.
        place: the id of a region or of an item.

    Returns:
        The plainest that do, such as ``the fridge``, ``the lamp in Bedroom 9``, ``chair 3``.

    Raises:
        UsageError: it has no such room or thing.
    """
    if place not in scene.region_by_id and place not in scene.item_by_id:
        raise UsageError(f"{scene.uri} has no room or thing '{place[:80]}'.")
    found: str = per_scene(scene, f"chat_name:{place}", lambda: _named(scene, place))
    return found


def _named(scene: Scene, place: str) -> str:
    names = [*_names(scene, place)]
    return next((name for name in names if _means(scene, name, place)), names[-1])


def _names(scene: Scene, place: str) -> Iterator[str]:
    """From the plainest one to the id in words."""
    item = scene.item_by_id.get(place)
    if item is None:
        yield f"the {room_name(scene, place)}"
    else:
        name = f"the {item.prompt_name.replace('_', ' ')[:60]}"
        # Most have a namesake: what must fail is not tried.
        if _alike(scene)[item.prompt_name, None] == 1:
            yield name
        if item.region is not None and _alike(scene)[item.prompt_name, item.region] == 1:
            yield f"{name} in the {room_name(scene, item.region)}"
            yield f"{name} in {_in_words(item.region)}"
    yield _in_words(place)
    yield place


def _alike(scene: Scene) -> Counter[tuple[str, str | None]]:
    """How many things have a name, in all (None) and by room."""
    return per_scene(
        scene,
        "chat_namesakes",
        lambda: Counter(
            (item.prompt_name, region)
            for item in scene.items
            for region in dict.fromkeys((None, item.region))
        ),
    )


def _in_words(place: str) -> str:
    return place.replace("_", " ")


def _means(scene: Scene, name: str, place: str) -> bool:
    wish = read_wish(name)
    if not wish.head or wish.other or wish.nearest or wish.farthest or wish.storey or wish.size:
        return False
    here = scene.viewpoints[0].id
    return {each.id for each in places_named(scene, here, wish)} == {place}
