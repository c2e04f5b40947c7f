"""A rater's link opens that rater's form and nothing else; nothing is kept of who asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from navloom.errors import NavloomError, RunError, UsageError
from navloom.evals.people.people_study import prepare_study
from navloom.evals.people.rating_form import read_form
from navloom.evals.people.ratings_file import RatingsWriter, import_answers
from navloom.evals.people.study_folder import (
    RATINGS,
    PeopleStudy,
    read_people_study,
    read_rater_tokens,
)
from navloom.web.app import make_app
from navloom.web.documents import Documents
from navloom.web.rating_service import RatingService
from navloom.web.source_discovery import open_sources
from navloom.web.study_source import StudySource
from tests.web.conftest import TOKEN

HERE = "http://127.0.0.1:8765"


@pytest.fixture
def study(runs: Path, tmp_path: Path) -> PeopleStudy:
    form = read_form("relay")
    return prepare_study(form, [str(runs / "relays")], tmp_path / "asked", raters=2)


class Asking:
    """The application over studies, asked by a token."""

    def __init__(self, *folders: Path) -> None:
        self.room = RatingService(folders)
        documents = Documents(open_sources([str(each) for each in folders], print))
        self.app: Any = make_app(documents, token=TOKEN, port=8765, rooms=[self.room])

    def by(self, token: str) -> TestClient:
        headers = {"X-Navloom-Token": token, "Origin": HERE, "User-Agent": "a-browser-of-mine"}
        return TestClient(self.app, base_url=HERE, headers=headers)


@pytest.fixture
def asking(study: PeopleStudy) -> Any:
    made = Asking(study.path)
    yield made
    made.room._close()


def answer(asking: Asking, people: PeopleStudy, **more: Any) -> dict[str, Any]:
    """What answers the first item of a rater."""
    token = read_rater_tokens(people.path)["rater-1"]
    item = asking.by(token).get("/people/item/0").json()
    region = next(iter(item["places"]))
    transfer = {"region": region, "asset": item["places"][region][0]}
    said = {"id": "0123456789abcdef", "item": item["id"], "status": "answered", "seconds": 3.5}
    return {**said, "answers": {"transfer": transfer, "type": "A1"}, **more}


def test_a_raters_link_opens_that_form_alone(asking: Asking, study: PeopleStudy) -> None:
    """Over all routes: a rater's token against what it opens, and what it does not."""
    token = read_rater_tokens(study.path)["rater-1"]
    rater = asking.by(token)
    opened = {"/people/me", "/people/item/0"}
    for path in opened:
        assert rater.get(path).status_code == 200
    key = next(b["plan"] for b in rater.get("/people/item/0").json()["blocks"] if "plan" in b)
    assert rater.get(f"/people/plan/{key}").status_code == 200
    page = {"/", "/static/base.js"}
    paths = {"/people/links", "/people/", "/people", "/people/item", "/people/item/-1", "/live"}
    paths |= {"/doc/list.json", "/doc/source/0.json", f"/doc/plan/{key}.json", "/chat/threads"}
    paths |= {"/doc/source/0/tab/progress.json", "/doc/source/0/sample/i0000.json"}
    paths |= {"/people/item/0/../../links", "/people/%6cinks", "/people//links", "/people/links/"}
    paths |= {"/people/me/links", "/people/item/0?x=/people/me/../links", "/docs", "/openapi.json"}
    named = {str(getattr(route, "path", "")) for route in asking.app._app.routes}
    for path in sorted(named):
        paths.add(path.replace("{path:path}", "list").replace("{name}", "base.js"))
    for path in sorted(paths - opened - page):
        plain = path.replace("{place:int}", "0").replace("{key}", key)
        if plain in (*opened, f"/people/plan/{key}", "/people/say", "/people/item/0"):
            continue
        if plain == "/people/item/0?x=/people/me/../links":
            continue
        assert rater.get(plain).status_code in (401, 404), plain
        assert token not in rater.get(plain).text
    for path in ("/people/links", "/people/me", "/doc/list.json"):
        assert rater.post(path, json={}).status_code in (401, 405), path
    assert asking.by("x" * 24).get("/people/me").status_code == 401
    assert asking.by(TOKEN).get("/people/me").status_code == 422


def test_every_route_of_the_room_is_known_to_the_test_above(asking: Asking) -> None:
    paths = {route.path for route in asking.room.routes()}
    assert paths >= {"/people/me", "/people/say", "/people/links"}
    for path in paths - {"/people/links"}:
        assert path.startswith("/people/")


def test_no_rater_is_shown_what_is_known(asking: Asking, study: PeopleStudy) -> None:
    token = read_rater_tokens(study.path)["rater-1"]
    rater = asking.by(token)
    many = len(study.file.raters[0].items)
    told = [rater.get("/people/me").text]
    told += [rater.get(f"/people/item/{k}").text for k in range(many)]
    for text in told:
        assert "generator" not in text
        assert "optimum" not in text
        assert "builtin/heuristic" not in text
    assert all(each.references["generator"] for each in study.items.values())
    assert rater.get(f"/people/item/{many}").status_code == 404


def test_what_is_said_is_on_disk_and_said_twice_is_one(asking: Asking, study: PeopleStudy) -> None:
    rater = asking.by(read_rater_tokens(study.path)["rater-1"])
    said = answer(asking, study)
    assert rater.post("/people/say", json={"id": "a" * 16, "status": "consented"}).json()["new"]
    assert rater.post("/people/say", json=said).json()["new"]
    assert not rater.post("/people/say", json=said).json()["new"]
    assert len(read_people_study(study.path).ratings) == 2
    changed = {**said, "id": "b" * 16, "answers": {**said["answers"], "type": "A2"}}
    assert rater.post("/people/say", json=changed).json()["items"][0] == "answered"
    counted = read_people_study(study.path).counted()["rater-1"]
    assert counted[said["item"]].answers["type"] == "A2"
    assert rater.get("/people/item/0").json()["said"]["answers"]["type"] == "A2"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"answers": {"type": "A3"}}, "type: 'A3' is no answer"),
        ({"answers": {}}, "transfer: an answer is missing"),
        ({"answers": {"colour": "red"}}, "there is no question 'colour'"),
        ({"item": "i9999"}, "rater-1 is not asked about 'i9999'"),
        ({"item": "../links"}, "item"),
        ({"status": "consented"}, "what is consented has no answers"),
        ({"seconds": -1}, "seconds"),
        ({"rater": "rater-2"}, "rater"),
        ({"id": "<script>"}, "id"),
    ],
)
def test_what_is_no_answer_is_a_line_and_nothing_is_kept(
    asking: Asking, study: PeopleStudy, more: dict[str, Any], said: str
) -> None:
    rater = asking.by(read_rater_tokens(study.path)["rater-1"])
    told = rater.post("/people/say", json=answer(asking, study, **more))
    assert told.status_code == 422
    assert said in told.json()["error"]
    assert "\n" not in told.json()["error"]
    assert (study.path / RATINGS).read_bytes() == b""


def test_who_withdraws_is_not_counted_and_begins_anew(asking: Asking, study: PeopleStudy) -> None:
    rater = asking.by(read_rater_tokens(study.path)["rater-1"])
    said = answer(asking, study)
    rater.post("/people/say", json={"id": "a" * 16, "status": "consented"})
    rater.post("/people/say", json=said)
    told = rater.post("/people/say", json={"id": "b" * 16, "status": "withdrawn"}).json()
    assert (told["part"], told["items"][0]) == ("withdrawn", "withdrawn")
    assert read_people_study(study.path).counted()["rater-1"] == {}
    refused = rater.post("/people/say", json={**said, "id": "c" * 16})
    assert "you have withdrawn" in refused.json()["error"]
    rater.post("/people/say", json={"id": "d" * 16, "status": "consented"})
    assert read_people_study(study.path).counted()["rater-1"] == {}


def test_no_address_is_kept(asking: Asking, study: PeopleStudy) -> None:
    rater = asking.by(read_rater_tokens(study.path)["rater-1"])
    rater.post("/people/say", json=answer(asking, study))
    for file in study.path.iterdir():
        text = file.read_text(errors="replace")
        for address in ("127.0.0.1", "testclient", "a-browser-of-mine", "localhost"):
            assert address not in text, file.name


def test_the_owner_is_given_links_and_no_bundle_has_them(
    asking: Asking, study: PeopleStudy
) -> None:
    links = asking.by(TOKEN).get("/people/links").json()
    tokens = read_rater_tokens(study.path)
    assert {each["rater"]: each["token"] for each in links[0]["links"]} == tokens
    documents = Documents([StudySource(study.path)], given=True)
    told = json.dumps([documents.get(path) for path in documents.paths()])
    assert not any(token in told for token in tokens.values())


def test_one_process_takes_answers(study: PeopleStudy) -> None:
    with RatingsWriter(study.path), pytest.raises(RunError, match="another process takes"):
        RatingService([study.path])
    RatingService([study.path])._close()


def write_answers(people: PeopleStudy, said: dict[str, Any], path: Path, /, **more: Any) -> Path:
    line = {**said, "rater": "rater-1"}
    told = {"format": "navloom.answers/1", "study": people.file.study, "rater": "rater-1"}
    path.write_text(json.dumps({**told, "ratings": [line], **more}))
    return path


def test_answers_files_are_taken_once_and_anothers_are_refused(
    asking: Asking, study: PeopleStudy, tmp_path: Path
) -> None:
    said = answer(asking, study)
    asking.room._close()
    file = write_answers(study, said, tmp_path / "a.json")
    assert import_answers(study.path, [file]) == [(file, 1, 1)]
    assert import_answers(study.path, [file]) == [(file, 0, 1)]
    assert len(read_people_study(study.path).ratings) == 1
    for more, words in (
        ({"study": "0" * 16}, "of another study"),
        ({"rater": "rater-2"}, "a line of rater-1"),
        ({"format": "x"}, "no answers of a form"),
        ({"more": 1}, "no key 'more'"),
    ):
        bad = write_answers(study, {**said, "id": "f" * 16}, tmp_path / "b.json", **more)
        with pytest.raises(NavloomError, match=words) as told:
            import_answers(study.path, [bad])
        assert "\n" not in str(told.value)
    with pytest.raises(UsageError, match="cannot read"):
        import_answers(study.path, [tmp_path / "none.json"])
    assert len(read_people_study(study.path).ratings) == 1


def test_links_of_one_study_open_no_other(runs: Path, study: PeopleStudy, tmp_path: Path) -> None:
    source = str(runs / "heuristic")
    other = prepare_study(read_form("instruction"), [source], tmp_path / "two", raters=3)
    both = Asking(study.path, other.path)
    token = read_rater_tokens(other.path)["rater-1"]
    assert both.by(token).get("/people/me").json()["study"] == other.file.study
    asked = both.by(token).get("/people/item/0").json()["id"]
    wrong = {"id": "a" * 16, "item": asked, "status": "answered", "answers": {"type": "A1"}}
    assert "no question 'type'" in both.by(token).post("/people/say", json=wrong).json()["error"]
    both.room._close()
