"""Kinds of things alone: each is seen, and the sheet holds them all."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from navloom.cli.main import app
from navloom_worlds.rendering import asset_sheet


@pytest.mark.slow
def test_the_catalogue_has_so_many_kinds_to_draw() -> None:
    assets = [item.name for item in asset_sheet.catalogue_items("asset")]
    objects = [item.name for item in asset_sheet.catalogue_items("object")]
    assert len(assets) > 100
    assert len(objects) > 100
    assert len(set(assets)) == len(assets)
    assert not set(assets) & set(objects)
    assert "lone chair" not in assets


@pytest.mark.parametrize("name", ["toilet", "mirror", "soundbar"])
def test_a_thing_is_in_the_middle_of_its_tile_and_its_back_differs(name: str) -> None:
    item = next(each for each in asset_sheet.catalogue_items("asset") if each.name == name)
    front, back = (asset_sheet.render_tile(item, 48, turn=turn) for turn in (0.5, math.pi))
    assert front.shape == (48, 48, 3)
    ground = front[0, 0].astype(int)
    thing = (np.abs(front.astype(int) - ground).max(axis=2) > 12).nonzero()
    assert len(thing[0]) > 48 * 48 * 0.03
    assert abs(np.mean(thing[1]) - 24) < 8
    assert not np.array_equal(front, back)


@pytest.mark.slow
def test_the_command_writes_a_sheet_and_refuses_what_is_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = asset_sheet.catalogue_items("asset")[:3]
    monkeypatch.setattr(asset_sheet, "catalogue_items", lambda kind: few if kind == "asset" else [])
    out = tmp_path / "assets.png"
    run = CliRunner().invoke(app, ["scenes", "sheet", "--assets", "--out", str(out)])
    assert run.exit_code == 0, run.output
    assert Image.open(out).size == (3 * 220, 220 + 18)
    run = CliRunner().invoke(app, ["scenes", "sheet", "--assets", "--out", str(tmp_path / "a.pdf")])
    assert run.exit_code != 0
