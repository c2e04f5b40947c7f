"""``navloom eval``: evaluate navigation agents on a task's episodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Context

from navloom.cli.capnav.eval import capnav, capnav_truth
from navloom.cli.common import pick_run_folder, print_json, run_request, write_page
from navloom.cli.options import CommandApp, Json, OutOrMade, RunMode, with_options
from navloom.errors import UsageError
from navloom.evals.navigation.request import TASK, EvalRequest
from navloom.evals.option import Opt
from navloom.evals.request import MOST, Spec
from navloom.evals.session import Session
from navloom.models.redaction import print_err, print_out

if TYPE_CHECKING:
    from navloom.evals.report.formatting import Table

app = CommandApp("Put navigators through a task's episodes: model x agent x task, each by name.")

ARMS = ("dialogue", "oracle", "few_shot_failures", "failures_from")
"""Fields that a study sets itself, by its arms."""
LEVELS = ("oracle_knows", "oracle_arrival", "ask_cost")
"""Fields that the oracle study sets as well."""
LONG_STEPS = 30
"""Step limit of tasks with long paths: up to 20 hops in our homes, where hops are shorter than on
R2R's graphs, and up to 15 in R4R; a detour needs more."""
_NEEDS = {
    "oracle_model": ("--model-role oracle", "--dialogue or --oracle assistant"),
    "oracle_knows": ("--oracle-knows", "--dialogue or --oracle assistant"),
    "oracle_arrival": ("--oracle-arrival", "--dialogue or --oracle assistant"),
    "max_questions": ("--max-questions", "--dialogue"),
    "ask_cost": ("--ask-cost", "--dialogue"),
    "oracle_budget": ("--oracle-budget", "--oracle assistant"),
    "max_revisions": ("--max-revisions", "--reflect"),
    "body": ("--body", "--physics or --waypoints body"),
    "collision_threshold": ("--collision-threshold", "--physics"),
}
"""Flags that have no effect without another."""
Goals = Annotated[
    Literal["path", "visible"],
    Opt("The goal: the path's end, or wherever the target is seen.", panel=TASK),
]
Grounding = Annotated[bool, Opt("Ask at the end which thing is meant (RGS, RGSPL).", panel=TASK)]
Episodes = Annotated[int, Opt("How many episodes to make.", min=1, max=MOST, panel=TASK)]
Kind = Annotated[
    Literal["mixed", "fine", "goal", "object"],
    Opt(
        "What is told: each step, a thing, or a category. fine: step by step; goal: a thing in a"
        " room; object: any thing of a category; mixed: all three in turn.",
        panel=TASK,
    ),
]


@app.command()
@with_options(task="r2r")
def r2r(
    *, out: OutOrMade = None, context: Context, request: EvalRequest, session: Session, how: RunMode
) -> None:
    """Run R2R: step-by-step instructions (VLN-MME's fine-grained task).

    The same command on the same folder goes on with a run that was stopped.
    """
    _evaluate(context, request, out, session, how)


@app.command()
@with_options(usual={"max_steps": LONG_STEPS}, task="r4r")
def r4r(
    *, out: OutOrMade = None, context: Context, request: EvalRequest, session: Session, how: RunMode
) -> None:
    """Run R4R: pairs of R2R paths joined to one, made from R2R's files by the published rule.

    The same command on the same folder goes on with a run that was stopped.
    """
    _evaluate(context, request, out, session, how)


@app.command()
@with_options(task="reverie")
def reverie(
    *,
    out: OutOrMade = None,
    context: Context,
    request: EvalRequest,
    session: Session,
    goals: Goals = "path",
    grounding: Grounding = True,
    how: RunMode,
) -> None:
    """Run REVERIE: find an object that the instruction describes; success within 3 m of it.

    Beside it stand whether the end sees the target, and whether the agent said which thing it is.
    The same command on the same folder goes on with a run that was stopped.
    """
    _evaluate(context, request, out, session, how, goals=goals, grounding=grounding)


@app.command()
@with_options(task="objectnav")
def objectnav(
    *,
    out: OutOrMade = None,
    context: Context,
    request: EvalRequest,
    session: Session,
    n: Episodes = 400,
    how: RunMode,
) -> None:
    """Run object navigation: find any instance of a category.

    Derived from REVERIE's visible objects, no published benchmark. The same command on the same
    folder goes on with a run that was stopped.
    """
    _evaluate(context, request, out, session, how, n=n)


@app.command()
@with_options("data", "split", usual={"max_steps": LONG_STEPS}, task="scene")
def scene(
    *,
    out: OutOrMade = None,
    context: Context,
    spec: Spec,
    request: EvalRequest,
    session: Session,
    kind: Kind = "mixed",
    n: Episodes = 60,
    how: RunMode,
) -> None:
    """Run episodes generated in any homes: instructions, goals or object categories.

    The same command on the same folder goes on with a run that was stopped.
    """
    _evaluate(context, request, out, session, how, spec=spec, kind=kind, n=n)


@app.command()
@with_options(*ARMS, "oracle_arrival", "sample_id", "retry", "go_back", task="dialogue")
def dialogue(
    *,
    out: OutOrMade = None,
    context: Context,
    request: EvalRequest,
    session: Session,
    goals: Goals = "path",
    as_json: Json = False,
) -> None:
    """Run REVERIE for agents that ask an oracle (VLNVerse 5.4): four runs, one table.

    Without asking, asking, asking an oracle that does not say whether it has arrived, and told the
    path at every step, which is the bound. The same command on the same folder goes on with a run
    that was stopped.
    """
    from navloom.evals.navigation.studies import compare_dialogue

    check_flags(context, request, study=True)
    request = replace(request, options={"goals": goals})
    folder = pick_run_folder(out, request.task, request)
    print_study(compare_dialogue(request, folder, session), folder, as_json=as_json)
    print_err(f"  the runs are {folder}/*; each has its own report: navloom report RUN")


def _evaluate(
    context: Context,
    request: EvalRequest,
    out: Path | None,
    session: Session,
    how: RunMode,
    **options: Any,
) -> None:
    check_flags(context, request)
    request = replace(request, options=options) if options else request
    run_request(request, pick_run_folder(out, request.task, request), session, how)


def check_flags(context: Context, request: EvalRequest, *, study: bool = False) -> None:
    """Refuse typed flags that would have no effect.

    Args:
        context: of the command.
        request: its request.
        study: whether the arms of a study set the flags; then only the model is checked.

    Raises:
        UsageError: there is such a flag.
    """

    def typed(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    own = request.settings.model
    if own not in (None, request.model) and typed("model"):
        raise UsageError(
            f"--agent {request.agent} is {own} and takes no --model: leave it out, or choose"
            " --agent navgpt or mapgpt"
        )
    for name in () if study else request.unused_fields():
        flag, needed = _NEEDS.get(name, ("", ""))
        option = "model_role" if name == "oracle_model" else name
        if flag and typed(option) and getattr(request, name) is not None:
            raise UsageError(f"{flag} does nothing without {needed}: add that, or leave it out")


def print_study(table: Table, out: Path, *, as_json: bool) -> None:
    """Print the table of a study's runs, and write its page."""
    if as_json:
        print_json({"title": table.title, "runs": table.record})
    else:
        print_out(table.markdown() + "\n")
    print_err(f"wrote {write_page([out], out)}")


app.command("capnav")(capnav)
app.command("capnav-truth")(capnav_truth)
