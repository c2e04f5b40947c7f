"""``navloom eval``: put navigators through a task's episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from navloom.cli.capnav.eval import capnav, capnav_truth
from navloom.cli.common import end_session, print_json, run_folder, say, show_dry_run
from navloom.cli.navigation.eval_options import (
    AGENT,
    GOALS,
    HELP,
    HEURISTIC,
    LAST,
    LIMITS,
    LONG_LIMITS,
    OBJECTS,
    ONE_RUN,
    OUT_OR_DEFAULT,
    SCENES,
    SOURCE,
    with_options,
)
from navloom.cli.session import model_of_roles
from navloom.errors import UsageError

if TYPE_CHECKING:
    from navloom.evals.navigation.request import EvalRequest
    from navloom.evals.navigation.run import EvalSummary
    from navloom.evals.report.table import Table
    from navloom.evals.session import Session

__all__ = ["app", "end_evaluation", "request_of", "study_oracle"]

app = typer.Typer(
    no_args_is_help=True,
    help="Put navigators through a task's episodes: model x agent x task, each by name.",
)

ROLES = ("navigator", "oracle")
"""What models are used for here."""
_COPIED = (
    "split",
    "cot",
    "reflect",
    "plan",
    "act",
    "dialogue",
    "oracle",
    "few_shot_failures",
    "max_questions",
    "oracle_budget",
    "max_steps",
    "max_reprompts",
    "backend",
    "views",
    "epochs",
    "seed",
)
"""Parameters that the request has under the same name."""
_PLACES = ("data", "subset", "captions", "failures_from")
_OPTIONS = ("spec", "kind", "n", "goals")
"""Parameters that are the dataset's own."""
_NEEDS = {
    "oracle_model": ("--model-role oracle", "--dialogue or --oracle assistant"),
    "max_questions": ("--max-questions", "--dialogue"),
    "oracle_budget": ("--oracle-budget", "--oracle"),
}
"""Flags that mean nothing without another."""


def request_of(task: str, context: typer.Context) -> EvalRequest:
    """What a command's parameters ask for.

    Raises:
        UsageError: they make no sense together.
    """
    from navloom.evals.navigation.request import EvalRequest

    given = context.params
    models = model_of_roles(_model(context), given["model_role"], ROLES)
    asked: dict[str, Any] = {name: given[name] for name in _COPIED if name in given}
    asked |= {name: str(given[name]) for name in _PLACES if given.get(name) is not None}
    return EvalRequest(
        task=task,
        agent=given["agent"],
        model=models["navigator"],
        oracle_model=models["oracle"] if models["oracle"] != models["navigator"] else None,
        options={name: given[name] for name in _OPTIONS if given.get(name) is not None},
        **asked,
    )


def _model(context: typer.Context) -> str:
    """The model that was typed, or the agent's own."""
    from navloom.graphs.navigation.agents import get_agent

    agent, typed = context.params["agent"], context.params["model"]
    own = get_agent(agent).model
    source = context.get_parameter_source("model")
    if own and typed not in (None, own) and source is not None and source.name == "COMMANDLINE":
        raise UsageError(
            f"--agent {agent} is {own} and takes no --model: leave it out, or choose --agent navgpt"
            " or mapgpt"
        )
    return own or typed or HEURISTIC


def _check_idle(request: EvalRequest, context: typer.Context) -> None:
    """Refuse a flag that was typed and would do nothing."""
    idle = request.idle()
    for name, (flag, needed) in _NEEDS.items():
        source = context.get_parameter_source("model_role" if name == "oracle_model" else name)
        typed = source is not None and source.name == "COMMANDLINE"
        if typed and name in idle and getattr(request, name) is not None:
            raise UsageError(f"{flag} does nothing without {needed}: add that, or leave it out")


def _one(task: str) -> Any:
    """What a command of one run does."""

    def go(context: typer.Context, session: Session) -> None:
        from navloom.evals.navigation.run import evaluate

        given, request = context.params, request_of(task, context)
        _check_idle(request, context)
        if given["dry_run"]:
            from navloom.evals.navigation.dry import dry_run

            dry = dry_run(request, session)
            show_dry_run(dry, "episodes", "scenes", most=1, as_json=given["as_json"])
            return
        out = _folder(request, given["out"])
        summary = evaluate(request, out, session)
        end_evaluation(summary, out, as_json=given["as_json"])

    return go


def _folder(request: EvalRequest, out: Path | None) -> Path:
    return run_folder(out, request.task, [request.record(), request.where()])


def end_evaluation(summary: EvalSummary, out: Path, *, as_json: bool) -> NoReturn:
    """Print what a run scores, and leave with its exit code."""
    from navloom.evals.navigation.tables import score_table

    if not as_json and summary.scores["episodes"]:
        print(score_table(summary.scores).markdown() + "\n")
    end_session(summary, out, as_json=as_json, exports=False)


def _arms(context: typer.Context, session: Session) -> None:
    from navloom.evals.navigation.studies import compare_dialogue

    given = context.params
    request = request_of("dialogue", context)
    out = _folder(request, given["out"])
    table = compare_dialogue(request, out, session)
    _print(table, as_json=given["as_json"])
    say(f"  the runs are {out}/*; each has its own report: navloom report RUN")


def study_oracle(context: typer.Context, session: Session) -> None:
    """What a navigator failed on, with and without help; ``navloom study oracle``."""
    from navloom.evals.navigation.studies import study_oracle as study

    given = context.params
    request = request_of(given["task"], context)
    table = study(request, given["out"], session)
    _print(table, as_json=given["as_json"])


def _print(table: Table, *, as_json: bool) -> None:
    if as_json:
        rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
        print_json({"title": table.title, "rows": rows})
    else:
        print(table.markdown() + "\n")


_TASKS: dict[str, tuple[str, Any]] = {
    "r2r": (
        "R2R: step-by-step instructions (VLN-MME's fine-grained task).",
        (),
    ),
    "reverie": (
        "REVERIE: a thing named from afar; success within 3 m, and beside it whether the end sees"
        " the target.",
        GOALS,
    ),
    "objectnav": (
        "Object navigation: find any instance of a category. Derived from REVERIE's visible"
        " objects, no published benchmark.",
        OBJECTS,
    ),
}
_AGAIN = "\n\nThe same command on the same folder goes on with a run that was stopped."


def _add(name: str, words: str, *parts: Any) -> None:
    command = with_options(_one(name), name, words + _AGAIN, *parts)
    app.command(name)(command)


for _name, (_words, _own) in _TASKS.items():
    _add(_name, _words, OUT_OR_DEFAULT, SOURCE, _own, AGENT, HELP, LIMITS, ONE_RUN, LAST)
_add(
    "scene",
    "Any homes of ours: instructions made from the shortest way, goals, or object categories.",
    (SCENES[0],),
    OUT_OR_DEFAULT,
    SCENES[1:],
    AGENT,
    HELP,
    LONG_LIMITS,
    ONE_RUN,
    LAST,
)
app.command("dialogue")(
    with_options(
        _arms,
        "dialogue",
        "REVERIE for agents that ask (VLNVerse 5.4): without asking, asking, and asking an oracle"
        " that knows the path, as three runs in one folder and one table." + _AGAIN,
        OUT_OR_DEFAULT,
        SOURCE,
        GOALS,
        AGENT,
        LIMITS,
        LAST,
        picks=("limit",),
    )
)
app.command("capnav")(capnav)
app.command("capnav-truth")(capnav_truth)
