"""What a page shows of plans for teams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.navcraft.task_columns import rest_of, result_of
from navloom.evals.report.blocks import Block, Detail, Fact, Facts, Grid, Prose, Said, Transcript
from navloom.evals.report.document import Table, number, percent
from navloom.evals.report.line_columns import Column, Line, Pairing
from navloom.evals.report.talks import talk_of
from navloom.evals.run_scenes import run_scene
from navloom.evals.teams.team_map import team_map
from navloom.evals.teams.team_scores import score_teams, team_tables
from navloom.files import formed
from navloom.scenes.plan_shapes import readable
from navloom.tools.teams.revise_route import IN
from navloom.tools.teams.team_record import read_team
from navloom.tools.teams.team_task import NO_PLAN


def columns(run: Mapping[str, Any]) -> list[Column]:
    """What an attempt has of its own."""
    del run
    return [
        Column(
            name="verdict",
            of=lambda line: str(result_of(line).get("verdict", "none")),
            form="text",
            facet=True,
            help="a plan, or that none does all errands",
        ),
        Column(
            name="regret",
            of=lambda line: rest_of(line)["regret"],
            form="share",
            better="less",
            help="over the best plan, less 1; of alpha the difference",
        ),
        Column(
            name="seconds",
            of=lambda line: rest_of(line)["makespan_s"],
            form="number",
            better="less",
            help="until all is done",
        ),
        Column(
            name="handoffs",
            of=lambda line: len(_legs(line)) - len({leg["object"] for leg in _legs(line)}),
            form="count",
            facet=True,
            help="of all errands",
        ),
        Column(
            name="robots",
            of=lambda line: len({leg["robot"] for leg in _legs(line)}),
            form="count",
            facet=True,
            help="robots that carry something",
        ),
        Column(
            name="checks",
            of=lambda line: rest_of(line)["tool_calls"],
            form="count",
            shown=False,
            help="calls of tools",
        ),
    ]


def _legs(line: Line) -> list[Any]:
    legs: list[Any] = result_of(line)["team"]["legs"]
    return legs


def detail(run: Path, line: Mapping[str, Any]) -> Detail:
    """One attempt: the errands, the plan in time on its map, what it is worth, what was said.

    Raises:
        RunError: the line has not the form of such a sample.
    """
    name = str(line.get("id"))
    with formed(f"{run}: sample {name}", "a team's plan"):
        said = list[Block]()
        headline = "No plan was accepted."
        if line.get("status") != "ok":
            why = " · ".join(str(line[key]) for key in ("reason", "message") if line.get(key))
            said.append(Prose(title="Failed", text=why, tone="bad"))
        if result := result_of(line):
            asked = rest_of(line)["asked"]
            headline = "; ".join(
                f"{_as_read(each['object'])} to {_as_read(each['to'])}" for each in asked["errands"]
            )
            said += [_team(asked, rest_of(line).get("metres", {}))]
            if result.get("verdict") == NO_PLAN:
                why = str(rest_of(line)["why"])
                said.append(Prose(title="No plan does all errands", text=why, tone="quiet"))
            else:
                said += [_worth(line), *_map(run, line)]
        if talk := talk_of(run, name):
            said.append(Transcript(said=talk, folded="what was said in turn", private=True))
        return Detail(title=name, headline=headline, blocks=tuple(said))


def _as_read(place: str) -> str:
    """A thing and its region as they stand on the plan."""
    return IN.join(map(readable, place.rsplit(IN, 1)))


def _team(asked: Mapping[str, Any], walked: Mapping[str, float]) -> Grid:
    rows = tuple(
        (
            each["name"],
            readable(each["starts in"]),
            each["body"],
            number(float(each["metres a second"])),
            *([f"{float(walked[each['name']]):.1f}"] if walked else []),
        )
        for each in asked["robots"]
    )
    cap = asked["most metres of each robot"]
    note = "" if cap is None else f"No robot walks more than {number(float(cap))} m."
    header = ("robot", "starts in", "body", "m/s", *(["walks, m"] if walked else []))
    return Grid(table=Table("The team", note, header, rows))


def _worth(line: Line) -> Facts:
    rest = rest_of(line)
    value, regret = number(float(rest["value"])), float(rest["regret"])
    best = f"{number(float(rest['best']))}"
    proven = "proven" if rest["exact"] else f"none is under {number(float(rest['bound']))}"
    facts = [
        Fact(name="done after", value=f"{number(float(rest['makespan_s']))} s"),
        *([] if rest["by"] == "makespan" else [Fact(name=f"by {rest['by']}", value=value)]),
        Fact(name="the best there is", value=best, note=proven),
        Fact(name="regret", value=percent(regret), tone="good" if regret < 1e-6 else "plain"),
    ]
    return Facts(title="What it is worth", facts=tuple(facts))


def _map(run: Path, line: Line) -> list[Block]:
    """The plan on its map and the legs in words; why not, where it cannot be drawn."""
    try:
        scene = run_scene(run, str(line["scene"]))
        plan = read_team(scene, result_of(line)["team"])
        shown = team_map(scene, plan)
    except NavloomError as error:
        return [Prose(title="Map", text=f"It cannot be drawn: {error}", tone="bad")]
    words = [
        Said(who=lane.name, text="\n".join(f"{s.start:.1f} s: {s.words}" for s in lane.spans))
        for lane in shown.lanes
        if lane.style != "object"
    ]
    return [shown, Transcript(title="Who does what", said=tuple(words))]


def tables(run: Path) -> list[Block]:
    """What the run comes to.

    Raises:
        RunError: the folder is no run, or is broken.
    """
    score = score_teams(run)
    return [Grid(table=table) for table in team_tables({score.name: score})]


def pairing() -> Pairing:
    """Two runs over the same teams, attempt by attempt."""

    def scores(line: Line) -> dict[str, float | None]:
        valid = bool(result_of(line).get("team"))
        rest = rest_of(line) if valid else {}
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
