"""``navloom caption``: let a model write captions for every viewpoint of a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.common import (
    ConstrainOption,
    JsonOption,
    LimitOption,
    ModelOption,
    OutOption,
    SampleIdOption,
    SeedOption,
    SpecArgument,
    end_session,
    print_json,
    say,
)
from navloom.cli.session import ModelRoleOption, RunConfigOption, model_of_roles, with_session

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
RetryOption = Annotated[
    bool, typer.Option("--retry", help="Try the viewpoints that ended in error again.")
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
    limit: LimitOption = None,
    sample_id: SampleIdOption = None,
    retry: RetryOption = False,
    run_config: RunConfigOption = None,  # noqa: ARG001  read by its callback
    as_json: JsonOption = False,
) -> None:
    """Write captions for every viewpoint of a home, one file a home.

    A model words what the map knows of each way and each place; the files in OUT/captions are what
    the graph simulator takes as its captions. The same command on the same folder goes on with a
    run that was stopped.
    """
    from dataclasses import asdict

    from navloom.evals.captioning import CaptionRequest
    from navloom.evals.captioning import caption as write

    asked: dict[str, Any] = {"jobs": tuple(dict.fromkeys(job))} if job else {}
    request = CaptionRequest(
        spec=spec,
        model=model_of_roles(model, model_role, ROLES)["describer"],
        max_reasks=max_reasks,
        constrain=constrain,
        seed=seed,
        **asked,
    )
    summary = write(request, out, session=session, retry=retry, limit=limit, sample_ids=sample_id)
    if summary.error or summary.left or not summary.ok:
        end_session(summary, out, as_json=as_json, exports=False)
    if as_json:
        print_json({"run": str(out), **asdict(summary)})
    say(
        f"{out / 'captions'}: {summary.ok} viewpoints, {summary.failed} without an answer,"
        f" in {summary.session_seconds:.1f} s"
    )
