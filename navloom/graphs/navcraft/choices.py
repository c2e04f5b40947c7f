"""Small choices instead of whole answers in the NavCraft graphs (``Context.compact``).

For models too small to write the whole answer (CoNavBench 3.1). The model still makes every choice:
object, start, end, asset, helper, handoff, type. Paths, sentences and lists are filled in here. An
item is named with its room, ``cup in Kitchen_4``, so that one name can be wrong in one way only.

The nodes stay the same. Only prompts, schemas and parsing differ. A choice of something that does
not exist is sent back like any wrong answer. A full set of choices becomes the paper's answer,
which is then checked like any other. This module holds what both conversations share; the questions
are those of :mod:`navloom.graphs.navcraft.errand_choices` and
:mod:`navloom.graphs.navcraft.collab`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from navloom.graphs.agent_graph import Growing, ModelLike, SceneLike
from navloom.graphs.tool_loop import ToolLoopState, TurnLimits, rejection_update
from navloom.models.structured_output import takes_schema
from navloom.scenes.distances import cached_on_scene
from navloom.scenes.lexicon import is_surface, item_names, scene_json
from navloom.scenes.scene import ItemKind, Scene
from navloom.tools.model_output import Violation
from navloom.tools.navcraft.relay_task import can_hold

MOST_A_ROOM = 6
"""Most names of each kind that are shown of a room."""
LONGEST_NAME = 100
"""Most characters of an item and its room where the schema does not list them. Without a limit a
small model may never close the quotation marks."""
Update = dict[str, Any]
"""State update that a node returns when the answer is not complete yet."""


class ChoiceState(ToolLoopState, total=False):
    """State of a graph that may ask for small choices."""

    refused: Growing[str]
    """With ``compact``: names that were rejected."""
    settled: int
    """Number of messages that are not shown again: their questions have been answered."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceSettings(TurnLimits):
    """Settings of how a small model is helped; each is an arm of the ablation."""

    scene: SceneLike
    """The home, or its URI."""
    model: ModelLike = "builtin/heuristic"
    """The generator, or its ``provider/name``."""
    tau: int = 2
    """Hop threshold of 3.1.2: a leg has at least ``max(2, tau)`` hops."""
    constrain: bool = True
    """Enforce the answer's schema, where the model's backend can."""
    tools: Literal["check", "library", "none"] = "check"
    """Tools to check a whole answer with before it is given: the two checks, for relays the
    efficiency library as well (:mod:`navloom_worlds.teams.efficiency_library`), or none. Without
    tools the answer must meet the same rules, and is sent back with the errors that the tools would
    have reported."""
    hold_names: bool = True
    """With ``constrain`` and ``compact``: the schema lists the names that exist."""
    compact: bool = False
    """Show the home in one line a room, and ask for small choices; the rest is filled in."""
    whole_scene: bool = False
    """With ``compact``: show the home's JSON, as the paper does, instead of a line a room."""
    show_adjacency: bool = True
    """With ``compact``: state adjacency, rooms that are far enough, and distances."""
    choices: Literal["ranked", "blind"] = "ranked"
    """With ``compact``: handoffs as the tool ranks them, by number with robot_1's metres, the
    shortest first; or a blind list: some valid handoffs, by name, in the seed's order."""
    weigh: bool = True
    """With ``compact``: ask for each piece of furniture whether the object goes on or in it, before
    one is chosen; up to six small calls for each errand."""
    recommend: bool = False
    """With ``compact``: name a good choice, which is then the planner's, not the model's."""

    @property
    def lists_names(self) -> bool:
        """True if a schema of choices lists the names that exist."""
        return self.constrain and self.hold_names

    @property
    def enforces_names(self) -> bool:
        """True if the backend enforces the schema's names; then the prompt need not list them."""
        return self.lists_names and takes_schema(self.model)


def prompt_suffix(compact: bool, tools: str) -> str:
    """Return the suffix of the prompt's name for small choices, or for answers without tools."""
    if compact:
        return "_choices"
    return "_untooled" if tools == "none" else ""


class NamedItem(NamedTuple):
    """Name of an object or asset, with its room."""

    name: str
    region: str

    def __str__(self) -> str:
        return f"{self.name} in {self.region}"


def list_choosable(scene: Scene, kind: ItemKind, holding: str | None = None) -> list[NamedItem]:
    """List the items that may be chosen, at most ``MOST_A_ROOM`` names a room.

    Args:
        scene: the scene.
        kind: objects, or assets: those that can hold something, surfaces first.
        holding: the object that assets must hold.
    """
    found = []
    for region in scene.regions:
        names = item_names(scene, region.id, kind)
        if kind == "asset":
            names = [name for name in names if can_hold(name, holding)]
            names.sort(key=lambda name: not is_surface(name.replace("_", " ")))
        found += [NamedItem(name, region.id) for name in names[:MOST_A_ROOM]]
    return found


def scene_text(scene: Scene, settings: ChoiceSettings) -> str:
    """Return the home as text for prompts of small choices: JSON, a line a room, or room names.

    Where each choice has a list of valid names, more than the rooms' names only lengthens the
    prompt.
    """
    if settings.whole_scene:
        return scene_json(scene)
    if settings.show_adjacency:
        return f"Rooms: {', '.join(region.id for region in scene.regions)}."
    return compact_scene(scene)


@cached_on_scene
def compact_scene(scene: Scene) -> str:
    """Return the scene as one line a room: its furniture and objects."""
    shown = {kind: list_choosable(scene, kind) for kind in ("asset", "object")}
    lines = []
    for region in scene.regions:
        parts = [f"{region.id}:"]
        for words, kind in (("furniture", "asset"), ("objects", "object")):
            names = [thing.name for thing in shown[kind] if thing.region == region.id]
            if names:
                parts.append(f"{words} {', '.join(names)};")
        lines.append(" ".join(parts).rstrip(";"))
    return "\n".join(lines)


def choice_field(names: Sequence[Any], constrain: bool) -> dict[str, Any]:
    """Return the schema of one choice: an enumeration of the names, or any short text."""
    listed = [str(name) for name in names]
    if constrain and listed:
        return {"type": "string", "enum": listed}
    return {"type": "string", "maxLength": LONGEST_NAME}


def drop_refused(schema: dict[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """Remove rejected names from a schema, so that a failed choice is not made again."""
    refused = set(state.get("refused", []))
    for field in schema["properties"].values():
        left = [name for name in field.get("enum", []) if name not in refused]
        if left:
            field["enum"] = left
    return schema


def reject_choice(
    named: Any, code: str, fault: str, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    """Return the update that rejects a choice and removes its name from the list."""
    return {**rejection_update(state, [Violation(code, fault)], settings), "refused": [str(named)]}


def read_item(text: Any, scene: Scene, kind: ItemKind) -> NamedItem | str:
    """Return the item that a model named, or a sentence that says why there is none."""
    name, _, region = str(text).strip().rpartition(" in ")
    if region not in scene.region_by_id:
        return f"'{str(text)[:80]}' names no room of the home. Write it as [thing] in [room]."
    names = item_names(scene, region, kind)
    if name not in names:
        there = ", ".join(names[:MOST_A_ROOM]) or "none"
        return f"There is no {kind} '{name[:60]}' in {region}. There: {there}."
    return NamedItem(name, region)
