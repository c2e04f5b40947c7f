"""``navloom chat demo:house`` at a pseudo-terminal: a person types, interrupts, and comes back."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.pseudo_terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@pytest.mark.slow
def test_instruction_question_correction_interruption_and_coming_back(tmp_path: Path) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path), "NAVLOOM_PACE": "0"}
    command = ("chat", "demo:house", "--display", "plain", "--thread", "evening")
    with Terminal(*command, environment=environment) as person:
        person.wait_for("The robot is in the entryway of demo:house", "you> ")
        person.type("go to the dining room")
        person.wait_for("· living room", "· dining room", "robot: I am in the dining room now.")
        person.type("is there a fridge near?")
        person.wait_for("robot: The nearest is a fridge in the kitchen,")
        person.type("no, the study")
        person.wait_for("robot: I am in the study now.", "you> ")
        person.type("/quit")
        assert person.end() == 0
    with Terminal(*command, "--pace", "1.5", environment=environment) as person:
        person.wait_for("You come back to 'evening'.", "you: no, the study", "in the study now.")
        person.type("go to the laundry room")
        person.wait_for("· living room")
        # In the middle of the walk: a question stops it, and is answered where it stands.
        person.type("where are you?")
        person.wait_for("robot: I am in the living room. From here")
        person.type("keep going")
        person.wait_for("· dining room")
        person.type("\x03", enter="")
        person.wait_for("robot: I have stopped in the dining room.")
        # Walking again, the process dies.
        person.type("keep going")
        person.wait_for("· kitchen")
        person.kill()
    with Terminal(*command, environment=environment) as person:
        person.wait_for("The robot is in the ", "you: keep going", "you> ")
        person.type("keep going")
        person.wait_for("· laundry room", "robot: I am in the laundry room now.")
        person.type(f"/save {tmp_path / 'evening'}")
        person.wait_for("Saved: ")
        person.type("\x03", enter="")
        assert person.end() == 130
    saved = json.loads((tmp_path / "evening.json").read_text())
    said = [line["text"] for line in saved["transcript"] if line["who"] == "person"]
    assert said[0] == "go to the dining room"
    assert said[-1] == "keep going"


@pytest.mark.slow
def test_the_panes_at_a_terminal(tmp_path: Path) -> None:
    pytest.importorskip("textual")
    environment = {"XDG_DATA_HOME": str(tmp_path), "NAVLOOM_PACE": "0.05"}
    with Terminal("chat", "demo:house", "--thread", "t", environment=environment) as person:
        person.wait_for("builtin/heuristic thinks", "living room")
        person.type("go to the kitchen", enter="\r")
        person.wait_for("I am in the kitchen now.")
        person.type("/quit", enter="\r")
        assert person.end() == 0
    command = ("chat", "demo:house", "--thread", "t", "--display", "plain")
    with Terminal(*command, environment=environment) as person:
        person.wait_for("The robot is in the kitchen", "you: go to the kitchen")
        person.type("\x04", enter="")
        assert person.end() == 0
