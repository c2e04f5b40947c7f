"""NavCraft tasks in tables and on pages: columns, description, scores and maps of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import NavloomError, SceneError
from navloom.evals.call_log import conversation_of
from navloom.evals.navcraft.dataset_check import find_problems
from navloom.evals.navcraft.export import task_line
from navloom.evals.navcraft.relay_map import build_relay_task, driven_map, relay_map, solo_map
from navloom.evals.navcraft.task_rules import TOLERANCE
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import Table, format_number, percent
from navloom.evals.run_folder import read_run
from navloom.evals.run_scenes import load_run_scene
from navloom.files import check_format, package_yaml
from navloom.scenes.plan_style import to_words
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.relay import RelayAnswer, RelayChoice
from navloom.tools.navcraft.relay_optimum import GuardedRelay, all_relays
from navloom.tools.navcraft.relay_spec import RelaySpec
from navloom.tools.navcraft.relay_task import SENSIBLE, RelayTask


def result_of(line: ui.Line) -> Mapping[str, Any]:
    """Return the result of an attempt; empty if there is none."""
    return line.get("result") or {}


def record_of(line: ui.Line) -> Mapping[str, Any]:
    """Return the ``navloom`` part of a result, which is recorded beside the phases."""
    return result_of(line).get("navloom") or {}


def _of(key: str) -> Callable[[ui.Line], ui.Cell]:
    return lambda line: record_of(line).get(key)


def count_repairs(rest: Mapping[str, Any]) -> int:
    """Return the number of repairs: replaced choices and answers that checks rejected."""
    sent = (*rest.get("violations_mended", ()), *rest.get("relay_violations_mended", ()))
    return sum(int(count) for count in (rest.get("repairs") or {}).values()) + len(sent)


def _type_of(line: ui.Line) -> str:
    return str(result_of(line)["phase_2"]["Collaborative type"]).removeprefix("Type-")


def _told_of(line: ui.Line) -> str:
    """Return the instruction of the whole errand."""
    return str(result_of(line)["phase_1"]["Task instruction"])


_WORDS = package_yaml("navloom.evals.navcraft", "meanings.yaml")
MEANS: Mapping[str, tuple[str, str]] = _WORDS["relay"]
"""Measure of a relay -> its unit and meaning."""


def columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the table columns of a NavCraft sample or dataset line.

    Args:
        run: content of ``run.json``; ``{}`` for a dataset.
    """
    relays = run.get("kind", "collab") == "collab"
    made = [
        ui.Column("verdict", lambda line: result_of(line)["verdict"], "text", facet=True,
                  help="relay, or that none is worth it"),
        ui.Column("type", _type_of, "text", facet=True,
                  help="A1: robot_2 fetches, robot_1 delivers. A2: the other way round"),
        ui.Column("alpha", _of("alpha"), "share", better="less",
                  help="robot_1's metres over those of its way alone"),
        ui.Column("gain", _of("gain_alpha"), "share", better="more", help="1 − alpha"),
        ui.Column("sooner", _of("gain_g"), "share", better="more",
                  help="1 − g_rate: what the relay spares in time; below 0 it is later"),
        ui.Column("regret", _of("regret_alpha"), "share", better="less",
                  help="alpha minus the least alpha that a guarded relay of this task has"),
        ui.Column("regret_g", _of("regret_g"), "share", better="less", shown=False,
                  help="g_rate over the best g_rate, minus 1"),
        ui.Column("driven", lambda line: ("no", "yes")[bool(record_of(line)["driven"]["done"])],
                  "text", facet=True, shown=False, help="whether two bodies carried it out"),
    ]  # fmt: skip
    return [
        *(made if relays else ()),
        ui.Column("repairs", lambda row: count_repairs(record_of(row)) if record_of(row) else None,
                  "count", better="less",
                  help="how often a choice or an answer had to be mended"),
        ui.Column("instruction", _told_of, "text", help="of the whole errand"),
        ui.Column("object", lambda line: result_of(line)["phase_1"]["Target object"],
                  "text", facet=True, help="what is to be taken"),
        ui.Column("onto", _of("end_asset"), "text", shown=False, help="the end asset"),
        ui.Column("metres", _of("solo_metres"), "metres", help="robot_1's way alone"),
        ui.Column("plausible", lambda line: record_of(line)["worth"]["plausible"], "share",
                  shown=False, better="more", help="would a person ask for it: 0 to 1"),
    ]  # fmt: skip


def pairing() -> ui.Pairing:
    """Return how to pair two runs over the same homes, attempt by attempt."""
    rates = ("alpha", "gain_alpha", "g_rate", "gain_g")
    regrets = ("regret_alpha", "regret_asked", "regret_g")
    effort = ("tool_calls", "model_calls", "tokens")

    def scores(line: ui.Line) -> dict[str, float | None]:
        rest, paid = record_of(line), line.get("usage") or {}
        task, plan = result_of(line).get("phase_1"), result_of(line).get("phase_2")
        return {
            "task": float(bool(task)),
            "relay": float(bool(plan) and line.get("status") == "ok"),
            "repairs": float(count_repairs(rest)) if rest else None,
            **{name: rest.get(name) for name in (*rates, *regrets)},
            "plausible": (rest.get("worth") or {}).get("plausible"),
            "tool_calls": rest.get("tool_calls"),
            "model_calls": paid.get("calls"),
            "tokens": sum(paid.get(f"{side}_tokens", 0) for side in ("input", "output"))
            if paid
            else None,
        }

    return ui.Pairing(
        identity=lambda line: [line["scene"], line["attempt"], line.get("seed")],
        scores=scores,
        what="an attempt",
        less=frozenset({"repairs", "alpha", "g_rate", *regrets, *effort}),
        effort=frozenset(effort),
        counted=frozenset({"task", "relay"}),
        cluster=lambda line: line["scene"],
        cluster_name="home",
    )


def task_story(row: Mapping[str, Any]) -> str:
    """Return a dataset line as two or three plain sentences."""
    one, two, rest = row["phase_1"], row.get("phase_2"), row["navloom"]
    start = to_words(one["Single robot start region"]["robot_1"])
    target = to_words(one["Single robot target object region"]["robot_1"])
    thing = f"the {to_words(one['Target object'])}"
    end_region = to_words(one["Single robot end region"]["robot_1"])
    goal = f"the {to_words(rest['end_asset'])} in {end_region}"
    solo = rest.get("solo_metres")
    if two is None:
        how_far = f": {solo:.0f} m in all" if solo is not None else ""
        return f"robot_1 goes from {start} to {target}, takes {thing} to {goal}{how_far}."
    place = f"the {to_words(rest['transfer_asset'])} in {to_words(two['Transfer region'])}"
    helper = to_words(two["Collaborative robot start region"]["robot_2"])
    starts = {"robot_1": start, "robot_2": helper}
    first, second = (
        ("robot_2", "robot_1") if two["Collaborative type"] == "Type-A1" else ("robot_1", "robot_2")
    )
    return (
        f"{_fetches(first, starts[first], target, thing)} and brings it to {place}. "
        f"{second} comes from {starts[second]}, takes it from there and carries it on to {goal}. "
        f"{_merit(rest)}"
    )


def _fetches(robot: str, start: str, target: str, thing: str) -> str:
    if start == target:
        return f"{robot} takes {thing} in {target}, where it starts,"
    return f"{robot} goes from {start} to {target}, takes {thing} there"


def _merit(rest: Mapping[str, Any]) -> str:
    alpha, g_rate, solo = rest["alpha"], rest["g_rate"], rest["solo_metres"]
    sooner = f"{1 - g_rate:.0%} sooner" if g_rate <= 1 else f"{g_rate - 1:.0%} later"
    return (
        f"robot_1 walks {alpha * solo:.0f} m instead of {solo:.0f} m ({1 - alpha:.0%} less); "
        f"together they are done {sooner} than it alone."
    )


def task_items(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the items of a task in its order: description and id of each."""
    one, two, rest = row["phase_1"], row.get("phase_2"), row["navloom"]
    things = [(f"the object: {to_words(one['Target object'])}", rest["object_id"])]
    if two is not None:
        place = f"the handoff: {to_words(rest['transfer_asset'])}"
        things.append((place, rest["transfer_asset_id"]))
    return [*things, (f"the goal: {to_words(rest['end_asset'])}", rest["end_asset_id"])]


def pick_tasks(rows: Sequence[Mapping[str, Any]], most: int = 10) -> list[Mapping[str, Any]]:
    """Choose tasks to show, spread over the scenes in a deterministic order.

    Relays that are faster than robot_1 alone come first. Without any, single-robot errands are
    taken, and without those slower relays. Among them only plausible tasks, if there are any.
    """
    best = min(map(_rank, rows), default=(0, False))
    by_scene: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if _rank(row) == best:
            by_scene.setdefault(row["scene"], []).append(row)
    names = list(by_scene)
    if len(names) > most:
        names = [names[i * len(names) // most] for i in range(most)]
    turns = zip_longest(*(by_scene[name] for name in names))
    return [row for turn in turns for row in turn if row is not None][:most]


def _rank(row: Mapping[str, Any]) -> tuple[int, bool]:
    rest = row["navloom"]
    odd = rest.get("worth", {}).get("plausible", 1.0) < SENSIBLE
    if row.get("phase_2") is None:
        return 1, odd
    return (0 if rest["g_rate"] < 1 else 2), odd


Load = Callable[[str], Scene]
_GRADES: Mapping[str, str] = _WORDS["grades"]


def detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of one attempt: task, scores, timed map and repairs.

    Raises:
        RunError: the line does not have the form of a NavCraft sample.
    """

    def load(name: str) -> Scene:
        return load_run_scene(run, name)

    with check_format(f"{run}: sample {line.get('id')}", "a NavCraft task"):
        name = str(line["id"])
        if not result_of(line).get("phase_1"):
            why = " · ".join(str(line[k]) for k in ("reason", "message") if line.get(k))
            said = ui.Prose(title="There is no task", text=why or "nothing is said", tone="bad")
            blocks = (said, _made(run, line))
            return ui.SampleDetail(title=name, headline=str(line["scene"]), blocks=blocks)
        found = task_detail(name, task_line(read_run(run), line), load)
        shown = (*_outcome(line), *found.blocks, _made(run, line))
        return ui.SampleDetail(title=name, headline=found.headline, blocks=shown)


def _outcome(line: ui.Line) -> list[ui.Block]:
    """Return a block on an attempt that gave no task: failed, or no relay is worth it."""
    if line.get("status") != "ok":
        why = " · ".join(str(line[k]) for k in ("reason", "message") if line.get(k))
        return [ui.Prose(title="Failed", text=why, tone="bad", note="What held is shown below.")]
    if result_of(line).get("verdict") and not result_of(line).get("phase_2"):
        who = (
            "the model said so" if record_of(line).get("decided_by") == "model" else "by the tools"
        )
        return [ui.Prose(title="No relay is worth it", text=f"Decided: {who}.")]
    return []


def task_detail(
    name: str, line: Mapping[str, Any], load: Load, found: Sequence[tuple[str, str]] | None = None
) -> ui.SampleDetail:
    """Return the page of one task of a dataset.

    Args:
        name: its title.
        line: a line of a dataset that is valid under the schema.
        load: loads a scene by its portable name, or raises a SceneError.
        found: its problems as (location, message); None to check it here.
    """
    rest = line.get("navloom") or {}
    maps: list[ui.Block]
    try:
        scene = load(line["scene"])
        maps, load = _maps(scene, line, rest), lambda _: scene
    except SceneError as error:
        maps = [ui.Prose(title="Map", text=f"The map is missing: {error}", tone="bad")]
    if found is None:
        found = find_problems(dict(line), load)
    worth, means, *about = _worth(line, rest)
    driven = rest.get("driven")
    legs = [_legs(driven)] if driven else []
    blocks = (_told(line), worth, means, *maps, *legs, findings_block(found), *about)
    said = " ".join(filter(None, (_story(line), _verdict(rest), _drove(driven))))
    return ui.SampleDetail(title=name, headline=said, blocks=blocks)


def _story(line: Mapping[str, Any]) -> str:
    try:
        return task_story(line)
    except (KeyError, TypeError):
        # A line may lack the record beside its phases.
        return str(line["phase_1"]["Task instruction"])


def _verdict(rest: Mapping[str, Any]) -> str:
    """Return a sentence on whether the relay is faster than either robot alone."""
    together, alone = rest.get("g_rate"), rest.get("best_alone")
    if not isinstance(together, int | float) or not isinstance(alone, int | float):
        return ""
    if together < alone - 1e-9:
        return "In time it is worth it: neither robot alone is sooner."
    told = f"{alone:.0%} of robot_1's time against {together:.0%}"
    return f"In time it gains nothing: the better placed robot alone takes {told}."


def _drove(driven: Any) -> str:
    """Return a sentence on whether two bodies carried the relay out, if they tried."""
    if not isinstance(driven, Mapping):
        return ""
    bodies = " and ".join(map(str, driven["bodies"].values()))
    return f"{bodies} {'drove it to its end' if driven['done'] else 'could not drive it'}."


def _told(line: Mapping[str, Any]) -> ui.Transcript:
    """Return the instructions of each robot, word for word."""
    said = [ui.Utterance("robot_1 alone", str(line["phase_1"]["Task instruction"]))]
    if plan := line.get("phase_2"):
        for who, text in sorted(plan["Subtask instruction"].items()):
            steps = "\n".join(map(str, plan["Subtask list"].get(who, ())))
            said.append(ui.Utterance(str(who), f"{text}\n{steps}".strip()))
    return ui.Transcript(title="Instructions", said=tuple(said))


def _worth(line: Mapping[str, Any], rest: Mapping[str, Any]) -> list[ui.Block]:
    """Return blocks of the recorded scores, which are those that a report averages."""
    found: list[ui.Fact] = []

    def add(key: str, form: Callable[[float], str], note: str, name: str = "") -> None:
        value = rest.get(key)
        if isinstance(value, int | float):
            found.append(ui.Fact(name or key, form(value), note=note))

    add("solo_metres", _metres, "robot_1's way alone", "alone")
    if line.get("phase_2"):
        kind = str(line["phase_2"]["Collaborative type"])
        means = {"Type-A1": "robot_2 fetches", "Type-A2": "robot_1 fetches"}.get(kind, "")
        found.insert(0, ui.Fact("type", kind, note=means))
        add("alpha", _plain, "robot_1's metres over those alone")
        add("gain_alpha", percent, "1 − alpha", "gain")
        add("g_rate", _plain, "the time of both over that alone")
        add("gain_g", percent, "1 − g_rate; below 0 it is later", "sooner")
        add(
            "best_alone",
            _plain,
            "g_rate of the better placed robot alone; no relay from these starts is less",
        )
        add("best_alpha", _plain, "the least that a guarded relay has, robot_2 placed anew")
        add("best_g_rate", _plain, "likewise")
        add("regret_alpha", percent, "alpha minus the best", "regret of alpha")
        add("regret_g", percent, "g_rate over the best, minus 1", "regret of g_rate")
        add("regret_asked", percent, "alpha, among relays as asked", "regret as asked")
        add("makespan_s", _seconds, "until the object lies there, at 1 m/s", "done after")
        add("overlap_s", _seconds, "both robots in one place", "together")
        waits = rest.get("waits") or {}
        if waits.get("robot"):
            text = f"{waits['robot']}, {_seconds(waits['seconds'])}"
            found.append(ui.Fact("waits", text, note="by the transfer asset"))
    means_of = [(name, *MEANS[name]) for name in (fact.name for fact in found) if name in MEANS]
    blocks: list[ui.Block] = [
        ui.Facts(title="What it is worth", facts=tuple(found)),
        ui.meanings_grid(means_of),
    ]
    if worth := rest.get("worth"):
        marks = tuple(ui.Fact(str(k), _value(v), note=_GRADES.get(k, "")) for k, v in worth.items())
        blocks.append(ui.Facts(title="As a task", facts=marks))
    if line.get("profile"):
        told = tuple(ui.Fact(str(k), _value(v)) for k, v in line["profile"].items())
        blocks.append(ui.Facts(title="For whom", facts=told))
    if asked := rest.get("asked"):
        facts = tuple(ui.Fact(str(k), _value(v)) for k, v in asked.items())
        blocks.append(ui.Facts(title="What was asked for", facts=facts, folded="asked for"))
    return blocks


def _plain(value: float) -> str:
    return f"{value:.2f}"


def _metres(value: float) -> str:
    return f"{value:.1f} m"


def _seconds(value: float) -> str:
    return f"{value:.1f} s"


def _value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int | float):
        return format_number(value)
    return ", ".join(map(str, value)) or "–" if isinstance(value, list) else str(value)


def findings_block(found: Sequence[tuple[str, str]]) -> ui.Block:
    """Return a block with the findings of a check: location and message of each."""
    if not found:
        return ui.Prose(title="Checked", text="validate finds nothing wrong with it.", tone="good")
    note = "As `navloom validate` says it, of the schema and then of the scene."
    table = Table("", "", ("where", "what is wrong"), tuple((a or "–", b) for a, b in found))
    return ui.Grid(title=f"What validate finds: {len(found)}", note=note, table=table)


def _maps(scene: Scene, line: Mapping[str, Any], rest: Mapping[str, Any]) -> list[ui.Block]:
    """Return maps of the task: as a relay, alone, the best relays, and as driven."""
    try:
        task = build_relay_task(scene, line)
        shown: list[tuple[str, ui.SceneMap]] = []
        if line.get("phase_2"):
            relay = RelayAnswer.model_validate(line["phase_2"]).choice
            relay = relay._replace(transfer_asset=rest.get("transfer_asset") or relay[2])
            shown.append(("as a relay", relay_map(task, relay)))
            shown.append(("robot_1 alone", solo_map(task)))
            shown += _best(task, relay, rest)
            if driven := rest.get("driven"):
                shown.append(("as it was driven", driven_map(task, relay, driven)))
        else:
            shown.append(("robot_1 alone", solo_map(task)))
    except (NavloomError, ValidationError) as error:
        why = str(error).partition("\n")[0]
        return [ui.Prose(title="Map", text=f"It cannot be drawn: {why}", tone="bad")]
    if len(shown) == 1:
        return [shown[0][1]]
    return [ui.Variants(title="Map", variants=tuple((name, (one,)) for name, one in shown))]


def _best(
    task: RelayTask, taken: RelayChoice, rest: Mapping[str, Any]
) -> list[tuple[str, ui.SceneMap]]:
    """Return maps of the best relays by alpha, by time and as requested, each once."""
    relays, seen = all_relays(task, strict=bool(rest.get("strict_helper"))), {tuple(taken)}
    best = [
        ("the best for robot_1", "regret_alpha", relays.best("alpha")),
        ("the soonest", "regret_g", relays.best("g_rate")),
    ]
    if asked := rest.get("asked"):
        wish = RelaySpec(**{key: each for key, each in asked.items() if key != "given_up"})
        ranked = relays.ranking("alpha")
        kept = ranked[wish.satisfied_by(relays)[ranked]]
        first = relays.relay(int(kept[0])) if len(kept) else None
        best.append(("the best as asked", "regret_asked", first))
    found = []
    for words, regret, one in best:
        # A relay that equals the optimum needs no second map.
        if one is None or _is_none(rest.get(regret)) or (choice := _choice(one)) in seen:
            continue
        seen.add(choice)
        rates = f"alpha {one.alpha:.2f}, g_rate {one.g_rate:.2f}"
        found.append((f"{words}: {rates}", relay_map(task, RelayChoice(*choice))))
    return found


def _is_none(regret: Any) -> bool:
    return isinstance(regret, int | float) and abs(regret) < TOLERANCE


def _choice(relay: GuardedRelay) -> tuple[str, str, str, str]:
    where = (relay.robot_2_start_region, relay.transfer_region)
    return (*where, relay.transfer_asset, relay.collab_type)


def _legs(driven: Mapping[str, Any]) -> ui.Grid:
    """Return a table of the driven legs, one row a leg."""
    rows = tuple(
        (
            f"{leg['robot']} to the {to_words(str(leg['to']))} in {to_words(str(leg['region']))}",
            "came" if leg["arrived"] else str(leg["reason"] or "did not set out"),
            _metres(leg["planned"]),
            "–" if leg["way"] is None else _metres(leg["way"]),
            _metres(leg["driven"]),
            _seconds(leg["waited"]),
            ", ".join(map(str, leg["touched"])) or "–",
        )
        for leg in driven["legs"]
    )
    header = ("leg", "ended", "planned", "its body's way", "driven", "waited", "touched")
    bodies = " and ".join(map(str, driven["bodies"].values()))
    ended = "Every leg came." if driven["done"] else f"Not done: {driven['reason']}"
    alpha = driven.get("alpha")
    of = "" if alpha is None else f" alpha by metres driven: {alpha:.2f}."
    table = Table("", "", header, rows)
    return ui.Grid(title=f"Driven by {bodies}", note=f"{ended}{of}", table=table)


def _made(run: Path, line: ui.Line) -> ui.Transcript:
    """Return the tries and repairs: the conversation if the run stores it, else counts."""
    rest = record_of(line)
    tone: ui.Tone = "good" if line.get("status") == "ok" else "bad"
    ended = "accepted" if line.get("status") == "ok" else str(line.get("message") or "not accepted")
    end = ui.Utterance("in the end", ended, tone=tone)
    if talk := conversation_of(run, str(line["id"])):
        many = sum(each.who == "the model" for each in talk)
        lid = f"{many} turns of the model, and what the checks said"
        return ui.Transcript(title="Tries and repairs", said=(*talk, end), folded=lid, private=True)
    said = [
        ui.Utterance(
            "the model",
            f"{rest.get('turns', '?')} turns, {rest.get('tool_calls', '?')} calls of tools",
        )
    ]
    branches = {"end": "another end", "start": "another start", "all": "all anew"}
    said += [
        ui.Utterance("the tool", f"not valid, so repair: {branches.get(k, k)} ({n} times)")
        for k, n in (rest.get("repairs") or {}).items()
        if n
    ]
    phases = ("violations_mended", "errand"), ("relay_violations_mended", "relay")
    said += [
        ui.Utterance("the checks", f"{what} sent back: {str(code).replace('_', ' ')}", tone="bad")
        for key, what in phases
        for code in rest.get(key, ())
    ]
    return ui.Transcript(title="Tries and repairs", said=(*said, end))
