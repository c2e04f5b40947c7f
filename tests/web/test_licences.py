"""What a scene's licence keeps stays out of what is given on, and the rest is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from navloom.evals.call_log import read_calls
from navloom.evals.run_folder import iter_samples
from navloom.web import documents as module
from navloom.web.documents import Documents
from navloom.web.source_discovery import open_sources


def texts(value: Any) -> Iterator[str]:
    """All texts within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, runs: Path) -> Documents:
    """The runs as they would be given on if their scenes were licensed ones."""
    monkeypatch.setattr(module, "LICENSED", ("demo:",))
    return Documents(open_sources([str(runs)], print), given=True, licensed=False)


@pytest.mark.slow
def test_captions_prompts_and_plans_stay_out(kept: Documents, runs: Path) -> None:
    secret: set[str] = set()
    for line in iter_samples(runs / "heuristic"):
        for step in line["result"]["steps"]:
            secret |= {option["description"] for option in step["options"]}
        for call in read_calls(runs / "heuristic", line["id"]):
            secret |= {said for each in call.messages for said in texts(each)}
    secret = {each for each in secret if len(each) > 20}
    assert len(secret) > 20
    told = {path: json.dumps(kept.get(path), ensure_ascii=False)
            for path in kept.paths() if not path.startswith("plan/")}  # fmt: skip
    for path, text in told.items():
        found = [each for each in secret if json.dumps(each, ensure_ascii=False)[1:-1] in text]
        assert not found, f"{path}: {found[0]}"
        assert "data:image" not in text, path
    with pytest.raises(Exception, match="licence"):
        kept.get(f"plan/{kept.key('demo:flat')}")


def test_the_steps_are_still_told(kept: Documents, documents: Documents) -> None:
    name = kept.sources[0].rows()[0].id
    whole, given = (each.get(f"source/0/sample/{name}")["blocks"] for each in (documents, kept))
    maps = [next(each for each in b if each["block"] == "SceneMap") for b in (whole, given)]
    assert [f["title"] for f in maps[0]["frames"]] == [f["title"] for f in maps[1]["frames"]]
    assert not {"routes", "marks", "tracks"} & maps[1].keys()
    facts = [each for each in maps[1]["frames"][0]["blocks"] if each["block"] == "Facts"]
    assert facts[0] in maps[0]["frames"][0]["blocks"]
