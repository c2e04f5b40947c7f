"""What a model reads of a scene: the JSON of CoNavBench A.10.1.

``{"floor_1": {"region": [{"id": ...}], "link": ["A_1 <-> B_2", ...],
"item": [{"region": ..., "asset": [...], "object": [...]}]}}``. Names are unique within a list and
safe to quote (see :func:`navloom.scenes.scene.prompt_name`); structure is left out. A link between
floors is listed with the lower one.
"""

from __future__ import annotations

import json
from typing import Any

from navloom.scenes.distances import per_scene
from navloom.scenes.scene import ItemKind, Scene


def item_names(scene: Scene, region: str, kind: ItemKind) -> list[str]:
    """The distinct names of one kind of item in a region, as models read them, in scene order."""
    return list(dict.fromkeys(item.prompt_name for item in scene.items_in(region, kind)))


def scene_prompt(scene: Scene) -> dict[str, Any]:
    """The scene as generators read it; see the module's docstring for its form."""
    floor_of = {region.id: region.floor for region in scene.regions}
    floors: dict[str, Any] = {}
    for floor in sorted(scene.floors, key=lambda f: f.id):
        regions = [region.id for region in scene.regions if region.floor == floor.id]
        links = [
            f"{link.a} <-> {link.b}"
            for link in scene.links
            if min(floor_of[link.a], floor_of[link.b]) == floor.id
        ]
        items = [
            {
                "region": region,
                "asset": item_names(scene, region, "asset"),
                "object": item_names(scene, region, "object"),
            }
            for region in regions
            if scene.items_in(region, "asset") or scene.items_in(region, "object")
        ]
        if regions:
            floors[f"floor_{floor.id}"] = {
                "region": [{"id": region} for region in regions],
                "link": list(dict.fromkeys(links)),
                "item": items,
            }
    return floors


def scene_json(scene: Scene) -> str:
    """The scene as the paper's prompts show it, made once per scene."""
    return per_scene(scene, "prompt_json", lambda: json.dumps(scene_prompt(scene)))
