"""Command ``navloom scenes map``: occupancy maps of a body by storey, as images and ROS maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.common import load_homes, print_json
from navloom.cli.options import Json, with_options
from navloom.evals.option import Opt
from navloom.evals.request import Spec
from navloom.models.redaction import print_err, print_out

if TYPE_CHECKING:
    from navloom.scenes.bodies import Embodiment
    from navloom.scenes.scene import Scene


@with_options()
def map_(
    spec: Spec,
    out: Annotated[Path, Opt("The folder to write.", metavar="DIR", env="")],
    body: Annotated[
        str, Opt("Whose: HUMAN, WHEELCHAIR, SWEEPER, ... or a JSON file of one.", metavar="NAME")
    ] = "HUMAN",
    as_json: Json = False,
) -> None:
    """Draw the occupancy map of a body: an image, and PGM and YAML for ROS's map_server.

    Of each storey three files, HOME-BODY-FLOOR.png, .pgm and .yaml. The picture shows what the
    body reaches (green), where it could stand and does not get to (orange), floor too near to
    things for its middle (grey), and things and walls (dark). A broken home is said and skipped;
    the exit code is then 1.
    """
    from navloom.files import check_writable
    from navloom.scenes.bodies import resolve_body
    from navloom.scenes.scene_uri import list_scenes

    embodiment = resolve_body(body)
    uris = list_scenes(spec)
    check_writable(out, folder=True)
    out.mkdir(parents=True, exist_ok=True)
    found = []
    for scene in load_homes(uris):
        for told in _mapped(scene, embodiment, out):
            found.append(told)
            if not as_json:
                print_out(
                    f"{told['picture']}: {embodiment.name} reaches {told['reached_m2']} of"
                    f" {told['floor_m2']} m² of floor {told['floor']}"
                    f" ({told['apart_m2']} m² more are apart)"
                )
    if as_json:
        print_json(found)
    print_err(f"{out}: {len(found)} storeys mapped")
    if len({each["scene"] for each in found}) < len(uris):
        raise typer.Exit(1)


def _mapped(scene: Scene, body: Embodiment, out: Path) -> list[dict[str, Any]]:
    """Write the maps of a scene, and return their files and areas."""
    from navloom_worlds.motion.body_field import body_field
    from navloom_worlds.motion.occupancy_map import map_storeys

    told = []
    for each in map_storeys(scene, body_field(scene, body)):
        name = f"{scene.id}-{body.name.replace(' ', '_')}-{each.floor}"
        image, ros = each.save_ros(out, name)
        picture = out / f"{name}.png"
        title = f"{scene.id}, floor {each.floor}: {body.name} reaches {each.reached:.1f} m²"
        each.picture(scene, title=title).savefig(picture)
        told.append(
            {
                "scene": scene.id,
                "body": body.name,
                "floor": each.floor,
                "picture": str(picture),
                "image": str(image),
                "yaml": str(ros),
                "floor_m2": round(each.open_floor, 1),
                "reached_m2": round(each.reached, 1),
                "apart_m2": round(each.apart, 1),
            }
        )
    return told
