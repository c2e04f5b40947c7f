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
(:func:`navloom.sim.conformance.testbed.make_test_scene`). A backend that supports only scenes of
its own refuses them with a SimulatorError, and these checks are skipped. Contact rules are checked
if the factory takes them, as in ``make(scene, physics="slide")``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from navloom.errors import NavloomError, SimulatorError, did_you_mean
from navloom.scenes.scene import Scene
from navloom.sim.conformance import contact_checks, restore_checks, sensor_checks
from navloom.sim.conformance import image_checks as known
from navloom.sim.conformance import movement_checks as moves
from navloom.sim.conformance.testbed import CheckError, Make, SkippedError, Testbed, make_test_scene

__all__ = ["CHECKS", "Check", "CheckResult", "make_test_scene", "run_check", "run_suite"]


@dataclass(frozen=True)
class Check:
    """Check of the suite.

    Attributes:
        run: raises if the backend fails.
        needs: capabilities without which it is skipped.
    """

    run: Callable[[Testbed], None]
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


def _of(run: Callable[[Testbed], None], *needs: str) -> Check:
    return Check(run, frozenset(needs))


_DRIVES = ("discrete", "collide")

CHECKS: dict[str, Check] = {
    "protocol": _of(moves.check_protocol),
    "reset": _of(moves.check_reset),
    "place": _of(moves.check_place),
    "frame": _of(moves.check_frame),
    "compass": _of(moves.check_compass),
    "candidates": _of(moves.check_candidates, "hop"),
    "candidate-order": _of(moves.check_candidate_order, "hop"),
    "descriptions": _of(sensor_checks.check_descriptions, "hop"),
    "hop": _of(moves.check_hop, "hop"),
    "turn": _of(moves.check_turn, "discrete"),
    "forward": _of(moves.check_forward, "discrete"),
    "velocity": _of(moves.check_velocity, "continuous"),
    "unclaimed": _of(moves.check_unclaimed),
    "geodesic-known": _of(moves.check_geodesic_known),
    "geodesic": _of(moves.check_geodesic),
    "unreachable": _of(moves.check_unreachable),
    "errors": _of(moves.check_errors),
    "errors-hop": _of(moves.check_errors_hop, "hop"),
    "stop": _of(moves.check_stop),
    "agents": _of(moves.check_agents),
    "determinism": _of(moves.check_determinism),
    "close": _of(moves.check_closing),
    "captions": _of(sensor_checks.check_captions, "captions"),
    "no-captions": _of(sensor_checks.check_no_captions),
    "images": _of(sensor_checks.check_images),
    "views-agree": _of(sensor_checks.check_frames_agree),
    "depth-known": _of(known.check_depth_known, "depth"),
    "ids-known": _of(known.check_ids_known, "ids"),
    "seams": _of(known.check_seams, "depth"),
    "lazy": _of(known.check_lazy),
    "change": _of(known.check_change, "change"),
    "restore": _of(restore_checks.check_restore, "restore"),
    "restore-changed": _of(restore_checks.check_restore_changed, "restore", "change"),
    "errors-restore": _of(restore_checks.check_errors_restore, "restore"),
    "collision": _of(sensor_checks.check_collision, "collide"),
    "body-width": _of(contact_checks.check_body_width, *_DRIVES),
    "body-step": _of(contact_checks.check_body_step, *_DRIVES),
    "back-and-forth": _of(contact_checks.check_back_and_forth, *_DRIVES),
    "contacts": _of(contact_checks.check_contacts, *_DRIVES),
    "blocking": _of(contact_checks.check_blocking, *_DRIVES),
    "velocity-arc": _of(contact_checks.check_velocity_arc, "continuous", "collide"),
    "waypoint": _of(contact_checks.check_waypoint, "waypoint", "collide"),
    "physics-free": _of(contact_checks.check_physics_free, "hop", "collide"),
    "physics-met": _of(contact_checks.check_physics_met, "hop", "collide"),
    "physics-settled": _of(contact_checks.check_physics_settled, "hop", "collide"),
    "errors-body": _of(contact_checks.check_errors_body, *_DRIVES, "continuous", "waypoint"),
    "no-contacts": _of(sensor_checks.check_no_contacts),
}
"""Checks by name, in the order they are run."""


def run_suite(make: Make, scene: Scene) -> list[CheckResult]:
    """Run the whole suite and return the result of each check.

    Args:
        make: creates a simulator of a scene; called anew by every check.
        scene: the scene for the checks; it must have viewpoints, and should have edges.

    Raises:
        SimulatorError: the scene has no viewpoints.
    """
    return [run_check(name, make, scene) for name in CHECKS]


def run_check(name: str, make: Make, scene: Scene) -> CheckResult:
    """Run one check and return its result; any exception of the backend is a failure.

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
    bench = Testbed(make, scene)
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
    from navloom.scenes.scene_uri import load_scene

    *backends, uri = arguments
    try:
        scene = load_scene(uri)
        makes: dict[str, Make] = {}
        for backend in backends:
            name, _, folder = backend.partition(":")
            options = {"folder": folder} if folder else {}
            makes[backend] = _maker(name, options)
            makes[backend](scene).close()
        results = {name: run_suite(make, scene) for name, make in makes.items()}
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
