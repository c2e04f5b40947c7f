"""Whole runs and a talk behind llama.cpp's own HTTP server: every agent, a real small model.

SmolLM2-135M does none of the work well. What is held here is that every call is made, read and
counted, that what it says badly is a failed sample with its reason, and that nothing breaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.evals.run_folder import read_errors, read_samples
from navloom.graphs.chat.chat_driver import ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import open_thread
from navloom.models.model_registry import get_model
from navloom.scenes.scene_uri import get_scene
from navloom.sim.registry import get_simulator
from tests.models.llama_server import NAME, llama_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
MODEL = f"vllm/{NAME},temperature=0,max_tokens=160"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with llama_server(n_ctx=8192) as address:
        yield address


@pytest.mark.parametrize(
    "words",
    [
        "synth single demo:flat --n 1 --model MODEL",
        "synth collab demo:flat --n 1 --model MODEL --max-reasks 0",
        "eval scene demo:flat --n 1 --agent navgpt --cot --model MODEL --max-steps 2 --views 0",
        "eval scene demo:flat --n 1 --agent mapgpt --cot --model MODEL --max-steps 2 --views 0",
        "judge calibrate reasoning demo:flat --n 8 --limit 2 --model-role judge=MODEL",
    ],
    ids=["single", "collab", "navgpt", "mapgpt", "judge"],
)
def test_a_run_of_it_is_made_whole(
    words: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", url)
    asked = words.replace("MODEL", MODEL).split()
    assert main([*asked, "--no-cache", "--display", "none", "--out", str(tmp_path / "r")]) == 0
    done = list(read_samples(tmp_path / "r"))
    assert done
    assert not list(read_errors(tmp_path / "r"))
    assert all(line["status"] in ("ok", "failed") for line in done)
    assert all(line["status"] == "ok" or line["reason"] for line in done)
    paid = [line["usage"] for line in done]
    assert all(each["calls"] and each["input_tokens"] and each["output_tokens"] for each in paid)


class _Shown:
    """Who hears what is said, and how what is written grows."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.grew: list[str] = []

    def said(self, who: str, text: str) -> None:
        self.lines.append((who, text))

    def moved(self, pose: Mapping[str, Any]) -> None:
        """Nobody looks."""

    def writing(self, text: str) -> None:
        self.grew.append(text)

    def called(self, call: Any) -> None:
        """It calls nothing."""


async def test_it_talks_word_by_word_and_is_told_in_words_what_it_cannot_see(url: str) -> None:
    shown = _Shown()
    simulator = get_simulator("embedded", get_scene("demo:flat"), physics="slide")
    context = Context(model=get_model(MODEL, base_url=url), simulator=simulator)
    async with open_thread(None) as saver:
        talk = ChatDriver(context, saver, shown)
        await talk.open()
        await talk.hear("hello, who are you?")
        await talk.hear("what do you see?")
        await talk.close()
    blind = [text for who, text in shown.lines if who == "note"]
    assert len(blind) == 1
    assert "takes no images: it is told in words" in blind[0]
    said = [text for who, text in shown.lines if who == "robot"]
    assert len(said) == 2
    assert all(said)
    assert not [text for who, text in shown.lines if who == "error"]
    assert len(shown.grew) > 10
    assert all(paid["output_tokens"] > 0 for paid in talk.state["usage"])
