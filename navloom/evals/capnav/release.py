"""Scenes as a CapNav benchmark of one's own: graphs, truth, questions, profiles, tours.

Written are, in the benchmark's own form and names,

    graphs/ID-graph.json  traverse/ID-traverse.json  qa/ID_QA.json  agent_profiles.json  ID.mp4

and of ours ``notes/ID.json``: what the scene is, whose truth it has, which room each node is, which
thing each detail means, what the tour shows when, and the SHA-256 of every file. It is written
last: a scene without it, or whose files are not what it says, is made anew, and others are kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from hashlib import file_digest
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError, SceneError, SimulatorError
from navloom.evals.capnav.collect import Balance, Facts, Steer, candidates
from navloom.evals.capnav.request import Wanted
from navloom.evals.video import write_video
from navloom.scenes.exporting.capnav_files import as_json, capnav_files, save_profiles
from navloom.scenes.exporting.capnav_nodes import nodes_of
from navloom.scenes.exporting.hm3d_files import release_name
from navloom.scenes.exporting.written import write_files
from navloom.scenes.scene import Scene
from navloom.scenes.traverse.by_driving import from_driving
from navloom.scenes.traverse.by_rule import from_geometry
from navloom.scenes.traverse.traverse_table import Traversability
from navloom.scenes.uri import load_scene
from navloom.sim.embedded.filming import filmed
from navloom.sim.tour import Tour, plan_tour
from navloom.tools.capnav.detail_cells import detail_cells
from navloom.tools.capnav.named_places import Places
from navloom.tools.capnav.question_sampler import Sampled, nameable, sample_questions


@dataclass(frozen=True)
class Released:
    """What came of one scene.

    Attributes:
        scene: its URI.
        id: its id in the benchmark.
        kept: whether it was there already.
        questions: how many.
        frames: of its tour; 0 without.
        balance: what its questions add up to.
        left_out: rooms that the tour does not show.
    """

    scene: str
    id: str
    kept: bool
    questions: int
    frames: int
    balance: dict[str, Any]
    left_out: tuple[str, ...]


def release(uri: str, folder: Path, wanted: Wanted) -> Released:
    """Write one scene, or see that it is there as wanted.

    Args:
        uri: a scene with links between its rooms.
        folder: the benchmark's.
        wanted: what is to be written.

    Raises:
        SceneError: it is broken, has no links, or a file cannot be written.
        SimulatorError: it is to be filmed and has no walls.
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
    driven = from_driving(scene, wanted.bodies) if wanted.truth == "driven" else None
    truth = driven.table if driven else from_geometry(scene, wanted.bodies)
    tour = plan_tour(scene)
    shown = _shown(tour)
    sampled, facts = _sampled(scene, truth, wanted, shown if wanted.tours else {})
    files = capnav_files(
        scene, truth, detail_cells(scene, wanted.bodies, sampled) if driven else {}
    )
    files[f"qa/{name}_QA.json"] = as_json([each.question for each in sampled])
    write_files(folder, files)
    frames = 0
    if wanted.tours:
        film = folder / f"{name}.mp4"
        frames = write_video(film, (pixels for _, pixels in filmed(tour, 1)), 1)
    kept = [folder / path for path in files] + [folder / f"{name}.mp4"] * wanted.tours
    noted = {
        "asked": asked,
        "notes": list(scene.notes),
        "nodes": {node.id: region for region, node in nodes_of(scene).items()},
        "truth": driven.record() if driven else {},
        "details": [{"start": q.things[0], "end": q.things[1]} for q in sampled],
        "balance": Balance.of(facts).record(),
        "tour": {"frames": frames, "first_shown": shown, "left_out": list(tour.left_out)},
        "sha256": {path.relative_to(folder).as_posix(): _digest(path) for path in kept},
    }
    write_files(folder, {f"notes/{name}.json": as_json(noted)})
    return _released(noted, name, kept=False)


def _sampled(
    scene: Scene, truth: Traversability, wanted: Wanted, shown: Mapping[str, str]
) -> tuple[list[Sampled], list[Facts]]:
    """Questions of pairs whose truth is rare in those before, and what is true of them."""
    named = nameable(scene)
    among = [
        each
        for each in candidates(Places(scene, truth), wanted.seed)
        if each.start in named and each.end in named
    ]
    steer, taken = Steer(), set[tuple[str, str]]()
    facts: list[Facts] = []
    while len(facts) < wanted.questions:
        best = steer.pick(among, taken, wanted.seed + len(facts))
        if best is None:
            break
        taken.add((best.start, best.end))
        facts.append(best)
    pairs = [(each.start, each.end) for each in facts]
    return sample_questions(scene, truth, pairs, shown), facts


def _shown(tour: Tour) -> dict[str, str]:
    """The minute and second when a tour first shows each region."""
    first: dict[str, str] = {}
    for moment in tour.moments(1):
        if moment.region is not None:
            minutes, seconds = divmod(round(moment.second), 60)
            first.setdefault(moment.region, f"{minutes:02}:{seconds:02}")
    return first


def _noted(folder: Path, name: str, asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """The notes of a scene that is there as wanted, whole; None where it is not."""
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


def _released(noted: Mapping[str, Any], name: str, *, kept: bool) -> Released:
    balance, tour = noted["balance"], noted["tour"]
    left_out = tuple(tour["left_out"])
    questions, frames = balance["questions"], tour["frames"]
    return Released(noted["asked"]["scene"], name, kept, questions, frames, balance, left_out)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def release_all(
    uris: Sequence[str], folder: Path, wanted: Wanted, processes: int = 1
) -> Iterator[Released | NavloomError]:
    """Write scenes, and the bodies' profiles; what is there already is kept.

    Args:
        uris: the scenes.
        folder: the benchmark's.
        wanted: what is to be written of each.
        processes: how many are made at once.

    Yields:
        What came of each as it is done, or why nothing did.

    Raises:
        SceneError: the profiles cannot be written.
        SimulatorError: a process died.
    """
    save_profiles(wanted.bodies, folder)
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


def _tried(uri: str, folder: Path, wanted: Wanted) -> Released | NavloomError:
    try:
        return release(uri, folder, wanted)
    except (SceneError, SimulatorError) as error:
        return type(error)(f"skipped {uri}: {error}")


def total(released: Sequence[Released]) -> dict[str, Counter[str]]:
    """Of each body, how many questions it can do and cannot, over several scenes."""
    summed: dict[str, Counter[str]] = {}
    for each in released:
        for body, counted in each.balance["bodies"].items():
            summed.setdefault(body, Counter()).update(counted)
    return summed
