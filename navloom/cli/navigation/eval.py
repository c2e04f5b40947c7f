"""``navloom eval``: put navigators through a task's episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from navloom.cli import options
from navloom.cli.capnav.eval import capnav, capnav_truth
from navloom.cli.common import carry_out, print_json, run_folder, say
from navloom.cli.options import HEURISTIC, Option, argument, option, takes
from navloom.cli.session import asked, model_of_roles, with_session
from navloom.errors import UsageError

if TYPE_CHECKING:
    from navloom.evals.navigation.run import EvalRequest
    from navloom.evals.report.document import Table
    from navloom.evals.session import Session

app = typer.Typer(
    no_args_is_help=True,
    help="Put navigators through a task's episodes: model x agent x task, each by name.",
)

ROLES = ("navigator", "oracle")
"""What models are used for here."""
LONG_STEPS = 30
"""In homes of ours a hop is shorter than the field's on R2R's graphs, and a way has up to 20."""
_OPTIONS = ("spec", "kind", "n", "goals")
"""Parameters that are the dataset's own."""
_NEEDS = {
    "oracle_model": ("--model-role oracle", "--dialogue or --oracle assistant"),
    "max_questions": ("--max-questions", "--dialogue"),
    "oracle_budget": ("--oracle-budget", "--oracle"),
}
"""Flags that mean nothing without another."""


def _panel(panel: str, *listed: Option) -> tuple[Option, ...]:
    return tuple(each.but(rich_help_panel=panel) for each in listed)


_TASK, _AGENT, _ORACLE = "The task", "The agent", "Help on the way"
TASK = argument(
    "task", Literal["r2r", "reverie", "objectnav"], "TASK", "r2r, reverie or objectnav."
)
SOURCE = _panel(
    _TASK,
    options.DATA.but(envvar=None, show_default="$NAVLOOM_DATA/mp3d"),
    options.SPLIT.but(show_default="val_unseen"),
)
AGENT = (
    *_panel(
        _TASK,
        option(
            "subset",
            Path | None,
            None,
            "Only the episodes of this index, as `navloom subset` writes it.",
            metavar="FILE",
        ),
    ),
    *_panel(
        _AGENT,
        option(
            "agent",
            str,
            "heuristic",
            "navgpt (text history) or mapgpt (topological map) with --model; heuristic, random,"
            " shortest-path and human bring their own.",
        ),
        options.MODEL.but(
            "The model that navigates; see `navloom models`.",
            kind=str | None,
            default=None,
            show_default=HEURISTIC,
        ),
    ),
    options.MODEL_ROLE,
    *_panel(
        _AGENT,
        option("cot", bool, False, "Ask for reasoning before the action."),
        option(
            "reflect", bool, False, "Let the agent look at its action again and revise it once."
        ),
        option("plan", bool, False, "Keep a plan of several steps, and name places left out."),
        option(
            "act", Literal["text", "tool"], "text", "Choose by a line of text or by a tool call."
        ),
    ),
)
HELP = _panel(
    _ORACLE,
    option("dialogue", bool, False, "Let the agent ask an oracle."),
    option(
        "oracle",
        Literal["off", "assistant", "path"],
        "off",
        "assistant speaks up when the agent loops, turns far off or enters a wrong region; path"
        " does so and says the way itself: an upper bound.",
    ),
    option(
        "few_shot_failures",
        int,
        0,
        "Show so many failures of --failures-from: 1, 2 or 3.",
        min=0,
        max=3,
    ),
    option("failures_from", Path | None, None, "The run to take failures from.", metavar="RUN"),
)
LIMITS = (
    *_panel(
        _ORACLE,
        option("max_questions", int, 3, "Questions an episode at most.", min=0),
        option("oracle_budget", int, 3, "How often it speaks an episode at most.", min=0),
    ),
    *_panel(
        _AGENT,
        option("max_steps", int, 15, "Steps an episode at most.", min=1),
        option(
            "max_reasks",
            int,
            2,
            "How often a reply that is no action is sent back, each step.",
            min=0,
        ),
    ),
    *_panel(
        _TASK,
        options.CAPTIONS.but(
            "A run of `navloom caption`, or a file of it: its captions go before the dataset's."
        ),
        options.BACKEND.but("The simulator; graph has captions and no pictures."),
    ),
    *_panel(
        _AGENT,
        option("views", int, 4, "Pictures a step where the backend has any: 0, 4, 12, 24, 36."),
    ),
    *_panel(
        _TASK,
        option("epochs", int, 1, "Try each episode so often; ids end in -e1, -e2, ...", min=1),
    ),
    options.SEED,
)
LONG_LIMITS = tuple(
    each.but(default=LONG_STEPS) if each.name == "max_steps" else each for each in LIMITS
)
GOALS, KIND, EPISODES = _panel(
    _TASK,
    option(
        "goals",
        Literal["path", "visible"],
        "path",
        "What counts as there: the end of the published path, or any viewpoint that sees the"
        " target.",
    ),
    option(
        "kind",
        Literal["mixed", "fine", "goal", "object"],
        "mixed",
        "fine: step by step; goal: a thing in a room; object: any thing of a category; mixed: all"
        " three in turn.",
    ),
    options.N.but("How many episodes to make."),
)


def request_of(task: str, context: typer.Context) -> EvalRequest:
    """What a command's parameters ask for.

    Raises:
        UsageError: they make no sense together.
    """
    from navloom.evals.navigation.run import EvalRequest

    given = context.params
    models = model_of_roles(_model(context), given["model_role"], ROLES)
    return asked(
        EvalRequest,
        given,
        task=task,
        model=models["navigator"],
        oracle_model=models["oracle"] if models["oracle"] != models["navigator"] else None,
        options={name: given[name] for name in _OPTIONS if given.get(name) is not None},
    )


def _model(context: typer.Context) -> str:
    """The model that was typed, or the agent's own."""
    from navloom.graphs.navigation.context import get_agent

    agent, typed = context.params["agent"], context.params["model"]
    own = get_agent(agent).model
    source = context.get_parameter_source("model")
    if own and typed not in (None, own) and source is not None and source.name == "COMMANDLINE":
        raise UsageError(
            f"--agent {agent} is {own} and takes no --model: leave it out, or choose --agent navgpt"
            " or mapgpt"
        )
    return own or typed or HEURISTIC


def _add(task: str, words: str, *taken: Option) -> None:
    """A command of one run."""

    def go(context: typer.Context, session: Session, **given: Any) -> None:
        request = request_of(task, context)
        idle = request.idle()
        for name, (flag, needed) in _NEEDS.items():
            source = context.get_parameter_source("model_role" if name == "oracle_model" else name)
            typed = source is not None and source.name == "COMMANDLINE"
            if typed and name in idle and getattr(request, name) is not None:
                raise UsageError(f"{flag} does nothing without {needed}: add that, or leave it out")
        out, dry = _folder(request, given["out"]), given["dry_run"]
        carry_out(request, out, session, dry_run=dry, as_json=given["as_json"])

    go.__doc__ = words + _AGAIN
    app.command(task)(with_session()(takes(*taken, options.DRY_RUN, options.JSON)(go)))


def _folder(request: EvalRequest, out: Path | None) -> Path:
    return run_folder(out, request.task, [request.record(), request.where()])


def print_study(table: Table, *, as_json: bool) -> None:
    """Print what several runs of one question give."""
    if as_json:
        rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
        print_json({"title": table.title, "rows": rows})
    else:
        print(table.markdown() + "\n")


_AGAIN = "\n\nThe same command on the same folder goes on with a run that was stopped."
for _name, _words, _own in (
    ("r2r", "R2R: step-by-step instructions (VLN-MME's fine-grained task).", ()),
    (
        "reverie",
        "REVERIE: a thing named from afar; success within 3 m, and beside it whether the end sees"
        " the target.",
        (GOALS,),
    ),
    (
        "objectnav",
        "Object navigation: find any instance of a category. Derived from REVERIE's visible"
        " objects, no published benchmark.",
        (EPISODES.but(default=400),),
    ),
):
    _add(_name, _words, options.OUT_OR_DEFAULT, *SOURCE, *_own, *AGENT, *HELP, *LIMITS)
_add(
    "scene",
    "Any homes of ours: instructions made from the shortest way, goals, or object categories.",
    options.SPEC,
    options.OUT_OR_DEFAULT,
    KIND,
    EPISODES.but(default=60),
    *AGENT,
    *HELP,
    *LONG_LIMITS,
)


@app.command(
    help="REVERIE for agents that ask (VLNVerse 5.4): without asking, asking, and asking an oracle"
    " that knows the path, as three runs in one folder and one table." + _AGAIN
)
@with_session(picks=("limit",))
@takes(options.OUT_OR_DEFAULT, *SOURCE, GOALS, *AGENT, *LIMITS, options.JSON)
def dialogue(context: typer.Context, session: Session, **given: Any) -> None:
    """``navloom eval dialogue``."""
    from navloom.evals.navigation.studies import compare_dialogue

    request = request_of("dialogue", context)
    out = _folder(request, given["out"])
    print_study(compare_dialogue(request, out, session), as_json=given["as_json"])
    say(f"  the runs are {out}/*; each has its own report: navloom report RUN")


app.command("capnav")(capnav)
app.command("capnav-truth")(capnav_truth)
