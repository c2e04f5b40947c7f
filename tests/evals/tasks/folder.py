"""Test folder of datasets in the real formats, over generated scans: a corridor and an island.

v0 -- v1 -- v2 -- v3 -- v4 -- v5      4 m apart, along x
            |
           v6                          4 m to the south; v7 stands alone
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PLACES = {f"v{i}": (4.0 * i, 0.0) for i in range(6)} | {"v6": (8.0, 4.0), "v7": (90.0, 0.0)}
EDGES = [("v0", "v1"), ("v1", "v2"), ("v2", "v3"), ("v3", "v4"), ("v4", "v5"), ("v2", "v6")]


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")


def add_scan(
    data: Path,
    scan: str,
    places: dict[str, tuple[float, float]] = PLACES,
    edges: list[tuple[str, str]] = EDGES,
) -> None:
    names = list(places)
    joined = {frozenset(edge) for edge in edges}
    rows = []
    for name, (x, z) in places.items():
        # The files are z up: our (x, y, z) is their (x, -z, y).
        pose = [1, 0, 0, x, 0, 1, 0, -z, 0, 0, 1, 1.5, 0, 0, 0, 1]
        free = [frozenset((name, other)) in joined for other in names]
        rows.append({"image_id": name, "pose": pose, "included": True, "unobstructed": free,
                     "visible": free, "height": 1.5})  # fmt: skip
    write(data / "connectivity" / f"{scan}_connectivity.json", rows)
    path = data / "regions" / "house_region_to_panorama.json"
    regions = json.loads(path.read_text()) if path.is_file() else {}
    some = {"v0", "v1", "v2", "v6"}
    regions[scan] = {"0": [n for n in names if n in some], "1": [n for n in names if n not in some]}
    write(path, regions)


def r2r_record(path_id: int, path: list[str], scan: str = "scanA", **more: Any) -> dict[str, Any]:
    said = [f"Walk {path_id} the {k} way.\n" for k in range(3)]
    return {"distance": 99.0, "scan": scan, "path_id": path_id, "path": path, "heading": 1.5,
            "instructions": said, **more}  # fmt: skip


def reverie_record(
    path_id: int, thing: int, path: list[str], scan: str = "scanA", **more: Any
) -> dict[str, Any]:
    return {"id": f"{path_id}_{thing}", "objId": thing, "scan": scan, "path_id": path_id,
            "path": path, "heading": 0.5, "instructions": ["Find it.", "Go to it."],
            **more}  # fmt: skip


def box(name: str, *, seen: bool = True) -> dict[str, Any]:
    return {"name": name, "visible_pos": [7, 8] if seen else [],
            "bbox2d": [[1, 2, 3, 4], [1, 2, 3, 4]] if seen else []}  # fmt: skip


BOXES = {
    "v0": {"7": box("coffee#table", seen=False), "9": box("chair")},
    "v3": {"7": box("coffee#table")},
    "v4": {"7": box("coffee#table"), "8": box("whatnot")},
    "v7": {"7": box("coffee#table")},
    "gone": {"7": box("coffee#table")},
}


def folder(data: Path) -> Path:
    add_scan(data, "scanA")
    write(data / "r2r" / "R2R_val_unseen.json", [
        r2r_record(1, ["v0", "v1", "v2", "v3"]), r2r_record(2, ["v1", "v2", "v6"]),
    ])  # fmt: skip
    write(data / "reverie" / "REVERIE_val_unseen.json", [
        reverie_record(1, 7, ["v0", "v1", "v2", "v3"]), reverie_record(2, 5, ["v6", "v2", "v1"]),
    ])  # fmt: skip
    write(data / "reverie" / "BBox" / "scanA.json", BOXES)
    return data
