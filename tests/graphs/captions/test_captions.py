"""Caption graphs: what a model is shown, what is kept, and that a simulator reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from PIL import Image

from navloom.errors import SimulatorError, UsageError
from navloom.graphs.captions import captioner as captions
from navloom.graphs.captions.captioner import (
    Context,
    _marker,
    build_graph,
    marker_schema,
    plan,
    read_markers,
    read_summary,
    summary_schema,
    write_captions,
)
from navloom.models.messages import AnswerError, message_text
from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene_uri import load_scene
from navloom.sim.caption_composer import composed
from navloom.sim.captions import CaptionCache, captions_for
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import Candidate, Observation, Pose, View
from tests.graphs.states import run
from tests.tools.navcraft.rooms_in_a_row import CORNER, HALL, ISLAND, KITCHEN, STAIRS, home

MARKERS = {"1": "corner of the hallway", "2": "foot of the stairs"}
SUMMARY = {"summary": "A hallway with a staircase."}


def captioned(model: Any, *viewpoints: str, **context: Any) -> dict[str, Any]:
    state: dict[str, Any] = run(
        captions.graph,
        {"seed": 3, "viewpoints": list(viewpoints or [HALL])},
        context=Context(**{"scene": home(), "model": model, **context}),
    )
    return state


def human(messages: Sequence[BaseMessage]) -> str:
    return message_text(messages[1].content)


def test_markers_then_summary_and_what_is_kept() -> None:
    with ScriptedChatModel([MARKERS, SUMMARY]) as model:
        state = captioned(model)
    assert (state["status"], state["reason"]) == ("ok", None)
    # By global heading: the corner lies north, the stairs south.
    assert state["result"]["viewpoints"] == {
        HALL: {
            "towards": {CORNER: MARKERS["1"], STAIRS: MARKERS["2"]},
            "summary": SUMMARY["summary"],
        }
    }
    assert (state["result"]["missing"], state["result"]["reasks"]) == (0, 0)
    assert [p["name"] for p in state["result"]["prompts"]] == [
        "caption_markers",
        "viewpoint_summary",
    ]
    assert [used["role"] for used in state["usage"]] == ["describer", "describer"]
    titles = [call.response_format["title"] for call in model.calls]
    assert titles == ["marker_captions", "viewpoint_summary"]


def test_what_the_model_reads_of_a_way() -> None:
    with ScriptedChatModel([MARKERS]) as model:
        captioned(model, jobs=("markers",))
    text = human(model.calls[0].messages)
    assert text.startswith("Random seed: 3\n")
    start = text.index("Markers: ") + len("Markers: ")
    markers = json.loads(text[start : text.index("\n", start)])
    known = composed(home()).towards(HALL, CORNER)
    assert markers["1"] == {
        "heading_deg": 0,
        "metres": 4.0,
        "goes": "level",
        "room": "hallway",
        "known": known,
    }
    assert HALL not in text
    assert CORNER not in text


def test_the_exact_fault_is_told_and_asked_again() -> None:
    with ScriptedChatModel([{"1": "hall"}, MARKERS]) as model:
        state = captioned(model, jobs=("markers",))
    assert message_text(model.calls[1].messages[-1].content).startswith("Missing: 2.")
    assert state["result"]["reasks"] == 1
    assert state["faults"] == [
        f"{HALL} markers: Missing: 2. Answer again with the whole JSON object."
    ]


def test_it_gives_up_on_one_question_and_goes_on() -> None:
    # Both questions are under way at once.
    with ScriptedChatModel(["no", SUMMARY, "no"]) as model:
        state = captioned(model, max_reasks=1)
    assert state["status"] == "ok"
    assert state["result"]["viewpoints"] == {HALL: {"summary": SUMMARY["summary"]}}
    assert (state["result"]["missing"], state["result"]["reasks"]) == (1, 1)


def test_it_fails_where_nothing_can_be_read() -> None:
    with ScriptedChatModel(["no"] * 2) as model:
        state = captioned(model, max_reasks=0)
    assert (state["status"], state["reason"]) == ("failed", "unparsed")


def test_a_place_without_ways_has_no_markers() -> None:
    with ScriptedChatModel([]) as model:
        state = captioned(model, ISLAND, jobs=("markers",))
    assert (state["status"], state["result"]["viewpoints"]) == ("ok", {ISLAND: {"towards": {}}})


def test_every_viewpoint_where_none_is_named() -> None:
    def reply(messages: list[BaseMessage]) -> str:
        text = human(messages)
        if "Views: " in text:
            return json.dumps(SUMMARY)
        start = text.index("Markers: ") + len("Markers: ")
        return json.dumps(dict.fromkeys(json.loads(text[start : text.index("\n", start)]), "a way"))

    state = run(
        captions.graph, {"seed": 1}, context=Context(scene=home(), model=ScriptedChatModel(reply))
    )
    assert set(state["result"]["viewpoints"]) == {v.id for v in home().viewpoints}
    # Five places have ways and a summary each, and the island a summary.
    assert len(state["usage"]) == 2 * 6 + 1


def test_an_unknown_viewpoint_is_named() -> None:
    with pytest.raises(UsageError, match="no viewpoint 'nowhere'"):
        captioned(ScriptedChatModel([]), "nowhere")


class Pictured(GraphSimulator):
    """A graph simulator with four pictures, made here: each quarter has a grey of its own."""

    capabilities = GraphSimulator.capabilities | {"rgb"}

    def reset(
        self, agents: Mapping[str, tuple[Pose, Embodiment]], *, seed: int = 0
    ) -> Mapping[str, Observation]:
        views = tuple(
            View(
                math.radians(90 * k),
                0.0,
                math.radians(90),
                np.full((64, 64, 3), 40 + 50 * k, dtype=np.uint8),
            )
            for k in range(4)
        )
        seen = super().reset(agents, seed=seed)
        return {name: replace(each, images={"rgb": views}) for name, each in seen.items()}


def pictures(messages: Sequence[BaseMessage]) -> list[Image.Image]:
    import base64

    blocks = messages[1].content
    assert isinstance(blocks, list)
    shown = [b for b in blocks if isinstance(b, dict) and b["type"] == "image"]
    return [Image.open(BytesIO(base64.b64decode(b["base64"]))) for b in shown]


def test_pictures_go_to_the_model_with_markers_and_never_into_the_state() -> None:
    saver = InMemorySaver()
    config = {"configurable": {"thread_id": "one"}}
    with ScriptedChatModel([{"1": "x"}, SUMMARY, MARKERS]) as model:
        state = run(
            build_graph(saver),
            {"seed": 1, "viewpoints": [HALL]},
            context=Context(scene=home(), model=model, simulator=Pictured(home())),
            config=config,
        )
    assert state["status"] == "ok"
    first, summary, again = (pictures(call.messages) for call in model.calls)
    assert [len(first), len(again), len(summary)] == [1, 1, 1]
    assert first[0].width == 4 * 64 + 3 * 8
    # Markers are drawn for the marker question alone.
    assert first[0].tobytes() == again[0].tobytes() != summary[0].tobytes()
    assert "A green circle" in message_text(model.calls[0].messages[0].content)
    assert "Pictures of the place" in message_text(model.calls[1].messages[0].content)
    kept = [str(c.checkpoint) for c in saver.list(config)]
    assert kept
    assert not any("base64" in each or "image" in each for each in kept)


def test_without_views_no_picture_is_shown() -> None:
    with ScriptedChatModel([MARKERS]) as model:
        captioned(model, jobs=("markers",), simulator=Pictured(home()), views=0)
    assert isinstance(model.calls[0].messages[1].content, str)
    assert "green circle" not in message_text(model.calls[0].messages[0].content)


def test_a_simulator_reads_what_was_written(tmp_path: Path) -> None:
    with ScriptedChatModel([MARKERS, SUMMARY]) as model:
        state = captioned(model)
    scene, file = home(), tmp_path / "row.json"
    write_captions(file, scene, state["result"]["viewpoints"], "scripted/script")
    source = captions_for(scene, cache=file)
    assert isinstance(source, CaptionCache)
    seen = GraphSimulator(scene, source).reset({"a": (Pose((0, 0, 0), viewpoint=HALL), _BODY)})["a"]
    assert [c.description for c in seen.candidates] == list(MARKERS.values())
    assert seen.captions is not None
    assert seen.captions.summary == SUMMARY["summary"]
    # What nobody captioned comes from the source under it.
    assert source.towards(CORNER, KITCHEN) == composed(scene).towards(CORNER, KITCHEN)


def test_captions_of_another_scene_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match="no viewpoint"):
        write_captions(tmp_path / "x.json", home(), {"nowhere": {"summary": "A hall."}}, "m")
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("model", ["builtin/heuristic", "builtin/random"])
def test_the_baselines_caption_a_demo_home(model: str) -> None:
    places = [v.id for v in load_scene("demo:flat").viewpoints[:6]]
    state = run(
        captions.graph,
        {"seed": 4, "viewpoints": places},
        context={"scene": "demo:flat", "model": model},
    )
    result = state["result"]
    assert (state["status"], result["missing"], result["reasks"]) == ("ok", 0, 0)
    assert list(result["viewpoints"]) == places
    for words in result["viewpoints"].values():
        assert words["summary"]
        assert all(words["towards"].values())


def test_the_heuristic_tells_ways_apart() -> None:
    scene = load_scene("demo:flat")
    state = run(
        captions.graph,
        {"seed": 4, "viewpoints": ["1_1"]},
        context={"scene": "demo:flat", "model": "builtin/heuristic"},
    )
    towards = state["result"]["viewpoints"]["1_1"]["towards"]
    assert towards["5_0"].startswith("bathroom")
    assert set(towards) == {
        c for e in scene.edges for c in (e.a, e.b) if "1_1" in (e.a, e.b) and c != "1_1"
    }


_BODY = Embodiment(name="ROBOT")


def test_a_way_is_told_in_degrees_metres_and_the_rooms_type() -> None:
    scene = home()

    def told(heading: float, metres: float, up: float, region: str | None, words: str) -> Any:
        return _marker(Candidate("v", heading, up, metres, words, region=region), scene)

    assert told(math.radians(90.4), 2.04, 0.0, "Kitchen_2", " a\ndoor ") == {
        "heading_deg": 90, "metres": 2.0, "goes": "level", "room": "kitchen", "known": "a door",
    }  # fmt: skip
    steep = told(math.radians(89.6), 2.06, 0.7, "Unknown_3", "")
    assert (steep["heading_deg"], steep["metres"], steep["goes"]) == (90, 2.1, "up")
    assert (steep["room"], steep["known"]) == (None, None)
    assert told(0.0, 1.0, -0.7, None, "x")["goes"] == "down"


def test_twice_the_bound_of_a_text_is_cut_and_more_is_sent_back() -> None:
    marker = marker_schema(2)["properties"]["2"]["maxLength"]
    summary = summary_schema()["properties"]["summary"]["maxLength"]
    assert list(marker_schema(2)["properties"]) == ["1", "2"]
    words = "door " * 1_000
    assert len(read_summary(json.dumps({"summary": words[:summary]}))) <= summary // 2
    with pytest.raises(AnswerError, match=f"has {summary + 1} characters, at most {summary}"):
        read_summary(json.dumps({"summary": words[: summary + 1]}))
    said = read_markers(json.dumps({"1": "ok", "2": words[:marker]}), 2)
    assert said["1"] == "ok"
    assert len(said["2"]) <= marker // 2
    with pytest.raises(AnswerError, match='"2" is empty'):
        read_markers(json.dumps({"1": "ok", "2": "x"}), 2)


def test_faults_of_captions_are_told_up_to_their_bounds() -> None:
    def fault(answer: Any, markers: int) -> str:
        with pytest.raises(AnswerError) as caught:
            read_markers(json.dumps(answer), markers)
        return str(caught.value)

    missing = fault({}, 21)
    assert missing.startswith("Missing: 1, 2, 3,")
    assert "20." in missing
    assert "21" not in missing
    strange = fault({"1": "ok", **{f"k{n}": "x" for n in range(6)}}, 1)
    assert "Not asked for: k0, k1, k2, k3, k4; the keys are 1." in strange
    assert "x" * 20 in fault({"1": "ok", "x" * 21: "no"}, 1)
    assert "x" * 21 not in fault({"1": "ok", "x" * 21: "no"}, 1)
    five = fault({str(n): n for n in range(1, 6)}, 5)
    assert [f'"{n}" is a int' in five for n in range(1, 6)] == [True] * 4 + [False]


def test_sixteen_questions_are_asked_at_once_and_none_twice() -> None:
    scene = load_scene("demo:house")
    context = Context(scene=scene, model="builtin/heuristic")
    runtime: Any = SimpleNamespace(context=context)
    first = plan({"viewpoints": [v.id for v in scene.viewpoints[:9]]}, runtime)
    assert len(first["todo"]) == 16
    assert {item["seed"] for item in first["todo"]} == {0}
    done = [(item["viewpoint"], item["job"], "x") for item in first["todo"]]
    again = plan(
        {"viewpoints": [v.id for v in scene.viewpoints[:9]], "written": done, "seed": 5}, runtime
    )
    assert [(item["viewpoint"], item["job"]) for item in again["todo"]] == [
        (scene.viewpoints[8].id, job) for job in captions.JOBS
    ]
    assert {item["seed"] for item in again["todo"]} == {5}
