"""A small generated CapNav folder, and 200 written answers for it.

    python -m tests.evals.capnav.world SCORER.py     writes official_200.json

SCORER.py is the public scorer (makeabilitylab/CapNav, ``scripts/capnav_score.py``). It is run on
the folder and the answers. Only its verdict on each answer is kept.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).with_name("official_200.json")
COUNT = 200
AGENTS = ("HUMAN", "WHEELCHAIR", "HUMANOID", "QUADRUPEDAL", "SWEEPER")
_LABELLED = ("HUMAN", "WHEELCHAIR", "ROBOT", "QUADRUPEDAL", "SWEEPER")

NAMES = {
    "HOUSE01": [
        "Entrance hall",
        "Kitchen",
        "Living room",
        "Living room with fireplace",
        "Stair landing",
        "Upstairs hallway",
        "Master bedroom",
        "Bathroom",
        "Kids' room (blue)",
        "Garden shed",
    ],
    "HOUSE02": ["Lobby", "Hall", "Bedroom", "Bedroom", "", "Laundry/utility", "Far hall end"],
}
"""The second has a duplicate name, an unnamed node, and a name inside another."""
EDGES = {
    "HOUSE01": [(0, 1), (1, 2), (0, 2), (2, 3), (0, 4), (4, 5), (5, 6), (6, 7), (5, 7), (5, 8)],
    "HOUSE02": [(0, 1), (1, 2), (1, 3), (3, 4), (1, 5), (1, 6)],
}
"""The shed of the first is disconnected."""
NOTES = {
    ("HOUSE01", 0, 4): ("WHEELCHAIR HUMANOID SWEEPER", "cannot go up/down stairs"),
    ("HOUSE01", 4, 5): ("WHEELCHAIR HUMANOID SWEEPER", "cannot go up/down stairs"),
    ("HOUSE01", 5, 7): ("WHEELCHAIR HUMANOID", "bathroom door too narrow; door sill"),
    ("HOUSE01", 6, 7): ("HUMANOID", "door too narrow"),
    ("HOUSE01", 1, 2): ("SWEEPER", "door sill too high"),
    ("HOUSE01", 2, 3): ("WHEELCHAIR", "not enough turning space"),
    ("HOUSE02", 1, 2): ("HUMANOID WHEELCHAIR", "sofa block the way"),
    ("HOUSE02", 1, 5): ("SWEEPER QUADRUPEDAL", "cannot open door"),
    ("HOUSE02", 0, 1): ("HUMANOID", ""),
}
UNLABELLED = {("HOUSE01", 5, 8): "WHEELCHAIR QUADRUPEDAL", ("HOUSE02", 3, 4): "HUMAN SWEEPER"}
OPPOSITE = {("HOUSE01", 0, 2): "SWEEPER"}
"""Open from the first to the second, blocked the other way."""
QUESTIONS = {
    "HOUSE01": [
        ("from the Entrance hall door to the Kitchen sink", 0, 1),
        ("from the sofa in the Living room to the rug in the Living room with fireplace", 2, 3),
        ("from the Kitchen to the Master bedroom", 1, 6),
        ("from the Entrance hall to the tub in the Bathroom", 0, 7),
        ("from the Upstairs hallway to the Kids' room (blue)", 5, 8),
        ("from the Living room to the Garden shed", 2, 9),
        ("from the Bathroom to the Entrance hall", 7, 0),
        ("between the Kitchen and the Stair landing", 1, 4),
        ("out of the kitchen, into nothing in particular", 1, 2),
    ],
    "HOUSE02": [
        ("from the Lobby to the Bedroom", 0, 2),
        ("from the Hall to the Laundry/utility", 1, 5),
        ("from the Bedroom to the Lobby", 3, 0),
        ("from somewhere to anywhere", 0, 5),
    ],
}
ODD = {
    "HOUSE01": (
        "",
        "Is it far?",
        "Kitchen from here to there",
        "from here to the Kitchen and on to the Bathroom",
        "from the Bathroom to the Bathroom",
        "from the Kitchen, past the long and winding Living room with fireplace, to the Bathroom",
        "from the Living room with fireplace to the Kitchen by the Living room with fireplace",
        "from the rug of the Living room with fireplace Kitchen to the Living room",
    ),
    "HOUSE02": ("to the Lobby, then from it to the Hall", "Hall Bedroom Hall", "Hall, Hall"),
}
"""Questions that the scorer's text matching has trouble with."""
STRUCK_OUT = ("HOUSE01", 8)


def node(k: int) -> str:
    return f"node_{k + 10}"


def write_world(folder: Path) -> Path:
    """Write the folder: graphs, annotations and questions."""
    for part in ("graphs", "traverse", "qa"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for scene, names in NAMES.items():
        _write(folder / "graphs" / f"{scene}-graph.json", _graph(scene, names))
        _write(folder / "traverse" / f"{scene}-traverse.json", _traverse(scene))
        _write(folder / "qa" / f"{scene}_QA.json", _questions(scene))
    return folder


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _graph(scene: str, names: list[str]) -> dict[str, Any]:
    nodes = [
        {
            "id": node(k),
            "name": name,
            "description": "tiled" if name == "Bathroom" else "",
            "position": {"x": float(k), "y": 3.0 * (scene == "HOUSE01" and 5 <= k <= 8), "z": 0.0},
        }
        for k, name in enumerate(names)
    ]
    return {"nodes": nodes, "edges": [{"from": node(a), "to": node(b)} for a, b in EDGES[scene]]}


def _traverse(scene: str) -> dict[str, Any]:
    said: dict[str, Any] = {name: {} for name in _LABELLED}
    for a, b in EDGES[scene]:
        for name in _LABELLED:
            agent = "HUMANOID" if name == "ROBOT" else name
            if agent in UNLABELLED.get((scene, a, b), "").split():
                continue
            agents, note = NOTES.get((scene, a, b), ("", ""))
            blocked = agent in agents.split()
            cell = {"traversable": not blocked, "note": note if blocked else ""}
            said[name][f"{node(a)}|{node(b)}"] = cell
            if agent in OPPOSITE.get((scene, a, b), "").split():
                other = {"traversable": blocked, "note": "a step down"}
                said[name][f"{node(b)}|{node(a)}"] = other
    said["HUMAN"][f"startDetail:{node(0)}"] = {"traversable": True, "note": "fine"}
    struck = [question(*STRUCK_OUT)] if scene == STRUCK_OUT[0] else []
    return {**said, "_hallucinatedQuestions": struck}


def question(scene: str, k: int) -> str:
    return f"Can [Agent] move {QUESTIONS[scene][k][0]}?"


def _questions(scene: str) -> list[dict[str, Any]]:
    asked = []
    for k, (_, start, end) in enumerate(QUESTIONS[scene]):
        ends = [_said(scene, start, k), _said(scene, end, k + 1)]
        involved = {"start": ends[0], "start_detail": "", "intermediate": []}
        involved |= {"end": ends[1], "end_detail": ""}
        asked.append(
            {
                "question": question(scene, k),
                "scene_type": "home",
                "reason": "",
                "nodes_involved": involved,
            }
        )
    return asked


def _said(scene: str, k: int, way: int) -> str:
    """Return an id, a name, or both, as in the benchmark's files."""
    name = NAMES[scene][k]
    if NAMES[scene].count(name) > 1:
        return node(k)
    return (name, node(k), f"{node(k)} — {name}")[way % 3]


CORNERS = [
    # A passage that nobody labelled, on a route that is said to work.
    ("HOUSE01", "WHEELCHAIR", "from the Upstairs hallway to the Kids' room (blue)", "A", (5, 8)),
    ("HOUSE01", "QUADRUPEDAL", "from the Kitchen to the Kids' room (blue)", "A", (1, 0, 4, 5, 8)),
    ("HOUSE01", "QUADRUPEDAL", "from the Kitchen to the Kids' room (blue)", "B", (1, 0, 4, 5, 8)),
    # One way open, the other blocked.
    ("HOUSE01", "SWEEPER", "from the Entrance hall to the Living room", "A", (0, 2)),
    ("HOUSE01", "SWEEPER", "from the Living room to the Entrance hall", "A", (2, 0)),
    # Two names whose middles are one place: the longer one is worth more.
    ("HOUSE02", "HUMAN", "from the Far hall end to the Lobby", "A", (6, 1, 0)),
    ("HOUSE02", "HUMAN", "from the Lobby to the Far hall end", "A", (0, 1, 6)),
    ("HOUSE02", "HUMAN", "from here to the Far hall end", "A", (6, 1)),
    ("HOUSE02", "HUMAN", "Far hall end", "A", (1, 6)),
    ("HOUSE01", "HUMAN", "", "A", (0, 1)),
    ("HOUSE01", "HUMAN", " ", "A", (0, 1)),
    ("HOUSE01", "HUMAN", "Living room with fireplace, then Kitchen", "A", (3, 2, 1)),
    ("HOUSE01", "HUMAN", "Kitchen, then Living room with fireplace", "A", (1, 2, 3)),
]
"""Answers that a draw of 200 may miss: scene, body, question, A or B, path."""


def written_answers(seed: int = 8, count: int = COUNT) -> list[dict[str, Any]]:
    """Return answers in the older text form or as JSON items.

    Each has ``scene``, ``agent``, ``question`` and a reply. The reply is a text in ``output``, or
    one JSON answer in ``item`` as the public runner stores it.
    """
    rng = random.Random(seed)
    drawn = [_written(rng, k) for k in range(count)]
    for k, (scene, agent, asked, letter, path) in enumerate(CORNERS):
        said = " -> ".join(node(each) for each in path)
        output = f"Answer: ({letter}) {letter == 'A'} | Path: {said} | Reason: stairs"
        about = {"scene": scene, "agent": agent, "question": asked, "output": output}
        drawn[k] = {"id": f"a{k:03d}", **about}
    return drawn


def _written(rng: random.Random, k: int) -> dict[str, Any]:
    scene = rng.choice(("HOUSE01", "HOUSE01", "HOUSE02"))
    number = rng.randrange(len(QUESTIONS[scene]))
    asked = question(scene, number)
    agent = rng.choice((*AGENTS, *AGENTS, "wheelchair", "ROBOT", "ALIEN"))
    if rng.random() < 0.2:
        asked = rng.choice((*ODD[scene], asked.upper()))
    path = _named(rng, scene, _route(rng, scene, number))
    about = {"id": f"a{k:03d}", "scene": scene, "agent": agent, "question": asked}
    if rng.random() < 0.3:
        said = rng.choice(("yes", "no", "Yes", "TRUE", "a", "(A)", "(B)", "maybe", "", "y"))
        given: Any = rng.choice((path, path, path, path, None, "Kitchen -> Bathroom", [1, None]))
        result = {"answer": said, "path": given, "reason": "stairs"}
        return {**about, "item": rng.choice(({"result": result},) * 6 + ({"result": "no"}, {}))}
    return {**about, "output": _text(rng, path)}


def _route(rng: random.Random, scene: str, number: int) -> list[int]:
    names = NAMES[scene]
    near: dict[int, list[int]] = {}
    for a, b in EDGES[scene]:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    _, start, end = QUESTIONS[scene][number]
    walks = [_walk(rng, near, start, end) for _ in range(6)]
    walk = min(walks, key=lambda each: (each[-1] != end, len(each)))
    others = [rng.randrange(len(names)) for _ in range(rng.randint(0, 4))]
    return rng.choice((walk, walk, walk, walk, walks[0], others, [start, end], [*walk, *walk[-2:]]))


def _walk(rng: random.Random, near: dict[int, list[int]], start: int, end: int) -> list[int]:
    walk = [start]
    while walk[-1] != end and len(walk) < 7 and walk[-1] in near:
        ahead = [each for each in near[walk[-1]] if each not in walk] or near[walk[-1]]
        walk.append(end if end in ahead else rng.choice(ahead))
    return walk


def _named(rng: random.Random, scene: str, path: list[int]) -> list[str]:
    """Return a path mostly as ids, else as names, some with errors or unknown places."""
    way = rng.random()
    if way < 0.5:
        return [node(k) for k in path]
    if way < 0.7:
        return [NAMES[scene][k] for k in path]
    return [_mangled(rng, scene, k) for k in path]


def _mangled(rng: random.Random, scene: str, k: int) -> str:
    name = NAMES[scene][k]
    # Without every third letter a name is about 0.8 alike, without every fourth 0.86.
    slips = ["".join(c for i, c in enumerate(name) if i % m != m - 1) for m in (2, 3, 4, 9)]
    likely = (name.lower() + "!", f"the {name}", f"{name} corner", *slips)
    return rng.choice((*likely, *likely, f"{node(k)} - {name}", node(k), "node_99", "attic"))


def _text(rng: random.Random, path: list[str]) -> str:
    yes = rng.random() < 0.5
    letter = "A" if yes else "B"
    text = f"Answer: ({letter}) {yes} | Path: {rng.choice((' -> ', '->', ' → ')).join(path)}"
    text += rng.choice(("", "", " | Reason: stairs at the door", " | Fail: too narrow", " | fail:"))
    return rng.choice(
        (
            text,
            text,
            text,
            text,
            text,
            text,
            f"<think>Answer: (A) True | Path: a -> b</think>\n{text}",
            f"<think>I wonder. {text}",
            f"Well then.\n{text}\nThat is all.",
            text.lower(),
            f"{text} | Reason:\n  stairs",
            "It cannot get there because of the stairs.",
            "",
            f"answer:({letter}){yes}|path:{'->'.join(path)}",
        )
    )


def judge(reason: str) -> bool:
    """Judge a reason as these tests do: correct if it mentions stairs."""
    return "stairs" in reason


def load_scorer(path: Path | str, world: Path) -> Any:
    """Load the public scorer with the files of the folder and :func:`judge` as its judge."""
    spec = importlib.util.spec_from_file_location("public_capnav_score", path)
    assert spec is not None
    assert spec.loader is not None
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    scorer.GT_ROOT = world
    scorer._SCENE_CACHE.clear()

    def graded(reason: str, _: list[str]) -> dict[str, Any]:
        return {"ok": True, "correct": judge(reason), "explanation": "", "llm_response": ""}

    scorer.evaluate_reasoning_with_openai = graded
    return scorer


def public_verdict(scorer: Any, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the public scorer's verdict on one written answer, in our terms."""
    output = answer.get("output")
    if output is None:
        inner = answer["item"].get("result") or {}
        inner = inner if isinstance(inner, dict) else {}
        path = inner.get("path") or []
        path = [str(each) for each in path] if isinstance(path, list) else []
        output = scorer.synthesize_output_text(str(inner.get("answer") or ""), path)
    about = {name: answer[name] for name in ("scene", "agent", "question")}
    said = scorer.score_record({**about, "output": output})
    if not said["ok"]:
        return {"error": said["error"]}
    yes, truth = said["vlm_answer"] == "yes", said["ground_truth_doable"]
    bucket = said.get("binary_bucket") or (
        ("TP" if truth else "FP") if yes else ("FN" if truth else "TN")
    )
    return {
        "error": None,
        "format_error": said["format_error_type"],
        "start": said["src_id"],
        "end": said["tgt_id"],
        "truth": truth,
        "bucket": bucket,
        "path": said["vlm_path_ids"],
        "valid": said["pv_valid"],
        "faults": said["pv_errors"],
        "traversable": said["traversability_score"],
        "reason_valid": said["rv_score"],
    }


def main(scorer: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_scorer(scorer, write_world(Path(folder)))
        rows = {each["id"]: public_verdict(loaded, each) for each in written_answers()}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items())
    EXPECTED.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    print(f"wrote {EXPECTED}: {len(rows)} answers")


if __name__ == "__main__":
    main(sys.argv[1])
