"""Command ``navloom scenes tour``: films of tours through homes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from navloom.cli.common import load_homes, print_json
from navloom.cli.options import Json, with_options
from navloom.evals.option import Opt
from navloom.evals.request import Spec
from navloom.models.redaction import print_err, print_out

if TYPE_CHECKING:
    from navloom.scenes.scene import Scene
    from navloom_worlds.geometry.arrays import U8
    from navloom_worlds.rendering.tour import Tour, TourMoment

T = TypeVar("T")
_FILM_RATE = 10


@with_options()
def tour(
    spec: Spec,
    out: Annotated[
        Path, Opt("The .mp4 to write, or a folder for ID.mp4 of each home.", metavar="PATH", env="")
    ],
    pace: Annotated[
        Literal["models", "people"],
        Opt("One frame a second and no words in it, or a film in real time with a line below."),
    ] = "people",
    as_json: Json = False,
) -> None:
    """Record a video of a walk through every room of a home, with a turn in each.

    For each second the viewpoint reached last and its room are printed: what the frames that eval
    capnav --videos and synth capnav --video take from it show. A broken home is said and skipped;
    the exit code is then 1.
    """
    from navloom.errors import UsageError
    from navloom.evals.video import check_pyav
    from navloom.files import check_writable
    from navloom.scenes.scene_uri import list_scenes

    check_pyav()
    uris = list_scenes(spec)
    if len(uris) > 1 and out.suffix:
        raise UsageError(f"{spec} is {len(uris)} homes: give --out a folder, not {out}")
    folder = len(uris) > 1 or not out.suffix
    if not folder and out.suffix.casefold() != ".mp4":
        raise UsageError(f"cannot film to {out}: expected a name that ends in .mp4")
    check_writable(out, folder=folder)
    filmed = []
    for scene in load_homes(uris):
        path = out / f"{scene.id}.mp4" if folder else out
        filmed.append(_film(scene, path, pace, as_json))
    if as_json:
        print_json(filmed)
    if len(filmed) < len(uris):
        raise typer.Exit(1)


def _film(scene: Scene, path: Path, pace: str, as_json: bool) -> dict[str, Any]:
    from navloom.evals.video import write_video
    from navloom_worlds.rendering.tour import plan_tour

    planned, rate = plan_tour(scene), 1 if pace == "models" else _FILM_RATE
    seconds = [_second(moment) for moment in planned.moments(1)]
    if not as_json:
        for each in seconds:
            print_out(f"{each['second']:>5} s  {each['viewpoint']:<10} {each['region'] or ''}")
    count = write_video(path, _frames(planned, rate, words=pace == "people"), rate)
    print_err(f"wrote {path}: {scene.uri}, {planned.seconds:.0f} s, {count} frames")
    if planned.left_out:
        print_err(f"   no way leads to {', '.join(planned.left_out)}: left out")
    return {"scene": scene.uri, "path": str(path), "frames": count, "seconds": seconds}


def _second(moment: TourMoment) -> dict[str, Any]:
    return {
        "second": round(moment.second),
        "viewpoint": moment.pose.viewpoint,
        "region": moment.region,
    }


def with_progress(items: Iterable[T], words: str, count: int) -> Iterable[T]:
    """Iterate with a progress bar on the terminal."""
    from rich.console import Console
    from rich.progress import track

    return track(items, words, count, console=Console(stderr=True), transient=True)


def _frames(plan: Tour, rate: int, *, words: bool) -> Iterator[U8]:
    from navloom_worlds.rendering.tour_frames import render_tour

    count = int(plan.seconds * rate) + 1
    frames = render_tour(plan, rate)
    for moment, pixels in with_progress(frames, f"filming {plan.scene.uri}", count):
        yield _said(pixels, moment) if words else pixels


def _said(pixels: U8, moment: TourMoment) -> U8:
    """Return a frame with second, room and viewpoint written in a band at its foot."""
    import numpy as np
    from PIL import Image, ImageDraw
    from PIL.ImageFont import load_default

    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    wide, high = picture.size
    minutes, seconds = divmod(int(moment.second), 60)
    line = f"{minutes}:{seconds:02}   {moment.region or ''}   {moment.pose.viewpoint}"
    draw.rectangle((0, high - 26, wide, high), fill="black")
    draw.text((10, high - 13), line, fill="white", font=load_default(15), anchor="lm")
    return np.asarray(picture)
