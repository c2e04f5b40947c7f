"""The designer of CapNav questions: repairs, tools, bounds, and pictures over the wire."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.graphs.capnav import designer as capnav_tasks
from navloom.graphs.capnav.designer_prompt import read_guideline
from navloom.models import get_model
from navloom.models.messages import message_text
from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.scene_uri import get_scene
from navloom.testing import ModelServer, reply_with
from navloom.tools.capnav.named_places import NamedPlaces, traversability_of
from navloom.tools.capnav.question_grounding import check_question
from tests.graphs.states import run
from tests.tools.capnav.test_question_grounding import question


def answered(replies: list[Any], **given: Any) -> tuple[dict[str, Any], ScriptedChatModel]:
    state = {key: given.pop(key) for key in ("routes", "taken") if key in given}
    with ScriptedChatModel(replies) as model:
        context = capnav_tasks.Context(scene="demo:villa", model=model, **given)
        end = run(capnav_tasks.graph, {"seed": 1, **state}, context=context)
    return end, model


def other(detail: str) -> dict[str, Any]:
    text = f"Can [Agent] move from the {detail} in the Kitchen_5 to the sofa in the Living_room_3?"
    return question(question=text, start_detail=detail)


def test_only_the_bad_ones_are_asked_for_again_with_every_fault_named() -> None:
    bad = other("piano")
    bad["question"] = bad["question"].replace("move", "climb")
    replies = [{"questions": [question(), bad, other("kettle")]}, {"questions": [other("toaster")]}]
    end, model = answered(replies, min_questions=3)
    told = message_text(model.calls[1].messages[-1].content)
    assert "Accepted: question 1, 3." in told
    assert "question 2: start_detail names 'piano', which is not there" in told
    assert "question 2: question says 'climb'" in told
    assert "Give 1 question in their place" in told
    result = end["result"]
    assert end["status"] == "ok"
    assert [q["nodes_involved"]["start_detail"] for q in result["questions"]] == [
        "stove",
        "kettle",
        "toaster",
    ]
    assert [fault["code"] for fault in result["rejected"][0]["violations"]] == [
        "detail_not_there",
        "capability",
    ]
    assert (result["short"], result["repairs"]) == (0, 1)


def test_what_stays_wrong_is_given_up_and_what_is_good_is_kept() -> None:
    wrong = {"questions": [other("piano")]}
    end, _ = answered([{"questions": [question()]}, wrong, wrong], min_questions=2, max_reasks=2)
    assert (end["status"], end["result"]["short"], end["result"]["why"]) == (
        "ok",
        1,
        "detail_not_there",
    )
    end, _ = answered(["I would rather not.", "No."], min_questions=1, max_reasks=1)
    assert (end["status"], end["reason"]) == ("failed", "not_json")
    assert end["result"]["questions"] == []


def test_a_question_that_exists_is_sent_back_and_shown() -> None:
    taken = [question()]
    again = {"questions": [question()]}
    end, model = answered([again, {"questions": [other("kettle")]}], min_questions=1, taken=taken)
    assert end["result"]["rejected"][0]["violations"][0]["code"] == "duplicate"
    assert '"start_detail": "stove"' in message_text(model.calls[0].messages[1].content)


@pytest.mark.slow
def test_a_model_that_only_calls_tools_keeps_what_it_had() -> None:
    call = {"name": "items", "args": {"node": "Kitchen_5"}}
    look = {"name": "nodes", "args": {}}
    end, _ = answered([call, look, call], min_questions=1, max_turns=3)
    assert (end["status"], end["reason"]) == ("failed", "out_of_turns")
    wrong = {"name": "items", "args": {"node": "Nowhere"}}
    good = {"questions": [question()]}
    end, _ = answered([good, wrong, wrong, wrong], min_questions=2)
    assert (end["status"], end["result"]["short"]) == ("ok", 1)
    assert end["result"]["why"] == "repeated_call"


def test_a_long_answer_is_bounded_and_sent_back() -> None:
    end, model = answered(["x" * 250_000, {"questions": [question()]}], min_questions=1)
    assert end["status"] == "ok"
    assert len(str(model.calls[1].messages)) < 60_000


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["demo:flat", "demo:house", "demo:villa"])
@pytest.mark.parametrize("compact", [False, True])
def test_heuristic_questions_pass_an_independent_check(scene: str, compact: bool) -> None:
    places = NamedPlaces(get_scene(scene), traversability_of(scene))
    for seed in range(5):
        context = capnav_tasks.Context(scene=scene, min_questions=6, compact=compact)
        end = run(capnav_tasks.graph, {"seed": seed}, context=context)
        questions = end["result"]["questions"]
        assert (end["status"], len(questions)) == ("ok", 6)
        for number, each in enumerate(questions):
            assert not check_question(each, places, questions[:number]).violations


@pytest.mark.slow
def test_the_random_designer_guesses_and_is_found_out() -> None:
    context = capnav_tasks.Context(scene="demo:villa", model="builtin/random")
    end = run(capnav_tasks.graph, {"seed": 2}, context=context)
    assert end["result"]["rejected_in_all"] > len(end["result"]["questions"])
    codes = {f["code"] for each in end["result"]["rejected"] for f in each["violations"]}
    assert codes == {"detail_not_there", "detail_alike"}


def test_a_compact_prompt_is_short_whatever_the_scene_and_the_answers() -> None:
    chosen = {"start": "Kitchen_5", "start_detail": "the stove", "scene_type": "home"}
    replies: list[Any] = [
        "x" * 20_000,
        {**chosen, "end": "Kitchen_5", "end_detail": "stove"},
        {**chosen, "end": "Living_room_3", "end_detail": "sofa"},
    ]
    routes = [["Kitchen_5", "Living_room_3"]]
    end, model = answered(replies, min_questions=1, compact=True, routes=routes)
    assert end["result"]["questions"][0]["question"] == (
        "Can [Agent] move from the stove in the Kitchen_5 to the sofa in the Living_room_3?"
    )
    assert not model.calls[0].tools
    first = model.calls[0].messages
    assert sum(len(message_text(m.content)) for m in first) < 2_000
    held = model.calls[0].response_format["properties"]
    assert (held["start"]["enum"], held["end"]["enum"]) == (["Kitchen_5"], ["Living_room_3"])
    assert "stove" in held["start_detail"]["enum"]
    # Of what was said before, only the last answer and what was wrong with it.
    assert [len(call.messages) for call in model.calls] == [2, 4, 4]
    assert "same node" in message_text(model.calls[2].messages[-1].content)


def test_compact_questions_each_have_a_route_of_their_own() -> None:
    context = capnav_tasks.Context(scene="demo:villa", compact=True, min_questions=8)
    end = run(capnav_tasks.graph, {"seed": 4}, context=context)
    ends = [q["nodes_involved"] for q in end["result"]["questions"]]
    assert len({(each["start"], each["end"]) for each in ends}) == 8


def test_the_guideline_is_in_the_prompt_whole() -> None:
    _, model = answered([{"questions": [question()]}], min_questions=1)
    system = message_text(model.calls[0].messages[0].content)
    assert read_guideline() in system
    assert "[Agent]" in read_guideline()
    assert {tool["function"]["name"] for tool in model.calls[0].tools} == {
        "nodes",
        "items",
        "route",
        "feasible",
    }


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai", "anthropic", "vllm"])
def test_over_the_wire(provider: str) -> None:
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        base = server.url if provider == "anthropic" else server.openai_url
        model = get_model(f"{provider}/brain", base_url=base, api_key="not-a-real-key-000")
        context = capnav_tasks.Context(scene="demo:villa", model=model)
        end = run(capnav_tasks.graph, {"seed": 3}, context=context)
        local = run(
            capnav_tasks.graph, {"seed": 3}, context=capnav_tasks.Context(scene="demo:villa")
        )
    assert end["result"]["questions"] == local["result"]["questions"]
    assert not server.errors


@pytest.mark.slow
def test_frames_of_a_video_reach_the_model(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    from navloom.evals.video import sample_frames
    from tests.graphs.capnav.videos import write_video

    video = write_video(av, tmp_path / "tour.mp4", [(200, 0, 0), (0, 200, 0), (0, 0, 200)])
    frames = tuple(sample_frames(video, 3))
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        model = get_model("openai/brain", base_url=server.openai_url, api_key="not-a-real-key-000")
        context = capnav_tasks.Context(scene="demo:flat", model=model, frames=frames)
        end = run(capnav_tasks.graph, {"seed": 3}, context=context)
    assert (end["status"], end["result"]["frames"]) == ("ok", 3)
    for call in server.calls:
        shown = pictures(call.body)
        assert [nearest(each) for each in shown] == ["red", "green", "blue"]
        assert "3 frames of a video" in json.dumps(call.body)
    # What a checkpoint would hold has no picture in it.
    assert "base64" not in str(end["messages"])


def pictures(body: dict[str, Any]) -> list[bytes]:
    """The pictures in a request to OpenAI's chat endpoint."""
    import base64

    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    urls = [b["image_url"]["url"] for b in blocks if b["type"] == "image_url"]
    return [base64.b64decode(url.partition("base64,")[2]) for url in urls]


def nearest(picture: bytes) -> str:
    from io import BytesIO

    from PIL import Image

    with Image.open(BytesIO(picture)) as opened:
        pixel = opened.convert("RGB").getpixel((opened.width // 2, opened.height // 2))
    assert isinstance(pixel, tuple)
    return ("red", "green", "blue")[max(range(3), key=lambda k: pixel[k])]
