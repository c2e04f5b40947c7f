"""``navloom caption``: write captions for every viewpoint of a scene, by a model."""

from __future__ import annotations

from navloom.cli.common import end_session, print_json, show_dry_run
from navloom.cli.options import CommandApp, Out, RunMode, with_options
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.session import Session
from navloom.models.redaction import print_err

app = CommandApp()


@app.command("caption")
@with_options()
def caption(request: CaptionRequest, out: Out, session: Session, how: RunMode) -> None:
    """Write captions for every viewpoint of a home, one file for each home.

    A model that has eyes is shown pictures with a number at each way where the home can be seen;
    any other words what is known of each way and place. The files in OUT/captions are what
    simulators take as their captions. The same command on the same folder goes on with a
    run that was stopped.
    """
    from navloom.evals.runner import run_request

    if how.dry_run:
        show_dry_run(request, session, as_json=how.as_json)
        return
    summary = run_request(request, out, session)
    if summary.error or summary.left or not summary.ok:
        end_session(summary, out, as_json=how.as_json)
    if how.as_json:
        print_json({"run": str(out), **summary.record()})
    print_err(
        f"{out / 'captions'}: {summary.ok} viewpoints, {summary.failed} without an answer,"
        f" in {summary.session_seconds:.1f} s"
    )
