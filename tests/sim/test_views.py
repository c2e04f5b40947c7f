"""Pictures as a model is shown them; every picture here is painted by the test."""

from __future__ import annotations

import math
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from navloom.errors import SimulatorError
from navloom.sim import Candidate, Observation, Pose, View
from navloom.sim.views import (
    DIRECTIONS,
    FORMS,
    MARK_M,
    PANEL,
    hidden_candidates,
    panel_name,
    quarter_heading,
    split_strip,
    view_pngs,
)

SIZE = 64
BAND, GAP = 32, 8
COLOURS = {0: (200, 0, 0), 90: (0, 0, 200), 180: (200, 200, 0), 270: (90, 90, 90)}


def view(heading: float, elevation: float = 0, colour: tuple[int, int, int] = (9, 9, 9)) -> View:
    image = np.full((SIZE, SIZE, 3), colour, dtype=np.uint8)
    return View(math.radians(heading), math.radians(elevation), math.radians(90), image)


def observation(*views: View, ways: tuple[Candidate, ...] = ()) -> Observation:
    return Observation(Pose((0, 0, 0)), candidates=ways, images={"rgb": views})


def cardinal(ways: tuple[Candidate, ...] = ()) -> Observation:
    return observation(*(view(h, 0, colour) for h, colour in COLOURS.items()), ways=ways)


def opened(png: bytes) -> Image.Image:
    picture = Image.open(BytesIO(png))
    assert picture.format == "PNG"
    return picture.convert("RGB")


def panels(png: bytes) -> list[tuple[int, ...]]:
    picture = opened(png)
    assert picture.size == (4 * SIZE + 3 * GAP, SIZE + BAND)
    return [picture.getpixel((k * (SIZE + GAP) + 5, BAND + 5)) for k in range(4)]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("heading", "front"),
    [
        (0, 0), (44.9, 0), (45, 90), (60, 90), (134.9, 90), (135, 180), (225, 270), (314.9, 270),
        (315, 0), (359.9, 0), (-45, 0), (-45.1, 270), (405, 90),
    ],
)  # fmt: skip
def test_the_strip_is_left_front_right_back_of_the_nearest_quarter(
    heading: float, front: int
) -> None:
    (png,) = view_pngs(cardinal(), math.radians(heading))
    assert math.degrees(quarter_heading(math.radians(heading))) == pytest.approx(front)
    assert panels(png) == [COLOURS[(front + turn) % 360] for turn in (-90, 0, 90, 180)]


def test_the_order_of_the_views_does_not_matter() -> None:
    shuffled = observation(*reversed([view(h, 0, c) for h, c in COLOURS.items()]))
    assert view_pngs(shuffled, 1.0) == view_pngs(cardinal(), 1.0)


def test_each_panel_is_labelled() -> None:
    picture = opened(view_pngs(cardinal(), 0.0)[0])
    for k in range(len(DIRECTIONS)):
        left = k * (SIZE + GAP)
        band = np.asarray(picture)[:BAND, left : left + SIZE]
        assert (band < 100).any(), "black letters above each panel"
        assert (band[0] == 255).all()


def test_views_that_stand_askew_still_make_four_different_panels() -> None:
    askew = observation(*(view(h + 37, 0, c) for h, c in COLOURS.items()))
    assert panels(view_pngs(askew, math.radians(37))[0]) == [COLOURS[h] for h in (270, 0, 90, 180)]


def test_the_strip_takes_level_views_from_a_sweep() -> None:
    sweep = [view(30 * k, e, (k * 20, 100 + e, 7)) for e in (30, 0, -30) for k in range(12)]
    found = panels(view_pngs(observation(*sweep), math.radians(100))[0])
    assert found == [(k * 20, 100, 7) for k in (0, 3, 6, 9)]


@pytest.mark.parametrize(
    ("n", "apart", "elevations"), [(12, 30, (0,)), (24, 45, (30, 0, -30)), (36, 30, (30, 0, -30))]
)
def test_single_views_go_clockwise_from_the_agent(
    n: int, apart: int, elevations: tuple[int, ...]
) -> None:
    around = 360 // apart
    views = [view(apart * k, e, (k * 20, 100 + e, 7)) for e in (-30, 0, 30) for k in range(around)]
    first = round(100 / apart)
    pngs = view_pngs(observation(*views), math.radians(100), n)
    assert len(pngs) == n
    found = [opened(png).getpixel((5, BAND + 5)) for png in pngs]
    expected = [
        ((first + k) % around * 20, 100 + elevation, 7)
        for elevation in elevations
        for k in range(around)
    ]
    assert found == expected


def test_without_pictures_nothing_is_shown() -> None:
    for n in FORMS:
        assert view_pngs(Observation(Pose((0, 0, 0))), 0.0, n) == []
    assert view_pngs(cardinal(), 0.0, 0) == []


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(SimulatorError, match="5 views cannot be shown"):
        view_pngs(cardinal(), 0.0, 5)
    with pytest.raises(SimulatorError, match="no picture at heading 30, elevation 0"):
        view_pngs(cardinal(), 0.0, 12)
    with pytest.raises(SimulatorError, match="no picture at heading 180"):
        view_pngs(observation(view(0), view(90), view(270)), 0.0)
    for image in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)):
        with pytest.raises(SimulatorError, match=r"expected \(height, width, 3\) uint8"):
            view_pngs(observation(*[View(h, 0.0, 1.5, image) for h in (0, 1.57, 3.14, 4.71)]), 0.0)


def test_large_pictures_are_made_smaller() -> None:
    large = np.zeros((300, 2 * PANEL, 3), np.uint8)
    views = [View(math.radians(h), 0.0, math.radians(90), large) for h in COLOURS]
    assert opened(view_pngs(observation(*views), 0.0)[0]).size == (4 * PANEL + 3 * GAP, 150 + BAND)


def test_panels_stand_apart_and_are_cut_out_again() -> None:
    whole = opened(view_pngs(cardinal(), 0.0)[0])
    pixels = np.asarray(whole)
    for k in range(1, len(DIRECTIONS)):
        right = k * (SIZE + GAP)
        assert (pixels[:, right - GAP : right] == 255).all(), "white between panels"
    cut = split_strip(whole)
    assert [each.size for each in cut] == [(SIZE, SIZE)] * 4
    assert [each.getpixel((0, 0)) for each in cut] == panels(view_pngs(cardinal(), 0.0)[0])
    # Strips of older runs have no gaps.
    older = Image.new("RGB", (4 * SIZE, SIZE + BAND), "white")
    for k, each in enumerate(cut):
        older.paste(each, (k * SIZE, BAND))
    assert [each.tobytes() for each in split_strip(older)] == [each.tobytes() for each in cut]


def green(picture: Image.Image) -> list[tuple[int, int]]:
    """Where the green of the markers is, by panel and column."""
    pixels = np.asarray(picture).astype(int)
    mask = (pixels[..., 1] > 120) & (pixels[..., 0] < 60) & (pixels[..., 2] < 60)
    columns = np.flatnonzero(mask.any(axis=0))
    return [divmod(int(c), SIZE + GAP) for c in columns]


def test_markers_stand_where_the_candidates_are() -> None:
    ahead = Candidate("a", math.radians(0), 0.0, 2.0)
    right = Candidate("b", math.radians(120), 0.0, 2.0)
    (png,) = view_pngs(cardinal((ahead, right)), 0.0, markers=True)
    hits = green(opened(png))
    assert {panel for panel, _ in hits} == {1, 2}
    middle = np.mean([column for panel, column in hits if panel == 1])
    assert middle == pytest.approx(SIZE / 2, abs=1)
    further = np.mean([column for panel, column in hits if panel == 2])
    assert further == pytest.approx(SIZE / 2 + SIZE / 2 * math.tan(math.radians(30)), abs=2)
    assert green(opened(view_pngs(cardinal((ahead, right)), 0.0)[0])) == []


def test_markers_rise_with_their_elevation_and_stay_in_the_picture() -> None:
    def height(elevation: float) -> float:
        way = Candidate("a", 0.0, math.radians(elevation), 2.0)
        pixels = np.asarray(opened(view_pngs(cardinal((way,)), 0.0, markers=True)[0])).astype(int)
        mask = (pixels[..., 1] > 120) & (pixels[..., 0] < 60) & (pixels[..., 2] < 60)
        return float(np.flatnonzero(mask.any(axis=1)).mean()) - BAND

    assert height(0) == pytest.approx(SIZE / 2, abs=1)
    assert height(20) < height(0) < height(-20)
    assert 0 <= height(89) < SIZE / 4


@pytest.mark.parametrize(
    ("heading", "target", "direction"),
    [(60, 90, "Front"), (60, 20, "Left"), (0, 140, "Back"), (300, 44, "Right"), (300, 46, "Back")],
)
def test_directions_are_those_of_the_strip(heading: int, target: int, direction: str) -> None:
    assert panel_name(math.radians(heading), math.radians(target)) == direction


EYE = (0.0, 1.5, 0.0)


def looking(depth: float | None = None, size: int = 256) -> Observation:
    """Four views from 1.5 m above the floor, and depth pictures of a wall so far all around."""
    plain = np.full((size, size, 3), 9, np.uint8)
    far = None if depth is None else np.full((size, size), depth, np.float32)
    images = {
        name: tuple(View(math.radians(h), 0.0, math.pi / 2, image, EYE) for h in COLOURS)
        for name, image in (("rgb", plain), ("depth", far))
        if image is not None
    }
    return Observation(Pose((0.0, 0.0, 0.0)), images=images)


def marks(seen: Observation) -> np.ndarray:
    """The front panel with its markers, (height, width, 3)."""
    picture = np.asarray(opened(view_pngs(seen, 0.0, markers=True)[0])).astype(int)
    size = seen.images["rgb"][0].image.shape[0]
    return picture[BAND:, size + GAP : 2 * size + GAP]


def rims(panel: np.ndarray) -> np.ndarray:
    return (panel[..., 1] > 120) & (panel[..., 0] < 60) & (panel[..., 2] < 60)


def test_a_marker_stands_on_its_place_a_hand_above_the_floor() -> None:
    seen = replace(looking(), candidates=(Candidate("a", math.radians(20), 0.0, 3.0),))
    rows, columns = np.nonzero(rims(marks(seen)))
    ahead = 3.0 * math.cos(math.radians(20))
    assert columns.mean() == pytest.approx(128 * (1 + math.tan(math.radians(20))), abs=2)
    assert rows.mean() == pytest.approx(128 * (1 + (1.5 - MARK_M) / ahead), abs=2)
    # Up a flight of steps it rises with the floor there.
    up = replace(looking(), candidates=(Candidate("a", 0.0, math.atan2(1.5, 2.0), 2.5),))
    rows, _ = np.nonzero(rims(marks(up)))
    assert rows.mean() == pytest.approx(128 * (1 + (1.5 - 1.5 - MARK_M) / 2.0), abs=2)


def test_what_is_behind_something_is_hidden_and_hollow() -> None:
    near, far = Candidate("near", 0.0, 0.0, 2.0), Candidate("far", math.radians(25), 0.0, 5.0)
    seen = replace(looking(3.0), candidates=(near, far))
    assert hidden_candidates(seen) == {"far"}
    panel = marks(seen)
    white = (panel > 240).all(axis=2)
    columns = np.flatnonzero(white.any(axis=0))
    hollow = round(128 * (1 + math.tan(math.radians(25))))
    assert white[:, hollow - 7].sum() > 8 > white[:, 128 - 7].sum()
    assert columns.size
    # Nothing is hidden where no depth is known, and a backend that knows is believed.
    assert hidden_candidates(replace(looking(), candidates=(near, far))) == set()
    told = replace(seen, candidates=(replace(near, hidden=True), replace(far, hidden=False)))
    assert hidden_candidates(told) == {"near"}


def test_a_place_is_seen_over_what_is_lower_than_its_post() -> None:
    seen = replace(looking(9.0), candidates=(Candidate("a", 0.0, 0.0, 4.0),))
    low = np.full((256, 256), 9.0, np.float32)
    low[150:] = 2.0  # a table: what is lower than 1.16 m is 2 m away
    views = tuple(replace(view, image=low) for view in seen.images["depth"])
    assert hidden_candidates(replace(seen, images={**seen.images, "depth": views})) == set()
    low[:] = 2.0
    assert hidden_candidates(replace(seen, images={**seen.images, "depth": views})) == {"a"}


def test_markers_keep_off_one_another_and_the_edge() -> None:
    ways = tuple(Candidate(str(k), math.radians(k), 0.0, 3.0) for k in range(5))
    seen = replace(looking(), candidates=(*ways, Candidate("close", math.radians(44), 0.0, 0.4)))
    panel = rims(marks(seen))
    # A whole circle is 8 pixels in radius within its rim; a number takes little of it.
    assert panel.sum() > 6 * 190
    assert view_pngs(seen, 0.0, markers=True) == view_pngs(seen, 0.0, markers=True)


def test_a_direction_between_two_views_is_marked_in_one_of_them() -> None:
    seen = replace(looking(), candidates=(Candidate("a", math.radians(45), 0.0, 3.0),))
    picture = np.asarray(opened(view_pngs(seen, 0.0, markers=True)[0])).astype(int)
    panels = [rims(picture[BAND:, k * (256 + GAP) : k * (256 + GAP) + 256]).any() for k in range(4)]
    assert panels == [False, False, True, False]


def test_a_sphere_is_not_cut_into_views() -> None:
    whole = View(0.0, 0.0, 2 * math.pi, np.zeros((8, 16, 3), np.uint8), EYE, "equirect")
    with pytest.raises(SimulatorError, match="cannot be cut out of a picture that is equirect"):
        view_pngs(observation(whole), 0.0)
