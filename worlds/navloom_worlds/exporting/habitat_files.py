"""Export of homes as a Habitat scene dataset: stages, semantic annotations, and a config.

``NAME.scene_dataset_config.json`` goes to ``SimulatorConfiguration.scene_dataset_config_file``,
``scene_handle(scene)`` to ``scene_id``. Frames are Navloom's own, which are Habitat's: y up, -z
ahead, metres. There is no navmesh: Habitat computes one for a body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from navloom.errors import SceneError
from navloom.scenes.scene import Region, Scene
from navloom_worlds.exporting.file_writer import write_files
from navloom_worlds.exporting.glb_export import scene_glb
from navloom_worlds.exporting.hm3d_files import release_name, semantic_glb, semantic_text

_HIGH = 2.5
"""Default height of a region in metres."""
_FRAME = {"up": [0, 1, 0], "front": [0, 0, -1]}


def save_habitat_home(scene: Scene, folder: Path) -> Path:
    """Write one home as a Habitat dataset, as :func:`save_habitat` does for several."""
    return save_habitat([scene], folder)


def save_habitat(scenes: Iterable[Scene], folder: Path) -> Path:
    """Write homes as a Habitat scene dataset; homes already in the folder stay in it.

    Args:
        scenes: each must have geometry; taken one at a time.
        folder: the output folder, after which the dataset is named.

    Returns:
        The file ``NAME.scene_dataset_config.json`` in it.

    Raises:
        SceneError: a scene has no geometry or too many items, there is no scene, two have the same
            name, or a file cannot be written.
    """
    names: set[str] = set()
    for scene in scenes:
        name = release_name(scene)
        if name in names:
            raise SceneError(f"{scene.uri}: two homes would be called {name} in {folder}.")
        names.add(name)
        write_files(folder, _home_files(scene, name))
    if not names:
        raise SceneError(f"{folder}: there is no home to be written.")
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", folder.absolute().name).strip("_") or "homes"
    path = folder / f"{name}.scene_dataset_config.json"
    write_files(folder, {path.name: _json(_dataset())})
    return path


def scene_handle(scene: Scene) -> str:
    """Return the ``scene_id`` of a home in a dataset.

    Habitat takes the first handle that contains the ``scene_id``, and ``home-1`` is contained in
    ``home-10``: so it is the whole name of the file.
    """
    return f"scenes/{release_name(scene)}.scene_instance.json"


def _home_files(scene: Scene, name: str) -> dict[str, bytes]:
    semantic = f"{name}.semantic"
    stage = {
        "render_asset": f"{name}.glb",
        "collision_asset": f"{name}.glb",
        **_FRAME,
        "origin": [0, 0, 0],
        "units_to_meters": 1.0,
        "is_collidable": True,
        "requires_lighting": False,
        "force_flat_shading": True,
        "semantic_asset": f"{semantic}.glb",
        "semantic_descriptor_filename": f"{semantic}.txt",
        "semantic_up": _FRAME["up"],
        "semantic_front": _FRAME["front"],
        "has_semantic_textures": False,
    }
    annotated = {
        "semantic_asset": f"../stages/{semantic}.glb",
        "semantic_descriptor_filename": f"../stages/{semantic}.txt",
        "semantic_up": _FRAME["up"],
        "semantic_front": _FRAME["front"],
        "has_semantic_textures": False,
        "region_annotations": [_region(scene, each) for each in scene.regions if each.outline],
    }
    instance = {
        "stage_instance": {"template_name": f"stages/{name}.stage_config.json"},
        "default_lighting": "no_lights",
        "semantic_scene_instance": f"semantics/{name}.semantic_config.json",
    }
    return {
        f"stages/{name}.glb": scene_glb(scene, one_sided=True, colours="shown"),
        f"stages/{semantic}.glb": semantic_glb(scene, joined=True),
        f"stages/{semantic}.txt": semantic_text(scene).encode(),
        f"stages/{name}.stage_config.json": _json(stage),
        f"semantics/{name}.semantic_config.json": _json(annotated),
        f"scenes/{name}.scene_instance.json": _json(instance),
    }


def _region(scene: Scene, region: Region) -> dict[str, Any]:
    """Return a region in the form of Habitat 0.3.1 and later: name, label, outline, heights."""
    outline = region.outline or ()
    low = region.center[1]
    above = sorted(floor.height for floor in scene.floors if floor.height > low + 1)
    tops = [wall.bottom + wall.height for wall in scene.walls if wall.bottom < low + 1]
    tops = [top for top in tops if top > low + 1]
    high = region.box.top if region.box is not None else max(tops, default=low + _HIGH)
    high = round(min([high, *above[:1]]), 4)
    xs, zs = ([point[k] for point in outline] for k in (0, 1))
    return {
        "name": region.id,
        "label": region.label,
        "poly_loop": [[x, low, z] for x, z in outline],
        "floor_height": low,
        "extrusion_height": round(high - low, 4),
        "min_bounds": [min(xs), low, min(zs)],
        "max_bounds": [max(xs), high, max(zs)],
    }


def _dataset() -> dict[str, Any]:
    """Return the dataset config, which lists the folders."""
    return {
        "stages": {"paths": {".json": ["stages"]}},
        "scene_instances": {
            "default_attributes": {"default_lighting": "no_lights"},
            "paths": {".json": ["scenes"]},
        },
        "semantic_scene_descriptor_instances": {"paths": {".json": ["semantics"]}},
    }


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
