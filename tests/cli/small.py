"""A small test home of three rooms for tests of the command line."""

from __future__ import annotations

from pathlib import Path

from navloom.scenes.formats.scene_json import save
from navloom.scenes.scene import Edge, Floor, Item, Link, Region, Scene, Viewpoint


def small_scene(name: str = "small") -> Scene:
    return Scene(
        id=name,
        source="made",
        floors=(Floor(id=1, height=0.0),),
        regions=(
            Region(id="Kitchen_0", label="kitchen", center=(0.0, 0.0, 0.0)),
            Region(id="Hallway_1", label="hallway", center=(4.0, 0.0, 0.0)),
            Region(id="Attic_2", label="attic", center=(8.0, 0.0, 0.0)),
        ),
        links=(Link(a="Kitchen_0", b="Hallway_1"),),
        items=(
            Item(id="t", name="table", kind="asset", region="Kitchen_0", position=(0.5, 0.4, 0.0)),
            Item(id="c", name="Tea [cup]", kind="object", region="Kitchen_0", position=(1, 1, 0)),
            Item(id="s", name="shelf", kind="asset", region="Hallway_1", position=(4.5, 1, 0)),
        ),
        viewpoints=(
            Viewpoint(id="a", position=(0.0, 0.0, 0.0), region="Kitchen_0"),
            Viewpoint(id="b", position=(4.0, 0.0, 0.0), region="Hallway_1"),
        ),
        edges=(Edge(a="a", b="b"),),
        notes=("made up",),
    )


def small_file(folder: Path, name: str = "small") -> str:
    return str(save(small_scene(name), folder / f"{name}.json"))
