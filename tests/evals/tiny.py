"""A hand-drawn home of eight rooms, hand-computed tasks in it, and run folders of them.

    Bedroom_1 -- Hallway_2 -- Kitchen_3 -- Dining_room_4 -- Office_5
                     |            |
                Bathroom_6   Living_room_7 -- Garage_8 (below it)

Every link is 5 m long, and each room has one viewpoint at its centre. Every item is 1 m from it,
the second of a name 2 m. So the cup's errand is 20 + 1 + 1 + 15 + 1 = 38 m.
"""

import copy
import itertools
import json
from pathlib import Path

from navloom.scenes.scene import Box, Edge, Floor, Item, Link, Region, Scene, Viewpoint

ROOMS = {
    "Bedroom_1": (0, 0),
    "Hallway_2": (5, 0),
    "Kitchen_3": (10, 0),
    "Dining_room_4": (15, 0),
    "Office_5": (20, 0),
    "Bathroom_6": (5, 5),
    "Living_room_7": (10, 5),
    "Garage_8": (10, 10),
}
LINKS = [(1, 2), (2, 3), (3, 4), (4, 5), (2, 6), (3, 7), (7, 8)]
ITEMS = [
    ("cup-1", "cup", "object", "Office_5", 20, 1),
    ("cup-2", "cup", "object", "Office_5", 20, 2),
    ("counter-1", "counter", "asset", "Kitchen_3", 10, -1),
    ("counter-2", "counter", "asset", "Kitchen_3", 10, -2),
    ("bowl-1", "bowl", "object", "Kitchen_3", 9, 0),
    ("shelf-1", "shelf", "asset", "Living_room_7", 11, 5),
    ("console-1", "console table", "asset", "Hallway_2", 5, -1),
    ("bed-1", "bed", "asset", "Bedroom_1", 0, 1),
    ("sink-1", "sink", "asset", "Bathroom_6", 5, 6),
    ("desk-1", "desk", "asset", "Office_5", 21, 0),
    ("lamp-1", "lamp", "object", "Living_room_7", 9, 5),
    ("rail-1", "narrow rail", "asset", "Dining_room_4", 15, 1),
]


def home() -> Scene:
    ids = list(ROOMS)
    return Scene(
        id="home",
        source="tiny",
        floors=(Floor(id=1, height=0.0),),
        regions=tuple(
            Region(
                id=name,
                label=name.rsplit("_", 1)[0].replace("_", " "),
                center=(x, 0.0, z),
                box=Box(center=(x, 1.25, z), size=(4.8, 2.5, 4.8)),
            )
            for name, (x, z) in ROOMS.items()
        ),
        links=tuple(Link(a=ids[a - 1], b=ids[b - 1], kind="door") for a, b in LINKS),
        items=tuple(
            Item(
                id=item,
                name=name,
                kind=kind,
                region=region,
                position=(x, 0.4, z),
                size=(0.1, 0.8, 1.0) if name == "narrow rail" else (0.6, 0.8, 0.6),
            )
            for item, name, kind, region, x, z in ITEMS
        ),
        viewpoints=tuple(
            Viewpoint(id=f"v{i}", position=(x, 0.0, z), region=name)
            for i, (name, (x, z)) in enumerate(ROOMS.items(), start=1)
        ),
        edges=tuple(Edge(a=f"v{a}", b=f"v{b}") for a, b in LINKS),
    )


def scene_file(folder: Path) -> str:
    """Write the home as a scene.json and return its path, which is a scene spec."""
    path = folder / "home.json"
    path.write_text(home().model_dump_json(), encoding="utf-8")
    return str(path)


PROFILE = {
    "Age": 33,
    "Gender": "Female",
    "Marital Status": "Married",
    "Occupation": "Lawyer",
    "Lifestyle Description": "You keep early hours & like <order>.",
}


def _path(*rooms: str) -> dict:
    return {"robot_1": [f"{a} -> {b}" for a, b in itertools.pairwise(rooms)]}


_CUP = {
    "Single robot start region": {"robot_1": "Bedroom_1"},
    "Single robot target object region": {"robot_1": "Office_5"},
    "Target object": "cup",
    "Single robot end region": {"robot_1": "Living_room_7"},
    "Single robot travel path": _path(
        "Bedroom_1", "Hallway_2", "Kitchen_3", "Dining_room_4", "Office_5",
        "Dining_room_4", "Kitchen_3", "Living_room_7",
    ),
    "Task instruction": "Take the cup from Office_5 to the shelf in Living_room_7.",
}  # fmt: skip
_BOWL = {
    "Single robot start region": {"robot_1": "Garage_8"},
    "Single robot target object region": {"robot_1": "Kitchen_3"},
    "Target object": "bowl",
    "Single robot end region": {"robot_1": "Bedroom_1"},
    "Single robot travel path": _path(
        "Garage_8", "Living_room_7", "Kitchen_3", "Hallway_2", "Bedroom_1"
    ),
    "Task instruction": "Take the bowl from Kitchen_3 to the bed in Bedroom_1.",
}


def single() -> dict:
    return copy.deepcopy(
        {
            "scene": "tiny:home",
            "profile": PROFILE,
            "phase_1": _CUP,
            "phase_2": None,
            "navloom": {
                "id": "tiny-home-0000",
                "seed": 7,
                "model": "builtin/heuristic",
                "tau": 2,
                "object_id": "cup-1",
                "end_asset": "shelf",
                "end_asset_id": "shelf-1",
                "solo_metres": 38.0,
                "legs": [4, 3],
            },
        }
    )


def relay_a1() -> dict:
    """Return a relay: robot_2 brings the cup to the kitchen counter, robot_1 takes it on."""
    row = single()
    row["navloom"] |= {
        "id": "tiny-home-0001",
        "transfer_asset": "counter",
        "transfer_asset_id": "counter-1",
        "alpha": (11 + 7) / 38,
        "alpha_other": (21 + 12) / 38,
        "r1_rate": 18 / 38,
        "g_rate": (max(6 + 12, 11) + 7) / 38,
        "gain_alpha": 20 / 38,
        "gain_g": 13 / 38,
        # robot_2 alone: 6 m to the cup, 17 on to the shelf.
        "best_alone": (6 + 17) / 38,
        "best_alpha": 18 / 38,
        # From Office_5 the helper is at the cup in a metre.
        "best_g_rate": (max(1 + 12, 11) + 7) / 38,
        "regret_alpha": 0.0,
        "regret_g": 25 / 20 - 1,
    }
    there = "the counter in Kitchen_3"
    row["phase_2"] = {
        "Collaborative robot start region": {"robot_1": "Bedroom_1", "robot_2": "Dining_room_4"},
        "Collaborative type": "Type-A1",
        "Transfer region": "Kitchen_3",
        "Subtask instruction": {
            "robot_1": f"Take the cup from {there} to the shelf in Living_room_7.",
            "robot_2": f"Take the cup from Office_5 to {there}.",
        },
        "Subtask list": {
            "robot_1": ["Move_to('counter_3')", "Grab('cup')", "Move_to('shelf_7')",
                        "Release('cup')"],
            "robot_2": ["Move_to('cup_5')", "Grab('cup')", "Move_to('counter_3')",
                        "Release('cup')"],
        },
    }  # fmt: skip
    return row


def relay_a2() -> dict:
    """Return a relay slower than one robot: robot_1 brings the bowl, robot_2 takes it on."""
    row = single()
    row["phase_1"] = copy.deepcopy(_BOWL)
    row["navloom"] |= {
        "id": "tiny-home-0002",
        "object_id": "bowl-1",
        "end_asset": "bed",
        "end_asset_id": "bed-1",
        "solo_metres": 23.0,
        "legs": [2, 2],
        "transfer_asset": "console_table",
        "transfer_asset_id": "console-1",
        "alpha": (11 + 7) / 23,
        "alpha_other": (16 + 7) / 23,
        "r1_rate": 18 / 23,
        "g_rate": (max(18, 6) + 7) / 23,
        "gain_alpha": 5 / 23,
        "gain_g": -2 / 23,
        # As far from the bowl as robot_1 is.
        "best_alone": 1.0,
        "best_alpha": 18 / 23,
        "best_g_rate": 1.0,
        "regret_alpha": 0.0,
        "regret_g": 25 / 23 - 1,
    }
    there = "the console_table in Hallway_2"
    row["phase_2"] = {
        "Collaborative robot start region": {"robot_1": "Garage_8", "robot_2": "Bathroom_6"},
        "Collaborative type": "Type-A2",
        "Transfer region": "Hallway_2",
        "Subtask instruction": {
            "robot_1": f"Take the bowl from Kitchen_3 to {there}.",
            "robot_2": f"Take the bowl from {there} to the bed in Bedroom_1.",
        },
        "Subtask list": {
            "robot_1": ["Move_to('bowl_3')", "Grab('bowl')", "Move_to('console_table_2')",
                        "Release('bowl')"],
            "robot_2": ["Move_to('console_table_2')", "Grab('bowl')", "Move_to('bed_1')",
                        "Release('bowl')"],
        },
    }  # fmt: skip
    return row


def sample(row: dict, attempt: int, **changes) -> dict:
    """Return a row as the sample of the run that it was exported from."""
    kept = ("id", "seed", "model", "tau")
    made = {
        "id": row["navloom"]["id"],
        "scene": row["scene"],
        "attempt": attempt,
        "seed": row["navloom"]["seed"],
        "status": "ok",
        "reason": None,
        "message": None,
        "profile": row["profile"],
        "result": {
            "phase_1": row["phase_1"],
            "phase_2": row["phase_2"],
            "verdict": "relay" if row["phase_2"] else "not worth it",
            "navloom": {k: v for k, v in row["navloom"].items() if k not in kept},
        },
        "usage": {"calls": 2, "input_tokens": 1000, "output_tokens": 100},
        "cost_usd": 0.0,
        "seconds": 0.25,
    }
    return made | changes


def failed(name: str, reason: str, *, phase_1: dict | None = None) -> dict:
    result = {"phase_1": phase_1} if phase_1 else None
    return sample(single(), 9) | {
        "id": name,
        "status": "failed",
        "reason": reason,
        "message": f"{reason} <b>&",
        "result": result,
    }


def run_folder(
    path: Path, samples: list, *, kind: str = "collab", model: str = "builtin/heuristic", errors=()
) -> Path:
    path.mkdir(parents=True)
    request = {"model": model, "tau": 2, "spec": "tiny", "n": len(samples)}
    run = {
        "navloom": "0.1.0",
        "kind": kind,
        "request": request,
        "request_hash": "0" * 8,
        "seed": 0,
        "created": "2026-11-01T00:00:00+00:00",
        "git": None,
        "versions": {},
    }
    (path / "run.json").write_text(json.dumps(run))
    for name, records in (("samples", samples), ("errors", errors)):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (path / f"{name}.jsonl").write_text(text)
    return path


def write_rows(path: Path, rows: list) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
