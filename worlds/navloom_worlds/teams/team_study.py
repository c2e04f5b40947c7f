"""``navloom study teams``: the benefit of one robot, two, three and four, by regime.

Attempts are sampled in each home and measured in every :class:`Regime`. Each is a line of
``teams.jsonl``, written to disk before the next begins: the same command on the same folder
continues. Confidence intervals resample homes with all their attempts, since errands of one home
are correlated.

A *regime* says who carries what under which limits. Every attempt samples robots' starts and
errands once, and a team of N is the first N of these robots. Teams of different sizes are thus
compared on the same errands. Every plan is optimal (:mod:`navloom_worlds.teams.team_optimum`,
:mod:`navloom_worlds.teams.multi_errand_optimum`), or has a bound on its gap; no agent is called.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from navloom.errors import RunError, SceneError, UsageError
from navloom.evals.progress import ProgressDisplay, SilentDisplay, Tally
from navloom.evals.report.blocks import Bars, Segment
from navloom.evals.report.formatting import NOTHING, Table, format_number, percent
from navloom.evals.report.intervals import MetricEstimate, estimate_metrics, record_matrix
from navloom.evals.report.report_files import save_study
from navloom.evals.run_folder import package_version
from navloom.evals.session import attempt_id
from navloom.evals.study import check_study_folder
from navloom.files import JsonlFile, LineFormat, make_folder, open_file, read_by_id, write_run_file
from navloom.scenes.bodies import get_body
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import list_scenes, load_scene
from navloom_worlds.teams.multi_errand_optimum import best_team_plan
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_optimum import LEAST, BestTeamPlan, TeamMeasure, handoff_places
from navloom_worlds.teams.team_plan import TeamPlan, make_team
from navloom_worlds.teams.team_task import DrawnAttempt, draw_attempt, robot_metres

ROBOT_1 = "robot_1"


@dataclass(frozen=True, slots=True)
class Regime:
    """Regime: errands, bodies and limits of a team.

    Attributes:
        name: its name.
        words: its description.
        errands: number of objects carried.
        bodies: of the robots in turn; none: the papers' robots, which pass everything at 1 m/s.
        cap: most metres of a robot, as a share of what robot_1 would travel alone.
    """

    name: str
    words: str
    errands: int = 1
    bodies: tuple[str, ...] = ()
    cap: float | None = None

    def fits(self, scene: Scene) -> bool:
        """Check whether the regime applies: bodies need a scene with known link widths."""
        return not self.bodies or any(link.width is not None for link in scene.links)


def measure_attempt(
    scene: Scene, drawn: DrawnAttempt, regime: Regime, *, seconds: float
) -> list[dict[str, Any]]:
    """Measure teams of one robot, of two, ... in a regime.

    Args:
        scene: the scene.
        drawn: the attempt; the regime uses its first errands.
        regime: the regime.
        seconds: time limit of the search for three errands or more.

    Returns:
        A record a team size, in ``robots``. ``done``: whether a plan exists. Of the quickest plan:
        ``makespan_s``, ``handoffs``, ``used`` (robots that carry). ``best_alone_s``: the quickest
        time of a single robot of this team. ``alone_s``: time of robot_1 alone if it passed every
        link, in the best order. ``load``: robot_1's least metres, in a plan in which it carries
        something, over its metres alone; ``absence``: in that plan, the seconds from when it has
        to leave to when it is done, over ``alone_s``. ``longest``: the least possible metres of
        the robot that travels most, with no cap, over robot_1's metres alone. ``gap``: largest
        possible gap of any of these to the best. None: there is no such plan.
    """
    errands = drawn.errands[: regime.errands]
    places = [handoff_places(scene, each) for each in errands]
    robots = make_team(scene, drawn.starts, regime.bodies)
    # Metres of robot_1 alone for all errands, in the best order, if it passed every link.
    free = Robot(ROBOT_1, robots[0].start)
    whole = best_team_plan(scene, [free], errands, [()] * len(errands), by="metres").value
    cap = None if regime.cap is None else regime.cap * whole
    alone: float | None = None
    records = []
    for many in range(1, len(robots) + 1):
        team = robots[:many]

        def best(
            by: TeamMeasure, cap: float | None, team: Sequence[Robot] = team
        ) -> BestTeamPlan | None:
            try:
                return best_team_plan(scene, team, errands, places, by=by, cap=cap, seconds=seconds)
            except UsageError:
                return None

        quick, spared, even = best("makespan", cap), best("alpha", cap), best("longest", None)
        single = best("makespan", cap, team[-1:])
        if single is not None:
            alone = single.value if alone is None else min(alone, single.value)
        found = [each for each in (quick, spared, even) if each is not None]
        records.append(
            {
                "robots": many,
                "done": quick is not None,
                "makespan_s": quick and quick.value,
                "handoffs": quick and len(quick.plan.handoffs),
                "used": quick and len({leg.robot for leg in quick.plan.legs}),
                "best_alone_s": alone,
                "alone_s": whole / robots[0].speed,
                "load": spared
                and robot_metres(spared.plan, spared.plan.schedule(scene))[ROBOT_1] / whole,
                "absence": spared and _absence(scene, spared.plan) * robots[0].speed / whole,
                "longest": even and even.value / whole,
                "gap": max((each.gap for each in found), default=None),
            }
        )
    return records


def is_sooner(record: dict[str, Any]) -> bool | None:
    """Check whether a team finishes before the best placed of its robots would alone.

    For robots of one speed that pass the same links, with one errand, none does (proof in
    :mod:`navloom_worlds.teams.team_optimum`). None if it is not done, or no robot could alone.
    """
    if record["makespan_s"] is None or record["best_alone_s"] is None:
        return None
    return bool(record["makespan_s"] < record["best_alone_s"] - LEAST)


def _absence(scene: Scene, plan: TeamPlan) -> float:
    """Return the seconds that robot_1 is away from its start for a plan.

    They are counted from its latest departure that delays nobody, to the end of its last leg.
    """
    legs = [each for each in plan.schedule(scene).legs if each.leg.robot == plan.robots[0].name]
    return legs[-1].ends - legs[0].waits


LINES, ASKED = "teams.jsonl", "teams.json"
MOST_ROBOTS, MOST_ERRANDS, MOST_ATTEMPTS = 6, 4, 100
_MOST_BYTES, _MOST_NAMED = 1_000_000, 10
_MEANS = ("done", "seconds", "load", "absence", "longest", "handoffs")


@dataclass(frozen=True, kw_only=True)
class TeamStudy:
    """Settings of the study.

    Attributes:
        spec: the homes.
        n: attempts a home.
        homes: use only this many homes, from the first on; None for all.
        n: robots of the largest team.
        errands: of the regime of several errands.
        bodies: of the robots in turn, in the regime of bodies.
        cap: in the regime of capped metres, most metres of a robot, as a share of what robot_1
            would travel alone.
        seconds: time limit of each search for three errands or more.
        seed: of starts and errands.

    Raises:
        UsageError: a number is out of bounds, or a body does not drive.
        SceneError: a body is not known.
    """

    spec: str
    n: int = 5
    homes: int | None = None
    robots: int = 4
    errands: int = 2
    bodies: tuple[str, ...] = ("FETCH", "SPOT")
    cap: float = 0.75
    seconds: float = 10.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (
            ("n", 1, MOST_ATTEMPTS),
            ("robots", 1, MOST_ROBOTS),
            ("errands", 2, MOST_ERRANDS),
        ):
            if not least <= getattr(self, name) <= most:
                raise UsageError(f"{name} is {getattr(self, name)}: expected {least} to {most}")
        if not 0 < self.cap <= 10:
            raise UsageError(f"cap is {self.cap:g}: expected a share above 0, 10 at most")
        if not 0 < self.seconds <= 3600:
            raise UsageError(f"seconds is {self.seconds:g}: expected above 0, 3600 at most")
        if not self.bodies:
            raise UsageError("bodies is empty: name at least one, such as FETCH,SPOT")
        for body in self.bodies:
            if get_body(body).speed <= 0:
                raise UsageError(f"{body} does not drive by itself: name another body")

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Regimes in which teams are compared."""
        bodies = ", ".join(self.bodies)
        return (
            Regime("equal robots", "one errand, robots that pass everything at 1 m/s"),
            Regime("bodies", f"one errand, robots are {bodies} in turn", bodies=tuple(self.bodies)),
            Regime(
                "capped metres",
                f"one errand, no robot walks more than {self.cap:.0%} of what robot_1 would alone",
                cap=self.cap,
            ),
            Regime(
                "several errands",
                f"{self.errands} errands, robots that pass everything at 1 m/s",
                errands=self.errands,
            ),
        )


def study_teams(asked: TeamStudy, out: Path, display: ProgressDisplay | None = None) -> list[Table]:
    """Measure every attempt, and return a table for each regime.

    Args:
        asked: homes, attempts, regimes.
        out: the study's folder.
        display: shows progress; none unless given.

    Returns:
        A table a regime, a row a team size; also in ``out/report.json``. The first one's ``record``
        holds all results for programs.

    Raises:
        RunError: ``out`` holds something else, another study, or cannot be written.
        SceneError: no home of ``spec`` has an attempt.
    """
    check_study_folder(out)
    make_folder(out)
    display = display or SilentDisplay()
    form, uris = LineFormat(_claimed(asked, out)), list_scenes(asked.spec)[: asked.homes]
    with JsonlFile(out / LINES, form=form) as lines:
        left_out = _measure_all(asked, uris, lines, display)
    for each in left_out[:_MOST_NAMED]:
        display.note(f"left out: {each}")
    if len(left_out) > _MOST_NAMED:
        display.note(f"and {len(left_out) - _MOST_NAMED} homes more")
    records = list(read_by_id(out / LINES, form))
    if not records:
        raise SceneError(f"no attempt can be drawn in {asked.spec} ({'; '.join(left_out[:3])})")
    found = {each.name: regime_rows(records, each, asked.robots) for each in asked.regimes}
    homes = len({line["scene"] for line in records})
    record = {"attempts": len(records), "homes": homes, "left_out": left_out, "regimes": found}
    tables = [_table(each, found[each.name]) for each in asked.regimes]
    title = f"What further robots are worth: {tables[0].title.lower()}"
    tables[0] = replace(tables[0], title=title, note=f"{tables[0].note} {_HOW}", record=record)
    save_study(out, tables, more=_bars(found))
    return tables


def _measure_all(
    asked: TeamStudy, uris: Sequence[str], lines: JsonlFile, display: ProgressDisplay
) -> list[str]:
    """Write the missing lines; return the homes left out, with the reasons."""
    tally, left_out = Tally(), []
    display.start(len(uris) * asked.n, len(lines.ids))
    try:
        for uri in uris:
            names = [attempt_id(uri, attempt) for attempt in range(asked.n)]
            if lines.ids.issuperset(names):
                continue
            try:
                scene = load_scene(uri)
            except SceneError as error:
                if len(uris) == 1:
                    raise
                left_out.append(f"{uri}: {error}")
                continue
            for attempt, name in enumerate(names):
                if name in lines.ids:
                    continue
                drawn = draw_attempt(scene, asked.robots, asked.errands, asked.seed, attempt)
                if drawn is None:
                    left_out.append(f"{uri}: too few starts, things or ends")
                    break
                told = {
                    each.name: measure_attempt(scene, drawn, each, seconds=asked.seconds)
                    for each in asked.regimes
                    if each.fits(scene)
                }
                lines.append({"id": name, "scene": uri, "attempt": attempt, "regimes": told})
                tally.add({"status": "ok"})
                display.step(tally)
    finally:
        display.close()
    return left_out


def _claimed(asked: TeamStudy, out: Path) -> bytes:
    """Claim the folder for this study, and return the key of its lines."""
    told = {"version": package_version("navloom"), **asdict(asked)}
    data = json.dumps(told, indent=1).encode() + b"\n"
    path = out / ASKED
    if not path.exists():
        if (out / LINES).exists():
            raise RunError(f"{out} has {LINES} and no {ASKED}: give another --out")
        write_run_file(path, data)
    else:
        try:
            with open_file(path) as file:
                was = json.loads(file.read(_MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            raise RunError(f"{path} cannot be read: give another --out") from None
        if was != (now := json.loads(data)):
            known = was if isinstance(was, dict) else {}
            differs = next((key for key in now if known.get(key) != now[key]), "request")
            raise RunError(
                f"{out} holds another study of teams (its {differs} was another): give another"
                " --out, or the same command"
            )
    return blake2b(data, digest_size=16).digest()


def regime_rows(lines: Sequence[dict[str, Any]], regime: Regime, n: int) -> list[dict[str, Any]]:
    """Return the results of each team size over all attempts.

    Args:
        lines: the study's.
        regime: the regime.
        n: robots of the largest team.

    Returns:
        A record a team size, none if the regime applies to no scene: ``robots``, ``attempts``;
        means with their intervals of ``done``, ``seconds`` (of done attempts, over robot_1's
        alone), ``load``, ``absence``, ``longest``, ``handoffs``; ``proven`` and ``sooner`` as
        (hits, of).
    """
    lines = [line for line in lines if regime.name in line["regimes"]]
    told = [line["regimes"][regime.name] for line in lines]
    clusters = [line["scene"] for line in lines]
    rows: list[dict[str, Any]] = []
    if not told:
        return rows
    for i in range(n):
        at = [dict(each[i]) for each in told]
        for each in at:
            each["seconds"] = each["makespan_s"] and each["makespan_s"] / each["alone_s"]
        known = [each for each in map(is_sooner, at) if each is not None]
        done = [each for each in at if each["done"]]
        # 0 and 1, so that the share done is a mean.
        table = record_matrix([{**each, "done": int(each["done"])} for each in at], _MEANS)
        rows.append(
            {
                "robots": i + 1,
                "attempts": len(at),
                **{row.metric: row.record() for row in estimate_metrics(_MEANS, table, clusters)},
                "proven": (sum(each["gap"] <= LEAST for each in done), len(done)),
                "sooner": (sum(known), len(known)),
            }
        )
    return rows


_HOW = (
    "A team of N is the first N of the same robots. All shares are of what robot_1 would need for"
    " it alone if it passed everything. Seconds: of the quickest plan, where there is one; a larger"
    " team does harder ones, too. Load: robot_1's least metres in a plan in which it carries"
    " something; absence: in that plan, from when it has to leave to when it is done. Most metres"
    " of one: the least that the robot that walks most can walk, with no cap. Handoffs: of the"
    " quickest plan. Intervals at 95 %, homes drawn with their attempts."
)


def _table(regime: Regime, rows: Sequence[dict[str, Any]]) -> Table:
    header = (
        *("robots", "done", "seconds", "sooner than its best placed alone"),
        *("robot_1's load", "robot_1's absence", "most metres of one", "handoffs", "proven best"),
    )

    def mean(record: dict[str, Any], name: str) -> str:
        row = MetricEstimate(**record[name])
        return percent(
            row.mean, None if row.interval is None else (row.interval[0], row.interval[1])
        )

    cells = tuple(
        (
            str(each["robots"]),
            *(mean(each, name) for name in ("done", "seconds")),
            "{} of {}".format(*each["sooner"]),
            *(mean(each, name) for name in ("load", "absence", "longest")),
            NOTHING
            if each["handoffs"]["mean"] is None
            else format_number(each["handoffs"]["mean"]),
            "{} of {}".format(*each["proven"]),
        )
        for each in rows
    )
    note = f"{regime.words[0].upper()}{regime.words[1:]}; "
    if rows:
        note += f"{rows[0]['attempts']} attempts."
    else:
        note += "no home here says how wide its links are, so this cannot be told: use home:."
    return Table(regime.name.capitalize(), note, header, cells)


def _bars(found: dict[str, list[dict[str, Any]]]) -> list[Bars]:
    """Return bar charts of a team's seconds, one a regime."""
    return [
        Bars(
            title=f"Seconds of the quickest plan: {name}",
            note="In per cent of what robot_1 would need alone if it passed everything.",
            bars=tuple(
                (
                    f"{each['robots']} robots" if each["robots"] > 1 else "1 robot",
                    (Segment(name="seconds", count=round(100 * each["seconds"]["mean"])),),
                )
                for each in rows
                if each["seconds"]["mean"] is not None
            ),
            unit="%",
        )
        for name, rows in found.items()
        if rows
    ]
