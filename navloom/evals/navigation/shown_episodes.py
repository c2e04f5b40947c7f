"""Episodes as a person looks at them: which of a run are named, how they ended, what was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any

from pydantic import ValidationError

from navloom.errors import NavloomError
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS, spelled
from navloom.evals.navigation.failures import Analysis, analyse, read_tags
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Scene
from navloom.tools.navigation.steps import Step

_MOST_TEXT = 1200
MOST_WHOLE = 100_000
"""Characters of a text that is given whole."""
_SUCCESSES = 4
"""Places for successes among twelve."""


@dataclass(frozen=True)
class Case:
    """One finished episode of a run.

    Attributes:
        id: the sample's.
        episode: what was to do.
        result: the navigator's result with its scores and tags.
        tagged: what went wrong, or right.
    """

    id: str
    episode: Episode
    result: Mapping[str, Any]
    tagged: Analysis

    @property
    def title(self) -> str:
        """How it ended, in a few words."""
        return ended_as(self.tagged)


@dataclass(frozen=True, slots=True)
class Named:
    """What it takes to name some of a run's episodes.

    Attributes:
        id: the sample's.
        scene: where.
        place: where it was to lead, a word that is equal for equal places.
        ended: in a few words.
        behaviour: the first of its behaviours.
        cause: of it.
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
    def of(cls, line: Mapping[str, Any], tagged: Analysis) -> Named:
        """A line of ``samples.jsonl``, by its tags."""
        episode = _mapping(line["result"]["episode"])
        scene, place = str(episode["scene"]), f"{episode['scene']}: {episode.get('goals')}"
        # Of ten thousand episodes most of these are the same few texts.
        where = intern(scene), intern(place), intern(ended_as(tagged))
        return cls(line["id"], *where, tagged.behaviour, tagged.cause, tagged.success)


def ended_as(tagged: Analysis) -> str:
    """How an episode ended, in a few words."""
    ended = "succeeded" if tagged.success else "failed"
    said = [
        spelled(kind, _mapping(tagged.evidence.get(kind)))
        for kind in tagged.behaviours
        if kind != "none"
    ]
    cause = f"; cause: {tagged.cause.replace('_', ' ')}" if tagged.cause != "none" else ""
    return f"{ended}: {', '.join(said)}{cause}" if said else f"{ended}{cause}"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def read_case(line: Mapping[str, Any], tagged: Analysis) -> Case | None:
    """A line of ``samples.jsonl`` as a case; None where it does not say which episode it is."""
    result = _mapping(line.get("result"))
    try:
        return Case(line["id"], Episode.model_validate(result.get("episode")), result, tagged)
    except ValidationError:
        return None


def tags_of(line: Mapping[str, Any], load: Callable[[str], Scene]) -> Analysis | None:
    """A line's tags; worked out anew where it has none.

    Args:
        line: of ``samples.jsonl``.
        load: gives a scene by its portable name.

    Returns:
        None where it has none and its episode or its scene cannot be read.
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


def pick_cases(cases: Iterable[Named], most: int = 12) -> list[Named]:
    """Failures of each kind and some successes, the most frequent kinds first, always the same."""
    every = sorted(cases, key=lambda case: case.id)
    failed = list(_in_turn([case for case in every if not case.success]))
    well = list(_in_turn([case for case in every if case.success]))
    places = max(min(_SUCCESSES, most // 3), most - len(failed))
    chosen = [*failed[: most - min(places, len(well))], *well[:places]]
    return chosen[:most]


def _in_turn(cases: Sequence[Named]) -> Iterator[Named]:
    """One of each behaviour, then another of each, new causes first."""
    by_kind: dict[str, list[Named]] = {kind: [] for kind in BEHAVIOURS}
    for case in cases:
        by_kind[case.behaviour].append(case)
    # The plain success shows little: it comes last of its round.
    order = sorted(by_kind, key=lambda kind: (kind == "none", -len(by_kind[kind])))
    queues = {kind: _by_cause(by_kind[kind]) for kind in order}
    for turn in range(max(map(len, queues.values()), default=0)):
        for kind in order:
            if turn < len(queues[kind]):
                yield queues[kind][turn]


def _by_cause(cases: Sequence[Named]) -> list[Named]:
    """Another cause and another goal before the same again."""
    seen: Counter[Any] = Counter()
    ranked = []
    for case in cases:
        cause, goals = case.cause, case.place
        ranked.append((seen[cause] + seen[goals], cause == "unknown", case.id, case))
        seen.update((cause, goals))
    return [case for _, _, _, case in sorted(ranked, key=lambda entry: entry[:3])]


@dataclass(frozen=True)
class Note:
    """Something that was said beside the reply: by whom or what, and its words."""

    who: str
    words: str
    bad: bool = False


def pointed_notes(case: Case) -> tuple[Note, ...]:
    """Which thing was named at the end; none where nobody asked."""
    pointed = _mapping(case.result.get("pointed"))
    return tuple(_pointed(pointed, case.episode.columns)) if pointed else ()


def _pointed(pointed: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[Note]:
    """Which thing was meant at the end, and which was named, of how many in sight."""
    seen, named = _mapping(pointed.get("offered")), pointed.get("object")
    said = "none"
    if isinstance(named, str) and named in seen:
        said = f"{named} ({_text(seen[named])})"
    meant = f"{columns.get('object')} ({_text(columns.get('object_name'))})"
    words = f"named {_text(said)} of {len(seen)} in sight; meant is {_text(meant)}"
    yield Note("which thing", words, bad=str(named) != str(columns.get("object")))


def action_of(step: Step) -> str:
    """What a step came to, in words."""
    action = step.action
    if action.kind == "move":
        touched = f", bumping into {_text(step.bumped)}" if step.bumped else ""
        return f"{_moves(step)} to option {_text(action.option)}{touched}"
    if action.kind == "ask":
        return f"asks: {_text(action.question)}"
    return "stops" if action.kind == "stop" else "no action"


def _moves(step: Step) -> str:
    return "does not get" if step.missed else "moves"


def notes_of(step: Step, *, whole: bool = False) -> Iterator[Note]:
    """What was said at a step beside the reply: reasons, faults, questions and answers.

    Args:
        step: the step.
        whole: whether texts are given whole, however long.
    """
    most = MOST_WHOLE if whole else _MOST_TEXT

    def text(value: Any) -> str:
        return _text(value, most)

    for name in ("reasoning", "reflection", "decision"):
        if said := getattr(step, name):
            yield Note(name, text(said))
    for fault in step.faults:
        yield Note("fault", text(fault), bad=True)
    for words, who in ((step.asked, "answer"), (step.oracle, "guidance")):
        if words is None:
            continue
        if words.question:
            yield Note("question", text(words.question))
        if words.answer:
            trigger = getattr(words, "trigger", None)
            yield Note(who + (f" ({text(trigger)})" if trigger else ""), text(words.answer))
        if words.told:
            yield Note("gives away", ", ".join(map(text, words.told)))
        if words.leaked:
            yield Note("leak", "the answer held what it must not", bad=True)


def _text(value: Any, most: int = _MOST_TEXT) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
