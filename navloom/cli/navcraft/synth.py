"""``navloom synth``: generate a dataset of NavCraft tasks."""

from __future__ import annotations

from dataclasses import MISSING

from navloom.cli.capnav.synth import capnav
from navloom.cli.common import carry_out
from navloom.cli.options import Commands, How, Out, add_plugged, takes
from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.request import ATTEMPTS, COLLAB_ONLY, TAU, SynthRequest
from navloom.evals.session import Session

app = Commands("Make a dataset: NavCraft errands and relays, CapNav questions.")
app.command()(capnav)


@app.command()
@takes(
    "source",
    *COLLAB_ONLY,
    "choices",
    usual={"spec": MISSING, "n": ATTEMPTS, "tau": TAU},
    kind="single",
)
def single(request: SynthRequest, out: Out, session: Session, how: How) -> None:
    """Craft long errands for one robot (NavCraft-S).

    The same command on the same folder goes on with a run that was stopped.
    """
    carry_out(request, out, session, how)


@app.command()
@takes(usual={"spec": None}, kind="collab")
def collab(request: SynthRequest, out: Out, session: Session, how: How) -> None:
    """Lift errands to relays of two robots (NavCraft-C).

    Each attempt crafts its own errand first, unless --from names a run of single tasks. The same
    command on the same folder goes on with a run that was stopped.
    """
    carry_out(request, out, session, how)


@app.command()
@takes()
def direct(request: DirectRequest, out: Out, session: Session, how: How) -> None:
    """Make errand and relay in one answer, as the paper tried first (CoNavBench A.13).

    By the keys and rules of its version 1 or 2. The same command on the same folder goes on with a
    run that was stopped; `navloom study direct` holds both against the two stages.
    """
    carry_out(request, out, session, how)


add_plugged(app, "synth", "team")
