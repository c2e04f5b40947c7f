"""``scenes show --view``, ``--top-down`` and ``scenes tour``: pictures and films of homes."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from navloom.cli.main import main
from navloom.evals.video import sample_frames
from navloom.scenes.scene_uri import load_scene


def _shown(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))


@pytest.mark.slow
def test_a_panorama_of_a_viewpoint_and_of_a_point(tmp_path: Path) -> None:
    paths = [tmp_path / "vp.png", tmp_path / "point.png", tmp_path / "turned.png"]
    for path, place in zip(paths, ["1_0", "3,5.2,0", "1_0,270"], strict=True):
        assert main(["scenes", "show", "demo:flat", "--view", place, "--out", str(path)]) == 0
    pictures = [_shown(path) for path in paths]
    assert all(picture.shape[1] == 4 * 512 + 3 * 8 and picture.std() > 20 for picture in pictures)
    assert (pictures[0] != pictures[2]).any()


@pytest.mark.slow
def test_floors_from_above_show_what_stands_there(tmp_path: Path) -> None:
    plain, above = tmp_path / "plan.png", tmp_path / "above.png"
    assert main(["scenes", "show", "demo:flat", "--out", str(plain)]) == 0
    assert main(["scenes", "show", "demo:flat", "--top-down", "--out", str(above)]) == 0
    assert _shown(plain).shape == _shown(above).shape
    assert len(np.unique(_shown(above).reshape(-1, 3), axis=0)) > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("scenes show demo:flat --view 1_0", "say where the picture goes with --out"),
        ("scenes show demo:flat --view 1_O --out x.png", "has no viewpoint '1_O'"),
        ("scenes show demo:flat --view 1_0,west --out x.png", "'west' is no heading"),
        ("scenes show demo:flat --view 1_0 --out x.jpg", "expected a name that ends in .png"),
        ("scenes tour demo:flat --out x.avi", "expected a name that ends in .mp4"),
        ("scenes tour home:0-1 --out x.mp4", "give --out a folder"),
    ],
)
def test_mistakes_are_one_line(
    typed: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(typed.split()) in (1, 2)
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_film_for_models_shows_each_second_where_it_says(tmp_path: Path, capsys) -> None:
    path = tmp_path / "tour.mp4"
    assert (
        main(["scenes", "tour", "demo:flat", "--out", str(path), "--pace", "models", "--json"]) == 0
    )
    (told,) = json.loads(capsys.readouterr().out)
    frames = sample_frames(path, len(told["seconds"]))
    assert len(frames) == told["frames"] == len(told["seconds"])
    rooms = {region.id for region in load_scene("demo:flat").regions}
    assert {each["region"] for each in told["seconds"]} == rooms
    sizes = {Image.open(BytesIO(frame)).size for frame in frames}
    assert len(sizes) == 1
