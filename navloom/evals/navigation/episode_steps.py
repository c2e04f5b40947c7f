"""What is shown of one step of an episode: its options, the reply, what was said and done."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from navloom.evals.navigation.shown_episodes import Note, action_of, notes_of
from navloom.evals.report.blocks import Block, Fact, Facts, Grid, MapOption, Prose, Said, Transcript
from navloom.evals.report.document import NOTHING, Table
from navloom.evals.report.maps import spots_of
from navloom.scenes.distances import up_or_down
from navloom.scenes.scene import Scene
from navloom.tools.navigation.options import Option, bearing
from navloom.tools.navigation.steps import Step


def map_options(scene: Scene | None, step: Step, right: str | None) -> Iterator[MapOption]:
    """The ways on at a step, on the plan."""
    for option in step.options if scene is not None else ():
        for spot in spots_of(scene, [option.viewpoint]) if scene is not None else ():
            yield MapOption(
                number=str(option.id),
                at=spot,
                chosen=option.viewpoint == step.goes_to,
                right=option.viewpoint == right,
            )


def step_blocks(step: Step, right: str | None, of: str = "") -> tuple[Block, ...]:
    """What is shown of a step beside the map.

    Args:
        step: the step.
        right: the viewpoint that the right way goes to, where it is left here.
        of: whose step, where two are seen at once: " of A".
    """
    blocks: list[Block] = [Facts(facts=tuple(_action(step)))]
    if step.options:
        blocks.append(_options(step, right, of))
    if step.reply:
        blocks.append(Prose(title="Reply", text=step.reply, exact=True, private=True))
    notes = list(notes_of(step, whole=True))
    if step.plan:
        notes.append(Note("plan", step.plan))
    if notes:
        blocks.append(transcript(notes))
    return tuple(blocks)


def transcript(notes: Sequence[Note]) -> Transcript:
    """What was said, as a transcript."""
    said = tuple(
        Said(who=note.who, text=note.words, tone="bad" if note.bad else "plain") for note in notes
    )
    return Transcript(title="Said", said=said, private=True)


def _action(step: Step) -> Iterator[Fact]:
    chosen = next((o for o in step.options if o.id == step.action.option), None)
    if step.action.kind != "move" or chosen is None:
        yield Fact(name="action", value=action_of(step))
    else:
        yield Fact(name="action", value=f"{action_of(step)}: {_turned(chosen)}")
    if step.viewpoint is not None:
        yield Fact(name="stands on", value=step.viewpoint)
    if step.heading is not None:
        yield Fact(name="looks", value=f"{math.degrees(step.heading):.0f}° from -z, clockwise")
    if step.bumped:
        yield Fact(name="bumped into", value=step.bumped, tone="bad")


def _turned(option: Option) -> str:
    """A hop as turn and metres."""
    if option.turn is None or option.distance is None:
        return "a jump back" if option.hops > 1 else "its way is not known"
    way = up_or_down(option.elevation)
    slope = f", {abs(math.degrees(option.elevation)):.0f}° {way}" if way else ""
    jump = f", {option.hops} hops" if option.hops > 1 else ""
    return (
        f"{bearing(option.turn)} ({math.degrees(option.turn):+.1f}°),"
        f" {option.distance:.2f} m{slope}{jump}"
    )


def _options(step: Step, right: str | None, of: str) -> Grid:
    rows = tuple(
        (
            str(option.id),
            ", ".join(
                word
                for word, is_so in (
                    ("chosen", option.viewpoint == step.goes_to),
                    ("right way", option.viewpoint == right),
                )
                if is_so
            ),
            option.direction,
            NOTHING if option.turn is None else f"{math.degrees(option.turn):+.0f}°",
            NOTHING if option.distance is None else f"{option.distance:.2f}",
            option.description,
        )
        for option in step.options
    )
    head = ("option", "which", "where", "turn", "metres", "what lies there")
    return Grid(table=Table(f"Options{of}", "", head, rows), private=True)
