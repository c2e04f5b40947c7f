"""Rendering of panoramas of many scenes to disk, by one process or several.

Each process holds one scene and its mesh. It finishes its scene, then takes the next one. At the
end it helps with the scene that has most left.

A finished viewpoint is a line of ``rendered.jsonl``, written when its images are on disk. The
manifest comes last. The process can be killed at any time: the next run finds the finished images,
checks their hashes, and keeps them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import navloom
from navloom.errors import NavloomError, RunError, SceneError, SimulatorError
from navloom.files import JsonlFile, make_folder, read_lines, write_run_file
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import scene_hash
from navloom.scenes.formats.scene_json import save
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.sim.panorama.image_codec import encode_image, file_suffix, matches_digest
from navloom.sim.panorama.manifest import (
    JOURNAL,
    MANIFEST,
    SCENE,
    WORDS,
    HashedFile,
    Manifest,
    Modality,
    RenderRequest,
    SensorSpec,
    ViewpointsFile,
    ViewpointText,
    checked_path,
    read_manifest,
    read_viewpoints,
    scene_folder_name,
)
from navloom.sim.protocol import Captions, Pose, Simulator, View
from navloom.sim.registry import get_simulator
from navloom.sim.views import hidden_candidates
from navloom_worlds.rendering.sensors import resolve_rig, rig_for_views

BLOCK = 4
"""Number of viewpoints in a block of work."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class PendingViewpoint:
    """Viewpoint that is still to be rendered.

    Attributes:
        number: index of the viewpoint in its scene.
        viewpoint: its id.
        pictures: numbers of the missing images; None for all.
    """

    number: int
    viewpoint: str
    pictures: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RenderedViewpoint:
    """Viewpoint that was rendered.

    Attributes:
        viewpoint: its id.
        shots: the sensors, all of them.
        files: files of the rendered images, by the sensor's number.
        said: captions and candidates of the viewpoint.
    """

    viewpoint: str
    shots: tuple[SensorSpec, ...]
    files: dict[int, HashedFile]
    said: ViewpointText


@dataclass
class _JournalLine:
    files: dict[int, HashedFile]
    said: ViewpointText | None


class SceneRendering:
    """Rendering of one scene's panoramas: finished viewpoints, remaining blocks, and the manifest.

    Args:
        uri: URI of the scene.
        root: folder of the cache.
        asked: the requested images.
        note: receives messages for the user.

    Raises:
        SceneError: the scene cannot be loaded.
        RunError: the folder cannot be written, or holds other images.
    """

    def __init__(
        self, uri: str, root: Path, asked: RenderRequest, note: Callable[[str], None]
    ) -> None:
        self.uri, self.asked = uri, asked
        self.scene: Scene = load_scene(uri)
        self.folder = root / scene_folder_name(self.scene.uri)
        if not self.scene.viewpoints:
            raise SceneError(f"{uri} has no viewpoint, so there is nowhere to look from.")
        self._renderer = renderer_hash(asked.backend)
        self._shots: tuple[SensorSpec, ...] = ()
        self._kept: dict[str, _JournalLine] = {}
        make_folder(self.folder)
        self._recall(note)
        todo = self._missing(note)
        self.total = len(self.scene.viewpoints)
        self.kept = self.total - len(todo)
        self.blocks = deque(tuple(todo[k : k + BLOCK]) for k in range(0, len(todo), BLOCK))
        self._open_blocks = len(self.blocks)
        self._journal: JsonlFile | None = None

    @property
    def is_done(self) -> bool:
        """Return whether nothing is left to render."""
        return self._open_blocks == 0

    def put(self, rendered: list[RenderedViewpoint]) -> None:
        """Record a rendered block.

        Raises:
            RunError: it cannot be written.
            SimulatorError: this viewpoint has other sensors than those before it.
        """
        if self._journal is None:
            self._journal = self._opened_journal()
        for each in rendered:
            self._add(each)
            # A viewpoint that was repaired already has a line.
            line = self._line(each.viewpoint)
            if line["id"] not in self._journal.ids:
                self._journal.append(line)
        self._open_blocks -= 1

    def finish(self) -> None:
        """Write the scene, captions and manifest, after which the cache can be read.

        Raises:
            RunError: it cannot be written.
        """
        save(self.scene, self.folder / SCENE)
        ids = [each.id for each in self.scene.viewpoints]
        said = {each: kept for each in ids if (kept := self._kept[each].said) is not None}
        words = ViewpointsFile(scene=self.scene.uri, viewpoints=said)
        write_run_file(self.folder / WORDS, words.model_dump_json().encode())
        manifest = Manifest(
            scene=self.scene.uri,
            scene_sha256=scene_hash(self.scene),
            asked=self.asked,
            renderer=self._renderer,
            sensors=self._shots,
            scene_file=self._named(SCENE),
            words=self._named(WORDS),
            viewpoints={
                each: tuple(self._kept[each].files[k] for k in range(len(self._shots)))
                for each in ids
            },
        )
        write_run_file(self.folder / MANIFEST, manifest.model_dump_json(indent=1).encode())
        self.close()
        (self.folder / JOURNAL).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _named(self, name: str) -> HashedFile:
        return HashedFile(file=name, sha256=sha256((self.folder / name).read_bytes()).hexdigest())

    def _add(self, rendered: RenderedViewpoint) -> None:
        if self._shots and rendered.shots != self._shots:
            raise SimulatorError(
                f"{self.uri}: viewpoint {rendered.viewpoint} is seen by other sensors than the "
                "viewpoints before it: expected the same number, headings and sizes everywhere."
            )
        self._shots = rendered.shots
        kept = self._kept.setdefault(rendered.viewpoint, _JournalLine({}, None))
        kept.files |= rendered.files
        kept.said = rendered.said

    def _opened_journal(self) -> JsonlFile:
        journal = JsonlFile(self.folder / JOURNAL)
        if "*" not in journal.ids:
            of = [scene_hash(self.scene), self._renderer]
            journal.append({"id": "*", "asked": self.asked.model_dump(), "of": of})
        return journal

    def _line(self, viewpoint: str) -> dict[str, Any]:
        kept = self._kept[viewpoint]
        return {
            "id": f"viewpoint {viewpoint}",
            "shots": [each.model_dump() for each in self._shots],
            "files": {str(k): each.model_dump() for k, each in kept.files.items()},
            "said": None if kept.said is None else kept.said.model_dump(),
        }

    def _recall(self, note: Callable[[str], None]) -> None:
        """Load the results of earlier runs, if they match the request."""
        made: list[tuple[RenderRequest, list[str]]] = []
        lines: list[dict[str, Any]] = []
        manifest = None
        try:
            if (self.folder / MANIFEST).exists():
                manifest = read_manifest(self.folder)
                made.append((manifest.asked, [manifest.scene_sha256, manifest.renderer]))
            lines = list(read_lines(self.folder / JOURNAL))
            if lines:
                made.append((RenderRequest(**lines[0]["asked"]), list(lines[0]["of"])))
        except (SimulatorError, RunError, ValueError, KeyError, TypeError) as error:
            note(f"{self.folder}: all of it is rendered again: {error_line(error)}")
            (self.folder / JOURNAL).unlink(missing_ok=True)
            return
        other = next((asked for asked, _ in made if asked != self.asked), None)
        if other is not None:
            raise RunError(
                f"{self.folder} holds {other}, and {self.asked} are asked for: give --out another "
                "folder."
            )
        if any(of != [scene_hash(self.scene), self._renderer] for _, of in made):
            note(
                f"{self.folder}: {self.scene.uri} or its renderer is another than when this was "
                "made: all of it is rendered again."
            )
            (self.folder / JOURNAL).unlink(missing_ok=True)
            return
        if manifest is not None:
            self._recall_manifest(manifest)
        for line in lines[1:]:
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                self._recall_line(line)

    def _recall_manifest(self, manifest: Manifest) -> None:
        said: dict[str, ViewpointText] = {}
        path = self.folder / WORDS
        if matches_digest(path, manifest.words.sha256):
            with contextlib.suppress(SimulatorError):
                said = read_viewpoints(path, path.read_bytes(), self.scene).viewpoints
        self._shots = manifest.sensors
        for viewpoint, files in manifest.viewpoints.items():
            if viewpoint in self.scene.viewpoint_by_id:
                self._kept[viewpoint] = _JournalLine(dict(enumerate(files)), said.get(viewpoint))

    def _recall_line(self, line: dict[str, Any]) -> None:
        viewpoint = str(line["id"]).removeprefix("viewpoint ")
        if viewpoint not in self.scene.viewpoint_by_id:
            return
        shots = tuple(SensorSpec(**each) for each in line["shots"])
        files = {int(k): HashedFile(**each) for k, each in line["files"].items()}
        said = ViewpointText.model_validate(line["said"])
        self._shots = shots
        self._kept[viewpoint] = _JournalLine(files, said)

    def _missing(self, note: Callable[[str], None]) -> list[PendingViewpoint]:
        """Return the viewpoints that are missing or have a broken image."""
        todo: list[PendingViewpoint] = []
        broken: list[str] = []
        for number, viewpoint in enumerate(each.id for each in self.scene.viewpoints):
            kept = self._kept.get(viewpoint)
            if kept is None:
                todo.append(PendingViewpoint(number, viewpoint))
                continue
            unfit = [k for k in range(len(self._shots)) if not self._fits(kept.files.get(k))]
            broken += [kept.files[k].file for k in unfit if k in kept.files]
            if kept.said is None and not unfit:
                broken += [WORDS] if WORDS not in broken else []
            if unfit or kept.said is None:
                todo.append(PendingViewpoint(number, viewpoint, tuple(unfit)))
        if broken:
            more = f" and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
            note(
                f"{self.folder}: {', '.join(broken[:_MOST_NAMED])}{more}: missing or changed, "
                "rendered again."
            )
        return todo

    def _fits(self, named: HashedFile | None) -> bool:
        if named is None:
            return False
        try:
            return matches_digest(checked_path(self.folder, named.file), named.sha256)
        except SimulatorError:
            return False


def error_line(error: Exception) -> str:
    """Return an error's message on one line."""
    return " ".join(str(error).split())[:300]


def renderer_hash(backend: str) -> str:
    """Return a hash of our renderer's sources; for another backend, its name and our version.

    Args:
        backend: its name in the registry.
    """
    if backend != "embedded":
        return f"{backend} under navloom {version('navloom')}"
    whole = sha256()
    # The cache also holds captions, so the code that composes them is part of the hash.
    for package, folders in (
        (Path(__file__).parents[1], ("geometry", "furniture", "rendering")),
        (Path(navloom.__file__).parent, ("sim",)),
    ):
        for folder in folders:
            here = package / folder
            for file in sorted((*here.glob("*.py"), *here.glob("*.yaml"))):
                name = file.relative_to(package.parent).as_posix()
                whole.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_CAMERA = "camera"


@dataclass(frozen=True)
class RenderBlock:
    """Unit of work for one process: some viewpoints of one scene."""

    uri: str
    folder: Path
    asked: RenderRequest
    todo: tuple[PendingViewpoint, ...]


@dataclass
class RenderOutcome:
    """Result of a rendering.

    Attributes:
        scenes: number of complete scenes.
        rendered: number of rendered viewpoints.
        kept: number of viewpoints that existed already.
        failed: error messages of failed scenes, by URI.
    """

    scenes: int = 0
    rendered: int = 0
    kept: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def render_scenes(
    uris: Sequence[str],
    root: Path,
    asked: RenderRequest,
    *,
    processes: int = 1,
    note: Callable[[str], None] = lambda _: None,
    tell: Callable[[RenderOutcome], None] = lambda _: None,
) -> RenderOutcome:
    """Render the panoramas of scenes to disk; finished ones are kept.

    Args:
        uris: the scenes.
        root: folder of the cache; each scene has its own folder in it.
        asked: the requested images.
        processes: number of processes; 1 renders in this process.
        note: receives messages for the user.
        tell: receives the progress after each block.

    Raises:
        NavloomError: the only scene cannot be rendered, or the folder cannot be written.
    """
    pile = _Pile(uris, root, asked, note, tell)
    try:
        if processes == 1:
            _empty(pile, 0, render_block)
        else:
            _by_processes(pile, processes)
    finally:
        pile.close()
    if pile.error is not None:
        raise pile.error
    return pile.outcome


class _Pile:
    """Queue of remaining blocks, and the current scene of each worker."""

    def __init__(
        self,
        uris: Sequence[str],
        root: Path,
        asked: RenderRequest,
        note: Callable[[str], None],
        tell: Callable[[RenderOutcome], None],
    ) -> None:
        self._uris, self._root, self._asked = deque(uris), root, asked
        self._alone = len(uris) == 1
        self._note, self._tell = note, tell
        self._lock = threading.Lock()
        self._scenes: list[SceneRendering] = []
        self._at: dict[int, SceneRendering] = {}
        self.outcome = RenderOutcome()
        self.error: BaseException | None = None
        self.stopped = False

    def take(self, worker: int) -> tuple[SceneRendering, RenderBlock] | None:
        """Return the next block for a worker; None if nothing is left."""
        with self._lock:
            scene = self._at.get(worker)
            while not self.stopped and (scene is None or not scene.blocks) and self._uris:
                scene = self._opened(self._uris.popleft())
            if scene is None or not scene.blocks:
                scene = max(self._scenes, key=lambda each: len(each.blocks), default=None)
            if self.stopped or scene is None or not scene.blocks:
                return None
            self._at[worker] = scene
            todo = scene.blocks.popleft()
            return scene, RenderBlock(scene.uri, scene.folder, self._asked, todo)

    def done(self, scene: SceneRendering, rendered: list[RenderedViewpoint]) -> None:
        """Record a block, and finish its scene if it was the last."""
        with self._lock:
            scene.put(rendered)
            self.outcome.rendered += len(rendered)
            if scene.is_done:
                self._finish(scene)
            self._tell(self.outcome)

    def failed(self, uri: str, error: NavloomError) -> None:
        """Record that a scene cannot be rendered; the others go on."""
        with self._lock:
            self._fail(uri, error)

    def stop(self, error: BaseException) -> None:
        """Stop handing out blocks."""
        with self._lock:
            self.stopped = True
            self.error = self.error or error

    def close(self) -> None:
        """Close all journals."""
        for scene in self._scenes:
            scene.close()

    def _opened(self, uri: str) -> SceneRendering | None:
        try:
            scene = SceneRendering(uri, self._root, self._asked, self._note)
        except RunError:
            raise
        except NavloomError as error:
            self._fail(uri, error)
            return None
        self._scenes.append(scene)
        self.outcome.kept += scene.kept
        if scene.is_done:
            self._finish(scene)
        self._tell(self.outcome)
        return scene

    def _finish(self, scene: SceneRendering) -> None:
        scene.finish()
        self._scenes.remove(scene)
        self.outcome.scenes += 1

    def _fail(self, uri: str, error: NavloomError) -> None:
        for scene in [each for each in self._scenes if each.uri == uri]:
            scene.close()
            scene.blocks.clear()
            self._scenes.remove(scene)
        if uri in self.outcome.failed:
            return
        self.outcome.failed[uri] = str(error)
        if self._alone:
            self.error, self.stopped = error, True
        else:
            self._note(f"navloom: skipped {uri}: {error}")


def _empty(pile: _Pile, n: int, make: Callable[[RenderBlock], list[RenderedViewpoint]]) -> None:
    """Render blocks until none is left."""
    while (taken := pile.take(n)) is not None:
        scene, block = taken
        try:
            pile.done(scene, make(block))
        except RunError:  # the disk, which all scenes share
            raise
        except NavloomError as error:
            pile.failed(scene.uri, error)


def _by_processes(pile: _Pile, processes: int) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(_one_thread_each())
        context = get_context("spawn")
        pools = [
            stack.enter_context(ProcessPoolExecutor(1, context, initializer=_ignore_interrupts))
            for _ in range(processes)
        ]

        def work(n: int) -> None:
            try:
                _empty(pile, n, lambda block: pools[n].submit(render_block, block).result())
            except BrokenProcessPool:
                pile.stop(
                    SimulatorError(
                        "a process that rendered has died; memory may be short: run the same "
                        "command again with fewer --processes, what is finished is kept."
                    )
                )
            except BaseException as error:
                pile.stop(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(processes)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt as error:
            pile.stop(error)
            for thread in threads:
                thread.join()


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Limit numeric libraries of new processes to one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_AT_HAND: dict[tuple[str, RenderRequest], Simulator] = {}
"""The last simulator, reused since blocks of one scene come one after another."""


def render_block(block: RenderBlock) -> list[RenderedViewpoint]:
    """Render some viewpoints of a scene and write their images.

    Raises:
        NavloomError: the scene or the backend cannot be used.
        RunError: an image cannot be written.
    """
    key = (block.uri, block.asked)
    if key not in _AT_HAND:
        for simulator in _AT_HAND.values():
            simulator.close()
        _AT_HAND.clear()
        _AT_HAND[key] = _simulator(block.uri, block.asked)
    return [_rendered(_AT_HAND[key], block, todo) for todo in block.todo]


def _simulator(uri: str, asked: RenderRequest) -> Simulator:
    made = get_simulator(asked.backend, load_scene(uri), **_options(asked))
    missing = [name for name in asked.modalities if name not in made.capabilities]
    if missing:
        raise SimulatorError(
            f"The simulator '{asked.backend}' has no {', '.join(missing)} of {uri}: expected one "
            "that has pictures, such as embedded."
        )
    return made


def _options(asked: RenderRequest) -> dict[str, Any]:
    """Return the backend options that select the requested images, if the backend has any."""
    if asked.backend not in ("embedded", "habitat"):
        return {}
    rig = tuple(
        replace(each, width=asked.size, height=round(asked.size * each.height / each.width))
        for each in resolve_rig(rig_for_views(asked.views))
        # Depth determines which candidates are hidden, whether it is kept or not.
        if each.modality in (*asked.modalities, "depth")
    )
    return {"rig": rig, "light": asked.light} if asked.backend == "embedded" else {"rig": rig}


def _rendered(sim: Simulator, block: RenderBlock, todo: PendingViewpoint) -> RenderedViewpoint:
    pose = Pose((0.0, 0.0, 0.0), viewpoint=todo.viewpoint)
    seen = sim.reset({_CAMERA: (pose, DEFAULT_BODY)})[_CAMERA]
    taken = [
        (modality, view)
        for modality in block.asked.modalities
        for view in seen.images.get(modality, ())
        if view.projection == "pinhole"
    ]
    shots: list[SensorSpec] = []
    files: dict[int, HashedFile] = {}
    for number, (modality, view) in enumerate(taken):
        of_kind = sum(shot.modality == modality for shot in shots)
        last = file_suffix(modality, block.asked.format)
        name = f"views/{todo.number:04d}/{modality}-{of_kind}.{last}"
        wanted = todo.pictures is None or number in todo.pictures
        shots.append(_shot(modality, view))
        if wanted:
            data = encode_image(modality, view.image, block.asked.format)
            path = checked_path(block.folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_run_file(path, data)
            files[number] = HashedFile(file=name, sha256=sha256(data).hexdigest())
    eye = taken[0][1].position if taken else None
    hidden = hidden_candidates(seen)
    ways = tuple(replace(each, hidden=each.viewpoint in hidden) for each in seen.candidates)
    said = ViewpointText(captions=seen.captions or Captions(), candidates=ways, eye=eye)
    return RenderedViewpoint(todo.viewpoint, tuple(shots), files, said)


def _shot(modality: Modality, view: View) -> SensorSpec:
    height, width = view.image.shape[:2]
    return SensorSpec(
        modality=modality,
        heading=view.heading,
        elevation=view.elevation,
        fov=view.fov,
        width=width,
        height=height,
    )
