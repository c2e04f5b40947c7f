"""What the rules are tuned on is what the navigator walks."""

from __future__ import annotations

from pathlib import Path

import pytest

import navloom
from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.baseline.follower import TUNED
from tests.graphs.navigation.tuning import Course


@pytest.mark.slow
@pytest.mark.realdata
def test_walks_to_tune_on_are_those_of_the_graph(data_dir: Path) -> None:
    course = Course(data_dir, "train")
    for episode in course.episodes[::400]:
        given = {
            "instruction": episode.instruction,
            "start": episode.start,
            "heading": episode.heading,
        }
        for mapped in (False, True):
            context = navigator.Context(
                scene=course.place(episode).scene, memory="map" if mapped else "history"
            )
            result = navloom.run(navigator.graph, given, context=context)["result"]
            stood = tuple(viewpoint for viewpoint, *_ in result["trajectory"])
            assert stood == course.walk(episode, TUNED, mapped=mapped).viewpoints, episode.id
