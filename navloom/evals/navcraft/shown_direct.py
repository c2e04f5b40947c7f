"""What a page shows of tasks that were made in one answer (CoNavBench A.13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.navcraft.direct_scores import direct_tables, score_direct
from navloom.evals.navcraft.relay_map import relay_map
from navloom.evals.navcraft.task_columns import rest_of, result_of
from navloom.evals.report.blocks import (
    Block,
    Detail,
    Fact,
    Facts,
    Grid,
    Prose,
    Said,
    Tone,
    Transcript,
)
from navloom.evals.report.document import NOTHING, number, percent
from navloom.evals.report.line_columns import Cell, Column, Line, Pairing
from navloom.evals.report.talks import talk_of
from navloom.evals.run_scenes import run_scene
from navloom.files import formed
from navloom.tools.navcraft.direct_plan import ROBOTS, read_direct
from navloom.tools.navcraft.direct_rules import COORDINATION
from navloom.tools.navcraft.task import RelayTask

_WORDS = {
    "transfer_unlike": "the transfer position is not where they hand over",
    "no_handover": "nobody takes on what the other put down",
    "off_links": "a written path leaves the links",
}


def columns(run: Mapping[str, Any]) -> list[Column]:
    """What an attempt has of its own."""
    del run
    return [
        Column(
            name="valid",
            of=_flag("valid"),
            form="text",
            facet=True,
            help="whether the two stages would let it pass",
        ),
        Column(
            name="wrong",
            of=lambda line: list(rest_of(line)["invalid_because"]),
            form="tags",
            facet=True,
            help="rules of the two stages that it breaks",
        ),
        Column(
            name="coordination",
            of=lambda line: [code for code in COORDINATION if rest_of(line)[code]],
            form="tags",
            facet=True,
            help="failures of the second kind",
        ),
        Column(
            name="lesser",
            of=lambda line: rest_of(line)["work"]["lesser_share"],
            form="share",
            better="more",
            help="what the lesser robot walks of all metres",
        ),
        Column(
            name="both",
            of=lambda line: rest_of(line)["work"]["both_share"],
            form="share",
            better="more",
            help="how much of the time both robots walk",
        ),
        Column(
            name="regions",
            of=lambda line: len(rest_of(line)["regions"]),
            form="count",
            shown=False,
            help="regions it involves; the prompts ask for 1 to 2",
        ),
        Column(
            name="steps",
            of=lambda line: rest_of(line)["steps"],
            form="count",
            shown=False,
            help="subtasks of both robots; the prompts ask for 4 to 6",
        ),
        Column(
            name="instruction",
            of=lambda line: str(result_of(line)["answer"]["Task instruction"]),
            form="text",
            help="of the whole task",
        ),
    ]


def _flag(key: str) -> Callable[[Line], Cell]:
    return lambda line: ("no", "yes")[bool(rest_of(line)[key])]


def detail(run: Path, line: Mapping[str, Any]) -> Detail:
    """One attempt: what was answered, what it breaks, who does how much, the map in seconds.

    Raises:
        RunError: the line has not the form of such a sample.
    """
    name = str(line.get("id"))
    with formed(f"{run}: sample {name}", "a task of two robots"):
        said = list[Block]()
        if line.get("status") != "ok":
            why = " · ".join(str(line[key]) for key in ("reason", "message") if line.get(key))
            note = "What was answered last is shown below." if result_of(line) else ""
            said.append(Prose(title="Failed", text=why, tone="bad", note=note))
        headline = "No answer had the keys that were asked for."
        if result_of(line):
            headline = str(result_of(line)["answer"]["Task instruction"])
            said += [_answered(line), _worth(line), *_map(run, line)]
        if talk := talk_of(run, name):
            said.append(Transcript(said=talk, folded="what was said in turn", private=True))
        return Detail(title=name, headline=headline, blocks=tuple(said))


def _answered(line: Line) -> Transcript:
    answer = result_of(line)["answer"]
    told, steps = answer["Subtask instruction"], answer["Subtask list"]
    paths = answer.get("Robot travel path") or {}
    starts = answer.get("Robots position") or answer.get("Robots start position") or {}
    words = []
    for robot in ROBOTS:
        parts = [f"from {starts[robot]}: {told[robot]}", ", ".join(map(str, steps[robot]))]
        parts += [", ".join(map(str, paths[robot]))] if paths.get(robot) else []
        words.append(Said(who=robot, text="\n".join(filter(None, parts))))
    transfer = answer["Transfer position"]
    where = transfer if isinstance(transfer, str) else ", ".join(map(str, transfer))
    return Transcript(title="Who does what", note=f"Transfer position: {where}", said=tuple(words))


def _worth(line: Line) -> Facts:
    rest = rest_of(line)
    work = rest["work"] or {}
    wrong = [str(code).replace("_", " ") for code in rest["invalid_because"]]
    unlike = [words for code, words in _WORDS.items() if rest[code]]
    facts = [
        _fact("valid", "no: " + ", ".join(wrong) if wrong else "yes", bad=bool(wrong)),
        _fact("coordination", "; ".join(unlike) or "as it should be", bad=bool(unlike)),
        Fact(name="regions", value=str(len(rest["regions"])), note="1 to 2 are asked for"),
        Fact(name="subtasks", value=str(rest["steps"]), note="4 to 6 are asked for"),
    ]
    if work:
        metres = " and ".join(f"{float(work['metres'][robot]):.1f} m" for robot in ROBOTS)
        facts += [
            Fact(name="robot_1 and robot_2 walk", value=metres),
            Fact(name="the lesser's share", value=percent(float(work["lesser_share"]))),
            Fact(name="both walk", value=percent(float(work["both_share"])), note="of the time"),
            Fact(name="done after", value=_seconds(work["makespan_s"])),
            Fact(name="robot_1 alone", value=_seconds(work["solo_s"])),
            Fact(name="the better placed alone", value=_seconds(work["best_alone_s"])),
        ]
    else:
        facts.append(Fact(name="who walks", value=NOTHING, note="no walk follows from the steps"))
    return Facts(title="What it is worth", facts=tuple(facts))


def _fact(name: str, value: str, *, bad: bool) -> Fact:
    tone: Tone = "bad" if bad else "good"
    return Fact(name=name, value=value, tone=tone)


def _seconds(value: Any) -> str:
    return f"{number(float(value))} s"


def _map(run: Path, line: Line) -> list[Block]:
    """The relay on its plan; words where there is none, or it cannot be walked."""
    try:
        scene = run_scene(run, str(line["scene"]))
        plan, _ = read_direct(result_of(line)["answer"], scene, rest_of(line)["variant"])
        if plan is None or plan.errand is None or plan.relay is None:
            return []
        return [relay_map(RelayTask(scene, *plan.errand), plan.relay)]
    except NavloomError as error:
        return [Prose(title="Map", text=f"It cannot be drawn: {error}", tone="bad")]


def tables(run: Path) -> list[Block]:
    """What the run comes to.

    Raises:
        RunError: the folder is no run, or is broken.
    """
    score = score_direct(run)
    return [Grid(table=table) for table in direct_tables({score.name: score})]


def pairing() -> Pairing:
    """Two runs over the same homes, attempt by attempt."""

    def scores(line: Line) -> dict[str, float | None]:
        rest = rest_of(line)
        work = rest.get("work") or {}
        return {
            "read": float(bool(result_of(line))),
            "valid": float(bool(rest.get("valid"))),
            **{code: float(rest[code]) if rest else None for code in COORDINATION},
            "lesser_share": work.get("lesser_share"),
            "both_share": work.get("both_share"),
        }

    return Pairing(
        identity=lambda line: [line["scene"], line["attempt"], line.get("seed")],
        scores=scores,
        what="an attempt",
        less=frozenset(COORDINATION),
        counted=frozenset({"read", "valid", *COORDINATION}),
        cluster=lambda line: line["scene"],
        cluster_name="home",
    )
