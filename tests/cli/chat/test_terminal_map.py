"""The map in a terminal."""

from __future__ import annotations

import math
import re

import pytest

from navloom.cli.chat.terminal_map import ARROWS, draw_floor, map_lines, map_text
from navloom.scenes.scene_uri import load_scene
from navloom.tools.chat.places import room_name
from tests.graphs.chat.chat_home import home


def test_outlines_join_up_and_every_room_is_named() -> None:
    lines = map_lines(load_scene("demo:house"), [["1_0", 0.0, 0.0]], width=72, height=24)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 72
    text = "\n".join(lines)
    for name in ("kitchen", "bedroom", "living room", "laundry room", "entryway", "study"):
        assert name in text
    down, right = set("│┌┐├┤┬┼▫"), set("─┌└├┬┴┼▫")
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            if letter in "│└┘├┤┴┼" and row:
                assert lines[row - 1][column] in down, (row, column)
            if letter in "─┐┘┤┬┴┼" and column:
                assert line[column - 1] in right, (row, column)


def test_the_arrow_looks_where_the_robot_looks() -> None:
    scene = home()
    for turn, arrow in enumerate("↑↗→↘↓↙←↖"):
        text = "\n".join(map_lines(scene, [["c3", turn * math.pi / 4, 0.0]]))
        assert [letter for letter in text if letter in ARROWS] == [arrow]


def test_north_is_up_and_east_is_right() -> None:
    scene = home()

    def spot(viewpoint: str) -> tuple[int, int]:
        lines = map_lines(scene, [[viewpoint, 0.0, 0.0]], width=100, height=40)
        return next((r, line.index("↑")) for r, line in enumerate(lines) if "↑" in line)

    assert spot("k")[0] < spot("c2")[0]
    assert spot("d")[1] > spot("b")[1]


def test_trail_goal_and_the_floor_of_the_robot() -> None:
    scene = home()
    lower = "\n".join(map_lines(scene, [["c0", 0, 0], ["c3", 0, 0]], goal="d"))
    assert lower.count("·") >= 3
    assert "◆" in lower
    assert "≡" in lower
    upper = "\n".join(map_lines(scene, [["c0", 0, 0], ["c3", 0, 0], ["a", 0, 0]], goal="d"))
    assert "◆" not in upper
    assert "·" not in upper
    assert "attic" in upper or "a" in upper


@pytest.mark.parametrize("home_", ["demo:flat", "demo:house", "demo:villa"])
@pytest.mark.parametrize(("width", "height"), [(100, 40), (72, 24), (40, 14), (28, 30), (34, 12)])
def test_no_name_is_cut_or_written_over(home_: str, width: int, height: int) -> None:
    scene = load_scene(home_)
    for number, here in enumerate(scene.viewpoints[:: max(1, len(scene.viewpoints) // 12)]):
        goal = scene.viewpoints[-1 - number].id
        trail = [[scene.viewpoints[0].id, 0.0, 0.0], [here.id, 1.0, 0.0]]
        lines = map_lines(scene, trail, width=width, height=height, goal=goal)
        assert len(lines) <= height
        assert max(map(len, lines)) <= width
        floor = scene.floor_of(here)
        names = {room_name(scene, r.id) for r in scene.regions if r.floor == floor}
        text = "\n".join(lines)
        words = set(re.findall(r"[a-z]+", text))
        # Whole words of names and no others: a name that is cut would be a word of its own.
        assert words <= {word for name in names for word in name.split()}
        drawn, _, key = text.rpartition("┘")
        for number_, name in re.findall(r"(\d+) ([a-z ]+?)(?:  |$)", key, re.MULTILINE):
            assert name in names
            assert number_ in drawn
        assert sum(letter in ARROWS for letter in text) == 1


def test_what_has_no_room_for_its_name_has_a_number_in_the_key() -> None:
    lines = map_lines(load_scene("demo:villa"), [["1_0", 0.0, 0.0]], width=28, height=30)
    key = "\n".join(lines[-3:])
    for name in ("entryway", "laundry room", "pantry", "kitchen"):
        assert re.search(rf"\d {name}(  |$)", key, re.MULTILINE)
    assert any("dining" in line for line in lines[:-3])


def test_any_size_and_colours() -> None:
    scene = load_scene("demo:villa")
    trail = [[scene.viewpoints[0].id, 0.0, 0.0]]
    for width, height in ((1, 1), (20, 8), (300, 150), (10_000, 10_000)):
        lines = map_lines(scene, trail, width=width, height=height)
        assert len(lines) <= max(5, min(height, 150))
    text = map_text(scene, trail, width=60, height=20)
    assert "on #" in str(text.spans)
    assert draw_floor(scene, 1, 60, 20) is draw_floor(scene, 1, 60, 20)
