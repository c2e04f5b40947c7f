"""A map in a browser: steps, keys, zoom, words, a narrow screen; no text and no tag does harm."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import navloom.web
from navloom.evals.report.blocks import (
    Lane,
    MapFrame,
    MapMark,
    MapOption,
    MapRoute,
    SceneMap,
    Span,
    Track,
    block_to_json,
)
from navloom.evals.run_scenes import viewpoints_on_plan
from navloom.scenes.plan_data import plan_data
from navloom.scenes.plan_svg import plan_drawing
from navloom.scenes.scene_uri import load_scene
from tests.web.browsing import browser, needs_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_browser]

STATIC = Path(navloom.web.__file__).with_name("static")
SCRIPTS = ("base.js", "plan.js", "routes.js", "play.js", "map.js", "data.js", "go.js")
HOSTILE = "<img src=x onerror=hit=1></text><script>hit=1</script>"
GO = """"use strict";
var hit = 0, heard = [], gone = [];
const told = { go: (to) => gone.push(to), onFrame: (i) => heard.push(i) };
const map = Navloom.map(DATA.block, DATA.drawing, told);
document.body.append(map.node);
"""
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>map</title>
<meta http-equiv="Content-Security-Policy" content="%s">
<link rel="stylesheet" href="style.css"><link rel="stylesheet" href="map.css"></head>
<body>%s</body></html>"""
POLICY = "default-src 'none'; script-src 'self' file:; style-src 'self' file:"


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as made:
        yield made


def _walk() -> tuple[Any, SceneMap]:
    """A way over both floors of a home, its options, a robot in time."""
    scene = load_scene("home:4")
    points = viewpoints_on_plan(scene, [v.id for v in scene.viewpoints])
    one = next(p for p in points if p[0] == 1)
    two = next(p for p in points if p[0] == 2)
    way = (one, next(p for p in points if p[0] == 1 and p != one), two)
    frames = tuple(
        MapFrame(
            at=k,
            title=f"Step {k + 1}: {HOSTILE if k == 1 else 'goes on'}",
            options=(MapOption(number="1", at=way[min(k + 1, 2)], chosen=True, right=True),),
            heading=0.5,
        )
        for k in range(3)
    )
    return scene, SceneMap(
        scene=scene.uri,
        routes=(MapRoute(name="walk", style="walk", points=way, carried_from=1),),
        marks=(
            MapMark(kind="start", at=one),
            MapMark(kind="goal", at=two, radius=3.0, label=HOSTILE, to="samples?filter=x"),
        ),
        tracks=(Track(name="it", style="walk", points=tuple((k, *p) for k, p in enumerate(way))),),
        frames=frames,
        lanes=(Lane(name="it", style="walk", spans=(Span(start=0, end=2, words=HOSTILE),)),),
    )


@pytest.fixture
def page(opened: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    width, spoil = getattr(request, "param", (1200, False))
    scene, block = _walk()
    drawing = plan_drawing(plan_data(scene), graph=True).record()
    if spoil:
        drawing["floors"][0]["nodes"] += [
            ["script", {}, "hit=1"],
            ["foreignObject", {}, ["img", {"src": "x", "onerror": "hit=1"}]],
            [
                "g",
                {"onclick": "hit=1", "style": "fill:red", "href": "https://x.y", "fill": "url(#a)"},
            ],
        ]
    shutil.copytree(STATIC, tmp_path / "static")
    folder = tmp_path / "static"
    said = json.dumps({"block": block_to_json(block), "drawing": drawing})
    (folder / "data.js").write_text(f"const DATA = {said};")
    (folder / "go.js").write_text(GO)
    tags = "".join(f'<script src="{name}"></script>' for name in SCRIPTS)
    (folder / "map.html").write_text(PAGE % (POLICY, tags))
    context = opened.new_context(viewport={"width": width, "height": 800}, reduced_motion="reduce")
    shown = context.new_page()
    wrong: list[str] = []
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    shown.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    shown.goto((folder / "map.html").as_uri())
    shown.wait_for_function("document.querySelector('svg.plan').getAttribute('viewBox')")
    yield shown
    assert wrong == []
    context.close()


def test_who_sets_out_in_a_lift_is_seen_where_it_sets_out(page):
    ride = "{points: [[0, 2, 1, 1], [0, 1, 1, 1], [4, 1, 5, 1]]}"
    at = [page.evaluate(f"Navloom.placeOf({ride}, {when}).slice(0, 2)") for when in (0, 2, 4)]
    assert at == [[2, 1], [1, 3], [1, 5]]


def test_steps_are_gone_through_by_buttons_and_by_the_slider(page):
    slider = page.locator("input[type=range]")
    assert slider.get_attribute("aria-valuetext") == "Step 1: goes on (1 of 3)"
    page.get_by_role("button", name="next step").click()
    page.get_by_role("button", name="next step").click()
    assert page.evaluate("heard") == [1, 2]
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert HOSTILE in slider.get_attribute("aria-valuetext")
    page.evaluate("map.show(2)")  # who shows a frame is not told of it
    assert page.evaluate("heard") == [1, 2, 1]
    page.locator(".map-table summary").click()
    rows = page.locator(".map-table tbody tr")
    rows.first.wait_for()  # a lid tells of its opening a moment later
    assert rows.count() == 3
    assert "1 (" in rows.first.inner_text()  # the option, and the room that it is in
    rows.first.get_by_role("button").click()
    assert page.evaluate("heard") == [1, 2, 1, 0]


def test_a_plan_is_zoomed_by_keys_and_whole_again(page):
    plan = page.locator("svg.plan").first
    whole = plan.get_attribute("viewBox")
    plan.focus()
    page.keyboard.press("+")
    near = plan.get_attribute("viewBox")
    assert float(near.split()[2]) == pytest.approx(float(whole.split()[2]) / 1.4, rel=1e-3)
    page.keyboard.press("0")
    assert plan.get_attribute("viewBox") == whole


def test_a_mark_leads_on_by_the_keyboard(page):
    page.locator("svg.plan [role=link]").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("gone") == ["samples?filter=x"]


@pytest.mark.parametrize("page", [(320, False)], indirect=True)
def test_on_a_narrow_screen_one_floor_is_seen_and_follows_who_moves(page):
    seen = page.locator("svg.plan:visible")
    assert seen.count() == 1
    assert seen.get_attribute("aria-label").startswith("floor 1")
    page.evaluate("map.show(2)")
    assert page.locator("svg.plan:visible").get_attribute("aria-label").startswith("floor 2")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("page", [(1200, True)], indirect=True)
def test_text_stays_text_and_foreign_tags_stay_out(page):
    page.evaluate("map.show(1)")
    page.locator(".map-table summary").click()
    assert page.evaluate("hit") == 0
    inside = page.locator(".map")
    for tag in ("script", "img", "foreignObject", "[onclick]", "[style]", "[href]"):
        assert inside.locator(tag).count() == 0, tag
    assert page.locator("svg.plan text", has_text="<img src=x").count() == 1
