"""What a body touched, in words for whoever moves it and whoever reads of it."""

from __future__ import annotations

from collections.abc import Sequence

from navloom.scenes.scene import Scene
from navloom.sim.protocol import Contact
from navloom.sim.words import one_line

_MOST_NAMED = 3
_MOST_NAME = 60
_OWN = {"wall": "a wall", "step": "a step", "edge": "the edge of the floor"}


def bumped_into(contacts: Sequence[Contact], scene: Scene) -> str:
    """What contacts were with, each once, the farthest displacement first: ``a wall, the chair``.

    Args:
        contacts: of one move.
        scene: it has the names of things.

    Returns:
        "" where nothing was touched.
    """
    worst = sorted(contacts, key=lambda each: -each.displacement)
    named = list(dict.fromkeys(_name(each.what, scene) for each in worst))
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return ", ".join(named[:_MOST_NAMED]) + more


def told_of(bumped: str, *, missed: bool) -> str:
    """One line for the agent: what it bumped into, and whether it got there.

    Args:
        bumped: as :func:`bumped_into` has it.
        missed: whether it did not arrive.
    """
    if not missed:
        return f"You bumped into {bumped}"
    why = f": you bumped into {bumped}" if bumped else ""
    return f"You did not get there{why}"


def _name(what: str, scene: Scene) -> str:
    if what in scene.item_by_id:
        return f"the {one_line(scene.item_by_id[what].name, _MOST_NAME)}"
    return _OWN.get(what) or one_line(what, _MOST_NAME)
