"""Export of scenes as a CapNav benchmark: graphs, ground truth, questions, profiles, tours.

Files in the benchmark's own format and names:

    graphs/ID-graph.json  traverse/ID-traverse.json  qa/ID_QA.json  agent_profiles.json  ID.mp4

In addition ``notes/ID.json`` records the scene, the source of its ground truth, the room of each
node, the item of each detail, the tour's times, and the SHA-256 of every file. It is written last.
A scene without it, or whose files differ from it, is exported again; others are kept.

Cells ``startDetail:node_N`` and ``endDetail:node_N`` of the benchmark's tables say whether a body
comes near the items by which questions name their ends. A cell here covers all items that questions
name at that end of the node.

``graphs/ID-graph.json`` has a node per room and an edge per pair of connected rooms.
``traverse/ID-traverse.json`` has, for each body, a cell per edge and direction, with a note if it
is blocked. ``agent_profiles.json`` has the bodies. The benchmark's cells also have the minute when
an annotator clicked; here there is no ``timestamp``.

Questions are made by rules, from an item in one room to an item in another. Each name is
unambiguous in its room (:mod:`navloom.scenes.formats.referring_expressions`). No model is called;
``navloom synth capnav`` has questions written by a model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from hashlib import file_digest
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np
import shapely
from shapely import Polygon

from navloom.errors import NavloomError, SceneError, SimulatorError
from navloom.evals.capnav.question_set import (
    BalanceCounts,
    RouteBalancer,
    RouteFacts,
    candidate_routes,
)
from navloom.evals.capnav.request import CapnavExportOptions
from navloom.evals.video import write_video
from navloom.scenes.bodies import ALIASES, Embodiment, benchmark_profile, canonical_name
from navloom.scenes.formats.capnav_nodes import CapNavNode, region_nodes
from navloom.scenes.formats.referring_expressions import landmark_phrases
from navloom.scenes.passability import estimate_links
from navloom.scenes.scene import Box, Item, Scene
from navloom.scenes.scene_uri import load_scene
from navloom.scenes.traversability_table import Traversability
from navloom.tools.capnav.feasibility import path_any_body
from navloom.tools.capnav.named_places import (
    NamedPlaces,
    load_lexicon,
    normalize,
    phrases_in,
    phrases_outside,
    stem,
)
from navloom.tools.capnav.question_grounding import AGENT
from navloom_worlds.exporting.file_writer import write_files
from navloom_worlds.exporting.hm3d_files import release_name
from navloom_worlds.mend.route_drive import roomiest_point
from navloom_worlds.motion.body_field import body_field
from navloom_worlds.motion.link_driving import driven_ground_truth
from navloom_worlds.rendering.tour import Tour, plan_tour
from navloom_worlds.rendering.tour_frames import render_tour

NEAR = "near the "
_MOST_THINGS = 4
"""Maximum number of items of a room that its questions alternate between."""
_MOST_BETWEEN = 4
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SampledQuestion:
    """Question with its regions and items.

    Attributes:
        start: a region's id.
        end: a region's id.
        things: ids of the items that its details mean.
        question: the question with the benchmark's keys; places are node ids.
    """

    start: str
    end: str
    things: tuple[str, str]
    question: dict[str, Any]


def question_ends(scene: Scene) -> dict[str, list[tuple[str, str]]]:
    """Return names and ids of items that identify each room in questions, at most four a room.

    Args:
        scene: with items.
    """
    names = [stem(normalize(node.name)) for node in region_nodes(scene).values()]
    words, found = load_lexicon(), {}
    for region in scene.regions:
        fine = []
        for said, item in landmark_phrases(scene, region.id):
            told = stem(normalize(said))
            # The public scorer finds the ends by node names, and splits at the first "to".
            clear = not phrases_in(told, names) and not re.search(r"\b(?:to|from)\b", said)
            if clear and not phrases_outside(told, words.capability, words.exempt):
                fine.append((said, item.id))
        if fine:
            found[region.id] = fine[:_MOST_THINGS]
    return found


def sample_questions(
    scene: Scene,
    truth: Traversability,
    pairs: Iterable[Pair],
    shown: Mapping[str, str] | None = None,
) -> list[SampledQuestion]:
    """Write a question for each pair of rooms, alternating between a room's items.

    Args:
        scene: with items.
        truth: its traversability, whose edges give the routes of the reasons.
        pairs: regions that are :func:`question_ends` and connected.
        shown: time when a tour shows each region ("00:26"), for the reasons.
    """
    nodes, things = region_nodes(scene), question_ends(scene)
    used: Counter[str] = Counter()
    made = []
    for pair in pairs:
        ends = []
        for region in pair:
            ends.append(things[region][used[region] % len(things[region])])
            used[region] += 1
        words = (ends[0][0], ends[1][0])
        question = _question(pair, path_any_body(truth, *pair), words, nodes, shown or {})
        made.append(SampledQuestion(*pair, (ends[0][1], ends[1][1]), question))
    return made


def _question(
    pair: Pair,
    route: Sequence[str],
    said: tuple[str, str],
    nodes: Mapping[str, CapNavNode],
    shown: Mapping[str, str],
) -> dict[str, Any]:
    start, end = (nodes[region] for region in pair)
    between = [nodes[region] for region in route[1:-1]]
    return {
        "scene_type": "home",
        "question": (
            f"Can {AGENT} move from the {said[0]} in the {start.name} to the {said[1]} in the"
            f" {end.name}?"
        ),
        "reason": _reason(pair, route, nodes, shown),
        "nodes_involved": {
            "start": start.id,
            "start_detail": f"{NEAR}{said[0]}",
            "intermediate": [node.id for node in between] if len(between) <= _MOST_BETWEEN else [],
            "end": end.id,
            "end_detail": f"{NEAR}{said[1]}",
        },
    }


def _reason(
    pair: Pair, route: Sequence[str], nodes: Mapping[str, CapNavNode], shown: Mapping[str, str]
) -> str:
    """Return the reason of a question: the tour's times of its ends, and the shortest route."""
    told = ""
    if all(region in shown for region in pair):
        told = (
            f"At {shown[pair[0]]} the video shows the {nodes[pair[0]].name}, at {shown[pair[1]]}"
            f" the {nodes[pair[1]].name}. "
        )
    between = ", ".join(nodes[region].name for region in route[1:-1])
    by = f", by the {between}" if between else ""
    many = len(route) - 1
    return f"{told}The shortest route has {many} passage{'s' * (many != 1)}{by}."


_WRITTEN = {ours: theirs for theirs, ours in ALIASES.items()}
PROFILES = "agent_profiles.json"


def capnav_files(
    scene: Scene, truth: Traversability, details: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, bytes]:
    """Return a scene's graph and traversability files, by path in the benchmark's folder.

    Args:
        scene: any with regions.
        truth: traversability of the scene's regions, for each body.
        details: further cells ``startDetail:node_N`` and ``endDetail:node_N`` by body.
    """
    nodes, name = region_nodes(scene), release_name(scene)
    return {
        f"graphs/{name}-graph.json": encode_json(_graph(truth, nodes)),
        f"traverse/{name}-traverse.json": encode_json(_cells(truth, nodes, details or {})),
    }


def _graph(truth: Traversability, nodes: Mapping[str, CapNavNode]) -> dict[str, Any]:
    return {
        "nodes": [
            {
                "id": node.id,
                "name": node.name,
                "description": node.description,
                "position": dict(zip("xyz", node.position, strict=True)),
            }
            for node in nodes.values()
        ],
        "edges": [
            {"id": f"edge_{number}", "from": nodes[a].id, "to": nodes[b].id}
            for number, (a, b) in enumerate(_once(truth))
        ],
    }


def _once(truth: Traversability) -> list[tuple[str, str]]:
    """Return connected rooms, each pair once regardless of direction."""
    return list({frozenset(pair): pair for pair in truth.edges}.values())


def _cells(
    truth: Traversability, nodes: Mapping[str, CapNavNode], details: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for body in truth.bodies:
        cells = written.setdefault(_WRITTEN.get(body, body), {})
        for a, b in _once(truth):
            for passage in (truth.passage(body, a, b), truth.passage(body, b, a)):
                if passage.traversable is not None:
                    key = f"{nodes[passage.a].id}|{nodes[passage.b].id}"
                    cells[key] = {"traversable": passage.traversable, "note": passage.note}
        cells.update(details.get(body, {}))
    return written


def encode_json(content: Any) -> bytes:
    """Encode a file's content as JSON."""
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


NEAR_M = 1.0
"""Maximum distance in metres from a body's centre to an item that counts as near."""
_LEVEL = 0.3
End = Literal["start", "end"]


def detail_cells(
    scene: Scene, bodies: Sequence[Embodiment], questions: Sequence[SampledQuestion]
) -> dict[str, dict[str, Any]]:
    """Return the cells of the questions' details by body.

    Args:
        scene: with geometry.
        bodies: the embodiments.
        questions: questions about the scene.

    Returns:
        body -> ``startDetail:node_N`` -> ``traversable`` and ``note``: an item is near if the body
        can stand within a metre of it, in its room, and get there from most of the room.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    named: dict[tuple[End, str], dict[str, None]] = {}
    for each in questions:
        named.setdefault(("start", each.start), {})[each.things[0]] = None
        named.setdefault(("end", each.end), {})[each.things[1]] = None
    nodes = region_nodes(scene)
    cells: dict[str, dict[str, Any]] = {}
    for body in bodies:
        mine = cells.setdefault(canonical_name(body.name), {})
        for (end, region), things in named.items():
            items = [scene.item_by_id[each] for each in things]
            far = [item.name for item in items if not _near(scene, body, region, item)]
            note = f"does not come near the {', the '.join(far)}" if far else ""
            mine[f"{end}Detail:{nodes[region].id}"] = {"traversable": not far, "note": note}
    return cells


def _near(scene: Scene, body: Embodiment, region: str, item: Item) -> bool:
    """Check whether a body can stand near an item, connected with the main part of its room."""
    field, where = body_field(scene, body), scene.region_by_id[region]
    middle = roomiest_point(scene, field, region)
    if middle is None or item.size is None or where.outline is None:
        return False
    found = field.found
    thing = Polygon(Box(center=item.position, size=item.size, yaw=item.yaw).corners())
    around = thing.buffer(NEAR_M).intersection(Polygon(where.outline))
    there = shapely.contains_xy(around, found.x, found.z)
    there &= np.abs(found.height - where.center[1]) < _LEVEL
    return bool((there & (field.part == field.part[field.at(middle)])).any())


@dataclass(frozen=True)
class ReleasedScene:
    """Result of exporting one scene.

    Attributes:
        scene: its URI.
        id: its id in the benchmark.
        kept: whether it existed already.
        questions: number of questions.
        frames: number of frames of its tour; 0 without a tour.
        balance: statistics of its questions.
        left_out: rooms that the tour does not show.
    """

    scene: str
    id: str
    kept: bool
    questions: int
    frames: int
    balance: dict[str, Any]
    left_out: tuple[str, ...]


def release_scene(uri: str, folder: Path, wanted: CapnavExportOptions) -> ReleasedScene:
    """Export one scene, unless it is exported as requested already; return what was written.

    Args:
        uri: a scene with links between its rooms.
        folder: folder of the benchmark.
        wanted: the requested content.

    Raises:
        SceneError: it is broken, has no links, or a file cannot be written.
        SimulatorError: a tour is requested and it has no walls.
    """
    scene = load_scene(uri)
    name = release_name(scene)
    asked = {"scene": scene.uri, **wanted.record()}
    if (noted := _noted(folder, name, asked)) is not None:
        return _released(noted, name, kept=True)
    if scene.source == "capnav" or not scene.links:
        raise SceneError(
            f"{scene.uri}: expected rooms and links that say who can pass; a benchmark's scene is"
            " in this form already."
        )
    drives = wanted.truth == "driven" and scene.walls
    driven = driven_ground_truth(scene, wanted.bodies) if drives else None
    truth = driven.table if driven else estimate_links(scene, wanted.bodies)
    tour = plan_tour(scene)
    shown = first_shown(tour)
    cells, facts = _sampled(scene, truth, wanted, shown if wanted.tours else {})
    files = capnav_files(scene, truth, detail_cells(scene, wanted.bodies, cells) if driven else {})
    files[f"qa/{name}_QA.json"] = encode_json([each.question for each in cells])
    write_files(folder, files)
    frames = 0
    if wanted.tours:
        film = folder / f"{name}.mp4"
        frames = write_video(film, (pixels for _, pixels in render_tour(tour, 1)), 1)
    kept = [folder / path for path in files] + [folder / f"{name}.mp4"] * wanted.tours
    noted = {
        "asked": asked,
        "notes": list(scene.notes),
        "nodes": {node.id: region for region, node in region_nodes(scene).items()},
        "truth": driven.record() if driven else {},
        "details": [{"start": q.things[0], "end": q.things[1]} for q in cells],
        "balance": BalanceCounts.of(facts).record(),
        "tour": {"frames": frames, "first_shown": shown, "left_out": list(tour.left_out)},
        "sha256": {path.relative_to(folder).as_posix(): _digest(path) for path in kept},
    }
    write_files(folder, {f"notes/{name}.json": encode_json(noted)})
    return _released(noted, name, kept=False)


def _sampled(
    scene: Scene, truth: Traversability, wanted: CapnavExportOptions, shown: Mapping[str, str]
) -> tuple[list[SampledQuestion], list[RouteFacts]]:
    """Choose pairs whose truth is rare among those so far; return questions and route facts."""
    named = question_ends(scene)
    among = [
        each
        for each in candidate_routes(NamedPlaces(scene, truth), wanted.seed)
        if each.start in named and each.end in named
    ]
    steer, taken = RouteBalancer(), set[tuple[str, str]]()
    facts: list[RouteFacts] = []
    while len(facts) < wanted.questions:
        best = steer.pick(among, taken, wanted.seed + len(facts))
        if best is None:
            break
        taken.add((best.start, best.end))
        facts.append(best)
    pairs = [(each.start, each.end) for each in facts]
    return sample_questions(scene, truth, pairs, shown), facts


def first_shown(tour: Tour) -> dict[str, str]:
    """Return the minute and second when a tour first shows each region."""
    first: dict[str, str] = {}
    for moment in tour.moments(1):
        if moment.region is not None:
            minutes, seconds = divmod(round(moment.second), 60)
            first.setdefault(moment.region, f"{minutes:02}:{seconds:02}")
    return first


def _noted(folder: Path, name: str, asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the notes of a scene that exists as requested and intact; None otherwise."""
    try:
        noted = json.loads((folder / "notes" / f"{name}.json").read_bytes())
        if noted["asked"] != asked or not noted["sha256"]:
            return None
        for path, digest in noted["sha256"].items():
            if _digest(folder / path) != digest:
                return None
        _released(noted, name, kept=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return dict(noted)


def _released(noted: Mapping[str, Any], name: str, *, kept: bool) -> ReleasedScene:
    balance, tour = noted["balance"], noted["tour"]
    left_out = tuple(tour["left_out"])
    questions, frames = balance["questions"], tour["frames"]
    return ReleasedScene(noted["asked"]["scene"], name, kept, questions, frames, balance, left_out)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def release_scenes(
    uris: Sequence[str], folder: Path, wanted: CapnavExportOptions, processes: int = 1
) -> Iterator[ReleasedScene | NavloomError]:
    """Export scenes and the bodies' profiles; existing ones are kept.

    Args:
        uris: the scenes.
        folder: folder of the benchmark.
        wanted: the requested content of each.
        processes: number of processes.

    Yields:
        The result of each scene as it finishes, or its error.

    Raises:
        SceneError: the profiles cannot be written.
        SimulatorError: a process died.
    """
    profiles = encode_json([benchmark_profile(body) for body in wanted.bodies])
    write_files(folder, {PROFILES: profiles})
    if processes == 1 or len(uris) < 2:
        for uri in uris:
            yield _tried(uri, folder, wanted)
        return
    pool = ProcessPoolExecutor(min(processes, len(uris)), get_context("spawn"))
    try:
        waiting = [pool.submit(_tried, uri, folder, wanted) for uri in uris]
        for done in as_completed(waiting):
            yield done.result()
    except BrokenProcessPool as error:
        raise SimulatorError(
            "a process that wrote a scene has died; memory may be short: run the same command again"
            " with fewer --processes, what is finished is kept."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _tried(uri: str, folder: Path, wanted: CapnavExportOptions) -> ReleasedScene | NavloomError:
    try:
        return release_scene(uri, folder, wanted)
    except (SceneError, SimulatorError) as error:
        return type(error)(f"skipped {uri}: {error}")


def total_answers(released: Sequence[ReleasedScene]) -> dict[str, Counter[str]]:
    """Sum the feasible and infeasible questions of each body over several scenes."""
    summed: dict[str, Counter[str]] = {}
    for each in released:
        for body, counted in each.balance["bodies"].items():
            summed.setdefault(body, Counter()).update(counted)
    return summed
