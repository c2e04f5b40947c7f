"""Team planner agent: assigns errands to robots and handoffs (CoNavBench 3.1.3, generalized).

Robots' starts and errands are sampled by the seed. The graph first tests whether any plan does all
errands. If none does, that is a result, not a failure. Otherwise the model proposes legs, calls
``check_team_plan``, and answers. The answer is checked by the same rules, and errors are returned
to the model. A claim that no plan exists is rejected if one does.

    START -> survey -> propose, consult, check (navloom.graphs.tool_loop) -> END
                |
           (no plan) -> END

With ``compact`` the model builds the plan in small choices, without tools: for one errand after the
other, it picks one of a few assignments. This is for models too small to write whole plans. An
assignment is one robot, or two and the handoff place. It is shown with the value of the plan so
far. Ranked assignments have only numbers, the lowest value first; a blind list names some feasible
ones, sampled and ordered by the seed. Only assignments that are feasible after the earlier choices
are offered. One after which the next errand is impossible is rejected, and not offered again. The
result is checked like any other plan.

See :mod:`navloom.graphs.navcraft.choices`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import permutations
from typing import Annotated, Any, Literal, NamedTuple

from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from navloom.errors import UsageError
from navloom.graphs.agent_graph import AgentGraph, Growing, ModelLike, SceneLike
from navloom.graphs.navcraft.choices import ChoiceState, Update, choice_field
from navloom.graphs.navcraft.single import errand_record
from navloom.graphs.tool_loop import (
    Conversation,
    ToolCallResult,
    TurnLimits,
    add_conversation,
    count_turns,
    executed_calls,
    failed_update,
    messages_of,
    rejection_update,
)
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt
from navloom.scenes.bodies import resolve_body
from navloom.scenes.distances import scene_cached
from navloom.scenes.lexicon import scene_json
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.tools.model_output import Violation, list_names, name_field, object_schema, quote
from navloom.tools.navcraft.relay_task import RelayTask
from navloom_worlds.teams import efficiency_library
from navloom_worlds.teams.efficiency_library import error_safe_tool
from navloom_worlds.teams.team_optimum import LEAST, TeamMeasure
from navloom_worlds.teams.team_plan import MOST_ERRANDS, MOST_ROBOTS, make_team, team_record
from navloom_worlds.teams.team_task import (
    NO_PLAN,
    PLAN,
    Assignment,
    TeamTask,
    assigned_legs,
    check_team_plan,
    draw_attempt,
    legs_schema,
    read_legs,
)

CHOICES_PROMPT = "navcraft_team_choices"
MOST_WAYS = 6
"""Most assignments shown of an errand."""
_LONGEST = 200
"""Most characters read of an assignment."""
_TEAM_CHOICES_MEASURES = {
    "makespan": ("when all is done", "soonest", "s"),
    "alpha": ("the metres that robot_1 walks", "shortest", "m"),
    "metres": ("the metres that all robots walk", "shortest", "m"),
    "longest": ("the metres of the robot that walks most", "shortest", "m"),
}
"""Text for a plan's measure, for a low value, and the unit."""


class _Worth(NamedTuple):
    """Assignment with the value of the plan so far."""

    value: float
    makespan_s: float
    way: Assignment


@dataclass(frozen=True)
class AssignmentOffer:
    """Assignments offered to a model for the next errand.

    Attributes:
        task: the team and its errands.
        picked: the assignments of the earlier errands.
        choices: ``ranked``, or ``blind`` for a random sample.
        seed: samples and orders a blind list.
        refused: assignments not offered again, as keys of :meth:`key`.
    """

    task: TeamTask
    picked: tuple[Assignment, ...]
    choices: Literal["ranked", "blind"]
    seed: int
    refused: tuple[str, ...] = ()

    @property
    def numbered(self) -> bool:
        """True if the model answers by number."""
        return self.choices == "ranked"

    @cached_property
    def errand(self) -> Mapping[str, str]:
        """Next errand: ``object`` and ``to``."""
        told: Mapping[str, str] = self.task.told()["errands"][len(self.picked)]
        return told

    @cached_property
    def ways(self) -> dict[str, _Worth]:
        """Offered assignments, by number or by text."""
        there = [each for each in self._all() if self.key(each.way) not in self.refused]
        if self.numbered:
            ranked = sorted(there, key=lambda each: each[:2])[:MOST_WAYS]
            return {str(number): each for number, each in enumerate(ranked, 1)}
        dice = random.Random(f"{self.seed}:{len(self.picked)}")
        return {str(each.way): each for each in dice.sample(there, min(MOST_WAYS, len(there)))}

    def key(self, way: Assignment) -> str:
        """Return a key for an assignment that follows the assignments of earlier errands."""
        return json.dumps([*self.picked, way])

    def _all(self) -> Iterator[_Worth]:
        """Yield each robot alone, and each pair with its best handoff, or with a random one."""
        names = [robot.name for robot in self.task.robots]
        dice = random.Random(f"{self.seed}:{len(self.picked)}:handoffs")
        for name in names:
            yield from self._worth(Assignment((name,)))
        for pair in permutations(names, 2):
            over = [*self._places]
            if not self.numbered:
                dice.shuffle(over)
            worth = (each for place in over for each in self._worth(Assignment(pair, place)))
            found = min(worth, default=None) if self.numbered else next(worth, None)
            if found is not None:
                yield found

    @cached_property
    def _so_far(self) -> TeamTask:
        """Task of the errands up to this one; robot_1 must carry only in the last (alpha)."""
        many, task = len(self.picked) + 1, self.task
        last = many == len(task.errands)
        by = "metres" if task.by == "alpha" and not last else task.by
        return replace(task, errands=task.errands[:many], by=by)

    @cached_property
    def _places(self) -> list[str]:
        ends = {self.errand["object"], self.errand["to"]}
        found = (self.task.name_of(x.node.removeprefix("item ")) for x in self._so_far.handoffs[-1])
        return [name for name in dict.fromkeys(found) if name not in ends]

    def _worth(self, way: Assignment) -> Iterator[_Worth]:
        """Yield the assignment with the plan's value so far; nothing if it is infeasible."""
        told = self.task.told()["errands"][: len(self.picked) + 1]
        found = check_team_plan(self._so_far, assigned_legs(told, [*self.picked, way]))
        if found["valid"]:
            alpha = self.task.by == "alpha"
            value = found["metres"][self.task.robots[0].name] if alpha else found["value"]
            yield _Worth(value, found["makespan_s"], way)

    def schema(self, *, constrain: bool) -> dict[str, Any]:
        """Return the schema of the answer: a number, or an assignment's text."""
        if self.numbered:
            held: dict[str, Any] = {"enum": [*map(int, self.ways)]} if constrain else {}
            return object_schema({"way": {"type": "integer", **held}}, "team_choice")
        return object_schema({"way": choice_field([*self.ways], constrain)}, "team_choice")


def assignment_prompt(
    offer: AssignmentOffer, *, constrain: bool
) -> tuple[RenderedPrompt, dict[str, Any]]:
    """Return the prompt for the next errand, and the schema of its answer."""
    measure, least, unit = _TEAM_CHOICES_MEASURES[offer.task.by]
    rendered = load_prompt(CHOICES_PROMPT).render(
        object=offer.errand["object"],
        end=offer.errand["to"],
        numbered=offer.numbered,
        ways="\n".join(f"{way}: {each.value:.1f} {unit}" for way, each in offer.ways.items()),
        measure=f"{measure} then",
        least=least,
    )
    return rendered, offer.schema(constrain=constrain)


def apply_assignment(
    answer: Mapping[str, Any], state: Mapping[str, Any], offer: AssignmentOffer, limits: TurnLimits
) -> tuple[list[dict[str, str]] | None, Update]:
    """Return the legs once every errand is assigned, else the next question or a rejection."""
    named = str(answer.get("way")).strip()[:_LONGEST]
    if named not in offer.ways:
        fault = f"There is no way {quote(named)}. Answer with one of: {list_names([*offer.ways])}."
        return None, rejection_update(state, [Violation("way_not_there", fault)], limits)
    way = offer.ways[named].way
    ways = (*offer.picked, way)
    errands = offer.task.told()["errands"]
    if len(ways) == len(errands):
        return assigned_legs(errands, ways), {}
    after = replace(offer, picked=ways)
    if after.ways:
        return None, {"settled": len(messages_of(state)), "picked": [[way.robots, way.over]]}
    fault = f"After that nobody can bring the {after.errand['object']} to the {after.errand['to']}."
    left = replace(offer, refused=(*offer.refused, offer.key(way)))
    if not left.ways:
        return None, failed_update("no_way_on", fault)
    back = rejection_update(state, [Violation("no_way_on", f"{fault} Choose another way.")], limits)
    return None, {**back, "refused": [offer.key(way)]}


PROMPT = "navcraft_team"
_PLAN_EXISTS = "plan_exists"
_KEPT = 16
_MEASURES = {
    "makespan": "time until all is done",
    "alpha": "way of robot_1",
    "metres": "way of all robots together",
    "longest": "way of the robot that walks most",
}


class Input(TypedDict):
    """Input of the graph."""

    seed: int
    """Seed of the robots' starts and the errands; goes into the prompt."""


class State(Input, ChoiceState, total=False):
    """State of a run.

    Its result is ``{"phase_1", "team", "verdict", "navloom"}``: robot_1's errand with the keys of
    A.10.1, the plan, and its quality; without ``team`` if no plan does all errands.
    """

    picked: Growing[list[Any]]
    """With ``compact``: the assignment of each errand, as its robots and the handoff place."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(TurnLimits):
    """Options that stay fixed during a run."""

    scene: SceneLike
    """The home, or its URI."""
    model: ModelLike = "builtin/heuristic"
    """The planner, or its ``provider/name``."""
    robots: int = 3
    """Number of robots."""
    errands: int = 2
    """Number of objects to be carried."""
    bodies: tuple[str, ...] = ()
    """Bodies of the robots in turn, by name or as ``FILE.json#NAME``; none: all pass everything."""
    max_metres: float | None = None
    """Most metres that a robot may travel."""
    by: TeamMeasure = "makespan"
    """Measure of a plan."""
    tools: Literal["check", "library", "none"] = "check"
    """``check_team_plan`` only; with reach and travel_time; or none."""
    tau: int = 2
    """Hop threshold of 3.1.2 for robot_1's first errand."""
    constrain: bool = True
    """Constrain decoding to the answer's schema, if the model's backend can."""
    compact: bool = False
    """Ask for one errand's assignment at a time; legs are derived, and no tools are offered."""
    choices: Literal["ranked", "blind"] = "ranked"
    """With ``compact``: numbered assignments, the lowest value first; or a blind list."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.robots <= MOST_ROBOTS:
            raise UsageError(f"A team has 1 to {MOST_ROBOTS} robots, not {self.robots}.")
        if not 1 <= self.errands <= MOST_ERRANDS:
            raise UsageError(f"A team has 1 to {MOST_ERRANDS} errands, not {self.errands}.")


def sample_team_task(
    scene: Scene,
    seed: int,
    *,
    robots: int,
    errands: int,
    bodies: tuple[str, ...] = (),
    max_metres: float | None = None,
    by: TeamMeasure = "makespan",
    tau: int = 2,
) -> TeamTask:
    """Return the team and errands sampled by a seed; arguments as in :class:`Context`.

    Raises:
        UsageError: the scene has too few starts, objects or destinations, or a body does not drive.
    """
    drawn = draw_attempt(scene, robots, errands, seed, tau=tau)
    if drawn is None:
        raise UsageError(
            f"{scene.uri} has no errands for {robots} robots: take fewer --robots or --errands."
        )
    team = make_team(scene, drawn.starts, [resolve_body(each) for each in bodies])
    return TeamTask(scene, team, drawn.regions, drawn.errands, max_metres, by)


def _task(state: State, context: Context) -> TeamTask:
    scene = get_scene(context.scene)
    # Cached per scene: the steps of one sample share a task and its optimum.
    tasks = scene_cached(
        scene, "team_tasks", lambda: lru_cache(_KEPT)(partial(sample_team_task, scene))
    )
    return tasks(
        state["seed"],
        robots=context.robots,
        errands=context.errands,
        bodies=tuple(context.bodies),
        max_metres=context.max_metres,
        by=context.by,
        tau=context.tau,
    )


def check_feasibility(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Return a state update that ends the run if no plan does all errands; empty if one does."""
    task = _task(state, runtime.context)
    if task.best is not None:
        return {}
    record = {**_about(task, runtime.context.tau), "decided_by": "survey", "why": task.why_none}
    result = {"phase_1": task.phase_1, "verdict": NO_PLAN, "navloom": record}
    return {"status": "ok", "reason": None, "result": result}


def _about(task: TeamTask, tau: int) -> dict[str, Any]:
    """Return the request for a dataset line, and NavCraft's record of the first errand."""
    asked = task.told()
    asked.pop("handoff places")
    first = errand_record(RelayTask(task.scene, *task.first), tau)
    return {**first, "asked": asked, "by": task.by, "cap": task.cap}


def _offer(state: State, context: Context) -> AssignmentOffer:
    # A question and the check of its answer share the offer.
    offers = scene_cached(
        get_scene(context.scene), "team_offers", lambda: lru_cache(_KEPT)(AssignmentOffer)
    )
    picked = tuple(Assignment(tuple(robots), over) for robots, over in state.get("picked", []))
    refused = tuple(state.get("refused", []))
    return offers(_task(state, context), picked, context.choices, state["seed"], refused)


def planner_prompt(state: State, context: Context) -> tuple[RenderedPrompt, dict[str, Any]]:
    """Return the prompt and the schema of the answer."""
    task = _task(state, context)
    if context.compact:
        return assignment_prompt(_offer(state, context), constrain=context.constrain)
    rendered = load_prompt(PROMPT).render(
        scene_graph=scene_json(task.scene),
        team=json.dumps(task.told()),
        seed=state["seed"],
        tools=context.tools != "none",
        library=context.tools == "library",
        measure=_MEASURES[context.by],
        alpha=context.by == "alpha",
    )
    legs = legs_schema(task, constrain=context.constrain)
    # A claim that no plan exists is not offered again once it was rejected.
    believed = _PLAN_EXISTS not in state.get("violations", [])
    schema = object_schema({"legs": {"anyOf": [legs, {"type": "null"}]} if believed else legs})
    return rendered, {"title": "team_plan", **schema}


def planner_tools(state: State, context: Context) -> Sequence[BaseTool]:
    """Return the tools that the model may call."""
    if context.tools == "none":
        return ()
    task = _task(state, context)
    made = team_tools(task, constrain=context.constrain)
    return made if context.tools == "library" else made[:1]


def _failed(call: ToolCallResult) -> bool:
    result = call.result or {}
    return not result.get("valid", "error" not in result and bool(result))


def _advice(call: ToolCallResult, before: list[ToolCallResult], context: Context) -> str:
    del before, context
    why = (call.result or {}).get("error", "")
    return f"This call failed before and fails again. {why} Change who carries, or the handoff."


def check_answer(answer: dict[str, Any], state: State, context: Context) -> dict[str, Any]:
    """Return a state update that accepts an answer, rejects it with a message, or gives up."""
    task = _task(state, context)
    if context.compact:
        legs, update = apply_assignment(answer, state, _offer(state, context), context)
        if legs is None:
            return update
        answer = {"legs": legs}
    if "legs" in answer and answer["legs"] is None:
        told = "A plan does all errands: find one. Several robots may share the way of an object."
        return rejection_update(state, [Violation(_PLAN_EXISTS, told)], context)
    found = check_team_plan(task, answer.get("legs"))
    if not found["valid"]:
        return rejection_update(state, [Violation("no_plan", found["error"])], context)
    return {"status": "ok", "reason": None, "result": _result(answer["legs"], state, context)}


def _result(legs: list[dict[str, str]], state: State, context: Context) -> dict[str, Any]:
    task, spoken = _task(state, context), messages_of(state)
    plan = read_legs(task, legs)
    return {
        "phase_1": task.phase_1,
        "phase_2": None,
        "team": team_record(task.scene, plan),
        "verdict": PLAN,
        "navloom": {
            **_about(task, context.tau),
            **plan_quality(task, legs),
            "violations_mended": state.get("violations", []),
            "turns": count_turns(spoken),
            "tool_calls": len(executed_calls(spoken)),
            "tools": "none" if context.compact else context.tools,
            "prompt": load_prompt(CHOICES_PROMPT if context.compact else PROMPT).record,
            **({"choices": context.choices} if context.compact else {}),
        },
    }


def plan_quality(task: TeamTask, legs: list[dict[str, str]]) -> dict[str, Any]:
    """Return the quality of a valid plan, compared to the best.

    Returns:
        ``makespan_s``, ``metres`` of each robot, ``value``, ``best`` and ``bound`` by the task's
        measure, whether ``best`` is ``exact``, and ``regret``: value over best, less 1; for alpha
        the difference.
    """
    found, best = check_team_plan(task, legs), task.best
    made: dict[str, Any] = {key: found[key] for key in ("makespan_s", "metres", "value")}
    if best is None:
        return made
    value = found["value"]
    regret = value - best.value if task.by == "alpha" else value / best.value - 1
    return {
        **made,
        "best": best.value,
        "bound": best.bound,
        "exact": best.exact,
        "regret": regret if abs(regret) > LEAST else 0.0,
    }


def build_graph(
    checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
) -> CompiledStateGraph[State, Context, Input, Any]:
    """Return the compiled graph of the planner of team tasks.

    Args:
        checkpointer: stores each step; None stores nothing.
    """
    builder = AgentGraph(State, Context, Input, "navcraft_team")
    builder.add_node("survey", check_feasibility)
    add_conversation(
        builder, Conversation(planner_prompt, planner_tools, _failed, _advice, check_answer)
    )
    builder.add_edge(START, "survey")
    # If no plan exists, no model is called.
    builder.add_conditional_edges(
        "survey", lambda state: END if state.get("status") else "propose", ["propose", END]
    )
    return builder.compile(checkpointer)  # type: ignore[no-any-return]


_CHECK = """Check a plan for all errands of the team.

legs: a list of {"robot", "object", "from", "to"}, names as given. Returns valid, and either error
(what is wrong first, and what to change) or makespan_s, metres of each robot, and each leg in time
(takes_s, ends_s, waits_s)."""
_REACH = (
    """Say which regions a robot of the team does not get to from its start, and what bars it."""
)
_TRAVEL = """Say how far and how long it is for one robot from a place to another.

Places are regions, handoff places, or things, as 'desk in Study_4'."""


def team_tools(task: TeamTask, *, constrain: bool = True) -> list[BaseTool]:
    """Return ``check_team_plan``, and the efficiency library's reach and travel_time for a team.

    Args:
        task: the team and its errands.
        constrain: enumerate names in the argument schemas.
    """
    robots = {robot.name: robot for robot in task.robots}
    name = name_field("A robot of the team.", [*robots] if constrain else None)
    place: Any = (str, Field(description="A place.", max_length=200))

    def known(robot: str) -> Any:
        if robot not in robots:
            raise UsageError(f"There is no {robot[:80]} in the team: name {', '.join(robots)}.")
        return robots[robot]

    def reach(robot: str) -> dict[str, Any]:
        who = known(robot)
        return efficiency_library.reachable_regions(task.scene, who.body, who.start)

    def travel_time(robot: str, start: str, goal: str) -> dict[str, Any]:
        begin, end = (
            task.places.get(each) or efficiency_library.find_place(task.scene, each)
            for each in (start, goal)
        )
        return efficiency_library.travel_time(task.scene, known(robot), begin, end)

    # LangChain passes on only the annotation of a field.
    schema = WithJsonSchema(legs_schema(task, constrain=constrain))
    plan: Any = Annotated[list[dict[str, str]], schema]
    return [
        error_safe_tool(
            "check_team_plan",
            _CHECK,
            lambda legs: check_team_plan(task, legs),
            legs=(plan, Field(description="The plan.")),
        ),
        error_safe_tool("reach", _REACH, reach, robot=name),
        error_safe_tool("travel_time", _TRAVEL, travel_time, robot=name, start=place, goal=place),
    ]


graph = build_graph()
