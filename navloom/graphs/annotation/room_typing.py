"""Graph contextual typing: a model names the room type of each region labelled ``Unknown``.

Source: CoNavBench 3.1.1 (graph contextual typing) and A.12 (inputs, the twenty types, the answer).

The graph is the question loop of :mod:`navloom.graphs.tool_loop`, with one question a region.

Each Unknown region is typed once, the one with the most evidence first. Evidence is the number of
its objects plus its adjacent regions with a type. It is counted again before each choice, so a
later region uses the types of earlier ones. Ties go to the first region of the scene.

The model reads (i) the number of adjacent regions by type, where adjacent means joined by a link of
H or an edge of G, and (ii) the five most frequent objects with their counts, without structure
(walls, doors). Of equally frequent objects the one that is rarer in the whole home comes first,
since it is more informative. A region that the model cannot name stays Unknown and is counted.

The baselines read only the text of the question, such as ``Adjacent rooms: 2 in all: 2 x kitchen``,
and answer in the JSON form of a language model. They are rules, not language models.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent_graph import AgentGraph, Merging, SceneLike
from navloom.graphs.tool_loop import AskContext, ModelQuestion, QuestionState, question_builder
from navloom.models.builtin import PolicyRequest
from navloom.models.messages import AnswerError, opening_messages, read_json_object
from navloom.prompts.prompt_loader import load_prompt
from navloom.scenes.distances import cached_on_scene, scene_cached
from navloom.scenes.lexicon import ROOM_TYPES, normalize_words, room_types, word_table
from navloom.scenes.scene import UNKNOWN, Scene, prompt_name
from navloom.scenes.scene_uri import get_scene
from navloom.tools.model_output import object_schema

JOB = "room_type"
ANSWER_KEY = "Unknown room type"
SCHEMA = object_schema(
    {ANSWER_KEY: {"type": "string", "enum": list(ROOM_TYPES)}}, JOB, "The type of one room."
)
"""JSON schema of the answer."""
_TOP = 5


class Input(TypedDict):
    """Input of the graph."""

    seed: int
    """Seed of baselines, also shown to every model; 0 if left out."""


class State(QuestionState, total=False):
    """State of the graph."""

    region: str | None
    """The region being typed; None when none is left."""
    types: Merging[str | None]
    """Region id -> room type, None if the model found none; grows by one a region."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """Settings that stay fixed during a run."""

    scene: SceneLike
    """The scene, or its URI."""
    max_reasks: int = 2
    """Maximum number of retries for a region after unreadable answers."""


def prompt(state: State, runtime: Runtime[Context]) -> State:
    """Write the question about the untyped region with the most evidence."""
    scene, types = get_scene(runtime.context.scene), state.get("types", {})
    left = [r.id for r in scene.regions if r.label == UNKNOWN and r.id not in types]
    if not left:
        return {"region": None, "messages": []}
    region = max(left, key=lambda r: _evidence(scene, types, r))
    rendered = load_prompt("room_typing").render(
        seed=state.get("seed", 0),
        region=region,
        neighbours=_neighbours_text(scene, types, region),
        objects=_objects_text(scene, region),
    )
    return {"region": region, "messages": opening_messages(rendered)}


def question(state: State, context: Context) -> ModelQuestion:  # noqa: ARG001  all that ask give both
    """Return the question about a region, which stays Unknown without a valid answer."""
    region = state["region"] or ""

    def give_up(_: str, error: AnswerError) -> State:
        return {"faults": [f"{region}: {error}"], "types": {region: None}}

    return ModelQuestion(
        job=JOB,
        read=lambda text: {"types": {region: read_room_type(text)}},
        give_up=give_up,
        schema=SCHEMA,
        about=f"{region}: ",
    )


def finish(state: State) -> State:
    """Build the result. The status is always ``ok``, since an Unknown region is a finding.

    Its keys: ``types``, ``unknown`` (number of such regions), ``reasks``, ``faults``, ``prompt``.
    """
    types, faults = state.get("types", {}), state.get("faults", [])
    result = {
        "types": types,
        "unknown": sum(kind is None for kind in types.values()),
        "reasks": len(state.get("usage", [])) - len(types),
        "faults": faults,
        "prompt": load_prompt("room_typing").record,
    }
    return {"status": "ok", "result": result, "reason": None}


builder = AgentGraph(State, Context, Input, "room_typing")
build_graph = question_builder(builder, question, prompt=prompt, finish=finish, many=True)


def read_room_type(text: str) -> str:
    """Parse the room type in a reply, tolerant of case, spacing, fences and common synonyms.

    Args:
        text: text of the reply.

    Returns:
        One of ``ROOM_TYPES``.

    Raises:
        AnswerError: there is no answer, or it fits none or several of the types. The message is
            written for the model.
    """
    answer = read_json_object(text)
    wanted = normalize_words(ANSWER_KEY)
    values = [v for key, v in answer.items() if normalize_words(key[:200]) == wanted]
    if len(values) != 1 or not isinstance(values[0], str):
        raise AnswerError(
            f'The JSON object must have the one key "{ANSWER_KEY}" with the name of a room type.'
        )
    said = normalize_words(values[0][:200])
    named = [kind for kind in ROOM_TYPES if normalize_words(kind) == said]
    fitting = named or sorted(room_types(values[0][:200]))
    if len(fitting) != 1:
        what = "fits several room types" if fitting else "is not one of the room types"
        choices = ", ".join(fitting or ROOM_TYPES)
        raise AnswerError(f"'{said[:60]}' {what}. Choose one of: {choices}.")
    return fitting[0]


@cached_on_scene
def _adjacent(scene: Scene) -> dict[str, set[str]]:
    region = {v.id: v.region for v in scene.viewpoints}
    pairs = [(link.a, link.b) for link in scene.links]
    ends = ((region[e.a], region[e.b]) for e in scene.edges)
    pairs += [(a, b) for a, b in ends if a is not None and b is not None and a != b]
    near: dict[str, set[str]] = {r.id: set() for r in scene.regions}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    return near


def _label(scene: Scene, types: dict[str, str | None], region: str) -> str:
    return types.get(region) or scene.region_by_id[region].label


def _objects(scene: Scene, region: str) -> list[str]:
    return [item.prompt_name for item in scene.items_in(region) if item.kind != "structure"]


def _evidence(scene: Scene, types: dict[str, str | None], region: str) -> int:
    typed = [r for r in _adjacent(scene)[region] if _label(scene, types, r) != UNKNOWN]
    return len(_objects(scene, region)) + len(typed)


def _neighbours_text(scene: Scene, types: dict[str, str | None], region: str) -> str:
    near = _adjacent(scene)[region]
    counts = Counter(_words(_label(scene, types, r)) for r in near)
    return f"{len(near)} in all{_histogram(sorted(counts.items(), key=lambda c: (-c[1], c[0])))}"


def _objects_text(scene: Scene, region: str) -> str:
    counts = Counter(_objects(scene, region))
    home = scene_cached(scene, "name_counts", lambda: Counter(i.prompt_name for i in scene.items))
    top = sorted(counts.items(), key=lambda c: (-c[1], home[c[0]], c[0]))[:_TOP]
    kinds = f"{counts.total()} in all, {len(counts)} kinds"
    return kinds + _histogram([(_words(name), count) for name, count in top])


def _histogram(counts: list[tuple[str, int]]) -> str:
    return ": " + ", ".join(f"{count} x {name}" for name, count in counts) if counts else ""


def _words(label: str) -> str:
    return prompt_name(label).replace("_", " ")


graph = build_graph()


def _parsed(clues: str) -> dict[str, float]:
    words = [clue.rsplit(" ", 1) for clue in clues.split(", ")]
    return {name: float(loud) for name, loud in words}


_CLUES = {kind: _parsed(clues) for kind, clues in word_table("room_clues").items()}
"""Room type of A.12, in its order -> object names that indicate it, with weights."""
_BESIDE = {word: _parsed(types) for word, types in word_table("rooms_beside").items()}
_MANY_DOORS = 3
"""Minimum number of adjacent rooms of a passage room."""
_FEW_THINGS = 15
_COUNTED = re.compile(r"(\d{1,6}) x ([a-z0-9 ]{1,100})")


def heuristic_room(request: PolicyRequest) -> AIMessage:
    """Name the room type with the highest weight of object and neighbour clues."""
    question = request.first_human
    scores: defaultdict[str, float] = defaultdict(float)
    for name, count in _counts(question, "Objects"):
        for kind, loud in _spoken_for(name).items():
            # A second and third bed say little more than the first.
            scores[kind] += loud * (1 + 0.2 * min(count - 1, 5))
    rooms = _counts(question, "Adjacent rooms")
    for name, count in rooms:
        for word in name.split():
            for kind, share in _BESIDE.get(word, {}).items():
                scores[kind] += share * count
    if sum(count for _, count in rooms) >= _MANY_DOORS:
        # Passage rooms hold few objects.
        scores["Hallway / Corridor"] += 3 if _total(question, "Objects") < _FEW_THINGS else 1
    types = _types(request)
    return request.answer({ANSWER_KEY: max(types, key=lambda kind: scores[kind])})


def random_room(request: PolicyRequest) -> AIMessage:
    """Name a uniformly random type, fixed by the question's seed and region."""
    seed = f"{request.seed}/{_line(request.first_human, 'Region')}"
    return request.answer({ANSWER_KEY: random.Random(seed).choice(_types(request))})


def _types(request: PolicyRequest) -> tuple[str, ...]:
    properties = (request.schema or {}).get("properties", {})
    listed = properties.get(ANSWER_KEY, {}).get("enum", ())
    return tuple(listed) or tuple(_CLUES)


def _line(question: str, head: str) -> str:
    found = re.search(rf"^{head}: (.*)$", question, re.MULTILINE)
    return found.group(1).strip() if found else ""


def _total(question: str, head: str) -> int:
    found = re.match(r"(\d{1,6}) in all", _line(question, head))
    return int(found.group(1)) if found else 0


def _counts(question: str, head: str) -> list[tuple[str, int]]:
    return [(name.strip(), int(count)) for count, name in _COUNTED.findall(_line(question, head))]


def _spoken_for(name: str) -> dict[str, float]:
    """Return the weight of an object name for each type, by its longest matching clue."""
    said: dict[str, float] = {}
    for kind, clues in _CLUES.items():
        fitting = [clue for clue in clues if f" {clue} " in f" {name} "]
        if fitting:
            said[kind] = clues[max(fitting, key=len)]
    return said
