"""Results of team plans: scores, tables, maps and reports of ``synth team`` runs.

Definitions. *Attempts* are samples that ended ``ok`` or ``failed``; infrastructure errors are
counted separately. *Possible*: some plan does all errands. *Valid*: an accepted plan, of the
possible attempts. *Regret*: a plan's value over that of the best plan, less 1 (for alpha the
difference). If the best is not proven, the best found is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from navloom.errors import NavloomError
from navloom.evals.call_log import conversation_of
from navloom.evals.navcraft.relay_map import positive_spans, sort_frames, timed_spots
from navloom.evals.navcraft.task_results import record_of, result_of
from navloom.evals.progress import Summary
from navloom.evals.report.blocks import (
    Block,
    Column,
    Fact,
    Facts,
    Grid,
    Lane,
    Line,
    MapMark,
    MapRoute,
    Pairing,
    Prose,
    RobotStyle,
    SampleDetail,
    SceneMap,
    Span,
    Tone,
    Track,
    Transcript,
    Utterance,
)
from navloom.evals.report.formatting import (
    NOTHING,
    Table,
    format_number,
    headline_score,
    percent,
    rate_cell,
)
from navloom.evals.report.intervals import Rate, ValueDistribution
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.run_kinds import (
    CommandOutput,
    RunKind,
    RunPlan,
    lazy_functions,
    read_run_of_kind,
)
from navloom.evals.run_scenes import load_run_scene
from navloom.files import check_format
from navloom.scenes.plan_style import to_words
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.schedule import RobotStop, TimedLeg, Timetable
from navloom.tools.navcraft.task_paths import ITEM_NODE, Anchor, plan_position
from navloom_worlds.teams.revise_route import IN
from navloom_worlds.teams.team_plan import TeamPlan, read_team
from navloom_worlds.teams.team_request import TeamRequest
from navloom_worlds.teams.team_task import NO_PLAN


@dataclass(frozen=True)
class TeamScore:
    """Score of a run.

    Attributes:
        name: the run's folder.
        model: ``provider/name``.
        by: measure of plans.
        attempts: number of attempts.
        possible: attempts for which some plan does all errands.
        valid: accepted plans, of those.
        best: plans that are as good as the best, of the accepted.
        regret: of each accepted plan.
        proven: attempts whose best plan is proven, of the accepted.
        handoffs: of each accepted plan.
        makespan_s: seconds until all is done.
        calls: model calls of each possible attempt.
        tokens: input and output tokens, likewise.
    """

    name: str
    model: str
    by: str
    attempts: int
    possible: int
    valid: Rate
    best: Rate
    regret: ValueDistribution
    proven: Rate
    handoffs: ValueDistribution
    makespan_s: ValueDistribution
    calls: ValueDistribution
    tokens: tuple[ValueDistribution, ValueDistribution]

    def record(self) -> dict[str, Any]:
        """Return the score as JSON, shares as fractions."""
        return {
            "name": self.name,
            "model": self.model,
            "by": self.by,
            "attempts": self.attempts,
            "possible": self.possible,
            "valid": {
                **asdict(self.valid),
                "share": self.valid.share,
                "interval": self.valid.interval,
            },
            "best": self.best.share,
            "proven": self.proven.share,
            **{
                key: {"mean": spread.mean, "median": spread.median, "interval": spread.interval}
                for key, spread in (("regret", self.regret), ("makespan_s", self.makespan_s))
            },
        }


def score_teams(run: Path | str) -> TeamScore:
    """Score a run of ``synth team``.

    Raises:
        RunError: the folder is no such run, or is broken.
    """
    folder = Path(run)
    said = read_run_of_kind(folder, "team")
    with check_format(f"{run}: a sample", "a team's plan"):
        rows = read_samples(folder)
        possible = [row for row in rows if (row["result"] or {}).get("verdict") != NO_PLAN]
        plans = [row["result"] for row in possible if row["status"] == "ok"]
        worth = [plan["navloom"] for plan in plans]
        asked = [row["usage"] for row in possible]
        return TeamScore(
            name=folder.name,
            model=str(said["request"]["model"]),
            by=str(said["request"]["by"]),
            attempts=len(rows),
            possible=len(possible),
            valid=Rate(len(plans), len(possible)),
            best=Rate.among(each["regret"] < 1e-6 for each in worth),
            regret=ValueDistribution.of(each["regret"] for each in worth),
            proven=Rate.among(each["exact"] for each in worth),
            handoffs=ValueDistribution.of(
                len(plan["team"]["legs"]) - len({leg["object"] for leg in plan["team"]["legs"]})
                for plan in plans
            ),
            makespan_s=ValueDistribution.of(each["makespan_s"] for each in worth),
            calls=ValueDistribution.of(usage["calls"] for usage in asked),
            tokens=(
                ValueDistribution.of(usage["input_tokens"] for usage in asked),
                ValueDistribution.of(usage["output_tokens"] for usage in asked),
            ),
        )


def team_tables(scores: Mapping[str, TeamScore]) -> list[Table]:
    """Return the table of validity and regret, a row a run."""

    def mean(spread: ValueDistribution) -> str:
        return NOTHING if spread.mean is None else format_number(spread.mean)

    def row(name: str, score: TeamScore) -> tuple[str, ...]:
        return (
            name,
            f"{score.possible} of {score.attempts}",
            rate_cell(score.valid),
            percent(score.regret.mean, score.regret.interval),
            rate_cell(score.best),
            rate_cell(score.proven),
            mean(score.makespan_s),
            mean(score.handoffs),
            mean(score.calls),
            mean(score.tokens[0]),
            mean(score.tokens[1]),
        )

    header = (
        *("run", "possible", "valid", "regret", "as good as the best", "best proven"),
        *("seconds", "handoffs", "calls", "tokens in", "out"),
    )
    note = (
        "Possible: some plan does all errands; in the others that none does was found before anyone"
        " was asked. Valid: accepted plans of the possible. Regret: over the best plan, less 1"
        " (of alpha the difference). Brackets are 95 %: Wilson of shares, bootstrapped of means."
    )
    rows = tuple(row(*each) for each in scores.items())
    record = {name: score.record() for name, score in scores.items()}
    return [Table("Plans for teams", note, header, rows, record=record)]


_STYLES: tuple[RobotStyle, ...] = get_args(RobotStyle)
_NOTE = "Ways are those over the navigation graph, each robot at its own speed."


def team_map(scene: Scene, plan: TeamPlan) -> SceneMap:
    """Return a plan's map over time: all robots, their objects and handoffs, in seconds.

    Raises:
        UsageError: a robot cannot reach a place of its legs.
    """
    table = plan.schedule(scene)
    styles = dict(zip((robot.name for robot in plan.robots), _STYLES, strict=False))
    carried = _carried(table)
    things = _things(scene, plan)
    return SceneMap(
        scene=scene.uri,
        note=_NOTE,
        unit="s",
        routes=tuple(
            MapRoute(
                name=each.leg.robot,
                style=styles[each.leg.robot],
                points=tuple(plan_position(scene, stop.node) for stop in stops),
                carried_from=taken,
            )
            for each, stops, taken in sorted(
                carried, key=lambda it: [*styles].index(it[0].leg.robot)
            )
        ),
        marks=_marks(scene, plan, things),
        tracks=(
            *(
                Track(name=name, style=style, points=timed_spots(scene, table.routes[name]))
                for name, style in styles.items()
            ),
            *(
                Track(
                    name=things[thing],
                    style="object",
                    points=tuple(
                        point
                        for each, stops, taken in sorted(carried, key=lambda it: it[0].takes)
                        if each.leg.object == thing
                        for point in (
                            (each.takes, *plan_position(scene, each.leg.origin.node)),
                            *timed_spots(scene, stops[taken + 1 :]),
                        )
                    ),
                )
                for thing in plan.ways
            ),
        ),
        lanes=(
            *(
                Lane(name=name, style=style, spans=_robot_spans(scene, table, name, things))
                for name, style in styles.items()
            ),
            *(
                Lane(name=things[thing], style="object", spans=_thing_spans(scene, table, thing))
                for thing in plan.ways
            ),
        ),
        frames=sort_frames(_events(scene, plan, table, things)),
    )


def _carried(table: Timetable) -> list[tuple[TimedLeg, Sequence[RobotStop], int]]:
    """Return each leg, its robot's stops from departure, and the index of the pick-up."""
    found: list[tuple[TimedLeg, Sequence[RobotStop], int]] = []
    at = dict.fromkeys(table.routes, 0)
    for each in table.legs:
        stops, begin = table.routes[each.leg.robot], at[each.leg.robot]
        taken = next(
            i
            for i in range(begin, len(stops))
            if stops[i].node == each.leg.origin.node and abs(stops[i].leave - each.takes) < 1e-9
        )
        end = next(
            i
            for i in range(taken, len(stops))
            if stops[i].node == each.leg.to.node and abs(stops[i].arrive - each.ends) < 1e-9
        )
        found.append((each, stops[begin : end + 1], taken - begin))
        at[each.leg.robot] = end
    return found


def _marks(scene: Scene, plan: TeamPlan, things: dict[str, str]) -> tuple[MapMark, ...]:
    marks = [
        MapMark(kind=f"start_{number}", at=plan_position(scene, robot.start.node))
        for number, robot in enumerate(plan.robots, 1)
    ]
    for each in plan.errands:
        thing = things[each.object]
        marks.append(MapMark(kind="object", at=plan_position(scene, each.origin.node), label=thing))
        label = f"{_place(scene, each.end)} ({thing})"
        marks.append(MapMark(kind="end", at=plan_position(scene, each.end.node), label=label))
    for before, _ in plan.handoffs:
        label = f"{_place(scene, before.to)} ({things[before.object]})"
        marks.append(MapMark(kind="handoff", at=plan_position(scene, before.to.node), label=label))
    return tuple(marks)


def _things(scene: Scene, plan: TeamPlan) -> dict[str, str]:
    """Return the carried items' display names; shared names get the item's region."""
    called = {thing: _called(scene, thing) for thing in plan.ways}
    names = [*called.values()]
    where = {thing: to_words(scene.item_by_id[thing].region or "") for thing in called}
    return {
        thing: f"{name} of {where[thing]}" if names.count(name) > 1 else name
        for thing, name in called.items()
    }


def _robot_spans(
    scene: Scene, table: Timetable, name: str, things: dict[str, str]
) -> tuple[Span, ...]:
    spans: list[tuple[float, float, str, str]] = []
    done = 0.0
    for each in table.legs:
        if each.leg.robot != name:
            continue
        thing = things[each.leg.object]
        spans += [
            (each.sets_out, each.arrives, f"to the {thing}", "move"),
            (each.arrives, each.takes, f"waits for the {thing}", "wait"),
            (each.takes, each.ends, f"{thing} to the {_place(scene, each.leg.to)}", "carry"),
        ]
        done = each.ends
    spans.append((done, table.makespan_s, "is done" if spans else "has nothing to do", "idle"))
    return positive_spans(*spans)


def _thing_spans(scene: Scene, table: Timetable, thing: str) -> tuple[Span, ...]:
    spans: list[tuple[float, float, str, str]] = []
    since = 0.0
    for each in sorted(table.legs, key=lambda it: it.takes):
        if each.leg.object == thing:
            spans.append((since, each.takes, f"lies on {_place(scene, each.leg.origin)}", "idle"))
            spans.append((each.takes, each.ends, f"carried by {each.leg.robot}", "carry"))
            since = each.ends
    where = scene.item_by_id[thing].region
    if spans:
        begin, end, _, kind = spans[0]
        spans[0] = begin, end, f"lies in {to_words(where or '')}", kind
    return positive_spans(*spans)


def _events(
    scene: Scene, plan: TeamPlan, table: Timetable, things: dict[str, str]
) -> list[tuple[float, str, Tone]]:
    events: list[tuple[float, str, Tone]] = [(0.0, "the robots set out", "plain")]
    ends = {each.object: each.end.node for each in plan.errands}
    for each in table.legs:
        who, thing = each.leg.robot, things[each.leg.object]
        to = _place(scene, each.leg.to)
        if each.waits > 0:
            events.append((each.arrives, f"{who} waits {each.waits:.1f} s", "quiet"))
        events.append((each.takes, f"{who} takes the {thing}", "plain"))
        if each.leg.to.node == ends[each.leg.object]:
            events.append((each.ends, f"the {thing} is on the {to}", "good"))
        else:
            events.append((each.ends, f"{who} puts the {thing} on the {to}", "plain"))
    return events


def _called(scene: Scene, item: str) -> str:
    known = scene.item_by_id.get(item)
    return to_words(known.name if known else item)


def _place(scene: Scene, anchor: Anchor) -> str:
    if anchor.node.startswith(ITEM_NODE):
        return _called(scene, anchor.node.removeprefix(ITEM_NODE))
    return "floor"


def columns(run: Mapping[str, Any]) -> list[Column]:
    """Return the columns specific to team attempts."""
    del run
    return [
        Column(name="verdict", of=lambda line: str(result_of(line).get("verdict", "none")),
               form="text", facet=True, help="a plan, or that none does all errands"),
        Column(name="regret", of=lambda line: record_of(line)["regret"], form="share",
               better="less", help="over the best plan, less 1; of alpha the difference"),
        Column(name="seconds", of=lambda line: record_of(line)["makespan_s"], form="number",
               better="less", help="until all is done"),
        Column(name="handoffs",
               of=lambda line: len(_legs(line)) - len({leg["object"] for leg in _legs(line)}),
               form="count", facet=True, help="of all errands"),
        Column(name="robots", of=lambda line: len({leg["robot"] for leg in _legs(line)}),
               form="count", facet=True, help="robots that carry something"),
        Column(name="checks", of=lambda line: record_of(line)["tool_calls"], form="count",
               shown=False, help="calls of tools"),
    ]  # fmt: skip


def _legs(line: Line) -> list[Any]:
    legs: list[Any] = result_of(line)["team"]["legs"]
    return legs


def detail(run: Path, line: Mapping[str, Any]) -> SampleDetail:
    """Return one attempt's page: errands, the plan on its map, its quality, and the transcript.

    Raises:
        RunError: the line does not have the form of such a sample.
    """
    name = str(line.get("id"))
    with check_format(f"{run}: sample {name}", "a team's plan"):
        said = list[Block]()
        headline = "No plan was accepted."
        if line.get("status") != "ok":
            why = " · ".join(str(line[key]) for key in ("reason", "message") if line.get(key))
            said.append(Prose(title="Failed", text=why, tone="bad"))
        if result := result_of(line):
            asked = record_of(line)["asked"]
            headline = "; ".join(
                f"{_as_read(each['object'])} to {_as_read(each['to'])}" for each in asked["errands"]
            )
            said += [_team(asked, record_of(line).get("metres", {}))]
            if result.get("verdict") == NO_PLAN:
                why = str(record_of(line)["why"])
                said.append(Prose(title="No plan does all errands", text=why, tone="quiet"))
            else:
                said += [_worth(line), *_map(run, line)]
        if talk := conversation_of(run, name):
            said.append(Transcript(said=talk, folded="what was said in turn", private=True))
        return SampleDetail(title=name, headline=headline, blocks=tuple(said))


def _as_read(place: str) -> str:
    """Return an item and its region as they are labelled on the plan."""
    return IN.join(map(to_words, place.rsplit(IN, 1)))


def _team(asked: Mapping[str, Any], walked: Mapping[str, float]) -> Grid:
    rows = tuple(
        (
            each["name"],
            to_words(each["starts in"]),
            each["body"],
            format_number(float(each["metres a second"])),
            *([f"{float(walked[each['name']]):.1f}"] if walked else []),
        )
        for each in asked["robots"]
    )
    cap = asked["most metres of each robot"]
    note = "" if cap is None else f"No robot walks more than {format_number(float(cap))} m."
    header = ("robot", "starts in", "body", "m/s", *(["walks, m"] if walked else []))
    return Grid(table=Table("The team", note, header, rows))


def _worth(line: Line) -> Facts:
    rest = record_of(line)
    value, regret = format_number(float(rest["value"])), float(rest["regret"])
    best = f"{format_number(float(rest['best']))}"
    proven = "proven" if rest["exact"] else f"none is under {format_number(float(rest['bound']))}"
    facts = [
        Fact(name="done after", value=f"{format_number(float(rest['makespan_s']))} s"),
        *([] if rest["by"] == "makespan" else [Fact(name=f"by {rest['by']}", value=value)]),
        Fact(name="the best there is", value=best, note=proven),
        Fact(name="regret", value=percent(regret), tone="good" if regret < 1e-6 else "plain"),
    ]
    return Facts(title="What it is worth", facts=tuple(facts))


def _map(run: Path, line: Line) -> list[Block]:
    """Return the plan's map and its legs in words, or the reason why it cannot be drawn."""
    try:
        scene = load_run_scene(run, str(line["scene"]))
        plan = read_team(scene, result_of(line)["team"])
        shown = team_map(scene, plan)
    except NavloomError as error:
        return [Prose(title="Map", text=f"It cannot be drawn: {error}", tone="bad")]
    words = [
        Utterance(who=lane.name, text="\n".join(f"{s.start:.1f} s: {s.words}" for s in lane.spans))
        for lane in shown.lanes
        if lane.style != "object"
    ]
    return [shown, Transcript(title="Who does what", said=tuple(words))]


def tables(run: Path) -> list[Block]:
    """Return the run's tables.

    Raises:
        RunError: the folder is no run, or is broken.
    """
    score = score_teams(run)
    return [Grid(table=table) for table in team_tables({score.name: score})]


def finish(made: RunPlan, run: Path) -> dict[str, Any]:
    """Return the summary's entry on the plans."""
    del made
    return {"team": score_teams(run).record()}


def ended(run: Path, _: Summary) -> CommandOutput:
    """Return the output that the command shows at the end of a run: the run's tables."""
    said = read_run(run)["request"]
    return CommandOutput([Prose(title=f"{run.name}: {said['model']}", text=""), *tables(run)])


def report(runs: list[Path], _: Path | None) -> CommandOutput:
    """Return the tables of several runs, a row each."""
    scores = {str(run): score_teams(run) for run in runs}
    record = {"runs": [score.record() for score in scores.values()]}
    made = [Grid(table=table) for table in team_tables(scores)]
    return CommandOutput([Prose(title="Plans for teams", text=""), *made], record=record)


def pairing() -> Pairing:
    """Return the pairing that compares two runs over the same teams, attempt by attempt."""

    def scores(line: Line) -> dict[str, float | None]:
        valid = bool(result_of(line).get("team"))
        rest = record_of(line) if valid else {}
        possible = result_of(line).get("verdict") != NO_PLAN
        return {
            "valid": float(valid) if possible else None,
            "regret": rest.get("regret"),
            "seconds": rest.get("makespan_s"),
        }

    return Pairing(
        identity=lambda line: [line["scene"], line["attempt"], line.get("seed")],
        scores=scores,
        what="an attempt",
        less=frozenset({"regret", "seconds"}),
        counted=frozenset({"valid"}),
        cluster=lambda line: line["scene"],
        cluster_name="home",
    )


TEAM = RunKind(
    name=TeamRequest.KIND,
    command="synth team",
    request=TeamRequest,
    first=lambda said: headline_score("valid", said["team"]["valid"], "share"),
    things=("attempts", "homes"),
    finish=finish,
    ended=ended,
    report=report,
    columns=columns,
    detail=detail,
    tables=tables,
    pairing=pairing,
    **lazy_functions(
        "navloom_worlds.teams.team_run:plan job=TeamJob dry=calls",
        "navloom.evals.navcraft.export:export=export_run",
    ),
)
"""Kind of run; its other half, with agents and models, is imported when it is called."""
