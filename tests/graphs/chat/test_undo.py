"""/undo in every state of a conversation: the walk and the words go, in the thread's file too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import UsageError
from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import open_thread
from navloom.sim.graph import GraphSimulator
from tests.graphs.chat.chat_home import home


class Speaker:
    """A person at a conversation that is kept in a file; may speak while the robot walks."""

    def __init__(self, talk: ChatDriver) -> None:
        self.talk = talk

    async def say(
        self, words: str, *, hops: int = 0, then: str | None = None, crash: bool = False
    ) -> None:
        """Say something; after so many hops stop the walk, as by a key, or by more words."""
        left, cut = [hops], []
        before = self.talk.listener

        class Watch(ChatDisplay):
            def said(self, who: str, text: str) -> None:
                before.said(who, text)

            def moved(self, pose: Mapping[str, Any]) -> None:
                left[0] -= self_talk.walking and pose["viewpoint"] != stood[-1]
                stood.append(pose["viewpoint"])
                if left[0] == 0 and not cut:
                    self_talk.stop_current()
                    cut.append(None if crash else self_talk.hear(then))

        self_talk, stood = self.talk, [self.at]
        self.talk.listener = Watch() if hops else before
        await self.talk.hear(words)
        for each in filter(None, cut):
            await each
        self.talk.listener = before
        assert not hops or cut, "the walk was over before it could be stopped"

    @property
    def at(self) -> str:
        return str(self.talk.trail[-1][0])

    @property
    def lines(self) -> list[str]:
        return [line["text"] for line in self.talk.transcript]


class Silent(ChatDisplay):
    def said(self, who: str, text: str) -> None: ...

    def moved(self, pose: Mapping[str, Any]) -> None: ...


@asynccontextmanager
async def at_home(file: Path) -> AsyncIterator[Speaker]:
    async with open_thread(file) as saver:
        talk = ChatDriver(Context(simulator=GraphSimulator(home())), saver, Silent())
        await talk.open(start="c0")
        yield Speaker(talk)
        await talk.close()


async def is_as_at_first(file: Path) -> None:
    """Whether nothing was said or walked, also for who comes back to the file."""
    async with at_home(file) as person:
        assert (person.at, person.lines) == ("c0", [])
        assert await person.talk.undo() is None
        await person.say("what did you just do?")
        assert person.lines[-1] == "I have not moved yet."
        await person.say("keep going")
        # Nothing is left of a goal: it is a step ahead, or no way on.
        assert person.at in ("c0", "c1")


async def test_of_a_fresh_conversation_there_is_nothing(tmp_path: Path) -> None:
    async with at_home(tmp_path / "t") as person:
        assert await person.talk.undo() is None
    await is_as_at_first(tmp_path / "t")


@pytest.mark.parametrize("then", [None, "stop", "where are you?", "wait", "what do you see?"])
async def test_a_walk_that_was_stopped_goes_with_all_its_words(
    tmp_path: Path, then: str | None
) -> None:
    async with at_home(tmp_path / "t") as person:
        await person.say("go to the bedroom 3", hops=2, then=then)
        assert person.at == "c3"
        assert person.lines
        assert await person.talk.undo() == "go to the bedroom 3"
        assert (person.at, person.lines) == ("c0", [])
    await is_as_at_first(tmp_path / "t")


async def test_words_that_began_another_walk_go_alone(tmp_path: Path) -> None:
    async with at_home(tmp_path / "t") as person:
        await person.say("go to the bedroom 3", hops=2, then="no wait, the kitchen")
        assert person.at == "k"
        assert await person.talk.undo() == "no wait, the kitchen"
        assert (person.at, person.lines) == ("c3", ["go to the bedroom 3"])
        # The walk that they stopped is unfinished again.
        await person.say("keep going")
        assert person.at == "d"
        assert await person.talk.undo() == "keep going"
        assert person.at == "c3"
    async with at_home(tmp_path / "t") as person:
        assert (person.at, person.lines) == ("c3", ["go to the bedroom 3"])
        assert await person.talk.undo() == "go to the bedroom 3"
    await is_as_at_first(tmp_path / "t")


async def test_a_walk_that_was_taken_up_again(tmp_path: Path) -> None:
    async with at_home(tmp_path / "t") as person:
        await person.say("go to the bedroom 3", hops=2)
        stopped = (person.at, person.lines)
        await person.say("keep going")
        assert person.at == "d"
        assert await person.talk.undo() == "keep going"
        assert (person.at, person.lines) == stopped
    async with at_home(tmp_path / "t") as person:
        assert (person.at, person.lines) == stopped
        await person.say("continue", hops=1, then="stop")
        assert await person.talk.undo() == "continue"
        assert (person.at, person.lines) == stopped
        assert await person.talk.undo() == "go to the bedroom 3"
    await is_as_at_first(tmp_path / "t")


async def test_a_walk_that_died_with_its_process(tmp_path: Path) -> None:
    async with at_home(tmp_path / "t") as person:
        await person.say("go to the bedroom 3", hops=2, crash=True)
    async with at_home(tmp_path / "t") as person:
        assert person.at == "c3"
        assert await person.talk.undo() == "go to the bedroom 3"
    await is_as_at_first(tmp_path / "t")


async def test_a_question_with_and_without_its_answer(tmp_path: Path) -> None:
    async with at_home(tmp_path / "t") as person:
        await person.say("go to the bedroom")
        assert "Which one?" in str(await person.talk.question())
        assert await person.talk.undo() == "go to the bedroom"
        assert (await person.talk.question(), person.lines) == (None, [])
        await person.say("go to the bedroom")
    async with at_home(tmp_path / "t") as person:
        await person.say("the second")
        assert person.at == "d"
        assert await person.talk.undo() == "go to the bedroom"
    await is_as_at_first(tmp_path / "t")


async def test_one_after_the_other(tmp_path: Path) -> None:
    stood = []
    async with at_home(tmp_path / "t") as person:
        for words in ("go to the kitchen", "what do you see?", "turn left", "go upstairs"):
            stood.append((person.at, person.talk.trail[-1], person.lines))
            await person.say(words)
        for number in (3, 2):
            await person.talk.undo()
            assert (person.at, person.talk.trail[-1], person.lines) == stood[number]
    async with at_home(tmp_path / "t") as person:
        for number in (1, 0):
            await person.talk.undo()
            assert (person.at, person.talk.trail[-1], person.lines) == stood[number]
    await is_as_at_first(tmp_path / "t")


async def test_what_was_talked_of_goes_too(tmp_path: Path) -> None:
    async with at_home(tmp_path / "t") as person:
        await person.say("where is the fridge?")
        await person.say("where is the desk?")
        await person.talk.undo()
        await person.say("go there")
        assert person.at == "k"
        await person.talk.undo()
        await person.talk.undo()
    await is_as_at_first(tmp_path / "t")


LINES = ["go to the kitchen", "go to the bedroom 3", "keep going", "turn left", "go upstairs"]


@pytest.mark.slow
async def test_any_line_leads_back_to_before_its_instruction(tmp_path: Path) -> None:
    async with at_home(tmp_path / "t") as person:
        stood = []
        for words in LINES:
            stood.append((person.at, person.talk.trail, person.lines))
            walk = words == "go to the bedroom 3"
            # A walk that was stopped has its words with it.
            await person.say(words, hops=2 * walk, then="where are you?" if walk else None)
        whole = (person.at, person.talk.trail, person.lines)
        assert person.talk.instructions == [len(lines) for _, _, lines in stood]
    data = (tmp_path / "t").read_bytes()
    belongs = [
        max(i for i, (_, _, lines) in enumerate(stood) if len(lines) <= line)
        for line in range(len(whole[2]))
    ]
    assert belongs == sorted(belongs)
    assert belongs.count(1) == 3
    for line, number in enumerate(belongs):
        (tmp_path / "t").write_bytes(data)
        async with at_home(tmp_path / "t") as person:
            assert (person.at, person.talk.trail, person.lines) == whole
            paid = len(person.talk.state["usage"])
            assert await person.talk.undo(line) == LINES[number]
            assert (person.at, person.talk.trail, person.lines) == stood[number]
            assert len(person.talk.state["usage"]) == paid
        async with at_home(tmp_path / "t") as person:
            assert (person.at, person.talk.trail, person.lines) == stood[number]
            with pytest.raises(UsageError, match="There is no line 99 to go back to"):
                await person.talk.undo(99)
            # The undo before was of its own line alone.
            assert await person.talk.undo() == (LINES[number - 1] if number else None)
