"""Captions as a batch: stopped and gone on with, one file a scene, and what is refused."""

from __future__ import annotations

import json
import time
from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from navloom.cli.captions.caption import app
from navloom.errors import RunError, SceneError, UsageError
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.captions.run import captions_path, find_caption_cache
from navloom.evals.dry_run import dry_run
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models.model_registry import get_model
from navloom.models.scripted import register, unregister
from navloom.scenes.scene_uri import load_scene
from navloom.sim.captions import captions_for
from navloom.sim.views import GAP, PANEL
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import WireCall, reply_with

REQUEST = CaptionRequest(spec="demo:flat", seed=5)


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_to_the_same_file(tmp_path: Path) -> None:
    scene = load_scene("demo:flat")
    whole = run_request(REQUEST, tmp_path / "whole")
    first = run_request(REQUEST, tmp_path / "parts", Session(limit=10))
    part = json.loads(captions_path(tmp_path / "parts", scene).read_text())
    rest = run_request(REQUEST, tmp_path / "parts")
    assert (whole.ok, first.ok, first.left, rest.ok) == (28, 10, 18, 28)
    assert len(part["viewpoints"]) == 10
    files = [captions_path(tmp_path / run, scene).read_text() for run in ("whole", "parts")]
    assert files[0] == files[1]
    assert set(json.loads(files[0])["viewpoints"]) == {v.id for v in scene.viewpoints}
    source = captions_for(scene, cache=captions_path(tmp_path / "parts", scene))
    assert source.towards("1_1", "5_0").startswith("bathroom")


def test_questions_side_by_side_stay_within_the_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way, most = 0, 0
    thinker = reply_with(get_model("builtin/heuristic"))

    def reply(call: WireCall) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        time.sleep(0.1)
        said = thinker(call)
        under_way -= 1
        return said

    with ModelServer(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-000")
        # One without eyes: no picture is made between the questions.
        asked = replace(REQUEST, model="openai/gpt-3.5-turbo")
        done = run_request(asked, tmp_path, Session(limit=6, max_connections=3))
    assert (done.ok, len(server.calls), most) == (6, 12, 3)


@pytest.mark.slow
def test_a_file_for_every_scene(tmp_path: Path) -> None:
    summary = run_request(
        CaptionRequest(spec="demo:", job=("summary",)), tmp_path, Session(limit=40)
    )
    assert summary.ok == 40
    assert sorted(p.name for p in (tmp_path / "captions").iterdir()) == [
        "demo-flat.json",
        "demo-house.json",
    ]
    asked = read_run(tmp_path)["request"]
    assert (asked["job"], asked["prompts"][0]["name"]) == (["summary"], "viewpoint_summary")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "eyes"), [("gpt-4o-mini", True), ("gpt-3.5-turbo", False)])
def test_who_has_eyes_is_sent_the_strip_with_markers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, eyes: bool
) -> None:
    pytest.importorskip("embreex")
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-000")
        asked = replace(REQUEST, model=f"openai/{name}", job=("markers",))
        done = run_request(asked, tmp_path, Session(limit=1))
    assert (done.ok, len(server.calls)) == (1, 1)
    system, human = server.calls[0].body["messages"]
    blocks = human["content"] if isinstance(human["content"], list) else []
    sent = [each["image_url"]["url"] for each in blocks if each["type"] == "image_url"]
    assert len(sent) == eyes
    assert ("A green circle" in str(system["content"])) == eyes
    for url in sent:
        picture = Image.open(BytesIO(b64decode(url.partition("base64,")[2])))
        assert picture.width == 4 * PANEL + 3 * GAP
        assert (0, 150, 0) in {colour for _, colour in picture.convert("RGB").getcolors(1 << 24)}


def test_what_an_option_of_captions_means(tmp_path: Path) -> None:
    scene = load_scene("demo:flat")
    assert find_caption_cache(None, scene) is None
    assert find_caption_cache(tmp_path / "nothere.json", scene) == tmp_path / "nothere.json"
    assert find_caption_cache(tmp_path, scene) is None
    run_request(REQUEST, tmp_path, Session(limit=1))
    for named in (scene, scene.uri):
        assert find_caption_cache(str(tmp_path), named) == captions_path(tmp_path, scene)
    assert find_caption_cache(tmp_path, "demo:house") is None


@pytest.mark.slow
def test_a_viewpoint_without_an_answer_fails_and_the_others_are_kept(tmp_path: Path) -> None:
    replies = ["no", {"summary": "A hall."}]
    register("captioner", replies)
    try:
        request = CaptionRequest(
            spec="demo:flat", model="scripted/captioner", job=("summary",), max_reasks=0
        )
        summary = run_request(request, tmp_path, Session(limit=2))
    finally:
        unregister("captioner")
    assert (summary.ok, summary.failed) == (1, 1)
    rows = read_samples(tmp_path)
    assert sorted(row["reason"] or "" for row in rows) == ["", "unparsed"]
    said = json.loads((tmp_path / "captions" / "demo-flat.json").read_text())["viewpoints"]
    assert [words["summary"] for words in said.values()] == ["A hall."]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected one of markers, summary"):
        CaptionRequest(spec="demo:flat", job=("marks",))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="max_reasks is -1"):
        CaptionRequest(spec="demo:flat", max_reasks=-1)
    with pytest.raises(SceneError):
        run_request(CaptionRequest(spec="demo:nowhere"), tmp_path / "a")
    assert not (tmp_path / "a").exists()
    run_request(REQUEST, tmp_path / "b", Session(limit=1))
    with pytest.raises(RunError, match="seed was 5, now 6"):
        run_request(CaptionRequest(spec="demo:flat", seed=6), tmp_path / "b", Session(limit=1))


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = CliRunner().invoke(
        app, ["demo:flat", "--out", str(out), "--limit", "2", "--job", "markers", "--json"]
    )
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["ok"] == 2
    assert (out / "captions" / "demo-flat.json").is_file()


def test_a_dry_run_counts_the_questions_and_asks_none(tmp_path: Path) -> None:
    asked = CaptionRequest(spec="demo:flat", model="openai/gpt-4o-mini", max_reasks=1)
    dry = dry_run(asked, Session(limit=3))
    # Two questions a viewpoint, each sent back once.
    assert (dry.samples, dry.scenes, dry.calls) == (3, 1, (3, 12))
    assert dry.cost_usd is not None
    assert 0 < dry.cost_usd[0] < dry.cost_usd[1]
    ran = CliRunner().invoke(app, ["demo:flat", "--out", str(tmp_path / "r"), "--dry-run"])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.startswith("=== demo-flat-00000")
    assert not (tmp_path / "r").exists()
