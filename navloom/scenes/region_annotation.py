"""Region annotation: label viewpoints with regions by nearby labelled objects (CoNavBench 3.1.1).

    voting ──> consensus ──> contiguity ──> (typing of Unknown regions: graphs/annotation)

The three stages are pure functions over arrays. :func:`annotate_regions` runs all three on a scene.
A class is a region of the scene, not a room type: the paper's figure speaks of ``5-Kitchen``. Where
the paper leaves a choice open, this module decides as follows.

- Every item with a known region votes, structure too: a door or a wall lamp indicates the room as
  well as a cup does. Only items of the viewpoint's own floor count. A tie goes to the nearest item
  among the tied. On a floor without a labelled item a viewpoint stays without a region.
- Consensus and contiguity read only the labels of the stage before, as the equations do, and write
  all changes at once. The result depends on no order of viewpoints or classes. Two viewpoints that
  each disagree with all neighbours may therefore swap labels. A viewpoint without a region may get
  one by consensus, since it disagrees with every labelled neighbour.
- Contiguity measures distances in 3-D, as its equation does. Voting and consensus use the ground
  plane, as their text does. Of equally large components the one with the earliest viewpoint stays;
  of equally near classes the first region of the scene is taken.
- A component that is reassigned to a class need not touch what remains of that class, since that
  part may be reassigned in the same step. The paper makes a single pass, and so do we.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.scene import Scene, region_id

NEIGHBOURS = 3
"""k of instance proximal voting (CoNavBench 3.1.1)."""
_NONE = -1

Labels = NDArray[np.int64]
"""Class number of each viewpoint; -1 for none."""
Points = NDArray[np.float64]
Pairs = NDArray[np.int64]
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class AnnotatedScene:
    """Scene with annotated viewpoints, and the labels after each stage.

    Attributes:
        scene: the scene with its viewpoints' regions set, deleted viewpoints and their edges gone;
            regions, links and items are as they were.
        voted: viewpoint id -> region id after instance proximal voting, None for no region.
        agreed: the same after neighbourhood consensus.
        restored: the same after contiguity restoration, without the deleted viewpoints.
        deleted: the viewpoints that contiguity restoration deleted, in the scene's order.
    """

    scene: Scene
    voted: dict[str, str | None]
    agreed: dict[str, str | None]
    restored: dict[str, str | None]
    deleted: tuple[str, ...]


def annotate_regions(scene: Scene, *, k: int = NEIGHBOURS) -> AnnotatedScene:
    """Return the scene with a region at every viewpoint, by the labelled items around each.

    Regions that the viewpoints had before are ignored and overwritten.

    Args:
        scene: a scene with items that know their region.
        k: number of nearest items that vote.

    Raises:
        SceneError: no item of the scene has a region, so nothing can vote.
    """
    regions = [region.id for region in scene.regions]
    points = np.array([v.position for v in scene.viewpoints], dtype=np.float64).reshape(-1, 3)
    row = {v.id: i for i, v in enumerate(scene.viewpoints)}
    ends = [(row[edge.a], row[edge.b]) for edge in scene.edges]
    distinct = sorted({(min(a, b), max(a, b)) for a, b in ends if a != b})
    pairs = np.array(distinct, dtype=np.int64).reshape(-1, 2)
    voted = _vote_by_floor(scene, points, k)
    agreed = neighbour_consensus(voted, pairs, points)
    restored, gone = restore_contiguity(agreed, pairs, points)

    def named(labels: Labels) -> dict[str, str | None]:
        names = [None if c == _NONE else regions[c] for c in labels.tolist()]
        return dict(zip(row, names, strict=True))

    deleted = tuple(v.id for v, lost in zip(scene.viewpoints, gone, strict=True) if lost)
    kept = {v: region for v, region in named(restored).items() if v not in set(deleted)}
    return AnnotatedScene(_apply(scene, kept), named(voted), named(agreed), kept, deleted)


def vote_regions(
    viewpoints: Points, objects: Points, classes: Labels, *, k: int = NEIGHBOURS
) -> Labels:
    """Run instance proximal voting: take the plurality class of the k nearest objects.

    Args:
        viewpoints: (n, 2) positions on the ground plane in metres.
        objects: (m, 2) positions on the ground plane, m at least 1.
        classes: (m,) the class of each object.
        k: number of objects that vote; all of them if there are fewer.

    Returns:
        (n,) classes. A tie goes to the nearest object among the tied.
    """
    _, nearest = cKDTree(objects).query(viewpoints, k=range(1, min(k, len(objects)) + 1))
    votes = classes[nearest]
    counts = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
    # Columns are sorted by distance, and argmax takes the first of equals: the nearest wins.
    best: Labels = votes[np.arange(len(votes)), counts.argmax(axis=1)]
    return best


def neighbour_consensus(labels: Labels, pairs: Pairs, points: Points) -> Labels:
    """Run neighbourhood consensus: relabel viewpoints that agree with no neighbour.

    Such a viewpoint takes the label of its nearest neighbour. Both guards must hold: it has 2 to 4
    neighbours, and its label differs from every neighbour's.

    Args:
        labels: (n,) classes after voting.
        pairs: (e, 2) distinct edges of G, as rows of ``labels``.
        points: (n, 3) positions in metres; distances are taken on the ground plane.

    Returns:
        (n,) classes. Of equally near neighbours the earlier one counts.
    """
    here, there = _both_ways(pairs)
    n = len(labels)
    degree = np.bincount(here, minlength=n)
    agree = np.bincount(here[labels[here] == labels[there]], minlength=n)
    eligible = (degree >= 2) & (degree <= 4) & (agree == 0)
    useful = eligible[here] & (labels[there] != _NONE)
    here, there = here[useful], there[useful]
    metres = np.linalg.norm(points[here][:, [0, 2]] - points[there][:, [0, 2]], axis=1)
    order = np.lexsort((there, metres, here))
    who, first = np.unique(here[order], return_index=True)
    after = labels.copy()
    after[who] = labels[there[order][first]]
    return after


def restore_contiguity(
    labels: Labels, pairs: Pairs, points: Points
) -> tuple[Labels, NDArray[np.bool_]]:
    """Run contiguity restoration: keep the largest connected component of each class.

    Every other component is deleted if it touches no other class. Otherwise all of it is reassigned
    to the adjacent class whose boundary neighbours have the smallest mean distance from its
    centroid.

    Args:
        labels: (n,) classes after consensus.
        pairs: (e, 2) distinct edges of G, as rows of ``labels``.
        points: (n, 3) positions in metres.

    Returns:
        (n,) classes, and (n,) True for deleted viewpoints (their class is -1).
    """
    n = len(labels)
    same = pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]]
    links = csr_array((np.ones(len(same)), (same[:, 0], same[:, 1])), shape=(n, n))
    _, component = connected_components(links, directed=False)
    here, there = _both_ways(pairs)
    after, gone = labels.copy(), np.zeros(n, dtype=bool)
    for members in _islands(labels, component):
        border = np.unique(there[members[here] & ~members[there]])
        border = border[labels[border] != _NONE]
        if len(border) == 0:
            after[members], gone[members] = _NONE, True
            continue
        metres = np.linalg.norm(points[border] - points[members].mean(axis=0), axis=1)
        classes, of = np.unique(labels[border], return_inverse=True)
        mean = np.bincount(of, weights=metres) / np.bincount(of)
        after[members] = classes[mean.argmin()]
    return after, gone


def relabel_regions(scene: Scene, labels: Mapping[str, str]) -> Scene:
    """Return the scene with new labels for some regions, and the ids that follow from them.

    The number of a region stays. With ``{"Unknown_5": "bedroom"}`` the region becomes ``Bedroom_5``
    everywhere in the scene.

    Args:
        scene: any scene.
        labels: region id -> its new label.

    Raises:
        SceneError: a region id does not exist.
    """
    for name in labels:
        if name not in scene.region_by_id:
            near = did_you_mean(name, scene.region_by_id)
            raise SceneError(f"scene {scene.uri} has no region '{name}' to label.{near}")
    ids = {
        r.id: region_id(labels[r.id], r.number) if r.id in labels else r.id for r in scene.regions
    }

    def moved(region: str | None) -> str | None:
        return None if region is None else ids[region]

    return scene.replace(
        regions=tuple(
            _with(r, id=ids[r.id], label=labels[r.id]) if r.id in labels else r
            for r in scene.regions
        ),
        links=tuple(_with(link, a=ids[link.a], b=ids[link.b]) for link in scene.links),
        items=tuple(_with(item, region=moved(item.region)) for item in scene.items),
        viewpoints=tuple(_with(v, region=moved(v.region)) for v in scene.viewpoints),
        openings=tuple(_with(each, region=ids[each.region]) for each in scene.openings),
        stairs=tuple(_with(each, a=ids[each.a], b=ids[each.b]) for each in scene.stairs),
    )


def apply_room_types(scene: Scene, types: Mapping[str, str | None]) -> Scene:
    """Return the scene with the room types that were found; see :func:`relabel_regions`.

    Args:
        scene: the scene whose regions were typed.
        types: region id -> room type (``"Bedroom"``), None where none was found.

    Raises:
        SceneError: a region id does not exist.
    """
    return relabel_regions(scene, {r: k.lower() for r, k in types.items() if k is not None})


def _vote_by_floor(scene: Scene, points: Points, k: int) -> Labels:
    number = {region.id: i for i, region in enumerate(scene.regions)}
    voters = [item for item in scene.items if item.region is not None]
    if not voters:
        raise SceneError(
            f"scene {scene.uri}: no item knows its region, so viewpoints cannot be annotated; "
            "expected objects with a region"
        )
    classes = np.array([number[item.region or ""] for item in voters], dtype=np.int64)
    storeys = np.array([scene.regions[c].floor for c in classes])
    places = np.array([(item.position[0], item.position[2]) for item in voters])
    standing = _storeys(scene)
    labels = np.full(len(points), _NONE, dtype=np.int64)
    for storey in np.unique(standing):
        on, near = standing == storey, storeys == storey
        if near.any():
            labels[on] = vote_regions(points[on][:, [0, 2]], places[near], classes[near], k=k)
    return labels


def _storeys(scene: Scene) -> Labels:
    """Return each viewpoint's storey, (n,): that of the region whose floor is nearest in height.

    The nominal height of a storey is not enough: a half-landing is over a metre below its storey.
    """
    height = {floor.id: floor.height for floor in scene.floors}
    levels = [(height[floor], floor) for floor in height]
    levels += [(r.center[1] if r.box is None else r.box.bottom, r.floor) for r in scene.regions]
    heights = np.array([level for level, _ in levels])
    feet = np.array([v.ground[1] for v in scene.viewpoints])
    nearest = np.abs(feet[:, None] - heights[None, :]).argmin(axis=1)
    storeys: Labels = np.array([floor for _, floor in levels], dtype=np.int64)[nearest]
    return storeys


def _islands(labels: Labels, component: NDArray[np.int32]) -> list[NDArray[np.bool_]]:
    """Return a mask for every component that is not its class's largest, in the scene's order."""
    _, first, size = np.unique(component, return_index=True, return_counts=True)
    kept: dict[int, int] = {}
    order = np.argsort(first).tolist()
    for c in order:
        label = int(labels[first[c]])
        if label not in kept or size[c] > size[kept[label]]:
            kept[label] = c
    stay = set(kept.values())
    return [component == c for c in order if c not in stay and labels[first[c]] != _NONE]


def _apply(scene: Scene, labels: Mapping[str, str | None]) -> Scene:
    lost = len(scene.viewpoints) - len(labels)
    note = f"viewpoints' regions were annotated from the items around them; {lost} were deleted"
    return scene.replace(
        viewpoints=tuple(
            _with(v, region=labels[v.id], inferred=labels[v.id] is not None)
            for v in scene.viewpoints
            if v.id in labels
        ),
        edges=tuple(e for e in scene.edges if e.a in labels and e.b in labels),
        notes=(*scene.notes, note),
    )


def _both_ways(pairs: Pairs) -> tuple[Labels, Labels]:
    return (np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]]))


def _with(model: M, **changes: Any) -> M:
    return type(model)(**{**dict(model), **changes})
