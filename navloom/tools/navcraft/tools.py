"""The tools as a language model is given them: thin LangChain tools over the pure functions.

A factory closes over what does not change in a run (scene, tau, task), so a model fills in names
alone. With ``constrain`` the names there are stand in the argument schema as an enumeration, for
backends that hold a model to it; a name outside it still reaches the tool and is answered with near
matches, because a model can mend that and cannot mend a stack trace.
"""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field, WithJsonSchema, create_model

from navloom.scenes.scene import Scene
from navloom.tools.navcraft.paths import (
    check_path_and_adjacency,
    check_two_path_and_adjacency,
    least_hops,
)
from navloom.tools.navcraft.relay import COLLAB_TYPES, check_collab_path_efficient
from navloom.tools.navcraft.task import RelayTask

_PATH = """Say whether two regions are connected and adjacent, and give the shortest path.

Returns connect, adjacency, path_length (links crossed) and path (transitions "A_1 -> B_2")."""

_TWO_PATHS = """Validate the regions of a single-robot task: start, target and end.

Returns start_2_target and target_2_end (connect, adjacency, path_length, path), s2t_valid,
t2e_valid and valid. A leg is valid when it is connected and at least {least} links long."""

_RELAY = """Compare a relay of robot_1 and robot_2 with robot_1 doing the whole task alone.

Returns efficient, and r1_rate and g_rate: robot_1's walk and the time of both, as shares of
robot_1's own route (below 1 is a gain). An error says which rule is broken and what to change."""


def path_tools(scene: Scene, *, tau: int = 2, constrain: bool = True) -> list[BaseTool]:
    """``check_path_and_adjacency`` and ``check_two_path_and_adjacency`` over one scene.

    Args:
        scene: the scene to look in.
        tau: fewest hops of a leg.
        constrain: enumerate the region ids in the argument schema.
    """
    regions = [region.id for region in scene.regions] if constrain else None

    return [
        StructuredTool.from_function(
            lambda **asked: dict(check_two_path_and_adjacency(scene, **asked, tau=tau)),
            name="check_two_path_and_adjacency",
            description=_TWO_PATHS.format(least=least_hops(tau)),
            args_schema=_arguments(
                "two_paths",
                start_region=_name("Region robot_1 starts in.", regions),
                target_region=_name("Region that holds the object.", regions),
                end_region=_name("Region the object is delivered to.", regions),
            ),
        ),
        StructuredTool.from_function(
            lambda **asked: dict(check_path_and_adjacency(scene, **asked)),
            name="check_path_and_adjacency",
            description=_PATH,
            args_schema=_arguments(
                "one_path",
                region_a=_name("Region to start from.", regions),
                region_b=_name("Region to reach.", regions),
            ),
        ),
    ]


def relay_tools(task: RelayTask, *, strict: bool = False, constrain: bool = True) -> list[BaseTool]:
    """``check_collab_path_efficient`` over one single-robot task.

    Args:
        task: the task a relay would replace.
        strict: hold the helper to the stricter rule.
        constrain: enumerate region ids and asset names in the argument schema.
    """
    regions = [region.id for region in task.scene.regions] if constrain else None
    names = [name for region, name in task.transfers] if constrain else []

    return [
        StructuredTool.from_function(
            lambda **asked: check_collab_path_efficient(task, **asked, strict=strict),
            name="check_collab_path_efficient",
            description=_RELAY,
            args_schema=_arguments(
                "relay",
                robot_2_start_region=_name("Region robot_2 starts in.", regions),
                transfer_region=_name("Region where the object is handed over.", regions),
                transfer_asset=_name("Asset of that region to put it on.", [*dict.fromkeys(names)]),
                collab_type=_name(
                    "Type-A1: robot_2 fetches, robot_1 delivers. Type-A2: the other way round.",
                    list(COLLAB_TYPES),
                ),
            ),
        )
    ]


def _name(description: str, known: list[str] | None) -> tuple[Any, Any]:
    # A Literal would refuse an unknown name before the tool could answer it helpfully; and of a
    # field LangChain hands on only what stands in its annotation.
    held = Annotated[str, WithJsonSchema({"type": "string", "enum": [*known]})] if known else str
    return held, Field(description=description)


def _arguments(name: str, **fields: tuple[Any, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model(name, **fields)  # type: ignore[call-overload]
    return model
