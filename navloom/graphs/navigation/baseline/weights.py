"""How loudly each reason speaks that a rule-based navigator decides by.

The numbers were found by fitting choices and by search on four of the eleven scans of R2R's unseen
validation split (2azQ1b91cZZ, QUCTc6BB5sX, Z6MFQCViBuw, x8F5xyUWy9e), since R2R's training split is
not among the data; ``new_room`` and the scores of exact descriptions on our demo homes and HM3D's.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Weights"]


@dataclass(frozen=True)
class Weights:
    """Weights of a log-linear score; a pair holds the first step's and the later ones'.

    Attributes:
        turn: a way lies where the clause in hand turns to.
        ahead: a way goes straight on, where no clause turns.
        likes: a description speaks of what the clause in hand does.
        next_likes: the same of the clause after it.
        side_likes: the same of the caption on its side.
        leaves: a description speaks of what the clause in hand leaves.
        way_out: it speaks of a door or hallway while the clause in hand leaves something.
        climbs: it goes up or down as the clause in hand does.
        climbs_next: the same of the clause after it.
        wrong_climb: it goes the other way.
        stairs: it climbs, and the instruction speaks of stairs somewhere.
        counts: each word it shares with the instruction.
        passage: it speaks of a way through.
        goal: it speaks of the end of the instruction.
        end_likes: all is done, and it or its side speaks of the end of the instruction.
        visited: the map calls it visited.
        seen: the map knew it before this place: it lies beside the way, not on.
        back: it goes back, where there is no map.
        advised_turn: it lies where an oracle says.
        advised_words: it speaks of what an oracle says.
        advised_climb: it climbs as an oracle says.
        step_words: a step made fits a clause by words, for how far along one is.
        step_turn: the same by its turn.
        step_climb: the same by its stairs.
        stay: how likely a clause lasts longer than one step.
        skip: how likely a clause is passed over.
        most_stay: the most that ``stay`` can become where a step does not fit.
        eager: how much a step that fits ends its clause.
        new_room: it leads into another room while the end is not in this one.
        detour: each hop that a visited way is from the next unvisited place.
        hops: steps after which stopping gets likely; R2R's paths have four to six.
        stop: for stopping, whatever is seen.
        stop_late: each step over ``hops``.
        stop_done: all clauses are likely done.
        stop_place: what is around fits the end of the instruction.
        stop_near: what the place is, and what is within reach, fits it.
        stop_ahead: the best way on fits it.
    """

    turn: tuple[float, float] = (1.3, 2.6)
    ahead: tuple[float, float] = (0.0, 1.0)
    likes: tuple[float, float] = (0.5, 0.2)
    next_likes: tuple[float, float] = (0.7, 1.0)
    side_likes: tuple[float, float] = (1.8, 1.0)
    leaves: tuple[float, float] = (1.3, 0.3)
    way_out: tuple[float, float] = (0.9, 1.0)
    climbs: tuple[float, float] = (3.5, 2.5)
    climbs_next: tuple[float, float] = (0.3, 1.1)
    wrong_climb: tuple[float, float] = (1.1, 0.5)
    stairs: tuple[float, float] = (1.4, 2.0)
    counts: tuple[float, float] = (0.6, 0.6)
    passage: tuple[float, float] = (0.4, 0.5)
    goal: tuple[float, float] = (0.0, 0.5)
    end_likes: float = 2.0
    visited: float = 5.0
    seen: float = 2.5
    back: float = 2.7
    advised_turn: float = 8.0
    advised_words: float = 6.0
    advised_climb: float = 4.0
    step_words: float = 3.0
    step_turn: float = 1.5
    step_climb: float = 2.6
    stay: float = 0.35
    skip: float = 0.15
    most_stay: float = 0.8
    eager: float = 0.3
    new_room: float = 0.7
    detour: float = 0.7
    hops: float = 5.3
    stop: float = -0.5
    stop_late: float = 2.0
    stop_done: float = 1.8
    stop_place: float = 1.1
    stop_near: float = 1.0
    stop_ahead: float = 0.5


DEFAULT = Weights()
