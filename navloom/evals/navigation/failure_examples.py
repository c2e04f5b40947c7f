"""Failures of an earlier run as short texts for a navigator's prompt (VLN-MME 4.4, table 4).

Each text says what was asked, what was done where the right way was left, why that was wrong and
what would have been right. It holds no id of a viewpoint, node or option, is one line of bounded
length, and is never of the episode that is being evaluated, of another instruction for the same
path, or of an episode with the same goal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import UsageError
from navloom.evals.kinds import read_run_of
from navloom.evals.navigation.failure_behaviour import Behaviour
from navloom.evals.navigation.failure_cause import Cause
from navloom.evals.navigation.failures import Analysis, read_tags
from navloom.evals.run_folder import read_samples
from navloom.evals.tasks.episode import Episode
from navloom.tools.navigation.options import Option
from navloom.tools.navigation.steps import Step, Walk

MOST_CHARACTERS = 900
"""Of one text."""
_MOST_INSTRUCTION = 300
_MOST_DESCRIPTION = 110
_IDS = re.compile(r"\s*\(node_\d+(?:, visited)?\)|\bnode_\d+\b|\b[0-9a-f]{32}\b")
_TO = {"Left": "to the left", "Right": "to the right", "Front": "straight on", "Back": "back"}
_SAID = {"left": "left", "right": "right", "straight": "straight on", "around": "turn around"}
_SLOPE = {"up": "up", "down": "down", "level": "on the same level"}
_WHY: Mapping[Cause, str] = {
    "premature_stop": "the end was still some way off",
    "late_stop": "it was at the goal, or as good as there",
    "mismatch": "the instruction says so, and yet the way went otherwise",
    "failed_exit": "the instruction says to leave that room, and it never left",
    "ambiguous": "the two ways looked alike, and it took the other one",
}
_AFTER: Mapping[Behaviour, str] = {
    "loop": "Afterwards it went round among the same places",
    "missed_stop": "It came within reach of the goal and did not stop there",
    "time_out": "It never said stop",
    "early_stop": "It stopped without having been at the goal",
    "dead_end": "It ended where nothing led on",
    "generation_error": "In the end its reply held no action that could be used",
}


@dataclass(frozen=True)
class Example:
    """A failure in words.

    Attributes:
        text: one line.
        behaviour: what it is an example of.
        cause: likewise.
        episode: whose failure it is.
    """

    text: str
    behaviour: Behaviour
    cause: Cause
    episode: Episode

    def gives_away(self, other: Episode) -> bool:
        """Whether the text says something of another episode: its words, or the place it is in."""
        mine = self.episode
        return mine.scene == other.scene or other.instruction == mine.instruction


def mine(run: Path | str, n: int, exclude: Iterable[Episode] = ()) -> tuple[str, ...]:
    """Failure examples from an earlier run.

    Args:
        run: its folder.
        n: how many, 1 to 3 in the paper.
        exclude: the episodes that the texts will be shown for.

    Returns:
        At most ``n`` texts, always the same; fewer where the run has no more that fit.

    Raises:
        RunError: the folder is no run, or is broken.
        UsageError: ``n`` is below 1.
    """
    return choose(read_examples(run), n, exclude)


def read_examples(run: Path | str) -> tuple[Example, ...]:
    """Every failure of a run that can be told, sorted by sample id.

    Raises:
        RunError: the folder is no run, one of another kind, or is broken.
    """
    read_run_of(run, "navigate")
    told = (_example(line) for line in read_samples(run))
    return tuple(example for example in told if example is not None)


def choose(examples: Sequence[Example], n: int, exclude: Iterable[Episode] = ()) -> tuple[str, ...]:
    """Pick the texts that cover what goes wrong most often.

    Kinds (behaviour with cause) are taken by how many behaviours and causes they add to those
    picked already, then by how often they occur; one whose cause is unknown comes after the others.
    Of a kind, the shortest text is picked.

    Args:
        examples: what to pick from.
        n: how many.
        exclude: the episodes that the texts will be shown for.

    Raises:
        UsageError: ``n`` is below 1.
    """
    if n < 1:
        raise UsageError(f"{n} failure examples: expected 1 or more")
    shown = list(exclude)
    free = [each for each in examples if not any(each.gives_away(other) for other in shown)]
    often = Counter((each.behaviour, each.cause) for each in free)
    picked: list[Example] = []
    while free and len(picked) < n:
        best = min(free, key=lambda each: _rank(each, picked, often))
        picked.append(best)
        ends = (best.episode.scene, best.episode.goals)
        others = [each for each in free if (each.episode.scene, each.episode.goals) != ends]
        free = [each for each in others if each.text != best.text]
    return tuple(each.text for each in picked)


def _rank(
    example: Example, picked: Sequence[Example], often: Counter[tuple[Behaviour, Cause]]
) -> tuple[Any, ...]:
    seen = {kind for other in picked for kind in (other.behaviour, other.cause)}
    return (
        # Of a bad reply it is known what was wrong, wherever it came.
        example.cause == "unknown" and example.behaviour != "generation_error",
        len({example.behaviour, example.cause} & seen),
        -often[example.behaviour, example.cause],
        example.behaviour,
        example.cause,
        len(example.text),
        example.episode.id,
    )


def _example(line: Mapping[str, Any]) -> Example | None:
    result = line.get("result")
    if not isinstance(result, Mapping):
        return None
    tagged = read_tags(result.get("tags"))
    if tagged is None or tagged.success:
        return None
    try:
        episode = Episode.model_validate(result.get("episode"))
    except ValidationError:
        return None
    text = _tell(tagged, episode, Walk.read(result).steps)
    return None if text is None else Example(text, tagged.behaviour, tagged.cause, episode)


def _tell(tagged: Analysis, episode: Episode, steps: Sequence[Step]) -> str | None:
    asked = f"Told “{_plain(episode.instruction, _MOST_INSTRUCTION)}”, an agent "
    if tagged.behaviour == "generation_error":
        return _whole([asked + _bad_reply(tagged)])
    fork = tagged.deviation
    if fork is None:
        return None
    options = steps[fork.step].options if 0 <= fork.step < len(steps) else []
    ways = {option.viewpoint: _way(option) for option in options}
    went, right = fork.taken, fork.expected
    if any(name is not None and name not in ways for name in (went, right)):
        return None
    did = "stopped" if went is None else f"went {ways[went]}"
    better = (
        "to stop where it stood"
        if right is None
        else f"to go on {ways[right]}"
        if went is None
        else f"to go {ways[right]}"
    )
    done = fork.hop
    after = {0: "at the start ", 1: "after 1 move "}.get(done, f"after {done} moves ")
    reason = _reason(tagged, right is None)
    return _whole(
        [f"{asked}{after}{did}", f"That was wrong: {reason}",
         *filter(None, [_AFTER.get(tagged.behaviour)]), f"Right would have been {better}"]
    )  # fmt: skip


def _whole(sentences: Iterable[str]) -> str:
    return (". ".join(sentence.rstrip(". ") for sentence in sentences) + ".")[:MOST_CHARACTERS]


def _bad_reply(tagged: Analysis) -> str:
    proof = tagged.evidence.get("generation_error")
    kind = proof.get("kind") if isinstance(proof, Mapping) else None
    said = {
        "invalid_option": "named an option that was not offered, again and again",
        "refusal": "refused to choose, again and again",
    }.get(str(kind), "gave replies without any action that could be read")
    return (
        f"{said}. That ended the episode."
        " Right would have been one action in the form asked for, with the number of an option"
        " that is listed, or Stop"
    )


def _way(option: Option) -> str:
    words = _plain(option.description, _MOST_DESCRIPTION)
    way = _TO[option.direction]
    return f"{way}, towards “{words}”" if words else way


def _plain(text: str, most: int) -> str:
    """One line without ids and quotes, cut at a word."""
    words = " ".join(_IDS.sub("", text[:4000]).replace("“", "'").replace("”", "'").split())
    return words if len(words) <= most else words[:most].rsplit(" ", 1)[0] + " …"


def _reason(tagged: Analysis, should_stop: bool) -> str:
    causes = tagged.evidence.get("causes")
    proof = causes.get(tagged.cause) if isinstance(causes, Mapping) else None
    proof = proof if isinstance(proof, Mapping) else {}
    named = proof.get("named")
    what = ", ".join(str(name)[:40] for name in named[:3]) if isinstance(named, list) else ""
    if tagged.cause in _WHY:
        return _WHY[tagged.cause]
    if tagged.cause == "vertical" and proof.get("right") in _SLOPE:
        chosen = _SLOPE.get(str(proof.get("chosen")), "elsewhere")
        return f"the way went {_SLOPE[proof['right']]} and it went {chosen}"
    if tagged.cause == "vertical":
        return "the instruction leads to another level than the one it ended on"
    if tagged.cause == "region" and what:
        return f"the instruction speaks of a room ({what}) and that way leads elsewhere"
    if tagged.cause == "early_turn":
        again = f"what the instruction speaks of ({what})" if what else "the turn it asks for"
        return f"{again} comes later, or is another one"
    if tagged.cause == "direction" and proof.get("said") in _SAID:
        return f"the instruction says {_SAID[proof['said']]} at that point"
    if tagged.cause == "object" and what:
        return f"what the instruction speaks of ({what}) was not that way"
    return "it was at the goal" if should_stop else "the instruction leads another way"
