"""``navloom synth capnav``: generate CapNav questions with their ground truth."""

from __future__ import annotations

from navloom.cli.common import carry_out, run_folder
from navloom.cli.options import How, OutOrMade, takes
from navloom.evals.capnav.request import CapnavSynthRequest
from navloom.evals.session import Session


@takes()
def capnav(
    *, out: OutOrMade = None, request: CapnavSynthRequest, session: Session, how: How
) -> None:
    """Write questions for CapNav: can a body get from here to there?

    A model designs them, each is checked against the scene, and what is true of each for every body
    is kept beside it. In the run's folder: qa/ID_QA.json in the benchmark's form, truth/ and
    balance.json. The same command on the same folder goes on with a run that was stopped.
    """
    folder = run_folder(out, "capnav", request)
    carry_out(request, folder, session, how)
