"""Display of episodes: choice of examples, texts of steps and outcomes, table columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from sys import intern
from typing import Any, Literal

from pydantic import ValidationError

from navloom.errors import NavloomError
from navloom.evals.navigation.failure_analysis import FailureAnalysis, analyse, read_tags
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS, behaviour_text
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.metrics import METRICS, SHARES
from navloom.evals.navigation.path_metrics import METRES, PATH_METRICS
from navloom.evals.navigation.scores import EFFORT
from navloom.evals.report.blocks import Cell, Column, Line
from navloom.evals.tasks.episode import Episode
from navloom.files import package_yaml, truncate
from navloom.scenes.scene import Scene
from navloom.tools.navigation.step_records import NavStep

_MOST_TEXT = 1200
MOST_WHOLE = 100_000
"""Maximum characters of a text that is shown whole."""
_SUCCESSES = 4
"""Number of successes among twelve chosen episodes."""


@dataclass(frozen=True)
class EpisodeCase:
    """One finished episode of a run with its result and analysis.

    Attributes:
        id: id of the sample.
        episode: the episode.
        result: the navigator's result with its scores and tags.
        tagged: its failure analysis.
    """

    id: str
    episode: Episode
    result: Mapping[str, Any]
    tagged: FailureAnalysis

    @property
    def title(self) -> str:
        """Outcome of the episode in a few words."""
        return outcome_text(self.tagged)


@dataclass(frozen=True, slots=True)
class EpisodeEntry:
    """Short entry of an episode, by which examples are chosen and listed.

    Attributes:
        id: id of the sample.
        scene: its scene.
        place: text that is equal for equal scenes and goals.
        ended: outcome in a few words.
        behaviour: the first of its behaviours.
        cause: cause for leaving the reference path.
        success: whether it succeeded.
    """

    id: str
    scene: str
    place: str
    ended: str
    behaviour: str
    cause: str
    success: bool

    @classmethod
    def of(cls, line: Line, tagged: FailureAnalysis) -> EpisodeEntry:
        """Return the entry of a line of ``samples.jsonl`` with its analysis."""
        episode = as_mapping(line["result"]["episode"])
        scene, place = str(episode["scene"]), f"{episode['scene']}: {episode.get('goals')}"
        # Interned, since ten thousand episodes share a few texts.
        where = intern(scene), intern(place), intern(outcome_text(tagged))
        return cls(line["id"], *where, tagged.behaviour, tagged.cause, tagged.success)


def outcome_text(tagged: FailureAnalysis) -> str:
    """Return how an episode ended, in a few words."""
    ended = "succeeded" if tagged.success else "failed"
    said = [
        behaviour_text(kind, as_mapping(tagged.evidence.get(kind)))
        for kind in tagged.behaviours
        if kind != "none"
    ]
    cause = f"; cause: {tagged.cause.replace('_', ' ')}" if tagged.cause != "none" else ""
    return f"{ended}: {', '.join(said)}{cause}" if said else f"{ended}{cause}"


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return a value of an untrusted file if it is a mapping, else an empty mapping."""
    return value if isinstance(value, Mapping) else {}


def read_case(line: Line, tagged: FailureAnalysis) -> EpisodeCase | None:
    """Read a line of ``samples.jsonl`` as a case, or return None without a valid episode."""
    result = as_mapping(line.get("result"))
    try:
        episode = Episode.model_validate(result.get("episode"))
        return EpisodeCase(line["id"], episode, result, tagged)
    except ValidationError:
        return None


def read_analysis(line: Line, load: Callable[[str], Scene]) -> FailureAnalysis | None:
    """Return the failure analysis of a line, computed if the line has no tags.

    Args:
        line: a line of ``samples.jsonl``.
        load: loads a scene by its portable name.

    Returns:
        None if the line has no tags and its episode or scene cannot be read.
    """
    result = line.get("result")
    if not isinstance(result, Mapping):
        return None
    tagged = read_tags(result.get("tags"))
    if tagged is not None:
        return tagged
    try:
        episode = Episode.model_validate(result.get("episode"))
        scene = load(episode.scene)
    except (ValidationError, NavloomError):
        return None
    return read_tags(analyse(result, episode, scene, success=line.get("status") == "ok").tags)


def pick_episodes(cases: Iterable[EpisodeEntry], most: int = 12) -> list[EpisodeEntry]:
    """Pick failures of each kind and some successes, the most frequent kinds first."""
    every = sorted(cases, key=lambda case: case.id)
    failed = list(_in_turn([case for case in every if not case.success]))
    well = list(_in_turn([case for case in every if case.success]))
    places = max(min(_SUCCESSES, most // 3), most - len(failed))
    chosen = [*failed[: most - min(places, len(well))], *well[:places]]
    return chosen[:most]


def _in_turn(cases: Sequence[EpisodeEntry]) -> Iterator[EpisodeEntry]:
    """Yield one entry of each behaviour, then another of each, new causes first."""
    by_kind: dict[str, list[EpisodeEntry]] = {kind: [] for kind in BEHAVIOURS}
    for case in cases:
        by_kind[case.behaviour].append(case)
    # A success without behaviours shows little, so it comes last in each round.
    order = sorted(by_kind, key=lambda kind: (kind == "none", -len(by_kind[kind])))
    queues = {kind: _by_cause(by_kind[kind]) for kind in order}
    for turn in range(max(map(len, queues.values()), default=0)):
        for kind in order:
            if turn < len(queues[kind]):
                yield queues[kind][turn]


def _by_cause(cases: Sequence[EpisodeEntry]) -> list[EpisodeEntry]:
    """Return entries ordered so that causes and goals repeat as late as possible."""
    seen: Counter[Any] = Counter()
    ranked = []
    for case in cases:
        cause, goals = case.cause, case.place
        ranked.append((seen[cause] + seen[goals], cause == "unknown", case.id, case))
        seen.update((cause, goals))
    return [case for _, _, _, case in sorted(ranked, key=lambda entry: entry[:3])]


@dataclass(frozen=True)
class StepNote:
    """Text that was said at a step beside the reply: its source and words."""

    who: str
    words: str
    bad: bool = False


def pointed_notes(case: EpisodeCase) -> tuple[StepNote, ...]:
    """Return a note on the object named at the end; empty if none was asked for."""
    pointed = as_mapping(case.result.get("pointed"))
    return tuple(_pointed(pointed, case.episode.columns)) if pointed else ()


def _pointed(pointed: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[StepNote]:
    """Yield a note: the object that the agent named, the target, and the number in sight."""
    seen, named = as_mapping(pointed.get("offered")), pointed.get("object")
    said = "none"
    if isinstance(named, str) and named in seen:
        said = f"{named} ({as_text(seen[named])})"
    meant = f"{columns.get('object')} ({as_text(columns.get('object_name'))})"
    words = f"named {as_text(said)} of {len(seen)} in sight; meant is {as_text(meant)}"
    yield StepNote("which thing", words, bad=str(named) != str(columns.get("object")))


def action_text(step: NavStep) -> str:
    """Return the action of a step in words."""
    action = step.action
    if action.kind == "move":
        touched = f", bumping into {as_text(step.bumped)}" if step.bumped else ""
        return f"{_moves(step)} to option {as_text(action.option)}{touched}"
    if action.kind == "ask":
        return f"asks: {as_text(action.question)}"
    return "stops" if action.kind == "stop" else "no action"


def _moves(step: NavStep) -> str:
    return "does not get" if step.missed else "moves"


def step_notes(step: NavStep, *, whole: bool = False) -> Iterator[StepNote]:
    """Yield the notes of a step: reasons, faults, questions and answers.

    Args:
        step: the step.
        whole: whether to show texts up to ``MOST_WHOLE`` characters.
    """
    most = MOST_WHOLE if whole else _MOST_TEXT

    def text(value: Any) -> str:
        return as_text(value, most)

    for name in ("reasoning", "reflection", "decision"):
        if said := getattr(step, name):
            yield StepNote(name, text(said))
    for fault in step.faults:
        yield StepNote("fault", text(fault), bad=True)
    for words, who in ((step.asked, "answer"), (step.oracle, "guidance")):
        if words is None:
            continue
        if words.question:
            yield StepNote("question", text(words.question))
        if words.answer:
            trigger = getattr(words, "trigger", None)
            yield StepNote(who + (f" ({text(trigger)})" if trigger else ""), text(words.answer))
        if words.told:
            yield StepNote("gives away", ", ".join(map(text, words.told)))
        if words.leaked:
            yield StepNote("leak", "the answer held what it must not", bad=True)


def as_text(value: Any, most: int = _MOST_TEXT) -> str:
    """Return a value as bounded text; empty for None."""
    return truncate("" if value is None else str(value), most)


TOUCHES = ("collision_rate", "contacts", "collided")
LESS = frozenset({"NE", "DTS", "early_stop", "late_stop", *TOUCHES, *EFFORT})
NEITHER = frozenset({"TL"})
_WORDS = package_yaml("navloom.evals.navigation", "meanings.yaml")
SCORES: Mapping[str, str] = _WORDS["scores"]
COUNTED: Mapping[str, str] = _WORDS["counts"]
BEHAVED: Mapping[str, str] = _WORDS["behaviours"]
"""Behaviour -> meaning (:mod:`navloom.evals.navigation.failure_behaviour` has the rules)."""


def metric_column(name: str, *, shown: bool = True) -> Column:
    """Return a metric as a table column."""
    form: Literal["share", "metres", "number"]
    form = "share" if name in SHARES else "metres" if name in METRES else "number"
    better: Literal["more", "less"] | None = "less" if name in LESS else "more"
    return Column(
        name,
        partial(_scored, name),
        form,
        shown=shown,
        help=SCORES[name],
        better=None if name in NEITHER else better,
    )


def count_column(name: str, *, shown: bool = False) -> Column:
    """Return a count as a table column."""
    return Column(name, partial(_counted, name), "count", shown=shown, help=COUNTED[name])


def score_columns(scores: Mapping[str, Any], counts: Mapping[str, Any]) -> list[Column]:
    """Return columns of the scores and counts that an episode has, in table order."""
    return [
        *(metric_column(name) for name in METRICS if name in scores),
        *(count_column(name) for name in COUNTED if counts.get(name)),
    ]


def _scored(name: str, line: Line) -> Cell:
    found: Cell = line["result"]["scores"].get(name)
    return found


def _counted(name: str, line: Line) -> Cell:
    found: Cell = line["result"]["counts"].get(name)
    return found


_SHOWN = ("SR", "SPL", "NE", "OSR", "nDTW", "RGS", "contacts")
_SEEN_FROM = ("reverie", "objectnav", "scene")
"""Tasks whose episodes list the viewpoints that see the target."""
_BODILY = (*TOUCHES, "SR_strict", "SR_telhop")


def columns(run: Mapping[str, Any]) -> tuple[Column, ...]:
    """Return the table columns of a navigation run's samples.

    Args:
        run: content of its ``run.json``.
    """
    asked = run["request"]
    task, metrics = asked.get("task"), [*PATH_METRICS]
    metrics += ["SR_visible"] if task in _SEEN_FROM else []
    metrics += ["RGS", "RGSPL"] if task == "reverie" else []
    if asked.get("physics", "off") != "off" or asked.get("backend") not in _QUIET:
        metrics += _BODILY
    first = [name for name in _SHOWN if name in metrics]
    told = bool(asked.get("dialogue")) or asked.get("oracle", "off") != "off"
    return (
        Column("instruction", lambda line: line["result"]["episode"]["instruction"], "text"),
        Column("kind", _kind, "text", facet=True, shown=False,
               help="Of instruction, where they are made: fine, goal or object."),
        *_RATER[: asked.get("agent") == "human"],
        count_column("steps", shown=True),
        *map(metric_column, first),
        Column("behaviours", _behaviours, "tags", facet=True,
               help="All that the agent did wrong on the way, or none."),
        Column("behaviour", lambda line: _behaviours(line)[0], "text", shown=False,
               help="The one of them that bars count the episode under."),
        Column("cause", _cause, "text", facet=True,
               help="Why it left the right way, by rules."),
        Column("deviation", _deviation, "count",
               help="The step, from 1, at which it first left the right way."),
        Column("left_at", lambda line: line["result"]["tags"]["first_deviation"]["at"],
               "text", shown=False, help="The viewpoint where it first left the right way."),
        Column("end", lambda line: line["result"]["end"], "text", facet=True,
               shown=False, help="What ended it: its stop, its steps, a reply, a collision."),
        count_column("reprompts"),
        count_column("revisions"),
        count_column("questions", shown=bool(asked.get("dialogue"))),
        count_column("oracle_calls", shown=told),
        *(metric_column(name, shown=False) for name in metrics if name not in first),
    )  # fmt: skip


_QUIET = (None, "auto", "embedded", "graph", "habitat", "panorama")
"""Backends that report contacts only with physics."""


_RATER = (
    Column("rater", lambda line: line.get("rater"), "text", facet=True,
           help="Who walked, by pseudonym."),
)  # fmt: skip


def _kind(line: Line) -> Cell:
    found: Cell = line["result"]["episode"]["columns"].get("kind")
    return found


def _behaviours(line: Line) -> list[str]:
    said = line["result"]["tags"]["behaviour"]
    return [each for each in said if each in BEHAVIOURS]


def _cause(line: Line) -> Cell:
    found = line["result"]["tags"]["cause"]
    return found if found in CAUSES else None


def _deviation(line: Line) -> Cell:
    return int(line["result"]["tags"]["first_deviation"]["step"]) + 1
