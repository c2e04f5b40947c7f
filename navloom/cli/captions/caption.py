"""``navloom caption``: let a model write captions for every viewpoint of a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.common import (
    ConstrainOption,
    DryRunOption,
    JsonOption,
    ModelOption,
    OutOption,
    SeedOption,
    SpecArgument,
    end_session,
    print_json,
    say,
    show_dry_run,
)
from navloom.cli.session import ModelRoleOption, model_of_roles, with_session

if TYPE_CHECKING:
    from navloom.evals.session import Session

__all__ = ["app"]

app = typer.Typer()

ROLES = ("describer",)
"""What models are used for here."""
ReasksOption = Annotated[
    int,
    typer.Option(
        "--max-reasks",
        envvar="NAVLOOM_MAX_REASKS",
        min=0,
        max=100,
        help="How often an answer that cannot be read is asked for again.",
    ),
]
JobOption = Annotated[
    list[str] | None,
    typer.Option(
        "--job",
        envvar="NAVLOOM_JOB",
        show_default="both",
        help="markers: a line for each way on; summary: a sentence for each viewpoint. May be given"
        " twice.",
    ),
]


@app.command("caption")
@with_session()
def caption(
    spec: SpecArgument,
    out: OutOption,
    session: Session,
    model: ModelOption = "builtin/heuristic",
    model_role: ModelRoleOption = None,
    job: JobOption = None,
    constrain: ConstrainOption = True,
    max_reasks: ReasksOption = 2,
    seed: SeedOption = 0,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write captions for every viewpoint of a home, one file a home.

    A model words what the map knows of each way and each place; the files in OUT/captions are what
    the graph simulator takes as its captions. The same command on the same folder goes on with a
    run that was stopped.
    """
    from dataclasses import asdict

    from navloom.evals.captions.run import CaptionRequest
    from navloom.evals.captions.run import caption as write
    from navloom.evals.captions.run import dry_run as work_out

    asked: dict[str, Any] = {"jobs": tuple(dict.fromkeys(job))} if job else {}
    request = CaptionRequest(
        spec=spec,
        model=model_of_roles(model, model_role, ROLES)["describer"],
        max_reasks=max_reasks,
        constrain=constrain,
        seed=seed,
        **asked,
    )
    if dry_run:
        dry = work_out(request, session)
        show_dry_run(dry, "viewpoints", "scenes", most=1, as_json=as_json)
        return
    summary = write(request, out, session)
    if summary.error or summary.left or not summary.ok:
        end_session(summary, out, as_json=as_json, exports=False)
    if as_json:
        print_json({"run": str(out), **asdict(summary)})
    say(
        f"{out / 'captions'}: {summary.ok} viewpoints, {summary.failed} without an answer,"
        f" in {summary.session_seconds:.1f} s"
    )
