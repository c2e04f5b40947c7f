"""The options of ``navloom eval`` and of the studies that evaluate: each stands here once.

A sub-command's signature is made of parts (its own options, and the sets below), since typer reads
options from signatures and five commands share thirty of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from navloom.cli.common import (
    DryRunOption,
    JsonOption,
    OutOption,
    OutOrDefaultOption,
    SeedOption,
    SpecArgument,
)
from navloom.cli.session import PICKS, ModelRoleOption, with_session

if TYPE_CHECKING:
    from navloom.evals.session import Session

__all__ = [
    "AGENT",
    "GOALS",
    "HELP",
    "HEURISTIC",
    "LAST",
    "LIMITS",
    "LONG_LIMITS",
    "OBJECTS",
    "ONE_RUN",
    "OUT",
    "OUT_OR_DEFAULT",
    "SCENES",
    "SOURCE",
    "TASK",
    "Options",
    "with_options",
]

HEURISTIC = "builtin/heuristic"
STEPS, LONG_STEPS = 15, 30
"""The field's limit on R2R's graphs; in homes of ours a hop is shorter, and a way has up to 20."""
_TASK, _AGENT, _ORACLE = "The task", "The agent", "Help on the way"


def _option(panel: str, flag: str, words: str, **more: Any) -> Any:
    """An option with the environment variable of its flag."""
    name = flag.split("/")[0].lstrip("-").upper().replace("-", "_")
    return typer.Option(flag, envvar=f"NAVLOOM_{name}", help=words, rich_help_panel=panel, **more)


_A_DATA = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        show_default="$NAVLOOM_DATA/mp3d",
        help="The dataset's folder, laid out as docs/real-data.md says.",
        rich_help_panel=_TASK,
    ),
]
_A_SPLIT = Annotated[
    str | None,
    _option(_TASK, "--split", "Which part of the dataset.", show_default="val_unseen"),
]
_A_SUBSET = Annotated[
    Path | None,
    _option(
        _TASK, "--subset", "Only the episodes of this index, as `navloom subset` writes it.",
        metavar="FILE",
    ),
]  # fmt: skip
_A_CAPTIONS = Annotated[
    Path | None,
    _option(
        _TASK,
        "--captions",
        "A run of `navloom caption`, or a file of it: its captions go before the dataset's.",
        metavar="RUN",
    ),
]  # fmt: skip
_A_BACKEND = Annotated[
    str, _option(_TASK, "--backend", "The simulator; graph has captions and no pictures.")
]
_A_EPOCHS = Annotated[
    int, _option(_TASK, "--epochs", "Try each episode so often; ids end in -e1, -e2, ...", min=1)
]
_AN_AGENT = Annotated[
    str,
    _option(
        _AGENT,
        "--agent",
        "navgpt (text history) or mapgpt (topological map) with --model; heuristic, random,"
        " shortest-path and human bring their own.",
    ),
]
_A_MODEL = Annotated[
    str | None,
    _option(
        _AGENT, "--model", "The model that navigates; see `navloom models`.",
        metavar="PROVIDER/NAME", show_default=HEURISTIC,
    ),
]  # fmt: skip
_COT = Annotated[bool, _option(_AGENT, "--cot", "Ask for reasoning before the action.")]
_REFLECT = Annotated[
    bool, _option(_AGENT, "--reflect", "Let the agent look at its action again and revise it once.")
]
_PLAN = Annotated[
    bool, _option(_AGENT, "--plan", "Keep a plan of several steps, and name places left out.")
]
_ACT = Annotated[
    Literal["text", "tool"],
    _option(_AGENT, "--act", "Choose by a line of text or by a tool call."),
]
_VIEWS = Annotated[
    int, _option(_AGENT, "--views", "Pictures a step where the backend has any: 0, 4, 12, 24, 36.")
]
_MAX_STEPS = Annotated[int, _option(_AGENT, "--max-steps", "Steps an episode at most.", min=1)]
_MAX_REPROMPTS = Annotated[
    int,
    _option(
        _AGENT, "--max-reprompts", "How often a reply that is no action is sent back, each step.",
        min=0,
    ),
]  # fmt: skip
_DIALOGUE = Annotated[bool, _option(_ORACLE, "--dialogue", "Let the agent ask an oracle.")]
_MAX_QUESTIONS = Annotated[
    int, _option(_ORACLE, "--max-questions", "Questions an episode at most.", min=0)
]
_ORACLE_KIND = Annotated[
    Literal["off", "assistant", "path"],
    _option(
        _ORACLE,
        "--oracle",
        "assistant speaks up when the agent loops, turns far off or enters a wrong region; path"
        " does so and says the way itself: an upper bound.",
    ),
]
_ORACLE_BUDGET = Annotated[
    int, _option(_ORACLE, "--oracle-budget", "How often it speaks an episode at most.", min=0)
]
_FEW_SHOT = Annotated[
    int,
    _option(
        _ORACLE, "--few-shot-failures", "Show so many failures of --failures-from: 1, 2 or 3.",
        min=0, max=3,
    ),
]  # fmt: skip
_FROM = Annotated[
    Path | None,
    _option(_ORACLE, "--failures-from", "The run to take failures from.", metavar="RUN"),
]
_KIND = Annotated[
    Literal["mixed", "fine", "goal", "object"],
    _option(
        _TASK,
        "--kind",
        "fine: step by step; goal: a thing in a room; object: any thing of a category; mixed: all"
        " three in turn.",
    ),
]
_GOALS = Annotated[
    Literal["path", "visible"],
    _option(
        _TASK, "--goals", "What counts as there: the end of the published path, or any viewpoint"
        " that sees the target.",
    ),
]  # fmt: skip
_N = Annotated[int, _option(_TASK, "--n", "How many episodes to make.", min=1)]

Options = tuple[tuple[str, Any, Any], ...]
"""Options of a command: parameter, annotation, default; ``...`` where one must be given."""

_TASK_NAME = Annotated[
    Literal["r2r", "reverie", "objectnav"],
    typer.Argument(metavar="TASK", help="r2r, reverie or objectnav."),
]
TASK: Options = (("task", _TASK_NAME, ...),)
SOURCE: Options = (("data", _A_DATA, None), ("split", _A_SPLIT, None))
OUT: Options = (("out", OutOption, ...),)
OUT_OR_DEFAULT: Options = (("out", OutOrDefaultOption, None),)
AGENT: Options = (
    ("subset", _A_SUBSET, None),
    ("agent", _AN_AGENT, "heuristic"),
    ("model", _A_MODEL, None),
    ("model_role", ModelRoleOption, None),
    ("cot", _COT, False),
    ("reflect", _REFLECT, False),
    ("plan", _PLAN, False),
    ("act", _ACT, "text"),
)
HELP: Options = (
    ("dialogue", _DIALOGUE, False),
    ("oracle", _ORACLE_KIND, "off"),
    ("few_shot_failures", _FEW_SHOT, 0),
    ("failures_from", _FROM, None),
)
LIMITS: Options = (
    ("max_questions", _MAX_QUESTIONS, 3),
    ("oracle_budget", _ORACLE_BUDGET, 3),
    ("max_steps", _MAX_STEPS, STEPS),
    ("max_reprompts", _MAX_REPROMPTS, 2),
    ("captions", _A_CAPTIONS, None),
    ("backend", _A_BACKEND, "graph"),
    ("views", _VIEWS, 4),
    ("epochs", _A_EPOCHS, 1),
    ("seed", SeedOption, 0),
)
LAST: Options = (("as_json", JsonOption, False),)
ONE_RUN: Options = (("dry_run", DryRunOption, False),)
LONG_LIMITS: Options = tuple(
    (name, kind, LONG_STEPS if name == "max_steps" else default) for name, kind, default in LIMITS
)
GOALS: Options = (("goals", _GOALS, "path"),)
SCENES: Options = (
    ("spec", SpecArgument, ...),
    ("kind", _KIND, "mixed"),
    ("n", _N, 60),
)
OBJECTS: Options = (("n", _N, 400),)


def with_options(
    command: Callable[[typer.Context, Session], None],
    name: str,
    words: str,
    *parts: Options,
    picks: Sequence[str] = PICKS,
) -> Callable[..., None]:
    """A command with a set of options, and those of a session after them.

    Args:
        command: called with the context, which has all parameters by name, and the session.
        name: of the command.
        words: its help.
        parts: the options, in the order of the help.
        picks: as `with_session` takes them.
    """

    def typed(*, context: typer.Context, session: Session, **_: Any) -> None:
        command(context, session)

    made = [
        _parameter("context", typer.Context, ...),
        *(_parameter(*option) for part in parts for option in part),
        _parameter("session", Any, ...),
    ]
    # Typer reads a command's options from here.
    typed.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
    typed.__annotations__ = {parameter.name: parameter.annotation for parameter in made}
    typed.__name__, typed.__doc__ = name, words
    return with_session(picks=picks)(typed)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=annotation
    )
