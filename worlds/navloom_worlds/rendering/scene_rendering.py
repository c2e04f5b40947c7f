"""One scene's panoramas while they are made: what is there, what is left, and how it ends.

A finished viewpoint is a line of ``rendered.jsonl``, written when its pictures are on disk; the
manifest comes last. Kill the process at any time: what is finished is found again, held against its
hashes, and kept.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import navloom
from navloom.errors import RunError, SceneError, SimulatorError
from navloom.files import make_folder, write_whole
from navloom.line_file import LineFile, read_lines
from navloom.scenes.difference import scene_hash
from navloom.scenes.formats.scene_json import save
from navloom.scenes.scene import Scene
from navloom.scenes.uri import load_scene
from navloom.sim.panorama.manifest import (
    JOURNAL,
    MANIFEST,
    SCENE,
    WORDS,
    Manifest,
    NamedFile,
    RenderRequest,
    SaidHere,
    Shot,
    WordsFile,
    checked_place,
    folder_name,
    read_manifest,
    read_words,
)
from navloom.sim.panorama.picture_files import fits

BLOCK = 4
"""Viewpoints that a process is given at a time."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class Todo:
    """A viewpoint that is to be rendered.

    Attributes:
        number: of the viewpoint in its scene.
        viewpoint: its id.
        pictures: the numbers of those that are missing; None for all.
    """

    number: int
    viewpoint: str
    pictures: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Rendered:
    """A viewpoint that was rendered.

    Attributes:
        viewpoint: its id.
        shots: the sensors, all of them.
        files: of the pictures that were made, by the sensor's number.
        said: the words there.
    """

    viewpoint: str
    shots: tuple[Shot, ...]
    files: dict[int, NamedFile]
    said: SaidHere


@dataclass
class _Kept:
    files: dict[int, NamedFile]
    said: SaidHere | None


class SceneRendering:
    """See the module's docstring.

    Args:
        uri: the scene, as it is loaded.
        root: the cache's folder.
        asked: what is wanted.
        note: is told what a person should read.

    Raises:
        SceneError: the scene cannot be loaded.
        RunError: the folder cannot be written, or holds something else.
    """

    def __init__(
        self, uri: str, root: Path, asked: RenderRequest, note: Callable[[str], None]
    ) -> None:
        self.uri, self.asked = uri, asked
        self.scene: Scene = load_scene(uri)
        self.folder = root / folder_name(self.scene.uri)
        if not self.scene.viewpoints:
            raise SceneError(f"{uri} has no viewpoint, so there is nowhere to look from.")
        self._renderer = renderer_hash(asked.backend)
        self._shots: tuple[Shot, ...] = ()
        self._kept: dict[str, _Kept] = {}
        make_folder(self.folder)
        self._recall(note)
        todo = self._missing(note)
        self.total = len(self.scene.viewpoints)
        self.kept = self.total - len(todo)
        self.blocks = deque(tuple(todo[k : k + BLOCK]) for k in range(0, len(todo), BLOCK))
        self._open_blocks = len(self.blocks)
        self._journal: LineFile | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to render."""
        return self._open_blocks == 0

    def put(self, rendered: list[Rendered]) -> None:
        """Keep a block that was rendered.

        Raises:
            RunError: it cannot be written.
            SimulatorError: this viewpoint was seen by other sensors than those before it.
        """
        if self._journal is None:
            self._journal = self._opened_journal()
        for each in rendered:
            self._add(each)
            # A viewpoint that was mended has a line of before.
            line = self._line(each.viewpoint)
            if line["id"] not in self._journal.ids:
                self._journal.append(line)
        self._open_blocks -= 1

    def finish(self) -> None:
        """Write what names all the others: the cache can be read from now on.

        Raises:
            RunError: it cannot be written.
        """
        save(self.scene, self.folder / SCENE)
        ids = [each.id for each in self.scene.viewpoints]
        said = {each: kept for each in ids if (kept := self._kept[each].said) is not None}
        words = WordsFile(scene=self.scene.uri, viewpoints=said)
        write_whole(self.folder / WORDS, words.model_dump_json().encode())
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
        write_whole(self.folder / MANIFEST, manifest.model_dump_json(indent=1).encode())
        self.close()
        (self.folder / JOURNAL).unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _named(self, name: str) -> NamedFile:
        return NamedFile(file=name, sha256=sha256((self.folder / name).read_bytes()).hexdigest())

    def _add(self, rendered: Rendered) -> None:
        if self._shots and rendered.shots != self._shots:
            raise SimulatorError(
                f"{self.uri}: viewpoint {rendered.viewpoint} is seen by other sensors than the "
                "viewpoints before it: expected the same number, headings and sizes everywhere."
            )
        self._shots = rendered.shots
        kept = self._kept.setdefault(rendered.viewpoint, _Kept({}, None))
        kept.files |= rendered.files
        kept.said = rendered.said

    def _header(self) -> dict[str, Any]:
        return {
            "id": "*",
            "asked": self.asked.model_dump(),
            "of": [scene_hash(self.scene), self._renderer],
        }

    def _opened_journal(self) -> LineFile:
        journal = LineFile(self.folder / JOURNAL)
        if "*" not in journal.ids:
            journal.append(self._header())
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
        """Read what earlier sessions made, if it is what is asked for now."""
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
            note(f"{self.folder}: all of it is rendered again: {first_line(error)}")
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
        said: dict[str, SaidHere] = {}
        path = self.folder / WORDS
        if fits(path, manifest.words.sha256):
            with contextlib.suppress(SimulatorError):
                said = read_words(path, path.read_bytes(), self.scene).viewpoints
        self._shots = manifest.sensors
        for viewpoint, files in manifest.viewpoints.items():
            if viewpoint in self.scene.viewpoint_by_id:
                self._kept[viewpoint] = _Kept(dict(enumerate(files)), said.get(viewpoint))

    def _recall_line(self, line: dict[str, Any]) -> None:
        viewpoint = str(line["id"]).removeprefix("viewpoint ")
        if viewpoint not in self.scene.viewpoint_by_id:
            return
        shots = tuple(Shot(**each) for each in line["shots"])
        files = {int(k): NamedFile(**each) for k, each in line["files"].items()}
        said = SaidHere.model_validate(line["said"])
        self._shots = shots
        self._kept[viewpoint] = _Kept(files, said)

    def _missing(self, note: Callable[[str], None]) -> list[Todo]:
        """What is left, of viewpoints that are not there and of those with a broken picture."""
        todo: list[Todo] = []
        broken: list[str] = []
        for number, viewpoint in enumerate(each.id for each in self.scene.viewpoints):
            kept = self._kept.get(viewpoint)
            if kept is None:
                todo.append(Todo(number, viewpoint))
                continue
            unfit = [k for k in range(len(self._shots)) if not self._fits(kept.files.get(k))]
            broken += [kept.files[k].file for k in unfit if k in kept.files]
            if kept.said is None and not unfit:
                broken += [WORDS] if WORDS not in broken else []
            if unfit or kept.said is None:
                todo.append(Todo(number, viewpoint, tuple(unfit)))
        if broken:
            more = f" and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
            note(
                f"{self.folder}: {', '.join(broken[:_MOST_NAMED])}{more}: missing or changed, "
                "rendered again."
            )
        return todo

    def _fits(self, named: NamedFile | None) -> bool:
        if named is None:
            return False
        try:
            return fits(checked_place(self.folder, named.file), named.sha256)
        except SimulatorError:
            return False


def first_line(error: Exception) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split())[:300]


def renderer_hash(backend: str) -> str:
    """A hash of what renders: of our own backend its sources, of another the name and our version.

    Args:
        backend: its name in the registry.
    """
    if backend != "embedded":
        return f"{backend} under navloom {version('navloom')}"
    whole = sha256()
    # Words lie in the cache, too: what makes them counts.
    for package, folders in (
        (Path(__file__).parents[1], ("geometry", "furniture", "rendering")),
        (Path(navloom.__file__).parent, ("sim",)),
    ):
        for folder in folders:
            for file in sorted((package / folder).glob("*.py")):
                name = file.relative_to(package.parent).as_posix()
                whole.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()
