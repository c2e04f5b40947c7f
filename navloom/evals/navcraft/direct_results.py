"""Scores of tasks generated in a single answer, and of two-stage tasks by the same measures (A.13).

Definitions. *Attempts* are samples that ended ``ok`` or ``failed``. Errors of the program are
counted apart. *Read*: an answer had the required keys (in two stages, the last answer had them).
*Valid*: the task satisfies the rules of A.10 and A.11 and shortens the path of robot_1, or of both.
An errand that no relay improves is a finding of the two stages, not a valid task. The failures I
and II of A.13.1 are shares of the *plans*. For single answers, the plans are the last readable
answer of each attempt, accepted or not. For two stages, they are the accepted relays, since no
others are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.call_log import conversation_of
from navloom.evals.navcraft.relay_map import relay_map
from navloom.evals.navcraft.task_results import record_of, result_of
from navloom.evals.progress import Summary
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, format_number, percent, rate_cell
from navloom.evals.report.intervals import Rate, ValueDistribution
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.run_kinds import CommandOutput, read_run_of_kind
from navloom.evals.run_scenes import load_run_scene
from navloom.files import check_format
from navloom.tools.navcraft.direct_plan import ROBOTS, read_direct_plan, two_stage_plan
from navloom.tools.navcraft.direct_quality import direct_record
from navloom.tools.navcraft.direct_rules import COORDINATION
from navloom.tools.navcraft.relay import RelayAnswer
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.task_paths import SoloTaskAnswer

UNREAD = frozenset({"not_json", "wrong_form", "out_of_turns", "repeated_call"})
"""Reasons of two-stage attempts that failed without an answer of the required form."""
_SOONER = ("no_sooner_than_robot_1", "no_sooner_than_best")
_SHARES = ("lesser_share", "both_share")


@dataclass(frozen=True)
class DirectScore:
    """Scores of one run, or of one arm of the study.

    Attributes:
        name: the run's folder.
        model: ``provider/name``.
        read: share of attempts with an answer of the required form.
        valid: share of attempts with a task that the two stages would accept.
        none_worth_it: number of two-stage errands that no relay improves.
        plans: number of plans that the following scores are over.
        lesser_share: share of metres of the robot that walks less, for each walkable plan.
        both_share: seconds in which both robots walk over the makespan, for each walkable plan.
        no_sooner: share of plans that robot_1, or the better placed robot, finishes as soon alone.
        coordination: share of plans with each coordination failure; off-link paths are counted
            over plans that write paths.
        many_regions: share of plans with more than the 1 to 2 regions that the prompts ask for.
        steps_in_bounds: share of plans with the 4 to 6 subtasks that the prompts ask for.
        calls: model calls of each attempt.
        tokens: input and output tokens of each attempt.
        seconds: duration of each attempt.
    """

    name: str
    model: str
    read: Rate
    valid: Rate
    none_worth_it: int
    plans: int
    lesser_share: ValueDistribution
    both_share: ValueDistribution
    no_sooner: Mapping[str, Rate]
    coordination: Mapping[str, Rate]
    many_regions: Rate
    steps_in_bounds: Rate
    calls: ValueDistribution
    tokens: tuple[ValueDistribution, ValueDistribution]
    seconds: ValueDistribution

    def record(self) -> dict[str, Any]:
        """Return the scores as JSON, shares as fractions."""
        return {
            "name": self.name,
            "model": self.model,
            "read": _rate(self.read),
            "valid": _rate(self.valid),
            "none_worth_it": self.none_worth_it,
            "plans": self.plans,
            **{name: _spread(getattr(self, name)) for name in _SHARES},
            **{name: _rate(rate) for name, rate in self.no_sooner.items()},
            **{name: _rate(rate) for name, rate in self.coordination.items()},
            "many_regions": _rate(self.many_regions),
            "steps_in_bounds": _rate(self.steps_in_bounds),
        }


def _rate(rate: Rate) -> dict[str, Any]:
    return {**asdict(rate), "share": rate.share, "interval": rate.interval}


def _spread(spread: ValueDistribution) -> dict[str, Any]:
    return {"n": len(spread.values), "mean": spread.mean, "interval": spread.interval}


def score_direct(run: Path | str) -> DirectScore:
    """Score a run of ``synth direct`` or ``synth collab`` by the measures of this module.

    Raises:
        RunError: the folder is no such run, or is broken.
        SceneError: a home of a two-stage run cannot be loaded. Its relays are measured in it.
    """
    folder = Path(run)
    said = read_run_of_kind(folder, "direct", "collab")
    with check_format(f"{run}: a sample", "one of two robots' tasks"):
        rows = read_samples(folder)
        if said["kind"] == "direct":
            read = [bool(row["result"]) for row in rows]
            plans = [row["result"]["navloom"] for row in rows if row["result"]]
        else:
            read = [_was_read(row) for row in rows]
            plans = [_relay_record(folder, row) for row in rows if _is_relay(row)]
        return _score(folder.name, str(said["request"]["model"]), rows, read, plans)


def _was_read(row: ui.Line) -> bool:
    code = str(row.get("reason")).rpartition(":")[2]
    return row["status"] == "ok" or code not in UNREAD


def _is_relay(row: ui.Line) -> bool:
    return row["status"] == "ok" and bool((row["result"] or {}).get("phase_2"))


def _relay_record(folder: Path, row: ui.Line) -> dict[str, Any]:
    scene, result = load_run_scene(folder, row["scene"]), row["result"]
    errand = SoloTaskAnswer.model_validate(result["phase_1"])
    relay = RelayAnswer.model_validate(result["phase_2"])
    plan = two_stage_plan(errand, relay, scene)
    return direct_record(plan, scene, tau=int(result["navloom"]["tau"]))


def _score(
    name: str,
    model: str,
    rows: Sequence[ui.Line],
    read: Sequence[bool],
    plans: Sequence[Mapping[str, Any]],
) -> DirectScore:
    works = [plan["work"] for plan in plans if plan["work"] is not None]
    written = [plan for plan in plans if plan["path_written"]]
    usages = [row["usage"] for row in rows]
    results = [row["result"] or {} for row in rows]
    return DirectScore(
        name=name,
        model=model,
        read=Rate.among(read),
        valid=Rate(sum(plan["valid"] for plan in plans), len(rows)),
        none_worth_it=sum(result.get("verdict") == "not worth it" for result in results),
        plans=len(plans),
        lesser_share=ValueDistribution.of(work["lesser_share"] for work in works),
        both_share=ValueDistribution.of(work["both_share"] for work in works),
        no_sooner={key: Rate.among(work[key] for work in works) for key in _SOONER},
        coordination={
            key: Rate.among(plan[key] for plan in (written if key == "off_links" else plans))
            for key in COORDINATION
        },
        many_regions=Rate.among(plan["many_regions"] for plan in plans),
        steps_in_bounds=Rate.among(plan["steps_in_bounds"] for plan in plans),
        calls=ValueDistribution.of(usage["calls"] for usage in usages),
        tokens=(
            ValueDistribution.of(usage["input_tokens"] for usage in usages),
            ValueDistribution.of(usage["output_tokens"] for usage in usages),
        ),
        seconds=ValueDistribution.of(row["seconds"] for row in rows),
    )


def direct_tables(scores: Mapping[str, DirectScore]) -> list[Table]:
    """Return tables of validity, idleness, coordination and contradictions, one row a run."""
    return [_valid(scores), _idle(scores), _coordinated(scores), _contradicted(scores)]


def _valid(scores: Mapping[str, DirectScore]) -> Table:
    def row(name: str, score: DirectScore) -> tuple[str, ...]:
        return (
            name,
            str(score.read.of),
            rate_cell(score.read),
            rate_cell(score.valid),
            str(score.none_worth_it),
            _median(score.calls),
            _median(score.tokens[0]),
            _median(score.tokens[1]),
            _median(score.seconds, 1),
        )

    header = ("arm", "n", "read", "valid", "none worth it", "calls", "tokens in", "out", "s")
    note = (
        "Read: an answer had the keys asked for. Valid: the rules of A.10 and A.11, but for their"
        " sentences, and efficient. None worth it: errands of two stages that no relay helps, a"
        " finding. Brackets are 95 % Wilson intervals; calls, tokens and seconds are medians."
    )
    rows = tuple(row(*each) for each in scores.items())
    record = {name: score.record() for name, score in scores.items()}
    return Table("Read and valid", note, header, rows, record=record)


def _median(spread: ValueDistribution, digits: int = 0) -> str:
    middle = spread.median
    return NOTHING if middle is None else f"{middle:,.{digits}f}"


def _idle(scores: Mapping[str, DirectScore]) -> Table:
    def row(name: str, score: DirectScore) -> tuple[str, ...]:
        return (
            name,
            f"{len(score.lesser_share.values)} of {score.plans}",
            percent(score.lesser_share.mean, score.lesser_share.interval),
            percent(score.both_share.mean, score.both_share.interval),
            *(rate_cell(score.no_sooner[key]) for key in _SOONER),
        )

    header = (
        *("arm", "plans walked", "lesser share of metres", "both move"),
        *("no sooner than robot_1", "no sooner than best"),
    )
    note = (
        "I, little or no parallelism. Of plans that can be walked, of those there are: what the"
        " lesser robot walks of all metres (50 % at most) and how much of the time both walk, means"
        " with bootstrapped 95 % intervals; plans that end no sooner than robot_1 alone, and than"
        " the better placed robot alone, which at one speed no relay can beat."
    )
    return Table("I: idleness", note, header, tuple(row(*each) for each in scores.items()))


def _coordinated(scores: Mapping[str, DirectScore]) -> Table:
    def row(name: str, score: DirectScore) -> tuple[str, ...]:
        return name, str(score.plans), *(rate_cell(score.coordination[key]) for key in COORDINATION)

    header = ("arm", "plans", "transfer unlike", "no handover", "path off links")
    note = (
        "II, inconsistent or invalid coordination, of plans: the transfer position is not where"
        " steps or words hand over; nobody takes on what the other put down; a written path leaves"
        " the links. Version 1 writes no path; the first two stages write robot_1's own."
    )
    return Table("II: coordination", note, header, tuple(row(*each) for each in scores.items()))


def _contradicted(scores: Mapping[str, DirectScore]) -> Table:
    def row(name: str, score: DirectScore) -> tuple[str, ...]:
        bounds = rate_cell(score.steps_in_bounds)
        return name, str(score.plans), rate_cell(score.many_regions), bounds

    header = ("arm", "plans", "more than 2 regions", "4 to 6 subtasks")
    note = (
        "What both prompts ask for and contradict: 1 to 2 regions, where robots start apart and the"
        " object is in neither start (version 2 names five); 4 to 6 subtasks, where a relay that"
        " moves, grabs, moves and releases twice needs 8. Counted apart: no answer is invalid for"
        " it, and none is sent back."
    )
    rows = tuple(row(*each) for each in scores.items())
    return Table("What the prompts contradict", note, header, rows)


_WORDS = {
    "transfer_unlike": "the transfer position is not where they hand over",
    "no_handover": "nobody takes on what the other put down",
    "off_links": "a written path leaves the links",
}


def columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the table columns of an attempt."""
    del run
    return [
        ui.Column("valid", _flag("valid"), "text", facet=True,
                  help="whether the two stages would let it pass"),
        ui.Column("wrong", lambda line: list(record_of(line)["invalid_because"]), "tags",
                  facet=True, help="rules of the two stages that it breaks"),
        ui.Column("coordination",
                  lambda line: [code for code in COORDINATION if record_of(line)[code]], "tags",
                  facet=True, help="failures of the second kind"),
        ui.Column("lesser", lambda line: record_of(line)["work"]["lesser_share"], "share",
                  better="more", help="what the lesser robot walks of all metres"),
        ui.Column("both", lambda line: record_of(line)["work"]["both_share"], "share",
                  better="more", help="how much of the time both robots walk"),
        ui.Column("regions", lambda line: len(record_of(line)["regions"]), "count",
                  shown=False, help="regions it involves; the prompts ask for 1 to 2"),
        ui.Column("steps", lambda line: record_of(line)["steps"], "count", shown=False,
                  help="subtasks of both robots; the prompts ask for 4 to 6"),
        ui.Column("instruction",
                  lambda line: str(result_of(line)["answer"]["Task instruction"]), "text",
                  help="of the whole task"),
    ]  # fmt: skip


def _flag(key: str) -> Callable[[ui.Line], ui.Cell]:
    return lambda line: ("no", "yes")[bool(record_of(line)[key])]


def detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of one attempt: answer, violations, workload and timed map.

    Raises:
        RunError: the line does not have the form of such a sample.
    """
    name = str(line.get("id"))
    with check_format(f"{run}: sample {name}", "a task of two robots"):
        said = list[ui.Block]()
        if line.get("status") != "ok":
            why = " · ".join(str(line[key]) for key in ("reason", "message") if line.get(key))
            note = "What was answered last is shown below." if result_of(line) else ""
            said.append(ui.Prose(title="Failed", text=why, tone="bad", note=note))
        headline = "No answer had the keys that were asked for."
        if result_of(line):
            headline = str(result_of(line)["answer"]["Task instruction"])
            said += [_answered(line), _worth(line), *_map(run, line)]
        if talk := conversation_of(run, name):
            said.append(ui.Transcript(said=talk, folded="what was said in turn", private=True))
        return ui.SampleDetail(title=name, headline=headline, blocks=tuple(said))


def _answered(line: ui.Line) -> ui.Transcript:
    answer = result_of(line)["answer"]
    told, steps = answer["Subtask instruction"], answer["Subtask list"]
    paths = answer.get("Robot travel path") or {}
    starts = answer.get("Robots position") or answer.get("Robots start position") or {}
    words = []
    for robot in ROBOTS:
        parts = [f"from {starts[robot]}: {told[robot]}", ", ".join(map(str, steps[robot]))]
        parts += [", ".join(map(str, paths[robot]))] if paths.get(robot) else []
        words.append(ui.Utterance(robot, "\n".join(filter(None, parts))))
    transfer = answer["Transfer position"]
    at = transfer if isinstance(transfer, str) else ", ".join(map(str, transfer))
    return ui.Transcript(title="Who does what", note=f"Transfer position: {at}", said=tuple(words))


def _worth(line: ui.Line) -> ui.Facts:
    rest = record_of(line)
    work = rest["work"] or {}
    wrong = [str(code).replace("_", " ") for code in rest["invalid_because"]]
    unlike = [words for code, words in _WORDS.items() if rest[code]]
    facts = [
        _fact("valid", "no: " + ", ".join(wrong) if wrong else "yes", bad=bool(wrong)),
        _fact("coordination", "; ".join(unlike) or "as it should be", bad=bool(unlike)),
        ui.Fact("regions", str(len(rest["regions"])), note="1 to 2 are asked for"),
        ui.Fact("subtasks", str(rest["steps"]), note="4 to 6 are asked for"),
    ]
    if work:
        metres = " and ".join(f"{float(work['metres'][robot]):.1f} m" for robot in ROBOTS)
        facts += [
            ui.Fact("robot_1 and robot_2 walk", metres),
            ui.Fact("the lesser's share", percent(float(work["lesser_share"]))),
            ui.Fact("both walk", percent(float(work["both_share"])), note="of the time"),
            ui.Fact("done after", _seconds(work["makespan_s"])),
            ui.Fact("robot_1 alone", _seconds(work["solo_s"])),
            ui.Fact("the better placed alone", _seconds(work["best_alone_s"])),
        ]
    else:
        facts.append(ui.Fact("who walks", NOTHING, note="no walk follows from the steps"))
    return ui.Facts(title="What it is worth", facts=tuple(facts))


def _fact(name: str, value: str, *, bad: bool) -> ui.Fact:
    tone: ui.Tone = "bad" if bad else "good"
    return ui.Fact(name, value, tone=tone)


def _seconds(value: Any) -> str:
    return f"{format_number(float(value))} s"


def _map(run: Path, line: ui.Line) -> list[ui.Block]:
    """Return the timed relay map, or a message if it cannot be drawn."""
    try:
        scene = load_run_scene(run, str(line["scene"]))
        plan, _ = read_direct_plan(result_of(line)["answer"], scene, record_of(line)["variant"])
        if plan is None or plan.errand is None or plan.relay is None:
            return []
        return [relay_map(RelayTask(scene, *plan.errand), plan.relay)]
    except NavloomError as error:
        return [ui.Prose(title="Map", text=f"It cannot be drawn: {error}", tone="bad")]


def tables(run: Path) -> list[ui.Block]:
    """Return the score tables of a run as blocks.

    Raises:
        RunError: the folder is not a run, or is broken.
    """
    score = score_direct(run)
    return [*map(ui.Grid, direct_tables({score.name: score}))]


def ended(run: Path, _: Summary) -> CommandOutput:
    """Return the score tables that the command shows when a run ends."""
    said = read_run(run)["request"]
    return CommandOutput([ui.Prose(title=f"{run.name}: {said['model']}", text=""), *tables(run)])


def report(runs: list[Path], _: Path | None) -> CommandOutput:
    """Return the score tables of several runs, one row a run."""
    scores = {str(run): score_direct(run) for run in runs}
    record = {"runs": [score.record() for score in scores.values()]}
    title = ui.Prose(title="Tasks made in one answer", text="")
    return CommandOutput([title, *map(ui.Grid, direct_tables(scores))], record=record)


def pairing() -> ui.Pairing:
    """Return how to pair two runs over the same homes, attempt by attempt."""

    def scores(line: ui.Line) -> dict[str, float | None]:
        rest = record_of(line)
        work = rest.get("work") or {}
        return {
            "read": float(bool(result_of(line))),
            "valid": float(bool(rest.get("valid"))),
            **{code: float(rest[code]) if rest else None for code in COORDINATION},
            "lesser_share": work.get("lesser_share"),
            "both_share": work.get("both_share"),
        }

    return ui.Pairing(
        identity=lambda line: [line["scene"], line["attempt"], line.get("seed")],
        scores=scores,
        what="an attempt",
        less=frozenset(COORDINATION),
        counted=frozenset({"read", "valid", *COORDINATION}),
        cluster=lambda line: line["scene"],
        cluster_name="home",
    )
