"""A hundred payloads in words, replies, calls and names of the chat: each is text, and no more."""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.scene_uri import load_scene
from tests.web.browsing import browser, needs_browser, page_of
from tests.web.chatting import chatting
from tests.web.test_chat_browser import Person
from tests.web.test_payloads import PAYLOADS

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_browser, pytest.mark.timeout(600)]
STRANGE = """() => [...document.querySelectorAll('*')].filter((each) =>
    ['SCRIPT', 'IFRAME', 'OBJECT', 'BASE', 'STYLE', 'MATH'].includes(each.tagName)
      && !(each.src || '').startsWith(location.origin)
    || [...each.attributes].some((one) => one.name.startsWith('on')
      || /^javascript:/i.test(one.value))).map((each) => each.outerHTML.slice(0, 200))"""


def poisoned_home(folder: Path) -> Path:
    """A home whose rooms and things are named by payloads."""
    scene, payloads = load_scene("demo:flat").model_dump(mode="json"), cycle(PAYLOADS)
    for each in (*scene["items"], *scene["regions"]):
        for key in {"name", "label"} & each.keys():
            each[key] = str(each[key]) + next(payloads)
    (folder / "home.json").write_text(json.dumps(scene))
    return folder / "home.json"


def echo(messages: list[Any]) -> Any:
    """Says what it was told, after it looked that up, and asks every fifth time."""
    last = messages[-1]
    if isinstance(last, ToolMessage):
        return next(each for each in reversed(messages) if each.type == "human").text
    number = sum(each.type == "human" for each in messages)
    if number % 5 == 0:
        asked = f"Which one: {last.text}, or the other one?"
        return {"name": "ask_person", "args": {"question": asked}}
    return {"name": "find", "args": {"thing": last.text}}


def test_no_script_runs(tmp_path: Path) -> None:
    home = str(poisoned_home(tmp_path))
    model = ScriptedChatModel(echo)
    with (
        chatting(tmp_path / "threads", home, model=model) as chat,
        browser() as opened,
        page_of(opened, chat.served.origin) as watched,
    ):
        person = Person(watched).open(chat.served)
        for payload in PAYLOADS:
            chat.said("evening", payload)
        person.says(PAYLOADS[0])
        chat.settled("evening")
        page = watched.page
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        text = page.inner_text("body")
        plain = [" ".join(each.split()) for each in PAYLOADS]
        assert sum(each in " ".join(text.split()) for each in plain) >= 95
        assert page.evaluate(STRANGE) == []
        page.reload()
        person.does("listening", "asking")
        page.click(".names > summary")
        page.click(".names details >> nth=0")
        page.click(".names details[open] button >> nth=0")
        page.wait_for_function("() => document.querySelector('.chat-field textarea').value")
        page.click("[aria-label='rename evening']")
        page.fill("dialog input", "<img src=x onerror=alert(1)>")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog .bad:has-text('<img src=x')")
        assert page.evaluate(STRANGE) == []
        assert page.evaluate("window.pwned === undefined && Navloom.pwned === undefined")
        assert [each for each in watched.wrong if "status of 422" not in each] == []
