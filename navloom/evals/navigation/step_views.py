"""Four views at each step of an episode: images if the run has any, else captions.

Images are those that the model was shown, which the run stores, or those of the run's panoramas.
Others are rendered on request. Views are ordered as in VLN-MME E.1: Left, Front, Right, Back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.navigation.failure_narrative import observe_from
from navloom.evals.report.blocks import StripView
from navloom.evals.report.formatting import encode_jpeg
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene import Scene
from navloom.sim.media_store import FolderMedia
from navloom.sim.protocol import Observation, Pose, Simulator
from navloom.sim.registry import get_simulator
from navloom.sim.scene_images import can_render, four_view_simulator
from navloom.sim.views import DIRECTIONS, FORMS, quarter_heading, split_strip, strip_panels
from navloom.tools.navigation.step_records import NavStep

_VIEW = 256
"""Pixels of a view's longer side."""
_TURNS = {"Left": 3, "Front": 0, "Right": 1, "Back": 2}
_MOST_WORDS = 600


@dataclass(frozen=True)
class StepViews:
    """Source of the views at each step of an episode.

    Attributes:
        run: the run's folder.
        said: content of its ``run.json``.
        scene: scene of the episode; None if it is missing.
        renders: whether to render views that the model was not shown, if the scene has geometry.
    """

    run: Path
    said: Mapping[str, Any]
    scene: Scene | None
    renders: bool = False

    def strip(self, step: NavStep) -> tuple[StripView, ...]:
        """Return the views of a step; empty if they are unknown."""
        seen = self._pictured(step) or self._told(step)
        chosen = next((o for o in step.options if o.viewpoint == step.move_target), None)
        if chosen is None or chosen.hops > 1:
            return seen
        # Images face compass quarters, captions the body's: a marker tells the view.
        marked = [each.name for each in seen if any(marker[3] for marker in each.markers)]
        names = marked or [chosen.direction]
        return tuple(replace(each, to_next=each.name in names) for each in seen)

    def after(self, viewpoint: str, heading: float | None) -> tuple[StripView, ...]:
        """Return the views at the end of the trajectory, after the last step."""
        return self.strip(NavStep(viewpoint=viewpoint, heading=heading))

    def _pictured(self, step: NavStep) -> tuple[StripView, ...]:
        try:
            if step.media:
                return self._kept(step)
            return self._among(step)
        except Exception:
            # A missing image, or one that Pillow cannot read, leaves the captions.
            return ()

    def _kept(self, step: NavStep) -> tuple[StripView, ...]:
        """Return the stored images that the model was shown, with their numbers."""
        from PIL import Image

        store, words = FolderMedia(self.run / "media"), self._words(step)
        if len(step.media) in FORMS and len(step.media) > 4:
            count, elevations = FORMS[len(step.media)]
            level = count * elevations.index(0)
            found = [(n, store.get(step.media[level + count * _TURNS[n] // 4])) for n in DIRECTIONS]
            return tuple(
                StripView(name=n, words=words[n], data=encode_jpeg(d, _VIEW)) for n, d in found
            )
        shown = split_strip(Image.open(BytesIO(store.get(step.media[0]))))
        return tuple(
            StripView(name=name, words=words[name], data=encode_jpeg(each, _VIEW))
            for name, each in zip(DIRECTIONS, shown, strict=True)
        )

    def _among(self, step: NavStep) -> tuple[StripView, ...]:
        """Return the panorama images, with markers of the options."""
        if self._panoramas is None or step.viewpoint is None:
            return ()
        pose = Pose((0.0, 0.0, 0.0), step.heading or 0.0, 0.0, step.viewpoint)
        seen = self._panoramas.reset({"eye": (pose, DEFAULT_BODY)})["eye"]
        words, ways = self._words(step), _numbered(seen, step)
        return tuple(
            StripView(
                name=panel.name,
                words=words[panel.name],
                data=encode_jpeg(panel.pixels, _VIEW),
                markers=tuple(
                    (round(u, 4), round(v, 4), *ways[number - 1])
                    for u, v, number in panel.markers
                    if ways[number - 1][0]
                ),
            )
            for panel in strip_panels(seen, step.heading or 0.0)
        )

    @cached_property
    def _panoramas(self) -> Simulator | None:
        where = self.said.get("where")
        folder = where.get("panoramas") if isinstance(where, Mapping) else None
        if self.scene is None:
            return None
        if isinstance(folder, str):
            return get_simulator("panorama", self.scene, folder=folder)
        return self._rendered(self.scene) if self.renders else None

    @staticmethod
    def _rendered(scene: Scene) -> Simulator | None:
        return four_view_simulator(scene, _VIEW, light="flat") if can_render(scene) else None

    def _told(self, step: NavStep) -> tuple[StripView, ...]:
        """Return the views as captions; empty without captions and options."""
        words = self._words(step)
        return tuple(StripView(name=name, words=words[name]) for name in DIRECTIONS if any(words))

    def _words(self, step: NavStep) -> dict[str, str]:
        """Return the text of each view: its caption, then the numbers of its options."""
        captions = self._captions(step)
        found = {}
        for name in DIRECTIONS:
            ways = [str(o.id) for o in step.options if o.direction == name and o.hops == 1]
            caption = captions.get(name, "")
            said = [caption if not caption or caption.endswith(".") else f"{caption}."]
            said += [f"Option{'s' if len(ways) > 1 else ''} {', '.join(ways)}."] if ways else []
            found[name] = " ".join(filter(None, said))[:_MOST_WORDS]
        return found

    def _captions(self, step: NavStep) -> dict[str, str]:
        scene = self.scene
        if scene is None or step.viewpoint not in scene.viewpoint_by_id:
            return {}
        heading = step.heading or 0.0
        try:
            told = observe_from(scene, str(step.viewpoint), heading).captions
        except NavloomError:
            return {}
        sectors = told.sectors if told is not None else ()
        if len(sectors) != 8:
            return {}
        first = round(quarter_heading(heading) / (math.pi / 4))
        return {name: sectors[(first + 2 * turn) % 8] for name, turn in _TURNS.items()}


def _numbered(seen: Observation, step: NavStep) -> list[tuple[str, bool]]:
    """Return for each candidate the number of its option, and whether it was taken."""
    numbers = {option.viewpoint: str(option.id) for option in step.options}
    to = step.move_target
    return [(numbers.get(w.viewpoint, ""), w.viewpoint == to) for w in seen.candidates]
