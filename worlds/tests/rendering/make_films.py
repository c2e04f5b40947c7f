"""The films of docs/pictures.md: ``python -m worlds.tests.rendering.make_films docs/img``.

What bodies mean to do is written here; what comes of it is the mover's: nothing is placed but at
the start. Says what each touched and how far it went.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from PIL import Image

from navloom.evals.video import write_video
from navloom.scenes.bodies import FETCH, SPOT, Others, Stand, get_body
from navloom.scenes.scene import Point3
from navloom.scenes.uri import load_scene
from navloom_worlds.motion.mover import mover_of
from navloom_worlds.motion.ride import Instant, Ride
from navloom_worlds.rendering.body_film import body_film, overlook
from navloom_worlds.rendering.camera import Camera

RATE = 12
SIZE = (640, 400)


class Stage:
    """Bodies in one scene that act by turns, a frame at a time."""

    def __init__(self, uri: str) -> None:
        self.scene = load_scene(uri)
        self.rides: dict[str, Ride] = {}
        self.instants: list[Instant] = []

    def enter(self, name: str, body: str, place: Point3, degrees: float, speed: float) -> Ride:
        """Put a body on the floor; ``speed`` is the part of its own that it goes at."""
        wanted = {"FETCH": FETCH, "SPOT": SPOT}.get(body) or get_body(body)
        mover = mover_of(self.scene, wanted)
        stand = Stand(place, math.radians(degrees))
        if not mover.fits(stand, self._others(name)):
            raise SystemExit(f"{body} does not fit at {place}: {mover.settled(stand)}")
        ride = self.rides[name] = Ride(mover, stand, [], speed)
        return ride

    def _others(self, name: str) -> Others:
        return {
            who: (ride.mover.body, ride.stand) for who, ride in self.rides.items() if who != name
        }

    def run(self, most: float, *, until: str = "", back: str = "", metres: float = 0.0) -> bool:
        """Let all go on for some seconds, or until one has arrived; whether it has.

        Args:
            most: seconds.
            until: who.
            back: who goes back instead of on.
            metres: how far back.
        """
        for _ in range(round(most * RATE)):
            bumps = []
            for name, ride in self.rides.items():
                if name == back:
                    before = ride.metres
                    found = ride.back(metres, 1 / RATE, self._others(name))
                    metres -= ride.metres - before
                else:
                    found = ride.go_on(1 / RATE, self._others(name))
                bumps += [(name, bump) for bump in found]
            now = {name: (ride.mover.body, ride.stand) for name, ride in self.rides.items()}
            self.instants.append(Instant(len(self.instants) / RATE, now, tuple(bumps)))
            if (until and self.rides[until].arrived) or (back and metres <= 1e-6):
                return True
        return False


def doorway() -> tuple[Stage, Camera, float]:
    """Fetch and Spot meet in the doorway between a dining room and a hallway."""
    stage = Stage("home:8")
    fetch = stage.enter("fetch", "FETCH", (-1.9, 0, 5.05), 90, 0.8)
    spot = stage.enter("spot", "SPOT", (2.3, 0, 5.05), -90, 0.6)
    onward: list[Point3] = [(-2.0, 0, 5.05)]
    fetch.lead([(1.3, 0, 5.05)])
    spot.lead(onward)
    stage.run(2.8)
    spot.lead([])
    stage.run(1.2, back="fetch", metres=0.6)
    fetch.speed = 1.3
    fetch.lead([(-1.0, 0, 5.95)])
    stage.run(2.4, until="fetch")
    spot.lead(onward)
    stage.run(2.2, until="spot")
    fetch.lead([(-0.6, 0, 5.05), (0.9, 0, 5.05)])
    stage.run(4.5, until="fetch")
    stage.run(0.5)
    view = overlook(
        [(-1.5, 0, 5.05), (1.1, 0, 5.05)],
        heading=math.radians(50),
        elevation=math.radians(-52),
        margin=0.5,
        size=SIZE,
    )
    return stage, view, 1.1


def step() -> tuple[Stage, Camera, float]:
    """A wheelchair before the step out of a sunken living room, and a person who takes it."""
    stage = Stage("home:2")
    chair = stage.enter("wheelchair", "WHEELCHAIR", (-7.3, -0.18, -3.97), 90, 0.7)
    person = stage.enter("person", "HUMAN", (-9.6, -0.18, -3.4), 90, 0.9)
    ahead: list[Point3] = [(-4.6, 0.0, -3.97)]
    chair.lead(ahead)
    stage.run(2.4)
    stage.run(1.0, back="wheelchair", metres=0.45)
    chair.lead(ahead)
    person.lead([(-7.2, 0, -3.45), (-6.6, 0, -3.265), (-4.9, 0, -3.265)])
    stage.run(2.2)
    chair.lead([])
    stage.run(4.3, until="person")
    stage.run(0.7)
    x, y, z = -5.85, 0.45, -3.65
    view = overlook(
        [(x - 1.1, y, z - 0.8), (x + 1.1, y, z + 0.8)],
        heading=math.radians(148),
        elevation=math.radians(-36),
        margin=0.45,
        size=SIZE,
    )
    return stage, view, 1.1


def table() -> tuple[Stage, Camera, float]:
    """A sweeper under a laundry's table, and a humanoid that stops before it."""
    stage = Stage("home:8")
    sweeper = stage.enter("sweeper", "SWEEPER", (1.3, 0, 2.6), 90, 0.9)
    humanoid = stage.enter("humanoid", "HUMANOID", (0.95, 0, 3.3), 90, 0.8)
    sweeper.lead([(1.95, 0, 2.75), (2.15, 0, 2.1), (2.35, 0, 2.0)])
    stage.run(3.0)
    humanoid.lead([(1.65, 0, 3.3), (1.65, 0, 1.9)])
    stage.run(1.0)
    sweeper.lead([(1.85, 0, 2.12)])
    stage.run(3.0)
    sweeper.lead([(2.25, 0, 2.2), (2.42, 0, 2.85)])
    stage.run(0.8)
    humanoid.lead([])
    stage.run(2.5)
    view = Camera((2.75, 1.6, 4.15), math.radians(-31), math.radians(-26), *SIZE, fov=1.4)
    return stage, view, 2.1


def main(folder: Path, names: list[str]) -> None:
    """Write each film, and a frame of it."""
    for make, still in ((doorway, 0.27), (step, 0.62), (table, 0.35)):
        if names and make.__name__ not in names:
            continue
        stage, view, cut = make()
        path = folder / f"{make.__name__}.mp4"
        frames = list(body_film(stage.scene, stage.instants, view, cut=cut))
        write_video(path, frames, RATE)
        picture = Image.fromarray(frames[int(len(frames) * still)])
        picture.save(path.with_suffix(".jpg"), quality=82)
        print(f"{path}: {len(frames) / RATE:.1f} s, {path.stat().st_size:,} bytes")
        for name, ride in stage.rides.items():
            told = ", ".join(f"{b.what} {b.displacement:.2f} m" for b in ride.bumps) or "nothing"
            print(f"  {name}: {ride.metres:.2f} m, touched {told}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
