"""What a line of a run of NavCraft has in a table of samples, and how two runs are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from navloom.evals.report.line_columns import Cell, Column, Line, Pairing


def result_of(line: Line) -> Mapping[str, Any]:
    """What came of an attempt; empty where it gave nothing."""
    return line.get("result") or {}


def rest_of(line: Line) -> Mapping[str, Any]:
    """What is recorded beside the phases."""
    return result_of(line).get("navloom") or {}


def _of(key: str) -> Callable[[Line], Cell]:
    return lambda line: rest_of(line).get(key)


def repairs_of(rest: Mapping[str, Any]) -> int:
    """How often a choice or an answer had to be mended: what the checks sent back."""
    sent = (*rest.get("violations_mended", ()), *rest.get("relay_violations_mended", ()))
    return sum(int(count) for count in (rest.get("repairs") or {}).values()) + len(sent)


def _told(line: Line) -> str:
    """The instruction of the whole errand."""
    return str(result_of(line)["phase_1"]["Task instruction"])


MEANS: Mapping[str, tuple[str, str]] = {
    "alone": ("m", "How far robot_1 walks where it does all of it alone."),
    "alpha": ("", "robot_1's metres in the relay over those of its way alone. Less is better;"
              " at 1 or more the relay spares it nothing."),
    "gain": ("%", "1 − alpha: the part of its way that robot_1 is spared. More is better."),
    "g_rate": ("", "The time until both are done over that of robot_1 alone. Less is better; above"
               " 1 the relay takes longer."),
    "sooner": ("%", "1 − g_rate: the part of the time that is spared. Below 0 it is later."),
    "best_alone": ("", "g_rate where whichever robot stands better does all of it alone. A relay"
                   " above it is no gain in time."),
    "best_alpha": ("", "The least alpha of any relay of this task that the rules allow, robot_2"
                   " starting wherever it may."),
    "best_g_rate": ("", "The least g_rate of any such relay."),
    "regret of alpha": ("%", "alpha less the best alpha. 0 is the best there is; less is better."),
    "regret of g_rate": ("%", "How much longer it takes than the soonest relay. Less is better."),
    "regret as asked": ("%", "alpha less the best alpha of relays that are as was asked for."),
    "done after": ("s", "Until the object lies at its end, both robots walking at 1 m/s."),
    "together": ("s", "How long both robots are in one place."),
    "waits": ("s", "Which robot waits by the transfer asset, and how long."),
}  # fmt: skip
"""What a relay's numbers are: unit and words."""


def columns(run: Mapping[str, Any]) -> list[Column]:
    """What a line of a run of NavCraft, or of a dataset, has of its own.

    Args:
        run: what ``run.json`` says; of a dataset ``{}``.
    """
    relays = run.get("kind", "collab") == "collab"
    made = [
        Column(
            name="verdict",
            of=lambda line: result_of(line)["verdict"],
            form="text",
            facet=True,
            help="relay, or that none is worth it",
        ),
        Column(
            name="type",
            of=lambda line: result_of(line)["phase_2"]["Collaborative type"].removeprefix("Type-"),
            form="text",
            facet=True,
            help="A1: robot_2 fetches, robot_1 delivers. A2: the other way round",
        ),
        Column(
            name="alpha",
            of=_of("alpha"),
            form="share",
            better="less",
            help="robot_1's metres over those of its way alone",
        ),
        Column(name="gain", of=_of("gain_alpha"), form="share", better="more", help="1 − alpha"),
        Column(
            name="sooner",
            of=_of("gain_g"),
            form="share",
            better="more",
            help="1 − g_rate: what the relay spares in time; below 0 it is later",
        ),
        Column(
            name="regret",
            of=_of("regret_alpha"),
            form="share",
            better="less",
            help="alpha minus the least alpha that a guarded relay of this task has",
        ),
        Column(
            name="regret_g",
            of=_of("regret_g"),
            form="share",
            better="less",
            shown=False,
            help="g_rate over the best g_rate, minus 1",
        ),
        Column(
            name="driven",
            of=lambda line: ("no", "yes")[bool(rest_of(line)["driven"]["done"])],
            form="text",
            facet=True,
            shown=False,
            help="whether two bodies carried it out",
        ),
    ]
    return [
        *(made if relays else ()),
        Column(
            name="repairs",
            of=lambda line: repairs_of(rest_of(line)) if rest_of(line) else None,
            form="count",
            better="less",
            help="how often a choice or an answer had to be mended",
        ),
        Column(name="instruction", of=_told, form="text", help="of the whole errand"),
        Column(
            name="object",
            of=lambda line: result_of(line)["phase_1"]["Target object"],
            form="text",
            facet=True,
            help="what is to be taken",
        ),
        Column(name="onto", of=_of("end_asset"), form="text", shown=False, help="the end asset"),
        Column(name="metres", of=_of("solo_metres"), form="metres", help="robot_1's way alone"),
        Column(
            name="plausible",
            of=lambda line: rest_of(line)["worth"]["plausible"],
            form="share",
            shown=False,
            better="more",
            help="would a person ask for it: 0 to 1",
        ),
    ]


def pairing() -> Pairing:
    """Two runs over the same homes, attempt by attempt."""
    rates = ("alpha", "gain_alpha", "g_rate", "gain_g")
    regrets = ("regret_alpha", "regret_asked", "regret_g")
    effort = ("tool_calls", "model_calls", "tokens")

    def scores(line: Line) -> dict[str, float | None]:
        rest, paid = rest_of(line), line.get("usage") or {}
        task, plan = result_of(line).get("phase_1"), result_of(line).get("phase_2")
        return {
            "task": float(bool(task)),
            "relay": float(bool(plan) and line.get("status") == "ok"),
            "repairs": float(repairs_of(rest)) if rest else None,
            **{name: rest.get(name) for name in (*rates, *regrets)},
            "plausible": (rest.get("worth") or {}).get("plausible"),
            "tool_calls": rest.get("tool_calls"),
            "model_calls": paid.get("calls"),
            "tokens": sum(paid.get(f"{side}_tokens", 0) for side in ("input", "output"))
            if paid
            else None,
        }

    return Pairing(
        identity=lambda line: [line["scene"], line["attempt"], line.get("seed")],
        scores=scores,
        what="an attempt",
        less=frozenset({"repairs", "alpha", "g_rate", *regrets, *effort}),
        effort=frozenset(effort),
        counted=frozenset({"task", "relay"}),
        cluster=lambda line: line["scene"],
        cluster_name="home",
    )
