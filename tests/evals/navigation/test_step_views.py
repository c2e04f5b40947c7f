"""What was seen at a step: pictures that a run keeps, those of panoramas, else captions."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from navloom.evals.navigation.step_views import StepViews
from navloom.evals.report.blocks import StripView
from navloom.sim.media_store import FolderMedia
from navloom.sim.panorama.manifest import RenderRequest
from navloom.sim.views import BAND, DIRECTIONS
from navloom.tools.navigation.step_options import MoveOption
from navloom.tools.navigation.step_records import NavStep
from navloom_worlds.rendering.panorama_export import render_scenes
from tests.evals.navigation.walks import scene

SIDE = 64


def png(*greys: int, band: int = 0) -> bytes:
    """Panels of one grey each in a row, black words above."""
    tall = np.zeros((SIDE + band, SIDE * len(greys), 3), np.uint8)
    for k, grey in enumerate(greys):
        tall[band:, k * SIDE : (k + 1) * SIDE] = grey
    held = BytesIO()
    Image.fromarray(tall).save(held, "PNG")
    return held.getvalue()


def greys(views: tuple[StripView, ...]) -> list[int]:
    assert [view.name for view in views] == list(DIRECTIONS)
    pictures = [np.asarray(Image.open(BytesIO(view.data))) for view in views]
    assert all(picture.shape == (SIDE, SIDE, 3) for picture in pictures)
    return [round(float(picture.mean()), -1) for picture in pictures]  # type: ignore[misc]


def step(**more: object) -> NavStep:
    ways = [
        MoveOption(3, "2_6", "Right", "the way to 2", turn=1.2, distance=2.0),
        MoveOption(4, "1_0", "Back", "the way to 1", turn=3.0, distance=1.0),
    ]
    action = {"kind": "move", "option": 3, "viewpoint": "2_6"}
    return NavStep.read(
        {"viewpoint": "2_0", "heading": 0.0, "options": ways, "action": action, **more}
    )


def test_the_pictures_that_a_run_keeps_are_cut_into_four(tmp_path: Path) -> None:
    name = FolderMedia(tmp_path / "media").put(png(40, 80, 120, 160, band=BAND))
    views = StepViews(tmp_path, {}, scene()).strip(step(media=[name]))
    assert greys(views) == [40, 80, 120, 160]
    assert [view.to_next for view in views] == [False, False, True, False]
    assert "Option 3." in views[2].words


def test_of_many_views_the_four_that_look_level_are_taken(tmp_path: Path) -> None:
    store = FolderMedia(tmp_path / "media")
    names = [store.put(png(10 * k)) for k in range(24)]
    views = StepViews(tmp_path, {}, scene()).strip(step(media=names))
    # Eight headings at three elevations: the level ones are the second eight, Front first.
    assert greys(views) == [140, 80, 100, 120]


def test_a_picture_that_is_gone_leaves_the_words(tmp_path: Path) -> None:
    views = StepViews(tmp_path, {}, scene()).strip(step(media=[f"{'0' * 64}.png"]))
    assert [view.data for view in views] == [b""] * 4
    assert views[0].words
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / f"{'1' * 64}.png").write_bytes(b"\x89PNG\r\n\x1a\n torn")
    views = StepViews(tmp_path, {}, None).strip(step(media=[f"{'1' * 64}.png"]))
    assert [view.words for view in views] == ["", "", "Option 3.", "Option 4."]


@pytest.mark.slow
def test_panoramas_have_their_markers_beside_them(tmp_path: Path) -> None:
    pytest.importorskip("embreex")
    render_scenes(["demo:flat"], tmp_path / "p", RenderRequest(size=48, light="flat"))
    eyes = StepViews(tmp_path, {"where": {"panoramas": str(tmp_path / "p")}}, scene())
    views = eyes.strip(step())
    assert all(view.data.startswith(b"\xff\xd8") for view in views)
    markers = [marker for view in views for marker in view.markers]
    assert sorted((number, chosen) for _, _, number, chosen in markers) == [
        ("3", True),
        ("4", False),
    ]
    assert all(0 <= u <= 1 and 0 <= v <= 1 for u, v, _, _ in markers)
    moved = StepViews(tmp_path, {"where": {"panoramas": str(tmp_path / "none")}}, scene())
    assert [view.data for view in moved.strip(step())] == [b""] * 4
