"""Loader of any mesh file as a scene (``docs/formats/mesh.md``): storeys, named items, viewpoints.

A mesh does not define rooms, so the scene has none. If a scene.json of the same name lies beside
the mesh, that scene is loaded instead, with the mesh as its geometry.
"""

from __future__ import annotations

import re
from pathlib import Path

import shapely

from navloom.errors import SceneError
from navloom.scenes.distances import scene_cached
from navloom.scenes.lexicon import classify
from navloom.scenes.safe_files import MESH_ENDINGS, repr_of, scene_errors
from navloom.scenes.scene import Floor, Item, Scene, Viewpoint
from navloom_worlds.geometry.mesh import SceneMesh, file_parts, merge_parts
from navloom_worlds.geometry.mesh_file import MeshFile, MeshNode, load_mesh_file
from navloom_worlds.geometry.mesh_graph import build_mesh_graph
from navloom_worlds.geometry.semantic_ids import door_owner, item_owner
from navloom_worlds.geometry.walkable_area import build_walkable_field, walkable_mesh

_MOST_NAME = 200
_SAME_STOREY = 1.5
"""Height difference in metres within which a viewpoint may be in a room."""
_NUMBER = re.compile(r"(^|\s+)\d+(\s+\d+)*$")
_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|[\s_.#<>-]+")
_STRUCTURE = re.compile(
    r"\b(walls?|floors?|ceilings?|roofs?|stairs?|staircase|ground|doors?|windows?|railings?)$"
    r"|^(door|window|wall|floor|ceiling|opening) "
)
_DOOR = re.compile(
    r"^(?!.*\b(cabinet|cupboard|wardrobe|oven|fridge|shower|closet)\b)(.*\bdoor$|door )"
)
"""Names of doors that are walked through; furniture doors are not."""
_WINDOW = re.compile(r"\bwindow$|^window ")
"""Names of windows, which are never walked through, even without a pane."""


def list_ids(folder: Path) -> list[str]:
    """Return the names of the mesh files in a folder, with their extensions, sorted."""
    files = (path for path in folder.iterdir() if path.suffix.casefold() in MESH_ENDINGS)
    return sorted(path.name for path in files if path.is_file() and path.name[0] != ".")


def load(folder: Path, scene_id: str) -> Scene:
    """Load a mesh as a scene.

    Args:
        folder: folder of the file.
        scene_id: the file's name with its extension.

    Returns:
        The scene, of source ``mesh``. Its ``notes`` tell what is unknown, and how much unreachable
        floor was left out.

    Raises:
        SceneError: the file is broken, or a person can stand nowhere in it.
    """
    if Path(scene_id).name != scene_id or scene_id == "..":
        raise SceneError(f"{repr_of(scene_id)} is not the name of a file in {folder}.")
    path = folder / scene_id
    file = load_mesh_file(path)
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", scene_id).lstrip("._-")[:100] or "mesh"
    with scene_errors(path):
        scene = _bare(file, name) if file.beside is None else file.beside
        mesh = merge_parts(file_parts(scene, file))
        if file.beside is None or not scene.viewpoints:
            scene = _with_graph(scene, mesh, path)
        scene = scene.replace(id=name, source="mesh")
    # The triangles are at hand, so they are cached for the scene.
    scene_cached(scene, "mesh", lambda: mesh)
    return scene


def _bare(file: MeshFile, name: str) -> Scene:
    """Return the scene of a mesh alone, before its navigation graph is made."""
    notes = [
        "Of rooms, doors and what is portable a mesh says no more than the names of its parts.",
        *(f"The file names {repr_of(each)}, which is not there." for each in file.missing[:5]),
    ]
    return Scene(
        id=name,
        source="mesh",
        floors=(Floor(id=1, height=0.0),),
        regions=(),
        items=tuple(_item(node) for node in file.nodes if node.name),
        viewpoints=(Viewpoint(id="1_0", position=(0.0, 0.0, 0.0)),),
        notes=tuple(notes),
    )


def _item(node: MeshNode) -> Item:
    low, high = node.box
    wide, tall, deep = (round(float(each), 3) for each in high - low)
    name = readable_name(node.name)
    return Item(
        id=node.name[:_MOST_NAME],
        name=name,
        kind="structure" if _STRUCTURE.search(name) else classify(name) or "asset",
        position=node.middle,
        size=(wide, tall, deep),
    )


def readable_name(node: str) -> str:
    """Return the name of a node in plain words.

    >>> readable_name("Furniture/CoffeeTable_02.001")
    'coffee table'
    """
    last = re.split(r"[/|:]", node)[-1]
    words = _NUMBER.sub("", _JOINT.sub(" ", last)).casefold().split()
    return " ".join(words)[:_MOST_NAME] or "thing"


def _with_graph(scene: Scene, mesh: SceneMesh, path: Path) -> Scene:
    """Return the scene with storeys, viewpoints and edges from the mesh's walkable area."""
    doors, windows = (
        [item_owner(i) for i, item in enumerate(scene.items) if called.search(item.name)]
        for called in (_DOOR, _WINDOW)
    )
    doors += [door_owner(i) for i in range(len(scene.links))]
    field = build_walkable_field(walkable_mesh(mesh, doors, windows))
    graph = build_mesh_graph(field)
    if not graph.viewpoints:
        raise SceneError(
            f"{path}: there is no place in it where a person can stand: expected level floor with "
            "1.8 m of head room and 0.2 m to every side, in metres, y up."
        )
    notes = list(scene.notes)
    if doors:
        notes.append("Doors are walked through, however they stand in the mesh.")
    if field.other_area >= 1:
        notes.append(f"{field.other_area:.0f} m² of floor are left out: nothing leads to them.")
    if scene.regions:
        # The scene keeps its storeys, as its rooms refer to them.
        viewpoints = tuple(_in_region(scene, each) for each in graph.viewpoints)
        return scene.replace(viewpoints=viewpoints, edges=graph.edges, notes=tuple(notes))
    return scene.replace(
        floors=graph.floors, viewpoints=graph.viewpoints, edges=graph.edges, notes=tuple(notes)
    )


def _in_region(scene: Scene, viewpoint: Viewpoint) -> Viewpoint:
    """Return a viewpoint with the room of its storey whose outline holds it."""
    x, y, z = viewpoint.position
    for region in scene.regions:
        outline = region.outline
        if outline is None or abs(region.center[1] - y) > _SAME_STOREY:
            continue
        if shapely.intersects_xy(shapely.Polygon(outline), x, z):
            return viewpoint.model_copy(update={"region": region.id})
    return viewpoint
