"""How the NavCraft graphs ask for small choices instead of whole answers (``Context.compact``).

For models too small to write the whole answer (CoNavBench 3.1). The model still makes every choice:
object, start, end, asset, helper, handoff, type; paths, sentences and lists are filled in here. A
thing is named with its room, ``cup in Kitchen_4``, so that one name can be wrong in one way.

The nodes stay the same: what is rendered, bound and read differs. A choice that names something
that is not there is sent back like any wrong answer; a full set of choices becomes the paper's
answer, which is then checked like anyone's. Here is what both conversations share; the questions
are those of :mod:`navloom.graphs.navcraft.errand_choices` and ``relay_choices``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from navloom.graphs.agent import Growing, ModelLike, SceneLike
from navloom.graphs.turns import TurnLimits, Turns, sent_back
from navloom.models.binding import takes_schema
from navloom.scenes.distances import kept_per_scene
from navloom.scenes.lexicon import is_surface, item_names, scene_json
from navloom.scenes.scene import ItemKind, Scene
from navloom.tools.forms import Violation
from navloom.tools.navcraft.task import can_hold

MOST_A_ROOM = 6
"""Names of each kind that are shown of a room."""
LONGEST_NAME = 100
"""Characters of a thing and its room where the schema does not list them: without a bound a small
model may never close the quotation marks."""
Update = dict[str, Any]
"""What a node returns: the answer is not there yet."""


class Choices(Turns, total=False):
    """What a graph that may ask for choices remembers."""

    refused: Growing[str]
    """With ``compact``: names that were sent back."""
    settled: int
    """Messages that are not shown again: they are of questions that have their answers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceSettings(TurnLimits):
    """The part of a context that says how a small model is helped; each an arm of the ablation."""

    scene: SceneLike
    """The home, or its URI."""
    model: ModelLike = "builtin/heuristic"
    """The generator, or its ``provider/name``."""
    tau: int = 2
    """Hop threshold of 3.1.2: a leg has at least ``max(2, tau)`` hops."""
    constrain: bool = True
    """Hold the model to the answer's schema, where its backend can."""
    tools: Literal["check", "library", "none"] = "check"
    """What a whole answer may be checked with before it is given: the tools, for relays the
    efficiency library as well (:mod:`navloom_worlds.teams.library`), or nothing. Without tools
    the answer is held to the same rules, and what they would have said is told back."""
    hold_names: bool = True
    """With ``constrain`` and ``compact``: the schema lists the names that exist."""
    compact: bool = False
    """Show the home in one line a room, and ask for choices; the rest is filled in."""
    whole_scene: bool = False
    """With ``compact``: show the home's JSON, as the paper does, instead of a line a room."""
    show_adjacency: bool = True
    """With ``compact``: say what is next to what, what is far enough, and how far places are."""
    choices: Literal["ranked", "blind"] = "ranked"
    """With ``compact``: ways as the tool ranks them, numbers with robot_1's metres, the shortest
    first; or a blind list: some handoffs that will do, by name, in the seed's order."""
    weigh: bool = True
    """With ``compact``: of each piece of furniture ask whether the object goes on or in it, before
    one is chosen; up to six small calls an errand."""
    recommend: bool = False
    """With ``compact``: name a good choice. Then it is the planner's, not the model's."""

    @property
    def lists_names(self) -> bool:
        """Whether a schema of choices lists the names that exist."""
        return self.constrain and self.hold_names

    @property
    def schema_holds(self) -> bool:
        """Whether the model can be held to those names, so that the prompt need not list them."""
        return self.lists_names and takes_schema(self.model)


def prompt_suffix(compact: bool, tools: str) -> str:
    """How the name of the prompt ends that asks for small choices, or for answers without tools."""
    if compact:
        return "_choices"
    return "_untooled" if tools == "none" else ""


class NamedThing(NamedTuple):
    """An object or asset by name, and its room."""

    name: str
    region: str

    def __str__(self) -> str:
        return f"{self.name} in {self.region}"


def things(scene: Scene, kind: ItemKind, holding: str | None = None) -> list[NamedThing]:
    """What may be chosen: at most ``MOST_A_ROOM`` names a room.

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
        found += [NamedThing(name, region.id) for name in names[:MOST_A_ROOM]]
    return found


def shown_scene(scene: Scene, settings: ChoiceSettings) -> str:
    """The home as the prompts of small choices show it: whole, one line a room, or rooms alone.

    Where each choice comes with a list of what will do, more than the rooms' names is only longer.
    """
    if settings.whole_scene:
        return scene_json(scene)
    if settings.show_adjacency:
        return f"Rooms: {', '.join(region.id for region in scene.regions)}."
    return compact_scene(scene)


@kept_per_scene
def compact_scene(scene: Scene) -> str:
    """The scene in one line a room: its furniture and objects."""
    shown = {kind: things(scene, kind) for kind in ("asset", "object")}
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
    """The schema of one choice: the names themselves, or any short text."""
    listed = [str(name) for name in names]
    if constrain and listed:
        return {"type": "string", "enum": listed}
    return {"type": "string", "maxLength": LONGEST_NAME}


def without_refused(schema: dict[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without names that were refused: a failing choice is not made again."""
    refused = set(state.get("refused", []))
    for field in schema["properties"].values():
        left = [name for name in field.get("enum", []) if name not in refused]
        if left:
            field["enum"] = left
    return schema


def refuse(
    named: Any, code: str, fault: str, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    """Send a choice back, and take the name off the list."""
    return {**sent_back(state, [Violation(code, fault)], settings), "refused": [str(named)]}


def read_thing(text: Any, scene: Scene, kind: ItemKind) -> NamedThing | str:
    """The thing a model named, or one sentence that says why there is none."""
    name, _, region = str(text).strip().rpartition(" in ")
    if region not in scene.region_by_id:
        return f"'{str(text)[:80]}' names no room of the home. Write it as [thing] in [room]."
    names = item_names(scene, region, kind)
    if name not in names:
        there = ", ".join(names[:MOST_A_ROOM]) or "none"
        return f"There is no {kind} '{name[:60]}' in {region}. There: {there}."
    return NamedThing(name, region)
