"""A scene's triangles as a GLB: one node a thing, called as the thing is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh
from numpy.typing import NDArray
from PIL import Image
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

from navloom.errors import SceneError
from navloom.files import replace_file
from navloom.scenes.geometry.mesh import SceneMesh, scene_mesh
from navloom.scenes.geometry.owners import owner_name
from navloom.scenes.geometry.solids import Picture, Surface
from navloom.scenes.geometry.textures import texture
from navloom.scenes.scene import Scene


def save_glb(scene: Scene, path: Path) -> Path:
    """Write a scene as a GLB; the file is whole at every instant.

    Items' nodes have their ids; walls, floors and doors the names that
    :func:`navloom.scenes.geometry.owners.owner_name` gives. Colours are written, and pictures
    (paintings, screens); textures made in code as their mean colour.

    Args:
        scene: it must have geometry.
        path: the file; its folder is made where it is missing.

    Returns:
        ``path``.

    Raises:
        SceneError: the scene has no geometry, or the file cannot be written.
    """
    mesh = scene_mesh(scene)
    if not len(mesh.faces):
        raise SceneError(f"{scene.uri} has no triangles: expected walls, things or a mesh.")
    out = trimesh.Scene()
    materials: dict[int, PBRMaterial] = {}
    for owner in np.unique(mesh.owners).tolist():
        name = owner_name(scene, owner) or f"mesh_{owner}"
        mine = np.flatnonzero(mesh.owners == owner)
        looks = np.unique(mesh.surface[mine]).tolist()
        for look in looks:
            faces = mine[mesh.surface[mine] == look]
            if look not in materials:
                materials[look] = _material(mesh.surfaces[look])
            part = _part(mesh, faces, mesh.surfaces[look], materials[look])
            if len(looks) == 1:
                out.add_geometry(part, node_name=name, geom_name=name)
                continue
            # Several looks of one thing are nodes below the thing's own.
            if name not in out.graph.nodes:
                out.graph.update(frame_to=name, frame_from=out.graph.base_frame)  # type: ignore[no-untyped-call]
            below = f"{name}.{look}"
            out.add_geometry(part, node_name=below, geom_name=below, parent_node_name=name)
    raw = trimesh.exchange.gltf.export_glb(out)  # type: ignore[no-untyped-call]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, raw)
    except OSError as error:
        raise SceneError(f"{path}: cannot be written: {error.strerror}.") from error
    return path


def _part(
    mesh: SceneMesh, faces: NDArray[np.intp], surface: Surface, material: PBRMaterial
) -> trimesh.Trimesh:
    used, again = np.unique(mesh.faces[faces], return_inverse=True)
    uv = None
    if isinstance(surface.texture, Picture):
        flat = np.nan_to_num(mesh.uv[used].astype(np.float64)) / surface.repeat
        uv = np.stack([flat[:, 0], 1 - flat[:, 1]], axis=1)
    return trimesh.Trimesh(
        mesh.vertices[used],
        again.reshape(-1, 3),
        visual=TextureVisuals(uv=uv, material=material),  # type: ignore[no-untyped-call]
        process=False,
    )


def _material(surface: Surface) -> PBRMaterial:
    rgb = np.array(surface.rgb)
    image = None
    if isinstance(surface.texture, Picture):
        image = Image.fromarray(surface.texture.pixels)
    elif surface.texture:
        rgb = rgb * texture(surface.texture).reshape(-1, 3).mean(axis=0) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return PBRMaterial(  # type: ignore[no-untyped-call]
        baseColorFactor=[*linear.tolist(), 1.0],
        baseColorTexture=image,
        metallicFactor=0.0,
        roughnessFactor=1.0 - surface.gloss,
        emissiveFactor=[min(1.0, surface.glow)] * 3 if surface.glow else None,
        doubleSided=True,
    )
