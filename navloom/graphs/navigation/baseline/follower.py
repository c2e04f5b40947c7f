"""Rule-based instruction follower: scores each option, and stopping, against the instruction.

Its only input is the prompt's text (`prompt_parser`). It estimates its progress from the history: a
filter over the clauses, like a hidden Markov model's, in which a step fits a clause by its turn,
stairs and description. Each option is scored by the likely current clauses, by its description and
the caption on its side, and by the map's marks for visited and seen places. Stopping is scored by
the completed clauses, the surroundings, and the number of steps. Advice of an oracle counts while
it is fresh.

The weights were fitted on R2R's train split, on twelve of its scans, by a program of the tests
(``tests.graphs.navigation.tuning``). ``TUNED`` knows that R2R's paths have four to six hops,
``NO_LENGTH`` does not. *Exact* descriptions are generated from scene data, not from images. For
these there are ``EXACT`` and scores of their own, fitted on our demo homes, HM3D's and R2R's
earlier captions; no walk on R2R's captions uses them. The three weights for an oracle's advice were
set by hand.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from navloom.files import package_yaml
from navloom.graphs.navigation.baseline.instruction_parser import (
    InstructionClause,
    ParsedInstruction,
    match_score,
    parse_instruction,
    shared_weight,
    word_set,
)
from navloom.graphs.navigation.baseline.prompt_parser import PromptOption, PromptView, strip_link


@dataclass(frozen=True)
class FollowerWeights:
    """Weights of a log-linear score; a pair holds the first step's and the later ones'.

    Attributes:
        turn: an option lies where the current clause turns to.
        ahead: an option goes straight on, where no clause turns.
        likes: a description matches the current clause.
        next_likes: it matches the clause after it.
        side_likes: the caption on its side matches the current clause.
        leaves: a description matches what the current clause leaves.
        way_out: it mentions a door or hallway while the current clause leaves something.
        climbs: it goes up or down as the current clause does.
        climbs_next: it goes up or down as the clause after it does.
        wrong_climb: it climbs in the opposite direction.
        stairs: it climbs, and the instruction mentions stairs somewhere.
        counts: each word it shares with the instruction.
        passage: it mentions a passage.
        goal: it matches the end of the instruction.
        end_likes: all clauses are done, and it or its side matches the end of the instruction.
        visited: the map marks it visited.
        seen: the map knew it before this place: it lies beside the path, not on it.
        back: it goes back, where there is no map.
        advised_turn: it lies in the direction of the oracle's advice.
        advised_words: it matches the words of the advice.
        advised_climb: it climbs as advised.
        step_words: a past step matches a clause by words, for the progress estimate.
        step_turn: a past step matches a clause by its turn.
        step_climb: a past step matches a clause by its stairs.
        stay: probability that a clause lasts longer than one step.
        skip: probability that a clause is skipped.
        most_stay: the most that ``stay`` can become where a step does not fit.
        eager: how much a step that fits ends its clause.
        new_room: it leads into another room while the end is not in this one.
        detour: each hop from a visited option to the next unvisited place.
        hops: steps after which stopping becomes likely; R2R's paths have four to six.
        stop: for stopping, whatever is seen.
        stop_late: each step over ``hops``.
        stop_done: all clauses are likely done.
        stop_place: the surroundings match the end of the instruction.
        stop_near: the place and objects within reach match it.
        stop_ahead: the best option matches it.
    """

    turn: tuple[float, float] = (1.26, 2.81)
    ahead: tuple[float, float] = (0.33, 2.36)
    likes: tuple[float, float] = (1.01, 0.34)
    next_likes: tuple[float, float] = (0.98, 1.07)
    side_likes: tuple[float, float] = (1.38, 1.12)
    leaves: tuple[float, float] = (1.48, 0.13)
    way_out: tuple[float, float] = (1.33, 1.37)
    climbs: tuple[float, float] = (3.49, 3.43)
    climbs_next: tuple[float, float] = (1.24, 1.39)
    wrong_climb: tuple[float, float] = (1.8, 1.0)
    stairs: tuple[float, float] = (0.0, 0.87)
    counts: tuple[float, float] = (0.24, 0.32)
    passage: tuple[float, float] = (0.46, 0.18)
    goal: tuple[float, float] = (0.0, 0.52)
    end_likes: float = 0.82
    visited: float = 5.0
    seen: float = 2.5
    back: float = 2.28
    advised_turn: float = 8.0
    advised_words: float = 6.0
    advised_climb: float = 4.0
    step_words: float = 1.47
    step_turn: float = 2.1
    step_climb: float = 3.64
    stay: float = 0.49
    skip: float = 0.105
    most_stay: float = 0.392
    eager: float = 0.3
    new_room: float = 0.7
    detour: float = 0.7
    hops: float = 5.3
    stop: float = -0.35
    stop_late: float = 2.0
    stop_done: float = 1.26
    stop_place: float = 1.1
    stop_near: float = 1.0
    stop_ahead: float = 0.35


def _weights(name: str) -> FollowerWeights:
    given = package_yaml("navloom.graphs.navigation.baseline", "weights.yaml")[name]
    made: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return FollowerWeights(**made)


TUNED, NO_LENGTH, EXACT = FollowerWeights(), _weights("no_length"), _weights("exact")
"""``EXACT`` is for descriptions generated from scene data (`PromptView.exact`)."""


_ARRIVED = re.compile(r"\byou(?: have|'ve| are|'re)? (?:arrived|there\b|at the goal)|\bstop here\b")
_NOT_YET = re.compile(
    r"\bnot yet\b|\bhave not arrived\b|\bhaven't arrived\b|\bdo(?: not|n't) stop\b"
)
_STALE = re.compile(r"\(said \d{1,4} moves? ago\)$")
_SENTENCE = re.compile(r"[.;!?](?:\s|$)")


@dataclass(frozen=True, slots=True)
class OracleAdvice:
    """An oracle's advice, given at the current place.

    Attributes:
        fresh: whether there is any that was given here.
        arrived: whether it says that this is the goal; None where it does not say.
        turn: Left, Front, Right or Back; None where it names no direction.
        climb: "up" or "down" where it says so.
        words: the words to walk towards, in plain form.
    """

    fresh: bool = False
    arrived: bool | None = None
    turn: str | None = None
    climb: str | None = None
    words: frozenset[str] = frozenset()


NOTHING = OracleAdvice()


def read_advice(view: PromptView) -> OracleAdvice:
    """Return the newest advice if it was given at this place: directions expire with a move."""
    answers = [answer for question, answer in view.told if not _STALE.search(question.rstrip())]
    if answers:
        return _read(answers[-1])
    said = view.guidance.rstrip()
    return _read(said) if said and not _STALE.search(said) else NOTHING


def _read(text: str) -> OracleAdvice:
    said = text.casefold()
    not_yet = _NOT_YET.search(said) is not None
    arrived = not not_yet and _ARRIVED.search(said) is not None
    way = next((p for p in _SENTENCE.split(said) if parse_instruction(p).clauses[0].turn), said)
    first = parse_instruction(way).clauses[0]
    climb = "up" if ", up" in way else "down" if ", down" in way else first.climb
    return OracleAdvice(
        fresh=True,
        arrived=True if arrived else False if not_yet or first.turn else None,
        turn=first.turn,
        climb=climb,
        words=parse_instruction(way).words,
    )


_ANGLE = {"Front": 0.0, "Right": math.pi / 2, "Back": math.pi, "Left": -math.pi / 2}
_PASSAGES = frozenset({"door", "hallway", "arch", "entrance"})
_WAYS_OUT = frozenset({"door", "hallway"})
_NEGLIGIBLE = 0.02


class _OptionFeatures(NamedTuple):
    """An option: its words, those of the caption on its side, and its climb."""

    choice: PromptOption
    words: frozenset[str]
    side: frozenset[str]
    climb: str | None


class Follower:
    """One decision: an instruction matched with a view."""

    def __init__(self, view: PromptView, weights: FollowerWeights = TUNED) -> None:
        self.view = view
        self.route: ParsedInstruction = parse_instruction(view.instruction)
        self.weights = EXACT if view.exact else weights
        self.advice: OracleAdvice = read_advice(view)
        self.steps = len(view.past)
        self._later = 1 if view.past else 0

    @cached_property
    def hand(self) -> list[float]:
        """Probability that each clause is the current one; the last entry: all are done."""
        w, clauses = self.weights, self.route.clauses
        last = len(clauses)
        now = [0.0] * (last + 1)
        now[0] = 1 - w.skip
        now[min(last, 1)] += w.skip
        for past in self.view.past:
            words, climbed = word_set(strip_link(past.text)), climb_direction(past.text)
            fits = [self._fit(c, words, past.turned, climbed) for c in clauses]
            now = self._moved(
                [p * math.exp(f) for p, f in zip(now, [*fits, 0.0], strict=True)], fits
            )
        return now

    def _moved(self, weighed: list[float], fits: list[float]) -> list[float]:
        """Return the probabilities one step later: a clause lasts, ends, or ends with the next."""
        w, last, total = self.weights, len(fits), sum(weighed) or 1.0
        moved = [0.0] * len(weighed)
        for k, p in enumerate(weighed):
            stay = min(w.stay * math.exp(-w.eager * (fits[k] if k < last else 0.0)), w.most_stay)
            moved[k] += p / total * stay
            moved[min(last, k + 1)] += p / total * (1 - stay - w.skip)
            moved[min(last, k + 2)] += p / total * w.skip
        return moved

    def _fit(
        self, clause: InstructionClause, words: frozenset[str], turned: float, climbed: str | None
    ) -> float:
        w = self.weights
        fit = match_score(clause.words, words) * w.step_words
        fit = -fit if clause.leaves else fit
        if clause.turn:
            fit += w.step_turn * clause.sure * math.cos(turned - _ANGLE[clause.turn])
        if clause.climb and climbed:
            fit += w.step_climb if clause.climb == climbed else -w.step_climb
        return fit

    def _ends(self, words: frozenset[str]) -> float:
        """Return how well words match the end of the instruction."""
        return max(match_score(goal, words) for goal in self.route.goals)

    @cached_property
    def ranked(self) -> list[tuple[float, PromptOption]]:
        """The options, best first, each with its score."""
        scored = [(self.score(choice), choice) for choice in self.view.choices]
        return sorted(scored, key=lambda pair: (-pair[0], pair[1].id))

    def score(self, choice: PromptOption) -> float:
        """Return an option's score."""
        w, k, words = self.weights, self._later, choice.words
        way = _OptionFeatures(
            choice,
            words,
            word_set(self.view.sides.get(choice.side, "")),
            climb_direction(choice.text),
        )
        score = w.counts[k] * shared_weight(words, self.route.words) + w.goal[k] * self._ends(words)
        score += w.passage[k] * (not words.isdisjoint(_PASSAGES))
        if self.view.exact and choice.text.startswith("leads "):
            score += w.new_room * (1 - self._ends(self.view.reach))
        return score + self._by_clauses(way) + self._advised(way) - self._again(choice)

    def _by_clauses(self, way: _OptionFeatures) -> float:
        """Return an option's score for the clauses that are likely current."""
        w, k, clauses = self.weights, self._later, self.route.clauses
        score = turned = climbing = 0.0
        for i, p in enumerate(self.hand[:-1]):
            if p < _NEGLIGIBLE:
                continue
            clause = clauses[i]
            score += p * self._by_clause(clause, way)
            if i + 1 < len(clauses):
                score += p * self._by_next(clauses[i + 1], way)
            turned += p * clause.sure * (clause.turn is not None)
            climbing += p * (clause.climb is not None and clause.climb == way.climb)
        # After the last clause, its words still attract, but its turn no longer counts.
        ends = max(match_score(g, way.words) + match_score(g, way.side) for g in self.route.goals)
        score += w.end_likes * self.hand[-1] * ends
        score += w.ahead[k] * (1 - turned) * math.cos(way.choice.angle)
        if way.climb and "stairs" in self.route.words:
            score += w.stairs[k] * (1 - climbing)
        return score

    def _by_clause(self, clause: InstructionClause, way: _OptionFeatures) -> float:
        w, k = self.weights, self._later
        if clause.leaves:
            score = w.way_out[k] * (not way.words.isdisjoint(_WAYS_OUT))
            score -= w.leaves[k] * match_score(clause.words, way.words)
        else:
            score = w.side_likes[k] * match_score(clause.words, way.side)
            score += w.likes[k] * match_score(clause.words, way.words)
        if clause.turn:
            score += w.turn[k] * clause.sure * math.cos(way.choice.angle - _ANGLE[clause.turn])
        if clause.climb and way.climb:
            score += w.climbs[k] if way.climb == clause.climb else -w.wrong_climb[k]
        return score

    def _by_next(self, clause: InstructionClause, way: _OptionFeatures) -> float:
        w, k = self.weights, self._later
        score = 0.0 if clause.leaves else w.next_likes[k] * match_score(clause.words, way.words)
        return score + (w.climbs_next[k] if way.climb and clause.climb == way.climb else 0.0)

    def _advised(self, way: _OptionFeatures) -> float:
        advice, w = self.advice, self.weights
        score = w.advised_words * match_score(advice.words, way.words)
        if advice.turn:
            score += w.advised_turn * math.cos(way.choice.angle - _ANGLE[advice.turn])
        if advice.climb and way.climb:
            score += w.advised_climb if way.climb == advice.climb else -w.advised_climb
        return score

    @property
    def at(self) -> int:
        """Index of the most likely current clause; the number of clauses if all are done."""
        return max(range(len(self.hand)), key=self.hand.__getitem__)

    @property
    def arrived(self) -> bool:
        """True if the navigator should stop here."""
        if self.advice.arrived is not None:
            return self.advice.arrived
        return self.steps > 0 and self.stopping > 0

    def reason(self, choice: PromptOption) -> str:
        """Return a sentence on what supports an option."""
        clauses, k = self.route.clauses, self.at
        shared = sorted(choice.words & self.route.words)
        done = f"About {min(k, len(clauses))} of {len(clauses)} parts of the instruction are done."
        why = f"it speaks of {', '.join(shared[:5])}" if shared else "it fits the direction best"
        return f"{done} Option {choice.id} lies to the {choice.side}; {why}."

    def _again(self, choice: PromptOption) -> float:
        w = self.weights
        if choice.visited:
            return w.visited + w.detour * min(self._hops_to_new.get(choice.node or "", 9), 9)
        back = w.back if choice.side == "Back" and self._later else 0.0
        return max(back, w.seen) if choice.node in self._seen_before else back

    @cached_property
    def _hops_to_new(self) -> dict[str, int]:
        """Hops from each map node to the nearest unvisited one, without returning here."""
        links, hops = self.view.links, dict[str, int]()
        edge = [n for to in links.values() for n in to if n not in links]
        found, far = set(edge), 0
        while edge:
            hops.update(dict.fromkeys(edge, far))
            far += 1
            around = [v for v, to in links.items() if not found.isdisjoint(to) and v not in hops]
            edge = [v for v in around if v != self.view.node]
            found = set(edge)
        return hops

    @cached_property
    def _seen_before(self) -> frozenset[str]:
        view = self.view
        return frozenset(n for v, next_to in view.links.items() if v != view.node for n in next_to)

    @cached_property
    def stopping(self) -> float:
        """Score of stopping here; above 0 means stop."""
        return self._stopping_exactly() if self.view.exact else self._stopping_vaguely()

    def _stopping_exactly(self) -> float:
        """Score stopping where names are exact: the end must be here, except after many steps."""
        ready = 1.0 if len(self.route.clauses) < 2 else sum(self.hand[-3:])
        return 4 * self._ends(self.view.reach) + 2 * ready - 5 + 0.3 * max(0, self.steps - 12)

    def _stopping_vaguely(self) -> float:
        w, view = self.weights, self.view
        done = sum(self.hand[-2:]) if len(self.hand) > 2 else self.hand[-1]
        ahead = self._ends(self.ranked[0][1].words) if self.ranked else 0.0
        return (
            w.stop
            + w.stop_late * (self.steps - w.hops)
            + w.stop_done * done
            + w.stop_place * self._ends(view.around)
            + w.stop_near * self._ends(view.here)
            - w.stop_ahead * ahead
        )


def climb_direction(text: str) -> str | None:
    """Return "up" or "down" where a description says that the option climbs, else None."""
    for way in ("up", "down"):
        if any(f"{verb} {way}" in text for verb in ("goes", "leads", "stairs")):
            return way
    return None
