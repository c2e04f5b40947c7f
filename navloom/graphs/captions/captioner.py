"""Captioning agent: a caption for each candidate, and a summary for each viewpoint.

Source: VLN-MME B.1 (marker captions: a panorama with numbered markers, and a JSON object from each
number to a sentence) and B.2 (viewpoint summaries: descriptions of the views merged into one
sentence, after NavGPT).

    START -> plan -> describe, describe, ... (navloom.graphs.tool_loop) -> plan -> ... -> finish ->
    END

There are two questions for each viewpoint, each a graph of its own. ``AT_ONCE`` of them run in
parallel.

If the simulator has images and the model takes them, it is shown images with a green circle and
number at each candidate. Else the model rephrases what is known of each candidate, so that all
scenes have captions of one form. For the first stage of B.2, a description of single views, the
scene's caption source of eight sectors is used. Images are rendered again at each call, and the
state holds only texts. The result has the form of :class:`navloom.sim.captions.CaptionCache`, and
``write_captions`` writes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NotRequired, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from navloom.errors import UsageError
from navloom.graphs import agent_graph
from navloom.graphs.invocation import as_node
from navloom.graphs.tool_loop import AskContext, ModelQuestion, QuestionState, question_builder
from navloom.models.messages import AnswerError, opening_messages, read_json_object
from navloom.models.structured_output import sees_images
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt
from navloom.scenes.distances import up_or_down
from navloom.scenes.scene import UNKNOWN, Scene, prompt_name
from navloom.scenes.scene_uri import get_scene
from navloom.scenes.viewpoint_hints import viewpoint_hint
from navloom.sim import protocol
from navloom.sim.agent_handle import AgentHandle
from navloom.sim.caption_composer import composed
from navloom.sim.captions import CaptionCache
from navloom.sim.registry import simulator_for_views
from navloom.sim.views import view_pngs
from navloom.tools.model_output import object_schema, sanitize_line

Job = Literal["markers", "summary"]
JOBS: tuple[Job, ...] = ("markers", "summary")
"""Questions about each viewpoint, in order."""
PROMPTS: dict[Job, str] = {"markers": "caption_markers", "summary": "viewpoint_summary"}
AT_ONCE = 16
"""Number of parallel questions; so many may still be answered after a stop."""
_SLACK = 2
"""Models cannot count characters: text up to twice the bound is cut, longer is rejected."""
_MOST_FAULTS = 4


class Input(TypedDict, total=False):
    """Input of the graph."""

    seed: int
    """Seed of baselines, also shown to every model; 0 if left out."""
    viewpoints: list[str]
    """Viewpoints to caption; all of the scene if left out."""


class State(Input, agent_graph.Outcome, total=False):
    """State of the graph."""

    todo: list[dict[str, Any]]
    """The questions that are asked next."""
    written: agent_graph.Growing[tuple[str, Job, Any]]
    """Viewpoint, job, and the text of the model: neighbour -> caption, or a sentence; None if no
    answer could be read."""
    faults: agent_graph.Growing[str]
    """Fault of each unusable answer."""


class CaptionQuestion(TypedDict):
    """One question about a viewpoint: the viewpoint and the job."""

    viewpoint: str
    job: Job
    seed: NotRequired[int]


class CaptionState(CaptionQuestion, QuestionState, total=False):
    """State of the graph of one question."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """Settings that stay fixed during a run."""

    scene: agent_graph.SceneLike
    """The scene, or its URI."""
    model: agent_graph.ModelLike = "builtin/heuristic"
    """The model, or its ``provider/name``; its calls have the role ``describer``."""
    simulator: agent_graph.SimulatorLike = "auto"
    """Source of images or descriptions. The backend ``graph`` has descriptions only. The captioner
    adds an agent of its own to it."""
    agent: str = "camera"
    """Name of that agent."""
    jobs: tuple[Job, ...] = JOBS
    """Questions to ask about each viewpoint."""
    views: Literal[0, 4, 12, 24, 36] = 4
    """Number of views shown to a model that takes images, if there are images; see
    :mod:`navloom.sim.views`."""
    max_reasks: int = 2
    """Maximum number of retries for a question after unreadable answers."""

    @cached_property
    def shown_views(self) -> int:
        """Number of views that the model is shown; 0 if the model takes no images."""
        return self.views if self.views and sees_images(self.model) else 0


def plan(state: State, runtime: Runtime[Context]) -> State:
    """Select the next questions. A viewpoint without candidates has no marker question."""
    context, scene = runtime.context, get_scene(runtime.context.scene)
    told = {(viewpoint, job) for viewpoint, job, _ in state.get("written", [])}
    asked = [(viewpoint, job) for viewpoint in _asked(state, scene) for job in context.jobs]
    todo: list[dict[str, Any]] = []
    alone: list[tuple[str, Job, Any]] = []
    for viewpoint, job in asked:
        if (viewpoint, job) in told:
            continue
        if job == "markers" and not _observe(context, scene, viewpoint).candidates:
            alone.append((viewpoint, job, {}))
            continue
        todo.append({"viewpoint": viewpoint, "job": job, "seed": state.get("seed", 0)})
        if len(todo) == AT_ONCE:
            break
    return {"todo": todo, "written": alone}


def prompt(state: CaptionState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write the question as messages."""
    context, scene = runtime.context, get_scene(runtime.context.scene)
    seen = _observe(context, scene, state["viewpoint"])
    rendered = _rendered(state["job"], seen, scene, state.get("seed", 0), context.shown_views)
    return {"messages": opening_messages(rendered)}


def question(state: CaptionState, context: Context) -> ModelQuestion:
    """Return the question about a viewpoint, with images if the simulator has them."""
    viewpoint, job = state["viewpoint"], state["job"]
    seen = _observe(context, get_scene(context.scene), viewpoint)
    ways, is_markers = seen.candidates, job == "markers"

    def ended(written: Any, *last: str) -> dict[str, Any]:
        faults = [*state.get("faults", []), *last]
        return {"status": "failed" if last else "ok", "result": {"said": written, "faults": faults}}

    def read(text: str) -> dict[str, Any]:
        if not is_markers:
            return ended(read_summary(text))
        said = read_markers(text, len(ways))
        return ended({way.viewpoint: said[str(number)] for number, way in enumerate(ways, 1)})

    return ModelQuestion(
        job="marker_captions" if is_markers else "viewpoint_summary",
        read=read,
        give_up=lambda _, error: ended(None, f"{viewpoint} {job}: {error}"),
        schema=marker_schema(len(ways)) if is_markers else summary_schema(),
        role="describer",
        pictures=lambda: view_pngs(seen, 0.0, context.shown_views, markers=is_markers),
        about=f"{viewpoint} {job}: ",
    )


describe = as_node(
    question_builder(
        agent_graph.AgentGraph(CaptionState, Context, CaptionQuestion, "caption"),
        question,
        prompt=prompt,
    )(),
    output=lambda outcome, item: {
        "written": [(item["viewpoint"], item["job"], outcome["result"]["said"])],
        "faults": outcome["result"]["faults"],
        "usage": outcome["usage"],
    },
)
"""Node that asks one question."""


def finish(state: State, runtime: Runtime[Context]) -> State:
    """Build the result. It failed as ``unparsed`` if no answer could be read at all.

    Its keys: ``viewpoints`` (viewpoint -> ``summary`` and ``towards``, as a cache keeps them),
    ``missing`` (questions without an answer), ``reasks``, ``faults`` and ``prompts``.
    """
    faults, answers = state.get("faults", []), [said for _, _, said in state.get("written", [])]
    written: dict[str, dict[str, Any]] = {
        viewpoint: {} for viewpoint in _asked(state, get_scene(runtime.context.scene))
    }
    for viewpoint, job, said in state.get("written", []):
        written[viewpoint][job] = said
    missing = sum(said is None for said in answers)
    result = {
        "viewpoints": {viewpoint: _kept(words) for viewpoint, words in written.items()},
        "missing": missing,
        "reasks": len(faults) - missing,
        "faults": faults,
        "prompts": [load_prompt(PROMPTS[job]).record for job in runtime.context.jobs],
    }
    if answers and missing == len(answers):
        return {"status": "failed", "reason": "unparsed", "message": faults[-1], "result": result}
    return {"status": "ok", "reason": None, "message": None, "result": result}


def after_plan(state: State) -> list[Send] | str:
    """Route to all questions in parallel, or to the end if none is left."""
    return [Send("describe", item) for item in state["todo"]] or "finish"


builder = agent_graph.AgentGraph(State, Context, Input, "captions")
builder.add_node("plan", plan)
builder.add_node("describe", describe)
builder.add_node("finish", finish)
builder.add_edge(START, "plan")
_ENDS: dict[Hashable, str] = {"describe": "describe", "finish": "finish"}
builder.add_conditional_edges("plan", after_plan, _ENDS)
builder.add_edge("describe", "plan")
builder.add_edge("finish", END)
build_graph = builder.compile
"""Function that compiles the graph, with an optional store of its steps."""


def marker_schema(count: int) -> dict[str, Any]:
    """Return the JSON schema of marker captions.

    Args:
        count: number of markers, which are numbered from 1.
    """
    caption = {"type": "string", "minLength": 2, "maxLength": _SLACK * protocol.MOST_DESCRIPTION}
    numbered = {str(number): caption for number in range(1, count + 1)}
    about = "One caption for every numbered marker."
    return object_schema(numbered, "marker_captions", about)


def summary_schema() -> dict[str, Any]:
    """Return the JSON schema of a viewpoint's summary."""
    text = {"type": "string", "minLength": 2, "maxLength": _SLACK * protocol.MOST_SUMMARY}
    return object_schema({"summary": text}, "viewpoint_summary", "One sentence about a place.")


def read_markers(text: str, count: int) -> dict[str, str]:
    """Parse the captions in a reply, by marker number.

    Raises:
        AnswerError: the reply is invalid; the message names each fault for the model.
    """
    answer = _checked(text, marker_schema(count))
    return {number: _words(answer[number], protocol.MOST_DESCRIPTION, number) for number in answer}


def read_summary(text: str) -> str:
    """Parse the summary sentence in a reply.

    Raises:
        AnswerError: the reply is invalid; the message names each fault for the model.
    """
    answer = _checked(text, summary_schema())
    return _words(answer["summary"], protocol.MOST_SUMMARY, "summary")


def _words(said: str, most: int, key: str) -> str:
    words = sanitize_line(said, most)
    if not any(map(str.isalpha, words)):
        raise AnswerError(f'"{key}" holds no words. Answer again with words for it.')
    return words


def _checked(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    def where(error: ValidationError) -> tuple[str, str]:
        return "/".join(map(str, error.absolute_path)), str(error.validator)

    answer = read_json_object(text)
    errors = sorted(Draft202012Validator(schema).iter_errors(answer), key=where)
    if errors:
        faults = " ".join(dict.fromkeys(_said(e, schema) for e in errors[:_MOST_FAULTS]))
        raise AnswerError(f"{faults} Answer again with the whole JSON object.")
    return answer


def _said(error: ValidationError, schema: Mapping[str, Any]) -> str:
    """Return one schema fault as a sentence that repeats little of the reply."""
    keys, found = list(schema["properties"]), cast(Any, error.instance)
    named = f'"{error.absolute_path[0]}"' if error.absolute_path else "The answer"
    match error.validator:
        case "required":
            missing = [key for key in keys if key not in found]
            return f"Missing: {', '.join(missing[:20])}."
        case "additionalProperties":
            strange = [str(key)[:20] for key in found if key not in keys]
            return f"Not asked for: {', '.join(strange[:5])}; the keys are {', '.join(keys[:40])}."
        case "maxLength":
            size = len(found)
            return f"{named} has {size} characters, at most {error.validator_value} are read."
        case "minLength":
            return f"{named} is empty."
    return f"{named} is a {type(found).__name__}, expected a text."


def write_captions(
    path: Path, scene: Scene, viewpoints: Mapping[str, Mapping[str, Any]], made_by: str
) -> None:
    """Write the captions of one scene to a file in one atomic step.

    Args:
        path: the file; replaced if it exists.
        scene: scene of the captions.
        viewpoints: captions as in the graph's result.
        made_by: the model that wrote them, as ``provider/name``.

    Raises:
        SimulatorError: the file cannot be written, or the scene lacks one of the viewpoints.
    """
    cache = CaptionCache(scene, composed(scene), made_by)
    for viewpoint, words in ((each, said) for each, said in viewpoints.items() if said):
        cache.put(viewpoint, summary=words.get("summary"), towards=words.get("towards"))
    cache.save(path)


def _asked(state: State, scene: Scene) -> list[str]:
    viewpoints = state.get("viewpoints")
    if viewpoints is None:
        return [each.id for each in scene.viewpoints]
    for name in viewpoints:
        if name not in scene.viewpoint_by_id:
            hint = viewpoint_hint(scene, name)
            raise UsageError(f"{scene.uri} has no viewpoint '{str(name)[:80]}'.{hint}")
    return list(viewpoints)


def _observe(context: Context, scene: Scene, viewpoint: str) -> protocol.Observation:
    pose = protocol.Pose(scene.viewpoint_by_id[viewpoint].ground, viewpoint=viewpoint)
    simulator = context.simulator
    if isinstance(simulator, str):
        simulator = partial(simulator_for_views, simulator, scene, context.views)
    if callable(simulator):
        simulator = context.leases.get(None, simulator)
    return AgentHandle(simulator, context.agent).start(pose, 0)


def _rendered(
    job: Job, seen: protocol.Observation, scene: Scene, seed: int, views: int
) -> RenderedPrompt:
    words = seen.captions or protocol.Captions()
    prompt = load_prompt(PROMPTS[job])
    pictures = views > 0 and bool(seen.images.get("rgb"))
    if job == "summary":
        told = {"around": words.summary or None, "views": list(words.sectors)}
        return prompt.render(seed=seed, views=_json(told), pictures=pictures)
    markers = {str(n): _marker(way, scene) for n, way in enumerate(seen.candidates, 1)}
    return prompt.render(
        seed=seed, place=_json(words.summary or None), markers=_json(markers), pictures=pictures
    )


def _marker(way: protocol.Candidate, scene: Scene) -> dict[str, Any]:
    label = scene.region_by_id[way.region].label if way.region else UNKNOWN
    return {
        "heading_deg": round(math.degrees(way.heading)),
        "metres": round(way.distance, 1),
        "goes": up_or_down(way.elevation) or "level",
        "room": None if label == UNKNOWN else prompt_name(label).replace("_", " "),
        "known": sanitize_line(way.description, protocol.MOST_CAPTION) or None,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _kept(words: Mapping[str, Any]) -> dict[str, Any]:
    kept = {"summary": words.get("summary"), "towards": words.get("markers")}
    return {key: value for key, value in kept.items() if value is not None}


graph = build_graph()
