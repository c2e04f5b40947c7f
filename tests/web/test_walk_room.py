"""A rater's walk over HTTP: their own alone, kept where they leave, gone when they withdraw."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from starlette.testclient import TestClient

from navloom.evals.people.study_folder import WALKS, PeopleStudy, read_rater_tokens
from navloom.evals.run_folder import read_samples
from navloom.evals.tasks.episode import Episode
from navloom.scenes.distances import metre_table
from navloom.scenes.scene_uri import load_scene
from navloom.web.app import make_app
from navloom.web.documents import Documents
from navloom.web.rating_service import RatingService
from navloom.web.study_source import StudySource
from navloom_worlds.walks.walk_server import WalkServer
from tests.evals.people.walkers import study
from tests.web.conftest import TOKEN

HERE = "http://127.0.0.1:8765"


class Walking:
    """A server over a study, as one rater's page asks it."""

    def __init__(
        self, people: PeopleStudy, client: TestClient, rater: str, rooms: Sequence[Any] = ()
    ) -> None:
        self.people, self.client, self._rooms = people, client, rooms
        token = read_rater_tokens(people.path)[rater] if rater else TOKEN
        self.headers = {"X-Navloom-Token": token, "Origin": HERE}
        self.item = next((e.items[0] for e in people.file.raters if e.name == rater), "")

    def part(self, status: str) -> None:
        said = {"id": token_hex(8), "status": status}
        assert self.client.post("/people/say", json=said, headers=self.headers).status_code == 200

    def post(self, what: str, **body: Any) -> Any:
        return self.client.post(f"/walk/{what}", json=body, headers=self.headers)

    def tell(self, say: str, **more: Any) -> Any:
        return self.post("tell", item=self.item, say=say, **more)

    def frame(self) -> tuple[bytes, dict[str, Any]]:
        asked = f"/walk/frame?item={self.item}&size=2"
        answer = self.client.get(asked, headers=self.headers)
        assert answer.status_code in (200, 204), answer.text
        return answer.content, json.loads(answer.headers["x-walk"])

    def until(self, phase: str, steps: int = 0) -> tuple[bytes, dict[str, Any]]:
        for _ in range(600):
            data, now = self.frame()
            if now["phase"] == phase and now["steps"] >= steps:
                return data, now
            assert now["phase"] != "broken", now
            time.sleep(0.05)
        raise AssertionError(now)

    def hop_to_the_end(self, most: int = 100) -> int:
        """Hop along the shortest way; how many hops it took."""
        _, now = self.until("walking")
        episode = Episode.model_validate(self.people.items[self.item].task["episode"])
        scene = load_scene(episode.scene)
        way = metre_table(scene, "3d").path(episode.start, episode.path[-1]) or []
        hops = 0
        for place in way[now["steps"] + 1 :][:most]:
            live = next(r for r in self._rooms if isinstance(r, WalkServer))._live
            (walk,) = [each for each in live.values() if each.name == self.item]
            assert walk._standing is not None
            option = next(o.id for o in walk._standing.options if o.viewpoint == place)
            self.tell("hop", option=option)
            hops += 1
            _, now = self.until("walking", now["steps"] + 1)
        return hops


def serving(people: PeopleStudy) -> tuple[TestClient, list[Any]]:
    room = RatingService([people.path])
    rooms = [room, WalkServer(room)]
    app: Any = make_app(Documents([StudySource(people.path)]), token=TOKEN, port=8765, rooms=rooms)
    return TestClient(app, base_url=HERE), rooms


@pytest.fixture
def people(tmp_path: Path) -> PeopleStudy:
    return study(tmp_path / "s", "hops", "demo:flat", 2, ("r1", "r2"))


@pytest.fixture
def walking(people: PeopleStudy) -> Iterator[Walking]:
    client, rooms = serving(people)
    with client:
        yield Walking(people, client, "r1", rooms)


@pytest.mark.slow
def test_a_rater_hops_to_the_end_and_goes_on_after_the_server_was_gone(people: PeopleStudy) -> None:
    client, rooms = serving(people)
    with client:
        first = Walking(people, client, "r1", rooms)
        assert first.post("begin", item=first.item).status_code == 422
        first.part("consented")
        assert first.post("begin", item=first.item).json()["motion"] == "hops"
        assert first.hop_to_the_end(most=1) == 1
    client, rooms = serving(people)
    with client:
        again = Walking(people, client, "r1", rooms)
        again.post("begin", item=again.item)
        data, now = again.until("walking", 1)
        assert data.startswith(b"\xff\xd8")
        assert now["steps"] == 1
        again.hop_to_the_end()
        again.tell("stop")
        for _ in range(200):
            if again.tell("keys").json()["phase"] == "done":
                break
            time.sleep(0.05)
        assert again.post("begin", item=again.item).json()["phase"] == "done"
        (line,) = read_samples(people.path / WALKS)
        assert (line["rater"], line["result"]["scores"]["SR"]) == ("r1", 1)
        assert line["result"]["scores"]["SPL"] == pytest.approx(1)
        again.part("withdrawn")
        assert read_samples(people.path / WALKS) == []
        assert again.post("begin", item=again.item).status_code == 422


def test_only_a_raters_own_walk_opens(walking: Walking) -> None:
    people, client = walking.people, walking.client
    other, owner = Walking(people, client, "r2"), Walking(people, client, "")
    walking.part("consented")
    other.part("consented")
    assert other.post("begin", item=walking.item).status_code == 422
    assert owner.post("begin", item=walking.item).status_code == 422
    assert walking.tell("hop", option=1).status_code == 422
    walking.post("begin", item=walking.item)
    walking.until("walking")
    assert client.get(f"/walk/frame?item={walking.item}", headers=other.headers).status_code == 422
    for wrong in ({"say": "fly"}, {"say": "keys", "forward": 2}, {"say": "hop", "option": 0}):
        answer = walking.post("tell", item=walking.item, **wrong)
        assert (answer.status_code, "\n" in answer.json()["error"]) == (422, False)
    # A way that is not there is no way: it stays where it was.
    assert walking.tell("hop", option=900).json()["steps"] == 0
    asked = f"/walk/frame?item={walking.item}&heading=nan&tilt=1e9&size=-7"
    assert client.get(asked, headers=walking.headers).status_code == 200
    walking.headers["X-Navloom-Token"] = "x" * 24
    assert walking.post("begin", item=walking.item).status_code == 401
