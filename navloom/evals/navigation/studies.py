"""Studies of navigators: several runs on the same episodes, compared side by side.

``compare_dialogue`` (VLNVerse 5.4): without and with questions to an oracle, beside the bound.
``study_oracle`` (VLN-MME 4.4): episodes that a navigator failed on, repeated with an oracle
assistant, with failure examples and with questions, beside the bound. The bound is an oracle that
knows the path and speaks at every step.

``study_bodies`` (VLNVerse 5.3): baselines whose body slides, collides, or is placed at the end of
each hop, on the body's own navigation graph and on that of a slim body.

Each arm is an ordinary run in its own folder. The same call on the same folder continues a study.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.navigation.published_scores import physics_rows
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.scores import format_metric, metric_cell
from navloom.evals.navigation.subset import failed_subset, read_failures, save_subset
from navloom.evals.report.formatting import NOTHING, Table, percent
from navloom.evals.report.report_files import save_study
from navloom.evals.report.run_comparison import PairedMetric, compare_runs
from navloom.evals.session import Session
from navloom.evals.study import StudyRuns, check_arms, check_study_folder
from navloom.evals.tasks.registry import load_task

_ALONE: dict[str, Any] = {"dialogue": False, "oracle": "off"}
DIALOGUE_ARMS: dict[str, dict[str, Any]] = {
    "no-ask": _ALONE,
    "ask": {**_ALONE, "dialogue": True, "oracle_arrival": True},
    "ask-no-arrival": {**_ALONE, "dialogue": True, "oracle_arrival": False},
    "bound": {**_ALONE, "oracle": "bound"},
}
"""Request changes of each arm of the dialogue comparison."""
_LEVELS = ("model", "map", "path")
_BLIND: dict[str, Any] = {"oracle_model": "builtin/random"}
_ASKS_PATH: dict[str, Any] = {"dialogue": True, "oracle_knows": "path"}
ORACLE_ARMS: dict[str, dict[str, Any]] = {
    "again": {},
    "random": {"agent": "random"},
    "assistant-blind": {"oracle": "assistant", **_BLIND},
    **{f"assistant-{each}": {"oracle": "assistant", "oracle_knows": each} for each in _LEVELS},
    "failures-1": {"few_shot_failures": 1},
    "failures-2": {"few_shot_failures": 2},
    "failures-3": {"few_shot_failures": 3},
    "dialogue-blind": {"dialogue": True, **_BLIND},
    **{f"dialogue-{each}": {"dialogue": True, "oracle_knows": each} for each in _LEVELS},
    "dialogue-path-no-arrival": {**_ASKS_PATH, "oracle_arrival": False},
    "dialogue-path-cost": {**_ASKS_PATH, "ask_cost": 1},
    "bound": {"oracle": "bound"},
}
"""Request changes of each arm of the oracle study."""
PHYSICS_ARMS: dict[str, dict[str, Any]] = {
    f"{agent}-{waypoints}-{physics}": {"agent": agent, "waypoints": waypoints, "physics": physics}
    for waypoints in ("body", "slim")
    for agent in ("heuristic", "shortest-path")
    for physics in ("slide", "strict", "telhop")
}
"""Request changes of each arm of the study of bodies."""
_SCORED = ("SR", "SPL", "OSR", "NE", "TL", "nDTW", "collision_rate", "contacts", "collided")
BASE, HARD = "base", "hard.json"


_SHOWN = ("SR", "SR_visible", "RGS", "SPL", "OSR", "NE", "GP", "nDTW")
"""Metrics in a table of several runs."""
_PAIRED = ("SR", "SPL")


def runs_table(
    title: str,
    note: str,
    runs: Mapping[str, Mapping[str, Any]],
    differences: Mapping[str, Sequence[PairedMetric]] | None = None,
) -> Table:
    """Return a table of several runs, one row a run.

    Args:
        title: title of the table.
        note: explanation of its columns.
        runs: name -> ``scores`` of the run's ``summary.json``.
        differences: name -> paired differences of the run to its reference run.
    """
    paired = differences or {}
    shown = [name for name in _SHOWN if any(name in run["metrics"] for run in runs.values())]
    rows = tuple(
        (
            name,
            str(run["episodes"]),
            *(metric_cell(metric, run["metrics"].get(metric)) for metric in shown),
            *(_difference(metric, paired.get(name, ())) for metric in _PAIRED if paired),
            *_helped(run, paired.get(name, ())),
        )
        for name, run in runs.items()
    )
    more = [f"{metric}, paired" for metric in _PAIRED if paired]
    helped = ("knows", "asked", "told", "SR an answer", "gives away", "withheld", "steps")
    record = {
        name: {
            **run,
            "paired": {each.metric: each.record() for each in paired.get(name, ())},
            "SR_an_answer": _an_answer(run, paired.get(name, ())),
        }
        for name, run in runs.items()
    }
    return Table(title, note, ("run", "n", *shown, *more, *helped), rows, record=record)


def _helped(run: Mapping[str, Any], paired: Sequence[PairedMetric]) -> Iterator[str]:
    """Yield the oracle cells of a run: knowledge, frequency, gain and giveaways."""
    took, oracle = run["an_episode"], run.get("oracle") or {}
    gained = _an_answer(run, paired)
    told = [f"{kind} {percent(share)}" for kind, share in oracle.get("told", {}).items() if share]
    yield str(oracle.get("knows", NOTHING))
    yield f"{took.get('questions', 0):.2f}"
    yield f"{took.get('oracle_calls', 0):.2f}"
    yield NOTHING if gained is None else format_metric("SR", gained, "+")
    yield ", ".join(told) or NOTHING
    yield f"{took.get('leaks', 0):.3f}"
    yield f"{took.get('steps', 0):.1f}"


def _an_answer(run: Mapping[str, Any], paired: Sequence[PairedMetric]) -> float | None:
    """Return the success gained for each answer of an oracle, or None without answers."""
    said = sum(run["an_episode"].get(key, 0) for key in ("questions", "oracle_calls"))
    found = next((each for each in paired if each.metric == "SR"), None)
    mean = found and found.difference.mean
    return mean / said if said and mean is not None else None


def _difference(metric: str, paired: Sequence[PairedMetric]) -> str:
    found = next((each for each in paired if each.metric == metric), None)
    if found is None:
        return NOTHING
    difference = {"mean": found.difference.mean, "interval": found.difference.interval}
    words = metric_cell(metric, difference, "+")
    return words if found.shown else f"{words}: no difference shown"


def compare_dialogue(request: EvalRequest, out: Path, session: Session | None = None) -> Table:
    """Run the arms of ``DIALOGUE_ARMS`` on the same episodes, and return the table of scores.

    Args:
        request: episodes and agent; the oracle settings are each arm's.
        out: folder of the runs.
        session: execution settings; its ``limit`` sets the number of episodes.

    Raises:
        RunError: the folder holds other files.
        UnfinishedError: a run was stopped or has errors; the same call continues it.
    """
    asked = {name: replace(request, **changes) for name, changes in DIALOGUE_ARMS.items()}
    check_study_folder(out)
    study = _study(request, session)
    runs = {name: study.run(each, out / name, part=True).scores for name, each in asked.items()}
    note = (
        "The same episodes. ask-no-arrival: the oracle does not say whether it has arrived. bound:"
        f" the option that the shortest path takes is named at every step.{_COLUMNS}{_above(runs)}"
    ).format("no-ask")
    return _kept(out, runs_table("Dialogue", note, runs, _against("no-ask", runs, out)))


def study_oracle(
    request: EvalRequest,
    out: Path,
    session: Session | None = None,
    arms: Sequence[str] = tuple(ORACLE_ARMS),
) -> Table:
    """Repeat the episodes that a navigator failed on, with and without help; return the table.

    Args:
        request: episodes and agent; the help settings are each arm's.
        out: folder of the runs, and of ``hard.json``, the episodes that the first run failed on.
        session: execution settings; its ``limit`` sets the number of episodes of the first run.
        arms: names from ``ORACLE_ARMS``; ``again`` is always added.

    Raises:
        RunError: the folder holds other files.
        UnfinishedError: a run was stopped or has errors; the same call continues it.
        UsageError: the navigator failed on no episode, or an arm is unknown.
    """
    chosen = _arms(request, arms)
    check_study_folder(out)
    plain = replace(request, **_ALONE, few_shot_failures=0, failures_from=None)
    study = _study(plain, session)
    base = study.run(plain, out / BASE, part=True).scores
    hard = replace(plain, subset=str(_hard(plain, out)))
    runs = {f"{BASE}, all": base}
    for name, changes in chosen.items():
        asked = {**changes, **({"seed": plain.seed + 1} if not changes else {})}
        if "few_shot_failures" in changes:
            asked["failures_from"] = str(out / BASE)
        runs[name] = study.run(replace(hard, **asked), out / name).scores
    note = (
        f"{BASE}: all episodes that were tried; the others: those it failed on, where it would"
        " score 0. again: no help and another seed, which is what chance alone gives back; random:"
        " an agent that draws its way by lot; -blind: an oracle that draws directions by lot."
        " assistant: it speaks where the agent struggles or would stop too early; dialogue: it is"
        " asked; -model, -map, -path: what its model is given. no-arrival: it does not say whether"
        " the agent has arrived; cost: a question costs a step. failures-N: N examples of failures"
        " of other paths in the prompt. bound: the option that the shortest path takes is named at"
        f" every step.{_COLUMNS}{_above(runs)}"
    ).format("again")
    if request.prompts == "paper":
        note += " The paper's prompt has no questions, and so no dialogue."
    if request.navigator_model.startswith("builtin/"):
        note += " Rules read no examples: failures-N cannot help a builtin model."
    against = _against("again", runs, out)
    return _kept(out, runs_table("Help on what it failed on", note, runs, against))


def study_bodies(
    request: EvalRequest,
    out: Path,
    session: Session | None = None,
    arms: Sequence[str] = tuple(PHYSICS_ARMS),
) -> Table:
    """Run baselines with a body, in each physics mode and on two graphs; return the table.

    Args:
        request: episodes and body; agent, physics and waypoints are each arm's.
        out: folder of the runs.
        session: execution settings of the runs.
        arms: names from ``PHYSICS_ARMS``.

    Raises:
        RunError: the folder holds other files.
        UnfinishedError: a run was stopped or has errors; the same call continues it.
        UsageError: an arm is unknown.
    """
    check_arms(arms, PHYSICS_ARMS)
    check_study_folder(out)
    study = _study(request, session)
    runs = {
        name: study.run(replace(request, **changes), out / name, part=True).scores
        for name, changes in PHYSICS_ARMS.items()
        if name in arms
    }
    ours = tuple(_body_row(PHYSICS_ARMS[name], run) for name, run in runs.items())
    published = tuple(physics_rows(_SCORED))
    body = request.embodiment
    note = (
        f"{body.name}: {body.height:g} m high, {body.width:g} m wide. body: hops that this body"
        " passes straight, and episodes made on them; slim: the scene's own hops and episodes."
        " slide: it slides along what it touches; strict: a contact that displaces it by"
        f" {request.collision_threshold:g} m ends the episode, collided; telhop: it is set at the"
        " end of each hop, or beside it. Collision rate (VLNVerse, Table 8): all contacts over all"
        " actions; contacts: an episode. shortest-path is told the graph's own shortest way at"
        f" every step. {_touched(runs)} Pale rows are published, not measured here, and in no"
        " statistic: 200 episodes, Qwen3-VL-4B; most of their cells are lost in the text at hand."
    )
    head = ("agent", "waypoints", "physics", *_SCORED)
    table = Table("Bodies", note, head, (*ours, *published), pale=len(published), record={**runs})
    return _kept(out, table)


def _kept(out: Path, table: Table) -> Table:
    """Write a study's table to its folder with the runs it names, and return it."""
    save_study(out, [table], runs=[name.partition(",")[0] for name in table.record])
    return table


def _body_row(arm: Mapping[str, Any], run: Mapping[str, Any]) -> tuple[str, ...]:
    metrics = run["metrics"]
    means = (metrics[name]["mean"] if name in metrics else None for name in _SCORED)
    cells = (format_metric(name, mean) for name, mean in zip(_SCORED, means, strict=True))
    return (arm["agent"], arm["waypoints"], arm["physics"], *cells)


def _touched(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the number of contacts on the graphs of both kinds of body."""
    said = []
    for waypoints in ("body", "slim"):
        of = [run for name, run in runs.items() if PHYSICS_ARMS[name]["waypoints"] == waypoints]
        told = [run["metrics"]["contacts"] for run in of if "contacts" in run["metrics"]]
        count = sum(round(each["mean"] * each["n"]) for each in told)
        episodes = sum(each["n"] for each in told)
        said += [f"{count:,} contacts in {episodes:,} episodes on {waypoints}"]
    return f"In all: {'; '.join(said)}."


def _arms(request: EvalRequest, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the changes of the chosen arms; dialogue only if the prompt has questions."""
    check_arms(names, ORACLE_ARMS)
    silent = request.prompts == "paper"
    return {
        name: changes
        for name, changes in ORACLE_ARMS.items()
        if name in ("again", *names) and not (silent and changes.get("dialogue"))
    }


_COLUMNS = (
    " knows: what its model is given; asked: questions an episode; told: how often the oracle spoke"
    " of itself; paired: the difference from {0} on the same episodes, in percentage points; SR an"
    " answer: that, for each answer or word of the oracle; gives away: the share of these that hold"
    " what (docs/oracles.md); withheld: those of which something was."
)


def _above(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a note on arms that succeed more often than the bound, if any."""
    helped = {name: run["metrics"]["SR"]["mean"] for name, run in runs.items()}
    most = helped.get("bound", 1.0)
    above = [name for name, mean in helped.items() if mean > most]
    return f" Above the bound, which is none here: {', '.join(above)}." if above else ""


def _against(first: str, runs: Mapping[str, Any], out: Path) -> dict[str, Sequence[PairedMetric]]:
    others = [name for name in runs if name != first and (out / name).is_dir()]
    return {name: compare_runs(out / first, out / name).metrics for name in others}


def _hard(request: EvalRequest, out: Path) -> Path:
    """Write the subset index of the episodes that the first run failed on."""
    failed = read_failures([out / BASE])
    if not failed.ids:
        raise UsageError(f"{out / BASE}: nothing failed, so there is nothing to help with")
    data = load_task(request.task, request.data, request.split, **dict(request.options))
    return save_subset(failed_subset(data, failed.ids, runs=[BASE]), out / HARD)


def _study(request: EvalRequest, session: Session | None) -> StudyRuns:
    models = dict.fromkeys((request.navigator_model, request.oracle_model))
    return StudyRuns(list(models), session)
