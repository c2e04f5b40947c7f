"""The map in a terminal."""

from __future__ import annotations

import math

from navloom.cli.chat.map import ARROWS, map_lines, map_text, term_map
from navloom.scenes.uri import load_scene
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


def test_any_size_and_colours() -> None:
    scene = load_scene("demo:villa")
    trail = [[scene.viewpoints[0].id, 0.0, 0.0]]
    for width, height in ((1, 1), (20, 8), (300, 150), (10_000, 10_000)):
        lines = map_lines(scene, trail, width=width, height=height)
        assert len(lines) <= max(5, min(height, 150))
    text = map_text(scene, trail, width=60, height=20)
    assert "on #" in str(text.spans)
    assert term_map(scene, 1, 60, 20) is term_map(scene, 1, 60, 20)
