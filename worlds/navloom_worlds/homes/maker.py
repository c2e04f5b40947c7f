"""A home from a seed: ``make_home(7)`` is the same scene on every machine.

A plan is drawn until it has no fault, and furnished until a person can walk through all of it; how
often either was drawn again is said in the scene's notes. A home that failed a check is never
returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from navloom.errors import SceneError
from navloom.scenes.floor_graph import BlockedError
from navloom.scenes.scene import Scene
from navloom_worlds.homes.assembly import assemble
from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.furnisher import Furnishing, furnish
from navloom_worlds.homes.home_names import home_name
from navloom_worlds.homes.home_spec import VERSION, HomeSpec
from navloom_worlds.homes.planner import plan_home

MOST_PLANS = 20
"""Plans that are furnished before a home is given up."""
_FURNISHINGS = 3
"""Ways to furnish that are tried on each plan."""


def make_home(seed: int, spec: HomeSpec | None = None) -> Scene:
    """Make a furnished home.

    Args:
        seed: another seed, another home.
        spec: what one wishes for; what it leaves open, the seed draws.

    Returns:
        A scene of source ``home``, whose id is :func:`~navloom_worlds.homes.home_names.home_name`.

    Raises:
        SceneError: no home can be as the wishes say, and why.
    """
    wishes = spec or HomeSpec()
    name = home_name(seed, wishes)
    reason = ""
    for drawn, tried in product(range(MOST_PLANS), range(_FURNISHINGS)):
        dice = Dice("home", VERSION, seed, drawn)
        if tried == 0:
            plan = plan_home(dice.split("plan"), wishes)
        inside = furnish(
            plan, dice.split("furnish", tried), style=wishes.style, clutter=wishes.clutter
        )
        again = plan.retries, drawn * _FURNISHINGS + tried
        try:
            return assemble(
                plan,
                inside.items,
                inside.relations,
                id=name,
                source="home",
                notes=tuple(_notes(inside, *again)),
            )
        except BlockedError as error:
            reason = str(error)
    raise SceneError(f"home:{name}: {MOST_PLANS} plans were furnished, and none held: {reason}")


def _notes(inside: Furnishing, plans: int, furnishings: int) -> Iterator[str]:
    yield f"Made by version {VERSION} of the homes: {inside.style}, {inside.clutter}."
    if plans or furnishings:
        yield (
            f"Plans drawn before one held: {plans}; furnishings that stood in the way:"
            f" {furnishings}."
        )
