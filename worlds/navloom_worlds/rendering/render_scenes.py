"""Writing panoramas of many scenes, by one process or several.

Each process has a scene and its mesh of its own. A process goes on with the scene it has, then
takes the next one, and at the end helps where most is left.
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
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError, RunError, SimulatorError
from navloom.files import write_whole
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.uri import load_scene
from navloom.sim.panorama.manifest import (
    Modality,
    NamedFile,
    RenderRequest,
    SaidHere,
    Shot,
    checked_place,
)
from navloom.sim.panorama.picture_files import encoded, ending
from navloom.sim.protocol import Captions, Pose, Simulator, View
from navloom.sim.registry import get_simulator
from navloom.sim.views import hidden_ways
from navloom_worlds.rendering.scene_rendering import Rendered, SceneRendering, Todo
from navloom_worlds.rendering.sensors import rig_for_views, rig_of

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_CAMERA = "camera"


@dataclass(frozen=True)
class Block:
    """What a process is asked to render: some viewpoints of one scene."""

    uri: str
    folder: Path
    asked: RenderRequest
    todo: tuple[Todo, ...]


@dataclass
class Outcome:
    """What became of a rendering.

    Attributes:
        scenes: how many are whole now.
        rendered: viewpoints that were rendered.
        kept: viewpoints that were there already.
        failed: why a scene could not be rendered, by its URI.
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
    tell: Callable[[Outcome], None] = lambda _: None,
) -> Outcome:
    """Write the panoramas of scenes; what is there already is kept.

    Args:
        uris: the scenes.
        root: the cache's folder; each scene has a folder of its own in it.
        asked: which pictures.
        processes: how many render at once; one renders in this process.
        note: is told what a person should read.
        tell: is told how far it is, after each block.

    Raises:
        NavloomError: the only scene there is cannot be rendered; the folder cannot be written.
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
    """Blocks that are left, and who has which scene."""

    def __init__(
        self,
        uris: Sequence[str],
        root: Path,
        asked: RenderRequest,
        note: Callable[[str], None],
        tell: Callable[[Outcome], None],
    ) -> None:
        self._uris, self._root, self._asked = deque(uris), root, asked
        self._alone = len(uris) == 1
        self._note, self._tell = note, tell
        self._lock = threading.Lock()
        self._scenes: list[SceneRendering] = []
        self._at: dict[int, SceneRendering] = {}
        self.outcome = Outcome()
        self.error: BaseException | None = None
        self.stopped = False

    def take(self, worker: int) -> tuple[SceneRendering, Block] | None:
        """The next block for a worker; None where nothing is left."""
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
            return scene, Block(scene.uri, scene.folder, self._asked, todo)

    def done(self, scene: SceneRendering, rendered: list[Rendered]) -> None:
        """Keep a block, and close its scene where it was the last."""
        with self._lock:
            scene.put(rendered)
            self.outcome.rendered += len(rendered)
            if scene.is_done:
                self._finish(scene)
            self._tell(self.outcome)

    def failed(self, uri: str, error: NavloomError) -> None:
        """A scene cannot be rendered: the others go on."""
        with self._lock:
            self._fail(uri, error)

    def stop(self, error: BaseException) -> None:
        """Nothing more is given out."""
        with self._lock:
            self.stopped = True
            self.error = self.error or error

    def close(self) -> None:
        """Let go of all journals."""
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


def _empty(pile: _Pile, worker: int, render: Callable[[Block], list[Rendered]]) -> None:
    """Take blocks until none is left."""
    while (taken := pile.take(worker)) is not None:
        scene, block = taken
        try:
            pile.done(scene, render(block))
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

        def work(worker: int) -> None:
            try:
                _empty(
                    pile, worker, lambda block: pools[worker].submit(render_block, block).result()
                )
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
    """Let processes that are begun now do their arithmetic in one thread."""
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
"""The simulator that rendered last: blocks of one scene come one after another."""


def render_block(block: Block) -> list[Rendered]:
    """Render some viewpoints of a scene and write their pictures.

    Raises:
        NavloomError: the scene or the backend cannot be used.
        RunError: a picture cannot be written.
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
    """Which pictures a backend is to take, where it can be told."""
    if asked.backend not in ("embedded", "habitat"):
        return {}
    rig = tuple(
        replace(each, width=asked.size, height=round(asked.size * each.height / each.width))
        for each in rig_of(rig_for_views(asked.views))
        # Depth says which ways are hidden, whether it is kept or not.
        if each.modality in (*asked.modalities, "depth")
    )
    return {"rig": rig, "light": asked.light} if asked.backend == "embedded" else {"rig": rig}


def _rendered(simulator: Simulator, block: Block, todo: Todo) -> Rendered:
    pose = Pose((0.0, 0.0, 0.0), viewpoint=todo.viewpoint)
    seen = simulator.reset({_CAMERA: (pose, DEFAULT_BODY)})[_CAMERA]
    taken = [
        (modality, view)
        for modality in block.asked.modalities
        for view in seen.images.get(modality, ())
        if view.projection == "pinhole"
    ]
    shots: list[Shot] = []
    files: dict[int, NamedFile] = {}
    for number, (modality, view) in enumerate(taken):
        of_kind = sum(shot.modality == modality for shot in shots)
        last = ending(modality, block.asked.format)
        name = f"views/{todo.number:04d}/{modality}-{of_kind}.{last}"
        wanted = todo.pictures is None or number in todo.pictures
        shots.append(_shot(modality, view))
        if wanted:
            data = encoded(modality, view.image, block.asked.format)
            path = checked_place(block.folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
            files[number] = NamedFile(file=name, sha256=sha256(data).hexdigest())
    eye = taken[0][1].position if taken else None
    hidden = hidden_ways(seen)
    ways = tuple(replace(each, hidden=each.viewpoint in hidden) for each in seen.candidates)
    said = SaidHere(captions=seen.captions or Captions(), candidates=ways, eye=eye)
    return Rendered(todo.viewpoint, tuple(shots), files, said)


def _shot(modality: Modality, view: View) -> Shot:
    height, width = view.image.shape[:2]
    return Shot(
        modality=modality,
        heading=view.heading,
        elevation=view.elevation,
        fov=view.fov,
        width=width,
        height=height,
    )
