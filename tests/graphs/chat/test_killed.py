"""A process that is killed in mid-walk: the next one comes back at the last hop, and says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import list_threads, open_thread
from navloom.sim.graph import GraphSimulator
from tests.graphs.chat.chat_home import home

WALK = """
import asyncio, sys
from pathlib import Path
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.graphs.chat.threads import open_thread
from navloom.sim.graph import GraphSimulator
from tests.graphs.chat.chat_home import home

class Told(ChatDisplay):
    def said(self, who, text): ...
    def moved(self, pose):
        print(pose["viewpoint"], flush=True)

async def main():
    async with open_thread(Path(sys.argv[1])) as saver:
        context = Context(simulator=GraphSimulator(home()))
        talk = ChatDriver(context, saver, Told(), thread="t", pace=0.4)
        await talk.open(start="c0")
        await talk.hear("go to the bedroom 3")

asyncio.run(main())
"""


class Silent(ChatDisplay):
    def said(self, who: str, text: str) -> None: ...

    def moved(self, pose: object) -> None: ...


@pytest.mark.slow
@pytest.mark.parametrize("words", ["keep going", "where are you?", None])
async def test_a_walk_that_is_killed_goes_on_in_another_process(
    tmp_path: Path, words: str | None
) -> None:
    file = tmp_path / "t.sqlite"
    with subprocess.Popen([sys.executable, "-c", WALK, str(file)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        seen = [child.stdout.readline().decode().strip() for _ in range(3)]
        child.kill()
    # The first is the walk's beginning; what is told last is on disk, and perhaps the hop after it.
    assert seen == ["c0", "c1", "c2"]
    (listed,), notes = await list_threads(tmp_path)
    assert (listed.name, listed.held, notes) == ("t", False, [])
    async with open_thread(file) as saver:
        talk = ChatDriver(Context(simulator=GraphSimulator(home())), saver, Silent(), thread="t")
        assert await talk.open()
        at = talk.trail[-1][0]
        assert at in ("c2", "c3")
        assert [(line["who"], line["text"]) for line in talk.transcript] == [
            ("person", "go to the bedroom 3"),
            (
                "robot",
                'I was cut off. I have stopped in the hallway. Say "keep going" and I go on.',
            ),
        ]
        assert not talk.walking
        if words is None:
            assert await talk.undo() == "go to the bedroom 3"
            assert (talk.trail[-1][0], talk.transcript) == ("c0", [])
        else:
            await talk.hear(words)
            assert talk.trail[-1][0] == ("d" if words == "keep going" else at)
        await talk.close()
    async with open_thread(file) as saver:
        lines = talk.transcript
        again = ChatDriver(Context(simulator=GraphSimulator(home())), saver, Silent(), thread="t")
        await again.open()
        # It is said once.
        assert again.transcript == lines
        await again.close()


async def test_words_that_were_never_answered_are_said_to_be(tmp_path: Path) -> None:
    from navloom.models.model_registry import get_model
    from navloom.testing import ModelServer, Stall

    async with open_thread(tmp_path / "t.sqlite") as saver:
        with ModelServer(["I never come to say all of this."], faults=[Stall(30)]) as server:
            model = get_model("openai/any", base_url=server.openai_url, api_key="test")
            context = Context(simulator=GraphSimulator(home()), model=model)
            talk = ChatDriver(context, saver, Silent(), thread="t")
            await talk.open(start="c0")
            talk.listener.writing = lambda _: talk.stop_current()  # type: ignore[method-assign]
            await talk.hear("hello")
            await talk.close()
        talk = ChatDriver(Context(simulator=GraphSimulator(home())), saver, Silent(), thread="t")
        await talk.open()
        assert [line["text"] for line in talk.transcript] == [
            "hello",
            "I was cut off. I had no answer to that.",
        ]
        await talk.hear("go to the kitchen")
        assert talk.trail[-1][0] == "k"
        await talk.close()
