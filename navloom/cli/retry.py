"""``navloom retry``: try what ended in an error again, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from navloom.cli.common import MADE_BY, JsonOption, RunArgument, end_session, say
from navloom.cli.session import with_session
from navloom.errors import UsageError

if TYPE_CHECKING:
    from navloom.evals.session import Session

__all__ = ["app"]

app = typer.Typer()


@app.command()
@with_session(picks=(), config=False)
def retry(run: RunArgument, as_json: JsonOption = False, *, session: Session) -> None:
    """Try the samples of a run that ended in an error again; everything else is left as it is.

    What the run is stands in its run.json. Each sample goes on from its last good step.
    """
    from navloom.evals.run_folder import read_errors, read_run

    kind = str(read_run(run).get("kind"))
    if kind in MADE_BY:
        raise UsageError(
            f"{run} is a run of `navloom {MADE_BY[kind]}`: give the command that made it once more,"
            " with --retry"
        )
    broken = [error["id"] for error in read_errors(run)]
    if not broken:
        say(f"{run}: no errors to try again; the command that made it goes on with what is left")
        return
    from dataclasses import replace

    again = replace(session, retry=True)
    only = replace(again, sample_ids=broken)
    if kind == "capnav":
        from navloom.cli.capnav.eval import end_capnav
        from navloom.evals.capnav.request import CapnavRequest
        from navloom.evals.capnav.run import evaluate_capnav

        end_capnav(evaluate_capnav(CapnavRequest.read(run), run, only), run, as_json=as_json)
    if kind == "capnav_tasks":
        from navloom.cli.capnav.synth import again_capnav

        again_capnav(run, again, as_json=as_json)
    if kind == "navigate":
        from navloom.cli.navigation.eval import end_evaluation
        from navloom.evals.navigation.run import EvalRequest, evaluate

        end_evaluation(evaluate(EvalRequest.read(run), run, only), run, as_json=as_json)
    from navloom.evals.navcraft.run import SynthRequest, synthesise

    summary = synthesise(SynthRequest.read(run), run, only)
    end_session(summary, run, as_json=as_json)
