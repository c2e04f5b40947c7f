"""Generate the page of navigator switches: one walk in a demo home under every switch.

python -m tests.graphs.navigation.switches_page > docs/navigator-switches.md
"""

from __future__ import annotations

import difflib
import itertools
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.navigator import Context
from navloom.models.messages import message_text
from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.sim.agent_handle import AgentHandle
from navloom.sim.captions import captions_for
from navloom.sim.media_store import MemoryMedia
from navloom.sim.protocol import Pose
from navloom.sim.registry import get_simulator
from tests.graphs.navigation.walks import PictureSimulator
from tests.graphs.states import run

__all__ = ["page", "variants"]

SCENE, HERE, THERE, GOAL = "demo:flat", "1_0", "2_0", "5_0"
GIVEN = {
    "seed": 7,
    "instruction": "Find the bathroom and stop at the sink.",
    "start": HERE,
    "heading": 0.0,
    "goals": [GOAL],
}
SHOWN = 3
"""Index of the shown prompt, from 0: the fourth, after the walk went there and back."""

HEAD = f"""# What each switch of a navigator does

Made by `python -m tests.graphs.navigation.switches_page > docs/navigator-switches.md`; a test
compares. One walk in `{SCENE}` under every switch: from the entryway into the next room, back, into
it again, stop. The model is a script. First come our prompt and the paper's for the plain navigator
(`navgpt`), side by side and whole; of every other one, what differs from ours: the fourth step's
prompt as a diff (`-` the plain one's, `+` its own) and what changed in the final state and its step
records. What the switches mean is in [navigators](navigators.md); the prompts of all eight
variants, whole, are in [navigator prompts](navigator-prompts.md).

"""

VARIANTS_HEAD = f"""# The prompts of the eight variants

Made by `python -m tests.graphs.navigation.switches_page variants > docs/navigator-prompts.md`; a
test compares. NavGPT and MapGPT, each plain, with chain of thought, with reflection and with both
(VLN-MME D), at the fourth step of one walk in `{SCENE}`: ours (`--prompts navloom`) and the paper's
(`--prompts paper`), its inputs, rules and formats, in our sentences. The home has no pictures.
"""


@dataclass(frozen=True)
class Switch:
    """One row of the page: the settings, and the changes to the script."""

    title: str
    note: str
    settings: dict[str, Any] = field(default_factory=dict)
    last: tuple[Any, ...] = ("Action: Stop. I have arrived.",)
    """The replies at the fourth step."""
    third: str = ""
    """Text of the third reply before its action."""
    tool: bool = False
    way: tuple[str, str, str] = (THERE, HERE, THERE)
    """Viewpoints that the first three steps lead to."""


THOUGHT = """<Reasoning>
1. Progress estimate: the entryway is done.
2. Further analysis: no tap is in sight.
3. Prediction: look into the next room.
</Reasoning>
"""
_PLAN = "<Plan>1. The other door of the entryway. 2. Look for a tap.</Plan>\n"
_REFLECTION = "<Reflection>It is not the bathroom.</Reflection>\nFinal Decision: {}"
SWITCHES = (
    Switch(
        "memory=map (`--agent mapgpt`)",
        "A map in words that grows with each place (VLN-MME D.5), with MapGPT's plan and the places"
        " seen on the way and out of reach.",
        {"memory": "map"},
        third=_PLAN,
    ),
    Switch(
        "cot (`--cot`)",
        "Reasoning before the action in three parts (D.4, D.7); in our prompt the history then"
        " keeps what was thought before each move, as NavGPT's scratchpad does (`--scratchpad`).",
        {"cot": True},
        (f"{THOUGHT}Action: Stop. I have arrived.",),
        third=THOUGHT,
    ),
    Switch(
        "jump (`--jump`)",
        "Places that it has stood on and is no longer next to are options, too, and it walks back"
        " to them (NavGPT). This walk goes on through the room instead of to and fro, and then back"
        " to the start.",
        {"jump": True},
        ("Action: 5. back to where you started", "Action: Stop. I have arrived."),
        way=(THERE, "2_5", "2_1"),
    ),
    Switch(
        "reflect (`--reflect`)",
        "A reflection after the action; one that says revise asks once more (D.4).",
        {"reflect": True},
        (
            "Action: Stop.\n" + _REFLECTION.format("revise"),
            "Action: Stop.\n" + _REFLECTION.format("keep"),
        ),
    ),
    Switch(
        "plan (`--plan`, with a map on unless `--no-plan` is given)",
        "The navigator's own plan, carried from step to step (MapGPT).",
        {"plan": True},
        third=_PLAN,
    ),
    Switch(
        "blank_options (`--blank-options`)",
        "Without the words of options and of moves made: what they are worth.",
        {"blank_options": True},
    ),
    Switch(
        "act=tool (`--act tool`)",
        "The same choice as a tool call; the numbers offered are enumerated in its schema.",
        {"act": "tool"},
        tool=True,
    ),
    Switch(
        "dialogue (`--dialogue`)",
        "One option more, Ask; the dialogue oracle answers without naming places (VLNVerse 5.4).",
        {"dialogue": True, "oracle_model": "builtin/heuristic"},
        ("Action: Ask: Which way is the bathroom?", "Action: Stop. I have arrived."),
    ),
    Switch(
        "oracle=assistant (`--oracle assistant`)",
        "It speaks where the agent struggles, here in a room off the way, twice, or would stop too"
        " early (VLN-MME 4.4); once a place.",
        {"oracle": "assistant", "oracle_model": "builtin/heuristic"},
    ),
    Switch(
        "oracle=assistant, oracle_knows=path (`--oracle assistant --oracle-knows path`)",
        "The same, of an oracle whose model is also given the shortest way.",
        {"oracle": "assistant", "oracle_model": "builtin/heuristic", "oracle_knows": "path"},
    ),
    Switch(
        "oracle=bound (`--oracle bound`, `--agent shortest-path`)",
        "It names the option that the shortest path takes, at every step: the upper bound.",
        {"oracle": "bound"},
    ),
    Switch(
        "failures (`--few-shot-failures 1`)",
        "Accounts of walks that failed, in the system prompt.",
        {"failures": ("It went to and fro between two rooms and never looked for a third.",)},
    ),
    Switch(
        "views=4, with a simulator that has pictures",
        "A strip of four views goes with the prompt; the state holds its name.",
        {"views": 4, "media": MemoryMedia()},
    ),
    Switch(
        "a reply without an action",
        "No switch: what is told back, at most `max_reasks` times.",
        {},
        ("I would stop here.", "Action: 99", "Action: Stop. I have arrived."),
    ),
)


def page() -> str:
    """Return the whole page."""
    base, shown = _walk(Switch("plain", ""))
    _, paper = _walk(Switch("paper", "", {"prompts": "paper"}))
    parts = [HEAD, "## The plain navigator (`--agent navgpt`)\n\n", _beside(shown, paper)]
    parts += ["\nThe final state, long values cut:\n\n", _fenced("\n".join(_state(base)))]
    for switch in SWITCHES:
        parts.append(_section(switch, base, shown))
    return "".join(parts)


def _beside(ours: Sequence[BaseMessage], paper: Sequence[BaseMessage]) -> str:
    """Return the two messages of our prompt and the paper's as the columns of a table."""
    rows = ["<tr><th><code>--prompts navloom</code></th><th><code>--prompts paper</code></th></tr>"]
    for pair in zip(ours[:2], paper[:2], strict=True):
        cells = (f"<td>\n\n{_fenced(_text(message))}\n</td>" for message in pair)
        rows.append(f'<tr valign="top">{"".join(cells)}</tr>')
    return "\n".join(["<table>", *rows, "</table>", ""])


def variants() -> str:
    """Return the prompts of the paper's eight variants: docs/navigator-prompts.md."""
    parts = [VARIANTS_HEAD]
    for memory, cot, reflect in itertools.product(("history", "map"), (False, True), (False, True)):
        agent = "mapgpt" if memory == "map" else "navgpt"
        flags = [flag for flag, on in (("--cot", cot), ("--reflect", reflect)) if on]
        settings = {"memory": memory, "cot": cot, "reflect": reflect}
        third = (THOUGHT if cot else "") + (_PLAN if memory == "map" else "")
        last = THOUGHT + "Action: Stop." if cot else "Action: Stop."
        last += f"\n{_REFLECTION.format('keep')}" if reflect else ""
        parts.append(f"\n## `{' '.join(['--agent', agent, *flags])}`\n")
        for prompts in ("navloom", "paper"):
            switch = Switch("", "", {**settings, "prompts": prompts}, (last,), third)
            for message in _walk(switch)[1][:2]:
                parts.append(f"\n`--prompts {prompts}`, {message.type} message:\n\n")
                parts.append(_fenced(_text(message)))
    return "".join(parts)


def _section(switch: Switch, base: Mapping[str, Any], plain: Sequence[BaseMessage]) -> str:
    state, messages = _walk(switch)
    texts = [_text(message) for message in messages[:2]]
    before = [_text(message) for message in plain[:2]]
    lines = [f"\n## {switch.title}\n\n{switch.note}\n"]
    for name, old, new in zip(("System prompt", "Human message"), before, texts, strict=True):
        changed = _diff(old, new)
        if changed:
            lines.append(f"\n{name}:\n\n{_fenced(changed, 'diff')}")
    more = [f"[{message.type}] {_text(message)}" for message in messages[2:]]
    if more:
        lines.append(f"\nWhat followed in this step:\n\n{_fenced(chr(10).join(more))}")
    changed = _diff("\n".join(_state(base)), "\n".join(_state(state)))
    lines.append(
        f"\nState:\n\n{_fenced(changed, 'diff')}" if changed else "\nThe state is the same.\n"
    )
    return "".join(lines)


def _walk(switch: Switch) -> tuple[dict[str, Any], list[BaseMessage]]:
    scene = load_scene(SCENE)
    stands = (HERE, *switch.way)
    by_lot = switch.settings.get("prompts") != "paper"
    numbers = [_number(scene, *pair, by_lot) for pair in itertools.pairwise(stands)]
    moves: list[Any] = [f"Action: {n}." for n in numbers]
    moves[2] = switch.third + moves[2]
    last: list[Any] = list(switch.last)
    if switch.tool:
        moves = [{"name": "move", "args": {"option": n}} for n in numbers]
        last = [{"name": "stop", "args": {}}]
    settings = {"scene": scene, "simulator": "graph", **switch.settings}
    if "media" in settings:
        settings["simulator"] = PictureSimulator(scene, captions_for(scene))
    with ScriptedChatModel([*moves, *last]) as model:
        state = run(navigator.graph, GIVEN, context=Context(model=model, **settings))
    # After a question its answer is in the next prompt.
    again = "dialogue" in switch.settings
    longest = model.calls[SHOWN if "jump" in switch.settings else SHOWN + again].messages
    longest = longest if again or "jump" in switch.settings else model.calls[-1].messages
    return state, [*longest, *([] if len(longest) == 2 else [AIMessage(_said(last[-1]))])]


def _said(reply: Any) -> str:
    return reply if isinstance(reply, str) else json.dumps(reply)


def _number(scene: Scene, start: str, end: str, by_lot: bool) -> int:
    """Return the option number of a step from one viewpoint to another."""
    place = scene.viewpoint_by_id[start]
    walker = AgentHandle(get_simulator("graph", scene), "navigator", by_lot=by_lot)
    seen = walker.start(Pose(place.position, 0.0, 0.0, start), GIVEN["seed"])
    return [way.viewpoint for way in seen.candidates].index(end) + 1


def _text(message: BaseMessage) -> str:
    text = message_text(message.content)
    pictures = [b for b in message.content if isinstance(b, dict) and b.get("type") == "image"]
    if pictures and not isinstance(message, SystemMessage):
        text += f"\n[and {len(pictures)} picture, {pictures[0]['mime_type']}]"
    return text


def _state(state: Mapping[str, Any]) -> list[str]:
    """Return one line per key of the state and of each step, without long shared values."""
    left_out = {"messages", "usage", "draft", "result", "steps", *GIVEN}
    lines = [f"{key}: {_short(state[key])}" for key in sorted(state) if key not in left_out]
    for step in state["steps"]:
        skipped = ("options", "heading")
        lines += [
            f"step {step['step']} {key}: {_short(value)}"
            for key, value in step.items()
            if key not in skipped and value not in (None, [], 0, "")
        ]
    lines.append(f"result counts: {_short(state['result']['counts'])}")
    return lines


def _short(value: Any) -> str:
    # What a picture hashes to depends on the fonts and the libraries of a machine.
    text = re.sub(r"[0-9a-f]{64}", "<sha256>", json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 240 else f"{text[:200]} ... ({len(text)} characters)"


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def _fenced(text: str, kind: str = "text") -> str:
    return f"```{kind}\n{text}\n```\n"


if __name__ == "__main__":
    print(variants() if sys.argv[1:] == ["variants"] else page(), end="")
