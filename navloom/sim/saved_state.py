"""A simulator's state as JSON, and what it must keep to when it is read again.

Numbers are written so that they are read back to the last bit. Of the scene there is a hash, and
what sets the changed copy in its place apart (:mod:`navloom.scenes.difference`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from navloom.errors import SceneError, SimulatorError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.checked_files import first_problem, short
from navloom.scenes.difference import difference, scene_hash, with_difference
from navloom.scenes.scene import Scene

_FORM = ConfigDict(extra="forbid", frozen=True)
_Metres = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
_Radians = Annotated[float, Field(ge=-7.0, le=7.0, allow_inf_nan=False)]
_Text = Annotated[str, Field(min_length=1, max_length=200)]
_Place = tuple[_Metres, _Metres, _Metres]


class SavedContact(BaseModel):
    """What was touched during the last action."""

    model_config = _FORM

    what: _Text
    displacement: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
    point: _Place


class SavedAgent(BaseModel):
    """One agent: where it is, whose body it has, and what it came to."""

    model_config = _FORM

    name: Annotated[str, Field(max_length=1_000)]
    position: _Place
    heading: _Radians
    elevation: _Radians
    viewpoint: _Text | None
    body: Embodiment
    stopped: bool = False
    collision: bool = False
    contacts: Annotated[tuple[SavedContact, ...], Field(max_length=10_000)] = ()


class SavedState(BaseModel):
    """All that a simulator holds besides the scene that it was made of."""

    model_config = _FORM

    version: Literal["navloom.state/1"]
    scene: _Text
    scene_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    agents: Annotated[tuple[SavedAgent, ...], Field(min_length=1, max_length=10_000)]
    """In the order in which they were put into the scene."""
    changed: Annotated[dict[str, Any], Field(max_length=100)] | None = None


def written(made_of: Scene, scene: Scene, agents: Iterable[SavedAgent]) -> dict[str, Any]:
    """A state as JSON.

    Args:
        made_of: the scene that the simulator was made of.
        scene: the one that there is, the same or a changed copy.
        agents: who is there.
    """
    return SavedState(
        version="navloom.state/1",
        scene=made_of.uri,
        scene_sha256=scene_hash(made_of),
        agents=tuple(agents),
        changed=None if scene is made_of else difference(made_of, scene),
    ).model_dump(mode="json")


def read(made_of: Scene, scene: Scene, state: Mapping[str, Any]) -> tuple[SavedState, Scene]:
    """What a state says, and the scene that it is of.

    Args:
        made_of: the scene that the simulator was made of.
        scene: the one that there is; it is given back where the state is of it.
        state: nobody vouches for it.

    Raises:
        SimulatorError: it is no state, or one of another scene.
    """
    where = f"a state of {made_of.uri}"
    try:
        saved = SavedState.model_validate(state)
    except ValidationError as error:
        raise SimulatorError(f"{where}: {first_problem(error)}.") from error
    if (saved.scene, saved.scene_sha256) != (made_of.uri, scene_hash(made_of)):
        other = "an older or a changed one" if saved.scene == made_of.uri else short(saved.scene)
        raise SimulatorError(
            f"{where}: expected one of this very scene, found one of {other}: make the simulator of"
            " the scene that the state's was made of."
        )
    names = [agent.name for agent in saved.agents]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SimulatorError(f"{where}: agents: {short(twice)} is named twice; names are unique.")
    if saved.changed is None:
        return saved, made_of
    try:
        changed = with_difference(made_of, saved.changed)
    except SceneError as error:
        raise SimulatorError(f"{where}: changed: {error}") from error
    return saved, scene if changed == scene else changed
