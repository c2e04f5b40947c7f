"""CapNav questions as a batch: exact counts, steering, stopping, files, pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import RunError, SceneError, UsageError
from navloom.evals.capnav.benchmark_data import load_benchmark
from navloom.evals.capnav.question_set import (
    BalanceCounts,
    CollectedQuestion,
    QuestionSet,
    RouteBalancer,
    RouteFacts,
    candidate_routes,
    collect_questions,
    read_balance,
    read_route_facts,
    truth_record,
)
from navloom.evals.capnav.question_synthesis import (
    add_next_round,
    find_usable_scenes,
    plan_first_round,
)
from navloom.evals.capnav.request import CapnavSynthRequest
from navloom.evals.progress import Summary
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.runner import arun_request, run_request
from navloom.evals.session import Session
from navloom.models import get_model
from navloom.models.scripted import register, unregister
from navloom.scenes.formats.scene_json import save
from navloom.scenes.scene_uri import get_scene
from navloom.scenes.traversability_table import PassageCell, Traversability
from navloom.testing import ModelServer, reply_with
from navloom.tools.capnav.feasibility import check_feasibility
from navloom.tools.capnav.named_places import NamedPlaces, traversability_of
from navloom.tools.capnav.question_grounding import check_question
from tests.cli.small import small_scene
from tests.evals import tiny
from tests.evals.stopping import cut_short, slow
from tests.tools.capnav.test_question_grounding import question


def files_of(folder: Path, name: str = "qa") -> dict[str, list[dict[str, Any]]]:
    return {path.name: json.loads(path.read_text()) for path in sorted((folder / name).iterdir())}


@pytest.mark.slow
def test_n_questions_in_all_spread_evenly_and_each_grounded(tmp_path: Path) -> None:
    summary = run_request(CapnavSynthRequest(spec="demo:", questions=20, seed=4), tmp_path)
    files = files_of(tmp_path)
    assert {name: len(asked) for name, asked in files.items()} == {
        "flat_QA.json": 7,
        "house_QA.json": 7,
        "villa_QA.json": 6,
    }
    assert (summary.found["questions"]["accepted"], summary.found["questions"]["short"]) == (20, 0)
    truths = files_of(tmp_path, "truth")
    for name, asked in files.items():
        uri = f"demo:{name.removesuffix('_QA.json')}"
        places = NamedPlaces(get_scene(uri), traversability_of(uri))
        rows = truths[name.replace("_QA", "_truth")]
        for number, each in enumerate(asked):
            assert not check_question(each, places, asked[:number]).violations
            assert rows[number]["question"] == each["question"]
            for body, said in rows[number]["bodies"].items():
                ends = each["nodes_involved"]
                found = check_feasibility(places.truth, body, ends["start"], ends["end"])
                assert said["answer"] is found.answer
                assert said["blocking"] == [passage.record() for passage in found.blocking]


@pytest.mark.slow
def test_the_same_request_makes_the_same_questions_however_it_is_gone_through(
    tmp_path: Path,
) -> None:
    request = CapnavSynthRequest(spec="demo:", questions=20, seed=4, balance=True)
    whole = run_request(request, tmp_path / "whole")
    part = run_request(request, tmp_path / "parts", Session(limit=2))
    assert part.left == 4
    assert part.found["questions"]["accepted"] < 20
    rest = run_request(request, tmp_path / "parts")
    assert files_of(tmp_path / "whole") == files_of(tmp_path / "parts")
    assert whole.found["questions"] == rest.found["questions"]
    again = run_request(request, tmp_path / "parts")
    assert (again.samples, again.found["questions"]) == (rest.samples, rest.found["questions"])


@pytest.mark.slow
def test_steering_makes_a_set_more_balanced(tmp_path: Path) -> None:
    # A wheelchair gets everywhere in the flat and the house: those can be balanced for nobody.
    made = {
        wanted: run_request(
            CapnavSynthRequest(spec="demo:villa", questions=40, seed=1, balance=wanted),
            tmp_path / str(wanted),
        ).found["questions"]["balance"]
        for wanted in (False, True)
    }
    assert made[True]["imbalance"] < 0.75 * made[False]["imbalance"]
    # A slim body that opens doors can go anywhere in the demo homes: no set makes it fail.
    bodies = {body: said for body, said in made[True]["bodies"].items() if body != "HUMAN"}
    assert len(bodies) == 4
    for said in bodies.values():
        assert abs(said["feasible"] - said["infeasible"]) <= 4


def test_steering_prefers_what_is_rare_and_depends_on_nothing_else() -> None:
    yes = [RouteFacts("a", f"y{k}", 2, {"X": True}, {}) for k in range(5)]
    no = [RouteFacts("a", f"n{k}", 2, {"X": False}, {"X": ("stairs",)}) for k in range(5)]
    unknown = [RouteFacts("a", "u", 1, {"X": None}, {})]
    steer = RouteBalancer(yes)
    picked = [steer.pick([*yes, *no, *unknown], set(), 7) for _ in range(1)]
    assert picked[0] in no
    assert RouteBalancer(yes).pick([*yes, *no, *unknown], set(), 7) == picked[0]
    taken = {(each.start, each.end) for each in [*yes, *no]}
    assert RouteBalancer().pick([*yes, *no, *unknown], taken, 7) == unknown[0]
    assert RouteBalancer().pick(yes, taken, 7) is None
    assert BalanceCounts.of([*yes, *no]).imbalance == 0
    assert BalanceCounts.of(yes).imbalance == 1
    assert BalanceCounts.of(unknown).imbalance is None


def test_a_balance_counts_questions_answers_lengths_and_barriers() -> None:
    asked = [
        RouteFacts("a", "b", 2, {"X": True, "Y": False}, {"Y": ("stairs", "clutter")}),
        RouteFacts("b", "a", 2, {"X": True, "Y": False}, {"Y": ("stairs",)}),
        RouteFacts("a", "c", 9, {"X": False, "Y": None}, {"X": ("stairs",)}),
    ]
    found = BalanceCounts.of(asked).record()
    # X: |2 - 1| / 3; Y: |0 - 2| / 2, of what is known.
    assert found.pop("imbalance") == round((1 / 3 + 1) / 2, 4)
    assert found.pop("lengths") == {"1": 0, "2": 2, "3": 0, "4": 0, "5": 0, "6+": 1}
    assert found == {
        "questions": 3,
        "bodies": {
            "X": {"feasible": 2, "infeasible": 1, "unknown": 0},
            "Y": {"feasible": 0, "infeasible": 2, "unknown": 1},
        },
        "kinds": {"stairs": 3, "clutter": 1},
    }


def scripted(replies: Any, tmp_path: Path, **given: Any) -> Summary:
    name = f"designer-{tmp_path.name}"  # a model of one name is made once in a process
    register(name, replies)
    try:
        request = CapnavSynthRequest(
            spec="demo:villa", model=f"scripted/{name}", max_reasks=0, **given
        )
        return run_request(request, tmp_path)
    finally:
        unregister(name)


def other(detail: str) -> dict[str, Any]:
    text = f"Can [Agent] move from the {detail} in the Kitchen_5 to the sofa in the Living_room_3?"
    return question(question=text, start_detail=detail)


@pytest.mark.slow
def test_a_round_asks_for_what_is_missing_and_shows_what_exists(tmp_path: Path) -> None:
    seen: list[str] = []

    def reply(messages: list[Any]) -> dict[str, Any]:
        seen.append(str(messages[1].content))
        return {"questions": [question() if len(seen) < 3 else other("kettle")]}

    summary = scripted(reply, tmp_path, questions=2, min_questions=1)
    # Both conversations of the first round gave one question; the second knows it.
    assert (summary.found["rounds"], summary.samples) == (2, 3)
    assert summary.found["questions"]["duplicates_dropped"] == 1
    assert (summary.found["questions"]["accepted"], summary.found["questions"]["short"]) == (2, 0)
    assert "exist already" not in seen[0] + seen[1]
    assert '"start_detail": "stove"' in seen[2]
    assert [row["round"] for row in read_samples(tmp_path)] == [1, 1, 2]


def test_what_is_missing_after_all_rounds_is_said_exactly(tmp_path: Path) -> None:
    def reply(_: list[Any]) -> dict[str, Any]:
        return {"questions": [question(), other("piano")]}

    summary = scripted(reply, tmp_path, questions=5, min_questions=5, max_rounds=2)
    said = summary.found["questions"]
    assert (said["accepted"], said["short"], said["short_by_scene"]) == (1, 4, {"demo:villa": 4})
    assert said["rules_broken"]["detail_not_there"] == 2
    assert (summary.ok, summary.failed) == (1, 1)  # the second round brought nothing new


@pytest.mark.slow
def test_spare_questions_of_one_scene_stand_in_for_anothers_gap(tmp_path: Path) -> None:
    request = CapnavSynthRequest(spec="demo:", questions=3, min_questions=3)
    plan = plan_first_round(request, find_usable_scenes("demo:"))
    rows = [
        {
            "id": "v",
            "scene": "demo:villa",
            "attempt": 0,
            "result": {
                "questions": [question(), other("kettle"), other("toaster"), other("pot")],
                "grounding": [{k: {"status": "verified"} for k in ("start_detail", "end_detail")}]
                * 4,
            },
        }
    ]
    uri = "demo:villa"
    found = collect_questions(
        rows, plan.quotas, 3, lambda _: NamedPlaces(get_scene(uri), traversability_of(uri))
    )
    assert (found.count, found.spare) == (3, 1)
    assert not add_next_round(plan, found)


def test_scenes_without_ways_are_left_out_and_named(tmp_path: Path) -> None:
    lonely = small_scene("lonely").replace(links=())
    for scene in (small_scene("joined"), lonely):
        save(scene, tmp_path / f"{scene.id}.json")
    fit = find_usable_scenes(str(tmp_path))
    assert list(fit.scenes) == ["made:joined"]
    assert "no way joins two named places" in fit.skipped["made:lonely"]
    with pytest.raises(SceneError, match="no question is possible"):
        find_usable_scenes(str(tmp_path / "lonely.json"))
    (tmp_path / "broken.json").write_text("{")
    assert len(find_usable_scenes(str(tmp_path)).skipped) == 2


def test_a_request_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    for wrong in ({"questions": 0}, {"min_questions": 51}, {"frames": 0}, {"max_rounds": 0}):
        with pytest.raises(UsageError, match=str(next(iter(wrong)))):
            CapnavSynthRequest(**{"spec": "demo:", "questions": 5, **wrong})
    with pytest.raises(UsageError, match="no such folder"):
        find_usable_scenes("demo:", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"expected flat\.mp4"):
        find_usable_scenes("demo:", str(tmp_path))


@pytest.mark.slow
def test_frames_of_the_scenes_video_reach_the_model_and_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    av = pytest.importorskip("av")
    from tests.graphs.capnav.test_designer import nearest, pictures
    from tests.graphs.capnav.videos import write_video

    (tmp_path / "videos").mkdir()
    video = write_video(av, tmp_path / "videos/flat.mp4", [(0, 0, 200), (200, 0, 0)])
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-000")
        request = CapnavSynthRequest(
            spec="demo:", questions=6, model="openai/gpt-4o-mini", video=str(video.parent), frames=2
        )
        summary = run_request(request, tmp_path / "run")
        # gpt-3.5-turbo is known to take no images: it works without, and that is said.
        blind = CapnavSynthRequest(
            spec="demo:flat", questions=1, model="openai/gpt-3.5-turbo", video=str(video.parent)
        )
        before = len(server.calls)
        run_request(blind, tmp_path / "blind")
        assert not any(pictures(call.body) for call in server.calls[before:])
    assert summary.found["questions"]["accepted"] == 6
    shown = [pictures(call.body) for call in server.calls[:before]]
    assert {len(each) for each in shown} == {0, 2}
    assert {tuple(map(nearest, each)) for each in shown if each} == {("blue", "red")}
    by_scene = {row["scene"]: row["result"]["frames"] for row in read_samples(tmp_path / "run")}
    assert by_scene == {"demo:flat": 2, "demo:house": 0, "demo:villa": 0}
    said = read_run(tmp_path / "run")
    assert said["request"]["videos"]["count"] == 1
    assert "video" not in said["request"]
    assert CapnavSynthRequest.read(tmp_path / "run") == request
    assert b"base64" not in (tmp_path / "run/samples.jsonl").read_bytes()


@pytest.mark.slow
async def test_a_run_that_is_cut_goes_on_to_the_same_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-000")
    request = CapnavSynthRequest(
        spec="demo:", questions=30, model="openai/gpt-4o-mini", min_questions=3
    )
    with ModelServer(slow(reply_with(get_model("builtin/heuristic")))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        cut = await cut_short(request, tmp_path / "cut", server, 2)
        whole = await arun_request(request, tmp_path / "whole")
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")
    assert cut.found["questions"] == whole.found["questions"]
    ids = [row["id"] for row in read_samples(tmp_path / "cut")]
    assert len(ids) == len(set(ids)) == whole.samples


@pytest.mark.slow
@pytest.mark.realdata
def test_two_hundred_questions_of_the_benchmarks_scenes(data_dir: Path, tmp_path: Path) -> None:
    """Show 4: every accepted question passes the checks, and what is written can be evaluated."""
    spec = f"capnav:{data_dir}/capnav"
    summary = run_request(CapnavSynthRequest(spec=spec, questions=200), tmp_path)
    assert (summary.found["questions"]["accepted"], summary.found["questions"]["short"]) == (200, 0)
    files = files_of(tmp_path)
    assert sum(map(len, files.values())) == 200
    assert {len(asked) for asked in files.values()} == {6, 7}
    for name, asked in files.items():
        uri = f"{spec}/{name.removesuffix('_QA.json')}"
        places = NamedPlaces(get_scene(uri), traversability_of(uri))
        for number, each in enumerate(asked):
            assert not check_question(each, places, asked[:number]).violations
    for kind in ("graphs", "traverse"):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / kind).symlink_to(data_dir / "capnav" / kind)
    (tmp_path / "data/qa").symlink_to(tmp_path / "qa")
    bench = load_benchmark(tmp_path / "data")
    assert len(bench.questions) == 200
    assert not bench.unresolved
    truths = files_of(tmp_path, "truth")
    for asks in bench.questions:
        row = truths[f"{asks.scene}_truth.json"][int(asks.id.rpartition("q")[2]) - 1]
        for body in bench.bodies:
            assert row["bodies"][body.name]["answer"] is bench.feasible(asks, body)


@pytest.mark.slow
@pytest.mark.realdata
def test_steering_on_the_benchmarks_scenes(data_dir: Path, tmp_path: Path) -> None:
    spec = f"capnav:{data_dir}/capnav"
    made = {}
    for wanted in (False, True):
        request = CapnavSynthRequest(spec=spec, questions=200, balance=wanted)
        made[wanted] = run_request(request, tmp_path / str(wanted)).found["questions"]["balance"]
    assert made[True]["imbalance"] < 0.4 < 0.5 < made[False]["imbalance"]
    for body in ("WHEELCHAIR", "HUMANOID", "SWEEPER"):
        counted = made[True]["bodies"][body]
        assert abs(counted["feasible"] - counted["infeasible"]) <= 10
    assert made[True]["kinds"]["elevator"] > made[False]["kinds"]["elevator"]


def facts(length: int = 2, answer: bool | None = True, *kinds: str, end: str = "b") -> RouteFacts:
    return RouteFacts("a", end, length, {"X": answer}, {"X": kinds} if answer is False else {})


def kept(*statuses: tuple[str, int | None]) -> CollectedQuestion:
    grounding = {
        key: {"status": status, "fits": fits}
        for key, (status, fits) in zip(("start_detail", "end_detail"), statuses, strict=True)
    }
    ends = {"nodes_involved": {"start": "a", "end": "b"}}
    truth = {"length": 1, "bodies": {"X": {"answer": True, "kinds": []}}}
    return CollectedQuestion(ends, grounding, "sample", truth)


def test_what_is_missing_is_asked_for_scene_by_scene_up_to_the_whole() -> None:
    one = kept(("verified", 1), ("unverifiable", None))
    found = QuestionSet({"s": [one, kept(("verified", 1), ("verified", 1))], "t": []})
    assert found.count == 2
    assert found.missing({"s": 3, "t": 3}, 6) == {"s": 1, "t": 3}
    assert found.missing({"s": 3, "t": 3, "u": 3}, 4) == {"s": 1, "t": 1}
    assert found.missing({"s": 2, "t": 1}, 3) == {"t": 1}
    assert found.missing({"s": 9}, 2) == {}
    assert found.details() == {"verified": 3, "unverifiable": 1, "told_apart": 3}
    told = found.record({"s": 3, "t": 3}, 5)
    assert (told["asked"], told["accepted"], told["short"]) == (5, 2, 3)
    assert told["short_by_scene"] == {"s": 1, "t": 3}
    assert found.record({"s": 2, "t": 3}, 2)["short_by_scene"] == {}
    assert (told["spare"], told["duplicates_dropped"], told["rules_broken"]) == (0, 0, {})


@pytest.mark.parametrize(("length", "bin_"), [(1, "1"), (5, "5"), (6, "6+"), (9, "6+")])
def test_long_routes_are_one_group(length: int, bin_: str) -> None:
    assert facts(length).bin == bin_


# Rooms in a row, and one that nothing is said of: only X stops at the stairs.
ROW = Traversability(
    ("a", "b", "c", "d"),
    (("a", "b"), ("b", "c")),
    {name: name for name in "abcd"},
    {
        "X": {("a", "b"): PassageCell(traversable=False, note="stairs"),
              ("b", "c"): PassageCell(traversable=True, note="")},
        "Y": {("a", "b"): PassageCell(traversable=True, note="")},
    },
)  # fmt: skip


def test_the_truth_of_a_question_is_that_of_every_body() -> None:
    told = truth_record(ROW, "a", "c")
    assert (told["route"], told["length"]) == (["a", "b", "c"], 2)
    x, y = told["bodies"]["X"], told["bodies"]["Y"]
    assert (x["answer"], x["path"], x["kinds"]) == (False, [], ["stairs"])
    assert [each["note"] for each in x["blocking"]] == ["stairs"]
    assert (y["answer"], y["path"], len(y["unlabelled"])) == (None, ["a", "b", "c"], 1)
    found = read_route_facts(told, "a", "c")
    assert (found.length, found.answers) == (2, {"X": False, "Y": None})
    assert found.kinds == {"X": ("stairs",)}
    lost = truth_record(ROW, "a", "d")
    assert (lost["route"], lost["length"]) == ([], 0)
    assert read_route_facts(lost, "a", "d").length == 1


def test_candidates_are_the_pairs_that_some_route_joins() -> None:
    home = tiny.home()
    truth = Traversability(
        ("Bedroom_1", "Hallway_2", "Kitchen_3", "Garage_8"),
        (("Bedroom_1", "Hallway_2"), ("Hallway_2", "Kitchen_3")),
        {},
        {
            "X": {("Bedroom_1", "Hallway_2"): PassageCell(traversable=False, note="stairs"),
                  ("Hallway_2", "Kitchen_3"): PassageCell(traversable=True, note="")},
            "Y": {("Bedroom_1", "Hallway_2"): PassageCell(traversable=True, note="")},
        },
    )  # fmt: skip
    found = {(each.start, each.end): each for each in candidate_routes(NamedPlaces(home, truth), 0)}
    assert len(found) == 6
    far = found["Bedroom_1", "Kitchen_3"]
    assert (far.length, far.answers, far.kinds) == (
        2, {"X": False, "Y": None}, {"X": ("stairs",)},
    )  # fmt: skip
    near = found["Hallway_2", "Kitchen_3"]
    assert (near.length, near.answers, near.kinds) == (1, {"X": True, "Y": None}, {})


def test_a_set_is_steered_to_rare_answers_lengths_and_barriers() -> None:
    # All so far could be done: what cannot be done is worth more than what is longer.
    before = [facts(2, True)] * 4
    assert RouteBalancer(before).pick(
        [facts(3, True), facts(2, False, "stairs")], set(), 1
    ) == facts(2, False, "stairs")
    # Of two that cannot, the rare length or the rare barrier goes first.
    no = [facts(2, False, "stairs")] * 2 + [facts(2, True)] * 2
    assert RouteBalancer(no).pick([facts(2, True), facts(4, True)], set(), 1) == facts(4, True)
    rare = facts(2, False, "elevator")
    assert RouteBalancer(no).pick([facts(2, False, "stairs"), rare], set(), 1) == rare
    assert RouteBalancer(no).pick([rare], {("a", "b")}, 1) is None


@pytest.mark.parametrize(
    ("route", "worth"),
    [
        # How much rarer the answer is, then half of the rarity of the length and of the barrier.
        (facts(2, False, "stairs"), 2 / 3 + 0.5 / 3 + 0.5 / 1),
        (facts(2, True), -2 / 3 + 0.5 / 3),
        (facts(4, None), -1 + 0.5),
        (facts(4, False, "other", "no note"), 2 / 3 + 0.5),
        (RouteFacts("a", "b", 4, {}, {}), 0.5),
        (RouteFacts("a", "b", 4, {"X": True, "Z": True}, {}), (-2 / 3 + 0) / 2 + 0.5),
    ],
)
def test_what_a_route_is_worth_to_a_set(route: RouteFacts, worth: float) -> None:
    assert RouteBalancer([facts(2, True)] * 2)._worth(route) == pytest.approx(worth)


def test_the_rarest_barrier_of_a_route_counts() -> None:
    before = RouteBalancer(
        [facts(2, False, "stairs", "clutter")] * 3 + [facts(2, False, "clutter")]
    )
    both = before._worth(facts(6, False, "stairs", "clutter"))
    assert both == pytest.approx(-4 / 5 + 0.5 + 0.5 / 4)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"asked": 1, "accepted": 1, "balance": {}}', None),
        ('{"asked": 1, "accepted": 1}', "is broken"),
        ("[1]", "is broken"),
        ("{", "is broken"),
        (None, "a session writes it"),
    ],
)
def test_a_balance_is_read_back_or_named(
    content: str | None, said: str | None, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "balance.json").write_text(content)
    if said is None:
        assert read_balance(tmp_path)["asked"] == 1
    else:
        with pytest.raises(RunError, match=said):
            read_balance(tmp_path)
