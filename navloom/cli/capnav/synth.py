"""``navloom synth capnav``: generate CapNav questions with their ground truth."""

from __future__ import annotations

from navloom.cli.common import pick_run_folder, run_request
from navloom.cli.options import OutOrMade, RunMode, with_options
from navloom.evals.capnav.request import CapnavSynthRequest
from navloom.evals.session import Session


@with_options()
def capnav(
    *, out: OutOrMade = None, request: CapnavSynthRequest, session: Session, how: RunMode
) -> None:
    """Generate CapNav questions: can a body get from one place to another.

    A model designs them, each is checked against the scene, and what is true of each for every body
    is kept beside it. In the run's folder: qa/ID_QA.json in the benchmark's form, truth/ and
    balance.json. The same command on the same folder goes on with a run that was stopped.
    """
    folder = pick_run_folder(out, "capnav", request)
    run_request(request, folder, session, how)
