"""``navloom retry``: run again only the samples that ended in an error."""

from __future__ import annotations

from navloom.cli.common import run_request
from navloom.cli.options import CommandApp, Json, RunFolder, RunMode, with_options
from navloom.evals.session import Session
from navloom.models.redaction import print_err

app = CommandApp()


@app.command()
@with_options("limit", "sample_id", "run_config", retry=True)
def retry(run: RunFolder, session: Session, as_json: Json = False) -> None:
    """Retry the samples of a run that ended in an error; leave the others unchanged.

    What the run is stands in its run.json. Each sample goes on from its last good step.
    """
    from dataclasses import replace

    from navloom.evals.run_folder import read_errors
    from navloom.evals.run_kinds import kind_of

    kind = kind_of(run)
    broken = [error["id"] for error in read_errors(run)]
    if not broken:
        print_err(
            f"{run}: no errors to try again; the command that made it goes on with what is left"
        )
        return
    only = tuple(broken) if kind.broken_alone else ()
    again = replace(session, sample_id=only)
    run_request(kind.request.read(run), run, again, RunMode(as_json=as_json))
