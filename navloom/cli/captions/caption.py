"""``navloom caption``: let a model write captions for every viewpoint of a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from navloom.cli import options
from navloom.cli.common import end_session, print_json, say, show_dry_run
from navloom.cli.options import option, takes
from navloom.cli.session import asked, model_of_roles, with_session

if TYPE_CHECKING:
    from navloom.evals.session import Session

app = typer.Typer()

ROLES = ("describer",)
"""What models are used for here."""
JOB = option(
    "job",
    list[str] | None,
    None,
    "markers: a line for each way on; summary: a sentence for each viewpoint. May be given twice.",
    show_default="both",
)


@app.command("caption")
@with_session()
@takes(
    options.SPEC,
    options.OUT,
    options.MODEL,
    options.MODEL_ROLE,
    JOB,
    options.CONSTRAIN,
    options.MAX_REASKS.but(default=2),
    options.SEED,
    options.DRY_RUN,
    options.JSON,
)
def caption(session: Session, **given: Any) -> None:
    """Write captions for every viewpoint of a home, one file a home.

    A model words what the map knows of each way and each place; the files in OUT/captions are what
    the graph simulator takes as its captions. The same command on the same folder goes on with a
    run that was stopped.
    """
    from navloom.evals.captions.run import CaptionRequest
    from navloom.evals.kinds import run_kind

    out, as_json, job = given["out"], given["as_json"], given["job"]
    jobs: dict[str, Any] = {"jobs": tuple(dict.fromkeys(job))} if job else {}
    model = model_of_roles(given["model"], given["model_role"], ROLES)["describer"]
    request = asked(CaptionRequest, given, model=model, **jobs)
    if given["dry_run"]:
        show_dry_run(request, session, as_json=as_json)
        return
    summary = run_kind(request, out, session)
    if summary.error or summary.left or not summary.ok:
        end_session(summary, out, as_json=as_json, exports=False)
    if as_json:
        print_json({"run": str(out), **summary.record()})
    say(
        f"{out / 'captions'}: {summary.ok} viewpoints, {summary.failed} without an answer,"
        f" in {summary.session_seconds:.1f} s"
    )
