"""Conformance suite for simulators, built-in and third-party.

    from navloom.sim.conformance import CHECKS, check, run_check

    for result in check(MySimulator, scene):      # all of them
        print(result)

    @pytest.mark.parametrize("name", CHECKS)      # one test a check
    def test_mine(name):
        result = run_check(name, MySimulator, scene)
        if result.status == "skipped":
            pytest.skip(result.detail)
        assert result.status == "passed", result.detail

    python -m navloom.sim.conformance graph demo:flat      # a table; exit code 1 if one failed
    python -m navloom.sim.conformance graph embedded panorama:DIR habitat home:3    # side by side

Each check tests one thing. Checks of capabilities that a backend does not claim are skipped, and
the result says so. Some checks use test scenes
(:func:`navloom.sim.conformance.bench.made_scene`). A backend that supports only scenes of its own
refuses them with a SimulatorError, and these checks are skipped. Contact rules are checked if the
factory takes them, as in ``make(scene, physics="slide")``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from navloom.errors import NavloomError, SimulatorError, did_you_mean
from navloom.scenes.scene import Scene
from navloom.sim.conformance import course, saving, senses
from navloom.sim.conformance import moving as moves
from navloom.sim.conformance import pictures_known as known
from navloom.sim.conformance.bench import Bench, CheckError, Make, SkippedError, made_scene

__all__ = ["CHECKS", "Check", "CheckResult", "check", "made_scene", "run_check"]


@dataclass(frozen=True)
class Check:
    """Check of the suite.

    Attributes:
        run: raises if the backend fails.
        needs: capabilities without which it is skipped.
    """

    run: Callable[[Bench], None]
    needs: frozenset[str] = frozenset()

    @property
    def about(self) -> str:
        """Subject of the check, in one line."""
        return (self.run.__doc__ or "").partition("\n")[0]


@dataclass(frozen=True)
class CheckResult:
    """Result of a check.

    Attributes:
        name: the check's.
        status: passed, failed or skipped.
        detail: expected and found values, or why it was skipped; "" if it passed.
    """

    name: str
    status: Literal["passed", "failed", "skipped"]
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.status:8}{self.name:17}{self.detail}".rstrip()


def _of(run: Callable[[Bench], None], *needs: str) -> Check:
    return Check(run, frozenset(needs))


_DRIVES = ("discrete", "collide")

CHECKS: dict[str, Check] = {
    "protocol": _of(moves.protocol),
    "reset": _of(moves.reset),
    "place": _of(moves.place),
    "frame": _of(moves.frame),
    "compass": _of(moves.compass),
    "candidates": _of(moves.candidates, "hop"),
    "candidate-order": _of(moves.candidate_order, "hop"),
    "descriptions": _of(senses.descriptions, "hop"),
    "hop": _of(moves.hop, "hop"),
    "turn": _of(moves.turn, "discrete"),
    "forward": _of(moves.forward, "discrete"),
    "velocity": _of(moves.velocity, "continuous"),
    "unclaimed": _of(moves.unclaimed),
    "geodesic-known": _of(moves.geodesic_known),
    "geodesic": _of(moves.geodesic),
    "unreachable": _of(moves.unreachable),
    "errors": _of(moves.errors),
    "errors-hop": _of(moves.errors_hop, "hop"),
    "stop": _of(moves.stop),
    "agents": _of(moves.agents),
    "determinism": _of(moves.determinism),
    "close": _of(moves.closing),
    "captions": _of(senses.captions, "captions"),
    "no-captions": _of(senses.no_captions),
    "images": _of(senses.images),
    "views-agree": _of(senses.frames_agree),
    "depth-known": _of(known.depth_known, "depth"),
    "ids-known": _of(known.ids_known, "ids"),
    "seams": _of(known.seams, "depth"),
    "lazy": _of(known.lazy),
    "change": _of(known.change, "change"),
    "restore": _of(saving.restore, "restore"),
    "restore-changed": _of(saving.restore_changed, "restore", "change"),
    "errors-restore": _of(saving.errors_restore, "restore"),
    "collision": _of(senses.collision, "collide"),
    "body-width": _of(course.body_width, *_DRIVES),
    "body-step": _of(course.body_step, *_DRIVES),
    "back-and-forth": _of(course.back_and_forth, *_DRIVES),
    "contacts": _of(course.contacts, *_DRIVES),
    "blocking": _of(course.blocking, *_DRIVES),
    "velocity-arc": _of(course.velocity_arc, "continuous", "collide"),
    "waypoint": _of(course.waypoint, "waypoint", "collide"),
    "physics-free": _of(course.physics_free, "hop", "collide"),
    "physics-met": _of(course.physics_met, "hop", "collide"),
    "physics-settled": _of(course.physics_settled, "hop", "collide"),
    "errors-body": _of(course.errors_body, *_DRIVES, "continuous", "waypoint"),
    "no-contacts": _of(senses.no_contacts),
}
"""Checks by name, in the order they are run."""


def check(make: Make, scene: Scene) -> list[CheckResult]:
    """Run the whole suite.

    Args:
        make: creates a simulator of a scene; called anew by every check.
        scene: the scene for the checks; it must have viewpoints, and should have edges.

    Raises:
        SimulatorError: the scene has no viewpoints.
    """
    return [run_check(name, make, scene) for name in CHECKS]


def run_check(name: str, make: Make, scene: Scene) -> CheckResult:
    """Run one check; any exception of the backend is a failure with its reason.

    Args:
        name: one of ``CHECKS``.
        make: creates a simulator of a scene.
        scene: the scene for the check.

    Raises:
        SimulatorError: there is no such check, or the scene has no viewpoints.
    """
    if name not in CHECKS:
        raise SimulatorError(f"There is no check '{name}'.{did_you_mean(name, CHECKS)}")
    if not scene.viewpoints:
        raise SimulatorError(f"{scene.uri} has no viewpoints: expected a scene to stand in.")
    bench = Bench(make, scene)
    try:
        missing = CHECKS[name].needs - bench.capabilities
        if missing:
            return CheckResult(name, "skipped", f"not claimed: {', '.join(sorted(missing))}")
        CHECKS[name].run(bench)
    except SkippedError as reason:
        return CheckResult(name, "skipped", str(reason))
    except CheckError as error:
        return CheckResult(name, "failed", str(error))
    except Exception as error:
        return CheckResult(name, "failed", f"{type(error).__name__}: {error}")
    return CheckResult(name, "passed")


def main(arguments: Sequence[str]) -> int:
    """Run the suite on backends by name and print a table, several side by side.

    Args:
        arguments: names of backends, and the URI of a scene; ``panorama:DIR`` gives the folder of
            panoramas.

    Returns:
        0 if nothing failed, 1 otherwise.
    """
    if len(arguments) < 2:
        print("usage: python -m navloom.sim.conformance BACKEND... SCENE", file=sys.stderr)
        return 1
    from navloom.scenes.uri import load_scene

    *backends, uri = arguments
    try:
        scene = load_scene(uri)
        makes: dict[str, Make] = {}
        for backend in backends:
            name, _, folder = backend.partition(":")
            options = {"folder": folder} if folder else {}
            makes[backend] = _maker(name, options)
            makes[backend](scene).close()
        results = {name: check(make, scene) for name, make in makes.items()}
    except NavloomError as error:
        print(error, file=sys.stderr)
        return 1
    for line in _table(results) if len(results) > 1 else map(str, results[backends[0]]):
        print(line)
    failed = 0
    for name, found in results.items():
        by = Counter(result.status for result in found)
        said = ", ".join(f"{by[status]} {status}" for status in ("passed", "failed", "skipped"))
        print(f"{name}: {said}" if len(results) > 1 else said)
        failed += by["failed"]
    return 1 if failed else 0


def _maker(name: str, options: dict[str, str]) -> Make:
    from navloom.sim.registry import get_simulator

    return lambda scene, **more: get_simulator(name, scene, **options, **more)


def _table(results: Mapping[str, list[CheckResult]]) -> Iterator[str]:
    """Yield a line a check with a column a backend, then reasons for failed and skipped ones."""
    widths = [max(len(name), 7) for name in results]
    yield " " * 18 + "  ".join(n.ljust(w) for n, w in zip(results, widths, strict=True)).rstrip()
    rows = list(zip(*results.values(), strict=True))
    for row in rows:
        states = "  ".join(r.status.ljust(w) for r, w in zip(row, widths, strict=True))
        yield f"{row[0].name:18}{states}".rstrip()
    yield ""
    for status in ("failed", "skipped"):
        for row in rows:
            for name, result in zip(results, row, strict=True):
                if result.status == status:
                    yield f"{status} {name} {result.name}: {result.detail}"
