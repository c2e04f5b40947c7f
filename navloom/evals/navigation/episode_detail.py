"""Page of one episode: map, scores, tags, and each step with its views."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from navloom.errors import NavloomError, RunError
from navloom.evals.navigation.embodied_graph import body_points, recorded_graph
from navloom.evals.navigation.episode_display import (
    BEHAVED,
    EpisodeCase,
    StepNote,
    action_text,
    as_mapping,
    as_text,
    pointed_notes,
    read_analysis,
    read_case,
    score_columns,
    step_notes,
)
from navloom.evals.navigation.failure_analysis import FailureAnalysis
from navloom.evals.navigation.failure_behaviour import (
    RADIUS,
    behaviour_text,
    metres_to_goal,
    reference_path,
)
from navloom.evals.navigation.failure_cause import MEANS
from navloom.evals.navigation.metrics import METRICS
from navloom.evals.navigation.path_metrics import METRES
from navloom.evals.navigation.scores import COUNTS, format_metric
from navloom.evals.navigation.step_views import StepViews
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table
from navloom.evals.run_folder import read_run
from navloom.evals.run_scenes import load_run_scene, point_on_plan, viewpoints_on_plan
from navloom.scenes.distances import up_or_down
from navloom.scenes.scene import Point3, Scene
from navloom.tools.navigation.step_options import MoveOption, turn_text
from navloom.tools.navigation.step_records import NavStep, Trajectory, floor_points

MOST_BUMPS = 200
_EVERY = 5
"""Step width in the poses, which are 50 ms apart, for drawing."""
FAULT = "first deviation"
_ALIKE = 1e-6


def contact_spots(scene: Scene, bumps: Sequence[Point3]) -> dict[ui.Spot, int]:
    """Return the plan positions of contacts, each with the index of its first contact.

    Repeated contacts within 0.1 m become one position.
    """
    found: dict[ui.Spot, int] = {}
    for number, point in enumerate(bumps[:MOST_BUMPS]):
        floor, x, z = point_on_plan(scene, point)
        found.setdefault((floor, round(x, 1), round(z, 1)), number)
    return found


@dataclass(frozen=True)
class BodyPositions:
    """Positions of a body, each with the step at which it was reached.

    Attributes:
        spots: positions in order, without viewpoints that the scene lacks.
        times: for each position, the number of the step, from 0, before which the body first stood
            there. Hops of one jump are fractions between two steps.
        names: viewpoint of each position.
    """

    spots: tuple[ui.Spot, ...]
    times: tuple[float, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, walk: Trajectory, scene: Scene) -> BodyPositions:
        """Return the positions of a recorded trajectory."""
        known = scene.viewpoint_by_id
        names = [viewpoint for viewpoint, _ in walk.poses]
        points = body_points(names, walk.points, scene)
        kept = [
            (
                viewpoints_on_plan(scene, [name])[0]
                if points is None
                else point_on_plan(scene, points[k]),
                when,
                name,
            )
            for k, (name, when) in enumerate(zip(names, _times(walk), strict=True))
            if name in known
        ]
        return cls(*(tuple(each) for each in zip(*kept, strict=True))) if kept else cls((), (), ())

    @property
    def line(self) -> tuple[ui.Spot, ...]:
        """Polyline of the positions, without consecutive duplicates."""
        return tuple(spot for spot, _ in groupby(self.spots))

    def track(self) -> tuple[ui.Timed, ...]:
        """Return the positions in time. The body waits until the step that moves it."""
        timed: list[ui.Timed] = []
        for spot, when in zip(self.spots, self.times, strict=True):
            if timed and when - timed[-1][0] > 1 and timed[-1][1:] != spot:
                timed.append((float(int(when - 1e-9)), *timed[-1][1:]))
            timed.append((when, *spot))
        return tuple(timed)

    def at(self, step: int) -> ui.Spot | None:
        """Return the position before a step, or None."""
        found = [s for s, when in zip(self.spots, self.times, strict=True) if when <= step + 1e-9]
        return found[-1] if found else None

    def again(self) -> dict[str, int]:
        """Return the number of visits of each viewpoint visited more than once."""
        counts = Counter(name for name, _ in groupby(self.names))
        return {name: count for name, count in counts.items() if count > 1}


def _times(walk: Trajectory) -> list[float]:
    """Return the step time of each pose."""
    hops = [
        (number, next((o.hops for o in step.options if o.id == step.action.option), 1))
        for number, step in enumerate(walk.steps)
        if step.action.kind == "move"
    ]
    if 1 + sum(count for _, count in hops) == len(walk.poses):
        return [0.0, *(n + (k + 1) / count for n, count in hops for k in range(count))]
    # An edited file, or turns in place: derive the times from the hops.
    found, hop, last = [0.0] if walk.poses else [], 0, walk.poses[0][0] if walk.poses else ""
    for name, _ in walk.poses[1:]:
        if name != last:
            found.append(max(found[-1], float(walk.step_at(hop) + 1)))
            hop, last = hop + 1, name
        else:
            found.append(found[-1])
    return found


def deviation_label(case: EpisodeCase) -> str:
    """Return the label of a deviation; in a successful episode it is no fault but another route."""
    if not case.tagged.success:
        return FAULT
    scores = case.result.get("scores")
    spl = scores.get("SPL") if isinstance(scores, Mapping) else None
    short = isinstance(spl, int | float) and spl >= 1 - _ALIKE
    return "another way, equally short" if short else "another way"


def truth_route(case: EpisodeCase, walk: Trajectory, scene: Scene) -> ui.MapRoute | None:
    """Return the reference path as a dashed route; None for a path of under two points."""
    points = viewpoints_on_plan(scene, reference_path(walk, case.episode, scene))
    return ui.MapRoute("ground truth", "true", points) if len(points) > 1 else None


def driven_route(case: EpisodeCase, scene: Scene) -> ui.MapRoute | None:
    """Return the path that a person drove as a thin route, or None if nobody drove."""
    told = case.result.get("poses")
    rows = told[::_EVERY] if isinstance(told, list) else []
    stands = [["", 0.0, 0.0, *each[1:4]] for each in rows if isinstance(each, list)]
    spots = [point_on_plan(scene, point) for point in floor_points(stands) if point is not None]
    line = tuple(spot for spot, _ in groupby(spots))
    return ui.MapRoute("driven", "other", line) if len(line) > 1 else None


def goal_marks(case: EpisodeCase, scene: Scene) -> Iterator[ui.MapMark]:
    """Yield the start mark, and a mark of each goal with its success radius."""
    for spot in viewpoints_on_plan(scene, [case.episode.start]):
        yield ui.MapMark("start", spot)
    for spot in viewpoints_on_plan(scene, case.episode.goals):
        yield ui.MapMark("goal", spot, radius=RADIUS)


def walk_marks(
    case: EpisodeCase, walk: Trajectory, stands: BodyPositions, scene: Scene
) -> Iterator[ui.MapMark]:
    """Yield marks of events: end, first deviation, revisits, contacts, nearest viewpoint."""
    last = len(walk.steps)
    if stands.spots:
        yield ui.MapMark("stop", stands.spots[-1], to=step_address(case.id, last))
    fork = case.tagged.deviation
    for spot in viewpoints_on_plan(scene, [fork.at]) if fork is not None else ():
        words = deviation_label(case)
        kind = "deviation" if words == FAULT else "other_way"
        label = words.partition(", ")[2]
        to = step_address(case.id, fork.step if fork else 0)
        yield ui.MapMark(kind, spot, label, to=to)
    near = case.tagged.evidence.get("missed_stop")
    step = near.get("nearest_step") if isinstance(near, Mapping) else None
    if isinstance(step, int) and (there := stands.at(step + 1)) is not None:
        yield ui.MapMark("oracle", there, to=step_address(case.id, min(step + 1, last)))
    for name, count in stands.again().items():
        for spot in viewpoints_on_plan(scene, [name]):
            yield ui.MapMark("revisit", spot, f"{count}x")
    yield from _contacts(case, walk, scene)


def _contacts(case: EpisodeCase, walk: Trajectory, scene: Scene) -> Iterator[ui.MapMark]:
    told = case.result.get("contacts")
    said = [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []
    for (floor, x, z), number in contact_spots(scene, walk.bumps).items():
        contact = said[number] if len(said) == len(walk.bumps) else {}
        step = contact.get("step")
        to = step_address(case.id, step - 1) if isinstance(step, int) else ""
        yield ui.MapMark("contact", (floor, x, z), str(contact.get("what", ""))[:60], to=to)


def step_address(name: str, step: int) -> str:
    """Return the page address of a step counted from 0. Addresses count from 1, as pages do."""
    return f"sample/{quote(name, safe='')}?step={step + 1}"


def map_options(scene: Scene | None, step: NavStep, right: str | None) -> Iterator[ui.MapOption]:
    """Yield the candidates of a step as map options."""
    for option in step.options if scene is not None else ():
        for spot in viewpoints_on_plan(scene, [option.viewpoint]) if scene is not None else ():
            yield ui.MapOption(
                str(option.id),
                spot,
                chosen=option.viewpoint == step.move_target,
                right=option.viewpoint == right,
            )


def step_blocks(step: NavStep, right: str | None, of: str = "") -> tuple[ui.Block, ...]:
    """Return the blocks of a step beside the map.

    Args:
        step: the step.
        right: next viewpoint of the reference path, if the agent leaves the path at this step.
        of: suffix that tells two shown trajectories apart, such as " of A".
    """
    blocks: list[ui.Block] = [ui.Facts(facts=tuple(_action(step)))]
    if step.options:
        blocks.append(_options(step, right, of))
    if step.reply:
        blocks.append(ui.Prose(title="Reply", text=step.reply, exact=True, private=True))
    notes = list(step_notes(step, whole=True))
    if step.plan:
        notes.append(StepNote("plan", step.plan))
    if notes:
        blocks.append(notes_transcript(notes))
    return tuple(blocks)


def notes_transcript(notes: Sequence[StepNote]) -> ui.Transcript:
    """Return notes as a transcript block."""
    said = tuple(ui.Utterance(n.who, n.words, tone="bad" if n.bad else "plain") for n in notes)
    return ui.Transcript(title="Said", said=said, private=True)


def _action(step: NavStep) -> Iterator[ui.Fact]:
    chosen = next((o for o in step.options if o.id == step.action.option), None)
    if step.action.kind != "move" or chosen is None:
        yield ui.Fact("action", action_text(step))
    else:
        yield ui.Fact("action", f"{action_text(step)}: {_turned(chosen)}")
    if step.viewpoint is not None:
        yield ui.Fact("stands on", step.viewpoint)
    if step.heading is not None:
        yield ui.Fact("looks", f"{math.degrees(step.heading):.0f}° from -z, clockwise")
    if step.bumped:
        yield ui.Fact("bumped into", step.bumped, tone="bad")


def _turned(option: MoveOption) -> str:
    """Return the turn, distance and slope of an option in words."""
    if option.turn is None or option.distance is None:
        return "a jump back" if option.hops > 1 else "its way is not known"
    way = up_or_down(option.elevation)
    slope = f", {abs(math.degrees(option.elevation)):.0f}° {way}" if way else ""
    jump = f", {option.hops} hops" if option.hops > 1 else ""
    return (
        f"{turn_text(option.turn)} ({math.degrees(option.turn):+.1f}°),"
        f" {option.distance:.2f} m{slope}{jump}"
    )


def _options(step: NavStep, right: str | None, of: str) -> ui.Grid:
    marks = {"chosen": step.move_target, "right way": right}
    rows = tuple(
        (
            str(option.id),
            ", ".join(word for word, at in marks.items() if at == option.viewpoint),
            option.direction,
            NOTHING if option.turn is None else f"{math.degrees(option.turn):+.0f}°",
            NOTHING if option.distance is None else f"{option.distance:.2f}",
            option.description,
        )
        for option in step.options
    )
    head = ("option", "which", "where", "turn", "metres", "what lies there")
    return ui.Grid(Table(f"Options{of}", "", head, rows), private=True)


_MOST_SAID = 300
_SUCCESSES = ("SR", "SR_stopped", "SR_end", "OSR", "SR_visible", "RGS", "SR_strict", "SR_telhop")


def score_meanings(case: EpisodeCase) -> ui.Grid:
    """Return the meanings of an episode's scores and counts, folded."""
    found = (as_mapping(case.result.get(key)) for key in ("scores", "counts"))
    return ui.meanings_grid(map(ui.column_meaning, score_columns(*found)))


def score_facts(case: EpisodeCase) -> ui.Facts:
    """Return the scores and counts of an episode as facts."""
    scores, counts = as_mapping(case.result.get("scores")), as_mapping(case.result.get("counts"))
    why = as_mapping(scores.get("undefined"))
    facts = [
        ui.Fact(
            name,
            _spoken(name, scores[name]),
            tone=_tone(name, scores[name]),
            note=_short(why.get(name, "")),
        )
        for name in METRICS
        if name in scores
    ]
    for name in COUNTS:
        if isinstance(counts.get(name), int) and (counts[name] or name == "steps"):
            facts.append(ui.Fact(name.replace("_", " "), f"{counts[name]:,}"))
    invalid = scores.get("invalid")
    if isinstance(invalid, Mapping):
        facts.append(ui.Fact("invalid", _short(invalid.get("message")), tone="bad"))
    return ui.Facts(title="Scores", facts=tuple(facts))


def _spoken(name: str, value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        return NOTHING
    return format_metric(name, float(value)) + (" m" if name in METRES else "")


def _tone(name: str, value: Any) -> ui.Tone:
    if name not in _SUCCESSES or value not in (0, 1):
        return "plain"
    return "good" if value else "bad"


def tag_grid(case: EpisodeCase) -> ui.Grid | None:
    """Return the tags of an episode with evidence, each row linked to its step, or None."""
    tagged = case.tagged
    rows: list[tuple[str, str, str]] = []
    for kind in tagged.behaviours:
        proof = as_mapping(tagged.evidence.get(kind))
        if kind != "none":
            rows.append((_tag(kind, proof), _meant(kind, proof), _first_step(case, proof)))
    if tagged.cause != "none":
        rows.append((f"cause: {tagged.cause.replace('_', ' ')}", _why(tagged), ""))
    fork = tagged.deviation
    if fork is not None:
        went = f"went to {_place(fork.taken)}" if fork.taken else f"ended ({fork.end or 'stop'})"
        to = fork.expected and _place(fork.expected)
        right = f"the right way goes to {to}" if to else "it ends here"
        if (words := deviation_label(case)) != FAULT and to:
            right = f"the way that was given goes to {to}"
        told = f"step {fork.step + 1}, at {_place(fork.at)}: {went}; {right}"
        rows.append((words, told, step_address(case.id, fork.step)))
    if not rows:
        return None
    note = (
        "What it did, why it left the right way, and where, by rules; scores stand above. Steps are"
        " counted from 1."
    )
    table = Table("Tags", note, ("tag", "evidence"), tuple(row[:2] for row in rows))
    return ui.Grid(table, to=tuple(row[2] for row in rows))


def _tag(kind: str, proof: Mapping[str, Any]) -> str:
    """Return a behaviour's name. The kind of an early stop is left to `_meant`."""
    return behaviour_text(kind, {} if kind == "early_stop" else proof)


def _meant(kind: str, proof: Mapping[str, Any]) -> str:
    """Return the meaning of a behaviour with its evidence."""
    said = [BEHAVED.get(kind, ""), evidence_text({k: v for k, v in proof.items() if k != "where"})]
    left = {
        "short": "it had not left the right way",
        "elsewhere": "it had left the right way before",
    }
    said.insert(1, left.get(str(proof.get("where")), ""))
    return "; ".join(filter(None, said)) or NOTHING


def _why(tagged: FailureAnalysis) -> str:
    """Return a cause in words, with its evidence and the other causes that hold."""
    causes = as_mapping(tagged.evidence.get("causes"))
    proof = evidence_text(as_mapping(causes.get(tagged.cause)))
    others = [name.replace("_", " ") for name in causes if name != tagged.cause]
    said = "no rule holds" if tagged.cause == "unknown" else MEANS[tagged.cause]
    parts = (said, proof, f"also: {', '.join(map(_short, others))}" if others else "")
    return _short("; ".join(filter(None, parts)), 3 * _MOST_SAID)


def evidence_text(proof: Mapping[str, Any]) -> str:
    """Return a rule's evidence in one line. Steps are counted from 1, as on pages."""
    return _short("; ".join(_evident(str(key), value) for key, value in proof.items() if value))


def _evident(name: str, value: Any) -> str:
    words = name.replace("_", " ")
    if name in ("visits", "counts") and isinstance(value, Mapping):
        return f"{words}: {', '.join(f'{_place(str(k))} {n}x' for k, n in value.items())}"
    if isinstance(value, Mapping):
        return f"{words} ({evidence_text(value)})"
    if name == "within":
        return f"looked {value} {'hop' if value == 1 else 'hops'} ahead"
    if name in ("step", "nearest_step") and isinstance(value, int):
        value = value + 1
    if name == "steps" and isinstance(value, list):
        value = [each + 1 for each in value if isinstance(each, int)]
    return f"{words}: {', '.join(map(str, value)) if isinstance(value, list) else value}"


def _place(name: str) -> str:
    """Return a viewpoint's name, cut to eight characters if it has over twelve."""
    return name if len(name) <= 12 else f"{name[:8]}…"


def _first_step(case: EpisodeCase, proof: Mapping[str, Any]) -> str:
    steps = proof.get("steps")
    step = steps[0] if isinstance(steps, list) and steps else proof.get("step")
    return step_address(case.id, step) if isinstance(step, int) else ""


def _short(value: Any, most: int = _MOST_SAID) -> str:
    return as_text(value, most)


@dataclass(frozen=True)
class EpisodeView:
    """An episode with all data needed to show it.

    Attributes:
        case: the episode with its result and analysis.
        walk: its recorded trajectory.
        scene: its scene with the navigation graph of the run; None if it cannot be loaded.
        problem: error of loading the scene.
        eyes: source of the views at each step.
        stands: positions of the body; empty without a scene.
    """

    case: EpisodeCase
    walk: Trajectory
    scene: Scene | None
    problem: str
    eyes: StepViews
    stands: BodyPositions

    @property
    def reference(self) -> tuple[str, ...]:
        """Reference path; that of the episode if there is no scene."""
        if self.scene is None:
            return tuple(self.case.episode.path)
        return reference_path(self.walk, self.case.episode, self.scene)


def open_episode(run: Path, line: ui.Line, *, renders: bool = False) -> EpisodeView:
    """Read a sample line of a run with all data needed to show its episode.

    Args:
        run: the run's folder.
        line: a line of its ``samples.jsonl``.
        renders: whether to render views that the model was not shown.

    Raises:
        RunError: the line is not a navigated episode.
    """
    said, problem = read_run(run), ""
    scene: Scene | None = None

    def load(name: str) -> Scene:
        return recorded_graph(said["request"])(load_run_scene(run, name))

    tagged = read_analysis(line, load)
    case = None if tagged is None else read_case(line, tagged)
    if case is None:
        raise RunError(
            f"{run}: the sample '{str(line.get('id'))[:60]}' has not the form of a navigated"
            " episode: the run was made by another version or changed by other hands"
        )
    try:
        scene = load(case.episode.scene)
    except NavloomError as error:
        problem = str(error)
    walk = Trajectory.read(case.result)
    stands = BodyPositions((), (), ()) if scene is None else BodyPositions.of(walk, scene)
    return EpisodeView(case, walk, scene, problem, StepViews(run, said, scene, renders), stands)


def detail(run: Path, line: ui.Line, *, renders: bool = False) -> ui.SampleDetail:
    """Return the page of an episode; arguments and errors are those of :func:`open_episode`."""
    looked = open_episode(run, line, renders=renders)
    case = looked.case
    blocks: list[ui.Block] = [ui.Prose(title="Instruction", text=case.episode.instruction)]
    blocks += [score_facts(case), score_meanings(case)]
    tags = tag_grid(case)
    if tags is not None:
        blocks.append(tags)
    blocks += [episode_map(looked), walk_table(looked)]
    return ui.SampleDetail(title=case.id, headline=case.title, blocks=tuple(blocks))


def episode_map(looked: EpisodeView) -> ui.SceneMap:
    """Return the trajectory on its plan, step by step; without a scene the steps alone."""
    case, walk, scene, stands = looked.case, looked.walk, looked.scene, looked.stands
    note = f"There is no plan of {case.episode.scene}: {looked.problem}" if scene is None else ""
    frames = (*_frames(looked), _ended(looked))
    if scene is None:
        return ui.SceneMap(title="Walk", note=note, scene=case.episode.scene, frames=frames)
    beside = (truth_route(case, walk, scene), driven_route(case, scene))
    walked = ui.MapRoute("walk", "walk", stands.line)
    routes = (*(each for each in beside if each is not None), walked)
    return ui.SceneMap(
        title="Walk",
        scene=case.episode.scene,
        routes=routes,
        marks=(*goal_marks(case, scene), *walk_marks(case, walk, stands, scene)),
        tracks=(ui.Track("agent", "walk", stands.track()),),
        frames=frames,
    )


def _frames(looked: EpisodeView) -> Iterator[ui.MapFrame]:
    fork, parted = looked.case.tagged.deviation, deviation_label(looked.case)
    for number, step in enumerate(looked.walk.steps):
        deviates = fork is not None and fork.step == number
        right = fork.expected if fork is not None and deviates else None
        yield ui.MapFrame(
            at=number,
            title=f"Step {number + 1}: {action_text(step)}" + (f" ({parted})" if deviates else ""),
            options=tuple(map_options(looked.scene, step, right)),
            heading=step.heading,
            strip=looked.eyes.strip(step),
            blocks=(*step_blocks(step, right), *_pointed(looked, number)),
            tone="bad" if (deviates and parted == FAULT) or step.faults else "plain",
        )


def _ended(looked: EpisodeView) -> ui.MapFrame:
    """Return the last frame: end position, views and scores."""
    case, walk = looked.case, looked.walk
    moved = bool(walk.steps) and walk.steps[-1].move_target is not None and bool(walk.poses)
    at, heading = walk.poses[-1] if moved else ("", None)
    return ui.MapFrame(
        at=len(walk.steps),
        title=f"End ({walk.end.replace('_', ' ') or 'not said'}): {case.title}",
        heading=heading,
        strip=looked.eyes.after(at, heading) if moved else (),
        blocks=(score_facts(case),),
        tone="good" if case.tagged.success else "bad",
    )


def _pointed(looked: EpisodeView, number: int) -> tuple[ui.Block, ...]:
    """Return the object named at the end, which is shown with the last step."""
    notes = pointed_notes(looked.case) if number == len(looked.walk.steps) - 1 else ()
    return (notes_transcript(notes),) if notes else ()


def walk_table(looked: EpisodeView) -> ui.Grid:
    """Return the trajectory and the reference path side by side as a table."""
    case, walk, scene = looked.case, looked.walk, looked.scene
    reference, rows = looked.reference, []
    for number in range(max(len(walk.viewpoints), len(reference))):
        at = walk.viewpoints[number] if number < len(walk.viewpoints) else ""
        heading = walk.headings[number] if at else None
        to_goal = math.inf if scene is None or not at else metres_to_goal(at, case.episode, scene)
        rows.append((
            str(number),
            str(walk.step_at(number - 1) + 1) if at and number else "",
            at,
            NOTHING if heading is None else f"{math.degrees(heading):.0f}°",
            f"{to_goal:.2f}" if math.isfinite(to_goal) else NOTHING,
            reference[number] if number < len(reference) else "",
        ))  # fmt: skip
    head = ("hop", "step", "stood on", "left looking", "metres to the goal", "right way")
    note = "Viewpoints in their order; metres are over the graph to the nearest goal."
    table = Table("Walk and right way", note, head, tuple(rows))
    return ui.Grid(table, folded="Walk and right way, viewpoint by viewpoint")
